"""Writes random VTK files of many kinds, and what VTK reads from each, for crates/vtk/tests/vtk/against_vtk.rs.

    pip install vtk
    python tests/peers/vtk_files.py FOLDER COUNT [SEED]

`FOLDER/all.txt` describes each file, by lines of words: `file NAME STEP`, `time T`, `points N`, `cells N` with a type
and the points for each, `faces N` alike for poly data, `dims X Y Z` of images, `array ON COMPONENTS TUPLES NAME` with a line of values.
"""

import sys
from pathlib import Path
from urllib.parse import quote

import numpy as np
import vtk
from vtk.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray, vtk_to_numpy
from vtk.util.vtkAlgorithm import VTKPythonAlgorithmBase

OUT, COUNT, SEED = Path(sys.argv[1]), int(sys.argv[2]), int((sys.argv + ["1"])[3])
PIPELINE = vtk.vtkStreamingDemandDrivenPipeline
TYPES = ["Char", "SignedChar", "UnsignedChar", "Short", "UnsignedShort", "Int", "UnsignedInt", "Long", "UnsignedLong",
         "LongLong", "UnsignedLongLong", "Float", "Double", "IdType", "Bit"]
NAMES = ["U", "velocity", "p", "a b", "x%y", "mass-flow [kg/s]", "ä", "Points", "time", "a/b"]
# Types of cells with a fixed number of points.
FIXED = {1: 1, 3: 2, 5: 3, 8: 4, 9: 4, 10: 4, 11: 8, 12: 8, 13: 6, 14: 5, 15: 10, 16: 12, 21: 3, 22: 6, 23: 8, 24: 10,
         25: 20, 26: 15, 27: 13, 28: 9, 29: 27, 30: 6, 31: 12, 32: 18, 33: 24, 34: 7, 35: 4, 37: 19}
# Numbers of points of Lagrange cells of order 1 and 2.
LAGRANGE = {68: (2, 3), 69: (3, 6), 70: (4, 9), 71: (4, 10), 72: (8, 27), 73: (6, 18), 74: (5, 14)}
FREE = (2, 4, 6, 7, 41)


def array(rng, name: str, tuples: int, is_legacy: bool = False):
    """An array of random type, components and values. VTK cannot read the bits, the infinities and the subnormal
    numbers that it writes to XML files."""
    kind = TYPES[rng.integers(len(TYPES) - (not is_legacy))]
    values = getattr(vtk, f"vtk{kind}Array")()
    values.SetName(name)
    values.SetNumberOfComponents(1 if kind == "Bit" else int(rng.choice([1, 1, 2, 3, 3, 4, 6, 9])))
    values.SetNumberOfTuples(tuples)
    if kind in ("Float", "Double"):
        numbers = rng.normal(size=values.GetNumberOfValues()) * 10.0 ** rng.integers(-9, 9)
        if rng.random() < 0.1 and numbers.size:
            special = [0.0, -0.0, 3e38] + [1e-310, np.nan, np.inf, -np.inf] * is_legacy
            numbers[rng.integers(numbers.size)] = rng.choice(special)
    else:
        low, high = (0, 1) if kind == "Bit" else (0 if "Unsigned" in kind or kind == "Char" else -100, 100)
        numbers = rng.integers(low, high + 1, values.GetNumberOfValues())
        if "Long" in kind or kind == "IdType":
            numbers = numbers * 10**int(rng.integers(0, 12))
    convert = {"Float": float, "Double": float, "Char": chr}.get(kind, int)
    for i, number in enumerate(numbers):
        values.SetValue(i, convert(number))
    return values


def decorate(rng, data, is_legacy: bool) -> None:
    """Adds arrays to points, cells and the data set."""
    for attributes, tuples in ((data.GetPointData(), data.GetNumberOfPoints()),
                               (data.GetCellData(), data.GetNumberOfCells())):
        for name in rng.choice(NAMES, rng.integers(0, 4), replace=False):
            new = array(rng, str(name), tuples, is_legacy)
            attributes.AddArray(new)
            if rng.random() < 0.5:
                kind, count = new.GetDataTypeAsString(), new.GetNumberOfComponents()
                role = {1: "Scalars", 3: str(rng.choice(["Vectors", "Normals", "TCoords"])), 9: "Tensors", 6: "Tensors",
                        2: str(rng.choice(["TCoords", "Scalars"])), 4: "Scalars"}[count]
                if kind != "bit":
                    getattr(attributes, f"SetActive{role}")(str(name))
    if rng.random() < 0.5:
        time = vtk.vtkDoubleArray()
        time.SetName(str(rng.choice(["TimeValue", "TIME", "other"])))
        time.InsertNextValue(float(rng.integers(0, 100)) / 8)
        data.GetFieldData().AddArray(time)
    if rng.random() < 0.2:
        data.GetFieldData().AddArray(array(rng, "extra", int(rng.integers(1, 5))))


def coordinates(rng, count: int) -> np.ndarray:
    points = rng.normal(size=(count, 3)) * 10.0 ** rng.integers(-3, 4)
    return points.astype(rng.choice(["f4", "f8"]))


def points(values: np.ndarray):
    found = vtk.vtkPoints()
    found.SetData(numpy_to_vtk(np.ascontiguousarray(values), deep=1))
    return found


def image(rng):
    data = vtk.vtkImageData()
    first, nodes = rng.integers(-3, 4, 3), rng.integers(1, 6, 3)
    data.SetExtent(*[int(x) for pair in zip(first, first + nodes - 1) for x in pair])
    data.SetOrigin(*rng.normal(size=3))
    data.SetSpacing(*rng.uniform(0.1, 2, 3))
    choice = rng.random()
    if choice < 0.2:
        data.SetDirectionMatrix(*(np.eye(3)[rng.permutation(3)] * rng.choice([-1, 1], 3)).ravel())
    elif choice < 0.3:
        data.SetDirectionMatrix(*np.linalg.qr(rng.normal(size=(3, 3)))[0].ravel())
    return data


def rectilinear(rng):
    data, nodes = vtk.vtkRectilinearGrid(), rng.integers(1, 6, 3)
    first = rng.integers(-3, 4, 3)
    data.SetExtent(*[int(x) for pair in zip(first, first + nodes - 1) for x in pair])
    for axis, count in zip("XYZ", nodes):
        values = np.cumsum(rng.uniform(0.1, 2, count)).astype(rng.choice(["f4", "f8"]))
        getattr(data, f"Set{axis}Coordinates")(numpy_to_vtk(values, deep=1))
    return data


def structured(rng):
    data, nodes = vtk.vtkStructuredGrid(), rng.integers(1, 6, 3)
    first = rng.integers(-3, 4, 3)
    data.SetExtent(*[int(x) for pair in zip(first, first + nodes - 1) for x in pair])
    data.SetPoints(points(coordinates(rng, int(np.prod(nodes)))))
    return data


def unstructured(rng):
    data, count = vtk.vtkUnstructuredGrid(), int(rng.integers(30, 60))
    data.SetPoints(points(coordinates(rng, count)))
    for _ in range(0 if rng.random() < 0.03 else rng.integers(1, 12)):
        choice = rng.random()
        if choice < 0.7:
            kind = int(rng.choice(list(FIXED)))
            corners = FIXED[kind]
        elif choice < 0.8:
            kind = int(rng.choice(list(LAGRANGE)))
            corners = LAGRANGE[kind][rng.integers(2)]
        elif choice < 0.9:
            kind, corners = int(rng.choice(FREE)), int(rng.integers(3, 9))
        else:
            polyhedron(rng, data, count)
            continue
        corners = rng.choice(count, corners, replace=False)
        data.InsertNextCell(kind, len(corners), [int(i) for i in corners])
    return data


def polyhedron(rng, data, count: int) -> None:
    a, b, c, d, e = (int(i) for i in rng.choice(count, 5, replace=False))
    faces = [[a, b, c, d], [a, b, e], [b, c, e], [c, d, e], [d, a, e]]
    numbers = [len(faces)] + [n for face in faces for n in [len(face)] + face]
    ids = vtk.vtkIdList()
    for number in numbers:
        ids.InsertNextId(number)
    data.InsertNextCell(42, ids)


def poly(rng):
    data, count = vtk.vtkPolyData(), int(rng.integers(8, 20))
    data.SetPoints(points(coordinates(rng, count)))
    for name, low, high in (("Verts", 1, 3), ("Lines", 2, 5), ("Polys", 3, 7), ("Strips", 3, 7)):
        cells = vtk.vtkCellArray()
        for _ in range(rng.integers(1, 5) if rng.random() < 0.5 else 0):
            ids = rng.choice(count, rng.integers(low, high), replace=False)
            cells.InsertNextCell(len(ids), [int(i) for i in ids])
        getattr(data, f"Set{name}")(cells)
    return data


KINDS = {"vti": (image, "ImageData"), "vtr": (rectilinear, "RectilinearGrid"), "vts": (structured, "StructuredGrid"),
         "vtu": (unstructured, "UnstructuredGrid"), "vtp": (poly, "PolyData")}


def write_legacy(rng, data, stem: str) -> str:
    writer = vtk.vtkDataSetWriter()
    writer.SetFileName(str(OUT / f"{stem}.vtk"))
    writer.SetInputData(data)
    writer.SetFileVersion(int(rng.choice([42, 51])))
    if rng.random() < 0.5:
        writer.SetFileTypeToBinary()
    assert writer.Write()
    return f"{stem}.vtk"


def encode(rng, writer) -> None:
    """A random encoding of an XML writer."""
    writer.SetDataMode(int(rng.integers(3)))
    writer.SetEncodeAppendedData(int(rng.integers(2)))
    writer.SetCompressorType(int(rng.integers(4)))
    writer.SetBlockSize(int(rng.choice([48, 1024, 32768])))
    writer.SetByteOrder(int(rng.integers(2)))
    writer.SetHeaderType(int(rng.choice([32, 64])))


def write_xml(rng, data, stem: str, extension: str) -> str:
    name = KINDS[extension][1]
    is_parallel = rng.random() < 0.25
    writer = getattr(vtk, f"vtkXML{'P' if is_parallel else ''}{name}Writer")()
    extension = "p" + extension if is_parallel else extension
    writer.SetFileName(str(OUT / f"{stem}.{extension}"))
    encode(rng, writer)
    if is_parallel:
        if extension == "pvti":
            # The writer does not write the directions of axes to the index.
            data.SetDirectionMatrix(*np.eye(3).ravel())
        pieces = int(rng.integers(1, 4))
        writer.SetNumberOfPieces(pieces)
        writer.SetStartPiece(0)
        writer.SetEndPiece(pieces - 1)
        source = vtk.vtkTrivialProducer()
        source.SetOutput(data)
        writer.SetInputConnection(source.GetOutputPort())
    else:
        writer.SetIdType(int(rng.choice([32, 64])))
        writer.SetInputData(data)
    assert writer.Write()
    return f"{stem}.{extension}"


def write_hdf(rng, data, stem: str) -> str:
    writer = vtk.vtkHDFWriter()
    writer.SetFileName(str(OUT / f"{stem}.vtkhdf"))
    writer.SetInputData(data)
    writer.SetCompressionLevel(int(rng.choice([0, 4])))
    writer.SetChunkSize(int(rng.choice([4, 100, 25000])))
    assert writer.Write()
    return f"{stem}.vtkhdf"


def rewrite(rng, name: str) -> None:
    """Writes a text file in another way: with other ends of lines, spaces, quotes, comments or cases of letters."""
    path = OUT / name
    text = path.read_bytes()
    if b"BINARY" in text[:100] or any(byte >= 128 for byte in text) or b"<AppendedData" in text:
        return
    choice = rng.integers(6)
    if choice == 0:
        text = text.replace(b"\n", b"\r\n")
    elif choice == 1:
        text = text.replace(b"\n", b" \t\n\n")
    elif choice == 2 and b"<VTKFile" in text and b"'" not in text:
        text = text.replace(b'"', b"'")
    elif choice == 3 and b"<VTKFile" in text:
        text = text.replace(b"<Points>", b"<!-- <Points> --><Points>").replace(b"<Piece", b"<!-- > -->\n<Piece")
    elif choice == 4 and name.endswith(".vtk"):
        for word in (b"POINTS", b"DATASET", b"CELLS", b"CELL_TYPES", b"POINT_DATA", b"CELL_DATA", b"DIMENSIONS"):
            text = text.replace(b"\n" + word + b" ", b"\n" + word.lower() + b" ")
    path.write_bytes(text)


def write_blocks(rng, stem: str):
    """Several grids with the same arrays in one data set, and the grid of all."""
    grids = []
    for _ in range(rng.integers(1, 5)):
        grid = unstructured(rng)
        # The blocks of the highest dimension are used.
        grid.InsertNextCell(12, 8, list(range(8)))
        for on, tuples in ((grid.GetPointData(), grid.GetNumberOfPoints()), (grid.GetCellData(), grid.GetNumberOfCells())):
            new = numpy_to_vtk(rng.normal(size=(tuples, 3)), deep=1)
            new.SetName("U")
            on.AddArray(new)
        grids.append(grid)
    extension, kind = [("vtm", "MultiBlock"), ("vtpc", "PartitionedDataSetCollection"), ("vtpd", "PartitionedDataSet"),
                       ("vtkhdf", "MultiBlock")][rng.integers(4)]
    data = vtk.vtkMultiBlockDataSet() if kind == "MultiBlock" else getattr(vtk, f"vtk{kind}")()
    for i, grid in enumerate(grids):
        if kind == "PartitionedDataSetCollection":
            data.SetPartition(i // 2, i % 2, grid)
        elif kind == "PartitionedDataSet":
            data.SetPartition(i, grid)
        else:
            inner = vtk.vtkMultiBlockDataSet()
            inner.SetBlock(0, grid)
            data.SetBlock(i, grid if rng.random() < 0.7 else inner)
    if extension == "vtkhdf":
        writer = vtk.vtkHDFWriter()
    else:
        writer = getattr(vtk, f"vtkXML{kind}{'Data' if kind == 'MultiBlock' else ''}Writer")()
        encode(rng, writer)
    writer.SetFileName(str(OUT / f"{stem}.{extension}"))
    writer.SetInputData(data)
    assert writer.Write()
    append = vtk.vtkAppendFilter()
    for grid in grids:
        append.AddInputData(grid)
    append.SetOutputPointsPrecision(vtk.vtkAlgorithm.DOUBLE_PRECISION)
    append.Update()
    return f"{stem}.{extension}", append.GetOutput()


def with_cells(rng, extension: str):
    """Data with cells, and without polyhedra: the writer of VTKHDF files does not end with those of later steps only."""
    while True:
        data = KINDS[extension][0](rng)
        types = {data.GetCellType(i) for i in range(data.GetNumberOfCells())}
        if types and 42 not in types:
            return data


class Moving(VTKPythonAlgorithmBase):
    """Data at several times: with arrays that change, and points and cells that may."""

    def __init__(self, rng, extension: str):
        kind = "vtk" + KINDS[extension][1]
        super().__init__(nInputPorts=0, nOutputPorts=1, outputType=kind)
        # The writer converts times and points to single precision.
        self.times = [float(t) / 8 for t in np.cumsum(rng.integers(1, 9, rng.integers(1, 5)))]
        first = with_cells(rng, extension)
        moves = rng.random() < 0.5
        names, sizes = ["U", "q"], [(array(rng, n, 0).GetDataTypeAsString(), int(rng.choice([1, 3]))) for n in "ab"]
        self.frames = []
        for _ in self.times:
            data = getattr(vtk, kind)()
            data.DeepCopy(with_cells(rng, extension)) if moves and rng.random() < 0.7 else data.ShallowCopy(first)
            data.SetPoints(points(vtk_to_numpy(data.GetPoints().GetData()).astype("f4")))
            for on in (data.GetPointData(), data.GetCellData()):
                tuples = data.GetNumberOfPoints() if on is data.GetPointData() else data.GetNumberOfCells()
                for name, (_, components) in zip(names, sizes):
                    new = numpy_to_vtk(rng.normal(size=(tuples, components)), deep=1)
                    new.SetName(name)
                    on.AddArray(new)
            self.frames.append(data)

    def RequestInformation(self, request, inputs, outputs):
        info = outputs.GetInformationObject(0)
        info.Set(PIPELINE.TIME_STEPS(), self.times, len(self.times))
        info.Set(PIPELINE.TIME_RANGE(), [self.times[0], self.times[-1]], 2)
        return 1

    def RequestData(self, request, inputs, outputs):
        info = outputs.GetInformationObject(0)
        time = info.Get(PIPELINE.UPDATE_TIME_STEP()) if info.Has(PIPELINE.UPDATE_TIME_STEP()) else self.times[0]
        output = info.Get(vtk.vtkDataObject.DATA_OBJECT())
        output.ShallowCopy(self.frames[int(np.argmin(np.abs(np.array(self.times) - time)))])
        output.GetInformation().Set(vtk.vtkDataObject.DATA_TIME_STEP(), time)
        return 1


def write_steps(rng, stem: str):
    source = Moving(rng, str(rng.choice(["vtu", "vtp"])))
    writer = vtk.vtkHDFWriter()
    writer.SetFileName(str(OUT / f"{stem}.vtkhdf"))
    writer.SetInputConnection(source.GetOutputPort())
    writer.SetWriteAllTimeSteps(True)
    assert writer.Write()
    return f"{stem}.vtkhdf", source


def read(name: str, written):
    """The data set that VTK reads, if it can read what it wrote."""
    if name.endswith(".vtk"):
        reader = vtk.vtkGenericDataObjectReader()
        reader.ReadAllScalarsOn(), reader.ReadAllVectorsOn(), reader.ReadAllNormalsOn(), reader.ReadAllTensorsOn()
        reader.ReadAllTCoordsOn(), reader.ReadAllFieldsOn(), reader.ReadAllColorScalarsOn()
    elif name.endswith(".vtkhdf"):
        reader = vtk.vtkHDFReader()
    else:
        reader = vtk.vtkXMLGenericDataObjectReader()
    failed = []
    reader.AddObserver("ErrorEvent", lambda *_: failed.append(name))
    reader.SetFileName(str(OUT / name))
    reader.Update()
    data = reader.GetOutputDataObject(0)
    is_read = data.IsA("vtkDataSet") and (data.GetNumberOfPoints() > 0 or written.GetNumberOfPoints() == 0)
    return data if is_read and not failed else None


def numbers(values) -> str:
    return " ".join(repr(float(x)) for x in values)


def describe(out, name: str, data, step: int, time: float | None) -> None:
    print("file", name, step, data.GetClassName(), file=out)
    if time is not None:
        print("time", repr(time), file=out)
    print("points", data.GetNumberOfPoints(), file=out)
    print(numbers(x for i in range(data.GetNumberOfPoints()) for x in data.GetPoint(i)), file=out)
    dims = [0, 0, 0]
    if data.IsA("vtkStructuredGrid"):
        data.GetDimensions(dims)
    if data.IsA("vtkUnstructuredGrid") or sum(nodes > 1 for nodes in dims) > 1:
        print("cells", data.GetNumberOfCells(), file=out)
        for i in range(data.GetNumberOfCells()):
            ids = vtk.vtkIdList()
            data.GetCellPoints(i, ids)
            print(data.GetCellType(i), *(ids.GetId(k) for k in range(ids.GetNumberOfIds())), file=out)
    if data.IsA("vtkPolyData"):
        faces = [(7, data.GetPolys()), (6, data.GetStrips())]
        print("faces", sum(cells.GetNumberOfCells() for _, cells in faces), file=out)
        for kind, cells in faces:
            for i in range(cells.GetNumberOfCells()):
                ids = vtk.vtkIdList()
                cells.GetCellAtId(i, ids)
                print(kind, *(ids.GetId(k) for k in range(ids.GetNumberOfIds())), file=out)
    if data.IsA("vtkImageData"):
        print("dims", *data.GetDimensions(), file=out)
    for on, attributes in (("point", data.GetPointData()), ("cell", data.GetCellData()), ("field", data.GetFieldData())):
        for i in range(attributes.GetNumberOfArrays()):
            values = attributes.GetArray(i)
            # Field data of VTKHDF files are not read.
            if values is None or (on == "field" and name.endswith(".vtkhdf")):
                continue
            count, tuples = values.GetNumberOfComponents(), values.GetNumberOfTuples()
            print("array", on, count, tuples, "name:" + quote(values.GetName() or ""), file=out)
            flat = (values.GetComponent(t, c) for t in range(tuples) for c in range(count))
            print(numbers(flat), file=out)


def main() -> None:
    vtk.vtkObject.GlobalWarningDisplayOff()
    OUT.mkdir(parents=True, exist_ok=True)
    with open(OUT / "all.txt", "w") as out:
        for case in range(COUNT):
            rng = np.random.default_rng([SEED, case])
            stem = f"f{case}"
            extension = str(rng.choice(["vti", "vtr", "vts", "vtu", "vtu", "vtp"]))
            data = KINDS[extension][0](rng)
            choice = rng.random()
            if choice < 0.1:
                # VTK cannot read some of these files at all steps.
                name, source = write_steps(rng, stem)
                for step, (frame, time) in enumerate(zip(source.frames, source.times)):
                    describe(out, name, frame, step, time)
                continue
            if choice > 0.93:
                name, data = write_blocks(rng, stem)
                describe(out, name, data, 0, None)
                continue
            decorate(rng, data, is_legacy=choice < 0.4)
            if choice < 0.4:
                name = write_legacy(rng, data, stem)
            elif choice < 0.5 and extension in ("vtu", "vtp"):
                name = write_hdf(rng, data, stem)
            else:
                name = write_xml(rng, data, stem, extension)
            if rng.random() < 0.5:
                rewrite(rng, name)
            data = read(name, data)
            if data is not None:
                describe(out, name, data, 0, None)


main()

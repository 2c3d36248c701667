"""Writes the VTKHDF fixtures of tests/data/vtkhdf, and checks that VTK reads them as the tests expect.

    pip install numpy h5py vtk
    python tests/peers/vtkhdf.py [folder]

The velocity of unstructured grids is (x, 2 y, 3 z) + t at the points, and the cell array `id` is the number of
the cell, so that tests know all values. That of image data is the formula of `cf.py`.
"""

import sys
from pathlib import Path

import h5py
import numpy as np
import vtk
from vtk.util import numpy_support
from vtk.util.vtkAlgorithm import VTKPythonAlgorithmBase

OUT = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "data" / "vtkhdf")
TIMES = [0.0, 0.5, 1.0]
PIPELINE = vtk.vtkStreamingDemandDrivenPipeline


def tetrahedra(time: float, shift: float = 0.0) -> vtk.vtkUnstructuredGrid:
    """Twenty tetrahedra in 3 x 3 x 2 nodes."""
    image = vtk.vtkImageData()
    image.SetDimensions(3, 3, 2)
    image.SetSpacing(0.5, 0.5, 0.5)
    image.SetOrigin(shift, 0.0, 0.0)
    triangulate = vtk.vtkDataSetTriangleFilter()
    triangulate.SetInputData(image)
    triangulate.Update()
    grid = triangulate.GetOutput()
    points = numpy_support.vtk_to_numpy(grid.GetPoints().GetData())
    add(grid.GetPointData(), "U", (points * [1, 2, 3] + time).astype("f4"))
    add(grid.GetCellData(), "id", np.arange(grid.GetNumberOfCells(), dtype="f8"))
    return grid


def add(data, name: str, values: np.ndarray) -> None:
    array = numpy_support.numpy_to_vtk(values, deep=1)
    array.SetName(name)
    data.AddArray(array)


class Steps(VTKPythonAlgorithmBase):
    """The tetrahedra at several times, on one mesh or on a mesh of each time."""

    def __init__(self, moves: bool):
        super().__init__(nInputPorts=0, nOutputPorts=1, outputType="vtkUnstructuredGrid")
        self.moves = moves
        self.grid = tetrahedra(0.0)

    def RequestInformation(self, request, inputs, outputs):
        info = outputs.GetInformationObject(0)
        info.Set(PIPELINE.TIME_STEPS(), TIMES, len(TIMES))
        info.Set(PIPELINE.TIME_RANGE(), [TIMES[0], TIMES[-1]], 2)
        return 1

    def RequestData(self, request, inputs, outputs):
        time = outputs.GetInformationObject(0).Get(PIPELINE.UPDATE_TIME_STEP()) or 0.0
        output = vtk.vtkUnstructuredGrid.GetData(outputs)
        new = tetrahedra(time, shift=time if self.moves else 0.0)
        if self.moves:
            output.DeepCopy(new)
        else:
            output.ShallowCopy(self.grid)
            output.GetPointData().AddArray(new.GetPointData().GetArray("U"))
        output.GetInformation().Set(vtk.vtkDataObject.DATA_TIME_STEP(), time)
        return 1


def surface(grid: vtk.vtkUnstructuredGrid) -> vtk.vtkPolyData:
    """The triangles on the boundary of a grid."""
    surface = vtk.vtkDataSetSurfaceFilter()
    surface.SetInputData(grid)
    surface.Update()
    return surface.GetOutput()


class Blocks(VTKPythonAlgorithmBase):
    """The tetrahedra at several times, and the triangles on their boundary: its side at x = 0, and the rest."""

    def __init__(self, kind: str):
        super().__init__(nInputPorts=0, nOutputPorts=1, outputType=kind)
        self.kind = kind

    def RequestInformation(self, request, inputs, outputs):
        info = outputs.GetInformationObject(0)
        info.Set(PIPELINE.TIME_STEPS(), TIMES, len(TIMES))
        info.Set(PIPELINE.TIME_RANGE(), [TIMES[0], TIMES[-1]], 2)
        return 1

    def RequestData(self, request, inputs, outputs):
        time = outputs.GetInformationObject(0).Get(PIPELINE.UPDATE_TIME_STEP()) or 0.0
        output = getattr(vtk, self.kind).GetData(outputs)
        grid = tetrahedra(time)
        parts = [("volume", grid)] + [(name, side(surface(grid), name)) for name in ("inlet", "walls")]
        if self.kind == "vtkPolyData":
            output.ShallowCopy(parts[2][1])
        elif self.kind == "vtkPartitionedDataSetCollection":
            for i, (name, data) in enumerate(parts):
                output.SetPartition(i, 0, data)
                output.GetMetaData(i).Set(vtk.vtkCompositeDataSet.NAME(), name)
        else:
            boundary = vtk.vtkMultiBlockDataSet()
            for i, (name, data) in enumerate(parts[1:]):
                boundary.SetBlock(i, data)
                boundary.GetMetaData(i).Set(vtk.vtkCompositeDataSet.NAME(), name)
            for i, (name, data) in enumerate([parts[0], ("boundary", boundary)]):
                output.SetBlock(i, data)
                output.GetMetaData(i).Set(vtk.vtkCompositeDataSet.NAME(), name)
        return 1


def side(data: vtk.vtkPolyData, name: str) -> vtk.vtkPolyData:
    """The triangles at x = 0 (`inlet`), or the others."""
    cells = vtk.vtkCellArray()
    ids = []
    for i in range(data.GetNumberOfCells()):
        cell = data.GetCell(i)
        at_low = all(data.GetPoint(cell.GetPointId(k))[0] == 0 for k in range(3))
        if at_low == (name == "inlet"):
            cells.InsertNextCell(cell)
            ids.append(i)
    found = vtk.vtkPolyData()
    found.SetPoints(data.GetPoints())
    found.SetPolys(cells)
    found.GetPointData().AddArray(data.GetPointData().GetArray("U"))
    add(found.GetCellData(), "id", np.array(ids, dtype="f8"))
    return found


def mixed_pieces() -> None:
    """Poly data in two pieces, each with a line and two polygons of other points; by h5py."""
    with h5py.File(OUT / "polydata_pieces.vtkhdf", "w") as file:
        group = new_group(file, b"PolyData")
        square = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 0]], dtype="f8")
        group["Points"] = np.concatenate([square, square + [3, 0, 0]])
        group["NumberOfPoints"] = [5, 5]
        sections = {"Vertices": [], "Lines": [[0, 1]], "Polygons": [[0, 1, 2, 3], [1, 4, 2]], "Strips": []}
        for name, cells in sections.items():
            ends = np.cumsum([0] + [len(cell) for cell in cells])
            group[f"{name}/Offsets"] = np.concatenate([ends, ends])
            group[f"{name}/Connectivity"] = np.array(sum(cells, []) * 2, dtype="i8")
            group[f"{name}/NumberOfCells"] = [len(cells)] * 2
            group[f"{name}/NumberOfConnectivityIds"] = [ends[-1]] * 2
        group["PointData/U"] = (group["Points"][:] * [1, 2, 3]).astype("f4")
        group["CellData/id"] = np.arange(6.0)


def write(name: str, connect, compression: int) -> None:
    writer = vtk.vtkHDFWriter()
    connect(writer)
    writer.SetFileName(str(OUT / name))
    writer.SetCompressionLevel(compression)
    writer.SetChunkSize(64)
    writer.SetWriteAllTimeSteps(True)
    assert writer.Write()


def repack(path: Path) -> None:
    """The same file with contiguous datasets, a tenth as long."""
    packed = path.with_suffix(".packed")

    def copy(old: h5py.Group, new: h5py.Group) -> None:
        for name, value in old.attrs.items():
            new.attrs.create(name, value, dtype=old.attrs.get_id(name).dtype)
        for name in old:
            link = old.get(name, getlink=True)
            if isinstance(link, h5py.SoftLink):
                new[name] = h5py.SoftLink(link.path)
            elif isinstance(old[name], h5py.Group):
                copy(old[name], new.create_group(name, track_order=True))
            else:
                new.create_dataset(name, data=old[name][()])

    with h5py.File(path) as old, h5py.File(packed, "w", libver="latest") as new:
        copy(old, new)
    packed.rename(path)


def pieces() -> None:
    """Two pieces, the second shifted by 1 along x; by h5py."""
    grids = [tetrahedra(0.0), tetrahedra(0.0, shift=1.0)]
    numpy = numpy_support.vtk_to_numpy
    join = lambda of: np.concatenate([numpy(of(grid)) for grid in grids])
    with h5py.File(OUT / "pieces.vtkhdf", "w") as file:
        group = new_group(file, b"UnstructuredGrid")
        group["NumberOfPoints"] = [grid.GetNumberOfPoints() for grid in grids]
        group["NumberOfCells"] = [grid.GetNumberOfCells() for grid in grids]
        group["NumberOfConnectivityIds"] = [4 * grid.GetNumberOfCells() for grid in grids]
        group["Points"] = join(lambda grid: grid.GetPoints().GetData())
        group["Connectivity"] = join(lambda grid: grid.GetCells().GetConnectivityArray())
        group["Offsets"] = join(lambda grid: grid.GetCells().GetOffsetsArray())
        group["Types"] = np.full(40, 10, dtype="u1")
        group["PointData/U"] = join(lambda grid: grid.GetPointData().GetArray("U"))
        group["CellData/id"] = join(lambda grid: grid.GetCellData().GetArray("id"))


def new_group(file: h5py.File, kind: bytes) -> h5py.Group:
    group = file.create_group("VTKHDF")
    group.attrs["Version"] = (2, 2)
    group.attrs.create("Type", kind, dtype=h5py.string_dtype("ascii", len(kind)))
    return group


def image(name: str, shape: tuple[int, int, int], **options) -> None:
    """Image data with time steps; by h5py. A flat axis is left out of the shape, as by VTK."""
    nx, ny, nz = shape
    t, k, j, i, c = np.meshgrid(*map(range, (3, nz, ny, nx, 3)), indexing="ij")
    values = ((7 * i + 11 * j + 13 * k + 17 * t + 5 * c) % 64 / 8 - 4).astype("f4")
    if nz == 1:
        values = values[:, 0]
    with h5py.File(OUT / name, "w") as file:
        group = new_group(file, b"ImageData")
        group.attrs["WholeExtent"] = (0, nx - 1, 0, ny - 1, 0, nz - 1)
        group.attrs["Origin"] = (0.0, -1.0, 0.0)
        group.attrs["Spacing"] = (0.5, 0.5, 0.25)
        group.attrs["Direction"] = np.eye(3).ravel()
        group.create_dataset("PointData/U", data=values, **options)
        group["Steps/Values"] = TIMES
        group["Steps"].attrs["NSteps"] = 3
        group["Steps/PointDataOffsets/U"] = [0, 1, 2]


def check() -> None:
    """VTK reads the files as the tests do."""
    for path in sorted(OUT.glob("*.vtkhdf")):
        reader = vtk.vtkHDFReader()
        reader.SetFileName(str(path))
        reader.UpdateInformation()
        for step, time in enumerate(TIMES if reader.GetNumberOfSteps() > 1 else [0.0]):
            reader.SetStep(step)
            reader.Modified()
            reader.Update()
            output = reader.GetOutputDataObject(0)
            if output.IsA("vtkMultiBlockDataSet") or output.IsA("vtkPartitionedDataSetCollection"):
                leaves = output.NewIterator()
                output = leaves.GetCurrentDataObject()
            if output.IsA("vtkPartitionedDataSet"):
                append = vtk.vtkAppendFilter()
                for part in range(output.GetNumberOfPartitions()):
                    append.AddInputData(output.GetPartition(part))
                append.Update()
                output = append.GetOutput()
            found = numpy_support.vtk_to_numpy(output.GetPointData().GetArray("U"))
            nodes = [output.GetPoint(i) for i in range(output.GetNumberOfPoints())]
            if output.IsA("vtkImageData"):
                nx, ny, _ = output.GetDimensions()
                node = np.arange(len(nodes))
                indices = 7 * (node % nx) + 11 * (node // nx % ny) + 13 * (node // (nx * ny)) + 17 * step
                expected = (indices[:, None] + [0, 5, 10]) % 64 / 8 - 4
            else:
                expected = np.array(nodes) * [1, 2, 3] + time
            assert (found == expected).all(), (path.name, step)


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    write("one.vtkhdf", lambda writer: writer.SetInputData(tetrahedra(0.0)), 4)
    for name, moves in (("steps.vtkhdf", False), ("moves.vtkhdf", True)):
        source = Steps(moves)
        write(name, lambda writer: writer.SetInputConnection(source.GetOutputPort()), 4)
    pieces()
    for name, kind in (
        ("polydata.vtkhdf", "vtkPolyData"),
        ("blocks.vtkhdf", "vtkMultiBlockDataSet"),
        ("collection.vtkhdf", "vtkPartitionedDataSetCollection"),
    ):
        blocks = Blocks(kind)
        write(name, lambda writer: writer.SetInputConnection(blocks.GetOutputPort()), 0)
        repack(OUT / name)
    mixed_pieces()
    image("image.vtkhdf", (5, 4, 3), chunks=(1, 2, 3, 4, 3), compression="gzip", shuffle=True)
    image("flat.vtkhdf", (5, 4, 1))
    check()


if __name__ == "__main__":
    main()

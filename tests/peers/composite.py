"""Writes the files of tests/data/composite: data sets in several files and blocks, polyhedra, quadratic
cells, permuted axes and LZMA.

Usage: python composite.py [folder]    (needs the packages vtk 9.4 or later, numpy and scipy)

All files hold the fields of crates/vtk/tests/make_fixtures.py, so that one formula checks every value:

    velocity (3 x float32) = (1 + 2x + 3y + 4z, -2 + x - y + 0.5z, 0.25 + 0.25x + 2y - z)
    p (point, float64) = u + 10 v           density (cells, float32) = 100 + cell number

polyhedra.vtu and octree.vtu also have `rotation` (point, 3 x float64), a solid rotation about their centre.

Duplicates (vtkGhostType = 1) have the value -1e9 instead, which no reader may use.
"""

import pathlib
import sys

import numpy as np
import vtk
from scipy.spatial import Voronoi
from vtk.util.numpy_support import numpy_to_vtk

DIMS = (6, 4, 3)
ORIGIN, SPACING = (0.5, -1.0, 2.0), (0.5, 0.25, 2.0)
AXES = ([0.0, 0.5, 1.5, 4.0, 4.5, 6.0], [-1.0, 0.25, 2.0, 2.5], [3.0, 3.5, 5.0])
SHEAR = 0.5
BAD = -1e9
WRITERS = {
    "vti": vtk.vtkXMLImageDataWriter,
    "vtr": vtk.vtkXMLRectilinearGridWriter,
    "vts": vtk.vtkXMLStructuredGridWriter,
    "vtu": vtk.vtkXMLUnstructuredGridWriter,
    "vtp": vtk.vtkXMLPolyDataWriter,
}
ELEMENTS = {"vti": "PImageData", "vtr": "PRectilinearGrid", "vts": "PStructuredGrid"}


def add_array(data, name, values, dtype):
    array = numpy_to_vtk(np.ascontiguousarray(values, dtype=dtype), deep=True)
    array.SetName(name)
    data.AddArray(array)


def fill(data, point_ghosts=None, cell_ghosts=None, first_cell=0):
    points = np.array([data.GetPoint(i) for i in range(data.GetNumberOfPoints())])
    x, y, z = points.T
    velocity = np.stack([1 + 2 * x + 3 * y + 4 * z, -2 + x - y + 0.5 * z, 0.25 + 0.25 * x + 2 * y - z], 1)
    p = velocity[:, 0] + 10 * velocity[:, 1]
    density = 100.0 + first_cell + np.arange(data.GetNumberOfCells())
    if point_ghosts is not None:
        velocity[point_ghosts] = BAD
        p[point_ghosts] = BAD
        add_array(data.GetPointData(), "vtkGhostType", point_ghosts, np.uint8)
    if cell_ghosts is not None:
        density[cell_ghosts] = BAD
        add_array(data.GetCellData(), "vtkGhostType", cell_ghosts, np.uint8)
    add_array(data.GetPointData(), "velocity", velocity, np.float32)
    add_array(data.GetPointData(), "p", p, np.float64)
    add_array(data.GetCellData(), "density", density, np.float32)
    return data


def write(data, path, mode="Appended", compressor=None):
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = WRITERS[path.suffix[1:]]()
    writer.SetFileName(str(path))
    writer.SetInputData(data)
    getattr(writer, f"SetDataModeTo{mode}")()
    writer.SetEncodeAppendedData(False)
    writer.SetCompressor(compressor)
    if isinstance(compressor, vtk.vtkLZMADataCompressor):
        writer.SetBlockSize(64)  # several blocks in a small array
    writer.Write()


def grid(suffix, extent):
    """A part of the grid."""
    x0, x1, y0, y1, z0, z1 = extent
    axes = [a[low:high + 1] for a, low, high in zip(AXES, extent[::2], extent[1::2])]
    if suffix == "vti":
        data = vtk.vtkImageData()
        data.SetOrigin(ORIGIN)
        data.SetSpacing(SPACING)
    elif suffix == "vtr":
        data = vtk.vtkRectilinearGrid()
        for axis, values in zip("XYZ", axes):
            getattr(data, f"Set{axis}Coordinates")(numpy_to_vtk(np.array(values), deep=True))
    else:
        data = vtk.vtkStructuredGrid()
        points = vtk.vtkPoints()
        points.SetDataTypeToDouble()
        for z in axes[2]:
            for y in axes[1]:
                for x in axes[0]:
                    points.InsertNextPoint(x + SHEAR * y, y, z)
        data.SetPoints(points)
    data.SetExtent(extent)
    return data


def cell_numbers(extent):
    """The numbers of the cells of a part in the whole grid."""
    x0, x1, y0, y1, z0, z1 = extent
    nx, ny = DIMS[0] - 1, DIMS[1] - 1
    return np.array([(k * ny + j) * nx + i for k in range(z0, z1) for j in range(y0, y1) for i in range(x0, x1)])


def piece(suffix, extent, own=None):
    """A part of the grid, with cells numbered as in the whole. Nodes and cells outside `own` are
    duplicates."""
    data = grid(suffix, extent)
    x0, x1, y0, y1, z0, z1 = extent
    nodes = cells = None
    if own:
        nodes = np.array([not own[0] <= i <= own[1]
                          for k in range(z0, z1 + 1) for j in range(y0, y1 + 1) for i in range(x0, x1 + 1)])
        cells = np.array([not own[0] <= i < own[1]
                          for k in range(z0, z1) for j in range(y0, y1) for i in range(x0, x1)])
    fill(data, nodes, cells)
    density = 100.0 + cell_numbers(extent)
    if own:
        density[cells] = BAD
    data.GetCellData().RemoveArray("density")
    add_array(data.GetCellData(), "density", density, np.float32)
    return data


def write_index(path, suffix, extents, ghosts):
    whole = " ".join(f"0 {n - 1}" for n in DIMS)
    image = f' Origin="{" ".join(map(str, ORIGIN))}" Spacing="{" ".join(map(str, SPACING))}"'
    element = ELEMENTS[suffix]
    lines = [
        f'<VTKFile type="{element}" version="1.0" byte_order="LittleEndian" header_type="UInt32">',
        f'<{element} WholeExtent="{whole}" GhostLevel="{ghosts}"{image if suffix == "vti" else ""}>',
    ]
    for number, extent in enumerate(extents):
        name = f"{path.stem}/{path.stem}_{number}.{suffix}"
        lines.append(f'<Piece Extent="{" ".join(map(str, extent))}" Source="{name}"/>')
    lines += [f"</{element}>", "</VTKFile>", ""]
    path.write_text("\n".join(lines))


def write_grids(folder):
    """Indices with plain pieces (which share a layer of nodes) and with duplicates."""
    plain = [(0, 3, 0, 3, 0, 2), (3, 5, 0, 2, 0, 2), (3, 5, 2, 3, 0, 2)]
    ghosts = [((0, 4, 0, 3, 0, 2), (0, 3)), ((2, 5, 0, 3, 0, 2), (3, 5))]
    for suffix in ELEMENTS:
        path = folder / f"plain_{suffix}.p{suffix}"
        write_index(path, suffix, plain, 0)
        for number, extent in enumerate(plain):
            write(piece(suffix, extent), folder / path.stem / f"{path.stem}_{number}.{suffix}")
        path = folder / f"ghosts_{suffix}.p{suffix}"
        write_index(path, suffix, [extent for extent, _ in ghosts], 1)
        for number, (extent, own) in enumerate(ghosts):
            write(piece(suffix, extent, own), folder / path.stem / f"{path.stem}_{number}.{suffix}")


def voronoi(count=3):
    """A box of convex polyhedra: Voronoi cells of jittered points and of their images."""
    rng = np.random.default_rng(7)
    at = (np.arange(count) + 0.5) / count
    sites = np.array([[x, y, z] for z in at for y in at for x in at]) + rng.uniform(-0.1, 0.1, (count**3, 3))
    everything = [sites]
    for axis in range(3):
        for side in (0.0, 1.0):
            mirrored = sites.copy()
            mirrored[:, axis] = 2 * side - mirrored[:, axis]
            everything.append(mirrored)
    diagram = Voronoi(np.concatenate(everything))
    faces = {cell: [] for cell in range(len(sites))}
    for pair, ridge in zip(diagram.ridge_points, diagram.ridge_vertices):
        for cell in pair:
            if cell < len(sites):
                faces[cell].append(ridge)
    used = sorted({v for ridges in faces.values() for ridge in ridges for v in ridge})
    number = {old: new for new, old in enumerate(used)}
    points = np.clip(diagram.vertices[used], 0.0, 1.0)
    return points, [[[number[v] for v in face] for face in ridges] for ridges in faces.values()]


def add_rotation(data, centre):
    """A solid rotation about a centre, in double precision."""
    points = np.array([data.GetPoint(i) for i in range(data.GetNumberOfPoints())])
    x, y, z = (points - centre).T
    add_array(data.GetPointData(), "rotation", np.stack([-y + 0.3 * z, x - 0.2 * z, -0.3 * x + 0.2 * y], 1), np.float64)
    return data


def add_polyhedron(data, faces):
    ids = vtk.vtkIdList()
    for number in [len(faces)] + [n for face in faces for n in [len(face), *face]]:
        ids.InsertNextId(number)
    data.InsertNextCell(vtk.VTK_POLYHEDRON, ids)


def polyhedra():
    points, cells = voronoi()
    data = vtk.vtkUnstructuredGrid()
    vtk_points = vtk.vtkPoints()
    vtk_points.SetDataTypeToDouble()
    for point in points:
        vtk_points.InsertNextPoint(point)
    data.SetPoints(vtk_points)
    for faces in cells:
        add_polyhedron(data, faces)
    return fill(data)


def octree():
    """A coarse cell beside four fine ones, as of snappyHexMesh: the coarse cell is a polyhedron with four
    faces on one side. The fine cells are hexahedra."""
    data = vtk.vtkUnstructuredGrid()
    points = vtk.vtkPoints()
    points.SetDataTypeToDouble()
    numbers = {}

    def at(x, y, z):
        if (x, y, z) not in numbers:
            numbers[x, y, z] = points.InsertNextPoint(x, y, z)
        return numbers[x, y, z]

    right = [[at(2, y, z), at(2, y + 1, z), at(2, y + 1, z + 1), at(2, y, z + 1)] for z in (0, 1) for y in (0, 1)]
    bottom = [at(0, 0, 0), at(0, 2, 0), at(2, 2, 0), at(2, 1, 0), at(2, 0, 0)]
    top = [at(0, 0, 2), at(2, 0, 2), at(2, 1, 2), at(2, 2, 2), at(0, 2, 2)]
    front = [at(0, 0, 0), at(2, 0, 0), at(2, 0, 1), at(2, 0, 2), at(0, 0, 2)]
    back = [at(0, 2, 0), at(0, 2, 2), at(2, 2, 2), at(2, 2, 1), at(2, 2, 0)]
    left = [at(0, 0, 0), at(0, 0, 2), at(0, 2, 2), at(0, 2, 0)]
    hexahedra = []
    for z in (0, 1):
        for y in (0, 1):
            corners = [at(x, y + b, z + c) for c in (0, 1) for b in (0, 1) for x in ((2, 3) if b == 0 else (3, 2))]
            hexahedra.append(corners)
    data.SetPoints(points)
    add_polyhedron(data, right + [bottom, top, front, back, left])
    for corners in hexahedra:
        data.InsertNextCell(vtk.VTK_HEXAHEDRON, 8, corners)
    return fill(data)


def old_faces(text):
    """The layout of polyhedra before VTK 9.4."""
    import re

    def values(name):
        return [int(n) for n in re.search(rf'Name="{name}"[^>]*>([^<]*)<', text).group(1).split()]

    points, ends = values("face_connectivity"), values("face_offsets")
    faces, of_cells = values("polyhedron_to_faces"), values("polyhedron_offsets")
    types = values("types")
    stream, offsets, start = [], [], 0
    for kind, end in zip(types, of_cells):
        if kind == 42:
            stream.append(end - start)
            for face in faces[start:end]:
                own = points[ends[face - 1] if face else 0:ends[face]]
                stream += [len(own), *own]
        offsets.append(len(stream) if kind == 42 else -1)
        start = end
    first = text.index('<DataArray type="Int64" Name="face_connectivity"')
    last = text.index("</Cells>")

    def array(name, numbers):
        return f'<DataArray type="Int64" Name="{name}" format="ascii">{" ".join(map(str, numbers))}</DataArray>\n'

    return text[:first] + array("faces", stream) + array("faceoffsets", offsets) + text[last:]


def write_layouts(folder):
    """The octree in legacy files of both layouts, and in three pieces of one file, of which the second has
    the polyhedron."""
    mesh = add_rotation(octree(), [1.5, 1.0, 1.0])
    for name, version, mode in [("octree-4.vtk", 42, "ASCII"), ("octree-5.vtk", 51, "Binary")]:
        writer = vtk.vtkUnstructuredGridWriter()
        writer.SetFileName(str(folder / name))
        writer.SetInputData(mesh)
        writer.SetFileVersion(version)
        getattr(writer, f"SetFileTypeTo{mode}")()
        writer.Write()
    path, texts = folder / "octree-pieces.vtu", []
    for cells in [(1, 2), (0,), (3, 4)]:
        part = vtk.vtkExtractCells()
        part.SetInputData(mesh)
        ids = vtk.vtkIdList()
        for cell in cells:
            ids.InsertNextId(cell)
        part.SetCellList(ids)
        part.Update()
        data = part.GetOutput()
        data.GetPointData().RemoveArray("vtkOriginalPointIds")
        data.GetCellData().RemoveArray("vtkOriginalCellIds")
        write(data, path, "Ascii")
        texts.append(path.read_text())
    pieces = [text[text.index("<Piece"):text.index("</Piece>") + 9] for text in texts]
    path.write_text(texts[0].replace(pieces[0], "".join(pieces)))
    reader = vtk.vtkXMLUnstructuredGridReader()
    reader.SetFileName(str(path))
    reader.Update()
    assert reader.GetOutput().GetNumberOfCells() == 5


def mid(points, a, b):
    return (np.array(points[a]) + np.array(points[b])) / 2


def quadratic():
    """A quadratic wedge below a quadratic pyramid on one of its sides, and a second wedge."""
    corners = [(0, 0, 0), (1, 0, 0.1), (0, 1.2, 0), (0.1, 0, 1), (1, 0.1, 1.2), (0, 1, 1.1), (1.2, 1.4, 0.6)]
    corners += [(0.1, 0.2, 2), (1.1, 0, 2), (0, 1, 2.1)]
    wedge = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3), (1, 4), (2, 5)]
    pyramid = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4), (2, 4), (3, 4)]
    data = vtk.vtkUnstructuredGrid()
    points = vtk.vtkPoints()
    points.SetDataTypeToDouble()
    for corner in corners:
        points.InsertNextPoint(corner)
    numbers = {}

    def between(a, b):
        if (min(a, b), max(a, b)) not in numbers:
            numbers[min(a, b), max(a, b)] = points.InsertNextPoint(mid(corners, a, b))
        return numbers[min(a, b), max(a, b)]

    data.SetPoints(points)
    for kind, edges, own in [
        (vtk.VTK_QUADRATIC_WEDGE, wedge, [0, 1, 2, 3, 4, 5]),
        (vtk.VTK_QUADRATIC_WEDGE, wedge, [3, 4, 5, 7, 8, 9]),
        (vtk.VTK_QUADRATIC_PYRAMID, pyramid, [1, 2, 5, 4, 6]),
    ]:
        nodes = own + [between(own[a], own[b]) for a, b in edges]
        data.InsertNextCell(kind, len(nodes), nodes)
    return fill(data)


def polygons():
    """A plane mesh of polygons, one of them not convex, as poly data."""
    data = vtk.vtkPolyData()
    points = vtk.vtkPoints()
    points.SetDataTypeToDouble()
    for x, y in [(0, 0), (2, 0), (4, 0), (4, 2), (3, 1), (1, 1), (0, 2), (2, 3), (4, 4), (0, 4), (2, 0.5)]:
        points.InsertNextPoint(x, y, 0)
    cells = vtk.vtkCellArray()
    for corners in [[0, 1, 2, 4, 10, 5], [2, 3, 4], [0, 5, 6], [5, 10, 7, 6], [4, 3, 8, 7, 10], [6, 7, 8, 9]]:
        cells.InsertNextCell(len(corners), corners)
    data.SetPoints(points)
    data.SetPolys(cells)
    return fill(data)


def write_blocks(folder):
    """Multi-block files: as foamToVTK writes them, of structured blocks, and of images."""
    mesh = octree()
    surface = vtk.vtkDataSetSurfaceFilter()
    surface.SetInputData(mesh)
    surface.Update()
    write(mesh, folder / "foam" / "internal.vtu")
    write(surface.GetOutput(), folder / "foam" / "boundary" / "walls.vtp")
    write(surface.GetOutput(), folder / "foam" / "boundary" / "outlet.vtp")
    (folder / "foam.vtm").write_text("""<?xml version='1.0'?>
<VTKFile type='vtkMultiBlockDataSet' version='1.0' byte_order='LittleEndian' header_type='UInt64'>
  <vtkMultiBlockDataSet>
    <DataSet name='internal' file='foam/internal.vtu' />
    <Block name='boundary'>
      <DataSet name='walls' file='foam/boundary/walls.vtp' />
      <DataSet name='outlet' file='foam/boundary/outlet.vtp' />
    </Block>
  </vtkMultiBlockDataSet>
  <FieldData>
    <DataArray type='Float32' Name='TimeValue' NumberOfTuples='1' format='ascii'>0.75</DataArray>
  </FieldData>
</VTKFile>
""")

    def block(suffix, extent, first_cell):
        data = grid(suffix, extent)
        return fill(data, first_cell=first_cell)

    def write_set(name, data):
        blocks = vtk.vtkMultiBlockDataSet()
        for number, (label, part) in enumerate(data):
            blocks.SetBlock(number, part)
            blocks.GetMetaData(number).Set(vtk.vtkCompositeDataSet.NAME(), label)
        writer = vtk.vtkXMLMultiBlockDataWriter()
        writer.SetInputData(blocks)
        writer.SetFileName(str(folder / f"{name}.vtm"))
        writer.SetDataModeToAppended()
        writer.SetEncodeAppendedData(False)
        writer.Write()

    # Each block of a structured mesh is numbered from 0, as of multi-block solvers.
    left, right = block("vts", (0, 3, 0, 3, 0, 2), 0), block("vts", (3, 5, 0, 3, 0, 2), 18)
    for part in (left, right):
        x0, x1, y0, y1, z0, z1 = part.GetExtent()
        part.SetExtent(0, x1 - x0, 0, y1 - y0, 0, z1 - z0)
    write_set("structured", [("left", left), ("right", right)])
    image = block("vti", (0, 3, 0, 3, 0, 2), 0)
    write_set("mixed", [("image", image), ("mesh", block("vtr", (3, 5, 0, 3, 0, 2), 18))])
    # Images with origins of their own, which form a grid.
    pieces = []
    for extent in ((0, 3, 0, 3, 0, 2), (3, 5, 0, 3, 0, 2)):
        part = piece("vti", extent)
        own = vtk.vtkImageData()
        own.SetSpacing(SPACING)
        own.SetOrigin(ORIGIN[0] + extent[0] * SPACING[0], ORIGIN[1], ORIGIN[2])
        own.SetDimensions(part.GetDimensions())
        own.GetPointData().ShallowCopy(part.GetPointData())
        own.GetCellData().ShallowCopy(part.GetCellData())
        pieces.append(own)
    write_set("images", [("left", pieces[0]), ("right", pieces[1])])


def sides(mesh):
    """The boundary of a mesh as poly data, by name: the ends along x, and the walls."""
    surface = vtk.vtkDataSetSurfaceFilter()
    surface.SetInputData(mesh)
    surface.Update()
    surface = surface.GetOutput()
    low, high = surface.GetBounds()[:2]
    polygons = {"inlet": vtk.vtkCellArray(), "outlet": vtk.vtkCellArray(), "walls": vtk.vtkCellArray()}
    for i in range(surface.GetNumberOfCells()):
        cell = surface.GetCell(i)
        x = {surface.GetPoint(cell.GetPointId(k))[0] for k in range(cell.GetNumberOfPoints())}
        polygons["inlet" if x == {low} else "outlet" if x == {high} else "walls"].InsertNextCell(cell)
    found = {}
    for name, cells in polygons.items():
        data = vtk.vtkPolyData()
        data.SetPoints(surface.GetPoints())
        data.SetPolys(cells)
        clean = vtk.vtkCleanPolyData()  # removes the points that it does not use
        clean.SetInputData(data)
        clean.Update()
        found[name] = clean.GetOutput()
    return found


def write_patches(folder):
    """A boundary in parts: as ParaView writes the blocks of an OpenFOAM case, and in one file with the
    cells of the volume, where BoundaryID is 0 in these and 1 (inlet), 2 (outlet) and 7 (walls)."""
    mesh = octree()
    parts = sides(mesh)
    blocks = vtk.vtkMultiBlockDataSet()
    blocks.SetBlock(0, mesh)
    blocks.GetMetaData(0).Set(vtk.vtkCompositeDataSet.NAME(), "internalMesh")
    boundary = vtk.vtkMultiBlockDataSet()
    for i, (name, data) in enumerate(parts.items()):
        boundary.SetBlock(i, fill(data))
        boundary.GetMetaData(i).Set(vtk.vtkCompositeDataSet.NAME(), name)
    blocks.SetBlock(1, boundary)
    blocks.GetMetaData(1).Set(vtk.vtkCompositeDataSet.NAME(), "boundary")
    writer = vtk.vtkXMLMultiBlockDataWriter()
    writer.SetFileName(str(folder / "patches.vtm"))
    writer.SetInputData(blocks)
    writer.Write()

    marked = vtk.vtkAppendFilter()
    numbers = []
    for data, number in [(mesh, 0), (parts["inlet"], 1), (parts["outlet"], 2), (parts["walls"], 7)]:
        marked.AddInputData(data)
        numbers += [number] * data.GetNumberOfCells()
    marked.SetMergePoints(True)
    marked.Update()
    marked = marked.GetOutput()
    add_array(marked.GetCellData(), "BoundaryID", numbers, np.int32)
    write(marked, folder / "marked.vtu")


def write_directions(folder):
    """Images with axes in another order or reversed: cyclic, and with two axes exchanged and one reversed."""
    for name, matrix in {
        "cyclic": (0, 0, 1, 1, 0, 0, 0, 1, 0),
        "reversed": (0, -1, 0, 1, 0, 0, 0, 0, -1),
        "tilted": (0.8, -0.6, 0, 0.6, 0.8, 0, 0, 0, 1),
    }.items():
        data = vtk.vtkImageData()
        data.SetExtent(1, 4, 0, 2, -1, 0)
        data.SetOrigin(ORIGIN)
        data.SetSpacing(SPACING)
        data.SetDirectionMatrix(matrix)
        write(fill(data), folder / f"{name}.vti")


def main():
    default = pathlib.Path(__file__).parents[1] / "data" / "composite"
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default
    folder.mkdir(parents=True, exist_ok=True)
    write_grids(folder)
    write_blocks(folder)
    write_patches(folder)
    write_directions(folder)
    write(add_rotation(polyhedra(), [0.5, 0.5, 0.5]), folder / "polyhedra.vtu", compressor=vtk.vtkZLibDataCompressor())
    write(add_rotation(octree(), [1.5, 1.0, 1.0]), folder / "octree.vtu", "Ascii")
    (folder / "octree-old.vtu").write_text(old_faces((folder / "octree.vtu").read_text()))
    write_layouts(folder)
    write(quadratic(), folder / "quadratic.vtu")
    write(polygons(), folder / "polygons.vtp")
    lzma = vtk.vtkLZMADataCompressor()
    write(piece("vti", (0, 5, 0, 3, 0, 2)), folder / "lzma-raw.vti", "Appended", lzma)
    write(piece("vti", (0, 5, 0, 3, 0, 2)), folder / "lzma-base64.vti", "Binary", lzma)


if __name__ == "__main__":
    main()

"""Writes the small VTK files of tests/data/vtk, and a parallel one beside it.

Usage: python make_fixtures.py [folder]    (needs the packages vtk and numpy)

All files hold the same fields, so that one formula checks every value:

    u = 1 + 2x + 3y + 4z    v = -2 + x - y + 0.5z    w = 0.25 + 0.25x + 2y - z
    velocity (3 x float32) = (u, v, w)      p (float64) = u + 10 v
    id (int32) = point number               density (cells, float32) = 100 + cell number
    TimeValue (field, float64) = 0.75

The grids have 4 x 3 x 2 nodes: image data at (0.5, -1, 2) with the spacing (0.5, 0.25, 2), the
rectilinear grid at the coordinates X, Y, Z below, and the structured and unstructured grids at the
nodes of the rectilinear grid, sheared by x += 0.5 y. The poly data is the k = 0 layer of these.
"""

import pathlib
import re
import sys

import numpy as np
import vtk
from vtk.util.numpy_support import numpy_to_vtk

DIMS = (4, 3, 2)
ORIGIN, SPACING = (0.5, -1.0, 2.0), (0.5, 0.25, 2.0)
X, Y, Z = [0.0, 0.5, 1.5, 4.0], [-1.0, 0.25, 2.0], [3.0, 3.5]
SHEAR = 0.5
COMPRESSORS = {"zlib": vtk.vtkZLibDataCompressor, "lz4": vtk.vtkLZ4DataCompressor}
WRITERS = {
    "vti": vtk.vtkXMLImageDataWriter,
    "vtr": vtk.vtkXMLRectilinearGridWriter,
    "vts": vtk.vtkXMLStructuredGridWriter,
    "vtu": vtk.vtkXMLUnstructuredGridWriter,
    "vtp": vtk.vtkXMLPolyDataWriter,
}
# name: (data mode, encode appended data, compressor, header type, byte order)
XML_VARIANTS = {
    "ascii": ("Ascii", False, None, 32, "little"),
    "base64": ("Binary", False, None, 32, "little"),
    "base64-u64-big": ("Binary", False, None, 64, "big"),
    "base64-zlib": ("Binary", False, "zlib", 64, "little"),
    "base64-lz4-u32": ("Binary", False, "lz4", 32, "little"),
    "raw": ("Appended", False, None, 64, "little"),
    "raw-u32-big": ("Appended", False, None, 32, "big"),
    "raw-zlib": ("Appended", False, "zlib", 32, "little"),
    "raw-lz4-u64-big": ("Appended", False, "lz4", 64, "big"),
    "appended64": ("Appended", True, None, 64, "little"),
    "appended64-zlib": ("Appended", True, "zlib", 32, "little"),
}


def add_array(data, name, values, dtype):
    array = numpy_to_vtk(np.ascontiguousarray(values, dtype=dtype), deep=True)
    array.SetName(name)
    data.AddArray(array)


def fill(data):
    """Adds the arrays to a data set with points."""
    points = np.array([data.GetPoint(i) for i in range(data.GetNumberOfPoints())])
    x, y, z = points.T
    u, v, w = 1 + 2 * x + 3 * y + 4 * z, -2 + x - y + 0.5 * z, 0.25 + 0.25 * x + 2 * y - z
    add_array(data.GetPointData(), "velocity", np.stack([u, v, w], axis=1), np.float32)
    add_array(data.GetPointData(), "p", u + 10 * v, np.float64)
    add_array(data.GetPointData(), "id", np.arange(len(points)), np.int32)
    add_array(data.GetCellData(), "density", 100 + np.arange(data.GetNumberOfCells()), np.float32)
    add_array(data.GetFieldData(), "TimeValue", [0.75], np.float64)
    data.GetPointData().SetActiveScalars("p")
    data.GetPointData().SetActiveVectors("velocity")
    return data


def image():
    data = vtk.vtkImageData()
    data.SetDimensions(DIMS)
    data.SetOrigin(ORIGIN)
    data.SetSpacing(SPACING)
    return fill(data)


def rectilinear():
    data = vtk.vtkRectilinearGrid()
    data.SetDimensions(DIMS)
    data.SetXCoordinates(numpy_to_vtk(np.array(X, dtype=np.float64), deep=True))
    data.SetYCoordinates(numpy_to_vtk(np.array(Y, dtype=np.float64), deep=True))
    data.SetZCoordinates(numpy_to_vtk(np.array(Z, dtype=np.float64), deep=True))
    return fill(data)


def sheared_points(layers):
    points = vtk.vtkPoints()
    points.SetDataTypeToDouble()
    for z in layers:
        for y in Y:
            for x in X:
                points.InsertNextPoint(x + SHEAR * y, y, z)
    return points


def structured():
    data = vtk.vtkStructuredGrid()
    data.SetDimensions(DIMS)
    data.SetPoints(sheared_points(Z))
    return fill(data)


def unstructured():
    data = vtk.vtkUnstructuredGrid()
    data.SetPoints(sheared_points(Z))
    nx, ny, _ = DIMS
    for j in range(ny - 1):
        for i in range(nx - 1):
            a, b = j * nx + i, (j + 1) * nx + i
            corners = [a, a + 1, b + 1, b]
            corners += [c + nx * ny for c in corners]
            data.InsertNextCell(vtk.VTK_HEXAHEDRON, 8, corners)
    return fill(data)


def poly():
    data = vtk.vtkPolyData()
    data.SetPoints(sheared_points(Z[:1]))
    vertices, lines, quads = vtk.vtkCellArray(), vtk.vtkCellArray(), vtk.vtkCellArray()
    vertices.InsertNextCell(1, [0])
    lines.InsertNextCell(3, [0, 1, 2])
    for i in range(3):
        quads.InsertNextCell(4, [i, i + 1, i + 5, i + 4])
    data.SetVerts(vertices)
    data.SetLines(lines)
    data.SetPolys(quads)
    return fill(data)


def write_xml(data, suffix, folder):
    for name, (mode, encode, compressor, header, order) in XML_VARIANTS.items():
        writer = WRITERS[suffix]()
        writer.SetFileName(str(folder / f"{name}.{suffix}"))
        writer.SetInputData(data)
        getattr(writer, f"SetDataModeTo{mode}")()
        writer.SetEncodeAppendedData(encode)
        writer.SetCompressor(COMPRESSORS[compressor]() if compressor else None)
        if compressor:
            writer.SetBlockSize(64)  # several blocks in a small array
        getattr(writer, f"SetHeaderTypeToUInt{header}")()
        getattr(writer, f"SetByteOrderTo{order.capitalize()}Endian")()
        writer.Write()


def write_legacy(data, name, folder):
    for version in (42, 51):
        for encoding in ("ASCII", "Binary"):
            writer = vtk.vtkDataSetWriter()
            writer.SetFileName(str(folder / f"{name}-{encoding.lower()}-{version}.vtk"))
            writer.SetInputData(data)
            writer.SetFileVersion(version)
            getattr(writer, f"SetFileTypeTo{encoding}")()
            writer.Write()


def halves(data, suffix):
    """The parts of a grid left and right of the node i = 1, which both contain."""
    if suffix == "vtu":
        for cells in ([0, 1, 2], [3, 4, 5]):
            extract = vtk.vtkExtractCells()
            extract.SetInputData(data)
            for cell in cells:
                extract.AddCellRange(cell, cell)
            extract.Update()
            yield extract.GetOutput()
        return
    filters = {"vti": vtk.vtkExtractVOI, "vtr": vtk.vtkExtractRectilinearGrid, "vts": vtk.vtkExtractGrid}
    for first, last in ((0, 1), (1, DIMS[0] - 1)):
        extract = filters[suffix]()
        extract.SetInputData(data)
        extract.SetVOI(first, last, 0, DIMS[1] - 1, 0, DIMS[2] - 1)
        extract.Update()
        yield extract.GetOutput()


def write_pieces(data, suffix, folder):
    """One file with two pieces: inserts the second piece into the file of the first."""
    texts = []
    for half in halves(data, suffix):
        writer = WRITERS[suffix]()
        writer.SetInputData(half)
        writer.SetDataModeToAscii()
        writer.WriteToOutputStringOn()
        writer.Write()
        texts.append(writer.GetOutputString())
    second = texts[1][texts[1].index("<Piece"):texts[1].index("</Piece>")]
    text = texts[0].replace("</Piece>", "</Piece>\n  " + second + "</Piece>")
    text = re.sub('WholeExtent="[^"]*"', 'WholeExtent="0 3 0 2 0 1"', text)
    (folder / f"two-pieces.{suffix}").write_text(text)


MIXED = [
    (vtk.VTK_HEXAHEDRON, [0, 1, 5, 4, 12, 13, 17, 16]),
    (vtk.VTK_WEDGE, [1, 2, 5, 13, 14, 17]),
    (vtk.VTK_PYRAMID, [4, 5, 9, 8, 16]),
    (vtk.VTK_TETRA, [2, 3, 6, 15]),
    (vtk.VTK_POLY_LINE, [20, 21, 22]),
    (vtk.VTK_TRIANGLE, [9, 10, 6]),
    (vtk.VTK_QUADRATIC_TETRA, [2, 3, 6, 15, 7, 10, 11, 19, 22, 23]),
    (vtk.VTK_VERTEX, [23]),
]


def write_mixed(folder):
    """Cells of many types, with ghost flags."""
    data = vtk.vtkUnstructuredGrid()
    data.SetPoints(sheared_points(Z))
    for kind, corners in MIXED:
        data.InsertNextCell(kind, len(corners), corners)
    add_array(data.GetPointData(), "vtkGhostType", np.arange(24) % 5 == 0, np.uint8)
    add_array(data.GetCellData(), "vtkGhostType", [0, 0, 1, 0, 32, 0, 0, 1], np.uint8)
    folder.mkdir(parents=True, exist_ok=True)
    write_legacy(data, "mixed", folder)
    write_xml(data, "vtu", folder)


def write_parallel(data, folder):
    """An index with two pieces in separate files, in two encodings."""
    folder.mkdir(parents=True, exist_ok=True)
    writer = vtk.vtkXMLPUnstructuredGridWriter()
    writer.SetInputData(data)
    writer.SetFileName(str(folder / "mesh.pvtu"))
    writer.SetNumberOfPieces(2)
    writer.SetEndPiece(1)
    writer.Write()
    for number, half in enumerate(halves(data, "vtu")):  # instead of the complete data twice
        writer = vtk.vtkXMLUnstructuredGridWriter()
        writer.SetInputData(half)
        writer.SetFileName(str(folder / f"mesh_{number}.vtu"))
        writer.SetDataModeToBinary() if number == 0 else writer.SetDataModeToAppended()
        writer.SetEncodeAppendedData(False)
        writer.Write()


def main():
    default = pathlib.Path(__file__).parents[3] / "tests" / "data" / "vtk"
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default
    folder.mkdir(parents=True, exist_ok=True)
    sets = {
        "vti": ("image", image()),
        "vtr": ("rectilinear", rectilinear()),
        "vts": ("structured", structured()),
        "vtu": ("unstructured", unstructured()),
        "vtp": ("poly", poly()),
    }
    for suffix, (name, data) in sets.items():
        write_xml(data, suffix, folder)
        write_legacy(data, name, folder)
    for suffix in ("vti", "vtr", "vts", "vtu"):
        write_pieces(sets[suffix][1], suffix, folder)
    write_parallel(sets["vtu"][1], folder.parent / "parallel")
    write_mixed(folder.parent / "cells")


if __name__ == "__main__":
    main()

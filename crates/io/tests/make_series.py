"""Writes the series in tests/data/series.

Usage: python make_series.py [folder]    (needs the packages vtk and numpy)

`u_2.vti`, `u_9.vti` and `u_10.vti` are image data with 4 x 3 x 2 nodes at (0.5, -1, 2) with the
spacing (0.5, 0.25, 2), written by VTK itself. With n the number in the name:

    velocity (points, 3 x float32) = (n, x, y)      slow (cells, 3 x float64) = (n, 0, cell number)
    TimeValue (field, float64) = n / 10
"""

import pathlib
import sys

import numpy as np
import vtk
from vtk.util.numpy_support import numpy_to_vtk, vtk_to_numpy


def add(data, name, values, dtype):
    array = numpy_to_vtk(np.ascontiguousarray(values, dtype=dtype), deep=True)
    array.SetName(name)
    data.AddArray(array)


def frame(number):
    image = vtk.vtkImageData()
    image.SetDimensions(4, 3, 2)
    image.SetOrigin(0.5, -1.0, 2.0)
    image.SetSpacing(0.5, 0.25, 2.0)
    points = np.array([image.GetPoint(i) for i in range(image.GetNumberOfPoints())])
    of_points = np.column_stack([np.full(len(points), number), points[:, 0], points[:, 1]])
    cells = image.GetNumberOfCells()
    of_cells = np.column_stack([np.full(cells, number), np.zeros(cells), np.arange(cells)])
    add(image.GetPointData(), "velocity", of_points, np.float32)
    add(image.GetCellData(), "slow", of_cells, np.float64)
    add(image.GetFieldData(), "TimeValue", [number / 10], np.float64)
    return image


def main():
    default = pathlib.Path(__file__).parents[3] / "tests/data/series"
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default
    folder.mkdir(parents=True, exist_ok=True)
    for number in (2, 9, 10):
        writer = vtk.vtkXMLImageDataWriter()
        writer.SetInputData(frame(number))
        writer.SetFileName(str(folder / f"u_{number}.vti"))
        if not writer.Write():
            raise SystemExit(f"cannot write u_{number}.vti")


main()

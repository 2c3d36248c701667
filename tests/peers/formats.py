"""Writes the fixtures of tests/data/formats: the field of tests/data/vtkhdf/image.vtkhdf in other formats.

    pip install numpy netCDF4 xarray zarr vtk
    python tests/peers/formats.py [folder]

The axes are exact in binary, so that all formats have the same nodes, and tracks the same bits.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import vtk
import xarray as xr
from vtk.util import numpy_support

warnings.filterwarnings("ignore")
OUT = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "data" / "formats")
SHAPE = (5, 4, 3)
ORIGIN = (0.0, -1.0, 0.0)
SPACING = (0.5, 0.5, 0.25)
TIMES = [0.0, 0.5, 1.0]


def values() -> np.ndarray:
    """The velocity at [t, z, y, x, component]."""
    nx, ny, nz = SHAPE
    t, k, j, i, c = np.meshgrid(*map(range, (len(TIMES), nz, ny, nx, 3)), indexing="ij")
    return ((7 * i + 11 * j + 13 * k + 17 * t + 5 * c) % 64 / 8 - 4).astype("f4")


def images(velocity: np.ndarray) -> None:
    """An image for each time; by vtk."""
    for step, time in enumerate(TIMES):
        image = vtk.vtkImageData()
        image.SetDimensions(SHAPE)
        image.SetOrigin(ORIGIN)
        image.SetSpacing(SPACING)
        array = numpy_support.numpy_to_vtk(velocity[step].reshape(-1, 3), deep=1)
        array.SetName("U")
        image.GetPointData().AddArray(array)
        value = numpy_support.numpy_to_vtk(np.array([time]), deep=1)
        value.SetName("TimeValue")
        image.GetFieldData().AddArray(value)
        writer = vtk.vtkXMLImageDataWriter()
        writer.SetFileName(str(OUT / f"image_{step}.vti"))
        writer.SetInputData(image)
        assert writer.Write()


def dataset(velocity: np.ndarray) -> xr.Dataset:
    """The field as xarray has it."""
    axes = [o + h * np.arange(n) for o, h, n in zip(ORIGIN, SPACING, SHAPE)]
    coordinates = {name: (name, nodes, {"units": "m"}) for name, nodes in zip("xyz", axes)}
    coordinates["time"] = ("time", TIMES, {"units": "s", "axis": "T"})
    variables = {
        name: (("time", "z", "y", "x"), velocity[..., c], {"units": "m s-1"})
        for c, name in enumerate("uvw")
    }
    return xr.Dataset(variables, coordinates)


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    velocity = values()
    images(velocity)
    grid = dataset(velocity)
    grid.to_netcdf(OUT / "image.nc", encoding={name: {"zlib": True} for name in "uvw"})
    grid.to_zarr(OUT / "image.zarr", mode="w", zarr_format=2, consolidated=False)


if __name__ == "__main__":
    main()

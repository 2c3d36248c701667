"""Writes NetCDF files with axes of longitude and latitude as producers of ocean and weather data do, and what
netCDF4-python reads at some nodes.

    pip install numpy netCDF4
    python tests/peers/cf_degrees.py folder

A line of `expected.txt` is a node: its file, time, longitude, latitude, z, and the eastward and northward velocity, or
`masked`.
"""

import sys
from pathlib import Path

import netCDF4
import numpy as np

OUT = Path(sys.argv[1])
random = np.random.default_rng(20261126)
lines = []

EAST = {"standard_name": "longitude", "units": "degrees_east", "axis": "X"}
NORTH = {"standard_name": "latitude", "units": "degrees_north", "axis": "Y"}
DEPTH = {"standard_name": "depth", "units": "m", "positive": "down", "axis": "Z"}


def axis(file, name: str, kind: str, values, attributes: dict, dimension: str = "") -> None:
    file.createDimension(dimension or name, len(values))
    file.createVariable(name, kind, (dimension or name,)).setncatts(attributes)
    file[name][:] = values


def field(file, name: str, kind: str, dimensions: str, land: float, attributes: dict, scale=None) -> None:
    """Random velocities, of which a part is land."""
    fill = {"i2": -32767, "f4": np.float32(1e20), "f8": np.nan}[kind] if land else None
    created = file.createVariable(name, kind, dimensions.split(), fill_value=fill)
    created.setncatts(attributes | ({} if scale is None else {"scale_factor": scale[0], "add_offset": scale[1]}))
    created[:] = np.ma.array(random.uniform(-2, 2, created.shape), mask=random.random(created.shape) < land)


def expect(path: Path, names: tuple, axes: tuple, order: str) -> None:
    """Adds nodes of a file; `order` is that of its dimensions, as in `tzyx`."""
    with netCDF4.Dataset(path) as file:
        arrays = [file[name] for name in names]
        for _ in range(40):
            at = {d: random.integers(size) for d, size in zip(order, arrays[0].shape)}
            index = tuple(at[d] for d in order)
            numbers = [array[index] for array in arrays]
            masked = any(np.ma.is_masked(number) for number in numbers)
            where = [float(file[name][at[d]]) if name in file.variables else 0.0 for name, d in zip(axes, "xyz")]
            where[2] *= -1
            found = ["masked"] if masked else [repr(float(number)) for number in numbers]
            lines.append(" ".join([path.name, str(at["t"]), *map(repr, where), *found]))


def cmems(name: str, longitudes, latitudes) -> None:
    """Copernicus Marine: packed, depths downward."""
    with netCDF4.Dataset(OUT / name, "w") as file:
        axis(file, "time", "f4", [0, 24], {"standard_name": "time", "units": "hours since 1950-01-01", "axis": "T"})
        axis(file, "depth", "f4", [0.494, 1.541, 2.646], DEPTH)
        axis(file, "latitude", "f4", latitudes, NORTH)
        axis(file, "longitude", "f4", longitudes, EAST)
        for short, long in (("uo", "eastward"), ("vo", "northward")):
            attributes = {"standard_name": f"{long}_sea_water_velocity", "units": "m s-1"}
            dimensions = "time depth latitude longitude"
            field(file, short, "i2", dimensions, 0.2, attributes, (0.0006103701889514923, 0.0))
    expect(OUT / name, ("uo", "vo"), ("longitude", "latitude", "depth"), "tzyx")


def hycom() -> None:
    with netCDF4.Dataset(OUT / "hycom.nc", "w", format="NETCDF3_64BIT_OFFSET") as file:
        axis(file, "time", "f8", [8], {"units": "hours since 2000-01-01 00:00:00", "axis": "T"})
        axis(file, "depth", "f8", [0, 2, 4], DEPTH)
        axis(file, "lat", "f8", [-80, -79.2, -40, 0, 40.04, 90], NORTH)
        axis(file, "lon", "f8", 0.96 * np.arange(375), EAST)
        for short, long in (("water_u", "eastward"), ("water_v", "northward")):
            attributes = {"standard_name": f"{long}_sea_water_velocity", "units": "m/s", "missing_value": np.int16(-30000)}
            field(file, short, "i2", "time depth lat lon", 0.1, attributes, (0.001, 0.0))
    expect(OUT / "hycom.nc", ("water_u", "water_v"), ("lon", "lat", "depth"), "tzyx")


def era5() -> None:
    """Decreasing latitudes, and no standard names of the velocity."""
    with netCDF4.Dataset(OUT / "era5.nc", "w", format="NETCDF3_64BIT_OFFSET") as file:
        axis(file, "longitude", "f4", 0.25 * np.arange(1440), {"units": "degrees_east", "long_name": "longitude"})
        axis(file, "latitude", "f4", [90, 89.75, 0, -45, -90], {"units": "degrees_north", "long_name": "latitude"})
        axis(file, "time", "i4", [876576, 876577], {"units": "hours since 1900-01-01 00:00:00.0", "calendar": "gregorian"})
        for name in ("u10", "v10"):
            attributes = {"units": "m s**-1", "long_name": f"10 metre {name[0].upper()} wind component"}
            field(file, name, "i2", "time latitude longitude", 0.0, attributes, (0.0007, 0.3))
    expect(OUT / "era5.nc", ("u10", "v10"), ("longitude", "latitude", ""), "tyx")


def oscar() -> None:
    """The first version, with 400 degrees of longitude, and the second one, with coordinates of other names."""
    with netCDF4.Dataset(OUT / "oscar1.nc", "w", format="NETCDF3_CLASSIC") as file:
        axis(file, "time", "i4", [8858], {"units": "day since 1992-10-05 00:00:00"})
        axis(file, "depth", "f4", [15], {"units": "meter", "long_name": "Depth"})
        axis(file, "latitude", "f8", [80, 40, 0, -80], {"units": "degrees-north"})
        axis(file, "longitude", "f8", 20.0 + 10 * np.arange(41), {"units": "degrees-east"})
        for name in "uv":
            field(file, name, "f8", "time depth latitude longitude", 0.2, {"units": "meter/sec"})
            file[name][..., 36:] = file[name][..., :5]
    expect(OUT / "oscar1.nc", ("u", "v"), ("longitude", "latitude", "depth"), "tzyx")
    with netCDF4.Dataset(OUT / "oscar2.nc", "w") as file:
        axis(file, "time", "i4", [11000], {"units": "days since 1990-01-01 00:00:00", "standard_name": "time"})
        axis(file, "lat", "f4", [-89.75, 0, 89.75], NORTH, "latitude")
        axis(file, "lon", "f4", 0.25 * np.arange(1440), EAST, "longitude")
        for name, long in (("u", "eastward"), ("v", "northward")):
            attributes = {"standard_name": f"{long}_sea_water_velocity", "units": "m s-1", "coordinates": "lon lat"}
            field(file, name, "f8", "time longitude latitude", 0.2, attributes)
    expect(OUT / "oscar2.nc", ("u", "v"), ("lon", "lat", ""), "txy")


cmems("cmems.nc", -20 + np.arange(60) / 12, 30 + np.arange(36) / 12)
cmems("cmems_global.nc", np.arange(-180, 180, 7.5), np.arange(-80, 90.1, 10))
cmems("dateline.nc", [178, 179, -180, -179], [-2, 0, 2])
cmems("repeated.nc", np.arange(0, 360.1, 90), [-2, 0, 2])
hycom()
era5()
oscar()
(OUT / "expected.txt").write_text("\n".join(lines) + "\n")

"""Writes a curvilinear grid in degrees, and a case in it: nodes along x and y, levels. `burntrace run case.toml` prints the speed.

    python tests/peers/curvilinear.py 120 10 && burntrace run case.toml --out out
"""
import sys

import netCDF4
import numpy as np

nodes, levels = (int(argument) for argument in sys.argv[1:3])
with netCDF4.Dataset("curvilinear.nc", "w", format="NETCDF3_64BIT_OFFSET") as data:
    for name, size in {"x": nodes, "y": nodes, "depth": levels, "time": 5}.items():
        data.createDimension(name, size)
    i, j = np.meshgrid(*2 * [np.linspace(0, 1, nodes)])
    lon = -10 + 12 * (0.9 * i - 0.3 * j)
    lat = 45 + 8 * (0.3 * i + 0.9 * j) * np.cos(0.2 * i)
    for name, values, long, units in [("lon", lon, "longitude", "degrees_east"), ("lat", lat, "latitude", "degrees_north")]:
        variable = data.createVariable(name, "f8", ("y", "x"))
        variable.setncatts({"standard_name": long, "units": units})
        variable[:] = values
    depth = data.createVariable("depth", "f8", ("depth",))
    depth.setncatts({"standard_name": "depth", "units": "m", "positive": "down", "axis": "Z"})
    depth[:] = np.linspace(0, 1, levels) ** 2 * 3000 + 0.5
    time = data.createVariable("time", "f8", ("time",))
    time.setncatts({"standard_name": "time", "units": "days since 2020-01-01"})
    time[:] = np.arange(5)
    for name, long, phase in [("uo", "eastward_sea_water_velocity", 0.0), ("vo", "northward_sea_water_velocity", 1.0)]:
        variable = data.createVariable(name, "f4", ("time", "depth", "y", "x"))
        variable.setncatts({"standard_name": long, "units": "m s-1", "coordinates": "lon lat"})
        for day in range(5):
            flow = 0.5 * np.sin(8 * i + phase + 0.1 * day) * np.cos(9 * j + phase)
            variable[day] = np.broadcast_to(flow, (levels, nodes, nodes))

with open("case.toml", "w", encoding="utf-8") as case:
    case.write(
        """[field]
files = "curvilinear.nc"
interpolation = "mesh"
[seeds]
kind = "uniform"
count = 50000
low = [-6.0, 47.0, -500.0]
high = [-2.0, 50.0, -5.0]
[trace]
t0 = "2020-01-01"
t1 = "2 d"
dt = "5 min"
[save]
every_time = "1 d"
report = "never"
"""
    )

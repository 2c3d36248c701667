"""Files around the earth that begin with different longitudes: `seam.py FOLDER`.

`greenwich.nc` from 0, `dateline.nc` from -180 and `closed.nc` from -180 to 180; `atlantic.nc` and `west.nc` are a part of them, with longitudes
in two turns. All have the same velocities and temperatures at the same places.
"""

import sys

import netCDF4
import numpy as np


def write(name, lon):
    data = netCDF4.Dataset(f"{sys.argv[1]}/{name}.nc", "w")
    lat, days = np.linspace(-60, 60, 25), np.arange(4.0)
    axes = {
        "time": (86400 * days, {"units": "seconds since 2024-01-01"}),
        "latitude": (lat, {"units": "degrees_north"}),
        "longitude": (lon, {"units": "degrees_east"}),
    }
    for axis, (values, attributes) in axes.items():
        data.createDimension(axis, len(values))
        variable = data.createVariable(axis, "f8", (axis,))
        variable[:] = values
        variable.setncatts(attributes)
    # Of whole degrees, so that all turns have the same bits.
    x, y = np.meshgrid(np.radians((lon + 720) % 360), np.radians(lat))
    for variable, phase, unit in [("uo", 0.0, "m s-1"), ("vo", 1.0, "m s-1"), ("thetao", 2.0, "degC")]:
        values = data.createVariable(variable, "f8", tuple(axes), fill_value=-999.0)
        values.units = unit
        for t in range(4):
            field = 3 * np.sin(3 * x + phase + 0.3 * t) * np.cos(2 * y - phase)
            values[t] = np.ma.array(field, mask=(np.abs((lon + 180) % 360 - 180) < 6) & (np.abs(lat[:, None]) < 6))
    data.close()


write("greenwich", np.arange(0.0, 360, 5))
write("dateline", np.arange(-180.0, 180, 5))
write("closed", np.arange(-180.0, 181, 5))
write("atlantic", np.arange(300.0, 346, 5))
write("west", np.arange(-60.0, -14, 5))

"""A CF trajectory data set, as scripts for the tracks of Parcels and OpenDrift read it: `trajectories.py GROUP CSV`.

Compares it with a table of the same tracks, a row for each particle and save, in the order of the saves.
"""

import sys
import warnings

import numpy as np
import pandas
import xarray

warnings.simplefilter("error")
data = xarray.open_zarr(sys.argv[1])
rows = pandas.read_csv(sys.argv[2])
lon, lat = ("lon", "lat") if "lon" in data.variables else ("x", "y")
assert data.attrs["featureType"] == "trajectory", data.attrs
assert data["trajectory"].attrs["cf_role"] == "trajectory_id"
for name in (lon, lat, "z", "time"):
    assert data[name].dims == ("trajectory", "obs"), data[name]
if lon == "lon":
    names = [data[name].attrs["standard_name"] for name in ("lon", "lat", "z")]
    assert names == ["longitude", "latitude", "height"], names
    assert data.lon.attrs["units"] == "degrees_east" and data.z.attrs["positive"] == "up"
    assert data.time.dtype.kind == "M", data.time
    start = np.datetime64("2024-01-01")
    seconds = (data.time.values - start) / np.timedelta64(1, "s")
else:
    seconds = data.time.values
assert data.sizes["trajectory"] == rows.groupby("particle").ngroups
for i, (particle, track) in enumerate(rows.groupby("particle")):
    n = len(track)
    of = data.isel(trajectory=i)
    assert int(of.particle) == particle and int(of.trajectory) == i
    for name, column in [(lon, "x"), (lat, "y"), ("z", "z")]:
        np.testing.assert_allclose(of[name].values[:n], track[column], rtol=1e-6, atol=1e-6)
        assert np.isnan(of[name].values[n:]).all()
    np.testing.assert_allclose(seconds[i, :n], track["time"])
    names = of.status.attrs["flag_meanings"].split()
    codes = list(of.status.attrs["flag_values"])
    found = [names[codes.index(code)].replace("_", " ") for code in of.status.values[:n]]
    assert found == list(track["status"]), found
print(data.sizes["trajectory"], data.sizes["obs"])

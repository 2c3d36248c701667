"""Read track stores with Zarr and xarray, compare them with the values that Rust reads, and convert them to
NetCDF.

    python tests/peers/tracks.py folder    (needs zarr, xarray, numpy, netCDF4, h5netcdf and h5py)

The test `xarray_reads_the_stores` calls it. It writes the stores and, beside each, its values as JSON (`plain.json`),
with NaN as null.
"""

import json
import pathlib
import sys
import warnings

import numpy as np
import xarray
import zarr

# Types of the arrays, except those in the precision of the run.
TYPES = {
    "<f8": ["time", "release_time", "end_time", "instance_release_time", "instance_end_time",
            "instance_release_position", "instance_end_position"],
    "<i8": ["mesh_cell"],
    "<i4": ["image", "generation", "end_generation", "mesh_face", "obstacle", "instance_slot",
            "instance_generation"],
    "|u1": ["status", "end_status", "instance_status"],
}


def type_of(name, precision):
    for dtype, names in TYPES.items():
        if name in names:
            return np.dtype(dtype)
    if name == "component":
        return np.dtypes.StringDType()
    assert name in ["position", "release_position", "velocity", "T", "Mean Stress"], name
    return np.dtype({"f32": "<f4", "f64": "<f8"}[precision])


def check(store, values):
    """Compare all arrays of a store with their values, bit for bit."""
    group = zarr.open_group(store, mode="r")
    assert group.attrs["complete"] == 1 and group.attrs["featureType"] == "trajectory"
    assert sorted(group.array_keys()) == sorted(values) == sorted(group.attrs["arrays"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = xarray.open_zarr(store, chunks=None)
    assert data["position"].dims == ("time", "particle", "component"), data["position"].dims
    reused = {"generation"} & set(values)
    assert set(data.coords) == {"time", "component"} | reused, data.coords
    assert data["end_status"].dims == ("particle",)
    for name, numbers in values.items():
        dtype = type_of(name, group.attrs["precision"])
        # Floats via f64, which converts null to NaN.
        numbers = np.array(numbers, dtype=np.float64) if dtype.kind == "f" else np.array(numbers)
        expected = numbers.astype(dtype)
        for found in [group[name][:], data[name].values]:
            assert found.dtype == dtype or name == "component", (name, found.dtype)
            assert found.shape == expected.shape, (name, found.shape)
            assert np.array_equal(found, expected, equal_nan=dtype.kind == "f"), name
    track = data["position"].isel(particle=1).sel(time=1.0)
    assert np.array_equal(track, group["position"][2, 1], equal_nan=True)
    y = data["position"].sel(component="y")
    assert np.array_equal(y, group["position"][:, :, 1], equal_nan=True)
    codes = dict(zip(data["status"].flag_meanings.split(), data["status"].flag_values))
    assert codes["waiting"] == 0 and codes["exited_x-low"] == 8 and len(codes) == 16, codes
    convert(store, data)
    print(store.name, {name: array.shape for name, array in group.arrays()})


def convert(store, data):
    """Write NetCDF files and read them back: values and attributes."""
    for engine in ["netcdf4", "h5netcdf"]:
        path = store.with_suffix(f".{engine}.nc")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            data.to_netcdf(path, engine=engine)
            with xarray.open_dataset(path, engine=engine) as back:
                xarray.testing.assert_equal(back.load(), data)
                assert back.attrs["format"] == "burntrace tracks"
                assert back["position"].attrs == data["position"].attrs


def check_unfinished(store):
    """Read the store of a stopped run, with 4 of 7 saves of 5 particles."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        group = zarr.open_group(store, mode="r")
        assert sorted(group.array_keys()) == sorted(group.attrs["arrays"])
        data = xarray.open_zarr(store, chunks=None).load()
    assert group.attrs["complete"] == 0
    times = 0.25 * np.arange(7.0)
    times[4:] = np.nan
    assert np.array_equal(data["time"].values, times, equal_nan=True)
    assert data["position"].shape == (7, 5, 3) and data["instance_slot"].shape == (0,)
    complete = data.isel(time=data["time"].notnull())
    expected = 0.1 * (np.arange(15) + 1000 * np.arange(4)[:, None]).reshape(4, 5, 3)
    assert np.array_equal(complete["position"].values, expected)
    assert np.isnan(data["position"].values[4:]).all()
    print(store.name, {name: array.shape for name, array in group.arrays()})


def main():
    folder = pathlib.Path(sys.argv[1])
    for name in ["plain", "lives"]:
        check(folder / name, json.loads((folder / f"{name}.json").read_text()))
    check_unfinished(folder / "unfinished")
    print("zarr", zarr.__version__, "and xarray", xarray.__version__, "read the stores correctly")


main()

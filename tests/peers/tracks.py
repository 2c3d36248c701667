"""Reads stores of tracks with Zarr and xarray, and compares them with NumPy files of the same runs.

    cargo test --release --workspace --test io -- --ignored store_for_peers
    python tests/peers/tracks.py [folder]    (needs the packages zarr, xarray and numpy)
"""

import json
import pathlib
import sys
import tempfile
import warnings

import numpy as np
import xarray
import zarr

OLD = pathlib.Path(__file__).resolve().parents[1] / "data/tracks-npy"


def check(store, old):
    """Compares a store with the files of the old one, array by array and bit by bit."""
    manifest = json.loads((old / "tracks.json").read_text())
    group = zarr.open_group(store, mode="r")
    assert group.attrs["complete"] is True
    for key in ["particles", "saves", "planned_saves", "precision", "periods", "statuses"]:
        assert group.attrs[key] == manifest[key], key
    assert sorted(group.array_keys()) == sorted(manifest["arrays"]) == sorted(group.attrs["arrays"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = xarray.open_zarr(store, chunks=None, consolidated=False)
    assert data["position"].dims == ("time", "particle", "component"), data["position"].dims
    assert list(data.coords) == ["time"] and data["end_status"].dims == ("particle",)
    for name in manifest["arrays"]:
        expected = np.load(old / f"{name}.npy")
        for found in [group[name][:], data[name].values]:
            assert found.dtype == expected.dtype, (name, found.dtype)
            assert found.shape == expected.shape, (name, found.shape)
            assert found.tobytes() == expected.tobytes(), name
    track = data["position"].isel(particle=1).sel(time=1.0)
    assert np.array_equal(track, np.load(old / "position.npy")[2, 1], equal_nan=True)
    codes = dict(zip(data["status"].flag_meanings.split(), data["status"].flag_values))
    assert codes == {s["name"].replace(" ", "_"): s["code"] for s in manifest["statuses"]}
    print(store.name, {name: array.shape for name, array in group.arrays()})


def main():
    default = pathlib.Path(tempfile.gettempdir()) / "burntrace-tracks"
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default
    for name in ["plain", "lives"]:
        check(folder / name, OLD / name)
    print("zarr", zarr.__version__, "and xarray", xarray.__version__, "read what was written")


main()

"""Read exported arrays with NumPy, from `.npy` files and from a safetensors file, and compare them with the store that
xarray reads. Write seeds as `.npy` files.

    python tests/peers/tensors.py FOLDER    (needs numpy, xarray and zarr)

The folder has `tracks`, `arrays` and `tracks.safetensors`; the test `numpy_reads_the_arrays` writes it and runs this
script.
"""

import json
import pathlib
import sys

import numpy as np
import xarray

TYPES = {"F64": "<f8", "F32": "<f4", "I32": "<i4", "U8": "|u1"}


def read_safetensors(path):
    """The tensors and the metadata of a file, checked as the format asks."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    metadata = header.pop("__metadata__")
    assert all(isinstance(value, str) for value in metadata.values()), metadata
    tensors, end = {}, 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        first, last = entry["data_offsets"]
        assert first == end or first == last, (name, first, end)
        dtype = np.dtype(TYPES[entry["dtype"]])
        assert (8 + length + first) % dtype.itemsize == 0, name
        values = np.frombuffer(data[8 + length + first : 8 + length + last], dtype)
        tensors[name], end = values.reshape(entry["shape"]), max(end, last)
    assert 8 + length + end == len(data)
    return tensors, metadata


def expected(data):
    """The arrays of a store, with NaN where no particle is."""
    names = data["status"].flag_meanings.split()
    is_waiting = np.isin(np.array(names)[data["status"].values], ["waiting", "not_located"])
    is_absent = (is_waiting | np.isnan(data["position"].values).any(-1))[..., None]
    arrays = {"time": data["time"].values, "particle": np.arange(data.sizes["particle"])}
    sampled = data.attrs.get("sampled", [])
    sampled = [sampled] if isinstance(sampled, str) else sampled
    for name in ["position", "velocity", *sampled]:
        if name in data:
            values = data[name].values
            missing = is_absent if values.ndim == 3 else is_absent[..., 0]
            arrays[name] = np.where(missing, np.nan, values).astype(values.dtype)
    if "image" in data:
        unwrapped = data["position"].values + data["image"].values * np.array(data.attrs["periods"])
        arrays["unwrapped"] = np.where(is_absent, np.nan, unwrapped)
    ends = ["release_time", "end_time", "end_status"]
    if "generation" in data:
        ends = [f"instance_{name}" for name in ["slot", "generation", "release_time", "end_time", "status"]]
    for name in ["status", "generation", *ends]:
        if name in data:
            arrays[name] = data[name].values
    return arrays


def check(folder):
    data = xarray.open_zarr(folder / "tracks", chunks=None).load()
    want = expected(data)
    files = {path.stem: np.load(path, mmap_mode="r") for path in (folder / "arrays").iterdir()}
    tensors, metadata = read_safetensors(folder / "tracks.safetensors")
    assert metadata["status"].startswith("waiting, active, "), metadata
    order = np.arange(data.sizes.get("instance", 0))
    if "instance_slot" in want:
        # By slot; the table of the store is in the order of the ends.
        order = np.lexsort([want["instance_generation"], want["instance_slot"]])
    for name, values in want.items():
        values = values[order] if name.startswith("instance_") else values
        for found in [files.pop(name), tensors.pop(name)]:
            assert found.dtype.kind == values.dtype.kind and found.shape == values.shape, name
            assert name == "particle" or found.dtype == values.dtype, name
            np.testing.assert_array_equal(found, values, err_msg=name)
    assert not files and not tensors, (files.keys(), tensors.keys())


def write_seeds(folder):
    np.save(folder / "seeds.npy", np.arange(6.0, dtype="f4").reshape(2, 3))
    np.save(folder / "transposed.npy", np.array([[0, 3], [1, 4], [2, 5]]).T)
    np.save(folder / "timed.npy", np.arange(8).reshape(2, 4))


check(pathlib.Path(sys.argv[1]))
write_seeds(pathlib.Path(sys.argv[1]))

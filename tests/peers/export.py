"""Read exported tables with pandas, and compare them with the store that xarray reads.

    python tests/peers/export.py FOLDER    (needs pandas, pyarrow, xarray and zarr)

The folder has `tracks`, `saves.parquet`, `particles.parquet` and `saves.csv`; the test
`pandas_reads_the_tables` writes it and runs this script.
"""

import pathlib
import sys
import warnings

import numpy as np
import pandas
import pyarrow.parquet
import xarray

AXES = ["x", "y", "z"]


def expected(data):
    """A row for each released particle and save, with the columns that the store has."""
    saves, particles = data["status"].shape
    table = {"particle": np.tile(np.arange(particles), saves)}
    if "generation" in data:
        table["generation"] = data["generation"].values.ravel()
    table["time"] = np.repeat(data["time"].values, particles)
    for d, axis in enumerate(AXES):
        table[axis] = data["position"].values[..., d].ravel()
    if "image" in data:
        position = data["position"].values.astype(np.float64)
        unwrapped = position + data["image"].values * np.array(data.attrs["periods"])
        for d, axis in enumerate(AXES):
            table[f"unwrapped_{axis}"] = unwrapped[..., d].ravel()
    if "velocity" in data:
        for d, axis in enumerate(AXES):
            table[f"velocity_{axis}"] = data["velocity"].values[..., d].ravel()
    names = np.array(data["status"].flag_meanings.split())
    names = np.array([name.replace("_", " ") for name in names])
    table["status"] = names[data["status"].values.ravel()]
    sampled = data.attrs.get("sampled", [])
    for name in [sampled] if isinstance(sampled, str) else sampled:
        values = data[name].values
        if values.ndim == 2:
            table[name] = values.ravel()
        for d in range(values.shape[2] if values.ndim == 3 else 0):
            ending = AXES[d] if values.shape[2] == 3 else d
            table[f"{name}_{ending}"] = values[..., d].ravel()
    table = pandas.DataFrame(table)
    is_present = ~table["status"].isin(["waiting", "not located"]) & table["x"].notna()
    return table[is_present].reset_index(drop=True)


def check_metadata(path, table):
    """Units, and minima and maxima that filters use."""
    file = pyarrow.parquet.ParquetFile(path)
    assert {b"length_unit", b"time_unit"} <= set(file.metadata.metadata), file.metadata.metadata
    groups = [file.metadata.row_group(index) for index in range(file.num_row_groups)]
    for group in groups:
        columns = [group.column(index) for index in range(group.num_columns)]
        assert all(column.statistics is not None for column in columns), path
        assert all(column.compression == "GZIP" for column in columns), path
    particles = [group.column(0).statistics for group in groups]
    assert min(bounds.min for bounds in particles) == table["particle"].min()
    assert max(bounds.max for bounds in particles) == table["particle"].max()
    some = pandas.read_parquet(path, filters=[("particle", "<", 2)])
    expected = table[table["particle"] < 2].reset_index(drop=True)
    pandas.testing.assert_frame_equal(some, expected, check_exact=True)


def check(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = xarray.open_zarr(folder / "tracks", chunks=None).load()
        saves = pandas.read_parquet(folder / "saves.parquet")
        particles = pandas.read_parquet(folder / "particles.parquet")
    for name, read in [("saves", saves), ("particles", particles)]:
        check_metadata(folder / f"{name}.parquet", read)
    table = expected(data)
    assert list(saves.columns) == list(table.columns), (saves.columns, table.columns)
    pandas.testing.assert_frame_equal(saves, table, check_dtype=False, check_exact=True)
    for name in AXES:
        assert saves[name].dtype == data["position"].dtype, saves.dtypes
    text = pandas.read_csv(folder / "saves.csv", float_precision="round_trip")
    text = text.astype(saves.dtypes.to_dict())
    pandas.testing.assert_frame_equal(text, saves, check_exact=True)

    keys = ["particle"] + [name for name in ["generation"] if name in table]
    lists = [name for name in table.columns if name not in keys]
    long = particles.drop(columns=["release_time", "end_time", "end_status"]).explode(lists)
    order = keys + ["time"]
    long = long.sort_values(order).reset_index(drop=True).astype(saves.dtypes.to_dict())
    table = saves.sort_values(order).reset_index(drop=True)
    pandas.testing.assert_frame_equal(long[table.columns], table, check_exact=True)
    if "generation" not in table:
        chosen = particles["particle"].values
        for name in ["release_time", "end_time"]:
            found = particles[name].values
            assert np.array_equal(found, data[name].values[chosen], equal_nan=True), name
    print(folder.name, "saves:", saves.shape, "particles:", particles.shape)
    print(saves.head(3).to_string())


check(pathlib.Path(sys.argv[1]))

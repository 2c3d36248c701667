"""Data sets of xarray, tables and files."""

import subprocess
import warnings
from pathlib import Path

import burntrace as bt
import numpy as np
import pytest

xr = pytest.importorskip("xarray")
ROOT = Path(__file__).resolve().parents[2]
CASE = """
[field]
files = "{file}"
[seeds]
kind = "uniform"
count = 200
low = [4.3, 43.2, 0.0]
high = [5.7, 44.8, 0.0]
placement = "sea"
[trace]
dt = "10 min"
t1 = "2 d"
[boundary]
coast = "slide"
[save]
every_time = "6 h"
"""


def ocean():
    """Daily currents in degrees, with land in a corner, as a model writes them."""
    lon, lat = np.linspace(4.0, 6.0, 21), np.linspace(43.0, 45.0, 26)
    time = np.datetime64("2024-02-01T12:00", "ns") + np.arange(4) * np.timedelta64(1, "D")
    x, y = np.meshgrid(lon, lat)
    phase = np.arange(4)[:, None, None]
    u = 0.3 * np.sin(3 * y + phase).astype("f4")
    v = 0.2 * np.cos(2 * x - phase).astype("f4")
    u, v = (np.where((x > 5.5) & (y > 44.5), np.float32(np.nan), of) for of in (u, v))
    dims = ("time", "latitude", "longitude")
    speed = {"units": "m s-1"}
    return xr.Dataset(
        {
            "uo": (dims, u, {"standard_name": "eastward_sea_water_velocity", **speed}),
            "vo": (dims, v, {"standard_name": "northward_sea_water_velocity", **speed}),
            "thetao": (dims, 15 + 0 * u, {"units": "degrees_C"}),
        },
        coords={
            "longitude": ("longitude", lon, {"standard_name": "longitude", "units": "degrees_east"}),
            "latitude": ("latitude", lat, {"standard_name": "latitude", "units": "degrees_north"}),
            "time": time,
        },
    )


SEEDS = {"kind": "uniform", "count": 200, "low": [4.3, 43.2, 0.0], "high": [5.7, 44.8, 0.0], "placement": "sea"}
KEYS = dict(dt="10 min", t1="2 d", coast="slide", save="6 h")


def test_a_data_set_has_the_tracks_of_its_file(tmp_path):
    data, file = ocean(), tmp_path / "ocean.nc"
    data.to_netcdf(file)
    in_memory = bt.trace(bt.Field(data), SEEDS, **KEYS)
    of_file = bt.trace(bt.open(file), SEEDS, **KEYS)
    lazy = bt.trace(bt.Field(xr.open_dataset(file)), SEEDS, **KEYS)
    for other in (of_file, lazy):
        assert other.arrays.keys() == in_memory.arrays.keys()
        for name, values in in_memory.arrays.items():
            np.testing.assert_array_equal(values, other.arrays[name], err_msg=name)
    assert in_memory.attributes["time"]["units"].startswith("seconds since 2024-02-01T12:00")
    travelled = np.ptp(in_memory.position, axis=0)[:, :2]
    assert np.median(travelled) > 0.05


def test_tracks_have_the_bits_and_names_of_the_program(tmp_path):
    data, file = ocean(), tmp_path / "ocean.nc"
    data.to_netcdf(file)
    (tmp_path / "case.toml").write_text(CASE.format(file=file))
    run = bt.run(tmp_path / "case.toml", out=tmp_path / "run", set={"save.report": "never"})
    stored = run.tracks().load()
    tracks = bt.trace(bt.Field(data), SEEDS, **KEYS).to_xarray()
    assert set(stored.variables) == set(tracks.variables)
    for name in stored.variables:
        np.testing.assert_array_equal(stored[name].values, tracks[name].values, err_msg=name)
        assert stored[name].dims == tracks[name].dims
        plain = {key: of for key, of in stored[name].attrs.items() if key != "_FillValue"}
        assert {key: np.asarray(of).tolist() for key, of in tracks[name].attrs.items()} == {
            key: np.asarray(of).tolist() for key, of in plain.items()
        }, name
    assert run.summary["released"] == 200


def test_the_program_traces_the_same(tmp_path):
    program = ROOT / "target/release/burntrace"
    if not program.exists():
        pytest.skip("the program is not built")
    file = tmp_path / "ocean.nc"
    ocean().to_netcdf(file)
    (tmp_path / "case.toml").write_text(CASE.format(file=file))
    command = [program, "run", tmp_path / "case.toml", "--out", tmp_path / "run", "--quiet"]
    subprocess.run([*command, "--set", "save.report=never"], check=True, capture_output=True)
    stored = bt.Run(tmp_path / "run").tracks()
    tracks = bt.trace(bt.open(file), SEEDS, **KEYS)
    np.testing.assert_array_equal(stored.position.values, tracks.position)


def test_runs_are_not_overwritten_unless_asked(tmp_path):
    case = {"field": {"flow": "abc"}, "seeds": {"kind": "uniform", "count": 5}, "trace": {"dt": 0.1, "t1": 1.0}}
    bt.run(case, out=tmp_path / "run")
    with pytest.raises(bt.Error, match="run"):
        bt.run(case, out=tmp_path / "run")
    assert bt.run(case, out=tmp_path / "run", overwrite=True, set={"seeds.count": 7}).summary["released"] == 7
    with pytest.raises(bt.InvalidCase, match="did you mean `trace`"):
        bt.run(case, out=tmp_path / "b", set={"trase.dt": 1})


def test_steps_are_checked():
    case = {"field": {"flow": "double-gyre"}, "seeds": {"kind": "uniform", "count": 50}, "trace": {"dt": 0.1, "t1": 5.0}}
    check = bt.check(case, particles=20)
    assert tuple(check["particles"]) == (20, 50) and 3.5 < check["order"] < 4.5
    assert bt.check(case, set={"trace.dt": 0.2}, particles=20)["error"] > 10 * check["error"]
    with pytest.raises(bt.InvalidCase, match="no seeds"):
        bt.check({**case, "seeds": None, "source": {"rate": 1.0, "capacity": 9, "inlet": {"kind": "face", "face": "x-low"}}})


def test_tables():
    pandas = pytest.importorskip("pandas")
    field = bt.flow(["1", "0"], low=[0, 0, 0], high=[1, 1, 0])
    tracks = bt.trace(field, [[0.5, 0.5, 0.0], [0.1, 0.2, 0.0]], t1=0.6, dt=0.1, save=3, velocity=True)
    table = tracks.to_pandas()
    assert list(table.columns) == ["x", "y", "z", "status", "velocity_x", "velocity_y", "velocity_z"]
    assert isinstance(table.index, pandas.MultiIndex) and len(table) == 6
    last = table.xs(1, level="particle").iloc[-1]
    assert last.status == "active" and abs(last.x - 0.7) < 1e-6


def test_warnings_are_those_of_python():
    field = bt.flow(["1", "0"], low=[0, 0, 0], high=[1, 1, 0])
    with pytest.warns(UserWarning, match="not released"):
        bt.trace(field, [[0.5, 0.5, 0.0]], release=5.0, t1=1.0, dt=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bt.trace(field, [[0.5, 0.5, 0.0]], t1=0.1, dt=0.1)


def test_pictures():
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    tracks = bt.trace(bt.flow("double-gyre"), {"kind": "uniform", "count": 5}, t1=1.0, dt=0.1, save=1)
    axes = tracks.plot()
    assert len(axes.lines) == 5 and axes.get_xlabel() == "x"
    plt.close("all")

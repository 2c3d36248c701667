"""Runs in pieces, in one process and by Dask."""

import multiprocessing
import os
import pickle
import subprocess
import sys

import burntrace as bt
import numpy as np
import pytest

SEEDS = np.random.default_rng(5).uniform([0.1, 0.1, 0], [1.9, 0.9, 0], (5000, 3)) * [1, 1, 0]
GATES = [{"name": "middle", "kind": "plane", "origin": [1, 0, 0], "normal": [1, 0, 0]}]
KEYS = dict(t1=2.0, dt=0.05, save=10, diffusivity=1e-3, boundary="reflect")
RANGES = [(start, start + 5) for start in range(0, 5000, 5)]


def gyre():
    x, y = np.linspace(0, 2, 33), np.linspace(0, 1, 17)
    u = -np.sin(np.pi * x) * np.cos(np.pi * y[:, None])
    v = np.cos(np.pi * x) * np.sin(np.pi * y[:, None])
    return bt.grid(u, v, x=x, y=y)


def assert_equal(one, other):
    assert one.arrays.keys() == other.arrays.keys()
    for name, values in one.arrays.items():
        np.testing.assert_array_equal(values, other.arrays[name], err_msg=name)
    assert one.counts() == other.counts()
    assert one.summary["particle_steps"] == other.summary["particle_steps"]


def test_pieces_have_the_bits_of_the_whole_run():
    field, ranges, keys = gyre(), [(0, 1), (1, 2500), (2500, 5000)], {**KEYS, "gates": GATES}
    pieces = [bt.trace(field, SEEDS, piece=of, **keys) for of in ranges]
    whole = bt.trace(field, SEEDS, **keys)
    assert_equal(bt.join(pieces), whole)
    assert len(whole.crossing_time) > 300 and np.abs(whole.crossing_position[:, 0] - 1).max() < 1e-6
    with pytest.raises(bt.InvalidCase, match="slots"):
        bt.trace(field, SEEDS, piece=(4000, 6000), **KEYS)
    with pytest.raises(bt.InvalidCase, match="`piece` is"):
        bt.trace(field, SEEDS, piece=(5, 5), **KEYS)
    with pytest.raises(bt.InvalidCase, match="no pieces"):
        bt.join([])
    # In the order of the particles, and each once.
    assert_equal(bt.join(pieces[::-1]), whole)
    with pytest.raises(bt.InvalidCase, match="do not follow each other"):
        bt.join([pieces[0], pieces[0]])
    other = bt.trace(field, SEEDS, piece=(1, 5), **{**KEYS, "save": 20})
    with pytest.raises(bt.InvalidCase, match="different saves"):
        bt.join([pieces[0], other])


@pytest.mark.parametrize("make", [gyre, lambda: bt.flow("double-gyre"), lambda: bt.flow(["y", "x"], low=[0, 0, 0], high=[2, 1, 0])])
def test_fields_can_be_sent_to_other_processes(make):
    field = make()
    copy = pickle.loads(pickle.dumps(field))
    assert_equal(bt.trace(copy, SEEDS[:9], **KEYS), bt.trace(field, SEEDS[:9], **KEYS))


@pytest.mark.filterwarnings("default")
def test_pieces_of_jobs_are_opened_as_one(tmp_path):
    xr = pytest.importorskip("xarray")
    pytest.importorskip("zarr")
    pytest.importorskip("dask")
    field = gyre()
    for task in range(3):
        piece = (SEEDS[:90].shape[0] * task // 3, 90 * (task + 1) // 3)
        bt.trace(field, SEEDS[:90], piece=piece, **KEYS).to_xarray().to_zarr(tmp_path / f"piece_{task:03}.zarr")
    keys = dict(combine="nested", concat_dim="particle", data_vars="minimal", coords="minimal", compat="override")
    joined = xr.open_mfdataset(str(tmp_path / "piece_*.zarr"), engine="zarr", **keys)
    whole = bt.trace(field, SEEDS[:90], **KEYS).to_xarray()
    assert set(joined.variables) == set(whole.variables)
    for name in whole.variables:
        np.testing.assert_array_equal(joined[name].values, whole[name].values, err_msg=name)


def counts(field):
    return bt.trace(field, SEEDS[:5], **KEYS).counts()


def test_another_process_works():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply_async(counts, [gyre()]).get(timeout=60) == counts(gyre())


FORK = """
import multiprocessing
import burntrace as bt

field = bt.flow("double-gyre")

def work(i):
    return bt.trace(field, [[0.5, 0.5, 0.0]], t1=1.0, dt=0.1).counts()

work(0)
with multiprocessing.get_context("fork").Pool(1) as pool:
    try:
        pool.apply_async(work, [0]).get(timeout=60)
    except bt.RunFailed as error:
        assert "spawn" in str(error)
        print("refused")
"""


def test_a_fork_is_refused():
    # In a process of its own, without the threads of other packages.
    done = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "refused", done.stderr


def piece(field, of, once):
    """A piece of the run. The first one takes its process with it."""
    if of == RANGES[0]:
        try:
            os.close(os.open(once, os.O_CREAT | os.O_EXCL))
            os._exit(1)
        except FileExistsError:
            pass
    return bt.trace(field, SEEDS, piece=of, **KEYS)


@pytest.mark.filterwarnings("default")
def test_dask_takes_a_thousand_pieces_and_loses_a_worker(tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            # A task of its own, which another worker can repeat.
            field = client.submit(gyre)
            tasks = [client.submit(piece, field, of, str(tmp_path / "once")) for of in RANGES]
            joined = bt.join(client.gather(tasks))
    assert (tmp_path / "once").exists()
    assert_equal(joined, bt.trace(gyre(), SEEDS, **KEYS))

"""Runs in memory, beside known answers and the files of the program."""

import signal
import threading
import time

import burntrace as bt
import numpy as np
import pytest

ROTATION = dict(low=[-1, -1, 0], high=[1, 1, 0])


def rotation(**keys):
    return bt.flow(["-y", "x"], **ROTATION, **keys)


def exact(seeds, time):
    x, y = np.asarray(seeds)[:, :2].T
    sin, cos = np.sin(time), np.cos(time)
    return np.column_stack([cos * x - sin * y, sin * x + cos * y])


def test_solid_rotation_of_a_formula():
    seeds = np.array([[0.5, 0.0, 0.0], [0.0, -0.25, 0.0]])
    tracks = bt.trace(rotation(), seeds, t1=2.0, dt=0.01, save=0.5, precision="f64", velocity=True)
    assert tracks.position.shape == (5, 2, 3) and tracks.position.dtype == np.float64
    np.testing.assert_allclose(tracks.time, [0, 0.5, 1, 1.5, 2], atol=1e-12)
    for t, position in zip(tracks.time, tracks.position):
        np.testing.assert_allclose(position[:, :2], exact(seeds, t), atol=1e-9)
    np.testing.assert_allclose(tracks.velocity[..., 0], -tracks.position[..., 1], atol=1e-9)
    assert tracks.counts() == {"active": 2} and tracks.summary["steps"] == 200
    assert len(tracks) == 2 and "2 active" in repr(tracks)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arrays_on_a_grid_are_exact_for_linear_functions(dtype):
    x, y = np.linspace(-1, 1, 5), np.array([-1.0, -0.5, 0.25, 1.0])
    u, v = np.broadcast_to(-y[:, None], (4, 5)), np.broadcast_to(x, (4, 5))
    field = bt.grid(u.astype(dtype), v.astype(dtype), x=x, y=y)
    seeds = [[0.5, 0.0], [0.0, -0.25]]
    tracks = bt.trace(field, seeds, t1=1.0, dt=0.01, precision="f64")
    np.testing.assert_allclose(tracks.position[-1, :, :2], exact(seeds, 1.0), atol=1e-9)
    assert not tracks.position[..., 2].any()


def test_frames_in_time_are_interpolated():
    x = y = np.array([0.0, 10.0])
    u = np.stack([np.full((2, 2), speed) for speed in (0.0, 1.0, 1.0)])
    field = bt.grid(u, np.zeros_like(u), x=x, y=y, time=[0.0, 1.0, 3.0])
    tracks = bt.trace(field, [[1.0, 5.0, 0.0]], dt=0.1, save=1.0)
    np.testing.assert_allclose(tracks.position[:, 0, 0], [1.0, 1.5, 2.5, 3.5], atol=1e-5)


def test_arrays_of_a_field_are_sampled_along_the_tracks():
    x = y = np.linspace(0.0, 1.0, 3)
    u, temperature = np.ones((3, 3)), np.broadcast_to(20.0 + x, (3, 3))
    field = bt.grid(u, 0 * u, x=x, y=y, arrays={"T": temperature})
    tracks = bt.trace(field, [[0.1, 0.5, 0.0]], t1=0.5, dt=0.1, save=1, fields=["T"])
    np.testing.assert_allclose(tracks.T[:, 0], 20.0 + tracks.position[:, 0, 0], atol=1e-5)


def test_strided_arrays_are_read_as_they_are():
    rng = np.random.default_rng(1)
    u, v = rng.normal(size=(2, 4, 6, 5)).transpose(0, 3, 1, 2)[:, ::2, :, ::-1]
    axes = dict(x=np.arange(6.0), y=np.arange(4.0), z=np.arange(3.0))
    seeds = rng.uniform(0.5, 2.0, (20, 3))
    keys = dict(t1=0.3, dt=0.05, boundary="reflect")
    strided = bt.trace(bt.grid(u, v, **axes), seeds, **keys)
    contiguous = bt.trace(bt.grid(u.copy(), v.copy(), **axes), seeds, **keys)
    np.testing.assert_array_equal(strided.position, contiguous.position)


def test_a_function_is_traced_with_the_program_s_steps():
    calls = []

    def velocity(position, time):
        calls.append(len(position))
        return np.column_stack([-position[:, 1], position[:, 0], 0 * position[:, 0]])

    field = bt.function(velocity, **ROTATION, steady=True)
    seeds = [[0.5, 0.0, 0.0], [0.0, -0.25, 0.0]]
    keys = dict(t1=1.0, dt=0.1, precision="f64", save=1)
    tracks = bt.trace(field, seeds, **keys)
    formula = bt.trace(rotation(), seeds, **keys)
    np.testing.assert_allclose(tracks.position, formula.position, atol=1e-12)
    assert calls.count(2) >= 40


def test_an_exception_of_a_function_ends_the_run():
    def velocity(position, time):
        if time > 0.5:
            raise KeyError("no wind")
        return 0 * position

    with pytest.raises(KeyError, match="no wind"):
        bt.trace(bt.function(velocity, **ROTATION), [[0.1, 0.1, 0.0]], t1=1.0, dt=0.1)
    wrong = bt.function(lambda position, time: position[:, :2], **ROTATION)
    with pytest.raises(bt.InvalidCase, match=r"\(1, 2\).*\(1, 3\)"):
        bt.trace(wrong, [[0.1, 0.1, 0.0]], t1=1.0, dt=0.1)


def test_release_times_of_each_particle():
    field = bt.flow(["1", "0"], low=[0, 0, 0], high=[10, 1, 0])
    tracks = bt.trace(field, [[1, 0.5, 0], [1, 0.5, 0]], release=[0.0, 1.0], t1=2.0, dt=0.5, save=2)
    np.testing.assert_allclose(tracks.position[-1, :, 0], [3.0, 2.0], atol=1e-6)
    np.testing.assert_allclose(tracks.release_time, [0.0, 1.0])
    late = bt.trace(field, [[1, 0.5, 0]], release=1.0, t1=2.0, dt=0.5)
    np.testing.assert_allclose(late.position[-1, :, 0], 2.0, atol=1e-6)


def test_boundaries_and_ends():
    field = bt.flow(["1", "0"], low=[0, 0, 0], high=[1, 1, 0])
    seeds = [[0.5, 0.5, 0.0]]
    tracks = bt.trace(field, seeds, t1=2.0, dt=0.1)
    assert tracks.counts() == {"exited_x-high": 1}
    np.testing.assert_allclose(tracks.end_time, 0.5, atol=1e-6)
    tracks = bt.trace(field, seeds, t1=2.0, dt=0.1, boundary={"x": "periodic"})
    continuous = tracks.position + tracks.image * np.array(tracks.periods)
    np.testing.assert_allclose(continuous[-1, 0, 0], 2.5, atol=1e-5)


def test_walks_and_blocks_of_seeds():
    field = bt.flow(["0", "0"], low=[-100, -100, 0], high=[100, 100, 0])
    seeds = [{"kind": "list", "points": np.zeros((20000, 3))}, {"kind": "uniform", "count": 10}]
    tracks = bt.trace(field, seeds, t1=1.0, dt=0.1, diffusivity=0.5)
    spread = tracks.position[-1, :20000, :2]
    assert len(tracks) == 20010
    # The variance of 2 K t = 1 is known to sqrt(2 / 40000) of it.
    assert abs(spread.var() - 1.0) < 4 * np.sqrt(2 / 40000)


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        (dict(shceme="rk4"), "did you mean `scheme`"),
        (dict(scheme="rk6"), "did you mean `rk4`"),
        (dict(integrator="rk4"), "did you mean `scheme`"),
        (dict(n_timesteps=10), "did you mean `steps`"),
        (dict(dtype="f64"), "did you mean `precision`"),
        (dict(scheme="RK45"), "did you mean `dormand-prince`"),
        (dict(precision="float64"), "did you mean `f64`"),
        (dict(boundary="absorbing"), "did you mean `exit`"),
        (dict(boundary={"x": "bounce"}), "boundary.x"),
        (dict(save=True), "`save` is True"),
        (dict(device="cray"), "cray"),
        (dict(release="soon"), "release"),
        (dict(t1=None), "t1|end"),
        (dict(precision="f16"), "precision"),
        (dict(fields=["T"]), "T"),
    ],
)
def test_invalid_arguments_are_refused(keys, text):
    with pytest.raises(bt.InvalidCase, match=text):
        bt.trace(rotation(), [[0.1, 0.1, 0.0]], **{"t1": 1.0, "dt": 0.1, **keys})


def test_invalid_arrays_are_refused():
    for seeds in ("here", [[1, 2, 3, 4]], [[[1.0]]]):
        with pytest.raises(bt.InvalidCase, match="seeds"):
            bt.trace(rotation(), seeds, t1=1.0, dt=0.1)
    with pytest.raises(bt.InvalidCase, match=r"`u` has the shape \(2, 3\).*\(3, 2\)"):
        bt.grid(np.zeros((2, 3)), np.zeros((2, 3)), x=[0, 1], y=[0, 1, 2])
    with pytest.raises(bt.InvalidCase, match="the field is a str"):
        bt.trace("field.nc", [[0, 0, 0]])
    with pytest.raises(bt.InvalidCase, match="no file is called"):
        bt.trace(bt.open("nowhere.vti"), [[0, 0, 0]], t1=1.0, dt=0.1)


def test_progress_is_called_and_its_exceptions_stop_the_run():
    calls = []
    bt.trace(rotation(), [[0.1, 0.1, 0.0]], t1=1.0, dt=0.1, save=2, progress=lambda *of: calls.append(of))
    fractions, times, steps = map(list, zip(*calls))
    assert fractions[-1] == 1.0 and fractions == sorted(fractions) and times[-1] == 1.0 and steps[-1] == 10

    def stop(fraction, time, steps):
        if fraction >= 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as raised:
        bt.trace(rotation(), [[0.1, 0.1, 0.0]], t1=1.0, dt=0.1, save=1, progress=stop)
    kept = raised.value.tracks
    assert 0.5 <= kept.time[-1] < 1.0 and kept.position.shape == (len(kept.time), 1, 3)
    whole = bt.trace(rotation(), [[0.1, 0.1, 0.0]], t1=1.0, dt=0.1, save=1)
    np.testing.assert_array_equal(kept.position, whole.position[: len(kept.time)])


def test_ctrl_c_stops_at_the_next_save_and_keeps_the_tracks():
    seeds = np.random.default_rng(6).uniform(-0.5, 0.5, (20000, 3)) * [1, 1, 0]
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt) as raised:
        bt.trace(rotation(), seeds, t1=1e3, dt=0.01, save=2000)
    assert time.monotonic() - start < 15
    tracks = raised.value.tracks
    assert 1 <= len(tracks.time) < 51 and np.isfinite(tracks.position).all()


def test_python_goes_on_meanwhile():
    counts, seeds = [0], np.zeros((100000, 3))
    done = threading.Event()

    def count():
        while not done.wait(0.001):
            counts[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    bt.trace(rotation(), seeds, t1=20.0, dt=0.01)
    done.set()
    thread.join()
    assert counts[0] > 5


def test_arrays_of_other_libraries_are_not_copied():
    class Exchanged:
        """An array that only knows the protocol of dlpack."""

        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **keys):
            return self.array.__dlpack__(**keys)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    x = y = np.linspace(0.0, 1.0, 3)
    u, v = np.zeros((3, 3)), np.zeros((3, 3))
    field = bt.grid(Exchanged(u), Exchanged(v), x=x, y=y)
    # Read when the field is first used.
    u += 0.2
    tracks = bt.trace(field, [[0.5, 0.5, 0.0]], t1=1.0, dt=0.1)
    np.testing.assert_allclose(tracks.position[-1, 0], [0.7, 0.5, 0.0], atol=1e-6)


def test_threads_trace_at_the_same_time():
    field, results = rotation(), {}
    seeds = np.random.default_rng(2).uniform(-0.5, 0.5, (1000, 3)) * [1, 1, 0]

    def work(i):
        results[i] = bt.trace(field, seeds, t1=0.1 * (i + 1), dt=0.01).position

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    [of.start() for of in threads], [of.join() for of in threads]
    for i in range(4):
        np.testing.assert_array_equal(results[i], bt.trace(field, seeds, t1=0.1 * (i + 1), dt=0.01).position)


def test_fields_are_described():
    x = y = np.linspace(0.0, 1.0, 3)
    description = bt.grid(np.zeros((3, 3)), np.zeros((3, 3)), x=x, y=y).describe(device="cpu")
    assert description["nodes"] == [3, 3, 1] and description["interpolation"] == "grid"


def test_a_bar_shows_the_progress(capsys):
    pytest.importorskip("tqdm")
    bt.trace(rotation(), [[0.1, 0.1, 0.0]], t1=1.0, dt=0.1, save=2, progress=True)
    assert "t = 1, 10 particle-steps" in capsys.readouterr().err


def test_a_graphics_card_is_found_or_what_is_missing_is_said():
    try:
        tracks = bt.trace(rotation(), [[0.1, 0.1, 0.0]], t1=1.0, dt=0.1, device="gpu")
    except bt.InvalidCase as error:
        assert "no graphics card" in str(error) and "feature `cuda`" in str(error)
    else:
        assert tracks.counts() == {"active": 1}


def test_devices_have_names():
    assert "flex" in dict(bt.devices())
    assert bt.trace(rotation(), [[0.1, 0.1, 0.0]], t1=1.0, dt=0.1, device="ndarray").counts() == {"active": 1}


def test_what_adds_up_along_tracks_and_conditions():
    x = y = np.linspace(-1, 1, 9)
    u, v = np.broadcast_to(-y[:, None], (9, 9)), np.broadcast_to(x, (9, 9))
    field = bt.grid(u, v, x=x, y=y, arrays={"T": np.full((9, 9), 2.0)})
    seeds = [[0.5, 0.0, 0.0], [0.0, -0.25, 0.0]]
    fields = ["vorticity", "integral(T)", "integral(shear_rate)", "maximum(speed)", "path_length"]
    keys = dict(t1=1.0, dt=0.01, precision="f64", stop_when=["age > 0.75", "path_length > 0.25"])
    tracks = bt.trace(field, seeds, fields=fields, **keys)
    assert tracks.counts() == {"stopped": 2}
    np.testing.assert_allclose(tracks.arrays["path_length"][-1], [0.25, 0.1875], atol=1e-4)
    np.testing.assert_allclose(tracks.arrays["integral(T)"][-1], [1.0, 1.5], atol=1e-4)
    np.testing.assert_allclose(tracks.arrays["integral(shear_rate)"][-1], 0, atol=1e-12)
    np.testing.assert_allclose(tracks.arrays["maximum(speed)"][-1], [0.5, 0.25], rtol=1e-6)
    np.testing.assert_allclose(tracks.arrays["vorticity"][-1], [[0, 0, 2], [0, 0, 2]], atol=1e-12)
    with pytest.raises(bt.Error, match="has no array `p`"):
        bt.trace(field, seeds, fields=["integral(p)"], t1=1.0, dt=0.1)

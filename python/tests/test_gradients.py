"""Gradients beside central differences."""

import signal
import threading
import time

import burntrace as bt
import numpy as np
import pytest

RNG = np.random.default_rng(3)
X, Y, T = np.linspace(0, 2, 7), np.linspace(1, 0, 5), np.array([0.0, 0.4, 1.0])
SHAPE = (3, 5, 7)
U, V = RNG.normal(size=(2, *SHAPE)) * 0.5
SEEDS = RNG.uniform([0.2, 0.2, 0], [1.8, 0.8, 0], (6, 3)) * [1, 1, 0]
KEYS = dict(dt=0.1, boundary="reflect", save=5, precision="f64")
WEIGHTS = RNG.normal(size=(3, 6, 3))


def field(u=U, v=V):
    return bt.grid(u, v, x=X, y=Y, time=T)


def loss(tracks):
    return float((WEIGHTS * tracks.position).sum()), WEIGHTS


def difference(of, at, step=1e-6):
    """Central differences at a few places of an array."""
    places = [tuple(RNG.integers(0, n) for n in at.shape) for _ in range(8)]
    result = []
    for place in places:
        values = []
        for sign in (1, -1):
            moved = at.copy()
            moved[place] += sign * step
            values.append(of(moved))
        result.append((values[0] - values[1]) / (2 * step))
    return places, np.array(result)


def check(gradient, of, at, tolerance=1e-7):
    places, expected = difference(of, at)
    found = np.array([gradient[place] for place in places])
    np.testing.assert_allclose(found, expected, atol=tolerance * max(1, np.abs(gradient).max()))
    assert np.abs(gradient).max() > 1e-3


def value(u=U, v=V, seeds=SEEDS, **keys):
    return loss(bt.trace(field(u, v), seeds, **{**KEYS, **keys}))[0]


def test_gradients_by_seeds_and_values():
    number, gradients = bt.value_and_grad(loss, field(), SEEDS, wrt=["seeds", "values"], **KEYS)
    assert number == pytest.approx(value(), abs=1e-12)
    assert gradients["u"].shape == SHAPE and gradients["seeds"].shape == SEEDS.shape
    check(gradients["seeds"][:, :2], lambda of: value(seeds=np.column_stack([of, SEEDS[:, 2]])), SEEDS[:, :2].copy())
    check(gradients["u"], lambda of: value(u=of), U)
    check(gradients["v"], lambda of: value(v=of), V)


@pytest.mark.skipif("vulkan:0" not in dict(bt.devices()), reason="no Vulkan")
def test_gradients_on_vulkan_are_those_of_the_cpu():
    keys = dict(wrt=["seeds", "values"], **{**KEYS, "precision": "f32"})
    gradients = [bt.value_and_grad(loss, field(), SEEDS, device=device, **keys)[1] for device in ("cpu", "vulkan:0")]
    for name, values in gradients[0].items():
        np.testing.assert_allclose(gradients[1][name], values, atol=2e-4 * np.abs(values).max(), err_msg=name)


def test_gradients_by_drift_and_diffusivity():
    keys = dict(drift=[0.1, -0.05, 0.0], diffusivity=[0.02, 0.01, 0.0])
    _, gradients = bt.value_and_grad(loss, field(), SEEDS, wrt=["drift", "diffusivity"], **KEYS, **keys)
    assert set(gradients) == {"drift", "diffusivity"}
    for name in gradients:
        at = np.array(keys[name])[:2]
        check(gradients[name][:2], lambda of: value(**{**keys, name: [*of, 0.0]}), at, 1e-6)


def test_tracks_are_those_of_a_run_without_gradients():
    tracks, pull = bt.vjp(field(), SEEDS, **KEYS)
    plain = bt.trace(field(), SEEDS, **KEYS)
    for name, values in plain.arrays.items():
        np.testing.assert_allclose(tracks.arrays[name], values, atol=1e-12, err_msg=name)
    with pytest.raises(bt.InvalidCase, match=r"\(6, 3\).*\(3, 6, 3\)"):
        pull(np.zeros((6, 3)))
    assert not pull(np.zeros((3, 6, 3)))["seeds"].any()
    with pytest.raises(bt.InvalidCase, match="trace again"):
        pull(WEIGHTS)


def test_ctrl_c_stops_a_run_with_gradients():
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        bt.vjp(bt.flow("double-gyre"), np.tile(SEEDS, (2000, 1)), t1=100.0, dt=1e-3, save=500)
    assert time.monotonic() - start < 15


def test_what_has_no_gradients_is_refused():
    function = bt.function(lambda position, time: 0 * position, low=[0, 0, 0], high=[1, 1, 0])
    with pytest.raises(bt.InvalidCase, match="no gradients"):
        bt.vjp(function, [[0.5, 0.5, 0]], t1=1.0, dt=0.1)
    formula = bt.flow("double-gyre")
    with pytest.raises(bt.InvalidCase, match="field.sample"):
        bt.vjp(formula, [[0.5, 0.5, 0]], wrt="values", t1=1.0, dt=0.1)
    with pytest.raises(bt.InvalidCase, match="walk.diffusivity"):
        bt.vjp(formula, [[0.5, 0.5, 0]], wrt="diffusivity", t1=1.0, dt=0.1)
    with pytest.raises(bt.InvalidCase, match='"speed"'):
        bt.vjp(formula, [[0.5, 0.5, 0]], wrt="speed", t1=1.0, dt=0.1)
    assert set(bt.vjp(formula, [[0.5, 0.5, 0]], t1=1.0, dt=0.1)[1](np.ones((1, 1, 3)))) == {"seeds"}

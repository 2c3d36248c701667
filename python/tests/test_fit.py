"""Fits of parameters."""

import numpy as np
import pytest

import burntrace as bt


def test_a_line_has_the_values_and_errors_of_least_squares():
    x = np.linspace(0.0, 1.0, 50)
    noise = 0.1 * np.random.default_rng(3).standard_normal(50)
    y = 1.0 + 2.0 * x + noise
    found = bt.fit(lambda a, b: a + b * x - y, {"a": (0, -5, 5), "b": (0, -5, 5)})
    matrix = np.stack([np.ones_like(x), x], 1)
    (a, b), left, *_ = np.linalg.lstsq(matrix, y, rcond=None)
    errors = np.sqrt(np.diag(np.linalg.inv(matrix.T @ matrix)) * left[0] / 48)
    assert found.converged and len(found.trials) < 30
    assert found.values["a"] == pytest.approx(a, abs=1e-6)
    assert found.values["b"] == pytest.approx(b, abs=1e-6)
    assert [found.errors["a"], found.errors["b"]] == pytest.approx(list(errors), rel=1e-3)
    assert found.trials[0] == ({"a": 0.0, "b": 0.0}, pytest.approx((y**2).sum()))


def test_a_drift_is_found_from_drifters():
    field = bt.flow("double-gyre")
    seeds = [[0.5 + 0.1 * i, 0.4, 0.0] for i in range(5)]
    keys = {"t1": 2.0, "dt": 0.05, "save": 8}
    observed = bt.trace(field, seeds, drift=[0.03, -0.02, 0.0], **keys).position

    def differences(u, v):
        off = bt.trace(field, seeds, drift=[u, v, 0.0], **keys).position - observed
        return [off[:, i] for i in range(len(seeds))]

    found = bt.fit(differences, {"u": (0.0, -0.1, 0.1), "v": (0.0, -0.1, 0.1)})
    assert found.converged and len(found.residuals) == 5
    assert found.values["u"] == pytest.approx(0.03, abs=1e-5)
    assert found.values["v"] == pytest.approx(-0.02, abs=1e-5)


def test_what_no_fit_can_use_is_refused():
    with pytest.raises(bt.InvalidCase, match="with the start between them"):
        bt.fit(lambda a: [a], {"a": (2.0, 0.0, 1.0)})
    with pytest.raises(bt.InvalidCase, match="4 runs or more"):
        bt.fit(lambda a: [a], {"a": (0.5, 0.0, 1.0)}, runs=3)
    with pytest.raises(bt.InvalidCase, match="finite numbers"):
        bt.fit(lambda a: [np.nan], {"a": (0.5, 0.0, 1.0)})
    with pytest.raises(KeyError):
        bt.fit(lambda a: {}["b"], {"a": (0.5, 0.0, 1.0)})

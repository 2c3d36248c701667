"""Fits of a few parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._burntrace import fit as _fit
from ._errors import InvalidCase


@dataclass(frozen=True)
class Fit:
    """What :func:`fit` found."""

    values: dict[str, float]
    """The values of the parameters."""
    errors: dict[str, float]
    """Their standard errors; NaN where the data do not determine a value."""
    residuals: list[np.ndarray]
    """The differences that are left, of each group."""
    trials: list[tuple[dict[str, float], float]]
    """The runs of the search: values, and the sum of squares of the differences."""
    converged: bool
    """Whether the search ended by itself."""


def fit(
    differences: Callable[..., Any],
    parameters: Mapping[str, Sequence[float]],
    *,
    runs: int = 1000,
) -> Fit:
    """Finds the values of a few parameters at which differences are least, with standard errors.

    Damped Newton steps by differences of runs (Levenberg, Marquardt) take few of them where the differences change smoothly; where they do
    not, a simplex goes on (Nelder, Mead). Both find a minimum near the start.

    Parameters
    ----------
    differences
        A function of the parameters, by their names. It returns an array of differences, or a sequence of arrays: one for each group, such
        as a drifter. Groups are independent of each other, and three or more of them tell how dependent the differences of a group are.
    parameters
        The start, the lower and the upper bound of each parameter.
    runs
        Maximum number of calls in the search. Standard errors take two more for each parameter.

    Raises
    ------
    InvalidCase
        For bounds that are no range around the start, and differences that are no numbers.
    """
    names = list(parameters)
    ranges = [[float(x) for x in parameters[name]] for name in names]
    for name, given in zip(names, ranges):
        if len(given) != 3 or not given[1] <= given[0] <= given[2] or not given[1] < given[2]:
            raise InvalidCase(f"the parameter {name!r} is {given}; give its start, its lower and its upper bound, with the start between them")
    if not names or runs < 2 * len(names) + 2:
        raise InvalidCase(f"{runs} runs for {len(names)} parameters; give one parameter or more, and {2 * len(names) + 2} runs or more")

    def model(values: list[float]) -> list[list[float]]:
        given = differences(**dict(zip(names, values)))
        groups = [given] if np.ndim(given[0] if len(given) else 0.0) == 0 else given
        arrays = [np.asarray(group, dtype=float).ravel() for group in groups]
        if not all(np.isfinite(array).all() for array in arrays) or not any(array.size for array in arrays):
            raise InvalidCase("the differences are empty, or not all of them are finite numbers; leave out those of particles that have ended")
        return [array.tolist() for array in arrays]

    values, errors, trials, residuals, converged = _fit(model, ranges, runs)

    def named(numbers: Sequence[float]) -> dict[str, float]:
        return dict(zip(names, numbers))

    return Fit(
        named(values),
        named(errors),
        [np.array(group) for group in residuals],
        [(named(of), square) for of, square in trials],
        converged,
    )

"""Gradients of positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ._errors import InvalidCase
from ._field import Field
from ._plain import numbers
from ._trace import received, sections
from ._tracks import Tracks

Pull = Callable[[Any], dict[str, np.ndarray]]


def vjp(
    field: Field, seeds: Any = None, *, wrt: str | Sequence[str] = "seeds", release: Any = None, **keys: Any
) -> tuple[Tracks, Pull]:
    """Traces particles, and returns their tracks with a function that pulls derivatives back (a vector-Jacobian product).

    Gradients are the exact derivatives of the steps taken, through all boundaries; fields on grids, meshes and points have a fused
    adjoint.

    Parameters
    ----------
    field, seeds, release, **keys
        As for :func:`trace`.
    wrt : text or sequence of texts
        What to differentiate with respect to: ``"seeds"``, ``"values"`` (the velocities of the field), ``"drift"`` and
        ``"diffusivity"``.

    Returns
    -------
    tracks : Tracks
        The tracks.
    pull : function
        Takes the derivatives of a number with respect to ``tracks.position``, of its shape, and returns those with respect to each
        of ``wrt`` in a dictionary: ``seeds`` of shape (n, 3), ``drift`` and ``diffusivity`` of shape (3,), and of a field of
        :func:`grid` ``u``, ``v`` and ``w`` of the shape of its arrays; of other fields ``values`` of shape (frames, values, 3), in
        the order of the files. It can be called once.

    Raises
    ------
    InvalidCase
        As :func:`trace`, and for what has no gradients, such as functions of Python.
    """
    keys = {"seeds": seeds, "release": release, **keys}
    case, blocks = sections(field, keys)
    names = [wrt] if isinstance(wrt, str) else list(wrt)
    given, pullback = field._held.pullback(case, blocks, names)
    field._check_values(pullback.values)
    tracks = received(field, given)
    shape = tracks.position.shape

    def pull(derivatives: Any) -> dict[str, np.ndarray]:
        given = numbers(derivatives, "derivatives", "(saves, n, 3)")
        if given.shape != shape:
            raise InvalidCase(f"the derivatives have the shape {given.shape}; give those of `tracks.position`, {shape}")
        return field._in_components(pullback(np.require(given, requirements=["C", "A"])))

    return tracks, pull


def value_and_grad(
    loss: Callable[[Tracks], tuple[float, Any]],
    field: Field,
    seeds: Any = None,
    *,
    wrt: str | Sequence[str] = "seeds",
    **keys: Any,
) -> tuple[float, dict[str, np.ndarray]]:
    """A loss on tracks, and its gradients.

    Parameters
    ----------
    loss
        A function of :class:`Tracks` that returns a number, and its derivatives with respect to ``tracks.position``, of its shape.
    field, seeds, wrt, **keys
        As for :func:`vjp`.

    Returns
    -------
    value : float
        The loss.
    gradients : dict of arrays
        As the function of :func:`vjp` returns them.
    """
    tracks, pull = vjp(field, seeds, wrt=wrt, **keys)
    value, derivatives = loss(tracks)
    return value, pull(derivatives)

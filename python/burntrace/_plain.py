"""Values of Python as those of a case."""

from __future__ import annotations

import datetime
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from ._errors import InvalidCase


def plain(value: Any) -> Any:
    """A value as numbers, text, lists and dictionaries; entries that are None are left out."""
    if isinstance(value, Mapping):
        return {str(key): plain(of) for key, of in value.items() if of is not None}
    if isinstance(value, np.datetime64):
        return str(np.datetime_as_string(value, unit="s"))
    if isinstance(value, datetime.datetime):
        if value.tzinfo is not None:
            value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
        return value.isoformat()
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, (datetime.timedelta, np.timedelta64)):
        return float(value / np.timedelta64(1, "s")) if isinstance(value, np.timedelta64) else value.total_seconds()
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, np.ndarray):
        return plain(list(value)) if value.dtype.kind in "mM" else value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(of) for of in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return value


def numbers(value: Any, what: str, shape: str) -> np.ndarray:
    """Numbers as an array in double precision."""
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidCase(f"`{what}` is not an array of numbers ({error}); give one of shape {shape}") from None


def in_space(array: np.ndarray, what: str) -> np.ndarray:
    """Positions of shape (n, 3), of an array that may have two coordinates or one position."""
    if array.ndim == 1 and array.size in (2, 3):
        array = array[None]
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise InvalidCase(f"`{what}` has the shape {array.shape}; give positions of shape (n, 3), or (n, 2) with z = 0")
    if array.shape[1] == 2:
        array = np.column_stack([array, np.zeros(len(array))])
    return np.require(array, requirements=["C", "A"])

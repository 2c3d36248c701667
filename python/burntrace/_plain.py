"""Values of Python as those of a case."""

from __future__ import annotations

import datetime
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from ._errors import InvalidCase


def plain(value: Any, key: str = "") -> Any:
    """A value as numbers, text, lists and dictionaries; entries that are None are left out."""
    if isinstance(value, Mapping):
        return {str(name): plain(of, f"{key}.{name}".lstrip(".")) for name, of in value.items() if of is not None}
    if isinstance(value, (np.datetime64, datetime.date, datetime.timedelta, np.timedelta64)):
        return _time(value, key)
    if isinstance(value, np.generic):
        return plain(value.item(), key)
    if isinstance(value, (list, tuple, range)):
        return [plain(of, key) for of in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (bool, float, str)) or isinstance(value, int) and -(2**63) <= value < 2**63:
        return value
    if hasattr(value, "calendar") and hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "ndim") and hasattr(value, "dtype"):
        array = np.asarray(value)
        return plain(array[()] if array.ndim == 0 else list(array), key)
    raise InvalidCase(f"`{key}` has {value!r}, a {type(value).__name__}; give numbers, text, lists or dictionaries of them")


def _time(value: Any, key: str) -> Any:
    """A date as text, or a length of time in seconds."""
    if isinstance(value, np.timedelta64):
        return float(value / np.timedelta64(1, "s"))
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, np.datetime64):
        if np.isnat(value):
            raise InvalidCase(f"`{key}` is NaT; give a date or a number")
        return str(np.datetime_as_string(value.astype("datetime64[us]")))
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    return value.isoformat()


def numbers(value: Any, what: str, shape: str) -> np.ndarray:
    """Numbers as an array in double precision."""
    array = np.asanyarray(value) if isinstance(value, np.ndarray) else _as_array(value, what, shape)
    if np.ma.is_masked(array):
        raise InvalidCase(f"`{what}` has missing values; give numbers")
    if array.dtype.kind not in "iufb" and array.size:
        raise InvalidCase(f"`{what}` is of the type {array.dtype}; give numbers, of shape {shape}")
    return np.asarray(array, dtype=np.float64)


def _as_array(value: Any, what: str, shape: str) -> np.ndarray:
    try:
        return np.asarray(value)
    except (TypeError, ValueError) as error:
        raise InvalidCase(f"`{what}` is not an array of numbers ({error}); give one of shape {shape}") from None


def contiguous(values: Any, dtype: np.dtype[Any]) -> np.ndarray:
    """Values as an array of a floating point type in the order of C, with NaN for missing ones."""
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(dtype), np.nan)
    # Arrays that other processes sent may not be aligned.
    return np.require(values, dtype, ["C", "A"])


def in_space(array: np.ndarray, what: str) -> np.ndarray:
    """Positions of shape (n, 3), of an array that may have two coordinates or one position."""
    if array.ndim == 1 and array.size in (2, 3):
        array = array[None]
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise InvalidCase(f"`{what}` has the shape {array.shape}; give positions of shape (n, 3), or (n, 2) with z = 0")
    if array.shape[1] == 2:
        array = np.column_stack([array, np.zeros(len(array))])
    return np.require(array, requirements=["C", "A"])

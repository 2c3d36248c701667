"""The compiled part of the package."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ._data import Frames, Variable

_Arrays = dict[str, tuple[list[str], np.ndarray, dict[str, Any]]]
GivenTracks = tuple[_Arrays, list[float], dict[str, Any], list[str]]
_Block = tuple[int, np.ndarray, np.ndarray | None]
_Progress = Callable[[float, float, int], Any] | None

class Field:
    """A field that is loaded when it is first needed."""

    path: str | None

    def __init__(
        self,
        variables: tuple[str, list[Variable]] | None = None,
        frames: Frames | None = None,
        function: tuple[Callable[[np.ndarray, float], Any], list[float], list[float], bool] | None = None,
    ) -> None: ...
    def describe(self, sections: dict[str, Any]) -> dict[str, Any]: ...
    def trace(
        self,
        sections: dict[str, Any],
        seeds: list[_Block],
        piece: tuple[int, int] | None,
        progress: _Progress,
    ) -> tuple[GivenTracks, BaseException | None]: ...
    def pullback(
        self, sections: dict[str, Any], seeds: list[_Block], by: list[str]
    ) -> tuple[GivenTracks, Pullback]: ...

class Pullback:
    """A run whose positions wait for their gradients."""

    values: int

    def __call__(self, derivatives: np.ndarray) -> dict[str, np.ndarray]: ...

def run(
    case: str | dict[str, Any], keys: list[str], out: str, overwrite: bool, progress: _Progress
) -> tuple[dict[str, Any], list[str]]: ...
def check(case: str | dict[str, Any], keys: list[str], particles: int) -> dict[str, Any]: ...
def fit(
    model: Callable[[list[float]], list[list[float]]], ranges: list[list[float]], runs: int
) -> tuple[list[float], list[float], list[tuple[list[float], float]], list[list[float]], bool]: ...
def nearest(given: str, names: list[str]) -> str | None: ...
def devices() -> list[tuple[str, str]]:
    """Names and descriptions of the devices that can be opened."""

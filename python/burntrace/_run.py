"""Runs of case files."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _burntrace, _process
from ._errors import InvalidCase
from ._plain import plain
from ._trace import Progress, _progress
from ._tracks import open_tracks

if TYPE_CHECKING:
    import xarray


class Run:
    """A run in a folder.

    Attributes
    ----------
    folder : Path
        The folder.
    summary : dict
        The content of ``summary.json``.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.summary: dict[str, Any] = json.loads((self.folder / "summary.json").read_text())

    def tracks(self) -> xarray.Dataset:
        """The tracks as a data set of xarray (needs ``zarr`` 3), which reads them when they are needed."""
        return open_tracks(self.folder)

    def __repr__(self) -> str:
        return f"<burntrace.Run {str(self.folder)!r}>"


def run(
    case: str | os.PathLike[str] | Mapping[str, Any],
    *,
    out: str | os.PathLike[str],
    set: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    progress: bool | Progress = False,
) -> Run:
    """Runs a case, as ``burntrace run`` does: with the same bits, checkpoints and files, but without report and pictures.

    Parameters
    ----------
    case
        A case file, or its sections as dictionaries.
    out
        The folder of the run.
    set
        Keys to set, such as ``{"trace.dt": 0.1}``; ``None`` removes a key.
    overwrite
        Whether to replace an earlier run in the folder.
    progress
        ``True`` for a bar of ``tqdm``, or a function of the fraction that is done, the time, and the number of particle-steps. An
        exception of it, as Ctrl-C, stops the run; ``burntrace run --resume`` resumes it.

    Returns
    -------
    Run
        The run.

    Raises
    ------
    InvalidCase
        If the case or its input is invalid; the text says where, and what would be right.
    RunFailed
        If a file cannot be read or written, or the device fails.
    """
    given, keys = _given(case, set)
    call, close = _progress(progress)
    try:
        _, texts = _burntrace.run(given, keys, os.fspath(out), overwrite, call)
    finally:
        close()
    for text in texts:
        warnings.warn(text, stacklevel=2)
    return Run(out)


def check(
    case: str | os.PathLike[str] | Mapping[str, Any],
    *,
    set: Mapping[str, Any] | None = None,
    particles: int = 1000,
) -> dict[str, Any]:
    """Checks the steps of a case, as ``burntrace check`` does: half and a quarter of the step, both precisions, every second frame.

    Parameters
    ----------
    case, set
        As for :func:`run`.
    particles
        Number of particles, at equal distances in the list of seeds.

    Returns
    -------
    dict
        ``comparisons`` with the median, 90th percentile and maximum of the distances between ends; ``order`` and ``error`` of the
        step; ``travel``, the median distance from release to end. Lengths are those of the data.
    """
    return _burntrace.check(*_given(case, set), particles)


def _given(case: str | os.PathLike[str] | Mapping[str, Any], set: Mapping[str, Any] | None) -> tuple[Any, list[str]]:
    """A case, and the keys that are set in it."""
    _process.check()
    for key, value in (set or {}).items():
        if isinstance(value, Mapping):
            raise InvalidCase(f"`set` has {{{key!r}: {value!r}}}; give keys with their section, such as {{'trace.dt': 0.1}}")
    given = plain(case) if isinstance(case, Mapping) else os.fspath(case)
    return given, [f"{key}={'' if value is None else json.dumps(plain(value))}" for key, value in (set or {}).items()]

"""burntrace: Lagrangian particle tracing, fast everywhere.

>>> import burntrace as bt
>>> field = bt.flow("double-gyre")
>>> tracks = bt.trace(field, [[0.5, 0.5, 0.0]], t1=1.0, dt=0.1, save=2)
>>> tracks.position.shape
(6, 1, 3)

Lengths and times are those of the data: metres and seconds where files name their units. Wherever a length of time is asked for, text
such as ``"10 min"`` or ``"30 d"`` is seconds; a point in time may be a date.
"""

import os as _os
import sys as _sys
import tempfile as _tempfile
from importlib.metadata import version as _version

# Graphics drivers print errors without it on a machine without a desktop.
if _sys.platform == "linux":
    _os.environ.setdefault("XDG_RUNTIME_DIR", _tempfile.gettempdir())

from ._burntrace import devices
from ._errors import Error, InvalidCase, RunFailed, RunStopped
from ._field import Field, cells, flow, function, grid, mesh, open, points
from ._fit import Fit, fit
from ._gradients import value_and_grad, vjp
from ._run import Run, check, run
from ._trace import trace
from ._tracks import Tracks, join

__version__ = _version("burntrace")

__all__ = [
    "Error",
    "Field",
    "Fit",
    "InvalidCase",
    "Run",
    "RunFailed",
    "RunStopped",
    "Tracks",
    "cells",
    "check",
    "devices",
    "fit",
    "flow",
    "function",
    "grid",
    "join",
    "mesh",
    "open",
    "points",
    "run",
    "trace",
    "value_and_grad",
    "vjp",
]

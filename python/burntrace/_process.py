"""Threads of the compiled part, which a forked process does not have."""

from __future__ import annotations

import os

from ._errors import RunFailed

_owner: int | None = None


def check() -> None:
    """Refuses to compute in a process that was forked after threads were started: it would wait for them without end."""
    global _owner
    _owner = os.getpid() if _owner is None else _owner
    if _owner != os.getpid():
        raise RunFailed(
            "this process was forked from one in which burntrace had started threads, which a fork does not have; start "
            'processes by `multiprocessing.get_context("spawn")`, or call burntrace after the fork only'
        )

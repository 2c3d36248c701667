"""Errors of burntrace."""


class Error(Exception):
    """An error of burntrace: its text says what was given, what is wrong, and what would be right."""


class InvalidCase(Error, ValueError):
    """The case or its input is invalid."""


class RunStopped(Error):
    """A run was stopped before its end; the text says how to resume it."""


class RunFailed(Error, RuntimeError):
    """A file could not be read or written, or a device failed."""

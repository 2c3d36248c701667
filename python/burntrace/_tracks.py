"""Tracks of a run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._errors import InvalidCase

if TYPE_CHECKING:
    import pandas
    import xarray


class Tracks:
    """Tracks in memory: arrays with the names, dimensions and attributes that the files of a run have.

    Attributes
    ----------
    time : array of shape (saves,)
        Times of the saves. With dates, they are seconds from that in ``attributes["time"]["units"]``.
    position : array of shape (saves, particles, 3)
        Positions, in the order of the seeds. A particle that has ended keeps its last position.
    status : array of shape (saves, particles)
        Codes of :attr:`meanings`.
    end_status, end_time, release_time, release_position : arrays of particles
        How and when each ended (NaN if it has not), and when and where it was released.
    velocity, image, generation, mesh_cell, ... : arrays
        What else the run has: see :attr:`arrays`. Arrays of the field (``fields=``) are there by their names.
    arrays : dict of arrays
        All arrays by their names.
    attributes : dict of dicts
        Their attributes by the conventions of CF.
    periods : tuple of 3 floats
        Widths of the domain along periodic axes; 0 along the others. ``position + image * periods`` is continuous.
    summary : dict
        Counts, steps and seconds of the run.
    """

    def __init__(
        self,
        arrays: Mapping[str, tuple[list[str], np.ndarray, dict[str, Any]]],
        periods: Sequence[float],
        summary: Mapping[str, Any],
    ) -> None:
        #: Of a piece of a run, its first particle and the one after its last.
        self.piece: tuple[int, int] | None = None
        self.arrays: dict[str, np.ndarray] = {name: values for name, (_, values, _) in arrays.items()}
        self.attributes: dict[str, dict[str, Any]] = {name: of for name, (_, _, of) in arrays.items()}
        self.periods = tuple(periods)
        self.summary = dict(summary)
        self._dimensions = {name: tuple(of) for name, (of, _, _) in arrays.items()}

    def __getattr__(self, name: str) -> np.ndarray:
        arrays: dict[str, np.ndarray] = self.__dict__.get("arrays", {})
        if name in arrays:
            return arrays[name]
        raise AttributeError(f"these tracks have no {name!r}; they have {', '.join(arrays)}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.arrays]

    def __len__(self) -> int:
        return int(self.position.shape[1])

    @property
    def meanings(self) -> dict[int, str]:
        """What the codes of a status mean."""
        attributes = self.attributes["status"]
        return dict(zip(attributes["flag_values"], attributes["flag_meanings"].split()))

    def counts(self) -> dict[str, int]:
        """Number of particles by their status at the end of the run."""
        ends = self.arrays.get("end_status")
        if ends is None:
            # Of a run that was stopped, those of the last save.
            ends = self.status[-1:]
        codes, counts = np.unique(ends, return_counts=True)
        return {self.meanings[int(code)]: int(count) for code, count in zip(codes, counts)}

    def to_xarray(self) -> xarray.Dataset:
        """The tracks as a data set of xarray, equal to that of the files of a run. Positions are not copied.

        Returns
        -------
        xarray.Dataset
            With the dimensions ``time``, ``particle`` and ``component``; dates are decoded.
        """
        import xarray

        variables = {
            name: (self._dimensions[name], values, dict(self.attributes[name])) for name, values in self.arrays.items()
        }
        names = ["lon", "lat", "z"] if "component_standard_names" in self.attributes["position"] else ["x", "y", "z"]
        data = xarray.Dataset(variables, coords={"component": ("component", names, {"long_name": "component of a vector"})})
        data.attrs = {"Conventions": "CF-1.11", "featureType": "trajectory", "periods": list(self.periods)}
        decoded: xarray.Dataset = xarray.decode_cf(data)
        return decoded

    def to_pandas(self) -> pandas.DataFrame:
        """The tracks as a table with a row for each save and particle.

        Returns
        -------
        pandas.DataFrame
            With the index ``time`` and ``particle``, the columns ``x``, ``y`` and ``z``, ``status`` in words, and what else was saved.
        """
        import pandas

        data = self.to_xarray()
        index = pandas.MultiIndex.from_product([data.time.values, range(len(self))], names=["time", "particle"])
        columns: dict[str, Any] = dict(zip("xyz", self.position.reshape(-1, 3).T))
        columns["status"] = pandas.Categorical.from_codes(self.status.ravel().astype(np.int16), pandas.Index(list(self.meanings.values())))
        for name, dimensions in self._dimensions.items():
            if dimensions[:2] != ("time", "particle") or name in ("position", "status"):
                continue
            values = self.arrays[name].reshape(len(index), -1)
            if values.shape[1] == 1:
                columns[name] = values[:, 0]
            else:
                axes = "xyz" if values.shape[1] == 3 else map(str, range(values.shape[1]))
                columns.update({f"{name}_{axis}": of for axis, of in zip(axes, values.T)})
        return pandas.DataFrame(columns, index=index)

    def plot(self, axes: tuple[int, int] = (0, 1), ax: Any = None, **style: Any) -> Any:
        """Draws the tracks with matplotlib, seen along the remaining axis.

        Parameters
        ----------
        axes
            The horizontal and the vertical axis of the picture.
        ax : matplotlib.axes.Axes, optional
            Where to draw; default: a new figure.
        **style
            Passed on to :meth:`matplotlib.axes.Axes.plot`.

        Returns
        -------
        matplotlib.axes.Axes
        """
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots()
        from matplotlib.cbook import normalize_kwargs
        from matplotlib.lines import Line2D

        position = self.position
        if any(self.periods):
            position = position + self.arrays["image"] * np.asarray(self.periods)
        if "generation" in self.arrays:
            # No line from the end of a particle to the start of the next one in its slot.
            is_new = np.diff(self.generation, axis=0, prepend=self.generation[:1]) != 0
            position = np.where(is_new[..., None], np.nan, position)
        if len(axes) != 2 or any(axis not in (0, 1, 2) for axis in axes):
            raise InvalidCase(f"`axes` is {axes}; give two of 0, 1 and 2")
        i, j = axes
        style = normalize_kwargs(style, Line2D)
        if len(position) == 1:
            ax.plot(position[0, :, i], position[0, :, j], **{"marker": ".", "linestyle": "", **style})
        else:
            ax.plot(position[:, :, i], position[:, :, j], **{"linewidth": 0.5, **style})
        in_degrees = "component_standard_names" in self.attributes["position"]
        names = ["longitude", "latitude", "z"] if in_degrees else ["x", "y", "z"]
        ax.set_xlabel(names[i])
        ax.set_ylabel(names[j])
        if not in_degrees:
            ax.set_aspect("equal")
        return ax

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {name}" for name, count in self.counts().items())
        return f"<burntrace.Tracks of {len(self)} particles at {len(self.time)} times: {counts}>"


def join(pieces: Iterable[Tracks]) -> Tracks:
    """Joins the tracks of pieces of a run, in the order of their particles.

    Parameters
    ----------
    pieces
        Tracks of ``trace(..., piece=(start, stop))`` with the same saves.

    Returns
    -------
    Tracks
        Equal to those of the whole run. Numbers and seconds of its summary are sums; those of one piece are left out.

    Raises
    ------
    InvalidCase
        If there are none, if they have other saves or arrays, or if slots are re-used.
    """
    several = list(pieces)
    if not several:
        raise InvalidCase("there are no pieces; give the tracks of at least one")
    ranges = [piece.piece for piece in several]
    if all(of is not None for of in ranges):
        several.sort(key=lambda piece: piece.piece or (0, 0))
        for before, after in zip(several, several[1:]):
            if before.piece and after.piece and before.piece[1] != after.piece[0]:
                raise InvalidCase(f"the pieces {before.piece} and {after.piece} do not follow each other; give each piece once")
    first = several[0]
    if "instance_slot" in first.arrays:
        raise InvalidCase("slots are re-used in these tracks, so that pieces cannot be joined in memory; run the case with `run`")
    for piece in several:
        if piece.arrays.keys() != first.arrays.keys() or not np.array_equal(piece.time, first.time):
            raise InvalidCase("the pieces have different saves or arrays; trace all of them with the same arguments")
    arrays = {}
    for name, dimensions in first._dimensions.items():
        axis = dimensions.index("particle") if "particle" in dimensions else None
        parts = [piece.arrays[name] for piece in several]
        if dimensions[0] == "crossing":
            values = _joined_crossings(name, several)
        else:
            values = parts[0] if axis is None else np.concatenate(parts, axis)
        arrays[name] = (list(dimensions), values, first.attributes[name])
    dropped = ("counts", "batches", "launches", "tries", "patches", "input", "instances_by_segment", "crossings_by_segment")
    summary = {key: of for key, of in first.summary.items() if key not in dropped}
    for key in ("particles", "released", "particle_steps", "trace_seconds", "save_seconds"):
        summary[key] = sum(piece.summary[key] for piece in several)
    joined = Tracks(arrays, first.periods, summary)
    joined.piece = (several[0].piece[0], several[-1].piece[1]) if several[0].piece and several[-1].piece else None
    return joined


def open_tracks(folder: str | os.PathLike[str]) -> xarray.Dataset:
    """Opens the tracks of a run in a folder as a data set of xarray, which reads them when they are needed."""
    import xarray

    tracks: xarray.Dataset = xarray.open_zarr(os.path.join(folder, "tracks"), chunks=None)
    return tracks


def _joined_crossings(name: str, pieces: list[Tracks]) -> np.ndarray:
    """A column of crossings of gates, segment of the run after segment, and in each piece after piece."""
    parts = []
    first = 0
    for piece in pieces:
        values = piece.arrays[name]
        if name == "crossing_slot":
            values = values + np.asarray(first, values.dtype)
        parts.append(np.split(values, np.cumsum(piece.summary["crossings_by_segment"])[:-1]))
        first += len(piece)
    return np.concatenate([part[segment] for segment in range(max(map(len, parts))) for part in parts])

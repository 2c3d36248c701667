"""Velocity fields."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from . import _burntrace, _data
from ._errors import InvalidCase
from ._plain import numbers, plain

if TYPE_CHECKING:
    import xarray

PathLike = Union[str, "os.PathLike[str]"]


class Field:
    """A velocity field of a data set of xarray.

    Its variables are found as in a NetCDF file, by their attributes and names: the velocity, its axes, times with dates, land (missing
    values), grids of ocean models. Numbers are read from the data set frame by frame, when they are needed; those of NumPy arrays are
    not copied before. Further functions make fields of other things: :func:`open`, :func:`grid`, :func:`mesh`, :func:`flow` and
    :func:`function`.

    Parameters
    ----------
    dataset
        A data set, as :func:`xarray.open_dataset` gives it.
    **keys
        Keys of ``[field]`` in a case file, such as ``velocity=["uo", "vo"]``, ``outside_time="periodic"`` or
        ``interpolation="mesh"``.

    Raises
    ------
    InvalidCase
        For invalid keys, when the field is first used.
    """

    def __init__(self, dataset: xarray.Dataset, **keys: Any) -> None:
        if not (hasattr(dataset, "variables") and hasattr(dataset, "encoding")):
            raise InvalidCase(
                f"the data set is a {type(dataset).__name__}; give an xarray.Dataset (`to_dataset()` makes one of an array), or a "
                "file to burntrace.open"
            )
        self._set(keys, variables=("data set", _data.variables(dataset)))

    def _set(
        self,
        section: Mapping[str, Any],
        *,
        domain: Mapping[str, Any] | None = None,
        variables: tuple[str, list[_data.Variable]] | None = None,
        frames: _data.Frames | None = None,
        function: Any = None,
        axes: Mapping[str, np.ndarray] | None = None,
        folder: _data.Folder | None = None,
    ) -> None:
        if "files" in section and (variables or frames or function):
            raise InvalidCase("`files` is given beside a field in memory; give burntrace.open the files")
        self._held = _burntrace.Field(variables=variables, frames=frames, function=function)
        self._section = plain(section)
        self._domain = plain(domain or {})
        #: Of arrays on a grid: its axes, slowest first.
        self._axes = axes
        self._recipe = {"domain": domain, "variables": variables, "frames": frames, "function": function, "axes": axes, "folder": folder}

    @classmethod
    def _of(cls, section: Mapping[str, Any], **others: Any) -> Field:
        field = cls.__new__(cls)
        field._set(section, **others)
        return field

    def __getstate__(self) -> dict[str, Any]:
        return {"section": self._section, **self._recipe}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._set(**state)

    def _is_news(self, warning: str) -> bool:
        """Whether a warning says what the caller does not know: arrays of :func:`grid` have no units."""
        return self._axes is None or "no units, and nothing converted" not in warning

    def _sections(self) -> dict[str, Any]:
        field = dict(self._section)
        folder = self._recipe["folder"]
        if self._held.path is not None:
            field["files"] = self._held.path
        elif folder is not None:
            field["files"] = folder.files()
        elif "files" not in field and "flow" not in field:
            # In memory.
            field["files"] = "arrays"
        sections = {"field": field}
        if self._domain:
            sections["domain"] = dict(self._domain)
        if self._recipe["function"] is not None:
            # The only one that can call it: no warning says that it is slow.
            sections["trace"] = {"engine": "tensor"}
        return sections

    def _check_values(self, count: int) -> None:
        """Refuses gradients by values of a grid whose nodes were changed when it was read."""
        if self._axes is None or not count:
            return
        expected = 3 * int(np.prod([len(axis) for axis in self._axes.values()]))
        if count != expected:
            raise InvalidCase(
                f"there are {count // 3} velocities on the grid, and {expected // 3} in the arrays: nodes were added (longitudes around "
                "the earth, `periodic_axes`) or left out (`crop`, `every`, `frames`), so that there are no gradients by `values`"
            )

    def _in_components(self, gradients: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Gradients with those of the values of arrays on a grid as arrays of their shape."""
        if self._axes is None or "values" not in gradients:
            return gradients
        shape = [len(axis) for axis in self._axes.values()]
        values = gradients.pop("values").reshape(*shape, 3)
        # Axes that decrease are reversed when they are read.
        decreasing = [i for i, axis in enumerate(self._axes.values()) if len(axis) > 1 and axis[0] > axis[-1]]
        values = np.flip(values, tuple(decreasing))
        return {**gradients, **{name: values[..., i] for i, name in enumerate(self._section["velocity"])}}

    def describe(self, **keys: Any) -> dict[str, Any]:
        """Loads the field, and says what is known about it.

        Parameters
        ----------
        **keys
            Those of :func:`trace` that the loading depends on, such as ``device`` and ``precision``.

        Returns
        -------
        dict
            What ``summary.json`` of a run has as ``field``.
        """
        from ._trace import sections

        return self._held.describe(sections(self, keys)[0])

    def __repr__(self) -> str:
        kinds = {"variables": "arrays", "frames": "arrays", "function": "a function", "folder": "a mesh"}
        kind = next((text for key, text in kinds.items() if self._recipe[key] is not None), "files")
        kind = "formulas" if "flow" in self._section else kind
        keys = ", ".join(f"{key}={value!r}" for key, value in self._section.items())
        return f"<burntrace.Field of {kind}: {keys}>"


def open(files: PathLike | Sequence[PathLike] | Mapping[str, Any], **keys: Any) -> Field:
    """Opens files as a field: VTK, NetCDF or Zarr.

    Parameters
    ----------
    files
        A path, a pattern such as ``"u_*.vti"``, a list of them, or ``{"u": ..., "v": ...}`` with files of each component.
    **keys
        Keys of ``[field]`` in a case file, such as ``velocity=["uo", "vo"]``, ``outside_time="periodic"`` or
        ``interpolation="mesh"``.

    Returns
    -------
    Field
        The field. Its files are read when it is first used.
    """
    return Field._of({"files": files, **keys})


def grid(
    u: Any,
    v: Any,
    w: Any = None,
    *,
    x: Any,
    y: Any,
    z: Any = None,
    time: Any = None,
    arrays: Mapping[str, Any] | None = None,
    geographic: bool = False,
    **keys: Any,
) -> Field:
    """A field of arrays on a grid with axes.

    Parameters
    ----------
    u, v, w : array of shape ([times,] [z,] y, x)
        Components of the velocity, in length per time (m/s if ``geographic``); NaN and masked values are land. They are not copied before frames are
        read.
    x, y, z : array
        Coordinates of the nodes along the axes, as the arrays have them. ``z`` may be omitted for arrays of two dimensions.
    time : array, optional
        Times of the frames, as numbers or :class:`numpy.datetime64`; omitted for a steady field.
    arrays : dict of arrays, optional
        Further arrays of the same shape, which ``fields=`` of :func:`trace` samples along the tracks.
    geographic
        Whether x and y are longitudes and latitudes in degrees.
    **keys
        Keys of ``[field]`` in a case file.

    Returns
    -------
    Field
        The field.
    """
    twice = {"u", "v", "w", "x", "y", "z", "time"} & set(arrays or {})
    if twice:
        raise InvalidCase(f"`arrays` has {sorted(twice)[0]!r}, the name of a component or an axis; give it another one")
    if "interpolation" not in keys:
        keys.setdefault("not_finite", "land")
    variables, axes = _data.of_grid({"u": u, "v": v, "w": w, **(arrays or {})}, x, y, z, time, geographic)
    names = ["u", "v"] + ([] if w is None else ["w"])
    return Field._of({"velocity": names, **keys}, variables=("arrays", variables), axes=axes)


def points(
    positions: Any,
    velocity: Any,
    *,
    time: Any = None,
    arrays: Mapping[str, Any] | None = None,
    interpolation: str = "nearest",
    **keys: Any,
) -> Field:
    """A field of arrays at scattered points.

    Parameters
    ----------
    positions : array of shape (n, 3) or (n, 2)
        Positions of the points, with z = 0 if they have two coordinates.
    velocity : array of shape ([times,] n, 3) or ([times,] n, 2)
        Velocities, in length per time. They are not copied before frames are read.
    time : array of numbers, optional
        Times of the frames; omitted for a steady field.
    arrays : dict of arrays of shape ([times,] n[, components]), optional
        Further arrays, which ``fields=`` of :func:`trace` samples along the tracks.
    interpolation
        ``"nearest"``, or ``"inverse-distance"`` with the keys ``neighbours`` and ``power``.
    **keys
        Keys of ``[field]`` in a case file.

    Returns
    -------
    Field
        The field.
    """
    frames = _data.frames(positions, velocity, time, arrays)
    return Field._of({"interpolation": interpolation, **keys}, frames=frames)


def cells(
    positions: Any,
    connectivity: Any,
    velocity: Any,
    *,
    types: Any = None,
    offsets: Any = None,
    time: Any = None,
    arrays: Mapping[str, Any] | None = None,
    **keys: Any,
) -> Field:
    """A field of arrays on the cells of a mesh.

    Parameters
    ----------
    positions : array of shape (n, 3) or (n, 2)
        Positions of the points, with z = 0 if they have two coordinates.
    connectivity : array of shape (cells, k), or flat
        Points of each cell, in the order of VTK: ``k`` is 3 (triangles), 4 (tetrahedra in three dimensions, quadrilaterals in two), 5
        (pyramids), 6 (wedges) or 8 (hexahedra); or those of all cells, with ``types`` and ``offsets``.
    velocity : array of shape ([times,] values, 3) or ([times,] values, 2)
        Velocities at the points, or in the cells (at the points, if there are as many), in length per time. They are not copied before
        frames are read.
    types : int or array, optional
        Types of the cells in VTK, such as 10 for tetrahedra.
    offsets : array of shape (cells + 1,), optional
        Start of each cell in a flat ``connectivity``, and its length.
    time : array of numbers, optional
        Times of the frames; omitted for a steady field.
    arrays : dict of arrays of shape ([times,] values[, components]), optional
        Further arrays, which ``fields=`` of :func:`trace` samples along the tracks.
    **keys
        Keys of ``[field]`` in a case file, such as ``cell_velocity="average"``.

    Returns
    -------
    Field
        The field.
    """
    of_cells = _data.cells(connectivity, types, offsets, np.shape(positions)[-1])
    frames = _data.frames(positions, velocity, time, arrays, of_cells)
    return Field._of({"interpolation": "mesh", **keys}, frames=frames)


def mesh(grids: Any, *, time: Sequence[float] | None = None, **keys: Any) -> Field:
    """A field on the cells of a grid of pyvista or VTK, or of several at different times.

    The grids are written to temporary files, which are removed with the field.

    Parameters
    ----------
    grids : vtkDataSet, or a sequence of them
        Data sets of ``vtk`` or ``pyvista`` with a velocity at the points or in the cells.
    time : sequence of floats
        Times of several grids.
    **keys
        Keys of ``[field]`` in a case file.

    Returns
    -------
    Field
        The field.
    """
    several = list(grids) if isinstance(grids, (list, tuple)) else [grids]
    times = [0.0] if time is None else [float(of) for of in numbers(time, "time", "(grids,)")]
    if len(several) != len(times):
        raise InvalidCase(f"`time` has {len(times)} times for {len(several)} grids; give one for each")
    folder = _data.Folder()
    for i, of in enumerate(several):
        _data.write_vtk(of, os.path.join(folder.path, f"grid_{i}"))
    is_grid = all(of.IsA("vtkImageData") or of.IsA("vtkRectilinearGrid") for of in several)
    section = {"interpolation": "grid" if is_grid else "mesh", "times": times, "ignore_file_times": True, **keys}
    if len(several) == 1:
        del section["times"], section["ignore_file_times"]
    return Field._of(section, folder=folder)


def flow(
    velocity: str | Sequence[str | float] | Mapping[str, str | float],
    *,
    low: Sequence[float] | None = None,
    high: Sequence[float] | None = None,
    constants: Mapping[str, str | float] | None = None,
    **keys: Any,
) -> Field:
    """A field of formulas, which are compiled: fast, on any device.

    Parameters
    ----------
    velocity
        The name of a built-in flow, such as ``"double-gyre"``, or formulas of x, y, z and t for u, v and w, such as
        ``["-y", "x"]``.
    low, high
        Corners of the domain; needed for formulas.
    constants
        Names of numbers and formulas that the formulas use.
    **keys
        Keys of ``[field]`` in a case file, such as ``sample``.

    Returns
    -------
    Field
        The field.
    """
    given: Any = velocity
    if not isinstance(velocity, str):
        named = velocity if isinstance(velocity, Mapping) else dict(zip("uvw", velocity))
        if len(named) != len(velocity):
            raise InvalidCase(f"`velocity` has {len(velocity)} formulas; give those of u, v and w")
        given = {**named, "constants": constants}
    elif constants is not None:
        raise InvalidCase(f"`constants` belong to formulas, and {velocity!r} is a built-in flow; omit them")
    return Field._of({"flow": given, **keys}, domain={"low": low, "high": high})


def function(
    velocity: Callable[[np.ndarray, float], Any],
    *,
    low: Sequence[float],
    high: Sequence[float],
    steady: bool = False,
) -> Field:
    """A field that a function of Python computes.

    It is called once for each stage of a step, with all particles that move, and for one position when a run is prepared. Steps are
    tensor operations, seven to thirty times slower than on a grid even where the function itself is fast. Prefer :func:`flow` for formulas.

    Parameters
    ----------
    velocity
        A function of positions, an array of shape (n, 3), and a time, that returns velocities of shape (n, 3). The velocity of a
        particle must depend on its position and the time only. An exception of it ends the run.
    low, high
        Corners of the domain, equal along an axis without motion.
    steady
        Whether the velocity does not depend on time.

    Returns
    -------
    Field
        The field.
    """
    corners = []
    for key, given in (("low", low), ("high", high)):
        corner = numbers(given, key, "(3,)")
        if corner.shape != (3,):
            raise InvalidCase(f"`{key}` is {given}; give x, y and z")
        corners.append([float(of) for of in corner])
    return Field._of({}, function=(velocity, *corners, steady))

"""Data sets and arrays as variables with dimensions and attributes."""

from __future__ import annotations

import datetime
import os
import shutil
import tempfile
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ._errors import InvalidCase
from ._plain import in_space, numbers

if TYPE_CHECKING:
    import xarray

Attribute = Any
Cells = tuple[np.ndarray, np.ndarray, np.ndarray]
Frames = tuple[
    list[float],
    np.ndarray,
    tuple[Any, bool],
    list[tuple[str, int, Any]],
    "tuple[np.ndarray, np.ndarray, np.ndarray, bool] | None",
]
Variable = tuple[str, list[tuple[str, int]], str, list[tuple[str, Attribute]], Any]


def variables(dataset: xarray.Dataset) -> list[Variable]:
    """The variables of a data set of xarray, with times as numbers."""
    return [_encoded(str(name), of) for name, of in dataset.variables.items()]


def _encoded(name: str, variable: Any) -> Variable:
    attributes = {**variable.attrs}
    # What xarray took from the attributes to make coordinates.
    for key in ("coordinates", "bounds", "grid_mapping"):
        if key in variable.encoding and key not in attributes:
            attributes[key] = variable.encoding[key]
    values = variable
    if variable.dtype.kind in "mM" or variable.dtype.kind == "O" and _are_dates(variable):
        values, units = _times(variable.values)
        attributes.update(units)
    return of_array(name, [str(of) for of in variable.dims], values, attributes)


def _are_dates(variable: Any) -> bool:
    return variable.size > 0 and hasattr(variable.values.flat[0], "calendar")


def _seconds(dates: np.ndarray) -> tuple[np.ndarray, dict[str, str]]:
    """Dates as seconds from the first of them, and the attributes that say so. Milliseconds stay exact for centuries."""
    known = dates[~np.isnat(dates)]
    start = known.min().astype("datetime64[s]") if known.size else np.datetime64(0, "s")
    seconds = (dates.astype("datetime64[ns]") - start.astype("datetime64[ns]")) / np.timedelta64(1, "s")
    text = np.datetime_as_string(start, unit="s").replace("T", " ")
    return seconds, {"units": f"seconds since {text}", "calendar": "proleptic_gregorian"}


def _times(times: np.ndarray) -> tuple[np.ndarray, dict[str, str]]:
    """Times as numbers, and the attributes of dates and of lengths of time."""
    first: Any = times.flat[0] if times.size else None
    if hasattr(first, "calendar"):
        import xarray

        # Dates of cftime, in calendars that numpy does not have.
        attributes = {"units": f"seconds since {first.isoformat(' ')}", "calendar": first.calendar}
        names = [f"dimension_{i}" for i in range(times.ndim)]
        return xarray.conventions.encode_cf_variable(xarray.Variable(names, times, encoding=attributes)).values, attributes
    if times.dtype.kind in "OUS":
        try:
            times = np.array([np.datetime64(_utc(of)) for of in times], "datetime64[ns]")
        except (TypeError, ValueError):
            raise InvalidCase(f"`time` is of the type {times.dtype}; give numbers, or dates as numpy.datetime64") from None
    if times.dtype.kind == "m":
        return times / np.timedelta64(1, "s"), {"units": "s"}
    return _seconds(times) if times.dtype.kind == "M" else (times, {})


def _utc(date: Any) -> Any:
    """A date without time zone."""
    if getattr(date, "tzinfo", None) is None:
        return date
    return date.astimezone(datetime.timezone.utc).replace(tzinfo=None)


def of_array(name: str, dimensions: list[str], values: Any, attributes: Mapping[str, Any]) -> Variable:
    """A variable of an array, or of an object that gives arrays when it is indexed."""
    dtype = values.dtype.name
    if hasattr(values, "set_auto_maskandscale") and dtype != "float32":
        # A variable of netCDF4, which scales its numbers when it is read.
        dtype = "float64"
    if dtype == "bool":
        values, dtype = values.astype("int8"), "int8"
    elif dtype == "float16":
        values, dtype = values.astype("float32"), "float32"
    shape = [int(of) for of in values.shape]
    return name, list(zip(dimensions, shape)), dtype, [_attribute(key, of) for key, of in attributes.items()], values


def _attribute(key: str, value: Any) -> tuple[str, Attribute]:
    if isinstance(value, str):
        return key, value
    array = np.atleast_1d(np.asarray(value))
    if array.dtype.kind in "iufb" and array.ndim == 1:
        name = "int8" if array.dtype.kind == "b" else array.dtype.name
        return key, (name, [float(of) for of in array])
    return key, " ".join(str(of) for of in array.ravel())


def of_grid(
    components: Mapping[str, Any], x: Any, y: Any, z: Any, time: Any, geographic: bool
) -> tuple[list[Variable], dict[str, np.ndarray]]:
    """Arrays on a grid with axes, with the attributes of a file, and the axes, slowest first."""
    horizontal = (
        {"x": {"standard_name": "longitude", "units": "degrees_east"}, "y": {"standard_name": "latitude", "units": "degrees_north"}}
        if geographic
        else {"x": {"axis": "X"}, "y": {"axis": "Y"}}
    )
    attributes: dict[str, dict[str, str]] = {"time": {"axis": "T"}, "z": {"axis": "Z", "positive": "up"}, **horizontal}
    if geographic:
        attributes["z"]["units"] = "m"
        attributes["time"]["units"] = "s"
    axes: dict[str, np.ndarray] = {}
    for name, given in (("time", time), ("z", z), ("y", y), ("x", x)):
        if given is None:
            continue
        axis = np.asarray(given)
        if axis.ndim != 1:
            raise InvalidCase(f"`{name}` has the shape {axis.shape}; give a list of the coordinates of the nodes along the axis")
        if name == "time":
            axis, units = _times(axis)
            attributes[name].update(units)
        elif axis.dtype.kind not in "iuf":
            raise InvalidCase(f"`{name}` is of the type {axis.dtype}; give numbers")
        axes[name] = axis
    made = [of_array(name, [name], axis, attributes[name]) for name, axis in axes.items()]
    shape = tuple(len(axis) for axis in axes.values())
    speed = {"units": "m s-1"} if geographic else {}
    for name, given in components.items():
        if given is None:
            continue
        array = _array(given)
        if tuple(array.shape) != shape:
            names = ", ".join(axes)
            raise InvalidCase(f"`{name}` has the shape {tuple(array.shape)}, but the axes ({names}) have the lengths {shape}")
        made.append(of_array(name, list(axes), array, speed if name in "uvw" else {}))
    return made, axes


def frames(
    positions: Any, velocity: Any, time: Any, arrays: Mapping[str, Any] | None, cells: Cells | None = None
) -> Frames:
    """Frames on points or cells, as the compiled part takes them."""
    points = in_space(numbers(positions, "positions", "(n, 3)"), "positions")
    times = [0.0] if time is None else [float(of) for of in numbers(time, "time", "(times,)")]
    count = len(cells[2]) if cells is not None else len(points)
    counts = {len(points), count}

    def checked(name: str, given: Any, rank: int) -> Any:
        array = _array(given)
        if time is None or len(array.shape) < rank:
            array = np.ma.asanyarray(array) if isinstance(array, np.ma.MaskedArray) else np.asarray(array)
        if time is None:
            array = array[None]
        shape = tuple(array.shape)
        if len(shape) == rank - 1:
            array, shape = array[..., None], (*shape, 1)
        if len(shape) != rank or shape[0] != len(times) or shape[1] not in counts:
            places = " or ".join(str(of) for of in sorted(counts))
            frames = "" if time is None else f"{len(times)} times, "
            raise InvalidCase(f"`{name}` has the shape {np.shape(given)}; give {frames}{places} values, and components")
        return array

    array = checked("velocity", velocity, 3)
    if array.shape[2] == 2:
        array = np.concatenate([array, np.zeros_like(array[..., :1])], axis=2)
    if array.shape[2] != 3:
        raise InvalidCase(f"`velocity` has {array.shape[2]} components; give 3, or 2 with w = 0")
    in_cells = cells is not None and array.shape[1] != len(points)
    others = []
    for name, given in (arrays or {}).items():
        other = checked(name, given, 3)
        if other.shape[1] != array.shape[1]:
            raise InvalidCase(f"`{name}` has {other.shape[1]} values, and `velocity` {array.shape[1]}; give as many")
        others.append((name, int(other.shape[2]), other))
    is_single = all(np.dtype(of.dtype).itemsize <= 4 for of in (array, *(of for _, _, of in others)))
    return times, points, (array, is_single), others, None if cells is None else (*cells, in_cells)


#: Types of VTK by the number of points of a cell.
_TYPES = {3: 5, 4: 10, 5: 14, 6: 13, 8: 12}


def cells(connectivity: Any, types: Any, offsets: Any, coordinates: int) -> Cells:
    """Points, starts and types of cells."""
    of_cells = np.asarray(connectivity)
    if of_cells.dtype.kind not in "iu" or of_cells.ndim not in (1, 2) or of_cells.size == 0:
        raise InvalidCase("`connectivity` is not an array of numbers of points; give one of shape (cells, points of a cell)")
    if of_cells.min() < 0 or of_cells.max() >= 2**32:
        raise InvalidCase(f"`connectivity` has the number {of_cells.min()}; points are numbered from 0")
    if of_cells.ndim == 2:
        count, width = of_cells.shape
        starts = np.arange(0, of_cells.size + 1, width)
        if types is None and width not in _TYPES:
            raise InvalidCase(f"cells of {width} points need `types`, numbers of VTK")
        if types is None:
            types = 9 if (width, coordinates) == (4, 2) else _TYPES[width]
    else:
        if offsets is None or types is None:
            raise InvalidCase("a flat `connectivity` needs `offsets`, from 0 to its length, and `types`")
        starts = np.asarray(offsets)
        count = len(starts) - 1
    if not np.isin(np.asarray(types), np.arange(256)).all():
        raise InvalidCase(f"`types` is {types}; give numbers of VTK, such as 10 for tetrahedra")
    kinds = np.broadcast_to(np.asarray(types), (count,)) if np.ndim(types) == 0 else np.asarray(types)
    if len(kinds) != count or starts[0] != 0 or starts[-1] != of_cells.size or (np.diff(starts) < 0).any():
        raise InvalidCase(f"`offsets` or `types` do not fit `connectivity`: {count} cells, {len(kinds)} types")
    flat = np.require(of_cells.ravel(), np.uint32, ["C", "A"])
    return flat, np.require(starts, np.uint32, ["C", "A"]), np.require(kinds, np.uint8, ["C", "A"])


def _array(given: Any) -> Any:
    """What gives arrays of NumPy when it is indexed, without a copy where it can: lazy arrays as they are."""
    if isinstance(getattr(given, "dtype", None), np.dtype) and not hasattr(given, "devices"):
        return given
    # Arrays of torch and jax on the CPU.
    return np.from_dlpack(given) if hasattr(given, "__dlpack__") else np.asarray(given)


class Folder:
    """A temporary folder with files, which are removed with the last field that has it. It can be sent to other processes."""

    def __init__(self) -> None:
        self.path = tempfile.mkdtemp(prefix="burntrace-")
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    def files(self) -> list[str]:
        """The files, in the order of their numbers."""
        names = sorted(os.listdir(self.path), key=lambda name: int(name.split("_")[1].split(".")[0]))
        return [os.path.join(self.path, name) for name in names]

    def __deepcopy__(self, memo: dict[int, Any]) -> Folder:
        return self

    def __getstate__(self) -> dict[str, bytes]:
        return {os.path.basename(path): Path(path).read_bytes() for path in self.files()}

    def __setstate__(self, state: dict[str, bytes]) -> None:
        Folder.__init__(self)
        for name, content in state.items():
            Path(self.path, name).write_bytes(content)


#: Data sets of VTK, and the extensions of their files.
VTK = {
    "vtkUnstructuredGrid": "vtu",
    "vtkPolyData": "vtp",
    "vtkStructuredGrid": "vts",
    "vtkImageData": "vti",
    "vtkRectilinearGrid": "vtr",
}


def write_vtk(grid: Any, path: str) -> str:
    """Writes a data set of VTK or pyvista to a file, and returns its name."""
    try:
        from vtkmodules.vtkIOXML import vtkXMLDataSetWriter
    except ImportError:
        raise InvalidCase("meshes need the package `vtk`; install it, or pyvista, which has it") from None
    writer = vtkXMLDataSetWriter()
    kinds = [kind for kind in VTK if hasattr(grid, "IsA") and grid.IsA(kind)]
    if not kinds:
        raise InvalidCase(f"a grid is a {type(grid).__name__}; give a data set of VTK or pyvista, such as an UnstructuredGrid")
    path = f"{path}.{VTK[kinds[0]]}"
    writer.SetFileName(path)
    writer.SetInputData(grid)
    writer.SetDataModeToAppended()
    writer.SetEncodeAppendedData(False)
    writer.SetCompressorTypeToNone()
    if writer.Write() != 1:
        raise OSError(f"cannot write {path}")
    return path

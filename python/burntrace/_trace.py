"""Runs in memory."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _burntrace, _process
from ._errors import InvalidCase
from ._field import Field
from ._plain import in_space, numbers, plain
from ._tracks import Tracks

if TYPE_CHECKING:
    from ._burntrace import GivenTracks

#: Keys of a call that are keys of a section of the case.
_SECTIONS = {
    "trace": ["t0", "t1", "dt", "steps", "scheme", "tolerance", "engine", "drift", "stagnant_speed", "stop_when"],
    "save": ["velocity", "fluid_velocity", "sizes", "flow_map_gradient", "fields", "longitude"],
    "run": ["device", "precision", "threads", "memory", "strategy", "batch"],
    "domain": ["low", "high"],
}
#: Keys of a call that are sections of the case, with their names in it.
_WHOLE = {
    "walk": "walk",
    "motion": "motion",
    "inlet": "inlet",
    "units": "units",
    "obstacles": "obstacle",
    "gates": "gate",
    "patches": "patch",
    "sources": "source",
}
_OTHERS = ["boundary", "coast", "mesh_wall", "diffusivity", "save"]

Progress = Callable[[float, float, int], Any]
Block = tuple[int, np.ndarray, "np.ndarray | None"]


def trace(
    field: Field,
    seeds: Any = None,
    *,
    release: Any = None,
    piece: Sequence[int] | None = None,
    progress: bool | Progress = False,
    **keys: Any,
) -> Tracks:
    """Traces particles, and keeps their tracks in memory.

    Parameters
    ----------
    field
        The field. It is loaded at the first call, and kept on the device for further ones.
    seeds : array of shape (n, 3) or (n, 2), or dict, or list of dicts
        Positions, with z = 0 if they have two coordinates; or blocks of ``[seeds]`` of a case file, such as
        ``{"kind": "uniform", "count": 1000}``.
    release : float, text, date or array of shape (n,), optional
        Release times of positions in an array; default: the start of the run.
    piece : (start, stop), optional
        Traces some of the particles only, from ``start`` up to ``stop``, with the bits that they have in the whole run, random walks
        included; :func:`join` joins pieces.
    progress
        ``True`` for a bar of ``tqdm``, or a function of the fraction that is done, the time, and the number of particle-steps, which
        is called after each save. An exception of it, as Ctrl-C, stops the run; it has the tracks so far as its attribute ``tracks``.
    t0, t1, dt, steps
        Start and end of the run, the length of a step (negative: backward in time), and their number.
    scheme, tolerance, engine, drift, stagnant_speed, stop_when
        As in ``[trace]`` of a case file, such as ``scheme="rk4"`` and ``tolerance={"relative": 1e-6, "absolute": 1e-9}``.
    save : int, float, text, list or dict, optional
        Number of steps between saves (an int), the time between them (a float, or text such as ``"1 h"``), a list of times, or a
        dictionary with keys of ``[save]``; default: the end only.
    velocity, fields, flow_map_gradient, fluid_velocity, sizes, longitude
        What is saved beside positions, as in ``[save]``: ``velocity=True``, ``fields=["temperature"]``.
    boundary : text or dict, optional
        Condition at all faces of the domain, or a dictionary with keys of ``[boundary]``, such as ``{"x": "periodic"}``.
    coast, mesh_wall : text, optional
        Conditions at the coast of land and at the boundary of a mesh: ``"slide"``, ``"reflect"``, ``"stick"``, ``"exit"``.
    diffusivity : float or list of 3, optional
        Constant diffusivity of a random walk, in length squared per time.
    low, high
        Corners of the domain; default: those of the field.
    walk, motion, inlet, obstacles, gates, patches, sources, units : dict or list of dicts, optional
        Sections of a case file.
    device, precision, threads, memory, strategy, batch
        As in ``[run]``: ``device="cpu"``, ``"gpu"`` or ``"vulkan:0"`` (see :func:`devices`; default: the first graphics card, or the CPU),
        ``precision="f64"``. The first call of a process starts its ``threads``.

    Returns
    -------
    Tracks
        The tracks.

    Raises
    ------
    InvalidCase
        If an argument is invalid; the text says which key of the case it is.
    RunFailed
        If a frame cannot be read, or the device fails.
    """
    case, blocks = sections(field, {"seeds": seeds, "release": release, **keys})
    slots = None if piece is None else _piece(piece)
    call, close = _progress(progress)
    try:
        given, exception = field._held.trace(case, blocks, slots, call)
    finally:
        close()
    if exception is not None:
        with contextlib.suppress(Exception):
            exception.tracks = Tracks(*given[:3])  # type: ignore[attr-defined]
        raise exception
    tracks = received(field, given)
    tracks.piece = slots
    return tracks


def received(field: Field, given: GivenTracks) -> Tracks:
    """The tracks of a call, whose warnings are those of its caller."""
    arrays, periods, summary, texts = given
    for text in filter(field._is_news, texts):
        warnings.warn(text, stacklevel=3)
    return Tracks(arrays, periods, summary)


def sections(field: Field, keys: Mapping[str, Any]) -> tuple[dict[str, Any], list[Block]]:
    """The case of a call, and the positions of blocks of its seeds."""
    _process.check()
    if not isinstance(field, Field):
        raise InvalidCase(
            f"the field is a {type(field).__name__}; give what burntrace.open, Field, grid, mesh, flow or function returns"
        )
    keys = {key: value for key, value in keys.items() if value is not None}
    case = field._sections()
    for section, names in _SECTIONS.items():
        given = {name: plain(keys.pop(name), name) for name in names if name in keys}
        if given:
            case.setdefault(section, {}).update(given)
    for key, section in _WHOLE.items():
        if key in keys:
            case[section] = plain(keys.pop(key), key)
    _add_save(case, keys.pop("save", None))
    _add_boundary(case, keys)
    _add_diffusivity(case, keys.pop("diffusivity", None))
    blocks = _add_seeds(case, keys.pop("seeds", None), keys.pop("release", None))
    if keys:
        _refuse(next(iter(keys)))
    return case, blocks


def _refuse(key: str) -> None:
    if key in ("piece", "progress"):
        raise InvalidCase(f"`{key}` is for burntrace.trace only; omit it")
    known = [*(name for names in _SECTIONS.values() for name in names), *_WHOLE, *_OTHERS, "seeds", "release", "piece", "progress"]
    close = _burntrace.nearest(key, known)
    hint = f"did you mean `{close}`? " if close else ""
    raise InvalidCase(f"`{key}` is not a key of burntrace.trace; {hint}Keys: {', '.join(sorted(known))}")


def _add_save(case: dict[str, Any], save: Any) -> None:
    if save is None:
        return
    if getattr(save, "ndim", None) == 0:
        save = np.asarray(save)[()]
    section = case.setdefault("save", {})
    if isinstance(save, Mapping):
        for name in set(save) & set(section):
            raise InvalidCase(f"`{name}` and `save` with its key `{name}` are given; give one of them")
        section.update(plain(save, "save"))
    elif isinstance(save, (bool, np.bool_)):
        raise InvalidCase(f"`save` is {save}; give a number of steps, a time such as \"1 h\", or a list of times")
    elif isinstance(save, (int, np.integer)) and not isinstance(save, np.timedelta64):
        section["every"] = int(save)
    elif isinstance(save, (list, tuple, range)) or getattr(save, "ndim", 0) == 1:
        section["times"] = plain(save, "save")
    else:
        section["every_time"] = plain(save, "save")


def _add_boundary(case: dict[str, Any], keys: dict[str, Any]) -> None:
    boundary = keys.pop("boundary", None)
    section: dict[str, Any] = {}
    if isinstance(boundary, str):
        section = dict.fromkeys("xyz", boundary)
    elif isinstance(boundary, Mapping):
        section = plain(boundary, "boundary")
    elif boundary is not None:
        raise InvalidCase(f"`boundary` is {boundary!r}; give a condition, such as \"reflect\", or {{\"x\": \"periodic\"}}")
    for key, name in (("coast", "coast"), ("mesh_wall", "mesh")):
        if key in keys and name in section:
            raise InvalidCase(f"`{key}` and `boundary` with its key `{name}` are given; give one of them")
        if key in keys:
            section[name] = plain(keys.pop(key), key)
    if section:
        case["boundary"] = section


def _add_diffusivity(case: dict[str, Any], diffusivity: Any) -> None:
    if diffusivity is None:
        return
    if "walk" in case:
        raise InvalidCase("`diffusivity` and `walk` are given; give `walk={\"diffusivity\": ...}` only")
    case["walk"] = {"diffusivity": plain(diffusivity, "diffusivity")}


def _add_seeds(case: dict[str, Any], seeds: Any, release: Any) -> list[Block]:
    if seeds is None:
        return []
    given = [seeds] if isinstance(seeds, Mapping) else seeds
    if not (isinstance(given, (list, tuple)) and given and all(isinstance(of, Mapping) for of in given)):
        given = [{"kind": "list", "points": seeds}]
    if release is not None and len(given) == 1:
        given = [{**given[0], "times" if np.ndim(release) else "release": release}]
    elif release is not None:
        raise InvalidCase("`release` is given for several blocks of seeds; give each block a `release` of its own")
    blocks: list[Block] = []
    case["seeds"] = []
    for index, of in enumerate(given):
        of = dict(of)
        if of.get("kind") == "list" and "points" in of:
            points = in_space(numbers(of.pop("points"), "seeds", "(n, 3)"), "seeds")
            times = of.pop("times", None)
            if times is not None and np.ndim(times) != 1:
                raise InvalidCase(f"`release` has the shape {np.shape(times)}; give a time, or one for each of the seeds")
            if times is not None and np.asarray(times).dtype.kind in "iuf":
                times = numbers(times, "release", "(n,)")
            elif times is not None:
                # Dates and durations are read with the case.
                of["times"], times = plain(times, "release"), None
            blocks.append((index, points, times))
            of["points"] = []
        case["seeds"].append(plain(of, "seeds"))
    return blocks


def _piece(piece: Sequence[int]) -> tuple[int, int]:
    try:
        start, stop = (int(of) for of in piece)
    except (TypeError, ValueError):
        start = stop = -1
    if not 0 <= start < stop:
        raise InvalidCase(f"`piece` is {piece}; give the first particle, and the one after the last, which is larger")
    return start, stop


def _progress(progress: bool | Progress) -> tuple[Progress | None, Callable[[], None]]:
    if callable(progress):
        return progress, lambda: None
    if not progress:
        return None, lambda: None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise InvalidCase("`progress=True` needs the package `tqdm`; install it, or give a function") from None
    bar = tqdm(total=100, unit="%", bar_format="{l_bar}{bar}| {elapsed}<{remaining}{postfix}")

    def show(fraction: float, time: float, steps: int) -> None:
        bar.update(100 * fraction - bar.n)
        bar.set_postfix_str(f"t = {time:.6g}, {steps:.3g} particle-steps", refresh=False)

    return show, bar.close

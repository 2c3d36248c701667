"""Writes NetCDF files with combinations of attributes of packed and missing values, and what netCDF4-python reads.

    pip install numpy netCDF4
    python tests/peers/cf_attributes.py folder

A line of `expected.txt` is a variable: its file, its name, whether its attributes are plain (in the types that CF
asks for, so that no reader may refuse them), and its numbers as the bits of doubles, `masked` where they are, or
`error`.
"""

import sys
import warnings
from pathlib import Path

import netCDF4
import numpy as np

warnings.filterwarnings("ignore")
OUT = Path(sys.argv[1])
FILES, VARIABLES, LENGTH = 50, 80, 24
FORMATS = ["NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"]
CLASSIC = ["i1", "i2", "i4", "f4", "f8"]
ALL = CLASSIC + ["u1", "u2", "u4", "i8", "u8"]
random = np.random.default_rng(20261125)


def pick(*choices):
    """One of the choices, each as likely."""
    return choices[random.integers(len(choices))]


def of_type(kind: str):
    """A number of a type, as attributes have it."""
    if kind[0] == "f":
        return np.array(pick(-999.0, 1e20, 0.1, 7.0, -3.5, np.nan), kind)[()]
    return np.array(pick(1, 3, 7, 100) if kind[0] == "u" else pick(-128, -99, -1, 0, 5, 100), kind)[()]


def factor(kind: str, numbers: tuple) -> tuple:
    """`scale_factor` or `add_offset` or none, and whether it is as CF asks for."""
    how = random.integers(10)
    if how < 4:
        return None, True
    if how < 9:
        return np.array(pick(*numbers), pick("f4", "f8"))[()], True
    return np.array(pick(1, 2, 100), pick("i1", "i2", "i4") if how else kind)[()], False


def missing(kind: str, classic: bool):
    """`missing_value`, and whether it is plain."""
    how = random.integers(12)
    if how < 5:
        return None, True
    if how < 8:
        return of_type(kind), True
    if how < 9:
        return np.array([of_type(kind) for _ in range(3)], kind), True
    if how < 10:
        return pick("-999", "NaN", "none"), False
    other = pick(*(CLASSIC if classic else ALL))
    return pick(of_type(other), np.array([of_type(other), of_type(other)])), False


def limits(kind: str, name: str, classic: bool) -> tuple:
    """Attributes of valid numbers, and whether they are plain."""
    how, other = random.integers(10), pick("f4", "f8", kind)
    low, high = (10, 90) if kind[0] == "u" else (-20, 90)
    if how < 5:
        return {}, True
    if how < 7:
        return {"valid_range": np.array([low, high], kind)}, True
    if how < 8:
        return {pick("valid_min", "valid_max"): np.array(pick(low, 50), kind)[()]}, True
    if how < 9:
        return {"valid_range": np.array([low - 0.25, high + 0.5], other)}, other == kind
    return {"valid_min": np.array(low + 0.1, other)[()], "valid_max": np.array(high, other)[()]}, other == kind


def numbers(kind: str, special: list) -> np.ndarray:
    """Stored numbers, among them those that attributes name."""
    info = np.iinfo(kind) if kind[0] != "f" else None
    low, high = (-1000.0, 1000.0) if info is None else (max(info.min, -(2**40)), min(info.max, 2**40))
    values = list(random.uniform(low, high, 8)) + list(random.uniform(max(low, -130), min(high, 130), 8))
    values += [netCDF4.default_fillvals[kind], 0, pick(19, 90, 91, 10, 9), *special]
    if info is None:
        values += [np.nan, pick(np.inf, 1e20)]
    elif info.max < 2**53:
        values += [info.min, info.max]
    chosen = random.permutation(np.array(values, dtype=object))[:LENGTH]
    cast = [np.array(value).astype(kind) for value in chosen]
    return np.resize(np.array(cast, kind), LENGTH)


def variable(file, name: str, classic: bool, kinds: list) -> bool:
    """Writes a variable, and returns whether its attributes are plain."""
    kind = pick(*kinds)
    fill = pick(None, None, False, of_type(kind))
    is_byte = kind[1] == "1"
    created = file.createVariable(name, kind, ("x",), fill_value=fill)
    created.set_auto_maskandscale(False)
    plain = not is_byte or fill is not None and fill is not False or file.data_model.startswith("NETCDF3")
    attributes, special = {}, [] if fill is None or fill is False else [fill]
    if kind[0] == "i" and random.integers(3) == 0:
        attributes["_Unsigned"] = pick("true", "True", "false", "False", "true", "TRUE", "1")
        plain &= attributes["_Unsigned"] not in ("TRUE", "1") and kind != "i8"
    for key, given in (("scale_factor", (0.01, 0.1, 0.25, 1.0, 3.0)), ("add_offset", (0.0, 0.1, 273.15, -5.0))):
        value, is_plain = factor(kind, given)
        plain &= is_plain
        if value is not None:
            attributes[key] = value
    value, is_plain = missing(kind, classic)
    plain &= is_plain
    if value is not None:
        attributes["missing_value"] = value
        if not isinstance(value, str):
            # Numbers of 64 bits near their ends are rounded to doubles first.
            low = 0 if kind[0] == "u" else -(2**31)
            special += [number for number in np.atleast_1d(value) if kind[0] == "f" or low <= number < 2**31]
    of_limits, is_plain = limits(kind, name, classic)
    plain &= is_plain
    attributes |= of_limits
    for key in random.permutation(list(attributes)):
        created.setncattr(key, attributes[key])
    written = numbers(kind, special)
    # The last numbers are never written.
    created[: LENGTH - 3] = written[: LENGTH - 3]
    return plain


def expected(read) -> str:
    """What netCDF4-python gives: bits of doubles, or `masked`."""
    values = read[:]
    data, mask = np.ma.getdata(values).astype("f8"), np.ma.getmaskarray(values)
    bits = np.asarray(data).view("u8")
    return " ".join("masked" if hidden else f"{bit:x}" for bit, hidden in zip(bits, mask))


lines = []
for index in range(FILES):
    form = FORMATS[index % len(FORMATS)]
    kinds = ALL if form in ("NETCDF4", "NETCDF3_64BIT_DATA") else CLASSIC
    path = OUT / f"{index}.nc"
    with netCDF4.Dataset(path, "w", format=form) as file:
        file.createDimension("x", LENGTH)
        names = [f"v{number}" for number in range(VARIABLES)]
        plain = [variable(file, name, kinds == CLASSIC, kinds) for name in names]
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(True)
        for name, is_plain in zip(names, plain):
            try:
                found = expected(file[name])
            except (TypeError, ValueError, OverflowError):
                found = "error"
            lines.append(f"{path.name} {name} {'plain' if is_plain else 'odd'} {found}")
(OUT / "expected.txt").write_text("\n".join(lines) + "\n")

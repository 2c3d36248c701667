"""Drift through eddies on a sphere with Parcels 3.1.4 and burntrace: `parcels_sphere.py FOLDER [--spacing 0.1] [--flow cells]`.

python -m venv v && v/bin/pip install "parcels==3.1.4" "xarray<2025" "zarr<3" "numpy<2.3"

Daily velocities of eddies on a grid of 20 x 20 degrees, RK4 steps of 600 s in 12 days (or `DAYS` of the environment), positions in double precision. burntrace takes
the radius of Parcels, whose degree of latitude has 60 nautical miles. Prints the distances of the ends, beside those of seeds moved by
10 m and those on a grid of a quarter of the spacing (both burntrace), those of both programs from steps in degrees by NumPy, of
components that are interpolated (as in Parcels) and of vectors in space (as in burntrace), the mean path length, and particle-steps per second: of
execute() without output, one thread, compiled before; of burntrace as it says.

`--flow rings`: separate round eddies whose speed is highest, 0.5 to 1 m/s, 30 to 60 km from their centre, and which drift westward.
`--flow cells`: eddies of 160 and 100 km everywhere, up to 0.7 m/s, between which particles are exchanged.
"""

import argparse
import json
import os
import statistics
import subprocess
import time
import warnings
from pathlib import Path

import netCDF4
import numpy as np

warnings.simplefilter("ignore")
RADIUS = 1852 * 60 * 180 / np.pi
DAYS, STEP = int(os.environ.get("DAYS", 12)), 600
LOW, SIDE = np.array([5.0, 35.0]), 20.0


def cells(lon, lat, days):
    """East and north in m/s of two stream functions sin(p) sin(q) that drift westward by 4 and 2 km a day."""
    x, y = np.radians(lon), np.radians(lat)
    u, v = 0.0, 0.0
    for size, speed, drift, tilt in [(160e3, 0.45, 4e3, 0.0), (100e3, 0.25, 2e3, 0.7)]:
        k, c, s = np.pi * RADIUS / size, np.cos(tilt), np.sin(tilt)
        along, across = k * (x * np.sqrt(0.5) + drift * days / RADIUS), k * y
        p, q = along * c + across * s, across * c - along * s
        by_p, by_q = speed * np.cos(p) * np.sin(q), speed * np.sin(p) * np.cos(q)
        u = u - (by_p * s + by_q * c)
        v = v + (by_p * c - by_q * s) * np.sqrt(0.5) / np.cos(y)
    return u, v


def rings(lon, lat, days):
    """East and north in m/s of 25 stream functions speed * size * exp(1/2 - r^2 / (2 size^2)) of either sign."""
    u, v = 0.0, 0.0
    random = np.random.default_rng(7)
    for n in range(25):
        speed, size = random.uniform([0.5, 30e3], [1.0, 60e3])
        x0, y0 = LOW + 10 + 2.5 * (np.array([n % 5, n // 5]) - 2) - [0.03 * days, 0]
        x = RADIUS * np.radians(lon - x0) * np.cos(np.radians(y0))
        y = RADIUS * np.radians(lat - y0)
        value = (-1) ** n * speed / size * np.exp(0.5 - (x**2 + y**2) / (2 * size**2))
        u = u + y * value
        v = v - x * value * np.cos(np.radians(y0)) / np.cos(np.radians(lat))
    return u, v


def write(path, flow, spacing):
    n = round(SIDE / spacing) + 1
    lon, lat = [np.linspace(low, low + SIDE, n) for low in LOW]
    data = netCDF4.Dataset(path, "w")
    for name, values, units in [
        ("time", 86400.0 * np.arange(DAYS + 2), "seconds since 2024-01-01"),
        ("latitude", lat, "degrees_north"),
        ("longitude", lon, "degrees_east"),
    ]:
        data.createDimension(name, len(values))
        variable = data.createVariable(name, "f8", (name,))
        variable.units = units
        variable[:] = values
    both = [data.createVariable(name, "f4", ("time", "latitude", "longitude")) for name in ("uo", "vo")]
    for day in range(DAYS + 2):
        for variable, values in zip(both, flow(*np.meshgrid(lon, lat), day)):
            variable.units = "m s-1"
            variable[day] = values
    data.close()


def parcels(path, seeds):
    """The ends, and the seconds of execute()."""
    from parcels import AdvectionRK4, FieldSet, JITParticle, ParticleSet

    axes = {"lon": "longitude", "lat": "latitude", "time": "time"}
    fields = FieldSet.from_netcdf(str(path), {"U": "uo", "V": "vo"}, axes, mesh="spherical")
    particles = ParticleSet(fields, JITParticle, lon=seeds[:, 0], lat=seeds[:, 1], lonlatdepth_dtype=np.float64)
    particles.execute(AdvectionRK4, runtime=0, dt=STEP, verbose_progress=False)  # compiles
    start = time.perf_counter()
    particles.execute(AdvectionRK4, runtime=DAYS * 86400, dt=STEP, verbose_progress=False)
    seconds = time.perf_counter() - start
    # A displacement is added at the start of the next step.
    particles.execute(AdvectionRK4, runtime=STEP, dt=STEP, verbose_progress=False)
    return np.stack([particles.lon, particles.lat], 1), seconds


CASE = f"""
[field]
files = "FILE"
radius = {RADIUS!r}

[seeds]
kind = "file"
path = "seeds.csv"

[trace]
t1 = {DAYS * 86400}.0
dt = {STEP}.0

[run]
precision = "f64"

[save]
every_time = 86400.0
report = "never"
"""


def burntrace(folder, program, seeds, threads, file="eddies.nc"):
    """Positions by day, and the summary of the run."""
    (folder / "case.toml").write_text(CASE.replace("FILE", file))
    np.savetxt(folder / "seeds.csv", np.c_[seeds, 0 * seeds[:, :1]], "%.17g", ",", header="x,y,z", comments="")
    out = folder / "run"
    command = [program, "run", folder / "case.toml", "--out", out, "--overwrite", "--json", "--threads", str(threads)]
    summary = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    subprocess.run([program, "export", out, "--to", "csv", "--quiet"], check=True)
    rows = np.genfromtxt(out / "tracks.csv", delimiter=",", names=True, dtype=None, encoding="utf8")
    assert (rows["status"] == "active").all()
    rows = rows[np.lexsort([rows["particle"], rows["time"]])]
    return np.stack([rows["x"], rows["y"]], 1).reshape(DAYS + 1, -1, 2), summary


def basis(lon, lat):
    """Unit vectors to the east and the north."""
    x, y = np.radians(lon), np.radians(lat)
    east = np.stack([-np.sin(x), np.cos(x), 0 * x], -1)
    return east, np.stack([-np.sin(y) * np.cos(x), -np.sin(y) * np.sin(x), np.cos(y)], -1)


def in_degrees(path, seeds, vectors):
    """The ends by RK4 steps in degrees, of interpolated components or of interpolated vectors in space."""
    data = netCDF4.Dataset(path)
    lon, lat = data["longitude"][:].filled(), data["latitude"][:].filled()
    nodes = np.stack([data[name][:].filled().astype("f8") for name in ("uo", "vo")], -1)
    data.close()
    if vectors:
        east, north = basis(*np.meshgrid(lon, lat))
        nodes = nodes[..., :1] * east + nodes[..., 1:] * north

    def velocity(t, p):
        k = int(t // 86400)
        w = t / 86400 - k
        a, b = (p - LOW).T * ((len(lon) - 1) / SIDE)
        i, j = a.astype(int), b.astype(int)
        a, b = (a - i)[:, None], (b - j)[:, None]

        def at(f):
            low, high = f[j, i] * (1 - a) + f[j, i + 1] * a, f[j + 1, i] * (1 - a) + f[j + 1, i + 1] * a
            return low * (1 - b) + high * b

        v = at(nodes[k]) * (1 - w) + at(nodes[k + 1]) * w
        if vectors:
            v = np.stack([(v * unit).sum(-1) for unit in basis(*p.T)], -1)
        return np.degrees(v / RADIUS) / np.stack([np.cos(np.radians(p[:, 1])), np.ones(len(p))], -1)

    p = seeds
    for n in range(DAYS * 86400 // STEP):
        t, h = n * STEP, STEP
        k1 = velocity(t, p)
        k2 = velocity(t + h / 2, p + h / 2 * k1)
        k3 = velocity(t + h / 2, p + h / 2 * k2)
        p = p + h / 6 * (k1 + 2 * k2 + 2 * k3 + velocity(t + h, p + h * k3))
    return p


def distance(a, b):
    away = np.radians(a - b)
    return RADIUS * np.hypot(away[..., 0] * np.cos(np.radians(a[..., 1])), away[..., 1])


def show(name, away):
    print(f"{name}: median {np.median(away):.4g} m, 90 % below {np.quantile(away, 0.9):.4g} m, largest {away.max():.4g} m")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--spacing", type=float, default=0.1, help="of the grid, in degrees")
    parser.add_argument("--flow", choices=["rings", "cells"], default="rings")
    parser.add_argument("--count", type=int, default=2000, help="number of particles")
    parser.add_argument("--repeats", type=int, default=0, help="time both programs in turns")
    parser.add_argument("--program", default="burntrace")
    given = parser.parse_args()
    folder, flow = given.folder, {"rings": rings, "cells": cells}[given.flow]
    folder.mkdir(parents=True, exist_ok=True)
    seeds = np.random.default_rng(1).uniform(LOW + 5, LOW + SIDE - 5, (given.count, 2))

    write(folder / "eddies.nc", flow, given.spacing)
    tracks, _ = burntrace(folder, given.program, seeds, 1)
    ends, _ = parcels(folder / "eddies.nc", seeds)
    lengths = distance(tracks[1:], tracks[:-1]).sum(0)
    net = distance(tracks[-1], tracks[0])
    print(f"{given.flow}, {given.spacing} degrees: paths of {lengths.mean() / 1e3:.1f} km, ends {net.mean() / 1e3:.1f} km from seeds (means)")
    show("Parcels - burntrace", distance(ends, tracks[-1]))

    rates = {"Parcels, 1 thread": [], "burntrace, 1 thread": [], "burntrace, 2 threads": []}
    for _ in range(given.repeats):
        _, seconds = parcels(folder / "eddies.nc", seeds)
        rates["Parcels, 1 thread"].append(given.count * DAYS * 86400 / STEP / seconds / 1e6)
        for threads, name in [(1, "burntrace, 1 thread"), (2, "burntrace, 2 threads")]:
            _, summary = burntrace(folder, given.program, seeds, threads)
            rates[name].append(summary["particle_steps_per_second"] / 1e6)
    for name, values in rates.items():
        if values:
            listed = ", ".join(f"{value:.2f}" for value in values)
            print(f"{name}: {statistics.median(values):.2f} M particle-steps/s ({listed})")
    if given.repeats:
        return

    for vectors, name, others in [(False, "Parcels", ends), (True, "burntrace", tracks[-1])]:
        exact = in_degrees(folder / "eddies.nc", seeds, vectors)
        show(f"{name} - NumPy, {'vectors' if vectors else 'components'} interpolated", distance(exact, others))
    moved, _ = burntrace(folder, given.program, seeds + [0, np.degrees(10 / RADIUS)], 1)
    show("seeds moved by 10 m", distance(moved[-1], tracks[-1]))
    write(folder / "fine.nc", flow, given.spacing / 4)
    fine, _ = burntrace(folder, given.program, seeds, 1, "fine.nc")
    show("grid of a quarter of the spacing", distance(fine[-1], tracks[-1]))


main()

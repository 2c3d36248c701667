"""A tide in a basin with a sloping bottom, whose levels move with the surface, by NumPy alone.

`tide.py FOLDER CELLS FRAMES` writes ROMS' C-grids `w.nc`, with the velocity upward, and `omega.nc`, with that through the levels,
`part_0.nc` and `part_1.nc`, which are `w.nc`, and `seeds.csv`. `tide.py FOLDER CSV` prints the largest differences of x and z of tracks from the exact ones, and the largest
change of z.

The surface is at zeta = A cos(k x) sin(t / T). The flow is the same at all depths, u = -(A / (k T)) sin(k x) cos(t / T) / (h + zeta), as
continuity asks for; so each particle stays at the same part of the depth, and at rest at z = part * h(x).
"""

import sys

import netCDF4
import numpy as np

LENGTH, HEIGHT, PERIOD, CRITICAL = 40e3, 1.5, 6 * 3600, 5.0
LEVELS = np.linspace(-1, 0, 11)
k, omega = np.pi / LENGTH, 2 * np.pi / PERIOD
SPEED, METRES = {"units": "meter second-1"}, {"units": "meter"}


def depth(x):
    return 12 + 8 * x / LENGTH


def zeta(x, t):
    return HEIGHT * np.cos(k * x) * np.sin(omega * t)


def flow(x, t):
    return -HEIGHT * omega / k * np.sin(k * x) * np.cos(omega * t) / (depth(x) + zeta(x, t))


def part(s, x):
    """The part of the depth at which a level is."""
    return (CRITICAL * s - depth(x) * s**2) / (CRITICAL + depth(x))


def upward(s, x, t):
    rise = HEIGHT * (omega * np.cos(k * x) * np.cos(omega * t) - flow(x, t) * k * np.sin(k * x) * np.sin(omega * t))
    return (1 + part(s, x)) * rise + part(s, x) * flow(x, t) * 8 / LENGTH


def through(s, x, t):
    by_x = (part(s, x + 1) - part(s, x - 1)) / 2
    return -(depth(x) + zeta(x, t)) * flow(x, t) * by_x


def write(folder, cells, frames):
    side, rows = LENGTH / cells, 6
    times = np.linspace(0, PERIOD, frames + 1)
    middles, faces = side * (np.arange(cells + 2) - 0.5), side * np.arange(cells + 1)
    plane = lambda x: np.broadcast_to(x, (rows, len(x)))
    frame = lambda of, x: np.array([plane(of(x, t)) for t in times])
    column = lambda of, s, x: np.array([[plane(of(level, x, t)) for level in s] for t in times])
    at_layers, stretched = 0.5 * (LEVELS[1:] + LEVELS[:-1]), lambda s: -s**2
    y = side * np.arange(rows - 1)[:, None] + 0 * faces
    terms = lambda at, c: {
        "standard_name": "ocean_s_coordinate_g2",
        "formula_terms": f"s: {at} C: {c} eta: zeta depth: h depth_c: hc",
    }
    rho, time = ("eta_rho", "xi_rho"), ("ocean_time",)
    wet = np.ones((rows, cells + 2))
    wet[:, [0, -1]] = 0
    variables = {
        "ocean_time": (time, times, {"units": "seconds since 2000-01-01"}),
        "s_w": (("s_w",), LEVELS, terms("s_w", "Cs_w")),
        "s_rho": (("s_rho",), at_layers, terms("s_rho", "Cs_r")),
        "Cs_w": (("s_w",), stretched(LEVELS), {}),
        "Cs_r": (("s_rho",), stretched(at_layers), {}),
        "hc": ((), CRITICAL, METRES),
        "h": (rho, plane(depth(middles)), METRES),
        "mask_rho": (rho, wet, {}),
        "x_psi": (("eta_psi", "xi_psi"), plane(faces)[1:], METRES),
        "y_psi": (("eta_psi", "xi_psi"), y, METRES),
        "zeta": (time + rho, frame(zeta, middles), METRES),
        "u": (time + ("s_rho", "eta_rho", "xi_u"), column(lambda s, x, t: flow(x, t), at_layers, faces), SPEED),
        "v": (time + ("s_rho", "eta_v", "xi_rho"), np.zeros((len(times), 10, rows - 1, cells + 2)), SPEED),
    }
    half = len(times) // 2
    for file, name, of, part in (
        ("w", "w", upward, slice(None)),
        ("omega", "omega", through, slice(None)),
        ("part_0", "w", upward, slice(half)),
        ("part_1", "w", upward, slice(half, None)),
    ):
        third = {name: (time + ("s_w",) + rho, column(of, LEVELS, middles), SPEED)}
        with netCDF4.Dataset(f"{folder}/{file}.nc", "w") as data:
            for variable, (dimensions, values, attributes) in (variables | third).items():
                values = np.asarray(values, "f8")
                if "ocean_time" in dimensions:
                    values = values[part]
                for dimension, length in zip(dimensions, values.shape):
                    if dimension not in data.dimensions:
                        data.createDimension(dimension, length)
                written = data.createVariable(variable, "f8", dimensions)
                written[...] = values
                written.setncatts(attributes)
    x = np.linspace(0.2, 0.8, 7) * LENGTH
    seeds = [(x, 2.2 * side, of * depth(x)) for x in x for of in (-0.9, -0.5, -0.2, -0.05)]
    np.savetxt(f"{folder}/seeds.csv", seeds, delimiter=",", header="x,y,z", comments="")


def compare(path):
    names = open(path).readline().strip().split(",")
    values = np.genfromtxt(path, delimiter=",", skip_header=1)
    column = lambda name: values[:, names.index(name)]
    worst, change = np.zeros(2), 0
    for seed in np.unique(column("particle")):
        rows = values[column("particle") == seed]
        t, x, z = (rows[:, names.index(name)] for name in ("time", "x", "z"))
        at, now, of = x[0], t[0], z[0] / depth(x[0])
        for i in range(1, len(t)):
            steps = 200
            h = (t[i] - now) / steps
            for _ in range(steps):
                k1 = flow(at, now)
                k2 = flow(at + h / 2 * k1, now + h / 2)
                k3 = flow(at + h / 2 * k2, now + h / 2)
                k4 = flow(at + h * k3, now + h)
                at, now = at + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), now + h
            worst = np.maximum(worst, [abs(x[i] - at), abs(z[i] - of * depth(at))])
            change = max(change, abs(z[i] - z[0]))
    print(*worst, change)


if len(sys.argv) == 4:
    write(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
else:
    compare(sys.argv[2])

"""What numpy makes of a file of FVCOM in degrees: wedges between sigma levels with the velocity of their cell.

    pip install numpy netCDF4
    python tests/peers/fvcom.py cells file.nc
    python tests/peers/fvcom.py places file.nc
    python tests/peers/fvcom.py tracks file.nc tracks.csv

`cells` prints the numbers of cells and of edges of one triangle only; then, of 200 cells, their number, layer by layer from
the bottom upward, the mean of their corners, and their velocity at the first and the last time. `places` prints 200 random
positions, and `tracks` compares a table of tracks from there with RK4 steps of a minute: it prints the largest difference
in metres, the number of tracks that are compared, and their longest path in metres.
"""

import csv
import sys

import netCDF4
import numpy as np

RADIUS = 6371008.8

data = netCDF4.Dataset(sys.argv[2])
lon, lat, h, siglev, u, v = (data[name][:].astype(float) for name in ("lon", "lat", "h", "siglev", "u", "v"))
times = (data["time"][:].astype(float) - float(data["time"][0])) * 86400
corners = data["nv"][:].T.astype(int) - 1
layers, faces = u.shape[1:]
random = np.random.default_rng(20261126)


def cells():
    edges = np.sort(np.concatenate([corners[:, [a, b]] for a, b in ((0, 1), (1, 2), (2, 0))]))
    print(layers * faces, (np.unique(edges, axis=0, return_counts=True)[1] == 1).sum())
    z = siglev * h
    for cell in np.sort(random.choice(layers * faces, 200, replace=False)):
        layer, face = layers - 1 - cell // faces, cell % faces
        nodes = corners[face]
        center = lon[nodes].mean(), lat[nodes].mean(), z[layer : layer + 2, nodes].mean()
        values = [of[time, layer, face] for time in (0, -1) for of in (u, v)]
        print(cell, *(repr(float(number)) for number in (*center, *values)))


def places():
    deep = np.flatnonzero(h[corners].min(1) > 3)
    print("x,y,z")
    for _ in range(200):
        nodes, weights = corners[random.choice(deep)], random.dirichlet([3, 3, 3])
        z = -(h[nodes] @ weights) * random.uniform(0.02, 0.98)
        print(f"{lon[nodes] @ weights:.12f},{lat[nodes] @ weights:.12f},{z:.9f}")


def velocity(places, time):
    """Radians per second as a vector in space, and whether the places are in the mesh."""
    x, y, z = places.T
    xs, ys = lon[corners], lat[corners]
    area = (ys[:, 1] - ys[:, 2]) * (xs[:, 0] - xs[:, 2]) + (xs[:, 2] - xs[:, 1]) * (ys[:, 0] - ys[:, 2])
    dx, dy = x[:, None] - xs[:, 2], y[:, None] - ys[:, 2]
    a = ((ys[:, 1] - ys[:, 2]) * dx + (xs[:, 2] - xs[:, 1]) * dy) / area
    b = ((ys[:, 2] - ys[:, 0]) * dx + (xs[:, 0] - xs[:, 2]) * dy) / area
    weights = np.stack([a, b, 1 - a - b], 2)
    face = weights.min(2).argmax(1)
    weights = weights[np.arange(len(x)), face]
    levels = (siglev * h)[:, corners[face]]
    levels = np.einsum("lpc,pc->pl", levels, weights)
    layer = np.clip((levels >= z[:, None]).sum(1) - 1, 0, layers - 1)
    inside = (weights.min(1) >= 0) & (z <= levels[:, 0]) & (z >= levels[:, -1])
    k = min(np.searchsorted(times, time, side="right") - 1, len(times) - 2)
    part = (time - times[k]) / (times[k + 1] - times[k])
    east, north = ((1 - part) * of[k, layer, face] + part * of[k + 1, layer, face] for of in (u, v))
    # A velocity is one vector in space in its cell: eastward and northward at the centre, and along the sphere anywhere.
    (sx, cx), (sy, cy) = ((np.sin(a), np.cos(a)) for a in np.radians([lon[corners[face]].mean(1), lat[corners[face]].mean(1)]))
    vectors = (east * np.array([-sx, cx, 0 * x]) + north * np.array([-sy * cx, -sy * sx, cy])).T
    up = in_space(places)
    vectors -= up * (vectors * up).sum(1, keepdims=True)
    return vectors / (RADIUS + places[:, 2:]), inside


def in_space(places):
    x, y = np.radians(places[:, :2].T)
    return np.stack([np.cos(y) * np.cos(x), np.cos(y) * np.sin(x), np.sin(y)], 1)


def moved(places, step):
    at = in_space(places) + step
    at /= np.linalg.norm(at, axis=1, keepdims=True)
    x = np.degrees(np.arctan2(at[:, 1], at[:, 0])) % 360
    return np.stack([x, np.degrees(np.arcsin(at[:, 2])), places[:, 2]], 1)


def tracks(table):
    rows = list(csv.DictReader(open(table)))
    end = max(float(row["time"]) for row in rows)
    first = {row["particle"]: row for row in rows if float(row["time"]) == 0}
    last = {row["particle"]: row for row in rows if float(row["time"]) == end and row["status"] == "active"}
    start, ends = (np.array([[float(of[i][d]) for d in "xyz"] for i in last]) for of in (first, last))
    places, inside, dt = start.copy(), np.ones(len(start), bool), 60.0
    for step in range(round(end / dt)):
        stages = []
        for part in (0.0, 0.5, 0.5, 1.0):
            at = moved(places, part * dt * stages[-1]) if stages else places
            stage, is_in = velocity(at, (step + part) * dt)
            stages.append(stage)
            inside &= is_in
        mean = (stages[0] + 2 * stages[1] + 2 * stages[2] + stages[3]) / 6
        places = np.where(inside[:, None], moved(places, dt * mean), places)

    def metres(a, b):
        return np.radians(np.hypot((a - b)[:, 0] * np.cos(np.radians(a[:, 1])), (a - b)[:, 1]))[inside] * RADIUS

    print(metres(places, ends).max(), inside.sum(), metres(places, start).max())


{"cells": cells, "places": places, "tracks": tracks}[sys.argv[1]](*sys.argv[3:])

"""Velocities on the grids of ocean models, by NumPy alone.

`models.py roms HIS GRID places` prints 200 random places in the sea of a C-grid with levels that follow the bottom (ROMS,
CROCO; GRID may be HIS), and `models.py roms HIS GRID CSV TIME` compares the velocities of a table of tracks at the TIME-th
time. `models.py mom U V W places` and `models.py mom U V W CSV TIME` do so on a B-grid. `models.py nemo FOLDER` writes
random velocities on a rectilinear C-grid in NEMO's numbering, and `models.py nemo FOLDER CSV` compares the ends of tracks
with RK4 steps of 1 s. `models.py arctic FOLDER` writes 1 m/s eastward on a turned grid at 81 degrees north, at its points and
on its faces.

Prints the largest difference.
"""

import sys

import netCDF4
import numpy as np


def numbers(data, name):
    """The unpacked numbers of a variable, of which none is masked."""
    variable = data[name]
    variable.set_auto_maskandscale(False)
    raw = np.asarray(variable[...], "f8")
    return raw * getattr(variable, "scale_factor", 1.0) + getattr(variable, "add_offset", 0.0)


def between(a):
    return 0.25 * (a[1:, 1:] + a[:-1, 1:] + a[1:, :-1] + a[:-1, :-1])


class Roms:
    """Cells between psi-points: fluxes through faces as in Delandmeter and van Sebille (2019)."""

    def __init__(self, his, grid, time):
        his, grid = netCDF4.Dataset(his), netCDF4.Dataset(grid)
        psi = "lon_psi" in grid.variables and np.ptp(numbers(grid, "lon_psi")) > 0
        self.lon = numbers(grid, "lon_psi") if psi else between(numbers(grid, "lon_rho"))
        self.lat = numbers(grid, "lat_psi") if psi else between(numbers(grid, "lat_rho"))
        wet = np.round(numbers(his, "mask_rho"))
        rows, columns = self.lon.shape
        self.wet = wet[1:rows, 1:columns] > 0
        s, c, hc = numbers(his, "s_w"), numbers(his, "Cs_w"), float(numbers(his, "hc"))
        low = np.flatnonzero(s < numbers(his, "s_rho")[0])[-1]
        h = between(numbers(grid, "h"))
        levels = range(low, low + len(his.dimensions["s_rho"]) + 1)
        self.z = np.array([h * (hc * s[k] + h * c[k]) / (hc + h) for k in levels])
        # A subset may have as many faces as cells. Faces beside land are closed.
        u, v = numbers(his, "u")[time], numbers(his, "v")[time]
        u = u[:, :, : wet.shape[1] - 1] * wet[:, 1:] * wet[:, :-1]
        v = v[:, : wet.shape[0] - 1] * wet[1:] * wet[:-1]
        self.u, self.v = u[:, 1:rows, :columns], v[:, :rows, 1:columns]

    def corners(self, j, i):
        return [(j, i), (j, i + 1), (j + 1, i + 1), (j + 1, i)]

    def at(self, j, i, xi, eta, a):
        weights = [(1 - xi) * (1 - eta), xi * (1 - eta), xi * eta, (1 - xi) * eta]
        return sum(w * a[at] for w, at in zip(weights, self.corners(j, i)))

    def places(self):
        random = np.random.default_rng(1)
        cells = np.argwhere(self.wet)
        print("x,y,z")
        for j, i in cells[random.integers(len(cells), size=200)]:
            xi, eta, part = random.uniform(0.02, 0.98, 3)
            low, high = self.at(j, i, xi, eta, self.z[0]), self.at(j, i, xi, eta, self.z[-1])
            x, y = self.at(j, i, xi, eta, self.lon), self.at(j, i, xi, eta, self.lat)
            print(f"{x:.12f},{y:.12f},{low + part * (high - low):.9f}")

    def velocity(self, place):
        x, y, z = place
        distance = np.hypot(between(self.lon) - x, between(self.lat) - y)
        for flat in np.argsort(distance, axis=None)[:20]:
            j, i = np.unravel_index(flat, distance.shape)
            xi = eta = 0.5
            at = np.array([[self.lon[c], self.lat[c]] for c in self.corners(j, i)])
            for _ in range(20):
                by_xi = (1 - eta) * (at[1] - at[0]) + eta * (at[2] - at[3])
                by_eta = (1 - xi) * (at[3] - at[0]) + xi * (at[2] - at[1])
                here = (1 - xi) * (1 - eta) * at[0] + xi * (1 - eta) * at[1] + xi * eta * at[2] + (1 - xi) * eta * at[3]
                step = np.linalg.solve(np.column_stack([by_xi, by_eta]), np.array([x, y]) - here)
                xi, eta = xi + step[0], eta + step[1]
            if not (-1e-9 <= xi <= 1 + 1e-9 and -1e-9 <= eta <= 1 + 1e-9 and self.wet[j, i]):
                continue
            levels = [self.at(j, i, xi, eta, level) for level in self.z]
            k = min(max(np.searchsorted(levels, z) - 1, 0), len(levels) - 2)

            def length(a, b):
                east = (b[0] - a[0]) * np.cos(np.radians(0.5 * (a[1] + b[1])))
                return np.hypot(east, b[1] - a[1])

            u = (1 - xi) * self.u[k, j, i] * length(at[0], at[3]) + xi * self.u[k, j, i + 1] * length(at[1], at[2])
            v = (1 - eta) * self.v[k, j, i] * length(at[0], at[1]) + eta * self.v[k, j + 1, i] * length(at[3], at[2])
            east, north = (u * by_xi + v * by_eta) / (by_xi[0] * by_eta[1] - by_xi[1] * by_eta[0])
            return np.array([east, north / np.cos(np.radians(y)), 0.0])
        raise ValueError(f"{place} is in no cell")


class Mom:
    """Points at the corners of cells, with w at their centres, above and below."""

    def __init__(self, u, v, w, time):
        u, v, w = (netCDF4.Dataset(path) for path in (u, v, w))
        self.x, self.y, self.z = (numbers(u, name) for name in ("xu_ocean", "yu_ocean", "st_ocean"))
        self.u, self.v = numbers(u, "u")[time], numbers(v, "v")[time]
        wt, levels = numbers(w, "wt")[time], np.append(0.0, numbers(w, "sw_ocean"))
        shape = wt.shape
        padded = np.full((shape[0], shape[1] + 1, shape[2] + 1), np.nan)
        padded[:, :-1, :-1] = wt
        parts = np.array([padded[:, :-1, :-1], padded[:, 1:, :-1], padded[:, :-1, 1:], padded[:, 1:, 1:]])
        mean = np.nanmean(parts, axis=0)
        mean = np.concatenate([np.zeros((1, *mean.shape[1:])), mean])
        columns = [[np.interp(self.z, levels, mean[:, j, i]) for i in range(shape[2])] for j in range(shape[1])]
        self.w = np.moveaxis(np.array(columns), 2, 0)

    def places(self):
        random = np.random.default_rng(2)
        print("x,y,z")
        for _ in range(200):
            x, y, z = (random.uniform(a[0], a[-1]) for a in (self.x, self.y, self.z))
            print(f"{x},{y},{-z}")

    def velocity(self, place):
        def index(axis, x):
            i = min(max(np.searchsorted(axis, x) - 1, 0), len(axis) - 2)
            return i, (x - axis[i]) / (axis[i + 1] - axis[i])

        (i, a), (j, b), (k, c) = index(self.x, place[0]), index(self.y, place[1]), index(self.z, -place[2])
        weights = np.einsum("k,j,i->kji", [1 - c, c], [1 - b, b], [1 - a, a])
        box = np.s_[k : k + 2, j : j + 2, i : i + 2]
        u, v, w = (of[box] for of in (self.u, self.v, self.w))

        def directions(lon, lat):
            lon, lat = np.radians(lon), np.radians(lat)
            east = np.array([-np.sin(lon), np.cos(lon), 0 * lon])
            return east, np.array([-np.sin(lat) * np.cos(lon), -np.sin(lat) * np.sin(lon), np.cos(lat)])

        # Means of vectors in space.
        lon, lat = np.meshgrid(self.x[i : i + 2], self.y[j : j + 2])
        east, north = directions(lon, lat)
        vector = [(weights * (u * e + v * n)).sum() for e, n in zip(east, north)]
        east, north = directions(np.float64(place[0]), np.float64(place[1]))
        return np.array([vector @ east, vector @ north, (weights * w).sum()])


def table(path):
    rows = [line.strip().split(",") for line in open(path)]
    names, rows = rows[0], rows[1:]
    column = lambda name: np.array([float(row[names.index(name)]) for row in rows])
    return column


def compare(model, path, save):
    column = table(path)
    times = column("time")
    rows = times == np.unique(times)[save]
    place = np.column_stack([column(name)[rows] for name in "xyz"])
    found = np.column_stack([column(f"velocity_{name}")[rows] for name in "xyz"])
    expected = np.array([model.velocity(at) for at in place])
    print(np.abs(found - expected).max(), len(place), np.abs(expected).max())


CELLS = (5, 10, 10)


def random_velocities():
    random = np.random.default_rng(3)
    layers, rows, columns = CELLS
    u = random.uniform(-1, 1, (layers, rows + 1, columns + 1))
    v = random.uniform(-1, 1, (layers, rows + 1, columns + 1))
    w = random.uniform(-0.1, 0.1, (layers + 1, rows + 1, columns + 1))
    return u, v, w


def random_temperatures():
    layers, rows, columns = CELLS
    return np.random.default_rng(5).uniform(5, 25, (layers, rows + 1, columns + 1))


def write_nemo(folder):
    layers, rows, columns = CELLS
    u, v, w = random_velocities()
    mesh = netCDF4.Dataset(f"{folder}/mesh.nc", "w")
    mesh.createDimension("y", rows + 1)
    mesh.createDimension("x", columns + 1)
    for name, values in [("glamf", np.arange(columns + 1) * 10.0), ("gphif", np.arange(rows + 1) * 10.0)]:
        variable = mesh.createVariable(name, "f8", ("y", "x"))
        variable.units = "m"
        variable[:] = values if name == "glamf" else values[:, None]
    mesh.close()
    for name, values in [("u", u), ("v", v), ("w", w), ("t", random_temperatures())]:
        data = netCDF4.Dataset(f"{folder}/grid_{name.upper()}.nc", "w")
        depth = f"depth{name}"
        for dimension, size in [("time_counter", 1), (depth, values.shape[0]), ("y", rows + 1), ("x", columns + 1)]:
            data.createDimension(dimension, size)
        variable = data.createVariable(depth, "f8", (depth,))
        variable[:] = 2.0 * np.arange(values.shape[0]) + (0.0 if name == "w" else 1.0)
        variable.setncatts({"units": "m", "positive": "down"})
        is_speed = name != "t"
        variable = data.createVariable(name if is_speed else "thetao", "f8", ("time_counter", depth, "y", "x"))
        variable.units = "m/s" if is_speed else "degC"
        variable[0] = values
        data.close()
    random = np.random.default_rng(4)
    with open(f"{folder}/seeds.csv", "w") as file:
        print("x,y,z", file=file)
        for x, y, z in random.uniform([35, 35, -7], [65, 65, -3], (50, 3)):
            print(f"{x},{y},{z}", file=file)


def nemo_velocity(fields, place):
    u, v, w = fields
    x, y, depth = place[0] / 10, place[1] / 10, -place[2] / 2
    i, j, k = int(x), int(y), int(depth)
    a, b, c = x - i, y - j, depth - k
    return np.array([
        (1 - a) * u[k, j + 1, i] + a * u[k, j + 1, i + 1],
        (1 - b) * v[k, j, i + 1] + b * v[k, j + 1, i + 1],
        (1 - c) * w[k, j + 1, i + 1] + c * w[k + 1, j + 1, i + 1],
    ])


def compare_nemo(path):
    column, fields = table(path), random_velocities()
    times = column("time")
    place = np.column_stack([column(name) for name in "xyz"])
    starts, ends = place[times == times.min()], place[times == times.max()]
    worst = 0.0
    for start, end in zip(starts, ends):
        p = start.copy()
        for _ in range(int(times.max() - times.min())):
            f = lambda p: nemo_velocity(fields, p)
            k1 = f(p)
            k2 = f(p + 0.5 * k1)
            k3 = f(p + 0.5 * k2)
            k4 = f(p + k3)
            p = p + (k1 + 2 * k2 + 2 * k3 + k4) / 6
        worst = max(worst, np.abs(p - end).max())
    print(worst, len(starts), np.abs(ends - starts).max())


def compare_temperature(path):
    column, of = table(path), random_temperatures()
    corner = lambda k, j, i: of[max(k - 1, 0) : k + 1, j : j + 2, i : i + 2].mean()
    worst = 0.0
    for x, y, depth, found in zip(column("x") / 10, column("y") / 10, -column("z") / 2, column("thetao")):
        i, j, k = int(x), int(y), int(depth)
        parts = [(1 - x + i, x - i), (1 - y + j, y - j), (1 - depth + k, depth - k)]
        mean = sum(
            parts[0][a] * parts[1][b] * parts[2][c] * corner(k + c, j + b, i + a)
            for a in (0, 1) for b in (0, 1) for c in (0, 1)
        )
        worst = max(worst, abs(mean - found))
    print(worst, len(column("x")))


def write_arctic(folder):
    """A grid of 0.1 degrees that is turned by 40 degrees, around 81 north, 180 east, through a gnomonic projection."""
    j, i = np.meshgrid(np.arange(-60, 61), np.arange(-60, 61), indexing="ij")
    turn, middle = np.radians(40), np.radians(81)
    x, y = (np.radians(0.1) * of for of in (i * np.cos(turn) - j * np.sin(turn), i * np.sin(turn) + j * np.cos(turn)))
    away = np.maximum(np.hypot(x, y), 1e-300)
    angle = np.arctan(away)
    lat = np.degrees(np.arcsin(np.cos(angle) * np.sin(middle) + y * np.sin(angle) * np.cos(middle) / away))
    along = away * np.cos(middle) * np.cos(angle) - y * np.sin(middle) * np.sin(angle)
    lon = 180 + np.degrees(np.arctan2(x * np.sin(angle), along))

    def northward_part(a, b):
        """The part of edges from points to others that is along the meridian: what a flow to the east crosses."""
        north = lat[b] - lat[a]
        return north / np.hypot(north, (lon[b] - lon[a]) * np.cos(np.radians(0.5 * (lat[a] + lat[b]))))

    u, v = np.zeros(lat.shape), np.zeros(lat.shape)
    u[1:] = northward_part(np.s_[:-1], np.s_[1:])
    v[:, 1:] = -northward_part(np.s_[:, :-1], np.s_[:, 1:])
    lon = (lon + 180) % 360 - 180
    east, north = {"units": "degrees_east"}, {"units": "degrees_north"}
    speed = {"units": "m/s", "coordinates": "nav_lon nav_lat", "standard_name": "eastward_sea_water_velocity"}
    positions = {"nav_lon": (lon, east), "nav_lat": (lat, north)}
    files = {
        "arctic": positions
        | {"uo": (0 * lon + 1, speed), "vo": (0 * lon, speed | {"standard_name": "northward_sea_water_velocity"})},
        "mask": {"glamf": (lon, {}), "gphif": (lat, {})},
        "grid_U": positions | {"vozocrtx": (u, {"units": "m/s"})},
        "grid_V": {"nav_lon": (lon + 0.01, east), "nav_lat": positions["nav_lat"], "vomecrty": (v, {"units": "m/s"})},
    }
    for file, variables in files.items():
        with netCDF4.Dataset(f"{folder}/{file}.nc", "w") as data:
            data.createDimension("y", len(lat))
            data.createDimension("x", len(lat))
            for name, (values, attributes) in variables.items():
                variable = data.createVariable(name, "f8", ("y", "x"))
                variable[:] = values
                variable.setncatts(attributes)


def main(kind, *args):
    if kind in ("roms", "mom"):
        files, rest = (args[:2], args[2:]) if kind == "roms" else (args[:3], args[3:])
        model = (Roms if kind == "roms" else Mom)(*files, int(rest[1]) if len(rest) > 1 else 0)
        model.places() if rest[0] == "places" else compare(model, rest[0], int(rest[1]))
    elif kind == "nemo":
        write_nemo(args[0]) if len(args) == 1 else compare_nemo(args[1])
    elif kind == "temperature":
        compare_temperature(args[0])
    else:
        write_arctic(args[0])


main(*sys.argv[1:])

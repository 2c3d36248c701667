"""An ocean in degrees, and its tracks by steps in degrees: `earth.py write FILE`, `earth.py globe FILE`, `earth.py currents FILE`,
`earth.py wind FILE`, `earth.py mixing FILE` and `earth.py compare FILE CSV [WIND]`.

A region of 1/6 degree with an island, from 0 to 20 days. Compares up to 20 active particles with RK4 steps of 10 minutes in double
precision, of components along the axes, and prints the largest distance in metres. The globe turns by 60 m/s at the equator. Currents are those of all
longitudes and northern latitudes, every 2 degrees and 8 m, with land and upwelling, in 5 days. The wind is over that ocean, every half
degree and 6 hours, with longitudes in another turn; 0.03 of it, 20 degrees to the right, is added in the comparison. In the mixing, water at rest with land in the
east has a diffusivity that increases by 0.01 m2/s per metre to the north.
"""

import sys

import netCDF4
import numpy as np

RADIUS = 6371008.8
DAYS = 20
STEP = 600.0


def write(path):
    data = netCDF4.Dataset(path, "w")
    lon, lat = 350 + np.arange(91) / 6, 45 - np.arange(61) / 6
    sizes = {"time": DAYS + 1, "depth": 1, "latitude": len(lat), "longitude": len(lon)}
    for name, size in sizes.items():
        data.createDimension(name, size)
    axes = {
        "time": (24.0 * np.arange(DAYS + 1), {"units": "hours since 2024-01-01"}),
        "depth": ([0.5], {"units": "m", "positive": "down", "standard_name": "depth"}),
        "latitude": (lat, {"units": "degrees_north"}),
        "longitude": (lon % 360, {"units": "degrees_east"}),
    }
    for name, (values, attributes) in axes.items():
        variable = data.createVariable(name, "f8", (name,))
        variable[:] = values
        variable.setncatts(attributes)
    x, y = np.meshgrid(np.radians(lon), np.radians(lat))
    island = (np.abs(np.degrees(x) - 357) < 1) & (np.abs(np.degrees(y) - 40.5) < 1)
    for name, standard, velocity in [
        ("uo", "eastward_sea_water_velocity", lambda t: 0.5 * np.sin(6 * y + 0.1 * t) + 0 * x),
        ("vo", "northward_sea_water_velocity", lambda t: 0.3 * np.cos(5 * x + 0.1 * t) * np.cos(y)),
    ]:
        variable = data.createVariable(name, "f8", tuple(sizes), fill_value=-999.0)
        variable.setncatts({"units": "m s-1", "standard_name": standard})
        for t in range(DAYS + 1):
            variable[t, 0] = np.ma.array(velocity(t), mask=island)
    data.close()


def globe(path):
    data = netCDF4.Dataset(path, "w")
    axes = {
        "time": (86400.0 * np.arange(3), {"units": "seconds since 2024-01-01"}),
        "latitude": (np.linspace(-80, 80, 33), {"units": "degrees_north"}),
        "longitude": (np.arange(-180.0, 180.0, 10), {"units": "degrees_east"}),
    }
    for name, (values, attributes) in axes.items():
        data.createDimension(name, len(values))
        variable = data.createVariable(name, "f8", (name,))
        variable[:] = values
        variable.setncatts(attributes)
    east = 60 * np.cos(np.radians(axes["latitude"][0]))[:, None] + np.zeros(36)
    for name, velocity in [("uo", east), ("vo", 0 * east)]:
        variable = data.createVariable(name, "f8", tuple(axes))
        variable.units = "m s-1"
        variable[:] = velocity
    data.close()


def currents(path):
    data = netCDF4.Dataset(path, "w")
    axes = {
        "time": (24.0 * np.arange(5), {"units": "hours since 2024-01-01"}),
        "height": (8.0 * np.arange(9), {"units": "m", "positive": "up", "standard_name": "height"}),
        "latitude": (2.0 * np.arange(41), {"units": "degrees_north"}),
        "longitude": (2.0 * np.arange(180), {"units": "degrees_east"}),
    }
    for name, (values, attributes) in axes.items():
        data.createDimension(name, len(values))
        variable = data.createVariable(name, "f8", (name,))
        variable[:] = values
        variable.setncatts(attributes)
    t, z, y, x = np.meshgrid(np.arange(5), axes["height"][0], np.radians(axes["latitude"][0]), np.radians(axes["longitude"][0]), indexing="ij")
    land = (np.abs(np.degrees(x) - 47) < 1.5) & (np.abs(np.degrees(y) - 33) < 1.5)
    for name, standard, values in [
        ("uo", "eastward_sea_water_velocity", 1.5 * np.sin(20 * y + t) + 0.3 * np.cos(0.1 * z)),
        ("vo", "northward_sea_water_velocity", 0.8 * np.cos(18 * x - t) * np.cos(y)),
        ("wo", "upward_sea_water_velocity", 3e-5 * np.sin(9 * x + t)),
    ]:
        variable = data.createVariable(name, "f4", tuple(axes), fill_value=np.float32(-999))
        variable.setncatts({"units": "m s-1", "standard_name": standard})
        variable[:] = np.ma.array(values, mask=land)
    data.close()


def wind(path):
    data = netCDF4.Dataset(path, "w")
    axes = {
        "time": (6.0 * np.arange(4 * DAYS + 2), {"units": "hours since 2023-12-31 21:00"}),
        "latitude": (34 + 0.5 * np.arange(25), {"units": "degrees_north"}),
        "longitude": (-11 + 0.5 * np.arange(35), {"units": "degrees_east"}),
    }
    for name, (values, attributes) in axes.items():
        data.createDimension(name, len(values))
        variable = data.createVariable(name, "f8", (name,))
        variable[:] = values
        variable.setncatts(attributes)
    t, y, x = np.meshgrid(*[of[0] for of in axes.values()], indexing="ij")
    for name, standard, velocity in [
        ("u10", "eastward_wind", 5 * np.sin(0.4 * x + 0.05 * t) * np.cos(0.3 * y)),
        ("v10", "northward_wind", 5 * np.cos(0.5 * y - 0.04 * t)),
    ]:
        variable = data.createVariable(name, "f8", tuple(axes))
        variable.setncatts({"units": "m s-1", "standard_name": standard})
        variable[:] = velocity
    data.close()


def mixing(path):
    data = netCDF4.Dataset(path, "w")
    axes = {
        "time": ([0.0, 86400.0], {"units": "seconds since 2024-01-01"}),
        "latitude": (np.linspace(59, 61, 21), {"units": "degrees_north"}),
        "longitude": (np.linspace(0, 4, 21), {"units": "degrees_east"}),
    }
    for name, (values, attributes) in axes.items():
        data.createDimension(name, len(values))
        variable = data.createVariable(name, "f8", (name,))
        variable[:] = values
        variable.setncatts(attributes)
    _, y, x = np.meshgrid(*[of[0] for of in axes.values()], indexing="ij")
    north = RADIUS * np.radians(y - 60)
    for name, units, values in [("uo", "m s-1", 0 * x), ("vo", "m s-1", 0 * x), ("K", "m2 s-1", np.maximum(200 + 0.01 * north, 0))]:
        variable = data.createVariable(name, "f8", tuple(axes), fill_value=-999.0)
        variable.units = units
        variable[:] = np.ma.array(values, mask=x > 3.5)
    data.close()


def windage(path):
    data = netCDF4.Dataset(path)
    u, v = data["u10"][:].filled(), data["v10"][:].filled()

    def velocity(t, p):
        a, b, c = (t / 3600 + 3) / 6, (p[1] - 34) * 2, ((p[0] + 180) % 360 - 180 + 11) * 2
        k, j, i = int(a), int(b), int(c)
        weights = np.multiply.outer(np.outer([1 - a + k, a - k], [1 - b + j, b - j]), [1 - c + i, c - i])
        east, north = [np.sum(of[k : k + 2, j : j + 2, i : i + 2] * weights) for of in (u, v)]
        turned = (east + 1j * north) * np.exp(-1j * np.radians(20))
        return 0.03 * turned.real, 0.03 * turned.imag

    return velocity


def compare(path, table, wind=None):
    data = netCDF4.Dataset(path)
    added = windage(wind) if wind else lambda t, p: (0.0, 0.0)
    lon, lat = np.unwrap(data["longitude"][:].filled(), period=360), data["latitude"][:].filled()
    u, v = [data[name][:, 0].filled(np.nan) for name in ("uo", "vo")]

    def velocity(t, p):
        k = min(int(t // 86400), DAYS - 1)
        w = t / 86400 - k
        a, b = (p[0] - lon[0]) * 6, (lat[0] - p[1]) * 6
        i, j = int(a), int(b)
        a, b = a - i, b - j

        def at(frame):
            low = frame[j, i] * (1 - a) + frame[j, i + 1] * a
            return low * (1 - b) + (frame[j + 1, i] * (1 - a) + frame[j + 1, i + 1] * a) * b

        east, north = [at(of[k]) * (1 - w) + at(of[k + 1]) * w + more for of, more in zip((u, v), added(t, p))]
        return np.degrees([east / (RADIUS * np.cos(np.radians(p[1]))), north / RADIUS])

    rows = np.genfromtxt(table, delimiter=",", names=True, dtype=None, encoding="utf8")
    first, last = [rows[rows["time"] == t] for t in (0, DAYS * 86400)]
    worst = 0.0
    chosen = last[last["status"] == "active"][:20]
    assert len(chosen) == 20, f"{len(chosen)} particles are active"
    for end in chosen:
        start = first[first["particle"] == end["particle"]][0]
        p = np.array([start["x"], start["y"]])
        for n in range(round(DAYS * 86400 / STEP)):
            t = n * STEP
            k1 = velocity(t, p)
            k2 = velocity(t + STEP / 2, p + STEP / 2 * k1)
            k3 = velocity(t + STEP / 2, p + STEP / 2 * k2)
            k4 = velocity(t + STEP, p + STEP * k3)
            p = p + STEP / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        away = np.radians(p - [end["x"], end["y"]]) * [np.cos(np.radians(end["y"])), 1.0]
        assert np.isfinite(away).all(), f"{end} is beside land"
        worst = max(worst, RADIUS * np.hypot(*away))
    print(worst)


{"write": write, "globe": globe, "currents": currents, "wind": wind, "mixing": mixing, "compare": compare}[sys.argv[1]](*sys.argv[2:])

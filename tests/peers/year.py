"""A year of drift in a region: `year.py write FOLDER`, `year.py deep FOLDER`, `year.py packed FOLDER`, and
`year.py parcels FOLDER SEEDS` with Parcels 3.1.4.

Writes 365 daily frames of 400 x 400 nodes of 1/12 degree with land, a NetCDF file a month (446 MB), and `year.toml`, which
`burntrace run FOLDER/year.toml` traces: 10,000 particles, 364 days, steps of 30 minutes, a save a day. SEEDS is a table of
`burntrace export RUN --to csv --to-time 0`. `deep` writes 31 frames with 50 depths (496 MB), of which particles at
the surface need two; `packed` writes them in compressed chunks of 5 x 100 x 100 nodes. Prints the time of execute(),
particle-steps per second, and the peak memory of Python.
"""

import resource
import sys
import time
import warnings
from pathlib import Path

import netCDF4
import numpy as np

warnings.simplefilter("ignore")
NODES, STEP, DAYS = 400, 1800, 364
MONTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
CASE = """
[field]
files = "year_*.nc"

[seeds]
kind = "uniform"
count = 10_000
low = [-25.0, 35.0, 0.0]
high = [-2.0, 58.0, 0.0]
placement = "sea"

[trace]
t0 = "2023-01-01"
t1 = "364 d"
dt = "30 min"

[save]
every_time = "1 d"
"""


def write(folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "year.toml").write_text(CASE)
    lon, lat = -30 + np.arange(NODES) / 12, 30 + np.arange(NODES) / 12
    x, y = np.meshgrid(lon, lat)
    land = (x > 1.5 + 0.8 * np.sin(y)) | (y < 31 + 0.5 * np.sin(1.3 * x)) | (np.hypot(x + 15, y - 45) < 1)
    first = 0
    for month, days in enumerate(MONTHS, 1):
        data = netCDF4.Dataset(folder / f"year_{month:02}.nc", "w")
        for name, values, units in [
            ("time", 24.0 * (first + np.arange(days)), "hours since 2023-01-01"),
            ("latitude", lat, "degrees_north"),
            ("longitude", lon, "degrees_east"),
        ]:
            data.createDimension(name, len(values))
            variable = data.createVariable(name, "f8", (name,))
            variable.units = units
            variable[:] = values
        dims, chunks = ("time", "latitude", "longitude"), (1, NODES, NODES)
        both = [data.createVariable(name, "f4", dims, fill_value=np.float32(-32767), chunksizes=chunks) for name in ("uo", "vo")]
        for t in range(days):
            d = first + t
            u = 0.4 * np.sin(3.5 * y) * np.cos(3.1 * x + 0.05 * d) + 0.1 * np.sin(0.2 * y + 0.02 * d)
            v = 0.4 * np.cos(3.5 * y) * np.sin(3.1 * x + 0.05 * d) + 0.1 * np.cos(0.3 * x - 0.02 * d)
            for variable, values in zip(both, (u, v)):
                variable.units = "m s-1"
                variable[t] = np.ma.array(values, mask=land)
        first += days
        data.close()


def deep(folder, chunks=(1, 1, 200, 200), **packing):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "deep.toml").write_text(CASE.replace("year_*.nc", "deep.nc").replace("364 d", "30 d"))
    data = netCDF4.Dataset(folder / "deep.nc", "w")
    axes = {"time": np.arange(31.0), "depth": 0.5 + np.arange(50) + 5000 * (np.arange(50) / 49) ** 3, "latitude": 30 + np.arange(200) / 6, "longitude": -30 + np.arange(200) / 6}
    units = ["days since 2023-01-01", "m", "degrees_north", "degrees_east"]
    for (name, values), unit in zip(axes.items(), units):
        data.createDimension(name, len(values))
        variable = data.createVariable(name, "f8", (name,))
        variable.units = unit
        variable[:] = values
    data["depth"].positive = "down"
    x, y = np.meshgrid(axes["longitude"], axes["latitude"])
    for name, shape in [("uo", np.sin(3.5 * y) * np.cos(3.1 * x)), ("vo", np.cos(3.5 * y) * np.sin(3.1 * x))]:
        variable = data.createVariable(name, "f4", tuple(axes), chunksizes=chunks, **packing)
        variable.units = "m s-1"
        for t in range(31):
            variable[t] = 0.4 * shape * np.exp(-axes["depth"] / 1000)[:, None, None]
    data.close()


def packed(folder):
    deep(folder, (1, 5, 100, 100), zlib=True, complevel=1, shuffle=True)


def parcels(folder, table):
    from parcels import AdvectionRK4, FieldSet, JITParticle, ParticleSet

    def delete(particle, fieldset, time):
        if particle.state >= 50:
            particle.delete()

    files = sorted(str(path) for path in Path(folder).glob("year_*.nc"))
    seeds = np.genfromtxt(table, delimiter=",", names=True, dtype=None, encoding="utf8")
    axes = {"lon": "longitude", "lat": "latitude", "time": "time"}
    start = time.perf_counter()
    fields = FieldSet.from_netcdf(files, {"U": "uo", "V": "vo"}, axes, mesh="spherical")
    particles = ParticleSet(fields, JITParticle, lon=seeds["x"], lat=seeds["y"])
    output = particles.ParticleFile(str(Path(folder) / "parcels.zarr"), outputdt=86400)
    begin = time.perf_counter()
    particles.execute([AdvectionRK4, delete], runtime=DAYS * 86400, dt=STEP, output_file=output, verbose_progress=False)
    end = time.perf_counter()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    steps = len(seeds) * DAYS * 86400 // STEP
    print(f"{end - begin:.1f} s of {end - start:.1f} s, at most {steps / (end - begin) / 1e6:.2f} M particle-steps/s, {memory:.0f} MiB")
    print(f"{len(particles)} of {len(seeds)} particles left")


{"write": write, "deep": deep, "packed": packed, "parcels": parcels}[sys.argv[1]](*sys.argv[2:])

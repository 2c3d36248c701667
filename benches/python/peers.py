"""burntrace from Python beside Parcels and numba by hand, in turns:

    python benches/python/peers.py parcels Arctic20_1to5Feb_2016.nc     # needs parcels==3.1.4 xarray<2025 zarr<3 numpy<2.3
    PEERS=../shared/peers python benches/python/peers.py numba          # needs numba, and the folder of numba_peer.py

`parcels`: the forecast of TOPAZ (polar stereographic, metres), 20,000 particles in the water, RK4 with steps of 600 s for 90 h in double
precision, a save every 6 h; the whole call with reading and output to memory (burntrace) or Zarr (Parcels), and its steps alone. `numba`:
100,000 particles x 200 RK4 steps in 10 frames on 64^3 nodes, single precision, final positions."""

import os
import sys
import tempfile
import time
import warnings

import burntrace as bt
import numpy as np

warnings.simplefilter("ignore")


def medians(calls, turns=3):
    """Runs calls in turns, and prints their seconds. A call returns the seconds of its steps, and its positions."""
    seconds = {name: [] for name in calls}
    results = {}
    for _ in range(turns):
        for name, call in calls.items():
            start = time.perf_counter()
            steps, results[name] = call()
            seconds[name].append((time.perf_counter() - start, steps))
    for name, of in seconds.items():
        whole, steps = np.median(of, axis=0)
        print(f"{name}: whole {whole:.2f} s, steps {steps:.2f} s ({min(of)[0]:.2f} to {max(of)[0]:.2f} s)")
    return results


def parcels(file):
    import xarray as xr
    from parcels import AdvectionRK4, FieldSet, JITParticle, ParticleFile, ParticleSet

    data = xr.open_dataset(file).isel(depth=0).load()
    x, y = data.X.values * 1000.0, data.Y.values * 1000.0
    u, v = data.u.values, data.v.values
    sea = (np.isfinite(u) & np.isfinite(v)).all(0)
    inner = sea[:-1, :-1] & sea[1:, :-1] & sea[:-1, 1:] & sea[1:, 1:]
    rng = np.random.default_rng(4)
    cells = rng.integers(0, inner.sum(), 20_000)
    j, i = (of[cells] for of in np.nonzero(inner))
    along = rng.uniform(0.05, 0.95, (2, 20_000))
    seeds = np.column_stack([x[i] + along[0] * (x[i + 1] - x[i]), y[j] + along[1] * (y[j + 1] - y[j]), 0 * along[0]])
    times = (data.time.values - data.time.values[0]) / np.timedelta64(1, "s")

    def ours():
        field = bt.grid(u, v, x=x, y=y, time=times, not_finite="land")
        tracks = bt.trace(field, seeds, t1=324_000.0, dt=600.0, save=21_600.0, precision="f64", coast="stick", device="cpu")
        return tracks.summary["trace_seconds"], tracks

    def delete(particle, fieldset, time):
        if particle.state >= 50:
            particle.delete()

    def theirs():
        given = data.assign_coords(X=x, Y=y)[["u", "v"]]
        fields = FieldSet.from_xarray_dataset(given, {"U": "u", "V": "v"}, {"lon": "X", "lat": "Y", "time": "time"}, mesh="flat")
        particles = ParticleSet(fields, JITParticle, lon=seeds[:, 0], lat=seeds[:, 1], lonlatdepth_dtype=np.float64)
        out = os.path.join(tempfile.mkdtemp(), "out.zarr")
        file = particles.ParticleFile(out, outputdt=21_600)
        start = time.perf_counter()
        # One step more: the positions of the last one are added at the start of the next.
        particles.execute([AdvectionRK4, delete], runtime=324_600, dt=600, output_file=file, verbose_progress=False)
        seconds = time.perf_counter() - start
        return seconds, out

    results = medians({"burntrace": ours, "Parcels 3.1.4": theirs})
    tracks, stored = results["burntrace"], xr.open_zarr(results["Parcels 3.1.4"])
    # Saves of particles that were deleted are missing; none has as many.
    ends = np.column_stack([stored.lon.values[:, 15], stored.lat.values[:, 15]])
    distance = np.linalg.norm(tracks.position[-1, :, :2] - ends, axis=1)[tracks.status[-1] == 1]
    distance = distance[np.isfinite(distance)]
    travelled = np.linalg.norm(tracks.position[-1] - tracks.position[0], axis=1).mean()
    print(
        f"{len(distance)} ends: distance {np.median(distance):.2g} m in the median, {distance.max():.2g} m at most, "
        f"{travelled / 1000:.1f} km travelled in the mean"
    )


def by_numba():
    sys.path.insert(0, os.environ["PEERS"])
    os.environ.setdefault("PEERS_DATA", tempfile.mkdtemp())
    import numba_peer
    import workloads

    work = workloads.w2()
    run = numba_peer.make_w2(np.float32, True)
    span = workloads.W2_T / 9
    # [times, x, y, z, component] as [times, z, y, x] for each component.
    u, v, w = (np.ascontiguousarray(work["vel"][..., i].transpose(0, 3, 2, 1)) for i in range(3))
    g = work["g"]
    field = bt.grid(u, v, w, x=g, y=g, z=g, time=work["times"])
    keys = dict(dt=work["dt"], steps=work["n"], boundary="clamp", device="cpu")

    def ours():
        tracks = bt.trace(field, work["seeds"], **keys)
        return tracks.summary["trace_seconds"], tracks.position[-1]

    def theirs():
        start = time.perf_counter()
        ends = run(work["vel"], work["seeds"], work["dt"], work["n"], span, False)
        return time.perf_counter() - start, ends

    ours(), theirs()
    results = list(medians({"burntrace": ours, "numba": theirs}, turns=5).values())
    print(f"largest difference of the ends: {np.abs(results[0] - results[1]).max():.2g}")


parcels(sys.argv[2]) if sys.argv[1] == "parcels" else by_numba()

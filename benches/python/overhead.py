"""The cost of a call from Python, and the memory of its tracks: python benches/python/overhead.py"""

import time

import burntrace as bt
import numpy as np


def memory():
    """Peak and present memory of the process in MB."""
    lines = dict(line.split(":", 1) for line in open("/proc/self/status") if line.startswith("Vm"))
    return [int(lines[name].split()[0]) / 1024 for name in ("VmHWM", "VmRSS")]


def main():
    rng = np.random.default_rng(0)
    x = np.linspace(0, 1, 64)
    u = rng.normal(size=(64, 64, 64)).astype("f4") * 0.01
    field = bt.grid(u, u, u, x=x, y=x, z=x)
    keys = dict(dt=0.01, device="cpu", boundary="reflect")
    seeds = rng.uniform(0.2, 0.8, (100, 3))
    bt.trace(field, seeds, steps=50, **keys)
    seconds = []
    for _ in range(500):
        start = time.perf_counter()
        bt.trace(field, seeds, steps=50, **keys)
        seconds.append(time.perf_counter() - start)
    print(f"100 particles x 50 steps: {1e3 * np.median(seconds):.2f} ms (median of 500)")

    seeds = rng.uniform(0.2, 0.8, (1_000_000, 3))
    peak, _ = memory()
    start = time.perf_counter()
    tracks = bt.trace(field, seeds, steps=20, save=1, **keys)
    seconds = time.perf_counter() - start
    size = sum(values.nbytes for values in tracks.arrays.values()) / 2**20
    print(f"1,000,000 particles x 21 saves: {seconds:.2f} s, arrays {size:.0f} MB, memory + {memory()[0] - peak:.0f} MB at most")


main()

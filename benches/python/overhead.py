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

    functions(keys)


def functions(keys):
    """A function of Python beside the same velocities on a grid."""
    x, y = np.linspace(0, 2, 65), np.linspace(0, 1, 33)

    def velocity(position, time):
        a, b = np.pi * position[:, 0], np.pi * position[:, 1]
        return np.column_stack([-np.sin(a) * np.cos(b), np.cos(a) * np.sin(b), 0 * a])

    nodes = np.stack(np.meshgrid(x, y), -1).reshape(-1, 2)
    u, v, _ = velocity(nodes, 0.0).T.reshape(3, 33, 65)
    fields = {"grid": (bt.grid(u, v, x=x, y=y), 200), "function": (bt.function(velocity, low=[0, 0, 0], high=[2, 1, 0]), 20)}
    for count in (100, 100_000):
        seeds = np.random.default_rng(0).uniform([0, 0], [2, 1], (count, 2))
        for name, (field, steps) in fields.items():
            bt.trace(field, seeds, steps=5, **keys)
            start = time.perf_counter()
            bt.trace(field, seeds, steps=steps, **keys)
            speed = count * steps / (time.perf_counter() - start) / 1e6
            print(f"{count} particles in a {name}: {speed:.2f} M particle-steps/s")


main()

"""The workload `inertial` as a loop by hand: heavy particles with Stokes drag in a field on 64^3 nodes with 10 frames, RK4 of position and velocity, in
single precision on all cores, with numba. Prints the best of three runs beside that of passive particles.

    python tests/peers/inertial.py && burntrace bench --devices flex --workload w2,inertial
"""
import time

import numpy as np
from numba import njit, prange

F = np.float32
NODES, FRAMES, COUNT, STEPS, DT, TAU = 64, 10, 100_000, 200, F(0.005), F(0.05)


@njit(fastmath=True, inline="always", error_model="numpy")
def sample(velocity, frame, part, x, y, z):
    m = F(NODES - 1)
    fx, fy, fz = min(max(x * m, F(0)), m), min(max(y * m, F(0)), m), min(max(z * m, F(0)), m)
    i, j, k = min(int(fx), NODES - 2), min(int(fy), NODES - 2), min(int(fz), NODES - 2)
    wx, wy, wz = fx - F(i), fy - F(j), fz - F(k)
    u = v = w = F(0)
    for later in range(2):
        wt = part if later == 1 else F(1) - part
        for di in range(2):
            wi = (wx if di == 1 else F(1) - wx) * wt
            for dj in range(2):
                wj = wi * (wy if dj == 1 else F(1) - wy)
                for dk in range(2):
                    c = wj * (wz if dk == 1 else F(1) - wz)
                    u += c * velocity[frame + later, i + di, j + dj, k + dk, 0]
                    v += c * velocity[frame + later, i + di, j + dj, k + dk, 1]
                    w += c * velocity[frame + later, i + di, j + dj, k + dk, 2]
    return u, v, w


@njit(inline="always")
def reflected(x, v):
    if x < F(0):
        return -x, -v
    if x > F(1):
        return F(2) - x, -v
    return x, v


@njit(parallel=True, fastmath=True, error_model="numpy")
def run(velocity, seeds, ends, interval, inertial):
    h, s, rate = F(0.5) * DT, DT / F(6), F(1) / TAU
    for p in prange(len(seeds)):
        x, y, z = seeds[p, 0], seeds[p, 1], seeds[p, 2]
        u, v, w = sample(velocity, 0, F(0), x, y, z)
        for step in range(STEPS):
            t = F(step) * DT
            r = t / interval
            f1 = min(int(r), FRAMES - 2)
            a1 = r - F(f1)
            r = (t + h) / interval
            f2 = min(int(r), FRAMES - 2)
            a2 = r - F(f2)
            r = (t + DT) / interval
            f3 = min(int(r), FRAMES - 2)
            a3 = min(r - F(f3), F(1))
            if inertial:
                a, b, c = sample(velocity, f1, a1, x, y, z)
                k1u, k1v, k1w = (a - u) * rate, (b - v) * rate, (c - w) * rate
                u2, v2, w2 = u + h * k1u, v + h * k1v, w + h * k1w
                a, b, c = sample(velocity, f2, a2, x + h * u, y + h * v, z + h * w)
                k2u, k2v, k2w = (a - u2) * rate, (b - v2) * rate, (c - w2) * rate
                u3, v3, w3 = u + h * k2u, v + h * k2v, w + h * k2w
                a, b, c = sample(velocity, f2, a2, x + h * u2, y + h * v2, z + h * w2)
                k3u, k3v, k3w = (a - u3) * rate, (b - v3) * rate, (c - w3) * rate
                u4, v4, w4 = u + DT * k3u, v + DT * k3v, w + DT * k3w
                a, b, c = sample(velocity, f3, a3, x + DT * u3, y + DT * v3, z + DT * w3)
                x += s * (u + F(2) * (u2 + u3) + u4)
                y += s * (v + F(2) * (v2 + v3) + v4)
                z += s * (w + F(2) * (w2 + w3) + w4)
                u += s * (k1u + F(2) * (k2u + k3u) + (a - u4) * rate)
                v += s * (k1v + F(2) * (k2v + k3v) + (b - v4) * rate)
                w += s * (k1w + F(2) * (k2w + k3w) + (c - w4) * rate)
            else:
                a1u, a1v, a1w = sample(velocity, f1, a1, x, y, z)
                a2u, a2v, a2w = sample(velocity, f2, a2, x + h * a1u, y + h * a1v, z + h * a1w)
                a3u, a3v, a3w = sample(velocity, f2, a2, x + h * a2u, y + h * a2v, z + h * a2w)
                a4u, a4v, a4w = sample(velocity, f3, a3, x + DT * a3u, y + DT * a3v, z + DT * a3w)
                x += s * (a1u + F(2) * (a2u + a3u) + a4u)
                y += s * (a1v + F(2) * (a2v + a3v) + a4v)
                z += s * (a1w + F(2) * (a2w + a3w) + a4w)
            x, u = reflected(x, u)
            y, v = reflected(y, v)
            z, w = reflected(z, w)
        ends[p, 0], ends[p, 1], ends[p, 2] = x, y, z


axis = np.linspace(0, 1, NODES)
x, y, z = np.meshgrid(axis, axis, axis, indexing="ij")
tau = 2 * np.pi
frames = [
    np.stack([np.sin(tau * z + t) + np.cos(tau * y), np.sin(tau * x) + np.cos(tau * z - t), np.sin(tau * y + t) + np.cos(tau * x)], -1)
    for t in np.linspace(0, 1, FRAMES)
]
velocity = (0.2 * np.array(frames)).astype(F)
seeds = np.random.default_rng(1).random((COUNT, 3)).astype(F)
ends = np.empty_like(seeds)
for inertial in [False, True]:
    run(velocity, seeds, ends, F(STEPS * DT / (FRAMES - 1)), inertial)
    times = []
    for _ in range(3):
        start = time.perf_counter()
        run(velocity, seeds, ends, F(STEPS * DT / (FRAMES - 1)), inertial)
        times.append(time.perf_counter() - start)
    name = "inertial" if inertial else "passive "
    print(f"{name} {COUNT * STEPS / min(times) / 1e6:.2f} M particle-steps/s")

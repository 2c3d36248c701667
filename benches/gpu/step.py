"""The workload `w2` of `burntrace bench` by hand in JAX: RK4 in a 64^3 grid of 10 frames, linear in space and time, f32.

    python3 step.py [PARTICLES] [steps | stages]

Prints the speed as the median of nine calls, and the mean end point, by which it is compared with `step.cu`. With `steps` the
stages are written out, with `stages` they are a loop of their own, which XLA fuses less.
"""

import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

NODES, FRAMES, STEPS, REPEATS = 64, 10, 200, 9
DT, FRAME_TIME = 0.01, 2.0 / (FRAMES - 1)


def velocity(x, y, z, t):
    """The flow of the workloads; see `crates/bench/src/flow.rs`."""
    tau = 2.0 * np.pi
    a = 0.5 * (1.0 + 0.3 * np.sin(tau * t / 4.0))
    b = 0.25 * (1.0 + 0.5 * np.cos(tau * t / 2.0))
    c = 0.4 * (1.0 + 0.4 * np.sin(tau * t / 3.0 + 1.0))
    u = a * np.sin(np.pi * x) * np.cos(np.pi * y) - c * np.sin(np.pi * x) * np.cos(np.pi * z)
    v = b * np.sin(tau * y) * np.cos(tau * z) - a * np.cos(np.pi * x) * np.sin(np.pi * y)
    w = c * np.cos(np.pi * x) * np.sin(np.pi * z) - b * np.cos(tau * y) * np.sin(tau * z)
    return np.stack([u, v, w, np.zeros_like(u)], -1)


def field():
    axis = np.arange(NODES) / (NODES - 1)
    z, y, x = np.meshgrid(axis, axis, axis, indexing="ij")
    frames = [velocity(x, y, z, frame * FRAME_TIME) for frame in range(FRAMES)]
    return np.stack(frames).astype(np.float32)


def seeds(count):
    """The random numbers of the workloads; see `crates/bench/src/random.rs`."""
    with np.errstate(over="ignore"):
        z = np.uint64(7) + (np.arange(3 * count, dtype=np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return (0.02 + 0.96 * ((z >> np.uint64(11)) / 2.0**53)).astype(np.float32).reshape(count, 3)


def sample(field, t, position):
    at = jnp.clip(position * (NODES - 1), 0, NODES - 1)
    cell = jnp.minimum(at.astype(jnp.int32), NODES - 2)
    part = at - cell
    (i, j, k), (x, y, z) = (jnp.moveaxis(of, 1, 0) for of in (cell, part))

    def node(frame, a, b, c):
        return field.at[frame, k + c, j + b, i + a].get(mode="promise_in_bounds")[:, :3]

    def mix(low, high, part):
        return low + part[:, None] * (high - low)

    def layer(frame, c):
        return mix(*(mix(node(frame, 0, b, c), node(frame, 1, b, c), x) for b in (0, 1)), y)

    since = jnp.minimum(t / FRAME_TIME, FRAMES - 1)
    frame = jnp.minimum(since.astype(jnp.int32), FRAMES - 2)
    low, high = (mix(layer(f, 0), layer(f, 1), z) for f in (frame, frame + 1))
    return low + (since - frame) * (high - low)


def step(field, position, number):
    t = number * DT
    a = sample(field, t, position)
    b = sample(field, t + DT / 2, position + DT / 2 * a)
    c = sample(field, t + DT / 2, position + DT / 2 * b)
    d = sample(field, t + DT, position + DT * c)
    return position + DT / 6 * (a + 2 * (b + c) + d), None


def step_of_stages(field, position, number):
    def stage(carry, parts):
        slope, total = carry
        slope = sample(field, (number + parts[0]) * DT, position + parts[0] * DT * slope)
        return (slope, total + parts[1] * slope), None

    parts = (jnp.array([0, 0.5, 0.5, 1], jnp.float32), jnp.array([1 / 6, 1 / 3, 1 / 3, 1 / 6], jnp.float32))
    zero = jnp.zeros_like(position)
    (_, total), _ = jax.lax.scan(stage, (zero, zero), parts)
    return position + DT * total, None


def main():
    count = int(float(sys.argv[1])) if len(sys.argv) > 1 else 100_000
    variant = sys.argv[2] if len(sys.argv) > 2 else "steps"
    body = {"steps": step, "stages": step_of_stages}[variant]
    numbers = jnp.arange(STEPS, dtype=jnp.float32)
    trace = jax.jit(lambda field, start: jax.lax.scan(lambda p, n: body(field, p, n), start, numbers)[0])
    values, start = jnp.asarray(field()), jnp.asarray(seeds(count))
    seconds = []
    for _ in range(REPEATS + 1):
        begin = time.perf_counter()
        end = jax.block_until_ready(trace(values, start))
        seconds.append(time.perf_counter() - begin)
    median = float(np.median(seconds[1:]))
    mean = np.asarray(end, np.float64).mean(0)
    print(f"JAX {jax.__version__} on {jax.devices()[0].device_kind}, {variant}: {count} particles x {STEPS} steps: "
          f"{1e3 * median:.3f} ms, {1e-6 * count * STEPS / median:.1f} M particle-steps/s, mean end point "
          f"{mean[0]:.6f} {mean[1]:.6f} {mean[2]:.6f}")


if __name__ == "__main__":
    main()

"""Simulates runs of many ranks on paper; `docs/guide/cluster.md` has the results.

    python3 benches/ranks.py                   balance: interleaved pieces against other ways to divide a run
    python3 benches/ranks.py files DIR         measures operations on the files of pieces in a folder
    python3 benches/ranks.py paper [KEY=VALUE ...]
                                               a large run: where the time goes, for numbers of nodes

The first prints the time until the last piece is done, relative to an even division of the work: with consecutive pieces for
each rank, with interleaved ones as `crates/cli/src/ranks` has them, and if each rank claimed the next free piece. The time of
a piece grows along the particles from 0.2 to 1.8 of the mean, as where particles end early on one side of the domain, with
a random part. In the last columns every fourth rank has half of the speed.

The last one follows each node: it draws all seeds, reads the field, and traces its pieces. A node computes and writes at the
same time; the file system writes for all nodes at its rate. At the end one node links the chunks of the pieces, joins the
last states and the table of instances. The constants are those of one machine; give others as KEY=VALUE.
"""

import heapq
import os
import random
import sys
import time


def times(pieces, seed=1):
    draw = random.Random(seed)
    return [(0.2 + 1.6 * i / pieces) * draw.uniform(0.7, 1.3) for i in range(pieces)]


def consecutive(cost, speeds):
    ranks = len(speeds)
    bounds = [rank * len(cost) // ranks for rank in range(ranks + 1)]
    return max(sum(cost[a:b]) / speed for a, b, speed in zip(bounds, bounds[1:], speeds))


def interleaved(cost, speeds):
    return max(sum(cost[rank :: len(speeds)]) / speed for rank, speed in enumerate(speeds))


def claimed(cost, speeds):
    clock = [(0.0, rank) for rank in range(len(speeds))]
    for piece in cost:
        now, rank = heapq.heappop(clock)
        heapq.heappush(clock, (now + piece / speeds[rank], rank))
    return max(clock)[0]


def balance():
    print("pieces ranks | consecutive interleaved claimed | and with slow ranks")
    for pieces, counts in [(64, (4, 16, 64)), (3815, (64, 256, 1024))]:
        cost = times(pieces)
        for ranks in counts:
            row = []
            for speeds in [[1.0] * ranks, [0.5 if rank % 4 == 0 else 1.0 for rank in range(ranks)]]:
                even = sum(cost) / sum(speeds)
                row += [f"{way(cost, speeds) / even:.2f}" for way in (consecutive, interleaved, claimed)]
            print(pieces, ranks, *row)


def files(folder, pieces=3815):
    """Seconds of one operation of each kind, on a folder with as many entries as the run has pieces."""
    root = os.path.join(folder, f"pieces.{os.getpid()}")
    path = lambda name: os.path.join(root, name)
    os.makedirs(path("links"))

    def timed(name, count, work):
        start = time.perf_counter()
        for i in range(count):
            work(i)
        print(f"{name} {(time.perf_counter() - start) / count:.2e}")

    timed("create", pieces, lambda i: os.mkdir(path(f"{i:05}")))
    timed("rename", pieces, lambda i: os.rename(path(f"{i:05}"), path(f"{i:05}.done")))
    timed("list", 50, lambda i: os.listdir(root))
    for i in range(pieces):
        open(path(f"{i:05}.done/chunk"), "w").close()
    timed("link", pieces, lambda i: os.link(path(f"{i:05}.done/chunk"), path(f"links/{i}")))
    for i in range(pieces):
        os.remove(path(f"links/{i}"))
        os.remove(path(f"{i:05}.done/chunk"))
    timed("remove", pieces, lambda i: os.rmdir(path(f"{i:05}.done")))
    os.rmdir(path("links"))
    os.rmdir(root)


# Constants, measured unless noted; the commands are in docs/guide/cluster.md.
CONSTANTS = {
    "particles": 1e9,
    "steps": 1e4,
    "saves": 100,
    "piece": 262144,  # particles of a chunk of the store
    "cores": 64,  # of a node
    "speed": 14e6,  # particle-steps per second and core
    "seed": 60e-9,  # seconds in which a node draws and locates a seed (assumed)
    "field": 4e9,  # bytes of the field, which each node reads
    "node_rate": 1e9,  # bytes per second that a node reads or writes (assumed)
    "disk_rate": 7e9,  # bytes per second of the file system, for all nodes (assumed)
    "link": 4.5e-5,
    "piece_files": 0.4,  # seconds until the files of a piece are on the disk
    "save_bytes": 13,  # of a particle in a save
    "state_bytes": 64,  # of the last state of a slot
}


def paper(given):
    of = {**CONSTANTS, **{key: float(value) for key, value in (text.split("=") for text in given)}}
    print("nodes start trace idle write join total efficiency")
    first = None
    for nodes in (1, 4, 16, 64, 256):
        parts = simulate(of, nodes)
        first = first or parts["total"] * nodes
        parts["efficiency"] = f"{first / (parts['total'] * nodes):.2f}"
        print(nodes, *(f"{part:.0f}" if isinstance(part, float) else part for part in parts.values()))


def simulate(of, nodes):
    """Seconds of the run by what the mean node does, and in all."""
    count = int(-(-of["particles"] // of["piece"]))
    compute = of["piece"] * of["steps"] / (of["speed"] * of["cores"])
    mean = sum(times(count)) / count
    cost = [compute * time / mean for time in times(count)]
    size = of["piece"] * of["saves"] * of["save_bytes"]
    rate = min(of["node_rate"], of["disk_rate"])
    load = of["field"] / min(of["node_rate"], of["disk_rate"] / nodes)
    start = of["particles"] * of["seed"] + load
    disk, writing = 0.0, 0.0
    clock = [(start, node) for node in range(nodes)]
    left = [list(range(node, count, nodes))[::-1] for node in range(nodes)]
    ends = [start] * nodes
    while clock:
        now, node = heapq.heappop(clock)
        if not left[node]:
            continue
        done = now + cost[left[node].pop()]
        disk = max(disk, now) + size / of["disk_rate"]
        written = max(disk, now + size / rate) + of["piece_files"]
        writing += max(written - done, 0.0)
        ends[node] = max(done, written)
        heapq.heappush(clock, (ends[node], node))
    end = max(ends)
    idle = sum(end - own for own in ends) / nodes
    states = 2 * of["particles"] * of["state_bytes"] / rate
    join = 2 * count * of["saves"] * of["link"] + states
    parts = [start, sum(cost) / nodes, idle, writing / nodes, join, end + join]
    return dict(zip(("start", "trace", "idle", "write", "join", "total"), parts))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["files", folder]:
            files(folder)
        case ["paper", *given]:
            paper(given)
        case _:
            balance()

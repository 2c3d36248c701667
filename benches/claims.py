"""Simulates runs of many ranks on paper; `docs/guide/cluster.md` has the results.

    python3 benches/claims.py                  share of claims: claimed pieces against fixed shares
    python3 benches/claims.py files DIR        measures the operations of claims in a folder
    python3 benches/claims.py paper [KEY=VALUE ...]
                                               a large run: where the time goes, for numbers of nodes

The first prints the time until the last piece is done, relative to an even division of the work, with claims in the
order of `crates/cli/src/ranks`, and with a fixed share of consecutive pieces for each rank. The time of a piece grows
along the particles from 0.2 to 1.8 of the mean, as where particles end early on one side of the domain, with a random
part.

The last one follows each node: it draws all seeds, reads the field, and claims pieces. A claim lists the folder of pieces and renames
an entry; one server does this for all nodes, one claim after the other. A node computes and writes at the same time; the
file system writes for all nodes at its rate. At the end one node links the chunks of the pieces, joins the last states
and the table of instances. The constants are those of one machine; give others as KEY=VALUE.
"""

import heapq
import os
import random
import sys
import time


def times(pieces, seed=1):
    draw = random.Random(seed)
    return [(0.2 + 1.6 * i / pieces) * draw.uniform(0.7, 1.3) for i in range(pieces)]


class Free:
    """The free pieces, of which a rank takes the next one from its part of the list on, around the end."""

    def __init__(self, count):
        self.next = list(range(count + 1))
        self.left = count

    def find(self, i):
        while self.next[i] != i:
            self.next[i] = self.next[self.next[i]]
            i = self.next[i]
        return i

    def take(self, rank, ranks):
        count = len(self.next) - 1
        piece = self.find(rank * count // ranks)
        piece = self.find(0) if piece == count else piece
        self.next[piece], self.left = piece + 1, self.left - 1
        return piece


def claimed(cost, ranks):
    free, end = Free(len(cost)), 0.0
    clock = [(0.0, rank) for rank in range(ranks)]
    while free.left:
        now, rank = heapq.heappop(clock)
        now += cost[free.take(rank, ranks)]
        end = max(end, now)
        heapq.heappush(clock, (now, rank))
    return end


def fixed(cost, ranks):
    bounds = [rank * len(cost) // ranks for rank in range(ranks + 1)]
    return max(sum(cost[a:b]) for a, b in zip(bounds, bounds[1:]))


def shares():
    print("pieces ranks claimed fixed")
    for pieces, counts in [(64, (4, 16, 64)), (3815, (64, 256, 1024))]:
        cost = times(pieces)
        for ranks in counts:
            even = sum(cost) / ranks
            print(pieces, ranks, f"{claimed(cost, ranks) / even:.2f} {fixed(cost, ranks) / even:.2f}")


def files(folder, pieces=3815):
    """Seconds of one operation of each kind, on a folder with as many entries as the run has pieces."""
    root = os.path.join(folder, f"claims.{os.getpid()}")
    path = lambda name: os.path.join(root, name)
    os.makedirs(path("links"))

    def timed(name, count, work):
        start = time.perf_counter()
        for i in range(count):
            work(i)
        print(f"{name} {(time.perf_counter() - start) / count:.2e}")

    timed("create", pieces, lambda i: os.mkdir(path(f"{i:05}.free")))
    timed("list", 50, lambda i: os.listdir(root))
    timed("rename", pieces, lambda i: os.rename(path(f"{i:05}.free"), path(f"{i:05}@rank")))
    for i in range(pieces):
        open(path(f"{i:05}@rank/chunk"), "w").close()
    timed("link", pieces, lambda i: os.link(path(f"{i:05}@rank/chunk"), path(f"links/{i}")))
    for i in range(pieces):
        os.remove(path(f"links/{i}"))
        os.remove(path(f"{i:05}@rank/chunk"))
    timed("remove", pieces, lambda i: os.rmdir(path(f"{i:05}@rank")))
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
    "list": 3e-3,  # seconds to list the pieces
    "rename": 4.5e-5,
    "link": 4.5e-5,
    "piece_files": 0.4,  # seconds until the files of a piece are on the disk
    "save_bytes": 13,  # of a particle in a save
    "state_bytes": 64,  # of the last state of a slot
}


def paper(given):
    of = {**CONSTANTS, **{key: float(value) for key, value in (text.split("=") for text in given)}}
    print("nodes start trace claims idle write join total efficiency")
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
    free, server, disk = Free(count), 0.0, 0.0
    clock = [(start, node) for node in range(nodes)]
    ends, traced, claims, writing = [0.0] * nodes, 0.0, 0.0, 0.0
    while free.left:
        now, node = heapq.heappop(clock)
        # The server lists the folder and renames for one node after the other.
        server = max(server, now) + of["list"] + 2 * of["rename"]
        claims += server - now
        piece = free.take(node, nodes)
        done = server + cost[piece]
        disk = max(disk, server) + size / of["disk_rate"]
        written = max(disk, server + size / rate) + of["piece_files"]
        traced += cost[piece]
        writing += max(written - done, 0.0)
        ends[node] = max(done, written)
        heapq.heappush(clock, (ends[node], node))
    end = max(ends)
    idle = sum(end - max(own, start) for own in ends) / nodes
    states = 2 * of["particles"] * of["state_bytes"] / rate
    join = 2 * count * of["saves"] * of["link"] + states
    parts = [start, traced / nodes, claims / nodes, idle, writing / nodes, join, end + join]
    return dict(zip(("start", "trace", "claims", "idle", "write", "join", "total"), parts))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["files", folder]:
            files(folder)
        case ["paper", *given]:
            paper(given)
        case _:
            shares()

"""Simulates the order in which ranks claim the pieces of a run: python3 benches/claims.py

Prints for several numbers of ranks the time until the last piece is done, relative to an even division of the work,
with claims in the order of `crates/cli/src/ranks`, and with a fixed share of consecutive pieces for each rank. The time
of a piece grows along the particles from 0.2 to 1.8 of the mean, as where particles end early on one side of the
domain, with a random part.
"""

import heapq
import random


def times(pieces, seed=1):
    draw = random.Random(seed)
    return [(0.2 + 1.6 * i / pieces) * draw.uniform(0.7, 1.3) for i in range(pieces)]


def claimed(cost, ranks):
    """Each rank starts at its part of the list, and takes the next free piece, around the end."""
    next_free = list(range(len(cost) + 1))  # union-find: the next free piece at or after an index

    def find(i):
        while next_free[i] != i:
            next_free[i] = next_free[next_free[i]]
            i = next_free[i]
        return i

    clock = [(0.0, rank) for rank in range(ranks)]
    heapq.heapify(clock)
    end, left = 0.0, len(cost)
    while left:
        now, rank = heapq.heappop(clock)
        piece = find(rank * len(cost) // ranks)
        piece = find(0) if piece == len(cost) else piece
        next_free[piece], left = piece + 1, left - 1
        end = max(end, now + cost[piece])
        heapq.heappush(clock, (now + cost[piece], rank))
    return end


def fixed(cost, ranks):
    bounds = [rank * len(cost) // ranks for rank in range(ranks + 1)]
    return max(sum(cost[a:b]) for a, b in zip(bounds, bounds[1:]))


if __name__ == "__main__":
    print("pieces ranks claimed fixed")
    for pieces, counts in [(64, (4, 16, 64)), (3815, (64, 256, 1024))]:
        cost = times(pieces)
        for ranks in counts:
            even = sum(cost) / ranks
            print(pieces, ranks, f"{claimed(cost, ranks) / even:.2f} {fixed(cost, ranks) / even:.2f}")

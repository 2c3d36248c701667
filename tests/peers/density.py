"""Reference densities of scipy.stats.gaussian_kde.

    python tests/peers/density.py [FOLDER]           write the fixture
    python tests/peers/density.py --check [FOLDER]   compare an existing fixture with new values
    python tests/peers/density.py --time             time SciPy, for docs/guide/density.md

FOLDER defaults to tests/data/density. Needs the `scipy` and `numpy` packages. `scipy.json` has a record for
each case: positions [n][3], active axes, optional weights, the factor (`scott`, `silverman` or a number), and
SciPy's results: the covariance matrix of the kernel, and the density at points [m][3].
"""

import json
import pathlib
import sys
import time

import numpy as np
import scipy
from scipy.stats import gaussian_kde

AXES = {"x": [0], "yz": [1, 2], "xyz": [0, 1, 2]}
FACTORS = ["scott", "silverman", 0.4]


def case(random, axes, factor, weighted):
    # Coordinates that are exact in single precision.
    skew = np.array([[1.0, 0.4, -0.3], [0.0, 0.5, 0.2], [0.0, 0.0, 2.0]])
    positions = (random.normal(size=(40, 3)) @ skew).astype(np.float32).astype(float)
    points = (random.normal(size=(12, 3)) @ skew).astype(np.float32).astype(float)
    weights = np.round(random.uniform(0.1, 2.0, size=40), 3) if weighted else None
    kde = gaussian_kde(positions[:, AXES[axes]].T, bw_method=factor, weights=weights)
    return {
        "axes": axes,
        "factor": factor,
        "positions": positions.tolist(),
        "weights": None if weights is None else weights.tolist(),
        "points": points.tolist(),
        "covariance": kde.covariance.tolist(),
        "density": kde(points[:, AXES[axes]].T).tolist(),
    }


def cases():
    random = np.random.default_rng(5)
    return [
        case(random, axes, factor, weighted)
        for axes in AXES
        for factor in FACTORS
        for weighted in (False, True)
    ]


def measure():
    random = np.random.default_rng(1)
    for count, side in [(10_000, 32), (20_000, 32), (10_000, 48)]:
        kde = gaussian_kde(random.normal(size=(3, count)))
        axis = np.linspace(-5, 5, side)
        nodes = np.stack(np.meshgrid(axis, axis, axis)).reshape(3, -1)
        start = time.perf_counter()
        kde(nodes)
        seconds = time.perf_counter() - start
        pairs = count * side**3
        print(f"{count} particles, {side}^3 nodes: {seconds:.2f} s, {pairs / seconds:.3g} pairs/s")


def main(arguments):
    if "--time" in arguments:
        print(f"scipy {scipy.__version__}, numpy {np.__version__}")
        return measure()
    folder = pathlib.Path(next((a for a in arguments if not a.startswith("-")), "tests/data/density"))
    file = folder / "scipy.json"
    record = {"scipy": scipy.__version__, "cases": cases()}
    if "--check" in arguments:
        before = json.loads(file.read_text())["cases"]
        for old, new in zip(before, record["cases"], strict=True):
            for key in ("covariance", "density"):
                np.testing.assert_allclose(old[key], new[key], rtol=1e-10)
            assert all(old[key] == new[key] for key in ("axes", "factor", "positions", "points"))
        return print(f"{len(before)} cases match scipy {scipy.__version__}")
    folder.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(record, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

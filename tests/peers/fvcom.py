"""What numpy makes of a file of FVCOM: centres and velocities of wedges between sigma levels.

    pip install numpy netCDF4
    python tests/peers/fvcom.py file.nc

The first line has the numbers of cells and of edges of one triangle only; another one a cell, counted layer by layer from the bottom upward, the mean
of its corners, and its velocity at the first and the last time.
"""

import sys

import netCDF4
import numpy as np

of = {name: variable[:].astype(float) for name, variable in netCDF4.Dataset(sys.argv[1]).variables.items()
      if name in ("lon", "lat", "h", "siglev", "nv", "u", "v")}
layers, faces = of["u"].shape[1:]
corners = of["nv"].T.astype(int) - 1
z = of["siglev"] * of["h"]
random = np.random.default_rng(20261126)
edges = np.sort(np.concatenate([corners[:, [a, b]] for a, b in ((0, 1), (1, 2), (2, 0))]))
print(layers * faces, (np.unique(edges, axis=0, return_counts=True)[1] == 1).sum())
for cell in np.sort(random.choice(layers * faces, 200, replace=False)):
    layer, face = layers - 1 - cell // faces, cell % faces
    nodes = corners[face]
    center = of["lon"][nodes].mean(), of["lat"][nodes].mean(), z[layer : layer + 2, nodes].mean()
    values = [of[name][time, layer, face] for time in (0, -1) for name in "uv"]
    print(cell, *(repr(float(number)) for number in (*center, *values)))

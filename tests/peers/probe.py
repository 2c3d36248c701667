"""Reference velocities of vtkProbeFilter in meshes, at random points.

    python tests/peers/probe.py [FOLDER] [DATA]      write the fixtures
    python tests/peers/probe.py --check [FOLDER] [DATA]
                                                     compare existing fixtures with new values

FOLDER defaults to tests/data/peers/probe, DATA (with blood_vessels/ and kitchen.vtk) to ../shared/data. Needs
the `vtk` and `numpy` packages. Each data set is sampled at 10,000 points: random parametric coordinates from
0.01 to 0.99 in random cells, with positions rounded to single precision. `NAME.npy` holds a row
`x, y, z, u, v, w` of f32 for each point; the velocities are those of vtkProbeFilter.

    blood    blood_vessels/T0000000500.pvtu: voxels, velocity in the cells
    kitchen  kitchen.vtk: a structured grid, velocity at the points
    mixed    mixed.vtu, written by this script: hexahedra, wedges, pyramids and tetrahedra with
                 matching faces and displaced nodes, velocity at the points

VTK's probe is not exact everywhere, so each of its velocities is compared with an interpolation whose weights
reproduce the position to 1e-13, in the cell from which the point was drawn:

* VTK stops Newton's method at a step of 0.001, which leaves an error of 5e-9 of the maximum speed here.
* A probe accepts any cell within a tolerance, by default sqrt(0.001) of the size of the mesh, and
  extrapolates from it. Here the tolerance is zero.
* That is not sufficient for wedges and pyramids: VTK seeks their nearest point in the cube of parametric
  coordinates, so a position with r + s > 1 has distance zero from a wedge. VTK's default locator
  (vtkJumpAndWalkCellLocator) misses some positions; vtkStaticCellLocator does not.

Points for which the probe takes another cell are replaced; the script prints their number.
"""

import argparse
import pathlib
import sys

import numpy as np
import vtk
from vtk.util.numpy_support import numpy_to_vtk, vtk_to_numpy

COUNT = 10_000
# Relative to the maximum speed.
BOUND = 1e-5
EXACT = BOUND / 5
HERE = pathlib.Path(__file__).resolve().parent
FIXTURES = HERE.parent / "data" / "peers" / "probe"
DATA = HERE.parents[1].parent / "shared" / "data"

HEXAHEDRON = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
# A hexahedron cut along y: two wedges with triangles at its ends in y.
WEDGES = [(0, 1, 4, 3, 2, 7), (1, 5, 4, 2, 6, 7)]
# The faces of a hexahedron; each forms a pyramid with the centre.
FACES = [(0, 1, 2, 3), (4, 7, 6, 5), (0, 4, 5, 1), (3, 2, 6, 7), (0, 3, 7, 4), (1, 5, 6, 2)]
COLUMNS = 4
LAYERS = ["hexahedra", "wedges", "hexahedra", "pyramids", "to tetrahedra", "tetrahedra"]


class Mixed:
    """The mixed mesh: a box of COLUMNS x COLUMNS x len(LAYERS) hexahedra, cut into other cells."""

    def __init__(self):
        self.random = np.random.default_rng(9)
        self.numbers, self.points, self.cells = {}, [], []
        for k, layer in enumerate(LAYERS):
            for j in range(COLUMNS):
                for i in range(COLUMNS):
                    self.cut(layer, np.array([i, j, k]))

    def node(self, place):
        """The index of a node by its position in half edges; interior nodes are displaced."""
        key = tuple(int(x) for x in place)
        if key not in self.numbers:
            self.numbers[key] = len(self.points)
            size = 2 * np.array([COLUMNS, COLUMNS, len(LAYERS)])
            within = (np.array(key) > 0) & (np.array(key) < size)
            move = self.random.uniform(-0.15, 0.15, 3) * within
            self.points.append(np.array(key) / 2 + move)
        return self.numbers[key]

    def cut(self, layer, at):
        corners = [self.node(2 * (at + np.array(corner))) for corner in HEXAHEDRON]
        if layer == "hexahedra":
            self.cells.append((vtk.VTK_HEXAHEDRON, corners))
            return
        if layer == "wedges":
            for wedge in WEDGES:
                self.cells.append((vtk.VTK_WEDGE, [corners[k] for k in wedge]))
            return
        centre = self.node(2 * at + 1)
        for face in FACES:
            nodes = [corners[k] for k in face]
            lower = face == FACES[0]
            if layer == "pyramids" or (layer == "to tetrahedra" and lower):
                self.cells.append((vtk.VTK_PYRAMID, nodes + [centre]))
                continue
            # Cut through the node with the lowest position, so that neighbours agree.
            places = [tuple(at + np.array(HEXAHEDRON[k])) for k in face]
            first = places.index(min(places))
            a, b, c, d = nodes[first:] + nodes[:first]
            self.cells.append((vtk.VTK_TETRA, [a, b, c, centre]))
            self.cells.append((vtk.VTK_TETRA, [a, c, d, centre]))

    def grid(self):
        places = np.array(self.points, dtype=np.float32)
        points = vtk.vtkPoints()
        points.SetData(numpy_to_vtk(places, deep=True))
        grid = vtk.vtkUnstructuredGrid()
        grid.SetPoints(points)
        for code, nodes in self.cells:
            grid.InsertNextCell(code, len(nodes), nodes)
        x, y, z = places.astype(float).T
        velocity = np.stack(
            [
                np.sin(1.3 * y + 0.4) * np.cos(0.9 * z) - 0.3,
                np.sin(1.1 * z + 0.2 * x * x) + 0.2,
                np.cos(1.2 * x) * np.sin(0.8 * y * z / 4),
            ],
            axis=1,
        )
        named = numpy_to_vtk(velocity.astype(np.float32), deep=True)
        named.SetName("velocity")
        grid.GetPointData().SetVectors(named)
        return grid


def read(reader, path):
    reader.SetFileName(str(path))
    reader.Update()
    return reader.GetOutput()


def inside(random, code):
    """Random parametric coordinates in a cell, away from its faces."""
    sums = {vtk.VTK_TETRA: 3, vtk.VTK_WEDGE: 2}.get(code, 0)
    while True:
        place = random.uniform(0.01, 0.99, 3)
        if place[:sums].sum() < 0.99:
            return place


def weights(cell, place):
    values = [0.0] * cell.GetNumberOfPoints()
    cell.InterpolateFunctions(list(place), values)
    return np.array(values)


def slopes(cell, place):
    values = [0.0] * (3 * cell.GetNumberOfPoints())
    cell.InterpolateDerivs(list(place), values)
    return np.array(values).reshape(3, -1)


def nodes_of(cell):
    return np.array([cell.GetPoints().GetPoint(k) for k in range(cell.GetNumberOfPoints())])


def solve(cell, place, target):
    """Parametric coordinates of a position by Newton's method, to rounding."""
    nodes = nodes_of(cell)
    place = np.array(place)
    size = np.ptp(nodes, axis=0).max()
    for _ in range(50):
        off = weights(cell, place) @ nodes - target
        if np.abs(off).max() <= 1e-14 * (size + np.abs(target).max()):
            break
        place = place - np.linalg.solve((slopes(cell, place) @ nodes).T, off)
    # The weights reproduce the position, so the coordinates are correct.
    assert np.abs(weights(cell, place) @ nodes - target).max() <= 1e-13 * (size + np.abs(target).max())
    return place


def points_in(grid, seed):
    """Random points in random cells: positions, and the cell and coordinates of each.

    Rounding to single precision moves a point by less than 1e-4 of a cell here. Returns a few more
        points than needed.
    """
    random = np.random.default_rng(seed)
    positions, cells, coordinates = [], [], []
    for number in random.integers(grid.GetNumberOfCells(), size=COUNT + COUNT // 100):
        cell = grid.GetCell(int(number))
        place = inside(random, cell.GetCellType())
        exact = weights(cell, place) @ nodes_of(cell)
        positions.append(exact.astype(np.float32))
        cells.append(int(number))
        coordinates.append(place)
    return np.array(positions), np.array(cells), np.array(coordinates)


def probe(grid, positions):
    """Results of vtkProbeFilter: velocities, and the cell of each point (-1 for none)."""
    numbers = numpy_to_vtk(np.arange(grid.GetNumberOfCells(), dtype=np.int32), deep=True)
    numbers.SetName("cell")
    grid.GetCellData().AddArray(numbers)
    points = vtk.vtkPoints()
    points.SetData(numpy_to_vtk(positions.astype(np.float32), deep=True))
    where = vtk.vtkPolyData()
    where.SetPoints(points)
    filter = vtk.vtkProbeFilter()
    filter.SetInputData(where)
    filter.SetSourceData(grid)
    filter.SetCellLocator(vtk.vtkStaticCellLocator())
    filter.ComputeToleranceOff()
    filter.SetTolerance(0.0)
    filter.Update()
    found = filter.GetOutput().GetPointData()
    is_valid = vtk_to_numpy(found.GetArray("vtkValidPointMask")) != 0
    cells = np.where(is_valid, vtk_to_numpy(found.GetArray("cell")), -1)
    return vtk_to_numpy(found.GetArray("velocity")).astype(np.float32), cells


def exactly(grid, positions, cells, coordinates):
    """Velocities in the original cells of the points, by shape functions, in f64."""
    at_points = grid.GetPointData().GetArray("velocity")
    if at_points is None:
        return vtk_to_numpy(grid.GetCellData().GetArray("velocity")).astype(float)[cells]
    values = vtk_to_numpy(at_points).astype(float)
    velocities = []
    for position, number, start in zip(positions.astype(float), cells, coordinates):
        cell = grid.GetCell(int(number))
        nodes = [cell.GetPointId(k) for k in range(cell.GetNumberOfPoints())]
        velocities.append(weights(cell, solve(cell, start, position)) @ values[nodes])
    return np.array(velocities)


def fixture(name, grid, seed):
    """Points and velocities; prints the deviation of VTK from the shape functions."""
    positions, cells, coordinates = points_in(grid, seed)
    velocities, found = probe(grid, positions)
    own = np.flatnonzero(found == cells)[:COUNT]
    assert len(own) == COUNT, f"{name}: VTK finds the cells of only {len(own)} points"
    others, nowhere = (found != cells).sum(), (found < 0).sum()
    positions, cells, coordinates, velocities = (
        each[own] for each in (positions, cells, coordinates, velocities)
    )
    exact = exactly(grid, positions, cells, coordinates)
    largest = np.linalg.norm(exact, axis=1).max()
    off = np.abs(velocities - exact).max(axis=1) / largest
    kinds = np.array([grid.GetCellType(int(number)) for number in cells])
    print(
        f"{name}: {grid.GetNumberOfCells()} cells, {COUNT} points, maximum speed {largest:.6g}; "
        f"{others} points replaced, of which VTK finds no cell for {nowhere}"
    )
    for code in np.unique(kinds):
        of_kind = off[kinds == code]
        kind = vtk.vtkCellTypeUtilities.GetClassNameFromTypeId(int(code))
        print(
            f"    {kind}: {len(of_kind)} points, maximum error of VTK {of_kind.max():.2e} of the "
            f"maximum speed, median {np.median(of_kind):.1e}"
        )
    assert off.max() <= EXACT, f"{name}: the error of VTK is {off.max():.2e}"
    return np.hstack([positions, velocities]).astype("<f4")


def data_sets(folder, data, is_new):
    mixed = folder / "mixed.vtu"
    if is_new:
        writer = vtk.vtkXMLUnstructuredGridWriter()
        writer.SetFileName(str(mixed))
        writer.SetInputData(Mixed().grid())
        writer.SetCompressorTypeToZLib()
        writer.SetDataModeToBinary()
        assert writer.Write() == 1
    yield "mixed", read(vtk.vtkXMLUnstructuredGridReader(), mixed)
    blood = data / "blood_vessels" / "T0000000500.pvtu"
    yield "blood", read(vtk.vtkXMLPUnstructuredGridReader(), blood)
    yield "kitchen", read(vtk.vtkStructuredGridReader(), data / "kitchen.vtk")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("folder", nargs="?", type=pathlib.Path, default=FIXTURES)
    arguments.add_argument("data", nargs="?", type=pathlib.Path, default=DATA)
    arguments.add_argument("--check", action="store_true")
    given = arguments.parse_args()
    print(f"VTK {vtk.vtkVersion().GetVTKVersion()}")
    for seed, (name, grid) in enumerate(data_sets(given.folder, given.data, not given.check)):
        made = fixture(name, grid, seed)
        path = given.folder / f"{name}.npy"
        if given.check:
            there = np.load(path)
            largest = np.linalg.norm(made[:, 3:], axis=1).max()
            assert np.array_equal(there[:, :3], made[:, :3]), f"{path}: other points"
            off = np.abs(there[:, 3:] - made[:, 3:]).max() / largest
            assert off <= 1e-7, f"{path}: velocities differ by {off:.2e} of the maximum speed"
            print(f"    {path.name} is up to date")
        else:
            np.save(path, made)


if __name__ == "__main__":
    sys.exit(main())

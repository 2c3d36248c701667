"""Points and cells in arrays, and meshes of VTK."""

import pickle

import burntrace as bt
import numpy as np
import pytest

RNG = np.random.default_rng(8)
# The corners of a cube around the origin, and its centre: a mesh of 12 tetrahedra.
CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
POINTS = np.vstack([CORNERS, [[0, 0, 0]]])
FACES = [[0, 1, 3, 2], [4, 5, 7, 6], [0, 1, 5, 4], [2, 3, 7, 6], [0, 2, 6, 4], [1, 3, 7, 5]]
TETRA = np.array([[a, b, c, 8] for face in FACES for a, b, c in ((face[0], face[1], face[2]), (face[0], face[2], face[3]))])


def rotation(points):
    return np.column_stack([-points[:, 1], points[:, 0], 0 * points[:, 0]])


def turned(seeds, angle):
    x, y, z = seeds.T
    sin, cos = np.sin(angle), np.cos(angle)
    return np.column_stack([cos * x - sin * y, sin * x + cos * y, z])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_tetrahedra_are_exact_for_linear_functions(dtype):
    seeds = RNG.uniform(-0.5, 0.5, (50, 3))
    field = bt.cells(POINTS, TETRA, rotation(POINTS).astype(dtype))
    for field in (field, pickle.loads(pickle.dumps(field))):
        tracks = bt.trace(field, seeds, t1=1.0, dt=0.01, precision="f64")
        np.testing.assert_allclose(tracks.position[-1], turned(seeds, 1.0), atol=1e-9)
    assert tracks.counts() == {"active": 50} and not (tracks.arrays.get("mesh_cell", -1) != -1).any()
    keys = dict(drift=[1.0, 0.0, 0.0], low=[-2] * 3, high=[2] * 3)
    ended = bt.trace(field, [[0.9, 0.0, 0.0]], t1=1.0, dt=0.01, **keys)
    assert ended.counts() == {"left_the_mesh": 1} and ended.mesh_cell[0] >= 0


def test_frames_of_cells_and_arrays():
    velocity = np.stack([rotation(POINTS), 3 * rotation(POINTS)])
    arrays = {"T": np.stack([POINTS[:, 0], POINTS[:, 0] + 1]), "tau": np.zeros((2, 9, 3))}
    field = bt.cells(POINTS, TETRA, velocity, time=[0.0, 1.0], arrays=arrays)
    seeds = RNG.uniform(-0.5, 0.5, (10, 3))
    tracks = bt.trace(field, seeds, dt=0.01, save=50, precision="f64", fields=["T"])
    # The angle is the integral of 1 + 2 t.
    for t, position, temperature in zip(tracks.time, tracks.position, tracks.T):
        np.testing.assert_allclose(position, turned(seeds, t + t**2), atol=1e-7)
        np.testing.assert_allclose(temperature, position[:, 0] + t, atol=1e-12)
    both = bt.trace(field, seeds, dt=0.1, fields=["T", "tau"])
    assert both.tau.shape == (1, 10, 3)


def test_values_in_cells_and_cells_of_a_plane():
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], float)
    seeds = [[0.6, 0.2], [0.2, 0.6]]
    in_cells = bt.cells(square, [[0, 1, 2], [0, 2, 3]], [[0.1, 0.0], [0.0, 0.2]])
    tracks = bt.trace(in_cells, seeds, t1=1.0, dt=0.1)
    np.testing.assert_allclose(tracks.position[-1, :, :2], [[0.7, 0.2], [0.2, 0.8]], atol=1e-6)
    quad = bt.cells(square, [[0, 1, 2, 3]], np.full((4, 2), 0.1))
    tracks = bt.trace(quad, seeds, t1=1.0, dt=0.1, mesh_wall="slide")
    np.testing.assert_allclose(tracks.position[-1, :, :2], [[0.7, 0.3], [0.3, 0.7]], atol=1e-6)
    mixed = bt.cells(
        np.vstack([square, [[2, 0]]]), [0, 1, 2, 3, 1, 4, 2], np.full((5, 2), 0.1), types=[9, 5], offsets=[0, 4, 7]
    )
    np.testing.assert_allclose(bt.trace(mixed, [[0.95, 0.2]], t1=1.0, dt=0.1).position[-1, 0, :2], [1.05, 0.3], atol=1e-6)


def test_nearest_points():
    points, seeds = RNG.uniform(0, 1, (200, 3)), RNG.uniform(0.3, 0.7, (20, 3))
    velocity = RNG.normal(size=(2, 200, 3)) * 0.3
    tracks = bt.trace(bt.points(points, velocity, time=[0, 1]), seeds, dt=0.05, scheme="euler", save=1, precision="f64")
    position = seeds.copy()
    for step in range(20):
        nearest = np.linalg.norm(position[:, None] - points, axis=2).argmin(1)
        at = 0.05 * step
        position = position + 0.05 * ((1 - at) * velocity[0, nearest] + at * velocity[1, nearest])
        inside = tracks.status[step + 1] == 1
        np.testing.assert_allclose(tracks.position[step + 1, inside], position[inside], atol=1e-12)
    assert inside.sum() >= 15
    mean = bt.points(points, np.ones((200, 3)) * 0.1, interpolation="inverse-distance", neighbours=4)
    np.testing.assert_allclose(bt.trace(mean, seeds, t1=1.0, dt=0.1).position[-1], seeds + 0.1, atol=1e-6)


def test_gradients_by_values_at_points_of_cells():
    seeds = np.array([[0.3, 0.1, 0.2]])
    weights = np.array([[[0.3, -0.7, 0.2]]])
    values = rotation(POINTS)[None].copy()
    keys = dict(t1=1.0, dt=0.1, precision="f64")

    def end(values):
        return (weights * bt.trace(bt.cells(POINTS, TETRA, values, time=[0.0], outside_time="hold"), seeds, **keys).position).sum()

    _, pull = bt.vjp(bt.cells(POINTS, TETRA, values, time=[0.0], outside_time="hold"), seeds, wrt="values", **keys)
    gradient = pull(weights)["values"]
    assert gradient.shape == (1, 9, 3)
    for place in [(0, 8, 0), (0, 8, 1), (0, 5, 2), (0, 7, 0)]:
        moved = [values.copy(), values.copy()]
        moved[0][place] += 1e-6
        moved[1][place] -= 1e-6
        assert gradient[place] == pytest.approx((end(moved[0]) - end(moved[1])) / 2e-6, abs=1e-8)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: bt.cells(POINTS, TETRA, np.zeros((5, 3))), r"`velocity` has the shape \(5, 3\); give 9 or 12 values"),
        (lambda: bt.cells(POINTS, TETRA, np.zeros((9, 3)), types=7), "the type 7"),
        (lambda: bt.cells(POINTS, TETRA * 1.0, np.zeros((9, 3))), "connectivity"),
        (lambda: bt.cells(POINTS, TETRA[:, :2], np.zeros((9, 3))), "cells of 2 points need `types`"),
        (lambda: bt.cells(POINTS, TETRA.ravel(), np.zeros((9, 3))), "offsets"),
        (lambda: bt.cells(POINTS, TETRA - 1, np.zeros((9, 3))), "numbered from 0"),
        (lambda: bt.points(POINTS, np.zeros((2, 9, 3)), time=[0, 1, 2]), r"3 times, 9 values"),
        (lambda: bt.points(POINTS, np.zeros((9, 4))), "4 components"),
    ],
)
def test_invalid_arrays_are_refused(make, text):
    with pytest.raises(bt.InvalidCase, match=text):
        make()


def test_what_only_a_run_can_know_is_refused():
    outside = bt.cells(POINTS, TETRA + 1, np.zeros((9, 3)))
    with pytest.raises(bt.InvalidCase, match="9"):
        bt.trace(outside, [[0, 0, 0]], t1=1.0, dt=0.1)
    field = bt.points(POINTS, np.zeros((2, 9, 3)), time=[1, 0])
    with pytest.raises(bt.InvalidCase, match="increas"):
        bt.trace(field, [[0, 0, 0]], dt=0.1)
    field = bt.points(POINTS, np.zeros((9, 3)))
    with pytest.raises(bt.InvalidCase, match="no array of this name"):
        bt.trace(field, [[0, 0, 0]], t1=1.0, dt=0.1, fields=["T"])
    with pytest.raises(bt.InvalidCase, match="mesh"):
        bt.trace(field, [[0, 0, 0]], t1=1.0, dt=0.1, mesh_wall="slide")
    with pytest.raises(bt.InvalidCase, match="not finite"):
        bt.trace(bt.points(POINTS, np.full((9, 3), np.nan)), [[0, 0, 0]], t1=1.0, dt=0.1)


def test_meshes_of_vtk():
    pytest.importorskip("vtk")
    from vtkmodules.util.numpy_support import numpy_to_vtk
    from vtkmodules.vtkCommonCore import vtkPoints
    from vtkmodules.vtkCommonDataModel import VTK_TETRA, vtkUnstructuredGrid

    grid, of_grid = vtkUnstructuredGrid(), vtkPoints()
    of_grid.SetData(numpy_to_vtk(POINTS, deep=1))
    grid.SetPoints(of_grid)
    for cell in TETRA.tolist():
        grid.InsertNextCell(VTK_TETRA, 4, cell)
    velocity = numpy_to_vtk(rotation(POINTS), deep=1)
    velocity.SetName("velocity")
    grid.GetPointData().AddArray(velocity)
    seeds = RNG.uniform(-0.5, 0.5, (10, 3))
    of_vtk = bt.trace(bt.mesh(grid), seeds, t1=1.0, dt=0.1)
    of_arrays = bt.trace(bt.cells(POINTS, TETRA, rotation(POINTS)), seeds, t1=1.0, dt=0.1)
    np.testing.assert_array_equal(of_vtk.position, of_arrays.position)
    still = bt.mesh([grid, grid], time=[0.0, 5.0])
    assert bt.trace(still, seeds, dt=0.1, mesh_wall="slide").time[-1] == 5.0

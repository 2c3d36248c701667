"""Speed in cells of each type: the same flow at the same nodes, divided into different cells.

    python benches/python/cells.py PROGRAM [PROGRAM ..]

writes meshes and case files to a temporary folder, runs each case with each program in turns, and prints the median of
the speeds in millions of particle-steps per second. Needs numpy and vtk.
"""

import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import vtk
from vtk.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray

TURNS = 5
CUBES, SQUARES = 48, 330
CASE = """
[field]
files = "{name}.vtu"
velocity = "velocity"
interpolation = "mesh"
[seeds]
kind = "uniform"
count = 20000
seed = 1
low = [0.05, 0.05, {low}]
high = [0.95, 0.95, {high}]
[trace]
t0 = 0.0
dt = 0.01
steps = 400
[boundary]
mesh = "{wall}"
[save]
report = "never"
"""


def lattice(counts):
    """The nodes of a unit box, whose inner ones are displaced, and the numbers of the nodes of its boxes."""
    axes = [np.linspace(0, 1, n + 1) for n in counts]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, len(counts))
    inner = np.all((points > 1e-9) & (points < 1 - 1e-9), axis=1)
    moved = points.copy()
    shift = np.random.default_rng(1).random((inner.sum(), len(counts))) - 0.5
    moved[inner] += 0.3 * shift / counts[0]
    numbers = np.arange(len(points)).reshape([n + 1 for n in counts])
    corner = lambda offset: numbers[tuple(slice(o, n + o) for o, n in zip(offset, counts))].ravel()
    ring = [(0, 0), (1, 0), (1, 1), (0, 1)]
    offsets = ring if len(counts) == 2 else [(i, j, k) for k in (0, 1) for i, j in ring]
    return points, moved, np.stack([corner(offset) for offset in offsets], 1)


def velocity(points, leaves):
    """A flow that no wall stops, or one that presses particles against the walls."""
    angles = np.pi * points.T
    if leaves:
        x, y, z = 2 * angles
        return 0.3 * np.stack([np.sin(z) + np.cos(y), np.sin(x) + np.cos(z), np.sin(y) + np.cos(x)], 1)
    sine, cosine = np.sin(angles), np.cos(angles)
    if len(angles) == 2:
        flow = [sine[0] * cosine[1], -cosine[0] * sine[1], 0 * sine[0]]
    else:
        flow = [
            sine[0] * cosine[1] * cosine[2],
            cosine[0] * sine[1] * cosine[2],
            -2 * cosine[0] * cosine[1] * sine[2],
        ]
    return 0.5 * np.stack(flow, 1)


def write(folder, name, points, flow, cells, wall="slide"):
    """A mesh of groups of cells, each of a VTK type, and its case file."""
    is_flat = points.shape[1] == 2
    mesh, nodes = vtk.vtkUnstructuredGrid(), vtk.vtkPoints()
    points = np.pad(points, ((0, 0), (0, 1))) if is_flat else points
    nodes.SetData(numpy_to_vtk(points.astype("f4"), deep=1))
    mesh.SetPoints(nodes)
    sizes = np.concatenate([np.full(len(group), group.shape[1]) for _, group in cells])
    connectivity = np.concatenate([group.ravel() for _, group in cells])
    array = vtk.vtkCellArray()
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    array.SetData(*(numpy_to_vtkIdTypeArray(x.astype("i8"), deep=1) for x in (offsets, connectivity)))
    types = np.concatenate([np.full(len(group), kind, dtype="u1") for kind, group in cells])
    mesh.SetCells(numpy_to_vtk(types, deep=1), array)
    values = numpy_to_vtk(flow.astype("f4"), deep=1)
    values.SetName("velocity")
    mesh.GetPointData().AddArray(values)
    writer = vtk.vtkXMLUnstructuredGridWriter()
    writer.SetFileName(str(folder / f"{name}.vtu"))
    writer.SetInputData(mesh)
    writer.Write()
    low, high = (0.0, 0.0) if is_flat else (0.05, 0.95)
    (folder / f"{name}.toml").write_text(CASE.format(name=name, low=low, high=high, wall=wall))


def meshes(folder):
    """Writes all meshes; returns their names."""
    straight, moved, cubes = lattice([CUBES] * 3)
    flow, pressing = velocity(straight, False), velocity(straight, True)
    wedges = np.concatenate([cubes[:, [0, 1, 2, 4, 5, 6]], cubes[:, [0, 2, 3, 4, 6, 7]]])
    paths = [(0, 1, 2, 6), (0, 2, 3, 6), (0, 3, 7, 6), (0, 7, 4, 6), (0, 4, 5, 6), (0, 5, 1, 6)]
    tetrahedra = np.concatenate([cubes[:, path] for path in paths])
    columns = np.arange(len(cubes)) // CUBES
    odd = (columns // CUBES + columns % CUBES) // 6 % 2 == 1
    mixed = [(12, cubes[~odd]), (13, wedges[np.concatenate([odd, odd])])]
    write(folder, "tetrahedra", moved, flow, [(10, tetrahedra)])
    write(folder, "hexahedra", moved, flow, [(12, cubes)])
    write(folder, "boxes", straight, flow, [(12, cubes)])
    write(folder, "wedges", moved, flow, [(13, wedges)])
    write(folder, "hexahedra-and-wedges", moved, flow, mixed)
    write(folder, "hexahedra-reflect", moved, pressing, [(12, cubes)], "reflect")
    write(folder, "wedges-reflect", moved, pressing, [(13, wedges)], "reflect")
    straight, moved, squares = lattice([SQUARES] * 2)
    flow = velocity(straight, False)
    write(folder, "triangles", moved, flow, [(5, np.concatenate([squares[:, :3], squares[:, [0, 2, 3]]]))])
    write(folder, "quads", moved, flow, [(9, squares)])
    return sorted(path.stem for path in folder.glob("*.toml"))


def speed(program, case):
    """The speed that a run prints."""
    command = [program, "run", case.name, "--overwrite"]
    said = subprocess.run(command, cwd=case.parent, capture_output=True, text=True, check=True).stdout
    return float(re.search(r"speed +([0-9.]+) M", said)[1])


def main():
    programs = [shutil.which(program) for program in sys.argv[1:]]
    if not programs or None in programs:
        sys.exit(__doc__)
    programs = [str(Path(program).resolve()) for program in programs]
    with tempfile.TemporaryDirectory() as folder:
        for name in meshes(Path(folder)):
            case = Path(folder) / f"{name}.toml"
            turns = [[speed(program, case) for program in programs] for _ in range(TURNS)]
            medians = [statistics.median(column) for column in zip(*turns)]
            print(f"{name:21}", *(f"{median:7.2f}" for median in medians))


main()

"""Time of whole runs of 100 particles in a small and in a large mesh of tetrahedra, with their report and without.

    python benches/python/start.py PROGRAM [PROGRAM ..]

writes meshes of 384 and 998,250 tetrahedra in random order and their case file to a temporary folder, and runs them with each
program in turns. It prints the median, the minimum and the maximum in seconds. Needs numpy and vtk.
"""

import itertools
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import vtk
from vtk.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray

TURNS = 5
CUBES = (4, 55)
CASE = """
[field]
files = "{cubes}.vtu"
velocity = "velocity"
interpolation = "mesh"
[seeds]
kind = "uniform"
count = 100
low = [0.1, 0.1, 0.1]
high = [0.9, 0.9, 0.9]
[trace]
dt = 0.01
t1 = 0.5
"""


def write(folder, cubes):
    """A unit box of cubes, each of six tetrahedra, and its case file."""
    axis = np.linspace(0, 1, cubes + 1)
    z, y, x = (a.ravel() for a in np.meshgrid(axis, axis, axis, indexing="ij"))
    k, j, i = np.meshgrid(*[np.arange(cubes)] * 3, indexing="ij")
    first = ((k * (cubes + 1) + j) * (cubes + 1) + i).ravel()
    steps = itertools.permutations([1, cubes + 1, (cubes + 1) ** 2])
    cells = np.concatenate([first[:, None] + np.cumsum([0, *path]) for path in steps])
    cells = np.random.default_rng(1).permutation(cells)
    mesh, nodes, array = vtk.vtkUnstructuredGrid(), vtk.vtkPoints(), vtk.vtkCellArray()
    nodes.SetData(numpy_to_vtk(np.stack([x, y, z], 1), deep=1))
    mesh.SetPoints(nodes)
    array.SetData(4, numpy_to_vtkIdTypeArray(cells.ravel().astype("i8"), deep=1))
    mesh.SetCells(vtk.VTK_TETRA, array)
    flow = np.stack([0.2 + 0 * x, 0.1 * np.sin(2 * np.pi * x), 0.1 * np.cos(2 * np.pi * y)], 1)
    values = numpy_to_vtk(flow.astype("f4"), deep=1)
    values.SetName("velocity")
    mesh.GetPointData().AddArray(values)
    writer = vtk.vtkXMLUnstructuredGridWriter()
    writer.SetFileName(str(folder / f"{cubes}.vtu"))
    writer.SetInputData(mesh)
    writer.EncodeAppendedDataOff()
    writer.SetCompressorTypeToNone()
    writer.Write()
    (folder / f"{cubes}.toml").write_text(CASE.format(cubes=cubes))


def seconds(program, case, report):
    """The time of a run."""
    command = [program, "run", case.name, "--overwrite", "--quiet", "--set", f"save.report={report}"]
    start = time.perf_counter()
    subprocess.run(command, cwd=case.parent, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def main():
    programs = [shutil.which(program) for program in sys.argv[1:]]
    if not programs or None in programs:
        sys.exit(__doc__)
    programs = [str(Path(program).resolve()) for program in programs]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for cubes, report in itertools.product(CUBES, ["never", "always"]):
            write(folder, cubes)
            case = folder / f"{cubes}.toml"
            turns = [[seconds(program, case, report) for program in programs] for _ in range(TURNS)]
            columns = [f"{statistics.median(of):6.2f} ({min(of):.2f} to {max(of):.2f})" for of in zip(*turns)]
            print(f"{6 * cubes**3:7} tetrahedra, report {report:6}", *columns)


main()

"""Compare arrays sampled along the tracks with vtkProbeFilter.

    python tests/peers/arrays.py [BURNTRACE] [DATA]

BURNTRACE defaults to target/release/burntrace, DATA (with can.vtu, kitchen.vtk and blood_vessels/) to ../shared/data.
Needs the `vtk`, `numpy` and `zarr` packages. For each data set a run in single precision saves 21 times along
2,000 tracks; the values at all saves are compared with those of vtkProbeFilter at the saved positions, relative
to the range of the array. Fails above 1e-5. Positions at which VTK finds no cell are not compared, nor values of cells
within 1e-4 of the size of the data set from a face, where either cell is right, nor values at points that coincide
with points of another value, of which burntrace uses the first. vtkHexahedron stops its search
for parametric coordinates at 1e-3; values at the nodes of such cells are computed from VTK's cell and shape functions
with coordinates that are exact.
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import vtk
import zarr
from vtk.util.numpy_support import numpy_to_vtk, vtk_to_numpy

CASES = {
    "can": ("can.vtu", vtk.vtkXMLUnstructuredGridReader, "VEL", "mesh", 1e-5, ["EQPS", "DISPL"]),
    "blood": (
        "blood_vessels/T0000000500.pvtu",
        vtk.vtkXMLPUnstructuredGridReader,
        "velocity",
        "mesh",
        2e-2,
        ["shearstress", "node_value", "density"],
    ),
    "kitchen": ("kitchen.vtk", vtk.vtkStructuredGridReader, "velocity", "grid", 5.0, ["ke", "p1"]),
}

CASE = """
[field]
files = "{file}"
velocity = "{velocity}"
interpolation = "{interpolation}"
[seeds]
kind = "uniform"
count = 2000
outside = "not-located"
[trace]
t1 = {t1}
steps = 100
[save]
every = 5
fields = {fields}
report = "never"
[run]
device = "flex"
out = "{out}"
"""


def probe(data, positions):
    points = vtk.vtkPoints()
    points.SetDataTypeToDouble()
    points.SetData(numpy_to_vtk(np.ascontiguousarray(positions, dtype=float), deep=True))
    cloud = vtk.vtkPolyData()
    cloud.SetPoints(points)
    probe = vtk.vtkProbeFilter()
    probe.SetSourceData(data)
    probe.SetInputData(cloud)
    probe.Update()
    return probe.GetOutput().GetPointData()


def moved(data, positions, distance, name):
    """Values around positions, to find those next to a face between cells."""
    around = []
    for axis in range(3):
        for sign in (-1, 1):
            offset = np.zeros(3)
            offset[axis] = sign * distance
            around.append(vtk_to_numpy(probe(data, positions + offset).GetArray(name)))
    return around


def conflicts(data, name):
    """1 at points that coincide with points of another value, as on the seams of pieces, else 0."""
    points = vtk_to_numpy(data.GetPoints().GetData())
    values = vtk_to_numpy(data.GetPointData().GetArray(name))
    _, same = np.unique(points, axis=0, return_inverse=True)
    low = np.full(same.max() + 1, np.inf)
    high = -low
    np.minimum.at(low, same.ravel(), values)
    np.maximum.at(high, same.ravel(), values)
    return (low < high)[same.ravel()].astype(float)


def in_hexahedra(data, positions, name):
    """Values of a point array by VTK's hexahedra, with exact parametric coordinates; NaN in no cell."""
    array = vtk_to_numpy(data.GetPointData().GetArray(name)).astype(float)
    array = array.reshape(len(array), -1)
    locator = vtk.vtkStaticCellLocator()
    locator.SetDataSet(data)
    locator.BuildLocator()
    cell, at, weights, derivatives = vtk.vtkGenericCell(), [0.0] * 3, [0.0] * 8, [0.0] * 24
    values = np.full((len(positions), array.shape[1]), np.nan)
    for i, target in enumerate(positions):
        if locator.FindCell(target, 0.0, cell, at, weights) < 0:
            continue
        nodes = np.array([cell.GetPoints().GetPoint(node) for node in range(8)])
        guess = np.array(at)
        for _ in range(8):
            cell.InterpolateFunctions(guess, weights)
            cell.InterpolateDerivs(guess, derivatives)
            jacobian = (np.reshape(derivatives, (3, 8)) @ nodes).T
            guess = guess - np.linalg.solve(jacobian, np.array(weights) @ nodes - target)
        cell.InterpolateFunctions(guess, weights)
        ids = [cell.GetPointId(node) for node in range(8)]
        values[i] = np.array(weights) @ array[ids]
    return values.squeeze()


def check(program, folder, name):
    file, reader, velocity, interpolation, t1, fields = CASES[name]
    file = (folder / file).resolve()
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        out = work / "out"
        named = [f'{{ array = "{field}", name = "my_{field}" }}' for field in fields]
        listed = "[" + ", ".join(named) + "]"
        case = dict(file=file, velocity=velocity, interpolation=interpolation, t1=t1)
        (work / "case.toml").write_text(CASE.format(**case, fields=listed, out=out))
        subprocess.run([program, "run", work / "case.toml", "--quiet"], check=True)
        tracks = zarr.open_group(out / "tracks", mode="r")
        positions, status = tracks["position"][:], tracks["status"][:]
        values = {field: tracks[f"my_{field}"][:] for field in fields}
    data = reader()
    data.SetFileName(str(file))
    if hasattr(data, "ReadAllScalarsOn"):
        data.ReadAllScalarsOn()
        data.ReadAllVectorsOn()
    data.Update()
    data = data.GetOutput()
    for attributes in (data.GetPointData(), data.GetCellData()):
        for field in fields:
            if attributes.HasArray(field):
                # VTK rounds interpolated integers.
                array = numpy_to_vtk(vtk_to_numpy(attributes.GetArray(field)).astype(float), deep=True)
                array.SetName(field)
                attributes.AddArray(array)
    size = data.GetLength()
    is_active = status.reshape(-1) == 1
    flat = positions.reshape(-1, 3)[is_active]
    found = probe(data, flat)
    valid = vtk_to_numpy(found.GetArray("vtkValidPointMask")) == 1
    worst = 0.0
    for field in fields:
        expected = vtk_to_numpy(found.GetArray(field)).astype(float)
        is_in_cells = data.GetCellData().HasArray(field)
        if data.GetCellType(0) == vtk.VTK_HEXAHEDRON and not is_in_cells:
            expected = in_hexahedra(data, flat, field)
            valid &= ~np.isnan(expected).reshape(len(flat), -1).any(axis=1)
        elif not is_in_cells:
            array = numpy_to_vtk(conflicts(data, field), deep=True)
            array.SetName("conflict")
            data.GetPointData().AddArray(array)
            valid &= vtk_to_numpy(probe(data, flat).GetArray("conflict")) == 0
        mine = values[field].reshape((-1,) + values[field].shape[2:])[is_active]
        span = np.ptp(expected[valid])
        off = np.abs(mine - expected) / span
        off = off if off.ndim == 1 else off.max(axis=1)
        compared = valid.copy()
        if is_in_cells:
            for other in moved(data, flat, 1e-4 * size, field):
                compared &= other == expected
        bad = off[compared].max()
        worst = max(worst, bad)
        print(f"{name}: {field}: {compared.sum()} of {len(off)} values, off by {bad:.2e} of the range")
    return worst


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else "target/release/burntrace"
    folder = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "../shared/data")
    worst = max(check(program, folder, name) for name in CASES)
    sys.exit(int(worst > 1e-5))


main()

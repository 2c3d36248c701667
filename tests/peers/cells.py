"""Write reference values of VTK's cells: `python tests/peers/cells.py > tests/data/peers/cells.csv`.

Needs the `vtk` package. Each line starts with the type of the record and VTK's cell type:

    node,code,i,r,s,t          parametric coordinates of node i
    face,code,f,n0,n1,...      corners of face f (of edge f in two dimensions)
    shape,code,r,s,t,N0,...    shape functions at random points in and around the cell
    slope,code,r,s,t,d0,...    their derivatives: with respect to r, then s, then t
    place,code,x0,y0,z0,...,x,y,z,N0,...
                               nodes of a distorted cell, and a position with these weights
"""

import random
import sys

import vtk

CELLS = [
    (vtk.vtkTriangle, 3),
    (vtk.vtkPixel, 4),
    (vtk.vtkQuad, 4),
    (vtk.vtkTetra, 4),
    (vtk.vtkVoxel, 8),
    (vtk.vtkHexahedron, 8),
    (vtk.vtkWedge, 6),
    (vtk.vtkPyramid, 5),
    (vtk.vtkQuadraticTriangle, 6),
    (vtk.vtkQuadraticTetra, 10),
    (vtk.vtkQuadraticHexahedron, 20),
]
SAMPLES = 6


def line(*values):
    print(",".join(repr(v) if isinstance(v, float) else str(v) for v in values))


def corners(side):
    """Corner nodes of a face or an edge, without mid-edge nodes."""
    count = {2: 4, 1: 2}[side.GetCellDimension()]
    if side.GetCellType() in (vtk.VTK_TRIANGLE, vtk.VTK_QUADRATIC_TRIANGLE):
        count = 3
    return [side.GetPointId(i) for i in range(count)]


def distorted(cell, parametric, nodes):
    """Move the nodes by about 15 %; pixels and voxels remain boxes, as VTK assumes."""
    is_box = cell.GetCellType() in (vtk.VTK_PIXEL, vtk.VTK_VOXEL)
    scale = [random.uniform(0.5, 2.0) for _ in range(3)]
    for i in range(nodes):
        place = [2.0 + scale[d] * parametric[3 * i + d] for d in range(3)]
        for d in range(0 if is_box else cell.GetCellDimension()):
            place[d] += random.uniform(-0.15, 0.15) * scale[d]
        cell.GetPoints().SetPoint(i, place)


def inside(code, dimension):
    """Random parametric coordinates in a cell."""
    simplex = {5: 2, 22: 2, 10: 3, 24: 3, 13: 2}.get(code, 0)
    while True:
        place = [random.uniform(0.02, 0.98) for _ in range(dimension)] + [0.0] * (3 - dimension)
        if sum(place[:simplex]) < 0.98:
            return place


def main():
    random.seed(4)
    print(f"# VTK {vtk.vtkVersion().GetVTKVersion()}, tests/peers/cells.py")
    for kind, nodes in CELLS:
        cell = kind()
        code, dimension = cell.GetCellType(), cell.GetCellDimension()
        assert cell.GetNumberOfPoints() == nodes
        for i in range(nodes):
            cell.GetPointIds().SetId(i, i)
        parametric = cell.GetParametricCoords()
        for i in range(nodes):
            line("node", code, i, *parametric[3 * i : 3 * i + 3])
        sides = cell.GetNumberOfFaces() if dimension == 3 else cell.GetNumberOfEdges()
        for f in range(sides):
            side = cell.GetFace(f) if dimension == 3 else cell.GetEdge(f)
            line("face", code, f, *corners(side))
        for _ in range(SAMPLES):
            place = [random.uniform(-0.3, 1.3) for _ in range(dimension)] + [0.0] * (3 - dimension)
            weights = [0.0] * nodes
            cell.InterpolateFunctions(place, weights)
            line("shape", code, *place, *weights)
            slopes = [0.0] * (dimension * nodes)
            cell.InterpolateDerivs(place, slopes)
            line("slope", code, *place, *slopes)
        for _ in range(SAMPLES):
            distorted(cell, parametric, nodes)
            made = [0.0] * nodes
            cell.InterpolateFunctions(inside(code, dimension), made)
            points = [cell.GetPoints().GetPoint(i) for i in range(nodes)]
            place = [sum(w * p[d] for w, p in zip(made, points)) for d in range(3)]
            found, number, apart = [0.0] * 3, vtk.reference(0), vtk.reference(0.0)
            nearest, weights = [0.0] * 3, [0.0] * nodes
            status = cell.EvaluatePosition(place, nearest, number, found, apart, weights)
            assert status == 1, (code, place)
            # VTK's search recovers these weights approximately: it stops at a step of 0.001, and treats a
                        # quadratic triangle as four linear ones.
            off = max(abs(a - b) for a, b in zip(weights, made))
            assert off < 1e-3 or code == vtk.VTK_QUADRATIC_TRIANGLE, (code, off)
            line("place", code, *sum(map(list, points), []), *place, *made)


if __name__ == "__main__":
    sys.exit(main())

"""Writes what VTK says about its cells: `python tests/peers/cells.py > tests/data/peers/cells.csv`.

Needs the `vtk` package. Each line begins with what it holds and VTK's code of the cell:

    node,code,i,r,s,t          where node i is in parametric coordinates
    face,code,f,n0,n1,...      the corners of face f (of edge f in two dimensions)
    shape,code,r,s,t,N0,...    shape functions at random places in and around the cell
    slope,code,r,s,t,d0,...    their derivatives: all by r, then all by s, then all by t
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
PLACES = 6


def line(*values):
    print(",".join(repr(v) if isinstance(v, float) else str(v) for v in values))


def corners(side):
    """Nodes of a face or an edge, without those in the middle of edges."""
    count = {2: 4, 1: 2}[side.GetCellDimension()]
    if side.GetCellType() in (vtk.VTK_TRIANGLE, vtk.VTK_QUADRATIC_TRIANGLE):
        count = 3
    return [side.GetPointId(i) for i in range(count)]


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
        for _ in range(PLACES):
            place = [random.uniform(-0.3, 1.3) for _ in range(dimension)] + [0.0] * (3 - dimension)
            weights = [0.0] * nodes
            cell.InterpolateFunctions(place, weights)
            line("shape", code, *place, *weights)
            slopes = [0.0] * (dimension * nodes)
            cell.InterpolateDerivs(place, slopes)
            line("slope", code, *place, *slopes)


if __name__ == "__main__":
    sys.exit(main())

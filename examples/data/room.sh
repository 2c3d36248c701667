#!/bin/sh
# Write the steady air flow in a room as a VTK file: sh examples/data/room.sh FILE
#
# A rectilinear grid of 41 x 31 x 26 nodes in a room of 4 m x 3 m x 2.5 m: one roll, which rises at x = 0 and
# sinks at x = 4, with at most 0.2 m/s along x, no flow through the walls, and the temperature T.
set -eu
awk 'function axis(name, n, side) {
        printf "%s_COORDINATES %d float\n", name, n
        for (i = 0; i < n; i++) printf "%g ", side * i / (n - 1)
        print ""
    }
    BEGIN {
        pi = atan2(0, -1); nx = 41; ny = 31; nz = 26
        print "# vtk DataFile Version 3.0\nair in a room\nASCII\nDATASET RECTILINEAR_GRID"
        print "DIMENSIONS", nx, ny, nz
        axis("X", nx, 4); axis("Y", ny, 3); axis("Z", nz, 2.5)
        print "POINT_DATA", nx * ny * nz "\nVECTORS U float"
        for (k = 0; k < nz; k++) for (j = 0; j < ny; j++) for (i = 0; i < nx; i++) {
            a = pi * i / (nx - 1); b = pi * k / (nz - 1)
            printf "%.6g 0 %.6g\n", -0.2 * sin(a) * cos(b), 0.125 * cos(a) * sin(b)
        }
        print "SCALARS T float 1\nLOOKUP_TABLE default"
        for (k = 0; k < nz; k++) for (j = 0; j < ny; j++) for (i = 0; i < nx; i++)
            printf "%.6g\n", 293 + 4 * k / (nz - 1)
    }' >"$1"

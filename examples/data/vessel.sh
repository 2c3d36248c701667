#!/bin/sh
# Write one period of pulsating flow in a round vessel as VTK files: sh examples/data/vessel.sh FOLDER
#
# Eight files u_0.vtk to u_7.vtk, 0.125 s apart: a structured mesh of 11 x 11 x 31 points in a tube along x, of
# radius 1 mm and length 10 mm, with u = 2 U (1 + 0.5 sin(2 pi t)) (1 - r^2) and a mean speed U of 5 mm/s.
set -eu
mkdir -p "$1"
for frame in 0 1 2 3 4 5 6 7; do
    awk -v frame="$frame" 'BEGIN {
        pi = atan2(0, -1); n = 11; m = 31
        speed = 10 * (1 + 0.5 * sin(2 * pi * frame / 8))
        print "# vtk DataFile Version 3.0\npulsating flow in a vessel\nASCII\nDATASET STRUCTURED_GRID"
        print "DIMENSIONS", n, n, m "\nPOINTS", n * n * m, "float"
        for (k = 0; k < m; k++) for (j = 0; j < n; j++) for (i = 0; i < n; i++) {
            # A square is mapped to the disc of the cross-section.
            p = 2 * i / (n - 1) - 1; q = 2 * j / (n - 1) - 1
            y = p * sqrt(1 - q * q / 2); z = q * sqrt(1 - p * p / 2)
            print 10 * k / (m - 1), y, z
            u = speed * (1 - y * y - z * z); flow = flow sprintf("%.6g 0 0\n", u < 1e-9 ? 0 : u)
        }
        printf "POINT_DATA %d\nVECTORS U float\n%s", n * n * m, flow
    }' >"$1/u_$frame.vtk"
done

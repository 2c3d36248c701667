#!/bin/sh
# Write the surface currents of a bay as a NetCDF file: sh examples/data/ocean.sh FILE
#
# It stands in for a download from Copernicus Marine and has the layout of one: uo and vo over time, depth, latitude and longitude,
# daily, one depth, 1/12 degree, 16-bit numbers with a scale factor, and a fill value on land. 31 days from 2024-01-01, 97 x 61
# nodes from 10 to 2 degrees west and 43 to 48 degrees north, a coast in the south and the east, and an island. Eddies of some
# 100 km and up to 1.2 m/s drift westward; the stream function falls to 0 within 35 km of the coast.
set -eu
awk 'function byte(n) { return octal[n] }
    function int2(n) { if (n < 0) n += 65536; return byte(int(n / 256)) byte(n % 256) }
    function int4(n) { return int2(int(n / 65536)) int2(n % 65536) }
    function text(s,    i, r) {                                  # its length, its letters, up to a multiple of four bytes
        r = int4(length(s))
        for (i = 1; i <= length(s); i++) r = r byte(index(letters, substr(s, i, 1)) + 31)
        while (i++ % 4 != 1) r = r byte(0)
        return r
    }
    function real(x,    sign, e, i, r) {                         # a double
        if (x == 0) return int4(0) int4(0)
        sign = x < 0; if (sign) x = -x
        e = 1023
        while (x >= 2) { x /= 2; e++ }
        while (x < 1) { x *= 2; e-- }
        x = (x - 1) * 16
        r = byte(sign * 128 + int(e / 16)) byte((e % 16) * 16 + int(x))
        for (i = 0; i < 6; i++) { x = (x - int(x)) * 256; r = r byte(int(x)) }
        return r
    }
    function note(name, value) { return text(name) int4(2) text(value) }
    function number(name, value) { return text(name) int4(6) int4(1) real(value) }
    function variable(name, dims, count, attributes, type, bytes,    i, n, r) {
        n = split(dims, part, " ")
        r = text(name) int4(n)
        for (i = 1; i <= n; i++) r = r int4(part[i])
        r = r int4(12) int4(count) attributes int4(type) int4(bytes) int4(begin)
        begin += bytes
        return r
    }
    function header(    xy, u) {
        xy = "0 1 2 3"
        u = text("_FillValue") int4(3) int4(1) int2(-32767) int2(0) number("scale_factor", scale) number("add_offset", 0)
        return "CDF" byte(1) int4(0) int4(10) int4(4) text("time") int4(nt) text("depth") int4(1) text("latitude") int4(ny) \
            text("longitude") int4(nx) int4(12) int4(1) note("title", "Currents of a bay, made by ocean.sh") int4(11) int4(6) \
            variable("time", "0", 2, note("standard_name", "time") note("units", "hours since 1950-01-01"), 6, 8 * nt) \
            variable("depth", "1", 3, note("standard_name", "depth") note("units", "m") note("positive", "down"), 6, 8) \
            variable("latitude", "2", 2, note("standard_name", "latitude") note("units", "degrees_north"), 6, 8 * ny) \
            variable("longitude", "3", 2, note("standard_name", "longitude") note("units", "degrees_east"), 6, 8 * nx) \
            variable("uo", xy, 5, u note("standard_name", "eastward_sea_water_velocity") note("units", "m s-1"), 3, 2 * nt * ny * nx + pad) \
            variable("vo", xy, 5, u note("standard_name", "northward_sea_water_velocity") note("units", "m s-1"), 3, 2 * nt * ny * nx + pad)
    }
    function smooth(d) { return d <= 0 ? 0 : d >= 0.3 ? 1 : (d / 0.3) ^ 2 * (3 - 2 * d / 0.3) }
    function coast(x, y,    east, south, island, d) {            # degrees from land, below 0 on it
        east = -2.6 + 0.35 * sin(2.1 * y) + 0.15 * sin(6.3 * y + 1) - x
        south = y - 43.5 - 0.12 * sin(2.7 * x) - 0.06 * sin(7.9 * x + 2)
        island = sqrt((0.7 * (x + 5.6)) ^ 2 + (y - 45.9) ^ 2) - 0.22
        d = east < south ? east : south
        return d < island ? d : island
    }
    function stream(x, y, phase,    a) {                         # in degrees of latitude x m/s
        a = 0.07 * sin(4.6 * x + phase) * sin(4.1 * y) + 0.05 * sin(2.3 * x + 3.1 * y + 0.6 * phase)
        return a * smooth(coast(x, y))
    }
    function value(v) { return int2(v < 0 ? -int(-v / scale + 0.5) : int(v / scale + 0.5)) }
    function frames(component,    t, j, i, k, x, y, h, line) {
        h = 0.04
        for (t = 0; t < nt; t++) for (j = 0; j < ny; j++) {
            line = ""
            for (i = 0; i < nx; i++) {
                x = low_x + i / 12; y = low_y + j / 12
                if (coast(x, y) < 0) { line = line int2(-32767); continue }
                if (component == "u") k = -(stream(x, y + h, t * 0.12) - stream(x, y - h, t * 0.12)) / (2 * h)
                else k = (stream(x + h, y, t * 0.12) - stream(x - h, y, t * 0.12)) / (2 * h * cos(y * 0.01745329252))
                line = line value(k)
            }
            print line
        }
        if (pad) print int2(0)
    }
    BEGIN {
        for (i = 0; i < 256; i++) octal[i] = sprintf("\\%03o", i)
        for (i = 32; i < 127; i++) letters = letters sprintf("%c", i)
        nt = 31; ny = 61; nx = 97; low_x = -10; low_y = 43; scale = 0.0006103701889514923
        pad = nt * ny * nx % 2 * 2
        begin = 0; h = header()
        gsub(/\\.../, "x", h); begin = length(h); print header()
        for (i = 0; i < nt; i++) print real(24 * (27028 + i))
        print real(0.49402499198913574)
        for (i = 0; i < ny; i++) print real(low_y + i / 12)
        for (i = 0; i < nx; i++) print real(low_x + i / 12)
        frames("u"); frames("v")
    }' | while read -r line; do printf "$line"; done >"$1"

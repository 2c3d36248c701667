"""Times a run in blocks beside the same run in memory, in turns, and compares their tracks.

    python3 benches/blocks.py FOLDER [PROGRAM]

Writes a field of 400^3 nodes (768 MB, 1.02 GB on a device) to FOLDER, and a case with a cloud of 100,000 particles that turns around
its middle. The run in blocks has `run.memory = "244 MiB"`, a quarter of the frame.
"""

import array
import filecmp
import json
import math
import pathlib
import struct
import subprocess
import sys

NODES = 400
CASE = """[field]
files = "u.vti"
[seeds]
kind = "uniform"
count = 100000
low = [0.3, 0.1, -0.1]
high = [0.5, 0.3, 0.1]
[trace]
t1 = 6.0
steps = 1200
[save]
every = 100
[run]
device = "flex"
out = "whole"
"""


def write(path):
    last, h = NODES - 1, 2.0 / (NODES - 1)
    along = array.array("f", [-1 + i * h for i in range(NODES)])
    wave = array.array("f", [0.2 * math.sin(12 * x) for x in along])
    with open(path, "wb") as file:
        file.write(
            f"""<VTKFile type="ImageData" version="1.0" byte_order="LittleEndian" header_type="UInt64">
<ImageData WholeExtent="0 {last} 0 {last} 0 {last}" Origin="-1 -1 -1" Spacing="{h!r} {h!r} {h!r}">
<Piece Extent="0 {last} 0 {last} 0 {last}"><PointData><DataArray type="Float32" Name="U"
NumberOfComponents="3" format="appended" offset="0"/></PointData></Piece>
</ImageData><AppendedData encoding="raw">_""".encode()
        )
        file.write(struct.pack("<Q", 12 * NODES**3))
        for z in along:
            for y in along:
                row = array.array("f", bytes(12 * NODES))
                row[0::3] = array.array("f", [-y + 0.1 * math.sin(9 * z)]) * NODES
                row[1::3], row[2::3] = along, wave
                file.write(row.tobytes())
        file.write(b"\n</AppendedData></VTKFile>\n")


def run(program, folder, out, *settings):
    sets = [word for setting in settings for word in ("--set", setting)]
    subprocess.run([program, "run", "case.toml", "--quiet", "--overwrite", "--out", out, *sets], cwd=folder, check=True)
    summary = json.loads((folder / out / "summary.json").read_text())
    print(f"{out}: {summary['particle_steps_per_second']:.3g} particle-steps/s, {summary['seconds']['total']:.2f} s in all")


def main(folder, program):
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / "u.vti")
    (folder / "case.toml").write_text(CASE)
    for _ in range(3):
        run(program, folder, "whole", "run.strategy=in-memory")
        run(program, folder, "blocks", "run.strategy=blocks", "run.memory=244MiB")
    files = [f.relative_to(folder / "whole") for f in (folder / "whole/tracks/position").rglob("*") if f.is_file()]
    same = filecmp.cmpfiles(folder / "whole", folder / "blocks", files, shallow=False)[0]
    print(f"{len(same)} of {len(files)} files of positions are the same")


if len(sys.argv) < 2:
    sys.exit("give a folder for the field and the runs")
main(pathlib.Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "burntrace")

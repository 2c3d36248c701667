"""Compares burntrace with xarray on NetCDF files and Zarr groups in about a hundred encodings.

    pip install numpy xarray netCDF4 h5netcdf scipy zarr
    python tests/peers/cf_encodings.py target/release/burntrace

Writes files to a temporary folder, and compares the values at all nodes (`burntrace probe`) and the times
(`burntrace info`) with what xarray reads.
"""

import io
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import xarray as xr
from numcodecs import LZ4, Blosc, GZip, Zlib, Zstd
from zarr.codecs import BloscCodec, Crc32cCodec, GzipCodec, ZstdCodec

warnings.filterwarnings("ignore")
X, Y, Z = np.linspace(0, 2, 9), np.linspace(0, 1, 5), np.linspace(-1, 0, 3)
START = np.datetime64("2001-02-03T04:00:00", "ns")
NAMES = ("u", "v", "w")


def dataset(dtype: str) -> xr.Dataset:
    random = np.random.default_rng(0)
    field = lambda: (
        ("time", "z", "y", "x"),
        random.normal(size=(4, 3, 5, 9)).astype(dtype),
        {"units": "m s-1"},
    )
    metres = {"units": "m"}
    coordinates = {"x": ("x", X, metres), "y": ("y", Y, metres), "z": ("z", Z, metres)}
    coordinates["time"] = ("time", START + np.arange(4) * np.timedelta64(3600, "s"))
    return xr.Dataset({name: field() for name in NAMES}, coordinates)


def netcdf(folder: Path) -> None:
    packed = {"dtype": "i2", "scale_factor": 0.001, "add_offset": 1.0, "_FillValue": -32768}
    hdf5 = [
        {"zlib": True, "complevel": 4},
        {"zlib": True, "shuffle": True, "fletcher32": True},
        {"chunksizes": (1, 3, 5, 9)},
        {"chunksizes": (3, 2, 2, 4), "zlib": True},
    ]
    kinds = {
        "netcdf4": ("NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_64BIT", "NETCDF3_CLASSIC"),
        "h5netcdf": ("NETCDF4",),
        "scipy": ("NETCDF3_64BIT", "NETCDF3_CLASSIC"),
    }
    for engine, formats in kinds.items():
        for kind in formats:
            encodings = [{}, packed, *(hdf5 if kind.startswith("NETCDF4") else [])]
            for number, encoding in enumerate(encodings):
                for dtype in ("f4", "f8"):
                    for unlimited in ([], ["time"]):
                        name = f"{engine}_{kind}_{number}_{dtype}_{len(unlimited)}.nc"
                        dataset(dtype).to_netcdf(
                            folder / name,
                            engine=engine,
                            format=kind,
                            encoding={name: encoding for name in NAMES},
                            unlimited_dims=unlimited,
                        )


def zarr_groups(folder: Path) -> None:
    version_2 = [None, Blosc(), Blosc(cname="zstd", shuffle=0), Blosc(cname="zlib", shuffle=2)]
    version_2 += [GZip(), Zstd(), LZ4(), Zlib()]
    version_3 = [None, ZstdCodec(), GzipCodec(), BloscCodec(), Crc32cCodec()]
    version_3 += [BloscCodec(cname="lz4", shuffle="bitshuffle")]
    for version, codecs in ((2, version_2), (3, version_3)):
        for number, codec in enumerate(codecs):
            for chunks in ((1, 3, 5, 9), (4, 2, 2, 4)):
                encoding = {"compressors": (codec,) if codec else None, "chunks": chunks}
                dataset("f4").to_zarr(
                    folder / f"v{version}_{number}_{chunks[0]}.zarr",
                    zarr_format=version,
                    encoding={name: encoding for name in NAMES},
                )


def compare(program: str, path: Path, nodes: Path) -> float:
    def run(*arguments: str) -> str:
        return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout

    info = run("info", str(path))
    assert "4 frames in 1 file, t = 0 to 10800" in info, f"{path}: {info}"
    assert "seconds since 2001-02-03T04:00:00" in info and "problem" not in info, f"{path}: {info}"
    text = run("probe", str(path), "--at", str(nodes), "--time", "7200", "--fields", ",".join(NAMES))
    rows = np.genfromtxt(io.StringIO(text), delimiter=",", names=True)
    data = xr.open_zarr(path) if path.suffix == ".zarr" else xr.open_dataset(path)
    expected = [data[name].isel(time=2).values.astype("f8").ravel() for name in NAMES]
    return max(np.abs(rows[name] - values).max() for name, values in zip(NAMES, expected))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        netcdf(folder)
        zarr_groups(folder)
        z, y, x = np.meshgrid(Z, Y, X, indexing="ij")
        positions = np.c_[x.ravel(), y.ravel(), z.ravel()]
        nodes = folder / "nodes.csv"
        np.savetxt(nodes, positions, delimiter=",", header="x,y,z", comments="", fmt="%.17g")
        paths = sorted([*folder.glob("*.nc"), *folder.glob("*.zarr")])
        worst = max(compare(sys.argv[1], path, nodes) for path in paths)
        # Interpolation at a node rounds once or twice.
        assert worst < 1e-15, worst
        print(f"{len(paths)} files agree with xarray; the largest difference is {worst}")


if __name__ == "__main__":
    main()

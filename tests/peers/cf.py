"""Writes the NetCDF, Zarr and VTKHDF fixtures of tests/data/cf, one field in several encodings.

    pip install numpy netCDF4 xarray zarr h5py vtk cramjam
    python tests/peers/cf.py [folder]

The field is at 5 x 4 x 3 nodes on axes that are exact in binary, at 3 times, in single precision, from a
formula of exact operations (see `values`), so that tests compute it themselves and compare bits.
"""

import sys
import warnings
from pathlib import Path

import h5py
import netCDF4
import numpy as np
import xarray as xr
import zarr

warnings.filterwarnings("ignore")
OUT = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "data" / "cf")

NX, NY, NZ, NT = 5, 4, 3, 3
X = np.array([0.0, 0.5, 1.0, 1.5, 2.0])
Y = np.array([-1.0, 0.0, 0.25, 2.0])
Z = np.array([0.0, 0.125, 1.0])
T = np.array([0.0, 0.5, 1.0])


def values(component: int) -> np.ndarray:
    """The component at [t, z, y, x]: eighths, which single precision holds exactly."""
    t, k, j, i = np.meshgrid(range(NT), range(NZ), range(NY), range(NX), indexing="ij")
    number = (7 * i + 11 * j + 13 * k + 17 * t + 5 * component) % 64
    return (number / 8 - 4).astype("f4")


U, V, W = values(0), values(1), values(2)
NAMES = ["eastward_sea_water_velocity", "northward_sea_water_velocity", "upward_sea_water_velocity"]


def netcdf(name: str, kind: str, **options) -> None:
    """A file by netCDF4-python, with attributes of CF."""
    with netCDF4.Dataset(OUT / name, "w", format=kind) as file:
        for axis, nodes in zip("tzyx", (T, Z, Y, X)):
            file.createDimension(axis, None if axis == "t" else len(nodes))
            chunks = {"chunksizes": (NT,)} if axis == "t" and kind.startswith("NETCDF4") else {}
            variable = file.createVariable(axis, "f8", (axis,), **chunks)
            variable.units = "seconds since 2000-01-01 06:00:00" if axis == "t" else "m"
            variable.axis = axis.upper()
            variable[:] = nodes
        for short, data, standard in zip("uvw", (U, V, W), NAMES):
            variable = file.createVariable(short, "f4", ("t", "z", "y", "x"), **options)
            variable.units = "m s-1"
            variable.standard_name = standard
            variable[:] = data


def dataset() -> xr.Dataset:
    """The field as xarray has it."""
    fields = zip("uvw", (U, V, W), NAMES)
    variables = {
        short: (("time", "z", "y", "x"), data, {"units": "m s-1", "standard_name": standard})
        for short, data, standard in fields
    }
    coordinates = {
        "time": ("time", T, {"units": "seconds since 2000-01-01 06:00:00", "calendar": "noleap"}),
        "z": ("z", Z, {"units": "m"}),
        "y": ("y", Y, {"units": "m"}),
        "x": ("x", X, {"units": "m"}),
    }
    return xr.Dataset(variables, coordinates)


def packed() -> None:
    """Packed numbers, other units, decreasing and permuted axes, a missing value; by netCDF4-python."""
    with netCDF4.Dataset(OUT / "packed.nc", "w") as file:
        file.createDimension("depth", NZ)
        file.createDimension("easting", NX)
        file.createDimension("time", NT)
        file.createDimension("northing", NY)
        axes = [
            ("depth", -Z[::-1] * 1000, {"units": "mm", "positive": "down"}),
            ("easting", X / 1000, {"units": "km"}),
            ("northing", Y[::-1] * 100, {"units": "cm"}),
            ("time", T / 60, {"units": "minutes since 2000-01-01", "calendar": "360_day"}),
        ]
        for name, nodes, attributes in axes:
            variable = file.createVariable(name, "f8", (name,))
            variable.setncatts(attributes)
            variable[:] = nodes
        for short, data in zip("uvw", (U, V, W)):
            order = ("easting", "time", "depth", "northing")
            variable = file.createVariable(short, "i2", order, zlib=True, fill_value=-999)
            variable.set_auto_maskandscale(False)
            variable.scale_factor = 12.5
            variable.add_offset = 100.0
            variable.units = "cm s-1"
            # depth runs from the highest node down, as northing from north to south.
            numbers = (data.astype("f8") * 100 - 100) / 12.5
            assert (numbers == numbers.round()).all()
            stored = numbers.astype("i2")[:, ::-1, ::-1, :].transpose(3, 0, 1, 2).copy()
            if short == "u":
                stored[0, 0, 0, 0] = -999
            variable[:] = stored


def vector() -> None:
    """One variable with a dimension of components, in 2-D, without units."""
    data = np.stack([U[:, 0], V[:, 0]], axis=-1)
    xr.Dataset(
        {"velocity": (("time", "y", "x", "component"), data)},
        {"time": T, "y": Y, "x": X},
    ).to_netcdf(OUT / "vector.nc", format="NETCDF3_64BIT")


def degrees() -> None:
    """Axes on the sphere."""
    xr.Dataset(
        {"u": (("lat", "lon"), U[0, 0]), "v": (("lat", "lon"), V[0, 0])},
        {
            "lat": ("lat", Y, {"units": "degrees_north"}),
            "lon": ("lon", X, {"units": "degrees_east"}),
        },
    ).to_netcdf(OUT / "degrees.nc", format="NETCDF3_CLASSIC")


def zarr_groups() -> None:
    """Groups by xarray, in both versions, with several codecs."""
    from numcodecs import Blosc, Zlib
    from zarr.codecs import BloscCodec, GzipCodec, TransposeCodec, ZstdCodec

    def write(name: str, version: int, encoding: dict, chunks=(NT, NZ, NY, NX)) -> None:
        encoding = {short: {"chunks": chunks, **encoding} for short in "uvw"}
        dataset().to_zarr(OUT / name, mode="w", zarr_format=version, encoding=encoding, consolidated=False)

    for shuffle, name in ((Blosc.SHUFFLE, "shuffle"), (Blosc.BITSHUFFLE, "bitshuffle")):
        for compressor in ("lz4", "zstd"):
            blosc = Blosc(cname=compressor, clevel=5, shuffle=shuffle)
            write(f"v2_blosc_{compressor}_{name}.zarr", 2, {"compressors": (blosc,)})
    # Chunks that do not divide the shape.
    parts = (2, 3, 3, 4)
    with zarr.config.set({"array.order": "F"}):
        write("v2_zlib.zarr", 2, {"compressors": (Zlib(),)}, parts)
    write("v3_zstd.zarr", 3, {"compressors": (ZstdCodec(checksum=True),)})
    write("v3_gzip.zarr", 3, {"compressors": (GzipCodec(),), "filters": (TransposeCodec(order=(3, 1, 0, 2)),)}, parts)
    write("v3_blosc.zarr", 3, {"compressors": (BloscCodec(cname="zlib"),)})
    write("v3_raw.zarr", 3, {"compressors": ()})
    # Shards that do not divide the shape, with the index at the end and at the start.
    for name, location in (("v3_sharded.zarr", "end"), ("v3_sharded_start.zarr", "start")):
        shards = {"shape": (2, 4, 2, 4), "index_location": location}
        filters = (TransposeCodec(order=(3, 1, 0, 2)),)
        write(name, 3, {"compressors": (ZstdCodec(),), "filters": filters, "shards": shards}, (1, 2, 2, 2))
    # Long chunks, which Blosc splits into blocks and streams.
    long = np.arange(30011, dtype="f4") % 1000 / 8
    for name, shuffle in (("long_shuffle", Blosc.SHUFFLE), ("long_bitshuffle", Blosc.BITSHUFFLE)):
        blosc = Blosc(cname="lz4", clevel=9, shuffle=shuffle, blocksize=8192)
        group = zarr.open_group(OUT / f"{name}.zarr", mode="w", zarr_format=2)
        array = group.create_array(
            "a", shape=long.shape, chunks=(30011,), dtype="f4", compressors=(blosc,)
        )
        array[:] = long
    # BloscLZ, with copies of bytes that are near and far.
    number = np.arange(30011) % 3000
    far = np.where(number < 300, number * 7919 % 4096 / 8, 0)
    for name, data, shuffle in (
        ("long_blosclz", long, Blosc.SHUFFLE),
        ("far_blosclz", far.astype("f4"), Blosc.NOSHUFFLE),
    ):
        blosc = Blosc(cname="blosclz", clevel=9, shuffle=shuffle, blocksize=65536)
        group = zarr.open_group(OUT / f"{name}.zarr", mode="w", zarr_format=2)
        array = group.create_array("a", shape=long.shape, chunks=(30011,), dtype="f4", compressors=(blosc,))
        array[:] = data
        assert array.nbytes_stored() < 40000
    long_snappy(group=zarr.open_group(OUT / "long_snappy.zarr", mode="w", zarr_format=2), data=long)
    # A shard with chunks that have no values.
    group = zarr.open_group(OUT / "sparse.zarr", mode="w", zarr_format=3)
    array = group.create_array(
        "a", shape=(40, 30), chunks=(5, 5), shards=(20, 15), dtype="i4", fill_value=-3, dimension_names=("y", "x")
    )
    array[3:12, 7:9] = np.arange(18).reshape(9, 2)


def long_snappy(group, data) -> None:
    """Blosc with Snappy, which numcodecs has no compressor for: a container of one block by hand."""
    import cramjam
    from numcodecs import Blosc

    array = group.create_array(
        "a", shape=data.shape, chunks=data.shape, dtype="f4", compressors=(Blosc(cname="lz4", shuffle=0),)
    )
    stream = bytes(cramjam.snappy.compress_raw(data.tobytes()))
    assert len(stream) < data.nbytes
    header = bytes([2, 1, 2 << 5 | 0x10, 4])
    sizes = np.array([data.nbytes, data.nbytes, 16 + 4 + 4 + len(stream), 20, len(stream)], dtype="<u4")
    (OUT / "long_snappy.zarr" / "a" / "0").write_bytes(header + sizes.tobytes() + stream)


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    netcdf("classic.nc", "NETCDF3_CLASSIC")
    netcdf("offset64.nc", "NETCDF3_64BIT_OFFSET")
    netcdf("data64.nc", "NETCDF3_64BIT_DATA")
    netcdf("nc4.nc", "NETCDF4", chunksizes=(1, NZ, NY, NX))
    netcdf("nc4_classic.nc", "NETCDF4_CLASSIC", chunksizes=(2, NZ, NY, NX))
    netcdf(
        "nc4_deflate.nc",
        "NETCDF4",
        zlib=True,
        shuffle=True,
        fletcher32=True,
        chunksizes=(1, 2, 3, 4),
    )
    dataset().to_netcdf(OUT / "xarray.nc", engine="h5netcdf")
    packed()
    vector()
    degrees()
    zarr_groups()


if __name__ == "__main__":
    main()

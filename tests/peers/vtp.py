"""Compare lines and point clouds, as VTK reads them, with the store that they were written from.

    python tests/peers/vtp.py folder    (needs vtk, numpy and zarr)

The test `vtk_reads_the_lines_and_clouds` calls it.
"""

import pathlib
import sys

import numpy as np
import vtk
import zarr
from vtk.util.numpy_support import vtk_to_numpy


def load(path):
    errors = []
    reader = vtk.vtkXMLPolyDataReader()
    reader.AddObserver("ErrorEvent", lambda *_: errors.append(str(path)))
    reader.SetFileName(str(path))
    reader.Update()
    assert not errors, errors
    return reader.GetOutput()


def array(data, name):
    return vtk_to_numpy(data.GetArray(name))


def main():
    folder = pathlib.Path(sys.argv[1])
    group = zarr.open_group(folder / "tracks", mode="r")
    store, position, image = group.attrs, group["position"][:], group["image"][:]
    assert position.shape == (store["saves"], store["particles"], 3), position.shape
    assert position.dtype == np.dtype(store["precision"].replace("f32", "<f4").replace("f64", "<f8"))

    lines = load(folder / "tracks.vtp")
    points = vtk_to_numpy(lines.GetPoints().GetData())
    particle, time = array(lines.GetPointData(), "particle"), array(lines.GetPointData(), "time")
    print(lines.GetNumberOfPoints(), "points,", lines.GetNumberOfLines(), "lines,",
          lines.GetNumberOfVerts(), "vertices,", lines.GetPointData().GetArray("velocity").GetNumberOfTuples(),
          "velocities")
    times = group["time"][:]
    save = np.searchsorted(times, time)
    assert np.array_equal(points, position[save, particle])
    owner = array(lines.GetCellData(), "particle")
    offsets = vtk_to_numpy(lines.GetLines().GetOffsetsArray())
    ids = vtk_to_numpy(lines.GetLines().GetConnectivityArray())
    assert np.array_equal(np.sort(ids), np.unique(ids))
    vertices = lines.GetNumberOfVerts()
    images = image[save, particle]
    for cell, (start, end) in enumerate(zip(offsets, offsets[1:])):
        on_line = ids[start:end]
        assert (particle[on_line] == owner[vertices + cell]).all(), cell
        assert (images[on_line] == images[on_line[0]]).all(), cell
        assert (np.diff(time[on_line]) > 0).all(), cell
    for path in sorted((folder / "clouds").glob("*.vtp")):
        cloud = load(path)
        of_save = position[int(path.stem.split("_")[1])]
        found = vtk_to_numpy(cloud.GetPoints().GetData())
        assert np.array_equal(found, of_save[array(cloud.GetPointData(), "particle")]), path
        assert cloud.GetNumberOfVerts() == cloud.GetNumberOfPoints(), path
    print("all checks passed")


main()

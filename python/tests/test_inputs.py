"""What users pass: masked arrays, dates, lengths of time, lazy data, and what contradicts itself."""

import copy
import datetime
import gc
import pickle
import threading
import weakref

import burntrace as bt
import numpy as np
import pytest

X, Y = np.linspace(0, 2, 9), np.linspace(0, 1, 5)
U, V = np.ones((5, 9)), np.zeros((5, 9))
SEEDS = [[0.5, 0.5, 0.0]]
KEYS = dict(t1=1.0, dt=0.1)


def grid(**keys):
    return bt.grid(U, V, x=X, y=Y, **keys)


def dated(**keys):
    days = np.datetime64("2024-02-01", "ns") + np.arange(4) * np.timedelta64(1, "D")
    u = np.full((4, 5, 9), 1e-6)
    return bt.grid(u, 0 * u, x=X, y=Y, time=keys.pop("time", days), **keys)


def test_a_field_is_loaded_again_for_what_it_needs():
    field = grid(arrays={"k": 0.01 * U, "epsilon": 0.01 * U})
    motion = {"kind": "inertial", "relaxation_time": 0.1, "beta": 0.0}
    turbulence = {"k": "k", "epsilon": "epsilon", "seed": 1}
    calm = bt.trace(field, SEEDS, motion=motion, **KEYS)
    moved = bt.trace(field, SEEDS, motion={**motion, "turbulence": turbulence}, **KEYS)
    assert np.abs(moved.position - calm.position).max() > 1e-4
    sheared = bt.grid(U * Y[:, None], V, x=X, y=Y)
    ends = [bt.trace(sheared, SEEDS, walk={"smagorinsky": c}, **KEYS).position[-1, 0, 1] for c in (0.0, 0.01)]
    assert ends[0] == 0.5 and abs(ends[1] - 0.5) > 1e-4


def test_missing_values_are_land():
    land = np.zeros((5, 9), bool)
    land[:, 6:] = True
    filled, masked = np.where(land, np.nan, U), np.ma.MaskedArray(np.where(land, -999.0, U), land)
    tracks = [bt.trace(bt.grid(u, V, x=X, y=Y), SEEDS, **KEYS) for u in (filled, masked)]
    assert tracks[0].counts() == tracks[1].counts() == {"beached": 1}
    np.testing.assert_array_equal(tracks[0].position, tracks[1].position)
    with pytest.raises(bt.InvalidCase, match="`seeds` has missing values"):
        bt.trace(grid(), np.ma.MaskedArray(SEEDS, [[True, False, False]]), **KEYS)


def test_variables_of_netcdf4_are_scaled_and_masked(tmp_path):
    netcdf = pytest.importorskip("netCDF4")
    with netcdf.Dataset(tmp_path / "u.nc", "w") as data:
        data.createDimension("y", 5), data.createDimension("x", 9)
        packed = data.createVariable("u", "i2", ("y", "x"), fill_value=-1)
        packed.scale_factor = 0.001
        packed[:] = np.ma.MaskedArray(0.123 * U, X > 1.6 + 0 * U)
        tracks = bt.trace(bt.grid(packed, V, x=X, y=Y), SEEDS, **KEYS)
    np.testing.assert_allclose(tracks.position[-1, 0, 0], 0.623, atol=1e-6)


@pytest.mark.parametrize("result", [lambda p: -p.T, lambda p: tuple(p.T), lambda p: p[:, :2], lambda p: p.ravel()])
def test_functions_return_a_row_for_each_position(result):
    field = bt.function(lambda position, time: result(position), low=[-1, -1, -1], high=[1, 1, 1])
    with pytest.raises(bt.InvalidCase, match=r"return an array of shape \(\d+, 3\)"):
        bt.trace(field, np.zeros((4, 3)), **KEYS)


@pytest.mark.parametrize(
    "every", ["6 h", datetime.timedelta(hours=6), np.timedelta64(6, "h"), np.timedelta64(21600000000000, "ns"), 21600.0]
)
def test_lengths_of_time(every):
    tracks = bt.trace(dated(), SEEDS, t1=datetime.timedelta(days=1), dt=np.timedelta64(1, "h"), save=every)
    np.testing.assert_allclose(tracks.time, np.arange(5) * 21600.0)


def test_dates():
    xr, pandas = pytest.importorskip("xarray"), pytest.importorskip("pandas")
    start = np.datetime64("2024-02-02T00:00:00.500", "ms")
    for t0 in (start, str(start), pandas.Timestamp(start), xr.DataArray(start), np.array(start)):
        tracks = bt.trace(dated(), SEEDS, t0=t0, t1="2024-02-03", dt="1 h")
        np.testing.assert_allclose(tracks.release_time, 86400.5)
    releases = np.array(["2024-02-01T06:00", "2024-02-02"], "M8[m]")
    for release in (releases, list(map(str, releases)), pandas.DatetimeIndex(releases), xr.DataArray(releases)):
        tracks = bt.trace(dated(), SEEDS * 2, release=release, t1="2 d", dt="1 h")
        np.testing.assert_allclose(tracks.release_time, [21600, 86400])
    zone = datetime.timezone(datetime.timedelta(hours=1))
    as_list = [datetime.datetime(2024, 2, day, 1, tzinfo=zone) for day in (1, 2, 3, 4)]
    for time in (as_list, ["2024-02-01", "2024-02-02", "2024-02-03", "2024-02-04"], pandas.DatetimeIndex(as_list)):
        tracks = bt.trace(dated(time=time), SEEDS, t1="2024-02-03", dt="1 h")
        assert tracks.attributes["time"]["units"] == "seconds since 2024-02-01T00:00:00"
        np.testing.assert_allclose(tracks.time, 2 * 86400)
    cftime = pytest.importorskip("cftime")
    for calendar in ("noleap", "standard"):
        time = [cftime.datetime(2023, 2, 28 if calendar == "noleap" else 27, calendar=calendar) + datetime.timedelta(days=i) for i in range(4)]
        tracks = bt.trace(dated(time=time), SEEDS, t1="2 d", dt="1 h")
        assert tracks.attributes["time"]["calendar"] == calendar and tracks.time[-1] == 2 * 86400
    for text, keys in [("NaT", dict(t1=np.datetime64("NaT"))), ("`release` has the shape", dict(release=[[0.0]]))]:
        with pytest.raises(bt.InvalidCase, match=text):
            bt.trace(dated(), SEEDS, **{**dict(t1="1 d", dt="1 h"), **keys})
    with pytest.raises(bt.InvalidCase, match="`time` is of the type datetime64"):
        bt.points(SEEDS * 2, np.zeros((1, 2, 3)), time=np.array(["2024-02-01"], "M8[ns]"))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: bt.grid(U, V, x=X, y=Y, arrays={"u": 5 * U}), "the name of a component"),
        (lambda: bt.trace(grid(), SEEDS, coast="slide", boundary={"coast": "exit"}, **KEYS), "`coast` and `boundary`"),
        (lambda: bt.trace(grid(), SEEDS, velocity=True, save={"velocity": False}, **KEYS), "`velocity` and `save`"),
        (lambda: grid(files="nope.nc"), "`files` is given beside"),
        (lambda: bt.flow(["1", "0", "0", "7"], low=[0, 0, 0], high=[1, 1, 0]), "4 formulas"),
        (lambda: bt.trace(grid(), SEEDS, boundary={"x": ["exit", None]}, **KEYS), "`boundary.x` has None"),
        (lambda: bt.trace(grid(), SEEDS, boundary=5, **KEYS), "`boundary` is 5"),
        (lambda: bt.trace(grid(), SEEDS, piece=5, **KEYS), "`piece` is 5"),
        (lambda: bt.trace(grid(), SEEDS, drift=object(), **KEYS), "`drift` has <object"),
        (lambda: bt.function(print, low=[0, 0], high=[1, 1, 1]), "`low` is"),
        (lambda: bt.Field("x.nc"), "burntrace.open"),
        (lambda: bt.run({"field": {}}, out="x", set={"trace": {"dt": 1}}), "'trace.dt': 0.1"),
        (lambda: bt.cells(np.eye(3), [[0, 1, 2]], np.zeros((3, 3)), types=300), "`types` is 300"),
        (lambda: bt.vjp(grid(), SEEDS, piece=(0, 1), **KEYS), "burntrace.trace only"),
        (lambda: bt.vjp(grid(), SEEDS, wrt=[], **KEYS), "`wrt` is empty"),
    ],
)
def test_contradictions_and_wrong_types_are_refused(call, text):
    with pytest.raises(bt.InvalidCase, match=text):
        call()


def test_formulas_by_name():
    field = bt.flow({"u": "a", "v": 0}, constants={"a": 0.1}, low=[0, 0, 0], high=[2, 1, 0])
    np.testing.assert_allclose(bt.trace(field, SEEDS, **KEYS).position[-1, 0, 0], 0.6, atol=1e-6)


class Lazy:
    """An array that raises when it is read."""

    shape, dtype = (5, 9), np.dtype("f8")

    def __init__(self, error):
        self.error = error

    def __getitem__(self, index):
        raise self.error


def test_exceptions_of_lazy_arrays():
    with pytest.raises(KeyboardInterrupt):
        bt.trace(bt.grid(Lazy(KeyboardInterrupt()), V, x=X, y=Y), SEEDS, **KEYS)
    with pytest.raises(bt.RunFailed, match="disk gone") as raised:
        bt.trace(bt.grid(Lazy(OSError("disk gone")), V, x=X, y=Y), SEEDS, **KEYS)
    assert isinstance(raised.value.__cause__, OSError)


def test_objects_with_a_field_of_their_own_method_are_collected():
    class Model:
        def __init__(self):
            self.field = bt.function(self.velocity, low=[-1, -1, -1], high=[1, 1, 1])

        def velocity(self, position, time):
            return 0 * position

    model = Model()
    bt.trace(model.field, [[0.0, 0.0, 0.0]], **KEYS)
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None


def test_fields_are_dropped_while_others_are_made():
    class Slow(np.ndarray):
        def __del__(self):
            dropping.set()
            made.wait(0.5)

    dropping, made = threading.Event(), threading.Event()
    field = bt.grid(U.copy().view(Slow), V, x=X, y=Y)
    thread = threading.Thread(target=lambda: (dropping.wait(5), grid(), made.set()))
    thread.start()
    del field
    thread.join(10)
    assert not thread.is_alive() and made.is_set()


def test_gradients_where_there_are_none():
    tracks, pull = bt.vjp(grid(), SEEDS, wrt="drift", save=[0.0], **KEYS)
    assert not pull(np.ones(tracks.position.shape))["drift"].any()
    x, y = np.arange(0, 360, 30.0), np.linspace(-60, 60, 5)
    world = bt.grid(np.ones((5, 12)), np.zeros((5, 12)), x=x, y=y, geographic=True)
    with pytest.raises(bt.InvalidCase, match="nodes were added"):
        bt.vjp(world, [[10.0, 10.0]], wrt="values", t1=3600.0, dt=600.0)
    as_mesh = bt.grid(U, V, x=X, y=Y, interpolation="mesh")
    with pytest.raises(bt.InvalidCase, match="another order"):
        bt.vjp(as_mesh, SEEDS, wrt="values", **KEYS)


def test_stopped_runs_without_a_save_have_a_description():
    def stop(*of):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as raised:
        bt.trace(grid(), SEEDS, release=100.0, progress=stop, **KEYS)
    assert "1 particles" in repr(raised.value.tracks)


def test_fields_of_meshes_are_copied_and_sent():
    vtk = pytest.importorskip("vtkmodules.vtkImagingCore")
    from vtkmodules.util.numpy_support import numpy_to_vtk
    from vtkmodules.vtkCommonDataModel import vtkImageData

    image = vtkImageData()
    image.SetDimensions(3, 3, 1)
    velocity = numpy_to_vtk(np.full((9, 3), [0.1, 0.0, 0.0]), deep=1)
    velocity.SetName("velocity")
    image.GetPointData().AddArray(velocity)
    field = bt.mesh([image, image], time=[0.0, 1.0])
    expected = bt.trace(field, SEEDS, dt=0.1).position
    others = [copy.copy(field), copy.deepcopy(field), pickle.loads(pickle.dumps(field))]
    del field
    for other in others:
        np.testing.assert_array_equal(bt.trace(other, SEEDS, dt=0.1).position, expected)
    with pytest.raises(bt.InvalidCase, match="give a data set of VTK"):
        bt.mesh(np.zeros(3))


def test_points_take_arrays_of_xarray():
    xr = pytest.importorskip("xarray")
    points, values = np.eye(3), xr.DataArray(np.full((3, 3), 0.1))
    field = bt.points(points, values, arrays={"T": xr.DataArray([1.0, 1.0, 1.0])})
    tracks = bt.trace(field, [[0.2, 0.2, 0.2]], fields=["T"], **KEYS)
    np.testing.assert_allclose(tracks.position[-1], 0.3, atol=1e-6)


def test_pictures_of_slots_that_are_re_used():
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    field = bt.flow(["1", "0"], low=[0, 0, 0], high=[1, 1, 0])
    keys = dict(inlet={"kind": "face", "face": "x-low", "pattern": "lattice"}, boundary={"x": ["exit", "outlet"]})
    tracks = bt.trace(field, SEEDS, t1=2.0, dt=0.1, save=1, **keys)
    x = tracks.plot(lw=2, ls="--").lines[0].get_xdata()
    assert np.isnan(x).sum() == 2 and (np.diff(x)[np.isfinite(np.diff(x))] > 0).all()
    with pytest.raises(bt.InvalidCase, match="`axes` is"):
        tracks.plot(axes=("x", "y"))
    plt.close("all")


def test_durations_beside_units_are_no_warning():
    xr = pytest.importorskip("xarray")
    speed = {"units": "m s-1"}
    data = xr.Dataset(
        {"u": (("y", "x"), U, {**speed, "standard_name": "eastward_sea_water_velocity"}),
         "v": (("y", "x"), V, {**speed, "standard_name": "northward_sea_water_velocity"})},
        {"x": ("x", X, {"axis": "X", "units": "m"}), "y": ("y", Y, {"axis": "Y", "units": "m"})},
    )
    bt.trace(bt.Field(data), SEEDS, t1="1 s", dt="100 ms")


def test_the_version_is_known():
    assert bt.__version__.count(".") == 2 and repr(grid()).startswith("<burntrace.Field of arrays")

//! The fixtures of `tests/peers/cf.py`: one field in several encodings.

use crate::{
    Attribute, CfFrame, CfGrid, Dimension, Error, Request, ScalarType, Span, Store, Times, Values,
    Variable, open,
};
use std::path::{Path, PathBuf};

#[path = "../../../tests/support/requirements.rs"]
pub(crate) mod requirements;

mod attributes;
mod axes;
mod damaged;
mod degrees;
mod model;
mod rest;
pub(crate) mod unstructured;

const NODES: [usize; 3] = [5, 4, 3];
const TIMES: usize = 3;
const X: [f64; 5] = [0.0, 0.5, 1.0, 1.5, 2.0];
const Y: [f64; 4] = [-1.0, 0.0, 0.25, 2.0];
const Z: [f64; 3] = [0.0, 0.125, 1.0];

/// The field at the nodes, by the same formula.
const ENCODINGS: [&str; 16] = [
    "classic.nc",
    "offset64.nc",
    "data64.nc",
    "nc4.nc",
    "nc4_classic.nc",
    "nc4_deflate.nc",
    "xarray.nc",
    "v2_blosc_lz4_shuffle.zarr",
    "v2_blosc_zstd_bitshuffle.zarr",
    "v2_zlib.zarr",
    "v3_zstd.zarr",
    "v3_gzip.zarr",
    "v3_blosc.zarr",
    "v3_raw.zarr",
    "v3_sharded.zarr",
    "v3_sharded_start.zarr",
];

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/cf").join(name)
}

fn component(c: usize, [i, j, k]: [usize; 3], t: usize) -> f32 {
    ((7 * i + 11 * j + 13 * k + 17 * t + 5 * c) % 64) as f32 / 8.0 - 4.0
}

/// The velocities in a box of nodes, x varies fastest.
fn expected(t: usize, [x, y, z]: [Span; 3]) -> Vec<f32> {
    let indices = |span: Span| (0..span.count).map(move |n| span.start + n * span.step);
    let mut velocity = Vec::new();
    for k in indices(z) {
        for j in indices(y) {
            for i in indices(x) {
                velocity.extend((0..3).map(|c| component(c, [i, j, k], t)));
            }
        }
    }
    velocity
}

fn whole(grid: &CfGrid) -> [Span; 3] {
    grid.axes().each_ref().map(|axis| Span::all(axis.len()))
}

fn singles(frame: CfFrame) -> Vec<f32> {
    match frame.velocity {
        Values::F32(values) => values,
        Values::F64(_) => panic!("single precision is kept"),
    }
}

fn error(name: &str, request: &Request) -> String {
    CfGrid::open(fixture(name), request).unwrap_err().to_string()
}

#[test]
fn all_encodings_have_the_same_bits() {
    for name in ENCODINGS {
        let grid = CfGrid::open(fixture(name), &Request::default())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(grid.axes(), &[X.to_vec(), Y.to_vec(), Z.to_vec()], "{name}");
        assert_eq!(grid.velocity(), ["u", "v", "w"]);
        let time = grid.time().unwrap();
        let Times::Dated(times) = &time.times else { panic!("{name}: times from a date") };
        assert_eq!(times.seconds_from(&times.clock()).unwrap(), [0.0, 0.5, 1.0], "{name}");
        assert_eq!(times.clock().date(), "2000-01-01T06:00:00");
        let part = [
            Span { start: 1, count: 2, step: 3 },
            Span { start: 0, count: 2, step: 2 },
            Span { start: 2, count: 1, step: 1 },
        ];
        for t in (0..TIMES).rev() {
            for ranges in [whole(&grid), part, [Span::one(4), Span::one(3), Span::one(0)]] {
                let frame = grid.read(t, ranges).unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_eq!(singles(frame), expected(t, ranges), "{name}, {t}, {ranges:?}");
            }
        }
        assert!(grid.read(TIMES, whole(&grid)).is_err(), "{name}");
    }
}

#[test]
fn units_packing_order_and_direction_are_converted() {
    let grid = CfGrid::open(fixture("packed.nc"), &Request::default()).unwrap();
    let reversed = |axis: &[f64]| axis.iter().rev().copied().collect::<Vec<_>>();
    // z = -depth; easting in km and northing in cm.
    assert_eq!(grid.axes(), &[X.to_vec(), reversed(&Y), reversed(&Z)]);
    let Times::Dated(times) = &grid.time().unwrap().times else { panic!("times from a date") };
    assert_eq!(times.seconds_from(&times.clock()).unwrap(), [0.0, 0.5, 1.0]);
    assert_eq!(times.clock().calendar().name(), "360_day");
    let notes = grid.notes().join("\n");
    for note in ["`easting` is converted from km to m", "`depth` is positive downward", "cm s-1"] {
        assert!(notes.contains(note), "{notes}");
    }
    let assumed = "\n`w` is taken as the velocity upward, as z";
    assert_eq!(grid.conversions().join("\n") + assumed, notes);
    for t in 0..TIMES {
        let frame = grid.read(t, whole(&grid)).unwrap();
        let missing = frame.missing.clone().unwrap();
        // In the precision of its factors.
        let velocity = frame.velocity.into_f64();
        for node in 0..NODES.iter().product() {
            let [i, j, k] = [node % 5, 3 - node / 5 % 4, 2 - node / 20];
            let is_missing = t == 0 && [i, j, k] == [0, 3, 2];
            assert_eq!(missing[node], is_missing);
            for c in 0..3 {
                let value = velocity[3 * node + c];
                match is_missing && c == 0 {
                    true => assert!(value.is_nan()),
                    false => {
                        let expected = f64::from(component(c, [i, j, k], t));
                        assert_eq!(value, expected, "{i} {j} {k} {t}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_variable_with_two_components_is_a_flat_field() {
    let grid = CfGrid::open(fixture("vector.nc"), &Request::default()).unwrap();
    assert_eq!(grid.axes(), &[X.to_vec(), Y.to_vec(), vec![0.0]]);
    assert_eq!(grid.velocity_components(), 2);
    assert_eq!(grid.time().unwrap().times, Times::Plain(vec![0.0, 0.5, 1.0]));
    assert!(grid.notes().join("").contains("no units"), "{:?}", grid.notes());
    let plane = whole(&grid);
    let mut flat = expected(2, plane);
    flat.iter_mut().skip(2).step_by(3).for_each(|w| *w = 0.0);
    assert_eq!(singles(grid.read(2, plane).unwrap()), flat);
    let one = Request { velocity: vec!["velocity".into()], ..Request::default() };
    assert_eq!(
        singles(CfGrid::open(fixture("vector.nc"), &one).unwrap().read(2, plane).unwrap()),
        flat
    );
}

#[test]
fn other_variables_are_read_beside_the_velocity() {
    let request = Request {
        without_velocity: true,
        arrays: vec!["w".into(), "u".into()],
        ..Request::default()
    };
    let grid = CfGrid::open(fixture("v3_gzip.zarr"), &request).unwrap();
    let frame = grid.read(1, whole(&grid)).unwrap();
    assert!(frame.velocity.is_empty());
    let all = expected(1, whole(&grid));
    let [w, u]: [Vec<f32>; 2] = [2, 0].map(|c| all.iter().skip(c).step_by(3).copied().collect());
    assert_eq!(frame.arrays, [Values::F32(w), Values::F32(u)]);
}

#[test]
fn long_chunks_of_blosc_are_joined_from_blocks_and_streams() {
    let read = |name: &str| {
        let store = open(fixture(name)).unwrap();
        store.read(&store.variables()[0], &[Span::all(30011)]).unwrap()
    };
    let expected: Vec<f32> = (0..30011).map(|i| (i % 1000) as f32 / 8.0).collect();
    for codec in ["shuffle", "bitshuffle", "blosclz", "snappy"] {
        assert!(read(&format!("long_{codec}.zarr")) == Values::F32(expected.clone()), "{codec}");
    }
    // Copies of bytes more than 8191 bytes before them.
    let far = |i: usize| if i % 3000 < 300 { (i % 3000 * 7919 % 4096) as f32 / 8.0 } else { 0.0 };
    assert!(read("far_blosclz.zarr") == Values::F32((0..30011).map(far).collect()));
}

#[test]
fn chunks_and_shards_without_values_have_the_fill_value() {
    let store = open(fixture("sparse.zarr")).unwrap();
    let expected = |y: usize, x: usize| match (3..12).contains(&y) && (7..9).contains(&x) {
        true => (2 * (y - 3) + x - 7) as f64,
        false => -3.0,
    };
    for (rows, columns) in [
        (Span::all(40), Span::all(30)),
        (Span { start: 2, count: 6, step: 3 }, Span { start: 1, count: 4, step: 7 }),
        (Span::one(39), Span::one(29)),
    ] {
        let at = |span: Span| (0..span.count).map(move |i| span.start + i * span.step);
        let all = at(rows).flat_map(|y| at(columns).map(move |x| expected(y, x))).collect();
        let found = store.read(&store.variables()[0], &[rows, columns]).unwrap();
        assert_eq!(found, Values::F64(all), "{rows:?} {columns:?}");
    }
}

#[test]
fn problems_name_the_variable_and_a_remedy() {
    let named = |names: &[&str]| Request {
        velocity: names.iter().map(|name| (*name).into()).collect(),
        ..Request::default()
    };
    let absent = error("nc4.nc", &named(&["u", "q"]));
    assert!(
        absent.contains("no variable `q`") && absent.contains("`u` (t 3, z 3, y 4, x 5; float32")
    );
    assert!(error("nc4.nc", &named(&["u"])).contains("one component"));
    assert!(error("nc4.nc", &named(&["u", "x"])).contains("`x`"), "another grid");
    let folder = tempfile::tempdir().unwrap();
    assert!(open(folder.path()).unwrap_err().to_string().contains("not a Zarr group"));
    assert!(matches!(open(folder.path().join("absent.nc")), Err(Error::Read { .. })));
    let array = fixture("v3_raw.zarr").join("u");
    assert!(open(array).unwrap_err().to_string().contains("one Zarr array"));
    let text = folder.path().join("a.nc");
    std::fs::write(&text, "no NetCDF").unwrap();
    assert!(open(text).unwrap_err().to_string().contains("a.nc"));
}

/// Variables in memory.
#[derive(Debug)]
struct Memory(Vec<Variable>);

impl Store for Memory {
    fn path(&self) -> &Path {
        Path::new("memory.nc")
    }

    fn format(&self) -> &str {
        "memory"
    }

    fn variables(&self) -> &[Variable] {
        &self.0
    }

    fn read(&self, _: &Variable, slab: &[Span]) -> crate::Result<Values> {
        Ok(Values::F64(
            (0..slab.iter().map(|span| span.count).product()).map(|i| i as f64).collect(),
        ))
    }
}

/// A variable with dimensions `x 3` and attributes `units=m`.
fn variable(name: &str, dimensions: &str, attributes: &str) -> Variable {
    let dimensions = dimensions.split_whitespace().collect::<Vec<_>>();
    let dimension = |of: &[&str]| Dimension { name: of[0].into(), len: of[1].parse().unwrap() };
    let attribute = |of: &str| {
        let (name, value) = of.split_once('=').unwrap();
        (name.to_owned(), Attribute::Text(value.into()))
    };
    Variable {
        name: name.into(),
        dimensions: dimensions.chunks(2).map(dimension).collect(),
        scalar: Some(ScalarType::F64),
        attributes: attributes.split(", ").filter(|of| !of.is_empty()).map(attribute).collect(),
    }
}

/// Opens variables in memory, `u` and `v` unless others are named, beside axes x and y.
fn in_memory(variables: &[(&str, &str, &str)]) -> crate::Result<CfGrid> {
    let axes = [("x", "x 5", "units=m"), ("y", "y 4", "units=m")];
    let all = axes.iter().chain(variables).map(|(name, of, with)| variable(name, of, with));
    CfGrid::of(Box::new(Memory(all.collect())), &Request::default())
}

#[test]
fn a_level_is_neither_a_component_nor_an_axis() {
    let on_levels = [
        ("level", "level 3", "units=hPa"),
        ("u", "level 3 y 4 x 5", "units=m s-1"),
        ("v", "level 3 y 4 x 5", "units=m s-1"),
    ];
    let message = in_memory(&on_levels).unwrap_err().to_string();
    assert!(message.contains("variable `u`") && message.contains("`level` of 3"), "{message}");
    assert!(message.contains("a pressure") && message.contains("isel"), "{message}");
    let one = on_levels.map(|(name, of, with)| (name, of.replace("level 3", "level 1"), with));
    let one = one.each_ref().map(|(name, of, with)| (*name, of.as_str(), *with));
    assert_eq!(in_memory(&one).unwrap().axes()[2], [0.0], "one level is flat");
    let none = in_memory(&[("T", "y 4 x 5", "units=K")]).unwrap_err().to_string();
    assert!(none.contains("no variables that are known as a velocity"), "{none}");
    let one = [("velocity", "component 2 y 4 x 5", "units=m s-1")];
    assert_eq!(in_memory(&one).unwrap().velocity_components(), 2);
}

#[test]
fn units_are_all_or_none() {
    let fields = |u: &str, v: &str| {
        let [u, v] = [u, v]
            .map(|units| if units.is_empty() { units.into() } else { format!("units={units}") });
        in_memory(&[("u", "y 4 x 5", &u), ("v", "y 4 x 5", &v)])
    };
    assert!(fields("m s-1", "m/s").unwrap().notes().is_empty());
    let assumed = fields("m s-1", "").unwrap();
    assert_eq!(assumed.notes(), ["no units, and nothing converted: `v`"]);
    assert!(assumed.conversions().is_empty());
    let mixed = fields("cm s-1", "").unwrap_err().to_string();
    assert!(
        mixed.contains("variable `v`") && mixed.contains("`u` is converted from cm s-1"),
        "{mixed}"
    );
    let unknown = fields("m s-1", "furlongs").unwrap_err().to_string();
    assert!(unknown.contains("`furlongs`") && unknown.contains("km/h"), "{unknown}");
}

#[test]
fn staggered_components_are_refused() {
    let message = in_memory(&[
        ("xf", "xf 6", "axis=X, units=m"),
        ("u", "y 4 xf 6", "units=m s-1"),
        ("v", "y 4 x 5", "units=m s-1"),
    ]);
    let message = message.unwrap_err().to_string();
    assert!(message.contains("variable `v`") && message.contains("x axis is `x`"), "{message}");
    assert!(message.contains("mesh"), "{message}");
}

#[test]
fn axes_are_known_by_attributes_before_names() {
    let grid = in_memory(&[
        ("a", "a 2", "axis=Y, units=m"),
        ("b", "b 6", "standard_name=projection_x_coordinate, units=m"),
        ("c", "c 3", "positive=down, units=m"),
        ("u", "a 2 c 3 b 6", "units=m s-1"),
        ("v", "a 2 c 3 b 6", "units=m s-1"),
        ("drift", "a 2 c 3 b 6", "units=m s-1, standard_name=downward_sea_water_velocity"),
    ]);
    let grid = grid.unwrap();
    assert_eq!(grid.axes().each_ref().map(Vec::len), [6, 2, 3]);
    assert_eq!(grid.axes()[2], [-0.0, -1.0, -2.0]);
    assert_eq!(grid.velocity(), ["u", "v", "drift"]);
    assert!(grid.notes().contains(&"`drift` is downward: w = -drift".to_owned()));
    let values = grid.read(0, whole(&grid)).unwrap().velocity.into_f64();
    // The node at index (1, 0, 0) is the second along b, the dimension that varies fastest.
    assert_eq!(values[3..6], [1.0, 1.0, -1.0]);
}

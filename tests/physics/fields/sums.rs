//! Sums of fields: further velocities on the nodes of the first field.

use crate::{cloud::*, common::*, meshes::*, oracle::Point};
use burn::tensor::{Device, Tensor};
use burntrace::{
    Addend, CellVelocity, Difference, EARTH_RADIUS, Error, Field, FieldFn, FieldOptions,
    Frames as Held, GridField, MeshField, NotFinite, OutsideField, OutsideTime, Placement,
    PointField, Precision, Seeds, Slip, Sum, Tracer,
};

/// A field on the host in double precision.
fn on_host(frames: &Frames, options: FieldOptions) -> Box<dyn Field> {
    let options = FieldOptions { precision: Precision::F64, ..options };
    Box::new(GridField::load(&mut frames.clone(), &Device::flex(), &options).unwrap())
}

fn plain(frames: &Frames) -> Box<dyn Field> {
    on_host(frames, FieldOptions::default())
}

fn half_turned() -> Addend {
    Addend { factor: 0.5, rotate: 30.0, ..Addend::default() }
}

/// What `half_turned` makes of a velocity, written by hand: half of it, 30 degrees clockwise.
fn half_turned_of([u, v, w]: Point) -> Point {
    let c = 3_f64.sqrt() / 2.0;
    [0.5 * (c * u + 0.5 * v), 0.5 * (c * v - 0.5 * u), 0.5 * w]
}

fn add(a: Point, b: Point) -> Point {
    [0, 1, 2].map(|d| a[d] + b[d])
}

/// Piecewise linear in time between these times, with a kink at each of them.
fn wave(times: &[f64], t: f64) -> f64 {
    let at = |i: usize| [0.3, -0.2, 0.5, 0.1, -0.4][i % 5];
    let i = times.partition_point(|time| *time <= t).clamp(1, times.len() - 1) - 1;
    at(i) + (at(i + 1) - at(i)) * (t - times[i]) / (times[i + 1] - times[i])
}

const OWN_TIMES: [f64; 3] = [0.0, 1.0, 3.0];
const OTHER_TIMES: [f64; 4] = [0.0, 0.5, 2.0, 4.0];
const ALL_TIMES: [f64; 5] = [0.0, 0.5, 1.0, 2.0, 3.0];

fn own([x, y, z]: Point, t: f64) -> Point {
    let wave = wave(&OWN_TIMES, t);
    [0.2 + 0.1 * y - wave, 0.1 * x * wave, 0.05 * z - 0.1 * wave]
}

fn other([x, y, z]: Point, t: f64) -> Point {
    let wave = wave(&OTHER_TIMES, t);
    [0.3 * wave - 0.1 * x, 0.2 * y + 0.1 * z * wave, 0.1 * wave * x]
}

fn both(p: Point, t: f64) -> Point {
    add(own(p, t), half_turned_of(other(p, t)))
}

fn axes() -> [Vec<f64>; 3] {
    [stretched_axis(0.0, 1.0, 4), even_axis(0.0, 1.0, 3), even_axis(0.0, 1.0, 2)]
}

fn other_frames() -> Frames {
    let axes = [even_axis(-1.0, 2.0, 5), stretched_axis(-0.5, 1.0, 3), even_axis(0.0, 1.0, 1)];
    Frames::new(axes, Placement::Nodes, &OTHER_TIMES, other)
}

/// Points in the unit box.
fn seeds() -> Vec<Point> {
    let mut dice = Dice(5);
    (0..40).map(|_| [0; 3].map(|_| dice.between(0.25, 0.75))).collect()
}

/// Compares the velocities of two fields, and the tracks in them.
fn assert_equal(what: &str, machine: &Machine, [sum, expected]: [&dyn Field; 2]) {
    let tracks = |field: &dyn Field| {
        let tracer = Tracer::new(field).span(span(0.0, 3.0, 0.125)).save_velocity(true);
        trace(&tracer, &Seeds::list(seeds()).unwrap())
    };
    let (sum, expected) = (tracks(sum), tracks(expected));
    assert_eq!(sum.status, expected.status, "{what} {machine}");
    assert_below(what, distance(sum.last(), expected.last()), 20.0 * machine.eps());
    let velocities = |run: &Run| run.velocities.clone().unwrap();
    let pairs = velocities(&sum).into_iter().zip(velocities(&expected));
    let worst = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert_below(what, worst, 20.0 * machine.eps());
}

#[test]
fn sums_of_linear_flows_are_exact_on_grids() {
    let first = Frames::new(axes(), Placement::Nodes, &OWN_TIMES, own);
    let expected = Frames::new(axes(), Placement::Nodes, &ALL_TIMES, both);
    for machine in some_machines() {
        let options = FieldOptions { precision: machine.precision, ..FieldOptions::default() };
        let sum = Sum::on_grid(first.clone(), &options).unwrap();
        let mut sum = sum.with(plain(&other_frames()), half_turned()).unwrap();
        let field = GridField::load(&mut sum, &machine.device, &options).unwrap();
        let expected = machine.field(&expected);
        let [found, exact] = [&field, &expected].map(|field| floats(field.values().unwrap()));
        assert_eq!(found.len(), 3 * 5 * 60);
        let worst = found.iter().zip(&exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert_below("values", worst, 2.0 * machine.eps());
        assert_equal("grid", &machine, [&field, &expected]);
    }
}

#[test]
fn sums_on_meshes_points_and_in_cells_have_the_velocities_of_their_nodes() {
    let mut made = mixed(3);
    // A point in no cell, outside the further field.
    made.points.push([50.0; 3]);
    let cloud: Vec<Point> = seeds();
    for machine in exact_machines() {
        let options = FieldOptions { precision: machine.precision, ..FieldOptions::default() };
        let in_cells = CellVelocity::Constant;
        let first = MeshFrames::new(&made, &OWN_TIMES, own);
        let sum = Sum::on_mesh(first, &options, in_cells).unwrap();
        let mut sum = sum.with(plain(&other_frames()), half_turned()).unwrap();
        let mesh = MeshField::load(&mut sum, &machine.device, &options, in_cells).unwrap();
        let expected = MeshFrames::new(&made, &ALL_TIMES, both).field(&machine);
        assert_equal("mesh", &machine, [&mesh, &expected]);

        let first = Cloud::new(cloud.clone(), &OWN_TIMES, mean(3, 2.0), own);
        let sum = Sum::on_points(first, &options, mean(3, 2.0)).unwrap();
        let mut sum = sum.with(plain(&other_frames()), half_turned()).unwrap();
        let points = PointField::load(&mut sum, &machine.device, &options, mean(3, 2.0)).unwrap();
        let expected = Cloud::new(cloud.clone(), &ALL_TIMES, mean(3, 2.0), both).load(&machine);
        assert_equal("points", &machine, [&points, &expected]);

        let cells = |times: &[f64], flow| Frames::new(axes(), Placement::Cells, times, flow);
        let sum = Sum::on_grid(cells(&OWN_TIMES, own as fn(Point, f64) -> Point), &options);
        let mut sum = sum.unwrap().with(plain(&other_frames()), half_turned()).unwrap();
        let field = GridField::load(&mut sum, &machine.device, &options).unwrap();
        assert_equal("cells", &machine, [&field, &machine.field(&cells(&ALL_TIMES, both))]);
    }
}

#[test]
fn turning_is_clockwise_and_a_single_level_is_added_on_all() {
    let axes = [even_axis(0.0, 1.0, 1), even_axis(0.0, 1.0, 1), even_axis(-50.0, 0.0, 2)];
    let first = Frames::new(axes.clone(), Placement::Nodes, &[0.0], |p, _| [0.0, 0.0, p[2]]);
    // A wind towards the east, 10 m above the sea.
    let wind = [axes[0].clone(), axes[1].clone(), vec![10.0]];
    let wind = Frames::new(wind, Placement::Nodes, &[7.0], |_, _| [8.0, 0.0, 5.0]);
    for (rotate, u, v) in
        [(0.0, 8.0, 0.0), (90.0, 0.0, -8.0), (-90.0, 0.0, 8.0), (180.0, -8.0, 0.0)]
    {
        let options = FieldOptions { precision: Precision::F64, ..FieldOptions::default() };
        let addend = Addend { factor: 0.25, rotate, ..Addend::default() };
        let sum = Sum::on_grid(first.clone(), &options).unwrap();
        let mut sum = sum.with(plain(&wind), addend).unwrap();
        let field = GridField::load(&mut sum, &Device::flex(), &options).unwrap();
        let values = floats(field.values().unwrap());
        let expected = axes[2].iter().flat_map(|z| [[0.25 * u, 0.25 * v, *z]; 4]);
        let expected: Vec<Point> = expected.collect();
        assert_below("turned", distance(values.as_chunks().0, &expected), 1e-14);
    }
}

#[test]
fn land_of_the_first_field_stays_land() {
    let axes = [even_axis(0.0, 3.0, 3), even_axis(0.0, 1.0, 1), vec![0.0]];
    let wind = Frames::new(axes.clone(), Placement::Nodes, &[0.0, 1.0], |p, t| [p[0], t, 0.0]);
    for (mark, land_value, not_finite) in [
        (f64::NAN, None, NotFinite::Land),
        (-9.0, Some(-9.0), NotFinite::Land),
        (f64::NAN, None, NotFinite::Zero),
    ] {
        let is_land = |p: Point| p[0] == 2.0;
        let flow = |p: Point, _| if is_land(p) { [mark; 3] } else { [1.0, 0.0, 0.0] };
        let first = Frames::new(axes.clone(), Placement::Nodes, &[0.0, 2.0], flow);
        let options = FieldOptions {
            precision: Precision::F64,
            not_finite,
            land_value,
            slip: Slip::Free,
            ..FieldOptions::default()
        };
        let sum = Sum::on_grid(first, &options).unwrap();
        let mut sum = sum.with(plain(&wind), Addend::default()).unwrap();
        let field = GridField::load(&mut sum, &Device::flex(), &options).unwrap();
        let found: Vec<Point> = floats(field.values().unwrap()).as_chunks().0.to_vec();
        // At time 1, with v = 1 in the water on both sides of the land, which slips there.
        let on_land = if not_finite == NotFinite::Land { [0.0, 1.0, 0.0] } else { [0.0; 3] };
        let row = [[1.0, 1.0, 0.0], [2.0, 1.0, 0.0], on_land, [4.0, 1.0, 0.0]];
        assert_eq!(found[8..12], row, "{mark} {not_finite:?}");
    }
}

#[test]
fn fields_on_a_sphere_are_added_eastward_and_northward() {
    let lon_lat =
        |cells: usize| [even_axis(-10.0, 10.0, cells), even_axis(50.0, 60.0, cells / 2), vec![0.0]];
    let own = |p: Point, _| [0.1 * p[0], 0.2 * (p[1] - 55.0), 0.0];
    let wind = |p: Point, t: f64| [p[0] - t, p[1] - 50.0, 0.0];
    let globe = |precision| FieldOptions {
        precision,
        radius: Some(EARTH_RADIUS),
        ..FieldOptions::default()
    };
    for machine in some_machines() {
        let options = globe(machine.precision);
        let times = [0.0, 3600.0];
        let first = Frames::new(lon_lat(8), Placement::Nodes, &times, own);
        let wind_frames = Frames::new(lon_lat(4), Placement::Nodes, &times, wind);
        let sum = Sum::on_grid(first, &options).unwrap();
        let mut sum =
            sum.with(on_host(&wind_frames, globe(Precision::F64)), half_turned()).unwrap();
        let field = GridField::load(&mut sum, &machine.device, &options).unwrap();
        // At the nodes of the wind, which every second node of the first field is.
        let expected = Frames::new(lon_lat(4), Placement::Nodes, &times, |p, t| {
            add(own(p, t), half_turned_of(wind(p, t)))
        });
        let nodes: Vec<Point> = floats(field.values().unwrap()).as_chunks().0.to_vec();
        for (k, frame) in expected.values.iter().enumerate() {
            let expected: &[Point] = frame.as_chunks().0;
            let at = |i: usize| nodes[45 * k + 2 * (i % 5) + 18 * (i / 5)];
            let found: Vec<Point> = (0..15).map(at).collect();
            let size = if k == 0 { 10.0 } else { 3600.0 };
            assert_below("sphere", distance(&found, expected), 8.0 * size * machine.eps());
        }
        let flat = Sum::on_grid(wind_frames.clone(), &options).unwrap();
        let refused = flat.with(plain(&wind_frames), Addend::default()).err().unwrap();
        assert!(refused.to_string().contains("degrees in one of it"), "{refused}");
    }
}

#[test]
fn further_fields_may_be_in_any_turn_of_longitudes() {
    let lat = even_axis(-60.0, 60.0, 4);
    let around =
        |west: f64, cells: usize| [even_axis(west, west + 360.0, cells), lat.clone(), vec![0.0]];
    let region = [even_axis(300.0, 420.0, 8), lat.clone(), vec![0.0]];
    let wind = |p: Point, _| [p[0].to_radians().cos(), p[1], 0.0];
    let options = FieldOptions {
        precision: Precision::F64,
        radius: Some(EARTH_RADIUS),
        ..FieldOptions::default()
    };
    for (first, further) in [
        (around(0.0, 8), around(-165.0, 24)),
        (around(-165.0, 24), around(15.0, 24)),
        ([even_axis(-60.0, 45.0, 7), lat.clone(), vec![0.0]], region),
    ] {
        let still = Frames::new(first.clone(), Placement::Nodes, &[0.0], |_, _| [0.0; 3]);
        let wind_frames = Frames::new(further, Placement::Nodes, &[0.0], wind);
        let sum = Sum::on_grid(still, &options).unwrap();
        let mut sum = sum.with(on_host(&wind_frames, options), Addend::default()).unwrap();
        let difference = sum.differences().unwrap()[0];
        assert!(difference.positions > 20 && difference.outside == 0, "{difference:?}");
        let field = GridField::load(&mut sum, &Device::flex(), &options).unwrap();
        let found: Vec<Point> = floats(field.values().unwrap()).as_chunks().0.to_vec();
        let expected = Frames::new(first, Placement::Nodes, &[0.0], wind);
        assert_below("turn", distance(&found, expected.values[0].as_chunks().0), 1e-12);
    }
}

#[test]
fn nodes_outside_a_further_field_are_refused_or_add_nothing() {
    let first = Frames::new(axes(), Placement::Nodes, &[0.0], |_, _| [1.0, 0.0, 0.0]);
    let half = Frames::uniform([0.0, 0.0, 0.0], [0.5, 1.0, 0.9], &[0.0], |_| [4.0, 0.0, 0.0]);
    let options = FieldOptions { precision: Precision::F64, ..FieldOptions::default() };
    let sum = |addend: Addend| {
        Sum::on_grid(first.clone(), &options).unwrap().with(plain(&half), addend).unwrap()
    };
    let load = |mut sum: Sum<Frames>| GridField::load(&mut sum, &Device::flex(), &options);
    let refused = load(sum(Addend::default())).unwrap_err();
    let Error::Source { frame: 0, source } = refused else { panic!("{refused}") };
    // x = 0, 0.15625, 0.375 and z = 0, 0.5 are inside.
    let expected = "field[1] has no velocity at 36 of 60 nodes of the first field, the first at (x, y, z) = \
                    (0.65625, 0, 0)";
    assert!(source.to_string().contains(expected), "{source}");
    assert!(sum(Addend::default()).differences().is_err());
    let zero = Addend { outside: OutsideField::Zero, ..Addend::default() };
    for (extends_up, inside, outside) in [(false, 24, 36), (true, 36, 24)] {
        let addend = Addend { extends_up, ..zero };
        let field = load(sum(addend)).unwrap();
        let values = floats(field.values().unwrap());
        let [with, without] = [5.0, 1.0].map(|u| values.iter().filter(|x| **x == u).count());
        assert_eq!([with, without], [inside, outside]);
        assert_eq!(sum(addend).differences().unwrap()[0].outside, outside);
    }
}

#[test]
fn the_largest_difference_between_nodes_is_found() {
    // Nodes at 0, 1, 2, ... and a further field with u = x^2 y t at nodes 0.25 apart: its middles differ most, by 1 / 4.
    let coarse = [even_axis(0.0, 4.0, 4), even_axis(0.0, 2.0, 1), even_axis(-3.0, 0.0, 3)];
    let fine = [even_axis(-2.0, 6.0, 32), even_axis(-1.0, 3.0, 4), vec![0.0]];
    let times: Vec<f64> = (0..=100).map(f64::from).collect();
    let added =
        Frames::new(fine, Placement::Nodes, &times, |p, t| [p[0] * p[0] * p[1] * t, 0.0, 0.0]);
    let land = |p: Point| if p[0] == 1.0 && p[1] == 2.0 { f64::NAN } else { 0.5 };
    let first = |is_on_land: bool| {
        let u = move |p: Point, _| [if is_on_land { land(p) } else { 0.5 }, 0.0, 0.0];
        Frames::new(coarse.clone(), Placement::Nodes, &[0.0, 50.0], u)
    };
    for not_finite in [NotFinite::Error, NotFinite::Land] {
        let options = FieldOptions { not_finite, ..FieldOptions::default() };
        let is_on_land = not_finite == NotFinite::Land;
        let addend = Addend { factor: -0.5, rotate: 77.0, ..Addend::default() };
        let sum = Sum::on_grid(first(is_on_land), &options).unwrap();
        let mut sum = sum.with(plain(&added), addend).unwrap();
        let [Difference { velocity, position, time, positions, frames, outside }] =
            sum.differences().unwrap()[..]
        else {
            panic!("one field")
        };
        assert_below("difference", (velocity - 0.5 * 0.25 * 2.0 * 50.0).abs(), 1e-12);
        let x = if is_on_land { 2.5 } else { 0.5 };
        assert_eq!((position, time), ([x, 2.0, 0.0], 50.0));
        // The cells beside the land, up to x = 2, are not compared, but for their edge.
        assert_eq!(positions, if is_on_land { 9 * 3 } else { 17 * 3 });
        assert_eq!((frames, outside), (8, 0));
    }
}

#[test]
fn a_field_of_ones_own_is_evaluated_at_the_times_of_frames() {
    let first = Frames::new(axes(), Placement::Nodes, &[0.0, 2.0], |_, _| [0.0; 3]);
    let options = FieldOptions { precision: Precision::F64, ..FieldOptions::default() };
    let domain = burntrace::Domain::unbounded();
    let own = FieldFn::new(domain, &Device::flex(), Precision::F64, |p: Tensor<2>, t| p * t);
    let sum = Sum::on_grid(first, &options).unwrap();
    let mut sum = sum.with(Box::new(own), Addend::default()).unwrap();
    // Compared in the middle of cells: it is linear.
    let difference = sum.differences().unwrap()[0];
    assert!(difference.velocity < 1e-14 && difference.positions == 24, "{difference:?}");
    let field = GridField::load(&mut sum, &Device::flex(), &options).unwrap();
    let values: Vec<Point> = floats(field.values().unwrap()).as_chunks().0.to_vec();
    assert_eq!((values[59], values[119]), ([0.0; 3], [2.0; 3]));
}

#[test]
fn streamed_sums_of_streamed_fields_are_bit_identical() {
    let (own_times, other_times): (Vec<f64>, Vec<f64>) =
        ((0..9).map(f64::from).collect(), (0..17).map(|k| 0.4 * f64::from(k)).collect());
    let first = Frames::new(axes(), Placement::Nodes, &own_times, |p, t| own(p, 0.3 * t));
    let further = Frames::new(axes(), Placement::Nodes, &other_times, |p, t| other(p, 0.3 * t));
    let field = |frames: Held, of_further: Held| {
        let rule = OutsideTime::Hold;
        let options = FieldOptions { outside_time: rule, frames, ..FieldOptions::default() };
        let held = FieldOptions { frames: of_further, precision: Precision::F64, ..options };
        let further = GridField::open(Box::new(further.clone()), &Device::flex(), &held).unwrap();
        let sum = Sum::on_grid(first.clone(), &options).unwrap();
        let sum = sum.with(Box::new(further), half_turned()).unwrap();
        GridField::open(Box::new(sum), &Device::flex(), &options).unwrap()
    };
    let streamed = Held::Streamed(4);
    let tracks = |field: GridField, [from, to]: [f64; 2]| {
        let tracer = Tracer::new(&field).span(span(from, to, 0.1 * (to - from).signum()));
        trace(&tracer, &Seeds::list(seeds()).unwrap()).saves
    };
    for range in [[0.0, 8.0], [8.0, 0.0]] {
        let expected = tracks(field(Held::All, Held::All), range);
        for (frames, of_further) in [(Held::All, streamed), (streamed, streamed)] {
            assert_eq!(tracks(field(frames, of_further), range), expected, "{range:?}");
        }
    }
}

#[test]
fn damaged_sources_are_refused_as_by_a_field() {
    let options = FieldOptions::default();
    let empty = Frames { axes: [vec![0.0, 1.0], vec![0.0, 1.0], vec![]], ..other_frames() };
    assert!(matches!(Sum::on_grid(empty, &options), Err(Error::Empty(_))));
    let mut short = other_frames();
    short.values[0].pop();
    let sum = Sum::on_grid(short, &options).unwrap();
    let mut sum = sum.with(plain(&other_frames()), Addend::default()).unwrap();
    let loaded = GridField::load(&mut sum, &Device::flex(), &options);
    for error in [sum.differences().err(), loaded.err()] {
        assert!(matches!(error, Some(Error::FrameSize { frame: 0, found: 143, .. })), "{error:?}");
    }
    let mut made = mixed(2);
    made.cells.connectivity[0] = 1000;
    let mesh = MeshFrames::new(&made, &[0.0], |_, _| [0.0; 3]);
    let sum = Sum::on_mesh(mesh, &options, CellVelocity::Constant);
    assert!(matches!(sum, Err(Error::Mesh(_))));
}

#[test]
fn factors_and_times_that_do_not_fit_are_refused() {
    let frames = |times: &[f64]| Frames::new(axes(), Placement::Nodes, times, |_, _| [0.0; 3]);
    let with = |other: Box<dyn Field>, addend: Addend| {
        let sum = Sum::on_grid(frames(&[0.0, 1.0]), &FieldOptions::default()).unwrap();
        sum.with(other, addend).err().unwrap().to_string()
    };
    let nan = Addend { factor: f64::NAN, ..Addend::default() };
    assert!(with(plain(&frames(&[0.0])), nan).contains("field[1]: its factor is NaN"));
    let text = with(plain(&frames(&[2.0, 3.0])), Addend::default());
    assert!(text.contains("no range of time in common"), "{text}");
    let zero = on_host(&frames(&[0.0, 3.0]), outside(OutsideTime::Zero));
    assert!(with(zero, Addend::default()).contains("outside its times is Zero"));
}

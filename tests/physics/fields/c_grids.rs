//! Grids of ocean models: meshes on a sphere, and velocities on the faces of cells.

use crate::{common::*, lattice::Lattice};
use burn::tensor::{Tensor, TensorData};
use burntrace::{
    BoundaryCondition, EARTH_RADIUS, Engine, Field, FieldOptions, GridField, MeshField, Placement,
    SaveAt, Scheme, Seeds, Tracer, sphere,
};

const FACES: (Placement, Option<f64>) = (Placement::Faces, None);

fn flat_distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    (b[0] - a[0]).hypot(b[1] - a[1])
}

fn velocities(field: &MeshField, positions: &[[f64; 3]]) -> Vec<[f64; 3]> {
    let data = TensorData::new(positions.as_flattened().to_vec(), [positions.len(), 3]);
    let dtype = field.precision().dtype();
    rows(field.velocity(Tensor::from_data(data, (&field.device(), dtype)), 0.0))
}

#[test]
fn a_mesh_on_a_sphere_is_traced_as_the_grid_on_it() {
    let axes = [even_axis(-20.0, 40.0, 12), even_axis(30.0, 80.0, 10), even_axis(-100.0, 0.0, 4)];
    let velocity = |[lon, lat, z]: [f64; 3], _: f64| {
        let (lon, lat) = (lon.to_radians(), lat.to_radians());
        [3.0 + (4.0 * lon).sin(), (3.0 * lat + lon).cos(), 1e-4 * (z / 50.0).sin()]
    };
    let lattice = Lattice::of_axes(&axes);
    let numbers: Vec<_> = lattice.points.iter().map(|p| velocity(*p, 0.0)).collect();
    let seeds = Seeds::list(Dice(3).points([-10.0, 40.0, -90.0], [10.0, 70.0, -10.0], 40)).unwrap();
    for machine in some_machines() {
        let options = FieldOptions { radius: Some(EARTH_RADIUS), ..FieldOptions::default() };
        let frames = Frames::new(axes.clone(), Placement::Nodes, &[0.0], velocity);
        let grid: GridField = machine.load(&frames, options);
        let of = |field: &dyn Field, engine: Engine| {
            let tracer = Tracer::new(field).span(steps(0.0, 4e5, 100)).engine(engine);
            trace(&tracer, &seeds).last().to_vec()
        };
        let expected = of(&grid, Engine::Fused);
        let mesh = lattice.field(&machine, (Placement::Nodes, Some(EARTH_RADIUS)), &numbers);
        for engine in machine.engines() {
            let bound = if machine.is_double() { 1e-9 } else { 2e-3 };
            let found = distance(&of(&mesh, *engine), &expected);
            assert_below(&format!("{machine}, {engine:?}, degrees and metres"), found, bound);
        }
    }
}

/// The velocity in a cell of a rectilinear grid.
fn in_rectilinear(
    lattice: &Lattice,
    axes: &[Vec<f64>; 3],
    numbers: &[[f64; 3]],
    p: [f64; 3],
) -> [f64; 3] {
    let cell = [0, 1, 2].map(|d| {
        let last = axes[d].len() - 2;
        axes[d].iter().filter(|x| **x <= p[d]).count().saturating_sub(1).min(last)
    });
    [0, 1, 2].map(|d| {
        let part = (p[d] - axes[d][cell[d]]) / (axes[d][cell[d] + 1] - axes[d][cell[d]]);
        let mut next = cell;
        next[d] += 1;
        let [low, high] = [cell, next].map(|at| numbers[lattice.number(at)][d]);
        low + part * (high - low)
    })
}

#[test]
fn random_velocities_on_faces_are_those_of_a_calculation_by_hand() {
    let axes = [stretched_axis(0.0, 9.0, 9), stretched_axis(0.0, 9.0, 9), even_axis(0.0, 4.0, 4)];
    let lattice = Lattice::of_axes(&axes);
    let numbers = Dice(11).points([-0.2; 3], [0.2; 3], lattice.points.len());
    let velocity = |p| in_rectilinear(&lattice, &axes, &numbers, p);
    let seeds = Dice(12).points([2.0, 2.0, 1.0], [7.0, 7.0, 3.0], 60);
    let ends: Vec<[f64; 3]> = seeds.iter().map(|p| rk4(*p, 4, 1.0, velocity)).collect();
    for machine in machines() {
        let field = lattice.field(&machine, FACES, &numbers);
        for engine in machine.engines() {
            let tracer = Tracer::new(&field).span(steps(0.0, 4.0, 4)).engine(*engine);
            let run = trace(&tracer, &Seeds::list(seeds.clone()).unwrap());
            let found = distance(run.last(), &ends);
            assert_below(&format!("{machine}, {engine:?}"), found, 40.0 * machine.eps());
        }
    }
}

fn rk4(p: [f64; 3], steps: usize, h: f64, velocity: impl Fn([f64; 3]) -> [f64; 3]) -> [f64; 3] {
    let moved = |p: [f64; 3], v: [f64; 3], h: f64| [0, 1, 2].map(|d| p[d] + h * v[d]);
    (0..steps).fold(p, |p, _| {
        let a = velocity(p);
        let b = velocity(moved(p, a, 0.5 * h));
        let c = velocity(moved(p, b, 0.5 * h));
        let d = velocity(moved(p, c, h));
        let mean = [0, 1, 2].map(|k| (a[k] + 2.0 * b[k] + 2.0 * c[k] + d[k]) / 6.0);
        moved(p, mean, h)
    })
}

/// The flow around a peninsula (Adlandsvik 2009, as in Parcels), from its stream function at corners.
fn peninsula() -> (Lattice, Vec<[f64; 3]>) {
    let lattice =
        Lattice::new([100, 50, 1], |[i, j, _]| [1e3 * (i + 1) as f64, 1e3 * (j + 1) as f64, 0.0]);
    let (centre, radius) = (5e4, 0.32 * 5e4);
    let stream = move |[x, y, _]: [f64; 3]| {
        let around = (x - centre).powi(2) + y * y;
        (radius * radius * y / around - y).min(0.0)
    };
    let numbers = lattice.of_stream(stream, flat_distance);
    (lattice, numbers)
}

#[test]
fn a_peninsula_is_passed_as_the_exact_flow_in_cells_by_the_errors_of_rk4() {
    let (lattice, numbers) = peninsula();
    let seeds = Seeds::list(vec![[3e3, 3e3, 0.0]]).unwrap();
    // The exact end, and the distances of RK4 with steps of 30 minutes, halved again and again, in metres.
    let exact = [73_707.054_498_56, 4_719.347_537_51, 0.0];
    let expected = [50.6, 82.8, 102.8, 45.1, 18.6, 10.4, 4.7];
    for machine in double_machines() {
        let field = lattice.field(&machine, FACES, &numbers);
        for (k, expected) in expected.into_iter().enumerate() {
            let tracer = Tracer::new(&field).span(steps(0.0, 82_800.0, 46 << k));
            let end = trace(&tracer, &seeds).last()[0];
            let off = flat_distance(end, exact);
            assert!((off - expected).abs() <= 0.06, "{machine}, {k}: {off}");
        }
    }
}

#[test]
fn the_stream_function_does_not_change_along_the_flow_in_warped_cells() {
    let mut dice = Dice(5);
    let shaken = dice.points([-0.3, -0.3, 0.0], [0.3, 0.3, 0.0], 36);
    let lattice = Lattice::new([6, 6, 1], |[i, j, _]| {
        let [x, y, _] = shaken[i + 6 * j];
        [i as f64 + x + 0.4 * j as f64, j as f64 + y, 0.0]
    });
    let streams: Vec<f64> = (0..36).map(|_| dice.between(-1.0, 1.0)).collect();
    let at = |p: [f64; 3]| lattice.points.iter().position(|q| *q == p).unwrap();
    let numbers = lattice.of_stream(|p| streams[at(p)], flat_distance);
    for machine in exact_machines() {
        let field = lattice.field(&machine, FACES, &numbers);
        for (cell, part) in (0..25).zip(Dice(6).points([0.1, 0.1, 0.0], [0.9, 0.9, 1.0], 25)) {
            let [r, s, _] = part;
            let nodes = lattice.cells.nodes(cell);
            let corner = |k: usize, d: usize| match d {
                2 => streams[nodes[k] as usize],
                _ => lattice.points[nodes[k] as usize][d],
            };
            let mix = |d: usize, r: f64, s: f64| {
                (1.0 - s) * ((1.0 - r) * corner(0, d) + r * corner(1, d))
                    + s * ((1.0 - r) * corner(3, d) + r * corner(2, d))
            };
            let slope = |d: usize| {
                let by_r = mix(d, 1.0, s) - mix(d, 0.0, s);
                [by_r, mix(d, r, 1.0) - mix(d, r, 0.0)]
            };
            let [u, v, _] = velocities(&field, &[[mix(0, r, s), mix(1, r, s), 0.0]])[0];
            let ([xr, xs], [yr, ys], [fr, fs]) = (slope(0), slope(1), slope(2));
            let (dr, ds) = (ys * u - xs * v, xr * v - yr * u);
            assert_below(&format!("{machine}, {cell}"), (fr * dr + fs * ds).abs(), 1e-12);
        }
    }
}

/// Metres along the straight line in longitude and latitude.
fn metres(a: [f64; 3], b: [f64; 3]) -> f64 {
    let cos = (0.5 * (a[1] + b[1])).to_radians().cos();
    EARTH_RADIUS * 1_f64.to_radians() * (cos * (b[0] - a[0])).hypot(b[1] - a[1])
}

/// A lattice around 180 degrees east, 81 north, whose axes are turned from the parallels.
fn arctic(cells: usize) -> Lattice {
    let step = 4.0 / cells as f64;
    Lattice::new([cells + 1, cells + 1, 2], |[i, j, k]| {
        let (x, y) = (step * i as f64 - 2.0, step * j as f64 - 2.0);
        let (along, across) = (0.8 * x - 0.6 * y, 0.6 * x + 0.8 * y);
        [180.0 + 4.0 * along, 81.0 + 0.8 * across, -10.0 * (1.0 - k as f64)]
    })
}

#[test]
fn a_flow_to_the_east_on_faces_keeps_the_latitude() {
    let start: [f64; 3] = [175.5, 81.3, -5.0];
    let speed = 1.0;
    // The stream function of a velocity of 1 m/s to the east everywhere, and of a little more in the north.
    let stream = |[_, lat, _]: [f64; 3]| -speed * EARTH_RADIUS * lat.to_radians();
    let seconds = 36_000.0;
    let scale = EARTH_RADIUS * 1_f64.to_radians() * start[1].to_radians().cos();
    let exact = [start[0] + speed * seconds / scale, start[1], start[2]];
    for machine in exact_machines() {
        let error = |cells: usize| {
            let lattice = arctic(cells);
            let numbers = lattice.of_stream(stream, metres);
            let field = lattice.field(&machine, (Placement::Faces, Some(EARTH_RADIUS)), &numbers);
            let ends = machine.engines().iter().map(|engine| {
                let tracer = Tracer::new(&field).span(steps(0.0, seconds, 100)).engine(*engine);
                trace(&tracer, &Seeds::list(vec![start]).unwrap()).last()[0]
            });
            let ends: Vec<[f64; 3]> = ends.collect();
            assert_below(&format!("{machine}, engines"), distance(&ends[..1], &ends[1..]), 1e-10);
            metres(ends[0], exact)
        };
        let errors = [20, 40, 80].map(error);
        assert!(errors[2] < 2.0 && errors[2] < 0.4 * errors[0], "{machine}: {errors:?}");
    }
}

#[test]
fn cards_and_single_precision_follow_faces_on_a_sphere_within_metres() {
    let lattice = arctic(24);
    let stream = |[lon, lat, _]: [f64; 3]| {
        EARTH_RADIUS * (lat.to_radians() + 0.02 * (40.0 * lon.to_radians()).sin())
    };
    let mut numbers = lattice.of_stream(stream, metres);
    numbers.iter_mut().for_each(|[.., w]| *w = 1e-5);
    let starts = Dice(8).points([178.0, 80.6, -8.0], [182.0, 81.4, -4.0], 30);
    let mut exact = None;
    for machine in exact_machines().into_iter().take(1).chain(machines()) {
        let field = lattice.field(&machine, (Placement::Faces, Some(EARTH_RADIUS)), &numbers);
        let tracer = Tracer::new(&field).span(steps(0.0, 36_000.0, 30)).scheme(Scheme::Rk4);
        let run = trace(&tracer, &Seeds::list(starts.clone()).unwrap());
        let expected = exact.get_or_insert_with(|| run.last().to_vec());
        let off =
            run.last().iter().zip(&*expected).map(|(a, b)| metres(*a, *b)).fold(0.0, f64::max);
        let bound = if machine.is_double() { 1e-4 } else { 20.0 };
        assert_below(&format!("{machine}, metres"), off, bound);
    }
}

#[test]
fn a_sloping_bottom_on_a_sphere_is_slid_along_at_the_speed_of_the_flow() {
    // 40 m over 0.04 degrees, some 4.4 km.
    let bottom = |lon: f64| -100.0 + 1000.0 * lon;
    let lattice = Lattice::new([5, 3, 2], |[i, j, k]| {
        let lon = 0.01 * i as f64;
        [lon, 0.01 * j as f64, if k == 0 { bottom(lon) } else { 0.0 }]
    });
    let numbers = vec![[1.0, 0.0, 0.0]; lattice.points.len()];
    let start = [0.002, 0.01, bottom(0.002) + 0.5];
    for machine in exact_machines() {
        let field = lattice.field(&machine, (Placement::Nodes, Some(EARTH_RADIUS)), &numbers);
        for engine in machine.engines() {
            let tracer = Tracer::new(&field).mesh_wall(BoundaryCondition::Slide).engine(*engine);
            let tracer = tracer.span(steps(0.0, 2000.0, 200)).save(SaveAt::End);
            let end = trace(&tracer, &Seeds::list(vec![start]).unwrap()).last()[0];
            let moved = metres(start, [end[0], end[1], 0.0]);
            // What the slope takes: the square of 1000 m in a degree.
            let slope = 1000.0 / sphere::scales(EARTH_RADIUS, [0.0, 0.01, 0.0])[0];
            let expected = 2000.0 / (1.0 + slope * slope);
            assert_below(&format!("{machine}, {engine:?}, metres"), (moved - expected).abs(), 1.0);
            let above = end[2] - bottom(end[0]);
            assert!((-1e-6..0.2).contains(&above), "{machine}, {engine:?}: {above}");
        }
    }
}

#[test]
fn faces_need_cells_with_vertical_sides() {
    let leaning =
        Lattice::new([2, 2, 2], |[i, j, k]| [i as f64 + 0.1 * k as f64, j as f64, k as f64]);
    let message = |lattice: &Lattice| {
        let machine = &exact_machines()[0];
        let made = ((lattice.points.clone(), lattice.cells.clone()), vec![0.0]);
        let values = Tensor::<3>::zeros([1, lattice.points.len(), 3], &machine.device);
        let options = FieldOptions::default();
        MeshField::from_tensor(made.0, made.1, Placement::Faces, values, &options)
            .unwrap_err()
            .to_string()
    };
    assert!(message(&leaning).contains("the sides of cell 0 are not vertical"));
    let upright = Lattice::new([2, 2, 1], |[i, j, _]| [0.0, i as f64, j as f64]);
    assert!(message(&upright).contains("cell 0 is a Quad, and values are on faces"));
}

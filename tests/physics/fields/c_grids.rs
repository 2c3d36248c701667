//! Grids of ocean models: meshes on a sphere, and velocities on the faces of cells.

use crate::{common::*, lattice::Lattice};
use burn::tensor::{Tensor, TensorData};
use burntrace::{
    BoundaryCondition, CellKind, EARTH_RADIUS, Field, FieldOptions, GridField, MeshField,
    Placement, SaveAt, Scheme, Seeds, Status, Tracer, mesh::Cells, sphere,
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
        let of = |field: &dyn Field| trace(&Tracer::new(field).span(steps(0.0, 4e5, 100)), &seeds);
        let mesh = lattice.field(&machine, (Placement::Nodes, Some(EARTH_RADIUS)), &numbers);
        let bound = if machine.is_double() { 1e-9 } else { 2e-3 };
        let (found, expected) = (of(&mesh), of(&grid));
        assert_eq!(found.status, expected.status, "{machine}");
        // In its last step, a stage of a particle that leaves is outside.
        let active = (0..seeds.len()).filter(|i| found.status[*i] == Status::Active);
        for i in active {
            let off = distance(&[found.last()[i]], &[expected.last()[i]]);
            assert_below(&format!("{machine}, {i}, degrees and metres"), off, bound);
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
    let axes = [even_axis(0.0, 1e5, 99), even_axis(0.0, 5e4, 49), vec![0.0]];
    let lattice = Lattice::of_axes(&axes);
    let (centre, radius) = (5e4, 0.32 * 5e4);
    let stream = move |[x, y, _]: [f64; 3]| {
        let around = (x - centre).powi(2) + y * y;
        if y == 0.0 { 0.0 } else { (radius * radius * y / around - y).min(0.0) }
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
    let expected = [50.57, 82.77, 102.76, 45.09, 18.60, 10.38, 4.66];
    for machine in double_machines() {
        let field = lattice.field(&machine, FACES, &numbers);
        for (k, expected) in expected.into_iter().enumerate() {
            let tracer = Tracer::new(&field).span(steps(0.0, 82_800.0, 46 << k));
            let end = trace(&tracer, &seeds).last()[0];
            let off = flat_distance(end, exact);
            assert!((off - expected).abs() <= 0.006, "{machine}, {k}: {off}");
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
    let [scale, ..] = sphere::scales(EARTH_RADIUS, start);
    let exact = [start[0] + speed * seconds / scale, start[1], start[2]];
    for machine in exact_machines() {
        let error = |cells: usize| {
            let lattice = arctic(cells);
            let numbers = lattice.of_stream(stream, metres);
            let field = lattice.field(&machine, (Placement::Faces, Some(EARTH_RADIUS)), &numbers);
            let tracer = Tracer::new(&field).span(steps(0.0, seconds, 100));
            metres(trace(&tracer, &Seeds::list(vec![start]).unwrap()).last()[0], exact)
        };
        let errors = [20, 40, 80].map(error);
        assert!(errors.iter().all(|error| *error < 1e-6), "{machine}: {errors:?}");
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
        let tracer = Tracer::new(&field).mesh_wall(BoundaryCondition::Slide);
        let tracer = tracer.span(steps(0.0, 2000.0, 200)).save(SaveAt::End);
        let end = trace(&tracer, &Seeds::list(vec![start]).unwrap()).last()[0];
        // What the slope takes: the square of 1000 m in a degree.
        let slope = 1000.0 / sphere::scales(EARTH_RADIUS, [0.0, 0.01, 0.0])[0];
        let expected = 2000.0 / (1.0 + slope * slope);
        let moved = metres(start, [end[0], end[1], 0.0]);
        assert_below(&format!("{machine}, metres"), (moved - expected).abs(), 1.0);
        let above = end[2] - bottom(end[0]);
        assert!((-1e-6..0.2).contains(&above), "{machine}: {above}");
    }
}

#[test]
fn operations_on_tensors_and_the_fused_operation_sample_faces_alike() {
    let (warped, on_sphere) = (warped(), arctic(6));
    for (lattice, radius, low, high) in [
        (warped, None, [2.0, 1.0, 0.1], [5.0, 4.0, 0.9]),
        (on_sphere, Some(EARTH_RADIUS), [178.0, 80.6, -9.0], [182.0, 81.4, -1.0]),
    ] {
        let numbers = Dice(21).points([-1.0; 3], [1.0; 3], lattice.points.len());
        let positions = Dice(22).points(low, high, 50);
        for machine in exact_machines() {
            let field = lattice.field(&machine, (Placement::Faces, radius), &numbers);
            let data = TensorData::new(positions.as_flattened().to_vec(), [positions.len(), 3]);
            let position = Tensor::from_data(data, (&machine.device, field.precision().dtype()));
            let fused = rows(field.sample(position, 0.0).unwrap().velocity.unwrap());
            let apart = distance(&fused, &velocities(&field, &positions));
            assert_below(&format!("{machine}, {radius:?}"), apart, 1e-11);
        }
    }
}

/// A lattice of two layers whose cells are no parallelograms.
fn warped() -> Lattice {
    let shaken = Dice(5).points([-0.3, -0.3, 0.0], [0.3, 0.3, 0.0], 36);
    Lattice::new([6, 6, 2], |[i, j, k]| {
        let [x, y, _] = shaken[i + 6 * j];
        [i as f64 + x + 0.4 * j as f64, j as f64 + y, k as f64 * (1.0 + 0.1 * x)]
    })
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
    assert!(message(&upright).contains("cells are in a plane x = const, and values are on faces"));
}

/// The cells of a lattice that are sea, and the number of the connected sea of each.
fn seas(lattice: &Lattice, is_sea: &[bool]) -> (Lattice, Vec<usize>) {
    let mut kept = Lattice { cells: Default::default(), ..lattice.clone() };
    kept.cells.offsets.push(0);
    let [nx, ny, _] = lattice.nodes.map(|n| n.max(2) - 1);
    let mut sea = vec![usize::MAX; is_sea.len()];
    let mut numbers = Vec::new();
    for cell in 0..is_sea.len() {
        if !is_sea[cell] {
            continue;
        }
        let mut open = vec![cell];
        while let Some(at) = open.pop() {
            if !is_sea[at] || sea[at] != usize::MAX {
                continue;
            }
            sea[at] = cell;
            // Seas that touch at a corner are one: it belongs to both.
            let (i, j) = (at % nx, at / nx);
            for (b, a) in [(0, 0), (0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1), (2, 2)] {
                if (1..=nx).contains(&(i + a)) && (1..=ny).contains(&(j + b)) {
                    open.push(i + a - 1 + nx * (j + b - 1));
                }
            }
        }
        kept.cells.kinds.push(lattice.cells.kinds[cell]);
        kept.cells.connectivity.extend(lattice.cells.nodes(cell));
        kept.cells.offsets.push(kept.cells.connectivity.len() as u32);
        numbers.push(sea[cell]);
    }
    (kept, numbers)
}

#[test]
fn nobody_leaves_a_sea_of_random_cells_with_random_velocities_on_their_faces() {
    let mut dice = Dice(77);
    for (round, condition) in
        [BoundaryCondition::Slide, BoundaryCondition::Reflect].into_iter().enumerate()
    {
        let shaken = dice.points([-0.25, -0.25, 0.0], [0.25, 0.25, 0.0], 21 * 21);
        let whole = Lattice::new([21, 21, 1], |[i, j, _]| {
            let [x, y, _] = shaken[i + 21 * j];
            [i as f64 + x, j as f64 + y, 0.0]
        });
        let is_sea: Vec<bool> = (0..400).map(|_| dice.between(0.0, 1.0) > 0.35).collect();
        let (lattice, seas) = seas(&whole, &is_sea);
        // Through faces at land, too: what a step meets is the boundary of the cells.
        let numbers = dice.points([-0.7, -0.7, 0.0], [0.7, 0.7, 0.0], lattice.points.len());
        let inside = |cell: usize| {
            let nodes = lattice.cells.nodes(cell);
            [0, 1, 2]
                .map(|d| nodes.iter().map(|n| lattice.points[*n as usize][d]).sum::<f64>() / 4.0)
        };
        let starts: Vec<[f64; 3]> = (0..lattice.cells.len()).map(inside).collect();
        for machine in exact_machines() {
            let field = lattice.field(&machine, FACES, &numbers);
            let tracer = Tracer::new(&field).mesh_wall(condition).all_faces(condition);
            let tracer = tracer.span(steps(0.0, 1000.0, 2000)).save(SaveAt::EverySteps(50));
            let tracks = trace(&tracer, &Seeds::list(starts.clone()).unwrap());
            for save in &tracks.saves {
                let data = TensorData::new(save.as_flattened().to_vec(), [save.len(), 3]);
                let dtype = field.precision().dtype();
                let position = Tensor::from_data(data, (&machine.device, dtype));
                let cells = integers(field.locate(position));
                for (i, cell) in cells.into_iter().enumerate() {
                    let what = format!("{machine}, {round}, {i} at {:?}", save[i]);
                    assert!(cell >= 0, "{what} is on land");
                    let cell = field.origins().cells[cell as usize];
                    assert_eq!(seas[cell], seas[i], "{what} is in another sea");
                }
            }
            assert!(tracks.status.iter().all(|status| *status == Status::Active), "{machine}");
        }
    }
}

#[test]
fn particles_cross_the_fold_of_a_grid() {
    // Rows of the left half end at y = 0, where those of the right half come back from the other side.
    let (columns, rows): (usize, usize) = (4, 3);
    let speed = |column: usize| 1.0 + 0.1 * column as f64;
    let (mut points, mut cells, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
    for half in 0..2 {
        let first = points.len() as u32;
        for (j, i) in (0..=rows).flat_map(|j| (0..=columns).map(move |i| (j, i))) {
            let (x, y) = (i as f64, j as f64 - rows as f64);
            let is_back = half == 1;
            points.push(if is_back { [columns as f64 - x, -y, 0.0] } else { [x, y, 0.0] });
            let column = if is_back { (columns - 1).saturating_sub(i) } else { i };
            numbers.push([0.0, if is_back { -speed(column) } else { speed(column) }, 0.0]);
            if i < columns && j < rows {
                let node = first + (j * (columns + 1) + i) as u32;
                let above = node + columns as u32 + 1;
                cells.push([node, node + 1, above + 1, above]);
            }
        }
    }
    let kinds = vec![CellKind::Quad; cells.len()];
    let offsets = (0..=cells.len() as u32).map(|k| 4 * k).collect();
    let cells = Cells { kinds, offsets, connectivity: cells.into_flattened() };
    let seeds: Vec<[f64; 3]> = (0..columns).map(|k| [k as f64 + 0.3, -1.7, 0.0]).collect();
    let ends: Vec<[f64; 3]> =
        seeds.iter().zip(0..).map(|([x, y, z], k)| [*x, y + 2.5 * speed(k), *z]).collect();
    for machine in some_machines() {
        let data = TensorData::new(numbers.as_flattened().to_vec(), [1, points.len(), 3]);
        let values = Tensor::from_data(data, (&machine.device, machine.precision.dtype()));
        let options = FieldOptions { precision: machine.precision, ..FieldOptions::default() };
        let made = ((points.clone(), cells.clone()), vec![0.0]);
        let field =
            MeshField::from_tensor(made.0, made.1, Placement::Faces, values, &options).unwrap();
        for engine in machine.engines() {
            let tracer = Tracer::new(&field).span(steps(0.0, 2.5, 10)).engine(*engine);
            let run = trace(&tracer, &Seeds::list(seeds.clone()).unwrap());
            assert_eq!(run.status, [Status::Active; 4], "{machine}, {engine:?}");
            let found = distance(run.last(), &ends);
            assert_below(&format!("{machine}, {engine:?}"), found, 40.0 * machine.eps());
        }
    }
}

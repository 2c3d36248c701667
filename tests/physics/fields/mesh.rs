//! Fields on meshes of all cell types, conforming and torn, against formulas and the tensor engine.

use crate::{common::*, meshes::*};
use burn::tensor::{Device, Tensor, TensorData};
use burntrace::{
    BoundaryCondition, CellKind, CellVelocity, Engine, Field, FieldOptions, Floats, FrameData,
    FrameSource, MeshField, MeshSource, Placement, SaveAt, Scheme, Seeds, SourceError, Status,
    Tracer, io, mesh::Cells,
};

/// Meshes on which a linear velocity is exact.
fn made() -> Vec<(String, CellKind, Made)> {
    let mut all = Vec::new();
    for kind in SOLID.iter().chain(FLAT) {
        let made = Made::of(5, shake(*kind), *kind);
        all.push((format!("{} torn", kind.table().name), *kind, made.torn(3)));
        all.push((kind.table().name.to_owned(), *kind, made));
    }
    // Pyramids beside hexahedra use other kernels.
    all.push(("mixed torn".to_owned(), CellKind::Pyramid, mixed(6).torn(4)));
    all.push(("mixed".to_owned(), CellKind::Pyramid, mixed(6)));
    all
}

/// A linear velocity that rotates about the centre of the unit box.
fn linear([x, y, z]: [f64; 3], t: f64) -> [f64; 3] {
    let [x, y, z] = [x - 0.5, y - 0.5, z - 0.5];
    let growth = 1.0 + 0.5 * t;
    [growth * (-y + 0.3 * z), growth * (x - 0.2 * z), growth * (-0.3 * x + 0.2 * y)]
}

/// The same without z.
fn flat([x, y, _]: [f64; 3], t: f64) -> [f64; 3] {
    let growth = 1.0 + 0.5 * t;
    [growth * (0.5 - y), growth * (x - 0.5), 7.0]
}

/// Classical Runge-Kutta steps of a formula.
fn follow(
    velocity: impl Fn([f64; 3], f64) -> [f64; 3],
    mut p: [f64; 3],
    (t0, h, steps): (f64, f64, usize),
    moving: usize,
) -> [f64; 3] {
    let go = |p: [f64; 3], v: [f64; 3], h: f64| -> [f64; 3] {
        std::array::from_fn(|d| if d < moving { p[d] + h * v[d] } else { p[d] })
    };
    for step in 0..steps {
        let t = t0 + step as f64 * h;
        let k1 = velocity(p, t);
        let k2 = velocity(go(p, k1, 0.5 * h), t + 0.5 * h);
        let k3 = velocity(go(p, k2, 0.5 * h), t + 0.5 * h);
        let k4 = velocity(go(p, k3, h), t + h);
        let k = std::array::from_fn(|d| (k1[d] + 2.0 * k2[d] + 2.0 * k3[d] + k4[d]) / 6.0);
        p = go(p, k, h);
    }
    p
}

#[test]
fn tracks_in_a_linear_velocity_are_exact_on_every_mesh() {
    let seeds = Dice(5).points([0.3, 0.3, 0.3], [0.7, 0.7, 0.7], 60);
    for (name, kind, made) in made() {
        let is_flat = made.cells.kinds[0].dimension() == 2;
        let moving = if is_flat { 2 } else { 3 };
        let velocity = if is_flat { flat } else { linear };
        let frames = MeshFrames::new(&made, &[0.0, 1.0, 2.0], velocity);
        let expected: Vec<_> =
            seeds.iter().map(|p| follow(velocity, *p, (0.0, 0.05, 40), moving)).collect();
        for machine in machines_for(kind) {
            let field = frames.field(&machine);
            let tracer = Tracer::new(&field).span(steps(0.0, 2.0, 40));
            let run = trace(&tracer, &Seeds::list(seeds.clone()).unwrap());
            let error = distance(run.last(), &expected);
            assert_below(&format!("{name}, {machine}"), error, 100.0 * machine.eps());
        }
    }
}

/// Six frusta around a cube of some size in the middle of the unit cube; without it, six pyramids.
fn frusta(size: f64) -> MeshFrames {
    let faces =
        [[0, 1, 2, 3], [4, 7, 6, 5], [0, 3, 7, 4], [1, 5, 6, 2], [0, 4, 5, 1], [3, 2, 6, 7]];
    let corner =
        |k: usize| [k % 4 == 1 || k % 4 == 2, k % 4 >= 2, k >= 4].map(|x| f64::from(u8::from(x)));
    let inner = |k: usize| corner(k).map(|x| 0.5 + size * (x - 0.5));
    let points: Vec<[f64; 3]> = (0..8).map(corner).chain((0..8).map(inner)).collect();
    let mut connectivity = faces.map(|face| [face, face.map(|node| node + 8)].concat()).concat();
    if size > 0.0 {
        connectivity.extend(8..16);
    }
    let count = connectivity.len() / 8;
    let cells = Cells {
        kinds: vec![CellKind::Hexahedron; count],
        offsets: (0..=count as u32).map(|k| 8 * k).collect(),
        connectivity,
    };
    let values = vec![points.iter().flat_map(|p| linear(*p, 0.0)).collect()];
    MeshFrames { points, cells, placement: Placement::Nodes, times: vec![0.0], values }
}

#[test]
fn tracks_are_exact_in_tapered_and_collapsed_hexahedra() {
    let mut seeds = Dice(5).points([0.3, 0.3, 0.3], [0.7, 0.7, 0.7], 60);
    seeds.extend([1e-1, 1e-3, 1e-5, 1e-7].map(|x| [0.5 + x, 0.5 - 0.3 * x, 0.5 + 0.7 * x]));
    let expected: Vec<_> =
        seeds.iter().map(|p| follow(|p, _| linear(p, 0.0), *p, (0.0, 0.05, 40), 3)).collect();
    for size in [0.0, 1e-10, 1e-6, 1e-3, 0.2] {
        for machine in machines_for(CellKind::Hexahedron) {
            let field = frusta(size).field(&machine);
            let tracer = Tracer::new(&field).span(steps(0.0, 2.0, 40));
            let run = trace(&tracer, &Seeds::list(seeds.clone()).unwrap());
            let what = format!("{size}, {machine}");
            assert!(
                run.status.iter().all(|status| *status == Status::Active),
                "{what}: {:?}",
                run.status
            );
            assert_below(&what, distance(run.last(), &expected), 100.0 * machine.eps());
        }
    }
}

/// Polyhedra, alone and beside hexahedra, in files.
const POLYHEDRA: [(&str, [f64; 3]); 2] =
    [("polyhedra.vtu", [1.0, 1.0, 1.0]), ("octree.vtu", [3.0, 2.0, 2.0])];

fn polyhedra(name: &str, machine: &Machine) -> MeshField {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/composite");
    let velocity = io::VelocityName::Array("rotation".into());
    let options = io::SeriesOptions { velocity, ..Default::default() };
    let mut series = io::MeshSeries::open(path.join(name), &options).unwrap();
    let options = FieldOptions { precision: machine.precision, ..FieldOptions::default() };
    MeshField::load(&mut series, &machine.device, &options, CellVelocity::Constant).unwrap()
}

#[test]
fn tracks_in_a_solid_rotation_are_exact_in_polyhedra() {
    for (name, high) in POLYHEDRA {
        let centre = high.map(|x| 0.5 * x);
        let seeds = Dice(6).points(centre.map(|x| x - 0.25), centre.map(|x| x + 0.25), 60);
        let velocity =
            |p: [f64; 3], _: f64| linear(std::array::from_fn(|d| p[d] - centre[d] + 0.5), 0.0);
        let expected: Vec<_> =
            seeds.iter().map(|p| follow(velocity, *p, (0.0, 0.05, 40), 3)).collect();
        for machine in machines_for(CellKind::Hexahedron) {
            let field = polyhedra(name, &machine);
            let tracer = Tracer::new(&field).span(steps(0.0, 2.0, 40));
            let run = trace(&tracer, &Seeds::list(seeds.clone()).unwrap());
            let error = distance(run.last(), &expected);
            assert_below(&format!("{name}, {machine}"), error, 100.0 * machine.eps());
        }
    }
}

#[test]
fn million_positions_in_polyhedra_are_located() {
    for (name, high) in POLYHEDRA {
        let positions = Dice(7).points([0.0; 3], high, 1_000_000);
        for machine in machines().into_iter().filter(|machine| !machine.is_double()) {
            let cells = located(&polyhedra(name, &machine), &machine, &positions);
            let lost = cells.iter().filter(|cell| **cell < 0).count();
            assert_eq!(lost, 0, "{name}, {machine}");
        }
    }
}

/// Random positions in a mesh: at points, on edges and faces, and inside cells.
fn positions(made: &Made, count: usize) -> Vec<[f64; 3]> {
    let mut dice = Dice(8);
    let mut position = |i: usize| {
        let cell = dice.bits() as usize % made.cells.len();
        let kind = made.cells.kinds[cell];
        let table = kind.table();
        let corners: Vec<[f64; 3]> = match i % 4 {
            // At a vertex, on an edge, on a face, inside.
            0 => vec![dice.pick(table.nodes)],
            1 | 2 => {
                let face = dice.pick(table.faces);
                let count = if i % 4 == 1 { 2 } else { face.len() };
                face[..count].iter().map(|corner| table.nodes[*corner]).collect()
            }
            _ => table.nodes[..table.corners].to_vec(),
        };
        let parts: Vec<f64> = corners.iter().map(|_| dice.between(0.0, 1.0)).collect();
        let sum: f64 = parts.iter().sum();
        let weights = kind.weights(mean(&corners, parts.iter().map(|part| part / sum)));
        let nodes: Vec<[f64; 3]> =
            made.cells.nodes(cell).iter().map(|node| made.points[*node as usize]).collect();
        mean(&nodes, weights)
    };
    (0..count).map(&mut position).collect()
}

/// A weighted mean, relative to the first point to minimise rounding.
fn mean(points: &[[f64; 3]], weights: impl IntoIterator<Item = f64>) -> [f64; 3] {
    let mut offset = [0.0; 3];
    for (weight, point) in weights.into_iter().zip(points) {
        for d in 0..3 {
            offset[d] += weight * (point[d] - points[0][d]);
        }
    }
    [0, 1, 2].map(|d| points[0][d] + offset[d])
}

fn located(field: &MeshField, machine: &Machine, positions: &[[f64; 3]]) -> Vec<i64> {
    let data = TensorData::new(positions.as_flattened().to_vec(), [positions.len(), 3]);
    let position = Tensor::<2>::from_data(data, (&machine.device, machine.precision.dtype()));
    integers(field.locate(position))
}

#[test]
fn positions_in_a_mesh_are_located_at_any_scale_and_offset() {
    for (name, kind, made) in made() {
        for (scale, shift) in [(1.0, 0.0), (1e-7, 0.0), (1e6, 3.0), (1.0, 20.0)] {
            let mapped = made.clone().mapped(|p| p.map(|x| scale * (x + shift)));
            let positions = positions(&mapped, 4000);
            let frames = MeshFrames::new(&mapped, &[0.0], |_, _| [0.0; 3]);
            for machine in machines_for(kind) {
                let cells = located(&frames.field(&machine), &machine, &positions);
                let lost: Vec<_> =
                    cells.iter().zip(&positions).filter(|(cell, _)| **cell < 0).collect();
                assert!(
                    lost.is_empty(),
                    "{name}, {machine}, {scale}, {shift}: {} lost, {:?}",
                    lost.len(),
                    lost[0].1
                );
            }
        }
    }
}

#[test]
fn million_positions_in_a_mesh_are_located() {
    let made = Made::of(12, 0.15, CellKind::Tetra);
    let hexahedra = Made::of(12, 0.15, CellKind::Hexahedron);
    for made in [made, hexahedra] {
        let frames = MeshFrames::new(&made, &[0.0], |_, _| [0.0; 3]);
        let positions = positions(&made, 1_000_000);
        for machine in machines().into_iter().filter(|machine| !machine.is_double()) {
            let field = frames.field(&machine);
            let lost =
                located(&field, &machine, &positions).iter().filter(|cell| **cell < 0).count();
            assert_eq!(lost, 0, "{machine}");
        }
    }
}

#[test]
fn positions_outside_a_mesh_are_in_no_cell() {
    let made = mixed(4);
    let frames = MeshFrames::new(&made, &[0.0], |_, _| [0.0; 3]);
    let beyond = [
        [-0.01, 0.5, 0.5],
        [1.01, 0.5, 0.5],
        [0.5, 0.5, 2e9],
        [f64::NAN, 0.5, 0.5],
        [0.5, f64::INFINITY, 0.5],
    ];
    for machine in machines() {
        assert_eq!(located(&frames.field(&machine), &machine, &beyond), [-1; 5], "{machine}");
    }
}

/// A nonlinear velocity without the symmetries of the meshes.
fn wavy([x, y, z]: [f64; 3], t: f64) -> [f64; 3] {
    let wave = |a: f64, b: f64| (5.0 * a + 1.0 + t).sin() * (4.0 * b).cos();
    [wave(y, z) - 0.3, wave(z, x) + 0.2, wave(x, y)]
}

#[test]
fn tracks_of_both_engines_on_meshes_agree() {
    let seeds = Seeds::list(Dice(11).points([0.1; 3], [0.9; 3], 40)).unwrap();
    for (name, kind, made) in made().into_iter().step_by(2) {
        let frames = MeshFrames::new(&made, &[0.0, 0.4, 1.0], wavy);
        for machine in machines_for(kind) {
            let field = frames.field(&machine);
            for scheme in [Scheme::Euler, Scheme::Midpoint, Scheme::Heun, Scheme::Rk4] {
                let run = |engine| {
                    let tracer = Tracer::new(&field)
                        .scheme(scheme)
                        .engine(engine)
                        .span(steps(0.0, 0.3, 4))
                        .all_faces(BoundaryCondition::Clamp);
                    trace(&tracer, &seeds)
                };
                if !machine.is_cpu() && scheme != Scheme::Rk4 {
                    continue;
                }
                let (fused, tensor) = (run(Engine::Fused), run(Engine::Tensor));
                let error = distance(fused.last(), tensor.last());
                let what = format!("{name}, {machine}, {scheme:?}");
                // Near walls the tensor engine locates positions with a tolerance of 1e-10 cell sizes.
                assert_below(&what, error, if machine.is_double() { 1e-9 } else { 2e-5 });
                assert_eq!(fused.status, tensor.status, "{what}");
            }
        }
    }
}

#[test]
fn tracks_on_a_mesh_do_not_depend_on_other_particles() {
    // Seeds on faces and nodes, and a velocity along them, so that their cells are ambiguous.
    let made = Made::of(4, 0.0, CellKind::Tetra);
    let velocity = |cell: usize| [0.3, if cell.is_multiple_of(2) { 0.1 } else { 0.0 }, 0.0];
    let frames = MeshFrames::in_cells(&made, velocity);
    let mut seeds = positions(&made, 300);
    seeds.iter_mut().for_each(|p| p[0] *= 0.5);
    for machine in machines() {
        let field = frames.field(&machine);
        let run = |seeds: &[[f64; 3]], every: u64| {
            let tracer =
                Tracer::new(&field).span(steps(0.0, 1.0, 64)).save(SaveAt::EverySteps(every));
            trace(&tracer, &Seeds::list(seeds.to_vec()).unwrap()).last().to_vec()
        };
        let all = run(&seeds, 64);
        for (k, part) in seeds.chunks(77).enumerate() {
            assert_eq!(run(part, 5), all[77 * k..][..part.len()], "{machine}");
        }
    }
}

#[test]
fn cell_velocities_are_sampled_constant_or_averaged() {
    let made = Made::of(3, 0.1, CellKind::Hexahedron);
    let velocity = |cell: usize| [cell as f64, -(cell as f64), 1.0];
    let frames = MeshFrames::in_cells(&made, velocity);
    let centre = |cell: usize| {
        let nodes = made.cells.nodes(cell).iter().map(|node| made.points[*node as usize]);
        nodes.fold([0.0; 3], |sum, p| std::array::from_fn(|d| sum[d] + p[d] / 8.0))
    };
    for machine in machines() {
        let sample = |in_cells, positions: Vec<[f64; 3]>| {
            let field = frames.field_of(&machine, in_cells);
            let tracer = Tracer::new(&field)
                .scheme(Scheme::Euler)
                .span(steps(0.0, 1e-9, 1))
                .save(SaveAt::EverySteps(1))
                .save_velocity(true);
            let run = trace(&tracer, &Seeds::list(positions.clone()).unwrap());
            let velocities: Vec<[f64; 3]> = run.velocities.unwrap().as_chunks().0.to_vec();
            velocities[..positions.len()].to_vec()
        };
        let count = made.cells.len();
        let constant = sample(CellVelocity::Constant, (0..count).map(centre).collect());
        let expected: Vec<_> = (0..count).map(velocity).collect();
        assert_eq!(constant, expected, "{machine}");

        let averaged = sample(CellVelocity::Averaged, made.points.clone());
        let expected = made.points.iter().enumerate().map(|(point, _)| {
            let around = (0..count).filter(|c| made.cells.nodes(*c).contains(&(point as u32)));
            let around: Vec<usize> = around.collect();
            let mean = around.iter().sum::<usize>() as f64 / around.len() as f64;
            [mean, -mean, 1.0]
        });
        let error = distance(&averaged, &expected.collect::<Vec<_>>());
        assert_below(&format!("{machine}"), error, 2000.0 * machine.eps());
    }
}

/// Mesh frames with a diffusivity in each cell.
struct Mixing(MeshFrames);

impl FrameSource for Mixing {
    fn times(&self) -> &[f64] {
        self.0.times()
    }

    fn read(&mut self, frame: usize) -> Result<FrameData, SourceError> {
        let diffusivity = Floats::F64(vec![0.1; self.0.cells.len()]);
        Ok(self.0.read(frame)?.with_diffusivity(diffusivity))
    }
}

impl MeshSource for Mixing {
    fn points(&self) -> &[[f64; 3]] {
        self.0.points()
    }

    fn cells(&self) -> &Cells {
        self.0.cells()
    }

    fn placement(&self) -> Placement {
        self.0.placement()
    }
}

/// Diffusivities are not averaged, and must not be ignored silently.
#[test]
fn diffusivities_with_averaged_velocities_are_rejected() {
    let made = Made::of(2, 0.0, CellKind::Hexahedron);
    let load = |in_cells| {
        let mut source = Mixing(MeshFrames::in_cells(&made, |_| [1.0, 0.0, 0.0]));
        MeshField::load(&mut source, &Device::flex(), &FieldOptions::default(), in_cells)
    };
    assert!(load(CellVelocity::Constant).unwrap().has_diffusivity());
    let error = load(CellVelocity::Averaged).unwrap_err().to_string();
    assert!(error.contains("use `CellVelocity::Constant`"), "{error}");
}

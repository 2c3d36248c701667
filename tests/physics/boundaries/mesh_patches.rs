//! Patches of a mesh boundary: walls and openings.

use crate::{
    common::*,
    meshes::*,
    recorded::{RecordingSink, States},
};
use burntrace::{
    BoundaryCondition, CellKind, CellVelocity, Domain, Engine, FieldOptions, Flow, Gate, GateShape,
    GridField, Inlet, InletShape, MeshField, OutletAt, ParticleInstance, Patch, Pattern, SaveAt,
    Scheme, Seeds, Status, Tracer, Tracks,
    io::{MeshSeries, SeriesOptions},
    program::MAX_PATCHES,
};

const LENGTH: f64 = 2.0;
const SPEED: f64 = 0.3;
const KINDS: [CellKind; 2] = [CellKind::Tetra, CellKind::Hexahedron];

/// The patch of the unit box, or of the channel, at an x and up to a y.
fn at_x(name: &str, x: f64, most_y: f64) -> Patch {
    let open = f64::INFINITY;
    Patch::new(name, [x, -open, -open], [x, most_y, open])
}

/// A channel along x whose flow also drifts onto its walls.
fn channel(kind: CellKind) -> MeshFrames {
    let made = Made::of(4, 0.1, kind).mapped(|[x, y, z]| [LENGTH * x, y, z]);
    MeshFrames::new(&made, &[0.0], |_, _| [SPEED, 0.05, -0.04])
}

fn inlet() -> Inlet {
    let shape = InletShape::Rectangle {
        origin: [0.0, 0.05, 0.05],
        edge1: [0.0, 0.9, 0.0],
        edge2: [0.0, 0.0, 0.9],
    };
    Inlet::new(shape, Pattern::Uniform).unwrap()
}

fn seeds(count: usize) -> Seeds {
    Seeds::list(Dice(8).points([0.05; 3], [1.95, 0.95, 0.95], count)).unwrap()
}

/// Traces through the channel, with re-injection from the patch at its end to its start.
fn recirculate(field: &MeshField, engine: Engine) -> Tracks {
    let tracer = Tracer::new(field)
        .domain(Domain::unbounded())
        .mesh_wall(BoundaryCondition::Slide)
        .mesh_patch(at_x("end", LENGTH, f64::INFINITY).outlet(inlet()))
        .span(steps(0.0, 25.0, 180))
        // Few steps per launch: sliding needs long searches, and software rasterisers abort long loops.
        .save(SaveAt::EverySteps(3))
        .engine(engine);
    tracer.trace(&seeds(30)).unwrap()
}

fn by_slot(tracks: &Tracks) -> Vec<Vec<ParticleInstance>> {
    let mut slots = vec![Vec::new(); tracks.ends().status.len()];
    tracks.instances().iter().for_each(|instance| slots[instance.slot].push(*instance));
    slots
}

#[test]
fn particles_that_leave_through_an_outlet_patch_are_reinjected() {
    for kind in KINDS {
        let frames = channel(kind);
        for machine in machines_for(kind) {
            let tracks = recirculate(&frames.field(&machine), Engine::Fused);
            let what = format!("{kind:?}, {machine}");
            let (run, bound) = (read(&tracks), if machine.is_double() { 1e-10 } else { 2e-5 });
            // No particle is lost: sliding along a wall takes the same time.
            assert_eq!(run.status, [Status::Active; 30], "{what}");
            let mut ended = 0;
            for (instances, seed) in by_slot(&tracks).iter().zip(seeds(30).positions()) {
                for instance in &instances[..instances.len() - 1] {
                    let start = if instance.generation == 0 { seed[0] } else { 0.0 };
                    let deviation = instance.residence_time() / ((LENGTH - start) / SPEED) - 1.0;
                    let slack = LENGTH / (LENGTH - start);
                    assert_below(&format!("{what}, {instance:?}"), deviation.abs(), slack * bound);
                    assert_below(&what, (instance.end_position[0] - LENGTH).abs(), 4.0 * bound);
                    assert_eq!(instance.status, Status::LeftMesh, "{what}");
                    ended += 1;
                }
                for pair in instances.windows(2) {
                    assert_eq!(pair[0].end_time, pair[1].release_time, "{what}");
                    assert_eq!(pair[1].release_position[0], 0.0, "{what}");
                }
            }
            assert!(ended >= 30 * 3, "{what}: {ended}");
            assert_eq!(run.summary.patches, [("end".to_string(), ended)], "{what}");
        }
    }
}

/// A patch as a gate: a crossing for each particle that leaves through it, whether another one follows it or not.
#[test]
fn particles_cross_a_gate_where_they_leave_through_its_patch() {
    for kind in KINDS {
        let frames = channel(kind);
        for machine in machines_for(kind) {
            let field = frames.field(&machine);
            let end = at_x("end", LENGTH, f64::INFINITY);
            let start = at_x("start", 0.0, f64::INFINITY).wall(BoundaryCondition::Exit);
            let ways = [(end.clone().outlet(inlet()), true), (end, false)];
            for (end, recycles) in
                ways.into_iter().filter(|(_, recycles)| *recycles || machine.is_cpu())
            {
                let tracer = Tracer::new(&field)
                    .domain(Domain::unbounded())
                    .mesh_wall(BoundaryCondition::Slide)
                    .mesh_patch(start.clone())
                    .mesh_patch(end)
                    .gate(Gate::new("start", GateShape::Patch(0)))
                    .gate(Gate::new("end", GateShape::Patch(1)))
                    .span(steps(0.0, 9.0, 60))
                    .save(SaveAt::EverySteps(3));
                for &engine in machine.engines() {
                    let tracks = tracer.clone().engine(engine).trace(&seeds(30)).unwrap();
                    let what = format!("{kind:?}, {machine}, {engine}, {recycles}");
                    let ends: Vec<(usize, u32, f64)> = match recycles {
                        true => {
                            let left = tracks.instances().iter();
                            let left = left.filter(|one| one.status == Status::LeftMesh);
                            left.map(|one| (one.slot, one.generation, one.end_time)).collect()
                        }
                        false => {
                            let times = tracks.ends().end_time.iter().enumerate();
                            times
                                .filter(|(_, time)| !time.is_nan())
                                .map(|(i, time)| (i, 0, *time))
                                .collect()
                        }
                    };
                    let mut found: Vec<_> = tracks.crossings().to_vec();
                    found.sort_by_key(|of| (of.slot, of.generation));
                    let mut ends = ends;
                    ends.sort_by_key(|(slot, generation, _)| (*slot, *generation));
                    assert!(ends.len() > 20, "{what}: {}", ends.len());
                    assert_eq!(found.len(), ends.len(), "{what}");
                    for (of, (slot, generation, time)) in found.iter().zip(ends) {
                        assert_eq!(
                            (of.slot, of.generation, of.gate),
                            (slot, generation, 1),
                            "{what}"
                        );
                        assert!(of.is_forward && of.time == time, "{what}: {of:?}, {time}");
                        assert_below(&what, (of.position[0] - LENGTH).abs(), 1e-4);
                    }
                    let left = tracks.summary().unwrap().patches.iter().map(|(_, n)| *n);
                    assert_eq!(left.collect::<Vec<_>>(), [0, found.len()], "{what}");
                }
            }
        }
    }
}

#[test]
fn gates_on_patches_that_hold_particles_are_refused() {
    let frames = channel(CellKind::Tetra);
    let machine = &machines()[0];
    let field = frames.field(machine);
    let refused = |number: usize| {
        let tracer = Tracer::new(&field)
            .mesh_patch(at_x("end", LENGTH, f64::INFINITY).wall(BoundaryCondition::Reflect))
            .gate(Gate::new("g", GateShape::Patch(number)))
            .span(steps(0.0, 1.0, 1));
        tracer.trace(&seeds(1)).map(drop).unwrap_err().to_string()
    };
    let text = refused(0);
    assert!(
        text.contains("no particle leaves through its patch `end`, whose condition is `reflect`"),
        "{text}"
    );
    assert!(refused(1).contains("it is the patch 1, but there are 1"), "{}", refused(1));
}

#[test]
fn tracks_of_both_engines_at_mesh_patches_agree() {
    for kind in KINDS {
        let frames = channel(kind);
        for machine in machines_for(kind) {
            let reference = Machine {
                name: "flex".into(),
                device: burntrace::burn::tensor::Device::flex(),
                ..machine.clone()
            };
            let fused = recirculate(&frames.field(&machine), Engine::Fused);
            let tensor = recirculate(&frames.field(&reference), Engine::Tensor);
            let (what, bound) = (format!("{kind:?}, {machine}"), 1e3 * machine.eps().max(1e-11));
            for (a, b) in by_slot(&fused).iter().flatten().zip(by_slot(&tensor).iter().flatten()) {
                assert_eq!((a.slot, a.generation), (b.slot, b.generation), "{what}");
                assert_eq!(a.release_position, b.release_position, "{what}");
                assert_below(&what, distance(&[a.end_position], &[b.end_position]), bound);
                let apart = a.end_time - b.end_time;
                assert!(apart.is_nan() || apart.abs() < 4.0 * bound, "{what}: {a:?} {b:?}");
            }
            assert_eq!(fused.instances().len(), tensor.instances().len(), "{what}");
            let [a, b] = [&fused, &tensor].map(|tracks| &tracks.summary().unwrap().patches);
            assert_eq!(a, b, "{what}");
        }
    }
}

#[test]
fn patches_of_flat_meshes_ignore_z() {
    let kind = CellKind::Triangle;
    let frames = MeshFrames::new(&Made::of(4, 0.1, kind), &[0.0], |_, _| [1.0, 0.0, 0.0]);
    let open = f64::INFINITY;
    for machine in machines_for(kind) {
        let field = frames.field(&machine);
        for &engine in machine.engines() {
            let tracer = Tracer::new(&field)
                .domain(Domain::unbounded())
                .mesh_wall(BoundaryCondition::Reflect)
                .mesh_patch(Patch::new("end", [1.0, -open, 5.0], [1.0, open, 6.0]))
                .span(steps(0.0, 1.0, 4))
                .engine(engine);
            let run = trace(&tracer, &Seeds::list(vec![[0.5, 0.5, 0.0]]).unwrap());
            assert_eq!(run.status, [Status::LeftMesh], "{machine}, {engine}");
            assert_eq!(run.summary.patches, [("end".to_string(), 1)], "{machine}, {engine}");
        }
    }
}

#[test]
fn resumed_run_counts_particles_that_left_before_it() {
    let frames = channel(CellKind::Hexahedron);
    for machine in machines_for(CellKind::Hexahedron).into_iter().filter(Machine::is_cpu) {
        let field = frames.field(&machine);
        let tracer = Tracer::new(&field)
            .domain(Domain::unbounded())
            .mesh_wall(BoundaryCondition::Slide)
            .mesh_patch(at_x("end", LENGTH, f64::INFINITY).outlet(inlet()))
            .span(steps(0.0, 10.0, 72))
            .save(SaveAt::EverySteps(9));
        let (mut record, mut states) = (RecordingSink::default(), States::default());
        let seeds = seeds(10);
        let run = tracer.prepare(&seeds).unwrap();
        let whole = run.run_observed(&mut record, &mut states).unwrap();
        let state = &states.0[states.0.len() - 2];
        let mut rest = record.at(state.numbers.mark());
        let resumed = tracer.prepare(&seeds).unwrap().resume(state).unwrap();
        let summary = resumed.run_into(&mut rest).unwrap();
        assert!(whole.patches[0].1 >= 10, "{machine}: {:?}", whole.patches);
        assert_eq!(summary.patches, whole.patches, "{machine}");
    }
}

/// The whole boundary is an outlet, except for a patch without re-injection.
#[test]
fn patch_without_an_inlet_does_not_reinject() {
    let kind = CellKind::Tetra;
    let frames = MeshFrames::new(
        &Made::of(4, 0.1, kind).mapped(|[x, y, z]| [LENGTH * x, y, z]),
        &[0.0],
        |_, _| [SPEED, 0.0, 0.0],
    );
    for machine in machines_for(kind) {
        let field = frames.field(&machine);
        for engine in machine.engines() {
            let tracer = Tracer::new(&field)
                .domain(Domain::unbounded())
                .outlet(OutletAt::Mesh, inlet())
                .mesh_patch(at_x("drain", LENGTH, 0.5))
                .span(steps(0.0, 25.0, 48))
                .engine(*engine);
            let tracks = tracer.trace(&seeds(30)).unwrap();
            let (run, what) = (read(&tracks), format!("{machine}, {engine}"));
            let mut drained = 0;
            for instances in by_slot(&tracks) {
                let (last, others) = instances.split_last().unwrap();
                assert!(
                    others.iter().all(|instance| instance.end_position[1] > 0.5),
                    "{what}: {instances:?}"
                );
                let has_ended = last.status.has_ended();
                assert!(!has_ended || last.end_position[1] < 0.51, "{what}: {last:?}");
                drained += usize::from(has_ended);
            }
            assert!(drained > 20, "{what}: {drained}");
            assert_eq!(run.summary.patches, [("drain".to_string(), drained)], "{what}");
            assert!(run.summary.released > 40, "{what}: {:?}", run.summary);
        }
    }
}

/// A flow along x onto a face whose lower part reflects; one step, so that displacements are straight.
#[test]
fn overlapping_patches_apply_in_their_order() {
    let velocity = [1.0, 0.3, 0.0];
    let mut seeds = Dice(6).points([0.05; 3], [0.95, 0.65, 0.95], 80);
    let crossing = |seed: &[f64; 3]| seed[1] + 0.3 * (1.0 - seed[0]);
    seeds.retain(|seed| (crossing(seed) - 0.5).abs() > 1e-3);
    for kind in KINDS {
        let frames = MeshFrames::new(&Made::of(4, 0.1, kind), &[0.0], |_, _| velocity);
        for machine in machines_for(kind) {
            let field = frames.field(&machine);
            for engine in machine.engines() {
                let tracer = Tracer::new(&field)
                    .engine(*engine)
                    .scheme(Scheme::Euler)
                    .domain(Domain::unbounded())
                    .mesh_wall(BoundaryCondition::Slide)
                    .mesh_patch(at_x("wall", 1.0, 0.5).wall(BoundaryCondition::Reflect))
                    .mesh_patch(at_x("opening", 1.0, f64::INFINITY))
                    .span(steps(0.0, 1.0, 1));
                let run = trace(&tracer, &Seeds::list(seeds.clone()).unwrap());
                let (what, mut left) = (format!("{kind:?}, {machine}, {engine}"), 0);
                for (i, seed) in seeds.iter().enumerate() {
                    let is_open = crossing(seed) > 0.5;
                    let end = match is_open {
                        true => [1.0, crossing(seed), seed[2]],
                        false => [1.0 - seed[0], seed[1] + 0.3, seed[2]],
                    };
                    let status = if is_open { Status::LeftMesh } else { Status::Active };
                    assert_eq!(run.status[i], status, "{what}: {seed:?}");
                    let bound = 300.0 * machine.eps().max(1e-11);
                    assert_below(&what, distance(&[run.last()[i]], &[end]), bound);
                    left += usize::from(is_open);
                }
                assert!(left > 20 && left < seeds.len() - 20, "{what}: {left}");
                let expected = [("wall".to_string(), 0), ("opening".to_string(), left)];
                assert_eq!(run.summary.patches, expected, "{what}");
            }
        }
    }
}

#[test]
fn invalid_patches_are_rejected() {
    let machine = &machines()[0];
    let field = channel(CellKind::Hexahedron).field(machine);
    let rejected = |tracer: Tracer, parts: &[&str]| {
        let error = tracer.span(steps(0.0, 1.0, 1)).trace(&seeds(1)).unwrap_err().to_string();
        parts.iter().for_each(|part| assert!(error.contains(part), "{error}"));
    };
    let with = |patch| Tracer::new(&field).mesh_patch(patch);
    let nowhere = at_x("middle", 1.0, -0.5);
    rejected(
        with(nowhere),
        &["`middle`", "no boundary face", "[0.0, 0.0, 0.0] to [2.0, 1.0, 1.0]"],
    );
    // Contains cells but no boundary face.
    let within = Patch::new("within", [0.9, 0.4, 0.4], [1.1, 0.6, 0.6]);
    rejected(with(within), &["`within`", "no boundary face"]);
    rejected(with(Patch::new("reversed", [2.0; 3], [0.0; 3])), &["`reversed`", "along x"]);
    rejected(with(Patch::new("nan", [0.0; 3], [1.0, f64::NAN, 1.0])), &["`nan`", "along y"]);
    let twice = with(at_x("end", 2.0, 1.0)).mesh_patch(at_x("end", 0.0, 1.0));
    rejected(twice, &["`end`", "two patches have this name"]);
    let numbers = 0..=MAX_PATCHES;
    let many = numbers.fold(Tracer::new(&field), |tracer, number| {
        tracer.mesh_patch(at_x(&number.to_string(), 2.0, 1.0))
    });
    rejected(many, &["`32767`", "there are 32768", "the maximum is 32767"]);
    let flow = Flow::named("abc").unwrap();
    let mut grid =
        burntrace::Analytic::sample(flow.clone(), flow.domain(), [5; 3], vec![0.0]).unwrap();
    let options = FieldOptions { precision: machine.precision, ..FieldOptions::default() };
    let grid = GridField::load(&mut grid, &machine.device, &options).unwrap();
    rejected(
        Tracer::new(&grid).mesh_patch(at_x("end", 0.0, 1.0)),
        &["patches (`end`)", "a field without a mesh"],
    );
}

/// The vessels have walls all around, except where the box of the extract cuts them.
#[test]
fn blood_leaves_through_the_cut_ends_of_vessels() {
    let Some(path) = crate::requirements::flow_data("blood_vessels/T0000000500.pvtu") else {
        return;
    };
    let machine = double_machines().into_iter().find(Machine::is_cpu).unwrap();
    let options = FieldOptions { precision: machine.precision, ..FieldOptions::default() };
    let mut series = MeshSeries::open(path.as_path(), &SeriesOptions::default()).unwrap();
    let field =
        MeshField::load(&mut series, &machine.device, &options, CellVelocity::Constant).unwrap();
    let mesh = field.mesh();
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for (p, d) in mesh.points().flat_map(|p| [0, 1, 2].map(|d| (p, d))) {
        (low[d], high[d]) = (low[d].min(p[d]), high[d].max(p[d]));
    }
    let (starts, points) = (mesh.cells().len(), mesh.points().collect::<Vec<_>>());
    let centre = |cell: usize| {
        let nodes = mesh.cells().nodes(cell);
        let sum = |d: usize| nodes.iter().map(|node| points[*node as usize][d]).sum::<f64>();
        [0, 1, 2].map(|d| sum(d) / nodes.len() as f64)
    };
    let starts = Seeds::list((0..starts).step_by(20).map(centre).collect()).unwrap();
    let mut tracer = Tracer::new(&field)
        .domain(Domain::unbounded())
        .mesh_wall(BoundaryCondition::Reflect)
        .span(steps(0.0, 400.0, 400));
    let mut sides = Vec::new();
    for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
        for (end, at) in [("low", low[axis]), ("high", high[axis])] {
            let mut side = [[f64::NEG_INFINITY; 3], [f64::INFINITY; 3]];
            (side[0][axis], side[1][axis]) = (at, at);
            tracer = tracer.mesh_patch(Patch::new(format!("{name}-{end}"), side[0], side[1]));
            sides.push((axis, at));
        }
    }
    let run = trace(&tracer, &starts);
    let mut counts = vec![0; 6];
    for (status, position) in run.status.iter().zip(run.last()) {
        match status {
            Status::Active => {}
            Status::LeftMesh => {
                let side = sides.iter().position(|(axis, at)| (position[*axis] - at).abs() < 1e-9);
                counts[side.unwrap_or_else(|| panic!("left at {position:?}"))] += 1;
            }
            other => panic!("{other} at {position:?}"),
        }
    }
    let found: Vec<usize> = run.summary.patches.iter().map(|(_, count)| *count).collect();
    eprintln!("{:?} of {} left", run.summary.patches, starts.positions().len());
    assert_eq!(found, counts);
    assert!(counts.iter().sum::<usize>() > 50, "{counts:?}");
}

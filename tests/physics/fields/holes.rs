//! Holes of a field: hidden points and cells, and values that are not finite. And particles that do not
//! move although the field does.

use crate::{common::*, meshes::*};
use burntrace::{
    Allowed, BoundaryCondition, CellKind, CellVelocity, FieldOptions, FrameData, FrameSource,
    Frames as Held, GridField, GridSource, Inlet, InletShape, MeshField, NotFinite, Obstacle,
    OutsideTime, Pattern, Placement, SaveAt, Scheme, Seeds, SeedsOutside, Shape, Source,
    SourceError, Status, TimeInterpolation, Tolerance, Tracer,
};

/// Frames with a mask of hidden values, and rubbish as their velocities.
#[derive(Clone)]
struct Masked {
    frames: Frames,
    /// One mask for each frame.
    hidden: Vec<Vec<bool>>,
}

impl Masked {
    /// Hides the values for which `is_hidden`, by their velocity, which is rubbish then.
    fn new(mut frames: Frames) -> Self {
        let is_rubbish = |v: &[f64]| v[0] == RUBBISH;
        let mask = |frame: &Vec<f64>| frame.chunks(3).map(is_rubbish).collect();
        let hidden = frames.values.iter().map(mask).collect();
        for frame in &mut frames.values {
            frame.iter_mut().filter(|v| **v == RUBBISH).for_each(|v| *v = 1e30);
        }
        Masked { frames, hidden }
    }

    fn load(&self, machine: &Machine, options: FieldOptions) -> GridField {
        let options = FieldOptions { precision: machine.precision, ..options };
        match options.frames {
            Held::All => GridField::load(&mut self.clone(), &machine.device, &options).unwrap(),
            _ => GridField::open(Box::new(self.clone()), &machine.device, &options).unwrap(),
        }
    }
}

impl FrameSource for Masked {
    fn times(&self) -> &[f64] {
        self.frames.times()
    }

    fn read(&mut self, frame: usize) -> Result<FrameData, SourceError> {
        Ok(self.frames.read(frame)?.with_hidden(self.hidden[frame].clone()))
    }
}

impl GridSource for Masked {
    fn axes(&self) -> &[Vec<f64>; 3] {
        &self.frames.axes
    }

    fn placement(&self) -> Placement {
        self.frames.placement
    }
}

const RUBBISH: f64 = -99.0;

/// A velocity of 1 along the first axis that is not flat, with a hole from half of the unit box on.
fn half_hidden(flat: Option<usize>, placement: Placement) -> (Masked, usize) {
    let along = usize::from(flat == Some(0));
    let axis = |d: usize| if flat == Some(d) { vec![0.0] } else { even_axis(0.0, 1.0, 10) };
    let velocity = |p: [f64; 3], _: f64| {
        let mut v = [0.0; 3];
        v[along] = 1.0;
        // At nodes from 0.5 on, or in cells from 0.4 on.
        let first = if placement == Placement::Nodes { 0.49 } else { 0.41 };
        if p[along] > first { [RUBBISH; 3] } else { v }
    };
    (Masked::new(Frames::new([0, 1, 2].map(axis), placement, &[0.0], velocity)), along)
}

/// The seed at 0.02 takes steps of 0.1. From 0.32, the last stage would be at 0.42, in the hole. The seeds
/// at 0.47 and 0.9 are in it.
#[test]
fn particles_end_at_holes_and_seeds_there_are_not_located() {
    for machine in machines() {
        for placement in [Placement::Nodes, Placement::Cells] {
            for flat in [None, Some(0), Some(2)] {
                let (masked, along) = half_hidden(flat, placement);
                let field = masked.load(&machine, FieldOptions::default());
                let place = |x: f64| {
                    let mut p = [0, 1, 2].map(|d| if flat == Some(d) { 0.0 } else { 0.55 });
                    p[along] = x;
                    p
                };
                let seeds = Seeds::list([0.02, 0.47, 0.9, 0.02].map(place).to_vec()).unwrap();
                let seeds = seeds.with_release(vec![0.0, 0.0, 0.15, 0.2]).unwrap();
                for &engine in machine.engines() {
                    let what = format!("{machine} {placement:?} {flat:?} {engine}");
                    let tracer = Tracer::new(&field).engine(engine).span(span(0.0, 1.0, 0.1));
                    let refused = tracer.trace(&seeds).unwrap_err().to_string();
                    let parts = ["2 of 4 seeds are outside the field", "number 1"];
                    assert!(parts.iter().all(|part| refused.contains(part)), "{what}: {refused}");
                    let tracer =
                        tracer.seeds_outside(SeedsOutside::NotLocated).save(SaveAt::EverySteps(5));
                    let tracks = tracer.trace(&seeds).unwrap();
                    let first = integers(tracks.saves()[0].status.clone());
                    assert_eq!(first, [1, 3, 3, 0], "{what}: active, not located, waiting");
                    let run = read(&tracks);
                    let expected = [
                        Status::LeftField,
                        Status::NotLocated,
                        Status::NotLocated,
                        Status::LeftField,
                    ];
                    assert_eq!(run.status, expected, "{what}");
                    let ends = [0.32, 0.47, 0.9, 0.32].map(place);
                    assert_below(&what, distance(run.last(), &ends), 4.0 * machine.eps());
                    for (i, time) in [(0, 0.3), (3, 0.5)] {
                        assert_below(&what, (run.end_time[i] - time).abs(), 1e-6);
                    }
                    assert!(run.end_time[1].is_nan() && run.release_time[2].is_nan(), "{what}");
                    assert_eq!((run.summary.released, run.summary.not_located()), (2, 2), "{what}");
                }
            }
        }
    }
}

/// A source with one of two positions in the hole, at which every second release is.
#[test]
fn releases_of_a_source_into_a_hole_are_not_located() {
    for machine in some_machines() {
        let (masked, _) = half_hidden(None, Placement::Nodes);
        let field = masked.load(&machine, FieldOptions::default());
        let points = InletShape::Points(vec![[0.02, 0.55, 0.55], [0.9, 0.55, 0.55]]);
        let inlet = Inlet::new(points, Pattern::Lattice).unwrap();
        for &engine in machine.engines() {
            let source = Source::constant(inlet.clone(), 4.0, 2).unwrap();
            let tracer = Tracer::new(&field).engine(engine).source(source);
            let tracks = tracer.span(span(0.0, 1.6, 0.1)).trace(&Seeds::none()).unwrap();
            let summary = tracks.summary().unwrap();
            let counts = (summary.released, summary.not_located(), summary.dropped);
            assert_eq!(counts, (4, 3, 0), "{machine}, {engine}");
        }
    }
}

#[test]
fn adaptive_steps_approach_the_edge_of_a_hole() {
    for machine in some_machines() {
        let (masked, _) = half_hidden(None, Placement::Nodes);
        let field = masked.load(&machine, FieldOptions::default());
        let seeds = Seeds::list(vec![[0.02, 0.5, 0.5], [0.47, 0.5, 0.5]]).unwrap();
        for &engine in machine.engines() {
            let tracer = Tracer::new(&field)
                .engine(engine)
                .scheme(Scheme::DormandPrince)
                .tolerance(Tolerance::new(1e-4, 1e-4))
                .seeds_outside(SeedsOutside::NotLocated)
                .span(span(0.0, 1.0, 0.1));
            let run = trace(&tracer, &seeds);
            let what = format!("{machine} {engine}");
            assert_eq!(run.status, [Status::LeftField, Status::NotLocated], "{what}");
            assert_below(&what, (run.last()[0][0] - 0.4).abs(), 1e-5);
            assert_below(&what, (run.end_time[0] - 0.38).abs(), 1e-5);
        }
    }
}

/// A hole that is there in the second frame only, at t = 1.
#[test]
fn hole_of_a_frame_matters_while_the_frame_has_a_weight() {
    let axes = [even_axis(0.0, 1.0, 10), vec![0.0, 1.0], vec![0.0]];
    let velocity = |_: [f64; 3], t: f64| if t == 1.0 { [RUBBISH; 3] } else { [0.125, 0.0, 0.0] };
    let masked = Masked::new(Frames::new(axes, Placement::Nodes, &[0.0, 1.0, 2.0, 3.0], velocity));
    let cases = [
        (TimeInterpolation::Linear, 0.0, Status::LeftField, 0.0),
        (TimeInterpolation::Nearest, 0.0, Status::LeftField, 0.375),
        (TimeInterpolation::Nearest, 1.5, Status::Active, f64::NAN),
        (TimeInterpolation::Linear, 2.0, Status::Active, f64::NAN),
    ];
    for machine in some_machines() {
        for held in [Held::All, Held::Streamed(3)] {
            for (in_time, start, status, end) in cases {
                let options = FieldOptions { in_time, frames: held, ..FieldOptions::default() };
                let field = masked.load(&machine, options);
                let seeds = Seeds::list(vec![[0.25, 0.5, 0.0]]).unwrap();
                for &engine in machine.engines() {
                    let what = format!("{machine} {engine} {held:?} {in_time:?} from {start}");
                    let tracer =
                        Tracer::new(&field).engine(engine).span(span(start, start + 0.75, 0.125));
                    let run = trace(&tracer, &seeds);
                    // With linear interpolation, no stage but the first one is known.
                    assert_eq!(run.status, [status], "{what}");
                    assert!(
                        run.end_time[0].is_nan() && end.is_nan() || run.end_time[0] == end,
                        "{what}: {}",
                        run.end_time[0]
                    );
                }
            }
        }
    }
}

/// A hole that is there in the first frame only. In a periodic field the first frame has a weight again from
/// t = 2 on.
#[test]
fn late_seeds_are_judged_by_the_field_at_their_release() {
    let axes = [even_axis(0.0, 1.0, 10), vec![0.0, 1.0], vec![0.0]];
    let velocity = |p: [f64; 3], t: f64| match t == 0.0 && p[0] > 0.45 {
        true => [RUBBISH; 3],
        false => [0.125, 0.0, 0.0],
    };
    let masked = Masked::new(Frames::new(axes, Placement::Nodes, &[0.0, 1.0, 2.0], velocity));
    let (late, early) = ([0.5, 0.5, 0.0], [0.75, 0.5, 0.0]);
    let rules = [
        OutsideTime::Error,
        OutsideTime::Hold,
        OutsideTime::Zero,
        OutsideTime::Periodic { period: Some(3.0) },
    ];
    for machine in some_machines() {
        for rule in rules {
            let field = masked.load(&machine, outside(rule));
            for &engine in machine.engines() {
                let what = format!("{machine} {engine} {rule:?}");
                let tracer = Tracer::new(&field).engine(engine).span(span(0.0, 1.75, 0.125));
                let seeds = Seeds::list(vec![late]).unwrap().with_release(vec![1.25]).unwrap();
                let run = trace(&tracer, &seeds);
                assert_eq!(run.status, [Status::Active], "{what}");
                assert_eq!(run.last()[0][0], 0.5625, "{what}");
                let seeds = Seeds::list(vec![late, early]).unwrap();
                let seeds = seeds.with_release(vec![1.25, 0.5]).unwrap();
                let run = trace(&tracer, &seeds);
                assert_eq!(run.status, [Status::Active, Status::NotLocated], "{what}");
            }
        }
    }
}

#[test]
fn not_finite_values_are_holes_on_request() {
    let axes = [even_axis(0.0, 1.0, 10), even_axis(0.0, 1.0, 10), vec![0.0]];
    let velocity = |p: [f64; 3], _: f64| match p[0] > 0.49 {
        true => [f64::NAN, 0.0, 0.0],
        false => [1.0, 0.0, 0.0],
    };
    let frames = Frames::new(axes, Placement::Nodes, &[0.0], velocity);
    let made = Made::new(10, 0.0, |_| CellKind::Tetra);
    let on_mesh = MeshFrames::new(&made, &[0.0], velocity);
    for machine in some_machines() {
        let precision = machine.precision;
        let options =
            FieldOptions { precision, not_finite: NotFinite::Outside, ..FieldOptions::default() };
        let seeds = Seeds::list(vec![[0.02, 0.55, 0.0], [0.9, 0.55, 0.0]]).unwrap();
        let run = trace(
            &Tracer::new(&machine.load(&frames, options))
                .seeds_outside(SeedsOutside::NotLocated)
                .span(span(0.0, 1.0, 0.1)),
            &seeds,
        );
        assert_eq!(run.status, [Status::LeftField, Status::NotLocated], "{machine}");
        let field = MeshField::load(
            &mut on_mesh.clone(),
            &machine.device,
            &options,
            CellVelocity::Constant,
        )
        .unwrap();
        let seeds = Seeds::list(vec![[0.02, 0.53, 0.51], [0.9, 0.53, 0.51]]).unwrap();
        for &engine in machine.engines() {
            let tracer = Tracer::new(&field).seeds_outside(SeedsOutside::NotLocated);
            let run = trace(&tracer.engine(engine).span(span(0.0, 1.0, 0.1)), &seeds);
            let what = format!("{machine} mesh {engine}");
            assert_eq!(run.status, [Status::LeftField, Status::NotLocated], "{what}");
            assert_below(&what, (run.last()[0][0] - 0.32).abs(), 4.0 * machine.eps());
        }
    }
}

/// A particle in a corner of sliding walls is stagnant by its motion, whatever the field says; one that is
/// reflected back to where it was is not.
#[test]
fn particles_that_walls_hold_are_stagnant() {
    let vessel = Obstacle {
        shape: Shape::Box { low: [0.1; 3], high: [0.9; 3] },
        allowed: Allowed::Inside,
        surface: BoundaryCondition::Slide,
    };
    let made = Made::new(4, 0.0, |_| CellKind::Tetra);
    for machine in some_machines() {
        let uniform =
            |velocity| machine.field(&Frames::uniform([0.0; 3], [1.0; 3], &[0.0], |_| velocity));
        let (diagonal, straight) = (uniform([1.0, 1.0, 1.0]), uniform([1.0, 0.0, 0.0]));
        let mesh = MeshFrames::new(&made, &[0.0], |_, _| [1.0; 3]).field(&machine);
        for &engine in machine.engines() {
            let slow = |field| {
                let tracer = Tracer::new(field).engine(engine).span(span(0.0, 1.5, 0.1));
                tracer.stagnant_speed(1e-3)
            };
            let (slide, reflect) = (BoundaryCondition::Slide, BoundaryCondition::Reflect);
            let cases = [
                ("faces", slow(&diagonal).all_faces(slide), 0.5),
                ("vessel", slow(&diagonal).obstacle(vessel.clone()), 0.4),
                ("mesh", slow(&mesh).all_faces(slide).mesh_wall(slide), 0.5),
            ];
            for (name, tracer, reached) in cases {
                let what = format!("{machine} {engine}, {name}");
                let run = trace(&tracer, &Seeds::list(vec![[0.5; 3]]).unwrap());
                assert_eq!(run.status, [Status::Stagnant], "{what}");
                let corner = [0.5 + reached; 3];
                assert_below(&what, distance(run.last(), &[corner]), 100.0 * machine.eps());
                // At the end of the first step that it does not move in, or of the next one.
                let late = run.end_time[0] - reached;
                assert!((0.099..0.211).contains(&late), "{what}: {late}");
            }
            // From 0.95, a step to 1.05 ends where it starts.
            let seeds = Seeds::list(vec![[0.95, 0.5, 0.5]]).unwrap();
            let run = trace(&slow(&straight).all_faces(reflect).span(span(0.0, 0.1, 0.1)), &seeds);
            assert_eq!(run.status, [Status::Active], "{machine} {engine}");
            assert_below("reflected", (run.last()[0][0] - 0.95).abs(), 2.0 * machine.eps());
        }
    }
}

/// Steps of less than a rounding of single precision, along a wall: a thousand of them, ten times as fast as
/// the threshold.
#[test]
fn short_steps_along_a_wall_are_not_stagnant() {
    for machine in machines() {
        let frames = Frames::uniform([0.0; 3], [1.0; 3], &[0.0], |_| [1e-2, -1.0, 0.0]);
        let field = machine.field(&frames);
        let seeds = Seeds::list(vec![[0.7, 0.0, 0.3], [0.9, 0.0, 0.6]]).unwrap();
        for &engine in machine.engines() {
            let steps_ = if machine.is_cpu() { 200 } else { 5 };
            let tracer = Tracer::new(&field)
                .engine(engine)
                .all_faces(BoundaryCondition::Slide)
                .stagnant_speed(1e-3)
                .span(steps(0.0, 1e-6 * steps_ as f64, steps_));
            let run = trace(&tracer, &seeds);
            assert_eq!(run.status, [Status::Active; 2], "{machine} {engine}");
        }
    }
}

/// Holes that appear in a later frame, which the run reads while it traces.
#[test]
fn holes_of_streamed_frames_are_those_of_frames_in_memory() {
    let axes = [even_axis(0.0, 1.0, 10), vec![0.0, 1.0], vec![0.0]];
    let times: Vec<f64> = (0..9).map(|k| f64::from(k) * 0.125).collect();
    let velocity =
        |p: [f64; 3], t: f64| if t > 0.5 && p[0] > 0.45 { [RUBBISH; 3] } else { [0.25, 0.0, 0.0] };
    let masked = Masked::new(Frames::new(axes, Placement::Nodes, &times, velocity));
    for machine in machines().into_iter().filter(Machine::is_cpu) {
        let seeds = Seeds::list(vec![[0.3, 0.5, 0.0], [0.05, 0.5, 0.0]]).unwrap();
        let of = |frames| {
            let field = masked.load(&machine, FieldOptions { frames, ..FieldOptions::default() });
            let run = trace(&Tracer::new(&field).span(steps(0.0, 1.0, 16)), &seeds);
            (run.status.clone(), run.last().to_vec(), run.end_time[0])
        };
        let (all, streamed) = (of(Held::All), of(Held::Streamed(4)));
        assert_eq!(all, streamed, "{machine}");
        assert_eq!(all.0, [Status::LeftField, Status::Active], "{machine}");
    }
}

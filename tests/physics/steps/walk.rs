//! Random walks, and a constant drift velocity.

use crate::common::*;
use burntrace::{
    BoundaryCondition, Diffused, Domain, EARTH_RADIUS, Engine, FieldOptions, Floats, FrameData,
    FrameSource, GridField, GridSource, Placement, RandomWalk, Seeds, SourceError, Status, Tracer,
    WalkScheme, burn::tensor::Device,
};

const LOW: [f64; 3] = [-1.0; 3];
const HIGH: [f64; 3] = [1.0; 3];

fn still(machine: &Machine) -> GridField {
    machine.field(&Frames::uniform(LOW, HIGH, &[0.0], |_| [0.0; 3]))
}

/// Frames with a diffusivity.
pub struct Mixing {
    frames: Frames,
    diffusivity: Vec<f64>,
}

impl Mixing {
    /// A field in the unit cube with a number of cells along each axis.
    pub fn new(
        cells: [usize; 3],
        velocity: impl FnMut([f64; 3], f64) -> [f64; 3],
        diffusivity: impl Fn([f64; 3]) -> f64,
    ) -> Self {
        let axes = cells.map(|cells| even_axis(0.0, 1.0, cells));
        let mut values = Vec::new();
        for z in &axes[2] {
            for y in &axes[1] {
                values.extend(axes[0].iter().map(|x| diffusivity([*x, *y, *z])));
            }
        }
        let frames = Frames::new(axes, Placement::Nodes, &[0.0, 1.0], velocity);
        Mixing { frames, diffusivity: values }
    }

    pub fn field(&self, machine: &Machine) -> GridField {
        let (frames, diffusivity) = (self.frames.clone(), self.diffusivity.clone());
        let precision = machine.precision;
        let options = outside(burntrace::OutsideTime::Hold);
        let options = FieldOptions { precision, ..options };
        GridField::load(&mut Mixing { frames, diffusivity }, &machine.device, &options).unwrap()
    }
}

impl FrameSource for Mixing {
    fn times(&self) -> &[f64] {
        self.frames.times()
    }

    fn read(&mut self, frame: usize) -> Result<FrameData, SourceError> {
        // The diffusivity grows with time, to test its interpolation between frames.
        let diffusivity = self.diffusivity.iter().map(|k| k * (1.0 + 0.5 * frame as f64));
        let data = self.frames.read(frame)?;
        Ok(data.with_diffusivity(Floats::F64(diffusivity.collect())))
    }
}

impl GridSource for Mixing {
    fn axes(&self) -> &[Vec<f64>; 3] {
        self.frames.axes()
    }

    fn placement(&self) -> Placement {
        self.frames.placement()
    }
}

/// The variance along each axis is 2 K t, within five standard deviations of the sample.
#[test]
fn variance_of_a_random_walk_matches_the_diffusivity() {
    let k = [0.3, 0.02, 1.7];
    for machine in machines() {
        let n = if machine.name == "flex" { 1_000_000 } else { 20_000 };
        let field = still(&machine);
        let seeds = Seeds::list(vec![[0.25, -0.5, 0.125]; n]).unwrap();
        let tracer = Tracer::new(&field)
            .domain(Domain::unbounded())
            .random_walk(RandomWalk::per_axis(k, 77))
            .span(steps(0.0, 2.0, 16));
        let run = trace(&tracer, &seeds);
        for d in 0..3 {
            let displacement = |p: &[f64; 3]| p[d] - [0.25, -0.5, 0.125][d];
            let mean = run.last().iter().map(displacement).sum::<f64>() / n as f64;
            let variance =
                run.last().iter().map(|p| (displacement(p) - mean).powi(2)).sum::<f64>() / n as f64;
            let expected = 2.0 * k[d] * 2.0;
            assert_below(
                &format!("{machine}, mean of axis {d}"),
                mean.abs(),
                5.0 * (expected / n as f64).sqrt(),
            );
            let deviation = ((variance / expected).sqrt() - 1.0).abs();
            assert_below(
                &format!("{machine}, deviation of axis {d}"),
                deviation,
                5.0 / (2.0 * (n as f64 - 1.0)).sqrt(),
            );
        }
    }
}

/// Tracks are bit-identical for any number of particles.
#[test]
fn random_walks_do_not_depend_on_the_number_of_particles() {
    for machine in some_machines() {
        let field = Mixing::new([4, 5, 6], |[x, y, z], t| [y - t, z - x, x - y], |p| 0.01 + p[2]);
        let field = field.field(&machine);
        let points = Dice(5).points([0.0; 3], [1.0; 3], 5000);
        let run = |count: usize| {
            let tracer = Tracer::new(&field)
                .all_faces(BoundaryCondition::Reflect)
                .random_walk(RandomWalk::of_field([0.1, 0.05, 0.2], 3))
                .span(steps(0.0, 1.0, 20));
            trace(&tracer, &Seeds::list(points[..count].to_vec()).unwrap())
        };
        let all = run(if machine.is_cpu() { 5000 } else { 700 });
        for count in [1, 3, 333] {
            assert_eq!(run(count).last(), &all.last()[..count], "{machine}, {count}");
        }
    }
}

#[test]
fn random_walks_of_both_engines_agree() {
    let reference = Device::flex();
    let mixing = Mixing::new(
        [4, 3, 5],
        |[x, y, z], t| [0.3 * y - 0.2 * t, 0.2 - x * z, 0.1 * x],
        |[x, y, z]| 0.02 + 0.03 * x * y + 0.05 * z * (1.0 - z),
    );
    let seeds = Seeds::uniform([0.0; 3], [1.0; 3], 50, 4).unwrap();
    let seeds = seeds.with_release((0..50).map(|i| 0.01 * f64::from(i)).collect()).unwrap();
    let walks = [
        RandomWalk::isotropic(0.01, 9),
        RandomWalk::of_field([1.0, 0.0, 0.5], 10),
        RandomWalk::of_field([0.5, 1.0, 2.0], 11).scheme(WalkScheme::Milstein),
    ];
    for machine in machines() {
        for walk in &walks {
            let run = |machine: &Machine, engine| {
                let field = mixing.field(machine);
                let tracer = Tracer::new(&field)
                    .all_faces(BoundaryCondition::Reflect)
                    .random_walk(walk.clone())
                    .drift([0.05, 0.0, -0.1])
                    .span(span(0.0, 1.0, 0.07))
                    .engine(engine);
                trace(&tracer, &seeds)
            };
            let fused = run(&machine, Engine::Fused);
            let other =
                Machine { name: "flex".into(), device: reference.clone(), ..machine.clone() };
            let tensor = run(&other, Engine::Tensor);
            // The diffusivity gradient is a difference over a twentieth of a cell, which amplifies rounding.
            let bound = 2e3 * machine.eps();
            let deviation = distance(fused.last(), tensor.last());
            assert_below(&format!("{machine}, {walk:?}"), deviation, bound);
        }
    }
}

/// The well-mixed condition, with a diffusivity that varies in space (Visser 1997; Brickman and Smith 2002).
#[test]
fn well_mixed_particles_remain_well_mixed() {
    const BINS: usize = 20;
    let mixing = Mixing::new([1, 1, 64], |_, _| [0.0; 3], |[_, _, z]| 0.002 + 0.08 * z * (1.0 - z));
    for machine in some_machines() {
        let n = if machine.name == "flex" { 20_000 } else { 4000 };
        let field = mixing.field(&machine);
        let seeds = Seeds::uniform([0.0; 3], [1.0; 3], n, 21).unwrap();
        for scheme in WalkScheme::ALL {
            let walk = RandomWalk::of_field([0.0, 0.0, 1.0], 8).scheme(scheme);
            let tracer = Tracer::new(&field)
                .all_faces(BoundaryCondition::Reflect)
                .random_walk(walk)
                .span(steps(0.0, 5.0, 400));
            let run = trace(&tracer, &seeds);
            let mut bins = [0_usize; BINS];
            for p in run.last() {
                bins[((p[2] * BINS as f64) as usize).min(BINS - 1)] += 1;
            }
            let expected = (n / BINS) as f64;
            let max = bins.iter().map(|b| (*b as f64 - expected).abs()).fold(0.0, f64::max);
            assert_below(&format!("{machine}, {scheme:?}: {bins:?}"), max, 5.0 * expected.sqrt());
        }
    }
}

/// The same on a sphere, where the diffusivity is apart from the velocity, by a profile of depths.
#[test]
fn columns_on_a_sphere_remain_well_mixed() {
    const BINS: usize = 20;
    let depth = 100.0;
    let axes = [even_axis(0.0, 1.0, 2), even_axis(40.0, 41.0, 2), even_axis(-depth, 0.0, 64)];
    let z = axes[2].clone();
    let of = |z: &f64| depth * depth * (0.002 - 0.08 * z / depth * (1.0 + z / depth));
    let diffusivity = z.iter().map(of).collect();
    let profile = burntrace::Mixing::Profile { z, diffusivity };
    for machine in some_machines() {
        let n = if machine.name == "flex" { 20_000 } else { 4000 };
        let frames = Frames::new(axes.clone(), Placement::Nodes, &[0.0], |_, _| [0.0; 3]);
        let radius = Some(EARTH_RADIUS);
        let mut source = Diffused::new(frames, profile.clone(), radius).unwrap();
        let options = FieldOptions { precision: machine.precision, radius, ..Default::default() };
        let field = GridField::load(&mut source, &machine.device, &options).unwrap();
        let seeds = Seeds::uniform([0.0, 40.0, -depth], [1.0, 41.0, 0.0], n, 21).unwrap();
        let tracer = Tracer::new(&field)
            .all_faces(BoundaryCondition::Reflect)
            .random_walk(RandomWalk::of_field([0.0, 0.0, 1.0], 8))
            .span(steps(0.0, 5.0, 400));
        let mut bins = [0_usize; BINS];
        for p in trace(&tracer, &seeds).last() {
            let part = 1.0 + p[2] / depth;
            bins[((part * BINS as f64) as usize).min(BINS - 1)] += 1;
        }
        let expected = (n / BINS) as f64;
        let max = bins.iter().map(|b| (*b as f64 - expected).abs()).fold(0.0, f64::max);
        assert_below(&format!("{machine}: {bins:?}"), max, 5.0 * expected.sqrt());
    }
}

#[test]
fn drift_is_added_to_the_field_velocity() {
    for machine in machines() {
        let field = machine.field(&Frames::uniform(LOW, HIGH, &[0.0], |_| [0.25, 0.0, 0.5]));
        for &engine in machine.engines() {
            let tracer = Tracer::new(&field)
                .drift([0.0, 0.125, -1.0])
                .span(steps(0.0, 1.0, 8))
                .engine(engine);
            let run = trace(&tracer, &Seeds::list(vec![[0.0; 3]]).unwrap());
            let deviation = distance(run.last(), &[[0.25, 0.125, -0.5]]);
            assert_below(&format!("{machine}, {engine}"), deviation, 8.0 * machine.eps());
        }
    }
}

/// Beyond a periodic face is the diffusivity of the next period: a shift of everything by half a period
/// shifts the walks.
#[test]
fn walks_across_periodic_faces_do_not_depend_on_the_origin_of_the_period() {
    let k = [0.02, 0.03, 0.01, 0.04];
    let starts = [0.004, 0.996, 0.0, 0.3, 0.51];
    for machine in some_machines() {
        let run = |shift: usize, engine: Engine| {
            let diffusivity = |[x, ..]: [f64; 3]| k[((4.0 * x).round() as usize + shift) % 4];
            let field = Mixing::new([4, 1, 1], |_, _| [0.0; 3], diffusivity).field(&machine);
            let start = |x: f64| [(x + 1.0 - 0.25 * shift as f64).fract(), 0.5, 0.5];
            let starts = starts.map(start).to_vec();
            let tracer = Tracer::new(&field)
                .all_faces(BoundaryCondition::Periodic)
                .random_walk(RandomWalk::of_field([1.0, 0.0, 0.0], 9))
                .engine(engine)
                .span(steps(0.0, 0.25, 8));
            let run = trace(&tracer, &Seeds::list(starts.clone()).unwrap());
            let ends = run.unwrapped([1.0; 3]).into_iter().zip(starts);
            ends.map(|(end, start)| [end[0] - start[0], 0.0, 0.0]).collect::<Vec<_>>()
        };
        for &engine in machine.engines() {
            let deviation = distance(&run(0, engine), &run(2, engine));
            assert_below(&format!("{machine} {engine}"), deviation, 2e3 * machine.eps());
        }
    }
}

#[test]
fn neither_a_drift_nor_a_walk_leaves_a_flat_domain() {
    for machine in machines() {
        let field =
            machine
                .field(&Frames::uniform([-1.0, -1.0, 0.0], [1.0, 1.0, 0.0], &[0.0], |_| [0.0; 3]));
        for &engine in machine.engines() {
            let tracer = Tracer::new(&field).span(steps(0.0, 1.0, 8)).engine(engine);
            let walk = RandomWalk::per_axis([1e-4, 1e-4, 1.0], 5);
            for tracer in [tracer.clone().drift([0.25, 0.0, 0.5]), tracer.random_walk(walk)] {
                let run = trace(&tracer, &Seeds::list(vec![[0.0; 3]]).unwrap());
                assert_eq!(run.status, [Status::Active], "{machine}, {engine}");
                assert_eq!(run.last()[0][2], 0.0, "{machine}, {engine}");
            }
        }
    }
}

#[test]
fn errors_name_the_invalid_option() {
    let machine = &machines()[0];
    let field = still(machine);
    let message = |tracer: Tracer| {
        let tracer = tracer.span(steps(0.0, 1.0, 1));
        tracer.trace(&Seeds::list(vec![[0.0; 3]]).unwrap()).unwrap_err().to_string()
    };
    let walk = |walk| message(Tracer::new(&field).random_walk(walk));
    assert!(walk(RandomWalk::isotropic(-1.0, 1)).contains("along x is -1"));
    assert!(walk(RandomWalk::isotropic(1e300, 1)).contains("from 0 to 1e30"));
    assert!(walk(RandomWalk::of_field([1.0; 3], 1)).contains("the field has no diffusivity"));
    assert!(message(Tracer::new(&field).drift([f64::NAN; 3])).contains("NaN"));
    for speed in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(message(Tracer::new(&field).stagnant_speed(speed)).contains("stagnant speed"));
    }
}

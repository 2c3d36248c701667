//! Tracing in damaged meshes: a typed error or a finished run, never a panic or an endless loop.
//!
//! `BURNTRACE_MESH=13` runs mesh number 13 only.

use crate::{common::*, meshes::*};
use burntrace::{
    BoundaryCondition, CellVelocity, Domain, Engine, FieldOptions, MeshField, Placement, SaveAt,
    Scheme, Seeds, SeedsOutside, Tracer, mesh::Cells,
};
use std::{
    sync::{Arc, Mutex, mpsc},
    time::{Duration, Instant},
};

const MESHES: u64 = 40;
/// Time limit for a mesh. A mesh with its six or twelve runs of 50 particles takes milliseconds, or a few
/// seconds with folded cells.
const TIME_LIMIT: Duration = Duration::from_secs(60);

fn below(dice: &mut Dice, end: usize) -> usize {
    dice.bits() as usize % end.max(1)
}

fn one_in(dice: &mut Dice, many: usize) -> bool {
    below(dice, many) == 0
}

/// A mesh of one cell type, or of types that may not match, with up to three kinds of damage.
fn damaged(dice: &mut Dice) -> Made {
    let count = 1 + below(dice, 4);
    let family = dice.pick(&[SOLID, SOLID, FLAT]);
    let (only, are_many, key) = (dice.pick(family), one_in(dice, 3), dice.bits());
    let shake = dice.pick(&[0.0, 0.15]);
    let mut made = Made::new(count, shake, |k| match are_many {
        true => Dice(key ^ k as u64).pick(family),
        false => only,
    });
    for _ in 0..below(dice, 4) {
        damage(dice, &mut made, count, family[0].dimension());
    }
    made
}

/// One kind of damage out of sixteen, some of which are more likely.
fn damage(dice: &mut Dice, made: &mut Made, count: usize, dimension: usize) {
    match below(dice, 16) {
        kind @ (0..4 | 11..14) => move_points(kind, dice, made, (count, dimension)),
        kind => damage_cells(kind, dice, made),
    }
}

fn move_points(kind: usize, dice: &mut Dice, made: &mut Made, (count, dimension): (usize, usize)) {
    match kind {
        // Inverted and folded cells.
        0..4 => {
            let (far, many) = (dice.pick(&[0.3, 1.0, 100.0]), dice.pick(&[1, 3, 10]));
            for p in &mut made.points {
                if one_in(dice, many) {
                    for x in &mut p[..dimension] {
                        *x += dice.between(-far, far) / count as f64;
                    }
                }
            }
        }
        // Flat or nearly flat along an axis.
        11 => {
            let (axis, factor) = (below(dice, dimension), dice.pick(&[0.0, 1e-14, 1e-7, 1e-3]));
            made.points.iter_mut().for_each(|p| p[axis] *= factor);
        }
        // Very large, very small, or far from the origin.
        12 => {
            let (factor, shift) =
                dice.pick(&[(1e25, 0.0), (1e-25, 0.0), (1e-300, 0.0), (1.0, 1e6)]);
            made.points
                .iter_mut()
                .for_each(|p| p.iter_mut().for_each(|x| *x = factor * *x + shift));
        }
        // Coincident points.
        _ => {
            let steps = dice.pick(&[1.0, 2.0, 3.0]);
            for p in &mut made.points {
                if one_in(dice, 2) {
                    *p = p.map(|x| (steps * x).round() / steps);
                }
            }
        }
    }
}

fn damage_cells(kind: usize, dice: &mut Dice, made: &mut Made) {
    let points = made.points.len();
    match kind {
        // Repeated or permuted nodes of a cell.
        4 | 5 => {
            for cell in 0..made.cells.len() {
                let [start, end] = [0, 1].map(|k| made.cells.offsets[cell + k] as usize);
                let nodes = &mut made.cells.connectivity[start..end];
                let [a, b] = [(); 2].map(|()| below(dice, nodes.len()));
                match below(dice, 6) {
                    0 => nodes[a] = nodes[b],
                    1 => nodes.swap(a, b),
                    _ => {}
                }
            }
        }
        // Missing and duplicated cells.
        6..9 => {
            let all = made.cells.clone();
            let (drops, repeats) = (dice.pick(&[2, 3, 10]), dice.pick(&[2, 10, 1000]));
            made.cells = Cells { offsets: vec![0], ..Cells::default() };
            for cell in 0..all.len() {
                let times = usize::from(!one_in(dice, drops)) + usize::from(one_in(dice, repeats));
                for _ in 0..times {
                    made.cells.kinds.push(all.kinds[cell]);
                    made.cells.connectivity.extend(all.nodes(cell));
                    made.cells.offsets.push(made.cells.connectivity.len() as u32);
                }
            }
        }
        // Random connectivity.
        9 | 10 => {
            let many = dice.pick(&[1, 4, 30]);
            for node in &mut made.cells.connectivity {
                if one_in(dice, many) {
                    *node = below(dice, points) as u32;
                }
            }
        }
        // Non-finite points, or invalid point indices.
        14 => {
            let (k, d) = (below(dice, points), below(dice, 3));
            made.points[k][d] = dice.pick(&[f64::NAN, f64::INFINITY, 1e300]);
            if one_in(dice, 2) && !made.cells.is_empty() {
                let k = below(dice, made.cells.connectivity.len());
                made.cells.connectivity[k] = dice.pick(&[points as u32, u32::MAX]);
            }
        }
        // Empty or truncated connectivity.
        _ => match below(dice, 3) {
            0 => made.cells = Cells { offsets: vec![0], ..Cells::default() },
            1 => made.cells = Cells::default(),
            _ => drop(made.cells.connectivity.pop()),
        },
    }
}

/// A random velocity that crosses a few, no, or very many cells in a step.
fn frames(dice: &mut Dice, made: &Made) -> MeshFrames {
    let placement = dice.pick(&[Placement::Nodes, Placement::Nodes, Placement::Cells]);
    let count = match placement {
        Placement::Nodes | Placement::Faces => made.points.len(),
        Placement::Cells => made.cells.len(),
    };
    let times = dice.pick(&[&[0.0][..], &[0.0, 0.3, 1.0]]).to_vec();
    let fast = dice.pick(&[0.0, 1e-6, 0.3, 3.0, 3.0, 30.0, 1e6]) * extent(made);
    let mut number = || dice.between(-fast, fast);
    let values = times.iter().map(|_| (0..3 * count).map(|_| number()).collect()).collect();
    let (points, cells) = (made.points.clone(), made.cells.clone());
    MeshFrames { points, cells, placement, times, values }
}

/// The length of the longest side of the box around all finite points.
fn extent(made: &Made) -> f64 {
    let side = |d: usize| {
        let along = || made.points.iter().map(|p| p[d]).filter(|x| x.is_finite());
        along().fold(f64::MIN, f64::max) - along().fold(f64::MAX, f64::min)
    };
    (0..3).map(side).fold(0.0, f64::max)
}

/// Seeds in cells, at points, and anywhere in or near the box of the mesh.
fn seeds(dice: &mut Dice, field: &MeshField) -> Vec<[f64; 3]> {
    let mesh = field.mesh();
    let (points, cells) = (mesh.points().collect::<Vec<_>>(), mesh.cells());
    let centre = |cell: usize| {
        let nodes = cells.nodes(cell);
        let of = |d: usize| nodes.iter().map(|node| points[*node as usize][d]).sum::<f64>();
        [0, 1, 2].map(|d| of(d) / nodes.len() as f64)
    };
    let mut all: Vec<_> = (0..25).map(|_| centre(below(dice, cells.len()))).collect();
    all.extend((0..10).map(|_| points[below(dice, points.len())]));
    all.extend((0..15).map(|_| {
        let [p, q] = [(); 2].map(|()| points[below(dice, points.len())]);
        [0, 1, 2].map(|d| p[d] + dice.between(-0.1, 1.1) * (q[d] - p[d]))
    }));
    all
}

/// Finished runs and errors of a case.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    loaded: usize,
    rejected: usize,
    runs: usize,
    errors: usize,
    /// Released particles, and active particles at the end.
    released: usize,
    active: usize,
}

impl Count {
    fn add(&mut self, other: Count) {
        self.loaded += other.loaded;
        self.rejected += other.rejected;
        self.runs += other.runs;
        self.errors += other.errors;
        self.released += other.released;
        self.active += other.active;
    }
}

/// Loads and traces the mesh of a number; `doing` names the current operation.
fn attempt(number: u64, doing: &Mutex<String>) -> Count {
    let mut dice = Dice(number);
    let made = damaged(&mut dice);
    let frames = frames(&mut dice, &made);
    let in_cells = dice.pick(&[CellVelocity::Constant, CellVelocity::Averaged]);
    let scheme = dice.pick(&[Scheme::Euler, Scheme::Midpoint, Scheme::Heun, Scheme::Rk4]);
    let condition = dice.pick(&[
        BoundaryCondition::Exit,
        BoundaryCondition::Clamp,
        BoundaryCondition::Reflect,
        BoundaryCondition::Periodic,
    ]);
    let (is_unbounded, rest) = (one_in(&mut dice, 2), dice.bits());
    let mut count = Count::default();
    for machine in machines().into_iter().filter(|machine| machine.name == "flex") {
        let say = |what: &str| *doing.lock().unwrap() = format!("{machine}, {what}");
        say("load");
        let options = FieldOptions { precision: machine.precision, ..FieldOptions::default() };
        let loaded = MeshField::load(&mut frames.clone(), &machine.device, &options, in_cells);
        let Ok(field) = loaded else {
            count.rejected += 1;
            continue;
        };
        count.loaded += 1;
        let max = frames.values.iter().flatten().fold(0.0, |max, x| f64::max(max, x.abs()));
        let mesh =
            format!("{:.1e} extents per run, {:?}", max / extent(&made), field.mesh().counts());
        let Ok(seeds) = Seeds::list(seeds(&mut Dice(rest), &field)) else { continue };
        // The tensor engine is slower, so it runs for some meshes only.
        let engines = if number.is_multiple_of(20) { machine.engines() } else { &[Engine::Fused] };
        for (engine, wall) in engines.iter().flat_map(|engine| {
            [BoundaryCondition::Exit, BoundaryCondition::Reflect, BoundaryCondition::Slide]
                .map(|wall| (*engine, wall))
        }) {
            let domain = if is_unbounded { "unbounded".into() } else { format!("{condition:?}") };
            say(&format!("{engine}, {wall:?}, {scheme:?}, domain {domain}, {mesh}"));
            let mut tracer = Tracer::new(&field)
                .engine(engine)
                .scheme(scheme)
                .mesh_wall(wall)
                .all_faces(condition)
                .seeds_outside(SeedsOutside::NotLocated)
                .span(steps(0.0, 1.0, 10))
                .save(SaveAt::EverySteps(5))
                .save_velocity(true);
            if is_unbounded {
                tracer = tracer.all_faces(BoundaryCondition::Exit).domain(Domain::unbounded());
            }
            match tracer.trace(&seeds) {
                // `read` also checks released = active + ended.
                Ok(tracks) => {
                    let run = read(&tracks);
                    assert_eq!(run.status.len(), 50);
                    count.runs += 1;
                    count.released += run.summary.released;
                    count.active += run.summary.active();
                }
                Err(_) => count.errors += 1,
            }
        }
    }
    count
}

#[test]
fn damaged_meshes_give_an_error_or_a_finished_run() {
    let (mut sum, mut slowest, mut bad) = (Count::default(), (Duration::ZERO, 0), Vec::new());
    // Find the devices before the clock starts.
    drop(machines());
    let only = std::env::var("BURNTRACE_MESH").ok().map(|number| number.parse().unwrap());
    for number in only.map_or(0..MESHES, |number| number..number + 1) {
        let doing = Arc::new(Mutex::new(String::new()));
        let (sender, receiver) = mpsc::channel();
        let start = Instant::now();
        let thread = std::thread::spawn({
            let doing = Arc::clone(&doing);
            move || sender.send(attempt(number, &doing))
        });
        let what = || doing.lock().map_or_else(|e| e.into_inner().clone(), |text| text.clone());
        match receiver.recv_timeout(TIME_LIMIT) {
            Ok(count) => sum.add(count),
            Err(mpsc::RecvTimeoutError::Timeout) => {
                bad.push(format!("mesh {number} does not finish: {}", what()));
                break;
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                let _ = thread.join();
                bad.push(format!("mesh {number} panics: {}", what()));
            }
        }
        slowest = slowest.max((start.elapsed(), number));
    }
    eprintln!("{sum:?}; slowest: mesh {} with {:?}", slowest.1, slowest.0);
    assert!(bad.is_empty(), "{bad:#?}");
    if only.is_some() {
        return;
    }
    assert!(sum.loaded > sum.rejected && sum.rejected > 5, "{sum:?}");
    assert!(sum.runs > 3 * MESHES as usize && sum.released > sum.runs * 20, "{sum:?}");
}

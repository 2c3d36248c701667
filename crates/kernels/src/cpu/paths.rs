//! Straight paths through the domain box, among obstacles and in a mesh, on the host.

mod clip;

pub use clip::StageClips;

use super::{
    Real,
    dual::{Dual, VARIABLES},
    gates::GateLog,
    launch::{Clipped, Launch, LaunchData, clip_where, on_path},
};
use crate::{
    Boundary, Obstacle, Status,
    physics::{
        cursor::host::Carried,
        faces::host::{Passage, contains, land},
        features::Features,
        gates::host::{Noting, noting},
        obstacles::host::{clearance_of, is_clear_of_all},
        path::host::{carry, location_code, pass},
        prelude::host::{Float, Vec3, slip},
        region::host::{CellHint, FoundCell, bisection, known},
        tables::{CELLS, Tables},
    },
};

/// The end of a path. Where only the domain box matters, all crossings are found at once.
pub(crate) fn follow<F: Float>(
    launch: &Launch<F>,
    path: [Vec3<F>; 2],
    hint: &mut CellHint<F>,
) -> Passage<F> {
    follow_noting(launch, path, hint, (&mut noting(0), &mut Vec::new()))
}

/// As [`follow`], with notes of the gates that it crosses.
#[cold]
#[inline(never)]
pub(crate) fn follow_noting<F: Float>(
    launch: &Launch<F>,
    [from, to]: [Vec3<F>; 2],
    hint: &mut CellHint<F>,
    (noting, log): (&mut Noting<F>, &mut GateLog<F>),
) -> Passage<F> {
    let Features { mesh, bodies, bounces, gates, .. } = launch.features;
    if mesh || bodies || bounces || gates {
        return pass(launch, from, to, hint, noting, log);
    }
    land(launch, from, to)
}

/// Lower bound of the distance of a point inside the allowed side of an obstacle; negative on the
/// forbidden side.
pub(crate) fn obstacle_clearance(obstacle: &Obstacle, position: [f64; 3]) -> f64 {
    let (obstacles, open) = (std::slice::from_ref(obstacle), Boundary::open());
    let geometry = obstacle.shape.table();
    let tables = Tables::of_surroundings(&open, obstacles);
    let data = LaunchData::<f64>::new(tables, geometry, Features::among(obstacles));
    clearance_of(&data.launch(None), 0, Vec3(position))
}

/// The end of a straight path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathEnd {
    /// Final position, in the domain box.
    pub position: [f64; 3],
    /// Boxes crossed through periodic faces, per axis.
    pub image: [i32; 3],
    /// Final status, and the fraction of the path at the end, if the particle ended.
    pub end: Option<(Status, f64)>,
    /// Upper bound of the length of the path, without what sliding along surfaces removes; infinite if
    /// it met none.
    pub moved: f64,
    /// What [`Particles::record`](crate::Particles::record) stores of the location.
    pub location: i32,
    /// Derivatives of the position's components by those of the start and of the free end of the
    /// path; `None` if the end is the free end.
    pub jacobians: Option<[Jacobian; 2]>,
    /// Derivatives of the fraction of the path at the end, by the components of its start and of its free
    /// end; 0 if the particle has not ended.
    pub fraction_slopes: [[f64; 3]; 2],
}

/// Derivatives of three components, one row each, by three others.
pub type Jacobian = [[f64; 3]; 3];

/// The start of a path, moved off a wall beyond which it is by rounding; `None` if it is in no cell.
pub(super) fn pulled_in<F: Real>(
    launch: &Launch<F>,
    mut from: [F; 3],
    cell: i32,
    contains: &dyn Fn([F; 3]) -> bool,
) -> Option<[F; 3]> {
    // In a corner it can be beyond three walls.
    for _ in 0..3 {
        if contains(from) || cell == 0 {
            break;
        }
        from = (Vec3(from) + launch.edge(Vec3(from), cell).inward).0;
    }
    contains(from).then_some(from)
}

/// The last point in a mesh on a path, with its derivatives.
pub(super) fn clipped<F: Real>(
    launch: &Launch<Dual<F>>,
    from: [F; 3],
    to: [F; 3],
    cell: i32,
    contains: &dyn Fn([F; 3]) -> bool,
) -> PathEnd {
    let find = |p: [F; 3], cell: i32| {
        let found = launch.find_cell(Vec3(p.map(Dual::constant)), cell, -1, false);
        let cell = if found.is_found { found.cell } else { cell };
        FoundCell { is_found: contains(p), cell, face: -1 }
    };
    let bisect = |[reached, beyond]: [F; 2], _| (bisection(reached, beyond).part, false);
    let Clipped { reached, beyond, cell } = clip_where(from, to, (cell, -1), find, bisect);
    let (from, to) = variables(from, to);
    let position = on_path(from, to, Dual::constant(reached));
    let edge = launch.edge(Vec3(on_path(from, to, Dual::constant(beyond))), cell);
    let path = (Vec3(to) - Vec3(from)).0;
    at((Vec3(position) - slip(Vec3(position), Vec3(path), edge.inward)).0)
}

/// The cell of a mesh with the start of a path, or 0: by a walk from the cell that a record's location names, if it
/// does, or else by a search. A walk also finds a position on a wall that rounding put outside.
pub(super) fn start_cell<F: Real>(launch: &Launch<F>, from: [F; 3], location: i32) -> i32 {
    if !launch.features.mesh {
        return 0;
    }
    let known = if (0..=launch.int(CELLS)).contains(&location) { location } else { 0 };
    let found = launch.find_cell(Vec3(from), known, -1, false);
    let found = if found.is_found { found } else { launch.find_cell(Vec3(from), 0, -1, false) };
    if found.is_found { found.cell } else { 0 }
}

/// What a record stores of the end of a path from a cell on which nothing happens; `None` for other paths.
pub(crate) fn free_end<F: Real>(
    launch: &Launch<F>,
    from: [F; 3],
    to: [F; 3],
    cell: i32,
) -> Option<i32> {
    let (start, end) = (Vec3(from), Vec3(to));
    if !contains(launch, end) || launch.features.bodies && !is_clear_of_all(launch, start, end) {
        return None;
    }
    if !launch.features.mesh {
        return Some(0);
    }
    let found = launch.find_cell(end, cell, -1, false);
    let stays = cell != 0 && found.is_found && !launch.may_leave(start, end, cell, found.cell);
    stays.then_some(found.cell)
}

/// The end of a path with its derivatives.
pub(crate) fn replayed<F: Real>(
    launch: &Launch<Dual<F>>,
    from: [F; 3],
    to: [F; 3],
    cell: i32,
) -> PathEnd {
    let (from, to) = variables(from, to);
    let mut hint = based(cell);
    let (passage, status) = passage(launch, [from, to], &mut hint);
    PathEnd {
        image: [passage.image_x, passage.image_y, passage.image_z],
        end: status.map(|status| (status, passage.fraction.value.exact())),
        moved: passage.moved.value.exact(),
        location: location_code(&passage, hint.base),
        fraction_slopes: match status {
            Some(_) => [0, 3].map(|first| slopes(&passage.fraction, first)),
            None => [[0.0; 3]; 2],
        },
        ..at(passage.position.0)
    }
}

/// The end of a path, and the status with which the particle ended there, if it did.
pub(super) fn passage<F: Real>(
    launch: &Launch<Dual<F>>,
    path: [[Dual<F>; 3]; 2],
    hint: &mut CellHint<Dual<F>>,
) -> (Passage<Dual<F>>, Option<Status>) {
    let passage = follow(launch, path.map(Vec3), hint);
    let status = Status::from_code(passage.status).filter(|status| status.has_ended());
    (passage, status)
}

/// A path that starts in a cell.
pub(super) fn based<F: Float>(cell: i32) -> CellHint<F> {
    CellHint { base: cell, ..known(cell) }
}

/// The velocity of a particle with inertia at the end of a path that met something, from that at its start and its change.
pub(super) fn deflected<F: Float>(
    launch: &Launch<F>,
    [from, to]: [Vec3<F>; 2],
    cell: i32,
    [velocity, change]: [Vec3<F>; 2],
) -> Vec3<F> {
    let mut hint = based(cell);
    let (mut noting, mut log) = (noting(0), Vec::new());
    let carried = Carried { velocity, change };
    carry(launch, from, to, &mut hint, &carried, &mut noting, &mut log).velocity
}

/// The gradients of [`deflected`] by its vectors: the ends of the path, the velocity and its change.
pub(super) fn deflected_back<F: Real>(
    launch: &Launch<Dual<F>>,
    path: [[F; 3]; 2],
    cell: i32,
    velocities: [[F; 3]; 2],
    by: [F; 3],
) -> [[F; 3]; 4] {
    let fixed = |both: [[F; 3]; 2]| both.map(|of| Vec3(of.map(Dual::constant)));
    let moving = |[a, b]: [[F; 3]; 2]| {
        let (a, b) = variables(a, b);
        [Vec3(a), Vec3(b)]
    };
    let summed = |Vec3(ends): Vec3<Dual<F>>| {
        [0, 3].map(|first| {
            let slopes = ends.map(|x| slopes(&x, first));
            transposed(&slopes, by)
        })
    };
    let [from, to] = summed(deflected(launch, moving(path), cell, fixed(velocities)));
    let [velocity, change] = summed(deflected(launch, fixed(path), cell, moving(velocities)));
    [from, to, velocity, change]
}

/// The ends of a path as variables.
fn variables<F: Real>(from: [F; 3], to: [F; 3]) -> ([Dual<F>; 3], [Dual<F>; 3]) {
    let zero = Dual::constant(F::zero());
    let mut ends = [[zero; 3]; 2];
    // With constant indices: a slope that is stored by itself would be waited for when all of them are read at once.
    for d in 0..3 {
        (ends[0][d].value, ends[0][d].slopes[d]) = (from[d], F::one());
        (ends[1][d].value, ends[1][d].slopes[3 + d]) = (to[d], F::one());
    }
    ends.into()
}

/// An end at a position with derivatives, on a path that met nothing.
fn at<F: Real>(position: [Dual<F>; 3]) -> PathEnd {
    let by = |first: usize| position.map(|x| slopes(&x, first));
    PathEnd {
        position: position.map(|x| x.value.exact()),
        image: [0; 3],
        end: None,
        moved: f64::INFINITY,
        location: 0,
        jacobians: Some([by(0), by(3)]),
        fraction_slopes: [[0.0; 3]; 2],
    }
}

/// The derivatives of a number by three variables from a first one on.
fn slopes<F: Real>(number: &Dual<F>, first: usize) -> [f64; 3] {
    [0, 1, 2].map(|d| number.slopes[first + d].exact())
}

/// The gradients by all variables, from those by numbers that are functions of them: of a position, and of the fraction of a path.
pub(super) fn transposed_slopes<F: Real>(
    (position, by_position): (&[Dual<F>; 3], [F; 3]),
    (fraction, by_fraction): (&Dual<F>, f64),
) -> [f64; VARIABLES] {
    std::array::from_fn(|v| {
        let along = position.iter().zip(by_position).map(|(x, by)| (x.slopes[v] * by).exact());
        along.sum::<f64>()
            + if by_fraction == 0.0 { 0.0 } else { by_fraction * fraction.slopes[v].exact() }
    })
}

/// The product of a transposed Jacobian and a gradient.
pub(super) fn transposed<F: Real>(jacobian: &Jacobian, gradient: [F; 3]) -> [F; 3] {
    [0, 1, 2].map(|d| F::of((0..3).map(|c| jacobian[c][d] * gradient[c].exact()).sum()))
}

/// The product of a Jacobian and a change.
pub(super) fn product<F: Real>(jacobian: &Jacobian, change: [F; 3]) -> [F; 3] {
    jacobian.map(|row| F::of((0..3).map(|d| row[d] * change[d].exact()).sum()))
}

/// The gradients by the ends of a path that met something, from those by its end and by the fraction of the path
/// there.
pub(super) fn by_ends<F: Real>(
    end: &PathEnd,
    by_position: [F; 3],
    by_fraction: f64,
) -> [[F; 3]; 2] {
    let Some(jacobians) = &end.jacobians else { return [[F::zero(); 3], by_position] };
    [0, 1].map(|which| {
        let mut by = transposed(&jacobians[which], by_position);
        if by_fraction != 0.0 && end.end.is_some() {
            for (by, slope) in by.iter_mut().zip(end.fraction_slopes[which]) {
                *by += F::of(by_fraction * slope);
            }
        }
        by
    })
}

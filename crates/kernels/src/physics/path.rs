//! The one event loop: a particle follows a straight path to the first event on it (a face of the
//! domain box, an obstacle, the boundary of a mesh), the condition there decides how it goes on, and
//! so forth until the path or the particle has ended.
//!
//! A device kernel contains a copy of each function for each call site. Therefore one round of
//! [`pass`](host::pass) moves a particle to an event and also finds the next one, and a single loop
//! of `follow` serves all searches in a mesh.

use burntrace_macros::host_device;

/// Maximum number of events in one step. A particle with more, as in a narrow wedge, stays at the
/// last one until the next step.
pub const MAX_EVENTS: usize = 64;

/// Maximum number of events in one step at the boundary of a mesh.
pub const MAX_BOUNCES: usize = 16;

/// Maximum number of times in a step that a path interrupted in a mesh is resumed: enough for faces
/// of neighbours that do not match.
const MAX_INTERRUPTIONS: i32 = 20;

/// Maximum number of corrections to move a point out of all obstacles.
const MAX_ROUNDS: i32 = 8;

#[host_device]
pub(crate) mod path {
    use super::{MAX_BOUNCES, MAX_EVENTS, MAX_INTERRUPTIONS, MAX_ROUNDS};
    use crate::physics::{
        body::both::{allows, clearance, intersection, is_clear, line, load, normal, projected},
        faces::both::{Crossing, Passage, first_face, on_face, response},
        facets::both as facets,
        region::both::{CellHint, restore},
        tables::{
            BODY_END, BODY_INTS, BODY_TURN, FACE_END, FACE_TURN, FACE_WRAPS, HIGH, LOW,
            OBSTACLES_AT, PATCH_BOXES_AT, PATCH_COLUMNS, PATCHES, PATCHES_AT, WALL,
        },
        vector::both::{dot, vec3},
    };
    use crate::obstacle::FACETED;
    use crate::status::{ACTIVE, LEFT_MESH, STUCK};

    /// Progress of a particle along its path.
    struct Cursor<F: Float> {
        /// The point to move to.
        next: Vec3<F>,
        /// The periodic face that is crossed on arrival there, or -1.
        crossed: i32,
        /// Whether the path ends there.
        is_last: bool,
        /// End of the remaining path, if it has not been redirected.
        to: Vec3<F>,
        /// If it has been redirected, the remaining displacement, what is removed from it, and the
        /// obstacle along which it slides, or -1.
        rest: Vec3<F>,
        removed: Vec3<F>,
        is_redirected: bool,
        along: i32,
        /// Fraction of the whole path already covered.
        covered: F,
        /// Events at the boundary of the mesh, and resumptions of interrupted paths.
        edges: i32,
        interruptions: i32,
    }

    /// A point, and whether a particle may be there.
    pub(crate) struct AllowedPoint<F: Float> {
        pub point: Vec3<F>,
        pub is_allowed: bool,
    }

    /// The first crossing to the forbidden side of an obstacle.
    pub(crate) struct Hit<F: Float> {
        /// Index of the obstacle; -1 if there is none.
        pub which: i32,
        pub fraction: F,
        /// The unit normal towards the allowed side.
        pub normal: Vec3<F>,
    }

    /// The part of a path in a mesh, as fractions of its length.
    struct Found<F: Float> {
        reached: F,
        /// A fraction just beyond the boundary of the mesh; `reached` if there is none.
        beyond: F,
        is_whole: bool,
    }

    /// Whether the straight path between two points certainly meets no obstacle and ends at an
    /// allowed point.
    pub(crate) fn is_clear_of_all<F: Float>(
        launch: &Launch<F>,
        from: Vec3<F>,
        to: Vec3<F>,
    ) -> bool {
        let mut is_clear_of_all = true;
        for k in 0..launch.int(launch.int(OBSTACLES_AT) as usize) as usize {
            let body = load::<F>(launch, k);
            let mut is_convex = true;
            if comptime!(launch.features.surfaces) {
                is_convex = body.code != FACETED;
                if is_clear_of_all && !is_convex {
                    let facets = facets::load::<F>(launch, k);
                    is_clear_of_all = facets::is_clear::<F>(launch, &facets, from, to);
                }
            }
            if is_convex {
                is_clear_of_all = is_clear_of_all && is_clear::<F>(&body, from, to);
            }
        }
        is_clear_of_all
    }

    /// Follows the straight path `from -> to`, with `from` in the domain box, through all events.
    /// The final position is an allowed point despite rounding: a particle that cannot be moved to
    /// an allowed point stays at its last one.
    pub(crate) fn pass<F: Float>(
        launch: &Launch<F>,
        from: Vec3<F>,
        to: Vec3<F>,
        hint: &mut CellHint<F>,
    ) -> Passage<F> {
        let displacement = to - from;
        let mut passage = Passage::<F> {
            position: from,
            image_x: 0i32,
            image_y: 0i32,
            image_z: 0i32,
            status: ACTIVE,
            fraction: F::new(0.0_f32),
            which: i32::new(-1),
        };
        let mut cursor = Cursor::<F> {
            next: from,
            crossed: i32::new(-1),
            is_last: false,
            to,
            rest: displacement,
            removed: Vec3::<F>::new(F::new(0.0_f32)),
            is_redirected: false,
            along: i32::new(-1),
            covered: F::new(0.0_f32),
            edges: 0i32,
            interruptions: 0i32,
        };
        restore::<F>(hint);
        let mut events = 0i32;
        let mut continues = true;
        while continues {
            let mut is_there = true;
            if comptime!(launch.features.bodies) {
                let nearest = nearest_allowed::<F>(launch, cursor.next);
                is_there = nearest.is_allowed;
                if is_there {
                    passage.position = nearest.point;
                }
            } else {
                passage.position = cursor.next;
            }
            if is_there {
                count::<F>(&mut passage, cursor.crossed);
            }
            continues = is_there || events == 0;
            // A correction of the start does not change the displacement.
            if events == 0 && !is_same::<F>(passage.position, from) {
                cursor.to = passage.position + displacement;
            }
            events += 1;
            let is_over = cursor.is_last || passage.status != ACTIVE;
            continues = continues && !is_over && events <= comptime!(MAX_EVENTS as i32);
            if continues && events == 1 {
                continues = is_finite_length::<F>(displacement);
            }
            if continues {
                turn::<F>(launch, &mut cursor, passage.position);
                meet::<F>(launch, &mut cursor, &mut passage, hint);
                continues = cursor.edges <= comptime!(MAX_BOUNCES as i32);
            }
        }
        passage
    }

    /// What the record of a particle stores of where it is or ended: the index of an obstacle, a face
    /// of the mesh, the cell that its hint knows; -1 for a particle that stuck elsewhere.
    pub(crate) fn place_code<F: Float>(passage: &Passage<F>, cell: i32) -> i32 {
        let is_named = passage.which >= 0 || passage.status == STUCK;
        select(is_named, passage.which, cell)
    }

    /// Whether a displacement is short enough not to overflow.
    fn is_finite_length<F: Float>(displacement: Vec3<F>) -> bool {
        let longest = F::max_value() / F::new(16.0_f32);
        displacement.extract(0usize).abs() <= longest
            && displacement.extract(1usize).abs() <= longest
            && displacement.extract(2usize).abs() <= longest
    }

    fn is_same<F: Float>(a: Vec3<F>, b: Vec3<F>) -> bool {
        a.extract(0usize) == b.extract(0usize)
            && a.extract(1usize) == b.extract(1usize)
            && a.extract(2usize) == b.extract(2usize)
    }

    /// Counts the crossing of a periodic face, if any.
    fn count<F: Float>(passage: &mut Passage<F>, face: i32) {
        passage.image_x += select(face == 0, -1i32, select(face == 1, 1i32, 0i32));
        passage.image_y += select(face == 2, -1i32, select(face == 3, 1i32, 0i32));
        passage.image_z += select(face == 4, -1i32, select(face == 5, 1i32, 0i32));
    }

    /// The point itself, clamped to the domain box.
    fn in_box<F: Float>(launch: &Launch<F>, point: Vec3<F>) -> Vec3<F> {
        let mut point = point;
        #[unroll]
        for d in 0..3usize {
            let (low, high) = (launch.float(LOW + d), launch.float(HIGH + d));
            point.insert(d, clamp(point.extract(d), low, high));
        }
        point
    }

    /// The nearest allowed point: the given one, or a corrected one.
    pub(crate) fn nearest_allowed<F: Float>(launch: &Launch<F>, point: Vec3<F>) -> AllowedPoint<F> {
        let mut point = point;
        let mut is_allowed = false;
        let mut rounds = 0i32;
        while !is_allowed && rounds < MAX_ROUNDS {
            point = in_box::<F>(launch, point);
            is_allowed = true;
            let mut moved = point;
            for k in 0..launch.int(launch.int(OBSTACLES_AT) as usize) as usize {
                // If the previous obstacles allow the point, it is not moved yet.
                let body = load::<F>(launch, k);
                let mut is_convex = true;
                if comptime!(launch.features.surfaces) {
                    is_convex = body.code != FACETED;
                    if !is_convex {
                        let facets = facets::load::<F>(launch, k);
                        let probe = facets::probe::<F>(launch, &facets, moved, true);
                        let is_fine = probe.clearance > F::new(0.5_f32) * facets.skin;
                        if !is_fine {
                            is_allowed = false;
                            moved = probe.off;
                        }
                    }
                }
                if is_convex && !allows::<F>(&body, moved) {
                    is_allowed = false;
                    moved = projected::<F>(&body, moved);
                }
            }
            if !is_allowed {
                point = moved;
            }
            rounds += 1;
        }
        AllowedPoint::<F> { point, is_allowed }
    }

    /// Updates the end of a redirected path, which starts at a position.
    fn turn<F: Float>(launch: &Launch<F>, cursor: &mut Cursor<F>, position: Vec3<F>) {
        if cursor.is_redirected {
            cursor.to = position + cursor.rest - cursor.removed;
            if comptime!(launch.features.bodies) && cursor.along >= 0 {
                // Along the tangent, then back onto a curved vessel; triangles are flat.
                let body = load::<F>(launch, cursor.along as usize);
                if body.code != FACETED && !allows::<F>(&body, cursor.to) {
                    cursor.to = projected::<F>(&body, cursor.to);
                }
            }
        }
    }

    /// Finds the next event on the path from the passage's position, and the displacement after it.
    fn meet<F: Float>(
        launch: &Launch<F>,
        cursor: &mut Cursor<F>,
        passage: &mut Passage<F>,
        hint: &mut CellHint<F>,
    ) {
        let one = F::new(1.0_f32);
        let (from, to) = (passage.position, cursor.to);
        let face = first_face::<F>(launch, from, to);
        let hit = first_hit::<F>(launch, from, to);
        let is_face = face.face >= 0 && (hit.which < 0 || face.fraction < hit.fraction);
        let mut fraction = select(is_face, face.fraction, hit.fraction);
        let is_event = is_face || hit.which >= 0;
        cursor.next = to;
        if is_event {
            cursor.next = from + Vec3::<F>::new(fraction) * (to - from);
        }
        cursor.is_last = !is_event;
        cursor.crossed = i32::new(-1);
        cursor.is_redirected = false;
        let mut is_edge = false;
        if comptime!(launch.features.mesh) {
            cursor.next = on_face::<F>(launch, cursor.next, select(is_face, face.face, -1i32));
            let found = follow::<F>(launch, from, to, cursor, fraction, hint);
            if !found.is_whole {
                is_edge = true;
                let beyond = along::<F>(launch, from, to, found.beyond * fraction);
                fraction = found.reached * fraction;
                cover::<F>(cursor, fraction);
                leave::<F>(launch, cursor, passage, to, fraction, beyond, hint.base);
            }
        }
        if !is_edge && is_event {
            cover::<F>(cursor, fraction);
            let mut which = hit.which;
            let mut normal = hit.normal;
            if is_face {
                which = cross::<F>(launch, cursor, passage, &face, hint);
                normal = face_normal::<F>(face.face);
            }
            if comptime!(launch.features.bodies) && which >= 0 {
                let rest = Vec3::<F>::new(one - fraction) * (to - from);
                touch::<F>(launch, cursor, passage, which, rest, normal);
            }
        }
        passage.fraction = cursor.covered;
    }

    /// Adds a fraction of the remaining path to the fraction covered.
    fn cover<F: Float>(cursor: &mut Cursor<F>, fraction: F) {
        let one = F::new(1.0_f32);
        cursor.covered = min(cursor.covered + fraction * (one - cursor.covered), one);
    }

    /// What a contact removes from a displacement: `turn` times its component into a wall.
    fn removed<F: Float>(normal: Vec3<F>, normal_part: F, turn: i32) -> Vec3<F> {
        Vec3::<F>::new(F::cast_from(turn) * min(normal_part, F::new(0.0_f32))) * normal
    }

    /// The contact with obstacle `which`; `rest` is the displacement that remains there.
    fn touch<F: Float>(
        launch: &Launch<F>,
        cursor: &mut Cursor<F>,
        passage: &mut Passage<F>,
        which: i32,
        rest: Vec3<F>,
        normal: Vec3<F>,
    ) {
        let at = launch.int(OBSTACLES_AT) as usize + 1 + which as usize * BODY_INTS;
        let turn = launch.int(at + BODY_TURN);
        let end = launch.int(at + BODY_END);
        cursor.rest = rest;
        cursor.removed = removed::<F>(normal, dot::<F>(rest, normal), turn);
        cursor.is_redirected = true;
        cursor.along = select(turn == 1, which, -1i32);
        if end != ACTIVE {
            passage.status = end;
            passage.which = which;
        }
    }

    /// Applies the condition of a domain face that the particle has reached. Returns the index of an
    /// obstacle directly behind a periodic face, or -1.
    fn cross<F: Float>(
        launch: &Launch<F>,
        cursor: &mut Cursor<F>,
        passage: &mut Passage<F>,
        crossing: &Crossing<F>,
        hint: &mut CellHint<F>,
    ) -> i32 {
        let face = crossing.face;
        let wraps = response::<F>(launch, face, FACE_WRAPS) != 0;
        let turn = F::cast_from(response::<F>(launch, face, FACE_TURN));
        let to = cursor.to;
        let mut entered = cursor.next;
        let mut turned = to;
        let mut shifted = to;
        #[unroll]
        for d in 0..3usize {
            if face / 2 == comptime!(d as i32) {
                let (low, high) = (launch.float(LOW + d), launch.float(HIGH + d));
                let is_low = face == comptime!(2 * d as i32);
                let x = to.extract(d);
                let at = select(is_low, low, high);
                let width = high - low;
                entered.insert(d, select(is_low, high, low));
                // On the face for a turn of 1, mirrored for 2.
                turned.insert(d, at + (turn - F::new(1.0_f32)) * (at - x));
                shifted.insert(d, select(is_low, min(x + width, high), max(x - width, low)));
            }
        }
        cursor.next = on_face::<F>(launch, cursor.next, face);
        let mut blocks = i32::new(-1);
        if wraps {
            if comptime!(launch.features.bodies) {
                blocks = behind::<F>(launch, entered);
            }
            if blocks < 0 {
                cursor.next = entered;
                cursor.to = shifted;
                cursor.crossed = face;
                // The cell on the other side is not known.
                hint.base = 0i32;
            }
        } else {
            cursor.to = turned;
            passage.status = response::<F>(launch, face, FACE_END);
        }
        blocks
    }

    /// The unit normal of a domain face, into the box.
    fn face_normal<F: Float>(face: i32) -> Vec3<F> {
        let zero = F::new(0.0_f32);
        let one = F::new(1.0_f32);
        let sign = select(face % 2 == 0, one, -one);
        let x = select(face / 2 == 0, sign, zero);
        let y = select(face / 2 == 1, sign, zero);
        let z = select(face / 2 == 2, sign, zero);
        vec3::<F>(x, y, z)
    }

    /// The first obstacle with a point on its forbidden side, or -1.
    fn behind<F: Float>(launch: &Launch<F>, point: Vec3<F>) -> i32 {
        let mut which = i32::new(-1);
        for k in 0..launch.int(launch.int(OBSTACLES_AT) as usize) as usize {
            let distance = clearance_of::<F>(launch, k, point);
            if which < 0 && distance <= F::new(0.0_f32) {
                which = k as i32;
            }
        }
        which
    }

    /// Lower bound of the distance of a point inside the allowed side of obstacle `k`; negative on
    /// the forbidden side.
    pub(crate) fn clearance_of<F: Float>(launch: &Launch<F>, k: usize, point: Vec3<F>) -> F {
        let body = load::<F>(launch, k);
        let mut distance = F::new(0.0_f32);
        let mut is_convex = true;
        if comptime!(launch.features.surfaces) {
            is_convex = body.code != FACETED;
            if !is_convex {
                let facets = facets::load::<F>(launch, k);
                distance = facets::probe::<F>(launch, &facets, point, false).clearance;
            }
        }
        if is_convex {
            distance = clearance::<F>(&body, point);
        }
        distance
    }

    /// The first crossing from the allowed to the forbidden side of an obstacle.
    pub(crate) fn first_hit<F: Float>(launch: &Launch<F>, from: Vec3<F>, to: Vec3<F>) -> Hit<F> {
        let line = line::<F>(from, to);
        let mut which = i32::new(-1);
        let mut bound = i32::new(-1);
        let mut distance = line.length;
        if comptime!(launch.features.bodies) && line.is_any {
            for k in 0..launch.int(launch.int(OBSTACLES_AT) as usize) as usize {
                let body = load::<F>(launch, k);
                let mut met = i32::new(-1);
                let mut at = line.length;
                let mut is_convex = true;
                if comptime!(launch.features.surfaces) {
                    is_convex = body.code != FACETED;
                    if !is_convex {
                        let facets = facets::load::<F>(launch, k);
                        let crossing = facets::crossing::<F>(launch, &facets, from, &line);
                        met = crossing.bound;
                        at = crossing.distance;
                    }
                }
                if is_convex {
                    let intersection = intersection::<F>(&body, from, &line);
                    met = intersection.bound;
                    at = intersection.distance;
                }
                if met >= 0 && (which < 0 || at < distance) {
                    which = k as i32;
                    bound = met;
                    distance = at;
                }
            }
        }
        let mut towards = line.direction;
        if comptime!(launch.features.bodies) && which >= 0 {
            let body = load::<F>(launch, which as usize);
            let mut is_convex = true;
            if comptime!(launch.features.surfaces) {
                is_convex = body.code != FACETED;
                if !is_convex {
                    let facets = facets::load::<F>(launch, which as usize);
                    towards = facets::normal::<F>(launch, &facets, bound);
                }
            }
            if is_convex {
                let point = from + Vec3::<F>::new(distance) * line.direction;
                towards = normal::<F>(&body, point, bound);
            }
        }
        let fraction = select(which >= 0, distance / line.length, F::new(1.0_f32));
        Hit::<F> { which, fraction, normal: towards }
    }

    /// The point at a fraction of a path in the box.
    fn along<F: Float>(launch: &Launch<F>, from: Vec3<F>, to: Vec3<F>, part: F) -> Vec3<F> {
        in_box::<F>(launch, from + Vec3::<F>::new(part) * (to - from))
    }

    /// The targets of a round of [`follow`].
    const ALL: i32 = 0;
    const MIDDLE: i32 = 1;
    const CELL: i32 = 2;

    /// Follows a path in a mesh, up to the fraction `length` of the straight line `from -> to`, to
    /// its last point in the mesh. A walk may fail where the path continues: around a reentrant
    /// corner, and between neighbours with faces that do not match. The path resumes there if some
    /// cell contains it.
    ///
    /// Each round targets one point of the path: its end (the cursor's next point); the midpoint of
    /// the bisection between the fractions inside and outside; and when these have met, or if no
    /// cell is known, a cell in which the path resumes.
    fn follow<F: Float>(
        launch: &Launch<F>,
        from: Vec3<F>,
        to: Vec3<F>,
        cursor: &mut Cursor<F>,
        length: F,
        hint: &mut CellHint<F>,
    ) -> Found<F> {
        let zero = F::new(0.0_f32);
        let one = F::new(1.0_f32);
        let is_known = hint.base > 0;
        let mut reached = zero;
        let mut beyond = select(is_known, one, zero);
        let mut part = beyond;
        let mut target = select(is_known, ALL, CELL);
        let mut is_whole = false;
        let mut continues = true;
        while continues {
            let mut position = along::<F>(launch, from, to, part * length);
            if target == ALL {
                position = cursor.next;
            }
            let cell = select(target == CELL, 0i32, hint.base);
            let next = launch.find_cell(position, cell);
            let is_found = next.is_found && (target == CELL || cell > 0);
            if is_found {
                hint.cell = next.cell;
                hint.base = next.cell;
                hint.from = position;
                reached = part;
                if target == ALL {
                    is_whole = true;
                    continues = false;
                } else if target == CELL {
                    cursor.interruptions += select(beyond > zero, 1i32, 0i32);
                    continues = cursor.interruptions < MAX_INTERRUPTIONS;
                    beyond = select(continues, one, reached);
                }
            } else {
                beyond = part;
                continues = target != CELL;
            }
            let middle = F::new(0.5_f32) * (reached + beyond);
            if target == CELL {
                target = i32::new(0);
            } else {
                target = select(is_between::<F>(middle, reached, beyond), MIDDLE, CELL);
            }
            part = select(target == MIDDLE, middle, beyond);
        }
        Found::<F> { reached, beyond, is_whole }
    }

    /// Whether bisection between two fractions of a path can continue. It stops at the square of
    /// machine epsilon, which bounds the number of rounds even for a path of no length.
    #[inline(always)]
    pub(crate) fn is_between<F: Float>(part: F, reached: F, beyond: F) -> bool {
        let round = rounding::<F>();
        part > reached && part < beyond && beyond - reached > round * round
    }

    /// Applies the condition at the boundary of a mesh, which the path towards `to` has reached at
    /// the fraction `part`; `beyond` is a point just behind it.
    fn leave<F: Float>(
        launch: &Launch<F>,
        cursor: &mut Cursor<F>,
        passage: &mut Passage<F>,
        to: Vec3<F>,
        part: F,
        beyond: Vec3<F>,
        base: i32,
    ) {
        let from = passage.position;
        let edge = launch.edge(beyond, base);
        let size = max(
            max(edge.inward.extract(0usize).abs(), edge.inward.extract(1usize).abs()),
            edge.inward.extract(2usize).abs(),
        );
        let position = along::<F>(launch, from, to, part);
        let mut rest = Vec3::<F>::new(F::new(1.0_f32) - part) * (to - from);
        let at = wall_at::<F>(launch, position);
        let turn = launch.int(at);
        let end = launch.int(at + 1);
        cursor.next = position;
        if size > F::new(0.0_f32) {
            let normal = edge.inward / Vec3::<F>::new(size);
            let slip = slip::<F>(position, to - from, normal);
            cursor.next = position - slip;
            rest += slip;
            let normal_part = dot::<F>(rest, normal) / dot::<F>(normal, normal);
            rest = rest - removed::<F>(normal, normal_part, turn);
        } else {
            rest = Vec3::<F>::new(F::new(0.0_f32));
        }
        if end != ACTIVE {
            passage.status = end;
            passage.which = select(end == LEFT_MESH, edge.face, -1i32);
        } else {
            // Slightly off the wall, so that rounding does not make it leave again.
            cursor.next += edge.inward;
        }
        cursor.is_last = false;
        cursor.rest = rest;
        cursor.removed = Vec3::<F>::new(F::new(0.0_f32));
        cursor.is_redirected = true;
        cursor.along = i32::new(-1);
        cursor.edges += 1;
    }

    /// The offset of the response of the mesh boundary at a position.
    fn wall_at<F: Float>(launch: &Launch<F>, position: Vec3<F>) -> usize {
        let patch = patch_at::<F>(launch, position);
        let mut at = i32::new(comptime!(WALL as i64));
        if patch >= 0 {
            at = launch.int(PATCHES_AT) + patch * comptime!(PATCH_COLUMNS as i32);
        }
        at as usize
    }

    /// The first patch of the mesh boundary that contains a position, or -1.
    pub(crate) fn patch_at<F: Float>(launch: &Launch<F>, position: Vec3<F>) -> i32 {
        let mut found = i32::new(-1);
        for patch in 0..launch.int(PATCHES) {
            let at = (launch.int(PATCH_BOXES_AT) + 6 * patch) as usize;
            let mut is_in = true;
            #[unroll]
            for d in 0..3usize {
                let x = position.extract(d);
                is_in = is_in && launch.float(at + d) <= x && x <= launch.float(at + d + 3);
            }
            if is_in && found < 0 {
                found = patch;
            }
        }
        found
    }
}

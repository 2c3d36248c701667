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

#[host_device]
pub(crate) mod path {
    use super::{MAX_BOUNCES, MAX_EVENTS};
    use crate::obstacle::FACETED;
    use crate::physics::mesh_path::MAX_SEARCHES;
    use crate::physics::{
        body::both::{allows, load, projected},
        cursor::both::{Carried, Cursor, along, begin, cover, deflect, in_box, removed},
        faces::both::{Crossing, Passage, face_normal, first_face, on_face, response, rounding_of},
        gates::both::{Noting, Piece, note, note_exit, note_jump, whole},
        mesh_path::both::{follow, go_back, leave},
        obstacles::both::{behind, first_hit, nearest_allowed},
        region::both::{CellHint, restore},
        tables::{
            BODY_END, BODY_INTS, BODY_TURN, FACE_END, FACE_TURN, FACE_WRAPS, HIGH, LOW,
            OBSTACLES_AT, RESTITUTION,
        },
        vector::both::{dot, is_within},
    };
    use crate::status::{ACTIVE, LEFT_MESH, STUCK};

    /// Follows the straight path `from -> to`, with `from` in the domain box, through all events.
    /// The final position is an allowed point despite rounding: a particle that cannot be moved to
    /// an allowed point stays at its last one. Crossings of gates are noted.
    pub(crate) fn pass<F: Float>(
        launch: &Launch<F>,
        from: Vec3<F>,
        to: Vec3<F>,
        hint: &mut CellHint<F>,
        noting: &mut Noting<F>,
        log: &mut GateLog<F>,
    ) -> Passage<F> {
        let none = Vec3::<F>::new(F::new(0.0_f32));
        let carried = Carried::<F> { velocity: none, change: none };
        carry::<F>(launch, from, to, hint, &carried, noting, log)
    }

    /// As `pass`, with the velocity of a particle with inertia at the start and its change, which is spread evenly over the path.
    pub(crate) fn carry<F: Float>(
        launch: &Launch<F>,
        from: Vec3<F>,
        to: Vec3<F>,
        hint: &mut CellHint<F>,
        carried: &Carried<F>,
        noting: &mut Noting<F>,
        log: &mut GateLog<F>,
    ) -> Passage<F> {
        let displacement = to - from;
        let mut passage = Passage::<F> {
            position: from,
            image_x: 0i32,
            image_y: 0i32,
            image_z: 0i32,
            status: ACTIVE,
            fraction: F::new(0.0_f32),
            moved: rounding_of::<F>(to),
            which: i32::new(-1),
            velocity: carried.velocity,
        };
        let mut cursor = begin::<F>(from, to, carried);
        restore::<F>(hint);
        let mut events = 0i32;
        let mut continues = true;
        let mut noted = whole::<F>(from, to);
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
            if comptime!(launch.features.gates) {
                let face = select(is_there, cursor.crossed, -1i32);
                noted.end = select(cursor.is_last, F::new(1.0_f32), cursor.covered);
                note_round::<F>(launch, &mut noted, &passage, face, noting, log);
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
                // A longer path could overflow.
                continues = is_within::<F>(displacement, F::max_value() / F::new(16.0_f32));
            }
            if continues {
                turn::<F>(launch, &mut cursor, passage.position);
                meet::<F>(launch, &mut cursor, &mut passage, hint);
                // An end takes one more round, to its position.
                let has_ended = passage.status != ACTIVE;
                let is_bounded =
                    cursor.edges <= comptime!(MAX_BOUNCES as i32) && cursor.searches < MAX_SEARCHES;
                continues = has_ended || is_bounded;
            }
        }
        if comptime!(launch.features.carries) {
            // One that has ended keeps the velocity that it had there.
            let left =
                select(passage.status == ACTIVE, F::new(1.0_f32) - cursor.covered, F::new(0.0_f32));
            passage.velocity = cursor.velocity + Vec3::<F>::new(left) * cursor.change;
        }
        passage
    }

    /// Notes the gates on the straight piece from where they were `noted` last to the end of a round, at which the path crosses a periodic face or none (-1).
    fn note_round<F: Float>(
        launch: &Launch<F>,
        noted: &mut Piece<F>,
        passage: &Passage<F>,
        face: i32,
        noting: &mut Noting<F>,
        log: &mut GateLog<F>,
    ) {
        let position = passage.position;
        let reached = on_face::<F>(launch, position, face);
        let (start, part) = (noted.start, noted.end);
        let piece = Piece::<F> { from: noted.from, to: reached, start, end: part };
        note::<F>(launch, &piece, noting, log);
        if comptime!(launch.features.mesh) && passage.status == LEFT_MESH {
            note_exit::<F>(launch, position, passage.which, part, noting, log);
        }
        if face >= 0 {
            note_jump::<F>(launch, reached, position, part, noting, log);
        }
        noted.from = position;
        noted.start = part;
    }

    /// What the record of a particle stores of where it is or ended: the index of an obstacle, a face
    /// of the mesh, or the cell that its hint knows; -1 for a particle that stuck elsewhere, or left
    /// the mesh through no face.
    pub(crate) fn location_code<F: Float>(passage: &Passage<F>, cell: i32) -> i32 {
        let is_end = passage.status == STUCK || passage.status == LEFT_MESH;
        let is_named = passage.which >= 0 || is_end;
        select(is_named, passage.which, cell)
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

    /// Updates the end of a redirected path, which starts at a position.
    fn turn<F: Float>(launch: &Launch<F>, cursor: &mut Cursor<F>, position: Vec3<F>) {
        if cursor.is_redirected {
            cursor.to = position + cursor.rest - cursor.removed;
            if comptime!(launch.features.bodies) && cursor.along >= 0 {
                // Along the tangent, then back onto a curved vessel; triangles and coasts are flat.
                let body = load::<F>(launch, cursor.along as usize);
                if body.code < FACETED && !allows::<F>(&body, cursor.to) {
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
        if is_face {
            cursor.next = from + Vec3::<F>::new(fraction) * (to - from);
        } else if is_event {
            cursor.next = hit.point;
        }
        cursor.is_last = !is_event;
        cursor.entered = cursor.crossed;
        cursor.crossed = i32::new(-1);
        cursor.is_redirected = false;
        let mut is_edge = false;
        let mut is_return = false;
        if comptime!(launch.features.mesh) {
            let next = in_box::<F>(launch, cursor.next);
            cursor.next = on_face::<F>(launch, next, select(is_face, face.face, -1i32));
            let found = follow::<F>(launch, from, to, cursor, fraction, hint);
            if !found.is_whole {
                is_edge = true;
                is_return = hint.base == 0 && cursor.entered >= 0;
            }
            if is_return {
                go_back::<F>(launch, cursor, passage, to - from);
            } else if is_edge {
                let beyond = along::<F>(launch, from, to, found.beyond * fraction);
                fraction = found.reached * fraction;
                leave::<F>(launch, cursor, passage, to, fraction, beyond, hint.base);
            }
        }
        if !is_edge && is_event {
            cover::<F>(launch, cursor, fraction);
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
        let path = to - from;
        passage.moved += select(is_event || is_edge, fraction, one) * dot::<F>(path, path).sqrt();
        passage.fraction = cursor.covered;
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
        cursor.removed = removed::<F>(launch, rest, normal, dot::<F>(rest, normal), turn);
        deflect::<F>(launch, cursor, normal, normal, turn);
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
        let mut across = turn - F::new(1.0_f32);
        if comptime!(launch.features.bounces) && across > F::new(0.0_f32) {
            across = launch.float(RESTITUTION);
            let along = launch.float(comptime!(RESTITUTION + 1));
            turned = cursor.next + Vec3::<F>::new(along) * (to - cursor.next);
        }
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
                turned.insert(d, at + across * (at - x));
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
            let normal = face_normal::<F>(face);
            deflect::<F>(launch, cursor, normal, normal, response::<F>(launch, face, FACE_TURN));
            passage.status = response::<F>(launch, face, FACE_END);
        }
        blocks
    }
}

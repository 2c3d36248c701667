//! Straight paths in a mesh, and its boundary.

use burntrace_macros::host_device;

/// Maximum number of times in a step that a path interrupted in a mesh is resumed: enough for faces
/// of neighbours that do not match.
const MAX_INTERRUPTIONS: i32 = 20;

/// Maximum number of searches for a cell in the paths of a step. In sound meshes an event takes one to five on CPUs.
pub(crate) const MAX_SEARCHES: i32 = 256;

/// Maximum number of points at which a slide along a curved face looks for it.
const MAX_BENDS: i32 = 16;

/// Maximum number of points of a search for the boundary that follow from the face that a walk has reached. Then the path
/// is bisected.
pub(crate) const MAX_GUIDED: i32 = 8;

#[host_device]
pub(crate) mod mesh_path {
    use super::{MAX_BENDS, MAX_GUIDED, MAX_INTERRUPTIONS, MAX_SEARCHES};
    use crate::physics::{
        cursor::both::{Cursor, along, cover, deflect, removed},
        faces::both::{Passage, face_normal, on_face},
        region::both::{CellHint, is_between, shortest_part},
        sphere::both::at_right_angle,
        tables::{
            PATCH_BOXES_AT, PATCH_COLUMNS, PATCH_LISTS_AT, PATCH_TAGS, PATCHES, PATCHES_AT, WALL,
        },
        vector::both::{dot, largest},
    };
    use crate::status::{ACTIVE, LEFT_MESH};

    /// The part of a path in a mesh, as fractions of its length.
    pub(crate) struct Found<F: Float> {
        pub reached: F,
        /// A fraction just beyond the boundary of the mesh; `reached` if there is none.
        pub beyond: F,
        pub is_whole: bool,
    }

    /// The targets of a round of [`follow`].
    const ALL: i32 = 0;
    const MIDDLE: i32 = 1;
    const CELL: i32 = 2;

    /// A search along a path for its last point in the mesh.
    pub(crate) struct PathSearch<F: Float> {
        /// Fractions of its length: the last point that is known to be in the mesh, one outside, and the next one to try.
        pub reached: F,
        pub beyond: F,
        pub part: F,
        /// What the next round looks for.
        pub target: i32,
        /// The boundary face that the walk to `beyond` has reached, or -1.
        pub face: i32,
        /// Number of rounds since the start in a cell.
        pub rounds: i32,
        /// Whether the path is followed in its cell only, and whether it ever was.
        pub in_cell: bool,
        pub has_restarted: bool,
        pub is_whole: bool,
        pub continues: bool,
    }

    fn begin<F: Float>(is_known: bool) -> PathSearch<F> {
        let zero = F::new(0.0_f32);
        let one = F::new(1.0_f32);
        PathSearch::<F> {
            reached: zero,
            beyond: select(is_known, one, zero),
            part: select(is_known, one, zero),
            target: select(is_known, ALL, CELL),
            face: i32::new(-1),
            rounds: 0i32,
            in_cell: false,
            has_restarted: false,
            is_whole: false,
            continues: true,
        }
    }

    /// Follows a path in a mesh, up to the fraction `length` of the straight line `from -> to`, to
    /// its last point in the mesh. A walk may fail where the path continues: around a reentrant
    /// corner, and between neighbours with faces that do not match. The path resumes there if some
    /// cell contains it.
    ///
    /// A walk may also succeed, around a reentrant corner, where the path leaves the mesh. Where this is possible
    /// (`may_leave`), the path is followed to the border of its cell and resumed in the next one.
    ///
    /// If the walk to its end reaches the boundary face that the path meets, this is known at once. Else
    /// each round targets one point of the path: its end (the cursor's next point); a point between
    /// the fractions inside and outside; and when these have met, or if no cell is known, a cell in
    /// which the path resumes.
    pub(crate) fn follow<F: Float>(
        launch: &Launch<F>,
        from: Vec3<F>,
        to: Vec3<F>,
        cursor: &mut Cursor<F>,
        length: F,
        hint: &mut CellHint<F>,
    ) -> Found<F> {
        let mut search = begin::<F>(hint.base > 0);
        while search.continues {
            let mut position = along::<F>(launch, from, to, search.part * length);
            if search.target == ALL {
                position = cursor.next;
            }
            let cell = select(search.target == CELL, 0i32, hint.base);
            let examines = search.in_cell && search.target != CELL;
            let is_rough = search.target == MIDDLE;
            let next = launch.examine_or_find(position, examines, cell, search.face, is_rough);
            // A cell is examined in a fraction of the time of a search.
            cursor.searches += select(examines && search.rounds % 4i32 != 3i32, 0i32, 1i32);
            let is_found = next.is_found && (search.target == CELL || cell > 0);
            let mut restarts = false;
            if comptime!(launch.features.reentrant) && is_found && search.target != CELL {
                let start = along::<F>(launch, from, to, search.reached * length);
                restarts = launch.may_leave(start, position, cell, next.cell);
            }
            if restarts {
                restart::<F>(&mut search);
            } else if is_found {
                hint.cell = next.cell;
                hint.base = next.cell;
                hint.from = position;
                enter::<F>(cursor, &mut search);
            } else {
                miss::<F>(launch, from, to, length, hint, &mut search, next.face);
            }
            // Without searches left, the particle waits for its next step.
            let is_over = cursor.searches >= MAX_SEARCHES;
            search.is_whole = search.is_whole || (search.has_restarted && is_over);
            search.continues = search.continues && !is_over;
            search.part = search.beyond;
            if search.target == CELL {
                search.target = i32::new(0);
            } else if search.continues && !restarts {
                aim::<F>(launch, from, to, length, &mut search);
            }
        }
        Found::<F> { reached: search.reached, beyond: search.beyond, is_whole: search.is_whole }
    }

    /// Follows the path in its cell only from now on.
    fn restart<F: Float>(search: &mut PathSearch<F>) {
        search.in_cell = true;
        search.has_restarted = true;
        search.beyond = F::new(1.0_f32);
        search.face = i32::new(-1);
        search.rounds = 0i32;
        search.target = i32::new(0);
    }

    /// Moves on from a point that is in the mesh.
    fn enter<F: Float>(cursor: &mut Cursor<F>, search: &mut PathSearch<F>) {
        search.reached = search.part;
        if search.target == ALL {
            search.is_whole = true;
            search.continues = false;
        } else if search.target == CELL {
            let is_new = search.beyond > F::new(0.0_f32) && !search.in_cell;
            cursor.interruptions += select(is_new, 1i32, 0i32);
            search.in_cell = false;
            search.continues = cursor.interruptions < MAX_INTERRUPTIONS;
            search.beyond = select(search.continues, F::new(1.0_f32), search.reached);
            search.face = i32::new(-1);
            search.rounds = 0i32;
        }
    }

    /// Moves on from a point that is not in the mesh, where a walk has reached a boundary face: to the point where the path
    /// meets it, if that is known.
    fn miss<F: Float>(
        launch: &Launch<F>,
        from: Vec3<F>,
        to: Vec3<F>,
        length: F,
        hint: &mut CellHint<F>,
        search: &mut PathSearch<F>,
        face: i32,
    ) {
        search.beyond = search.part;
        search.face = face;
        search.continues = search.target != CELL;
        if search.target == ALL && search.reached == F::new(0.0_f32) && !search.in_cell {
            let end = from + Vec3::<F>::new(length) * (to - from);
            let meeting = launch.meeting(from, end, face);
            let met = along::<F>(launch, from, to, meeting.reached * length);
            let mut leaves = false;
            if comptime!(launch.features.reentrant) && meeting.is_known {
                leaves = launch.may_leave(from, met, hint.base, meeting.cell);
            }
            if meeting.is_known && !leaves {
                hint.cell = meeting.cell;
                hint.base = meeting.cell;
                hint.from = met;
                search.reached = meeting.reached;
                search.beyond = meeting.beyond;
                search.continues = false;
            }
        }
    }

    /// Chooses the next point to try.
    fn aim<F: Float>(
        launch: &Launch<F>,
        from: Vec3<F>,
        to: Vec3<F>,
        length: F,
        search: &mut PathSearch<F>,
    ) {
        let end = from + Vec3::<F>::new(length) * (to - from);
        let guide = select(search.rounds < MAX_GUIDED, search.face, -1i32);
        let probe = launch.probe(from, end, search.reached, search.beyond, guide);
        search.rounds += 1;
        search.target = i32::new(2);
        let shortest = shortest_part::<F>(from, to) / length;
        if !probe.is_closed && is_between::<F>(probe.part, search.reached, search.beyond, shortest)
        {
            search.target = i32::new(1);
            search.part = probe.part;
        }
    }

    /// Applies the condition at the boundary of a mesh, which the path towards `to` has reached at
    /// the fraction `part`; `beyond` is a point just behind it.
    pub(crate) fn leave<F: Float>(
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
        let size = largest::<F>(edge.inward);
        let position = along::<F>(launch, from, to, part);
        let mut rest = Vec3::<F>::new(F::new(1.0_f32) - part) * (to - from);
        let at = wall_at::<F>(launch, position, edge.face);
        let turn = launch.int(at);
        let end = launch.int(at + 1);
        let mut covered = part;
        cursor.next = position;
        if size > F::new(0.0_f32) {
            let normal = edge.inward / Vec3::<F>::new(size);
            let slip = slip::<F>(position, to - from, normal);
            cursor.next = position - slip;
            rest += slip;
            covered += lateness::<F>(position, to - from, normal);
            let normal = launch.normal_at(normal, cursor.next, edge.face);
            let mut away = normal;
            if comptime!(launch.features.sphere) {
                away = at_right_angle::<F>(launch, cursor.next, normal);
            }
            let normal_part = dot::<F>(rest, normal) / dot::<F>(normal, away);
            rest -= removed::<F>(launch, rest, away, normal_part, turn);
            if turn == 1 {
                rest += bend::<F>(launch, cursor.next + edge.inward, rest, away, edge.face);
            }
            cover::<F>(launch, cursor, covered);
            deflect::<F>(launch, cursor, away, normal, turn);
        } else {
            rest = Vec3::<F>::new(F::new(0.0_f32));
            cover::<F>(launch, cursor, covered);
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

    /// What brings a displacement `rest` from a point on a boundary face, along which it slides, back from behind the face
    /// if that is curved, by motions along `away`. A displacement beyond the reach of the face turns as the longest of its
    /// halves, quarters and so on within it.
    fn bend<F: Float>(
        launch: &Launch<F>,
        at: Vec3<F>,
        rest: Vec3<F>,
        away: Vec3<F>,
        face: i32,
    ) -> Vec3<F> {
        let zero = F::new(0.0_f32);
        let half = F::new(0.5_f32);
        let mut part = F::new(1.0_f32);
        let mut lift = zero;
        let mut bent = Vec3::<F>::new(zero);
        let mut rounds = 0i32;
        let mut continues = true;
        while continues {
            rounds += 1;
            let point = at + Vec3::<F>::new(part) * rest + Vec3::<F>::new(lift) * away;
            let surface = launch.surface(point, face);
            let climb = dot::<F>(surface.gradient, away);
            let is_on = surface.depth.abs() <= half * surface.tolerance;
            let is_inside = lift == zero && surface.depth >= zero;
            continues = surface.is_curved && rounds < MAX_BENDS;
            if !surface.is_near || climb <= zero {
                part *= half;
                lift = zero;
            } else if is_on && !is_inside {
                let late = lateness::<F>(point, away, surface.gradient);
                bent = Vec3::<F>::new((lift + late) / part) * away;
                continues = false;
            } else if is_inside {
                continues = false;
            } else {
                lift -= surface.depth / climb;
            }
        }
        bent
    }

    /// Takes a particle back through the periodic face that it has just crossed, to a place without
    /// mesh: the boundary of the mesh is at that face, and its condition applies to the remaining
    /// displacement `rest`.
    pub(crate) fn go_back<F: Float>(
        launch: &Launch<F>,
        cursor: &mut Cursor<F>,
        passage: &mut Passage<F>,
        rest: Vec3<F>,
    ) {
        let face = cursor.entered;
        cursor.next = on_face::<F>(launch, passage.position, face);
        // The face of the mesh is not known: patches of certain faces do not apply.
        let at = wall_at::<F>(launch, cursor.next, -1i32);
        let normal = face_normal::<F>(face);
        let part = dot::<F>(rest, normal);
        let kept = rest - removed::<F>(launch, rest, normal, part, launch.int(at));
        deflect::<F>(launch, cursor, normal, normal, launch.int(at));
        // The opposite face, which takes the period back.
        cursor.crossed = face + 1i32 - 2i32 * (face % 2i32);
        cursor.is_last = false;
        cursor.rest = kept;
        cursor.removed = Vec3::<F>::new(F::new(0.0_f32));
        cursor.is_redirected = true;
        cursor.along = i32::new(-1);
        cursor.edges += 1;
        passage.status = launch.int(at + 1);
    }

    /// The offset of the response of the mesh boundary at a position on a face, or -1.
    fn wall_at<F: Float>(launch: &Launch<F>, position: Vec3<F>, face: i32) -> usize {
        let patch = patch_at::<F>(launch, position, face);
        let mut at = i32::new(comptime!(WALL as i64));
        if patch >= 0 {
            at = launch.int(PATCHES_AT) + patch * comptime!(PATCH_COLUMNS as i32);
        }
        at as usize
    }

    /// The first patch of the mesh boundary that contains a position on a face, or -1. The face is
    /// eight times its cell plus its local number, or -1 if it is not known.
    pub(crate) fn patch_at<F: Float>(launch: &Launch<F>, position: Vec3<F>, face: i32) -> i32 {
        let mut found = i32::new(-1);
        if launch.int(PATCHES) > 0 {
            let tag = launch.face_tag(face);
            let own = select(tag <= launch.int(PATCH_TAGS), tag, 0i32);
            // The patches of all faces, and those of the tag.
            #[unroll]
            for list in 0..2usize {
                let at = (launch.int(PATCH_LISTS_AT) + own * comptime!(list as i32)) as usize;
                for entry in launch.int(at)..launch.int(at + 1) {
                    let patch = launch.int(entry as usize);
                    let is_first = found < 0 || patch < found;
                    if is_first && is_in_box::<F>(launch, position, patch) {
                        found = patch;
                    }
                }
            }
        }
        found
    }

    /// Whether a position is in the box of a patch.
    fn is_in_box<F: Float>(launch: &Launch<F>, position: Vec3<F>, patch: i32) -> bool {
        let at = (launch.int(PATCH_BOXES_AT) + 6 * patch) as usize;
        let mut is_in = true;
        #[unroll]
        for d in 0..3usize {
            let x = position.extract(d);
            is_in = is_in && launch.float(at + d) <= x && x <= launch.float(at + d + 3);
        }
        is_in
    }
}

//! Data shared by all particles of a launch, packed into two small buffers. Their layout is defined
//! here only, for the host that writes them and for the code that reads them.

use super::layout::Layout;
use crate::{
    Adaptive, Boundary, Face, FieldShape, FormulaShape, FormulaStart, GateShape, MeshPatch,
    Obstacle, ReinjectionRules, ScaledVelocity, Segment, Shape, Status,
    geometry::{TABLE_INTS, TablePlace},
    obstacle::{BLOCK, SHAPE_NUMBERS},
    random::halves,
    reinjection::STATUS_CODES,
};

/// Offsets in the float buffer; three numbers each, one per axis.
pub(crate) const LOW: usize = 0;
pub(crate) const HIGH: usize = 3;
pub(crate) const ORIGIN: usize = 6;
/// Cells or bins per unit of length; 0 on a flat axis.
pub(crate) const PER_LENGTH: usize = 9;
/// Square of the stagnation speed.
pub(crate) const STAGNANT: usize = 12;
/// Initial search radius for points.
pub(crate) const REACH: usize = 13;
/// Half the power of inverse distance weighting.
pub(crate) const HALF_POWER: usize = 14;
/// A constant velocity added to the field's.
pub(crate) const DRIFT: usize = 15;
/// Diffusivity of each axis, and half the distance of its central difference.
pub(crate) const DIFFUSIVITY: usize = 18;
pub(crate) const REACHES: usize = 21;
/// Relative and absolute tolerance, minimum and maximum step.
pub(crate) const CONTROL: usize = 24;
pub(crate) const CONTROL_MIN: usize = CONTROL + 2;
pub(crate) const CONTROL_MAX: usize = CONTROL + 3;
/// Less than any number of a run.
pub(crate) const LOWEST: usize = CONTROL + 4;
/// Radius of the sphere whose longitudes and latitudes the first two axes are.
pub(crate) const RADIUS: usize = LOWEST + 1;
/// The parts of the velocity across and along a surface that a particle with inertia keeps when it is reflected.
pub(crate) const RESTITUTION: usize = RADIUS + 1;
/// The frame intervals, then two numbers per step: time since the frame, length. For a formula, which has no
/// intervals, the time of each step in single precision, its length, what those times lack, and the numbers of its
/// [`FormulaStart`](crate::FormulaStart), with the time in two.
pub(crate) const FRAME_INTERVALS: usize = RESTITUTION + 2;

/// Offsets in the integer buffer.
pub(crate) const STEPS: usize = 0;
pub(crate) const FIRST_STEP: usize = 1;
pub(crate) const FRAMES: usize = 2;
pub(crate) const INTERVAL_COUNT: usize = 3;
pub(crate) const FRAME_SIZE: usize = 4;
/// Values of a group; a frame has one or more groups.
pub(crate) const GROUP_SIZE: usize = 5;
/// Nodes of a grid per axis, cells of the lattice of points, or a mesh's bins.
pub(crate) const NODES: usize = 6;
/// Stride of values, lattice cells or bins along each axis.
pub(crate) const STRIDES: usize = 9;
/// The responses of the six faces: how many times the component of a displacement into the face is
/// removed from it, the status of a particle that ends there (or that of an active one), and whether
/// the face is periodic.
pub(crate) const FACES: usize = 12;
pub(crate) const FACE_COLUMNS: usize = 3;
pub(crate) const FACE_TURN: usize = 0;
pub(crate) const FACE_END: usize = 1;
pub(crate) const FACE_WRAPS: usize = 2;
/// Number of cells of a mesh.
pub(crate) const CELLS: usize = FACES + 6 * FACE_COLUMNS;
/// Offsets in a mesh's index tensor: nodes of cells, neighbours, start offsets of bins, entries.
pub(crate) const NODES_AT: usize = CELLS + 1;
pub(crate) const NEIGHBOURS_AT: usize = CELLS + 2;
pub(crate) const BINS_AT: usize = CELLS + 3;
pub(crate) const ENTRIES_AT: usize = CELLS + 4;
/// Offset of the bits of cells near re-entrant edges in the index tensor; 0 if there are none.
pub(crate) const NEAR_REENTRANT_AT: usize = CELLS + 5;
/// The response of the mesh boundary: turn and end, as for a face.
pub(crate) const WALL: usize = CELLS + 6;
/// Number of patches of the mesh boundary, offset of their rows (turn, end, and the inlet of
/// re-injection or -1), and offset of their boxes in the float buffer (minimum corner, maximum
/// corner). Then the highest tag of their faces, and the offset of the lists of patches: for the
/// tag 0 those of all faces, for any other tag those of its faces. It has the starts of the lists, and
/// the end of the last.
pub(crate) const PATCHES: usize = WALL + 2;
pub(crate) const PATCHES_AT: usize = PATCHES + 1;
pub(crate) const PATCH_COLUMNS: usize = 3;
pub(crate) const PATCH_INLET: usize = 2;
pub(crate) const PATCH_BOXES_AT: usize = PATCHES + 2;
pub(crate) const PATCH_TAGS: usize = PATCHES + 3;
pub(crate) const PATCH_LISTS_AT: usize = PATCHES + 4;
/// The inlet of re-injection for each status, or -1.
pub(crate) const AFTER: usize = PATCHES + 5;
/// Capacity of the log in ends per slot.
pub(crate) const LOG_ROWS: usize = AFTER + STATUS_CODES;
/// Whether the launch continues slots that the previous one stopped for lack of room in the log.
pub(crate) const RESUMES: usize = LOG_ROWS + 1;
/// Number of sources.
pub(crate) const SOURCES: usize = LOG_ROWS + 2;
/// Offset of the rows of sources: first slot, slots, inlet, number of the first release modulo the
/// slots, releases, offset of their steps, and offset of their fractions after those of all
/// sources.
pub(crate) const SOURCES_AT: usize = LOG_ROWS + 3;
pub(crate) const SOURCE_COLUMNS: usize = 7;
/// Offset of the rows of inlets: first row of the positions, rows, scatter, stride.
pub(crate) const INLETS_AT: usize = LOG_ROWS + 4;
pub(crate) const INLET_COLUMNS: usize = 4;
/// Offset of the fractions of releases in the float buffer.
pub(crate) const RELEASES_AT: usize = LOG_ROWS + 5;
/// Offset of the numbers of obstacles, and of their shapes in the float buffer. The former start with
/// the number of obstacles.
pub(crate) const OBSTACLES_AT: usize = LOG_ROWS + 6;
pub(crate) const SHAPES_AT: usize = LOG_ROWS + 7;
/// The seed of the random walk, its lower half first.
pub(crate) const WALK_SEED: usize = LOG_ROWS + 8;
/// Number, within the run, of the slot in the first row.
pub(crate) const FIRST_SLOT: usize = LOG_ROWS + 10;
/// Number of gates; their shapes follow those of obstacles, each with the box that limits it. Among the integers of that box are the number of corners
/// of a polygon, and the offset of these in the float buffer; among those of a patch its number.
pub(crate) const GATES: usize = LOG_ROWS + 12;
pub(crate) const GATE_CORNERS: usize = 2;
pub(crate) const GATE_PATCH: usize = 2;
/// Offset of the scaled velocity in a frame, number of its factors, and their offset in the float buffer.
pub(crate) const SCALED_AT: usize = LOG_ROWS + 13;
pub(crate) const FACTOR_COUNT: usize = LOG_ROWS + 14;
pub(crate) const FACTORS_AT: usize = LOG_ROWS + 15;
/// The frame interval in which each step starts; then sources, inlets, and steps of releases.
pub(crate) const STEP_INTERVALS: usize = LOG_ROWS + 16;
/// Offset of the values with the diffusivity in a frame.
pub(crate) const DIFFUSIVITY_AT: usize = LOG_ROWS + 11;

/// Floats per obstacle: those of [`Shape::numbers`].
pub(crate) const BODY_FLOATS: usize = SHAPE_NUMBERS;
/// Integers per obstacle: codes of shape and allowed side, turn and end of its surface; for a
/// triangulated surface and for land also the cells of its lattice along each axis, the first row and the offset of
/// its table, and the number of its triangles.
pub(crate) const BODY_INTS: usize = 10;
pub(crate) const BODY_TURN: usize = 2;
pub(crate) const BODY_END: usize = 3;

/// The two buffers on the host.
pub(crate) struct Tables {
    pub floats: Vec<f64>,
    pub ints: Vec<i32>,
}

impl Tables {
    /// All data of a launch in a field with `groups` of values. `row` is the first row of the tables of obstacles and gates.
    pub fn new((shape, groups): (&FieldShape, usize), segment: &Segment, row: usize) -> Self {
        let mut tables = Tables::of_field(shape);
        tables.ints[FRAME_SIZE] *= groups as i32;
        tables.put_segment(segment);
        if let FieldShape::Formula(formula) = shape {
            tables.put_times(segment, formula);
        }
        let place = tables.put_surroundings(&segment.boundary, &segment.obstacles, row);
        tables.put_gates(&segment.gates, place);
        let after = segment.reinjection.as_ref().map(|next| next.slots.after_patch.as_slice());
        tables.put_patches(&segment.boundary.patches, after.unwrap_or_default());
        if let Some(reinjection) = &segment.reinjection {
            tables.put_reinjection(reinjection);
        }
        if let Some(scaled) = &segment.scaled {
            tables.put_factors(scaled);
        }
        tables
    }

    /// The data of a boundary and obstacles alone.
    pub fn of_surroundings(boundary: &Boundary, obstacles: &[Obstacle]) -> Self {
        let mut tables = Tables::zero();
        tables.put_surroundings(boundary, obstacles, 0);
        tables.put_patches(&boundary.patches, &[]);
        tables
    }

    /// The rules of re-injection alone.
    pub fn of_slots(reinjection: &ReinjectionRules) -> Self {
        let mut tables = Tables::zero();
        tables.put_patches(&reinjection.slots.patches, &reinjection.slots.after_patch);
        tables.put_reinjection(reinjection);
        tables
    }

    fn zero() -> Self {
        Tables { floats: vec![0.0; FRAME_INTERVALS], ints: vec![0; STEP_INTERVALS] }
    }

    /// Steps, times, and what is added to the field.
    fn put_segment(&mut self, segment: &Segment) {
        let Tables { floats, ints } = self;
        floats[STAGNANT] = segment.stagnant_speed * segment.stagnant_speed;
        floats[DRIFT..DIFFUSIVITY].copy_from_slice(&segment.drift);
        if let Some(inertia) = segment.inertia {
            floats[RESTITUTION..FRAME_INTERVALS].copy_from_slice(&inertia.restitution);
        }
        if let Some(Adaptive { relative, absolute, min_step, max_step }) = segment.adaptive {
            floats[CONTROL..LOWEST].copy_from_slice(&[relative, absolute, min_step, max_step]);
        }
        floats.extend(&segment.clock.frame_intervals);
        floats.extend(segment.steps.iter().flat_map(|step| [step.since, step.h]));
        ints[STEPS] = segment.steps.len() as i32;
        ints[FIRST_STEP] = segment.first_step;
        ints[FIRST_SLOT] = segment.first_slot as i32;
        ints[LOG_ROWS] = segment.log_rows as i32;
        ints[FRAMES] = segment.clock.frames as i32;
        ints[INTERVAL_COUNT] = segment.clock.frame_intervals.len() as i32;
        if let Some(walk) = &segment.walk {
            floats[DIFFUSIVITY..REACHES].copy_from_slice(&walk.diffusivity);
            floats[REACHES..CONTROL].copy_from_slice(&walk.reach);
            ints[DIFFUSIVITY_AT] = walk.group as i32 * ints[GROUP_SIZE];
            let halves = halves(walk.seed).map(|half| half as i32);
            ints[WALK_SEED..FIRST_SLOT].copy_from_slice(&halves);
        }
        ints.extend(segment.steps.iter().map(|step| step.interval as i32));
    }

    /// The factors of the scaled velocity.
    fn put_factors(&mut self, scaled: &ScaledVelocity) {
        let Tables { floats, ints } = self;
        ints[SCALED_AT] = scaled.group as i32 * ints[GROUP_SIZE];
        ints[FACTOR_COUNT] = scaled.factors.len() as i32;
        ints[FACTORS_AT] = floats.len() as i32;
        floats.extend_from_slice(&scaled.factors);
    }

    /// The times of a formula, in two numbers each: the steps have the first one.
    fn put_times(&mut self, segment: &Segment, formula: &FormulaShape) {
        let floats = &mut self.floats;
        let parts = |time: f64| [f64::from(time as f32), time - f64::from(time as f32)];
        let times = segment.steps.iter().map(|step| parts(step.since));
        for (row, [first, _]) in floats[FRAME_INTERVALS..].chunks_mut(2).zip(times.clone()) {
            row[0] = first;
        }
        floats.extend(times.map(|[_, rest]| rest));
        match &segment.formula {
            Some(FormulaStart { time, results }) => {
                floats.extend(parts(*time));
                floats.extend(results);
            }
            None => floats.extend(vec![f64::NAN; 2 + formula.start_results()]),
        }
    }

    /// The domain box, the mesh boundary, and obstacles. Returns the place of the next table.
    fn put_surroundings(
        &mut self,
        boundary: &Boundary,
        obstacles: &[Obstacle],
        row: usize,
    ) -> TablePlace {
        let Tables { floats, ints } = self;
        floats[LOW..HIGH].copy_from_slice(&boundary.low);
        floats[HIGH..ORIGIN].copy_from_slice(&boundary.high);
        let faces = Face::ALL.iter().zip(boundary.faces.iter().flatten());
        for (entry, (face, condition)) in ints[FACES..].chunks_mut(FACE_COLUMNS).zip(faces) {
            let response = condition.response(Status::Exited(*face));
            entry.copy_from_slice(&[response.turn, response.end, response.wraps.into()]);
        }
        let wall = boundary.wall.response(Status::LeftMesh);
        ints[WALL..PATCHES].copy_from_slice(&[wall.turn, wall.end]);
        ints[OBSTACLES_AT] = ints.len() as i32;
        ints[SHAPES_AT] = floats.len() as i32;
        ints.push(obstacles.len() as i32);
        let mut place = TablePlace::starting_at(row);
        for obstacle in obstacles {
            let (shape, response) = (&obstacle.shape, obstacle.response());
            floats.extend(shape.numbers());
            ints.extend([shape.code(), obstacle.allowed.code(), response.turn, response.end]);
            ints.extend(place.of_next(shape));
        }
        place
    }

    /// Gates, directly after the obstacles.
    fn put_gates(&mut self, gates: &[GateShape], mut place: TablePlace) {
        let Tables { floats, ints } = self;
        ints[GATES] = gates.len() as i32;
        let mut corners_at = floats.len() + 2 * gates.len() * BODY_FLOATS;
        for gate in gates {
            let [low, high] = gate.limits();
            for (code, numbers) in
                [(gate.code(), gate.numbers()), (BLOCK, Shape::Box { low, high }.numbers())]
            {
                floats.extend(numbers);
                ints.push(code);
                ints.extend([0; BODY_INTS - 1]);
            }
            let limits = ints.len() - BODY_INTS;
            match gate {
                GateShape::Patch(number) => {
                    ints[limits - BODY_INTS + GATE_PATCH] = *number as i32;
                }
                GateShape::Region(shape) => {
                    ints[limits - TABLE_INTS..limits].copy_from_slice(&place.of_next(shape));
                }
                GateShape::Plane { .. } | GateShape::Polygon(_) => {}
            }
            ints[limits + GATE_CORNERS] = gate.corners().len() as i32;
            ints[limits + GATE_CORNERS + 1] = corners_at as i32;
            corners_at += 3 * gate.corners().len();
        }
        floats.extend(gates.iter().flat_map(|gate| gate.corners().as_flattened()));
    }

    /// The patches of the mesh boundary, and the inlets of re-injection after them.
    fn put_patches(&mut self, patches: &[MeshPatch], after: &[Option<usize>]) {
        let Tables { floats, ints } = self;
        ints[PATCHES] = patches.len() as i32;
        ints[PATCHES_AT] = ints.len() as i32;
        ints[PATCH_BOXES_AT] = floats.len() as i32;
        for (i, patch) in patches.iter().enumerate() {
            let response = patch.wall.response(Status::LeftMesh);
            let inlet = after.get(i).copied().flatten().map_or(-1, |inlet| inlet as i32);
            ints.extend([response.turn, response.end, inlet]);
            floats.extend(patch.low.iter().chain(&patch.high));
        }
        self.put_patch_lists(patches);
    }

    /// The patches of each tag of faces, in their order.
    fn put_patch_lists(&mut self, patches: &[MeshPatch]) {
        let ints = &mut self.ints;
        let tags = patches.iter().filter_map(|patch| patch.tags.as_ref()?.last().copied());
        let last_tag = tags.max().unwrap_or(0);
        let mut lists = vec![Vec::new(); last_tag as usize + 1];
        for (patch, MeshPatch { tags, .. }) in (0..).zip(patches) {
            match tags {
                None => lists[0].push(patch),
                Some(tags) => tags.iter().for_each(|tag| lists[*tag as usize].push(patch)),
            }
        }
        ints[PATCH_TAGS] = last_tag;
        ints[PATCH_LISTS_AT] = ints.len() as i32;
        let mut start = (ints.len() + lists.len() + 1) as i32;
        for list in &lists {
            ints.push(start);
            start += list.len() as i32;
        }
        ints.push(start);
        ints.extend(lists.into_iter().flatten());
    }

    /// The rules of re-injection.
    fn put_reinjection(&mut self, reinjection: &ReinjectionRules) {
        let Tables { floats, ints } = self;
        let rules = &reinjection.slots;
        for (entry, inlet) in ints[AFTER..].iter_mut().zip(rules.after) {
            *entry = inlet.map_or(-1, |inlet| inlet as i32);
        }
        ints[RESUMES] = reinjection.resumes.into();
        ints[SOURCES] = rules.sources.len() as i32;
        ints[INLETS_AT] = ints.len() as i32;
        for rows in &rules.inlets {
            ints.extend([rows.first, rows.count, rows.scatter, rows.stride].map(|x| x as i32));
        }
        ints[SOURCES_AT] = ints.len() as i32;
        ints[RELEASES_AT] = floats.len() as i32;
        let mut steps_at = ints.len() + SOURCE_COLUMNS * rules.sources.len();
        let mut fractions_at = 0;
        for (source, releases) in rules.sources.iter().zip(&reinjection.releases) {
            let count = releases.events.len();
            ints.extend([source.first, source.slots, source.inlet as u32].map(|x| x as i32));
            ints.push((releases.first % u64::from(source.slots)) as i32);
            ints.extend([count, steps_at, fractions_at].map(|x| x as i32));
            steps_at += count;
            fractions_at += count;
        }
        for releases in &reinjection.releases {
            ints.extend(releases.events.iter().map(|event| event.0));
            floats.extend(releases.events.iter().map(|event| event.1));
        }
    }

    /// The data of a field; the rest is zero.
    pub fn of_field(shape: &FieldShape) -> Self {
        let layout = Layout::of(shape);
        let Tables { mut floats, mut ints } = Tables::zero();
        floats[LOWEST] = f64::from(f32::MIN);
        floats[ORIGIN..PER_LENGTH].copy_from_slice(&layout.origin);
        floats[PER_LENGTH..STAGNANT].copy_from_slice(&layout.per_length);
        floats[RADIUS] = shape.radius().unwrap_or_default();
        floats[REACH] = layout.reach;
        floats[HALF_POWER] = layout.half_power;
        let mut put = |at: usize, numbers: &[usize]| {
            for (entry, number) in ints[at..].iter_mut().zip(numbers) {
                *entry = *number as i32;
            }
        };
        put(FRAME_SIZE, &[shape.values_per_frame(); 2]);
        put(NODES, &layout.nodes);
        put(STRIDES, &layout.strides);
        if let FieldShape::Mesh(mesh) = shape {
            put(CELLS, &[mesh.cells]);
            put(NODES_AT, &[mesh.connectivity_at()]);
            put(NEIGHBOURS_AT, &[mesh.neighbours_at()]);
            put(BINS_AT, &[mesh.bins_at()]);
            put(ENTRIES_AT, &[mesh.entries_at()]);
            put(NEAR_REENTRANT_AT, &[mesh.near_reentrant_at()]);
        }
        Tables { floats, ints }
    }
}

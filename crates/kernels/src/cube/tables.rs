//! Data shared by all particles, packed into two small buffers. Their layout is defined here only,
//! for the host that writes and the kernel that reads them.

use super::{
    obstacles,
    upload::{DeviceTables, upload},
};
use crate::{
    Adaptive, FieldShape, GridShape, MeshShape, Obstacle, PointShape, ReinjectionRules, Segment,
    Weighting, random::halves, reinjection::STATUS_CODES,
};
use burn::backend::DType;
use burn_cubecl::cubecl::prelude::*;

/// Offsets in the float buffer; three numbers each, one per axis.
pub(super) const LOW: usize = 0;
pub(super) const HIGH: usize = 3;
pub(super) const ORIGIN: usize = 6;
/// Cells or bins per unit of length; 0 on a flat axis.
pub(super) const PER_LENGTH: usize = 9;
/// Square of the stagnation speed.
pub(super) const STAGNANT: usize = 12;
/// Initial search radius for points.
pub(super) const REACH: usize = 13;
/// Half the power of inverse distance weighting.
pub(super) const HALF_POWER: usize = 14;
/// A constant velocity added to the field's.
pub(super) const DRIFT: usize = 15;
/// Diffusivity of each axis, and half the distance of its central difference.
pub(super) const DIFFUSIVITY: usize = 18;
pub(super) const REACHES: usize = 21;
/// Relative and absolute tolerance, minimum and maximum step.
pub(super) const CONTROL: usize = 24;
pub(super) const CONTROL_MIN: usize = CONTROL + 2;
pub(super) const CONTROL_MAX: usize = CONTROL + 3;
/// The frame intervals, then two numbers per step: time since the frame, length.
pub(super) const FRAME_INTERVALS: usize = CONTROL + 4;

/// Offsets in the integer buffer.
pub(super) const STEPS: usize = 0;
pub(super) const FIRST_STEP: usize = 1;
pub(super) const FRAMES: usize = 2;
pub(super) const INTERVAL_COUNT: usize = 3;
pub(super) const FRAME_SIZE: usize = 4;
/// Nodes of a grid per axis, cells of the lattice of points, or a mesh's bins.
pub(super) const NODES: usize = 5;
/// Stride of values, lattice cells or bins along each axis.
pub(super) const STRIDES: usize = 8;
/// Condition codes of the six faces.
pub(super) const FACES: usize = 11;
/// Number of cells of a mesh.
pub(super) const CELLS: usize = 17;
/// Offsets in a mesh's index tensor: nodes of cells, neighbours, start offsets of bins, entries.
pub(super) const NODES_AT: usize = 18;
pub(super) const NEIGHBOURS_AT: usize = 19;
pub(super) const BINS_AT: usize = 20;
pub(super) const ENTRIES_AT: usize = 21;
/// Condition on the mesh boundary.
pub(super) const WALL: usize = 22;
/// Number of patches of the mesh boundary, offset of their rows (condition, and the inlet of
/// re-injection or -1), and offset of their boxes in the float buffer (minimum corner, maximum
/// corner).
pub(super) const PATCHES: usize = 23;
pub(super) const PATCHES_AT: usize = 24;
pub(super) const PATCH_COLUMNS: usize = 2;
pub(super) const PATCH_BOXES_AT: usize = 25;
/// The inlet of re-injection for each status, or -1.
pub(super) const AFTER: usize = 26;
/// Capacity of the log in ends per slot.
pub(super) const LOG_ROWS: usize = AFTER + STATUS_CODES;
/// Whether the launch continues slots that the previous one stopped for lack of room in the log.
pub(super) const RESUMES: usize = LOG_ROWS + 1;
/// Number of sources.
pub(super) const SOURCES: usize = LOG_ROWS + 2;
/// Offset of the rows of sources: first slot, slots, inlet, number of the first release modulo the
/// slots, releases, offset of their steps, and offset of their fractions after those of all
/// sources.
pub(super) const SOURCES_AT: usize = LOG_ROWS + 3;
pub(super) const SOURCE_COLUMNS: usize = 7;
/// Offset of the rows of inlets: first row of the positions, rows, scatter, stride.
pub(super) const INLETS_AT: usize = LOG_ROWS + 4;
pub(super) const INLET_COLUMNS: usize = 4;
/// Offset of the fractions of releases in the float buffer.
pub(super) const RELEASES_AT: usize = LOG_ROWS + 5;
/// Offset of the numbers of obstacles, and of their shapes in the float buffer.
pub(super) const OBSTACLES_AT: usize = LOG_ROWS + 6;
pub(super) const SHAPES_AT: usize = LOG_ROWS + 7;
/// The seed of the random walk, its lower half first.
pub(super) const WALK_SEED: usize = LOG_ROWS + 8;
/// Number, within the run, of the slot in the first row.
pub(super) const FIRST_SLOT: usize = LOG_ROWS + 10;
/// The frame interval in which each step starts; then sources, inlets, and steps of releases.
pub(super) const STEP_INTERVALS: usize = LOG_ROWS + 11;

/// The two buffers on the host.
pub(super) struct Tables {
    floats: Vec<f64>,
    ints: Vec<i32>,
}

impl Tables {
    /// All data of a launch. `row` is the first row of triangles.
    pub fn new(shape: &FieldShape, segment: &Segment, row: usize) -> Self {
        let Tables { mut floats, mut ints } = Tables::of_field(shape);
        let boundary = &segment.boundary;
        floats[LOW..HIGH].copy_from_slice(&boundary.low);
        floats[HIGH..ORIGIN].copy_from_slice(&boundary.high);
        floats[STAGNANT] = segment.stagnant_speed * segment.stagnant_speed;
        floats[DRIFT..DIFFUSIVITY].copy_from_slice(&segment.drift);
        if let Some(Adaptive { relative, absolute, min_step, max_step }) = segment.adaptive {
            floats[CONTROL..FRAME_INTERVALS]
                .copy_from_slice(&[relative, absolute, min_step, max_step]);
        }
        if let Some(walk) = &segment.walk {
            floats[DIFFUSIVITY..REACHES].copy_from_slice(&walk.diffusivity);
            floats[REACHES..CONTROL].copy_from_slice(&walk.reach);
        }
        floats.extend(&segment.clock.frame_intervals);
        floats.extend(segment.steps.iter().flat_map(|step| [step.since, step.h]));

        ints[STEPS] = segment.steps.len() as i32;
        ints[FIRST_STEP] = segment.first_step;
        ints[FIRST_SLOT] = segment.first_slot as i32;
        ints[FRAMES] = segment.clock.frames as i32;
        ints[INTERVAL_COUNT] = segment.clock.frame_intervals.len() as i32;
        for (entry, condition) in ints[FACES..].iter_mut().zip(boundary.faces.iter().flatten()) {
            *entry = condition.code();
        }
        ints[WALL] = boundary.wall.code();
        if let Some(walk) = &segment.walk {
            let halves = halves(walk.seed).map(|half| half as i32);
            ints[WALK_SEED..FIRST_SLOT].copy_from_slice(&halves);
        }
        ints.extend(segment.steps.iter().map(|step| step.interval as i32));
        let mut tables = Tables { floats, ints };
        tables.put_patches(segment);
        tables.put_obstacles(&segment.obstacles, row);
        if let Some(reinjection) = &segment.reinjection {
            tables.put_reinjection(reinjection);
        }
        tables
    }

    /// The patches of the mesh boundary.
    fn put_patches(&mut self, segment: &Segment) {
        let Tables { floats, ints } = self;
        let patches = &segment.boundary.patches;
        let after = segment.reinjection.as_ref().map(|next| next.slots.after_patch.as_slice());
        let inlet = |patch: usize| after.and_then(|after| *after.get(patch)?);
        ints[PATCHES] = patches.len() as i32;
        ints[PATCHES_AT] = ints.len() as i32;
        ints[PATCH_BOXES_AT] = floats.len() as i32;
        for (i, patch) in patches.iter().enumerate() {
            ints.extend([patch.wall.code(), inlet(i).map_or(-1, |inlet| inlet as i32)]);
            floats.extend(patch.low.iter().chain(&patch.high));
        }
    }

    fn put_obstacles(&mut self, obstacles: &[Obstacle], row: usize) {
        let Tables { floats, ints } = self;
        ints[OBSTACLES_AT] = ints.len() as i32;
        ints[SHAPES_AT] = floats.len() as i32;
        let (shapes, codes) = obstacles::packed(obstacles, row);
        floats.extend(shapes);
        ints.extend(codes);
    }

    /// The rules of re-injection.
    fn put_reinjection(&mut self, reinjection: &ReinjectionRules) {
        let Tables { floats, ints } = self;
        let rules = &reinjection.slots;
        for (entry, inlet) in ints[AFTER..].iter_mut().zip(rules.after) {
            *entry = inlet.map_or(-1, |inlet| inlet as i32);
        }
        ints[LOG_ROWS] = reinjection.log_rows as i32;
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
        let mut floats = vec![0.0; FRAME_INTERVALS];
        floats[ORIGIN..PER_LENGTH].copy_from_slice(&layout.origin);
        floats[PER_LENGTH..STAGNANT].copy_from_slice(&layout.per_length);
        floats[REACH] = layout.reach;
        floats[HALF_POWER] = layout.half_power;

        let mut ints = vec![0; STEP_INTERVALS];
        let mut put = |at: usize, numbers: &[usize]| {
            for (entry, number) in ints[at..].iter_mut().zip(numbers) {
                *entry = *number as i32;
            }
        };
        put(FRAME_SIZE, &[shape.values_per_frame()]);
        put(NODES, &layout.nodes);
        put(STRIDES, &layout.strides);
        if let FieldShape::Mesh(mesh) = shape {
            put(CELLS, &[mesh.cells]);
            put(NODES_AT, &[mesh.connectivity_at()]);
            put(NEIGHBOURS_AT, &[mesh.neighbours_at()]);
            put(BINS_AT, &[mesh.bins_at()]);
            put(ENTRIES_AT, &[mesh.entries_at()]);
        }
        Tables { floats, ints }
    }

    /// Copies the buffers to a device, floats in the field's precision.
    pub fn upload(self, client: &Client, dtype: DType) -> DeviceTables {
        upload(client, dtype, &self.floats, &self.ints)
    }
}

/// Memory layout of a field.
struct Layout {
    origin: [f64; 3],
    per_length: [f64; 3],
    nodes: [usize; 3],
    strides: [usize; 3],
    reach: f64,
    half_power: f64,
}

impl Layout {
    fn of(shape: &FieldShape) -> Self {
        match shape {
            FieldShape::Grid(grid) => Layout::of_grid(grid),
            FieldShape::Points(points) => Layout::of_points(points),
            FieldShape::Mesh(mesh) => Layout::of_mesh(mesh),
        }
    }

    fn of_grid(grid: &GridShape) -> Self {
        let per = |d: usize| if grid.is_flat(d) { 0.0 } else { 1.0 / grid.pitch[d] };
        Layout {
            origin: grid.origin,
            per_length: [0, 1, 2].map(per),
            nodes: grid.nodes,
            strides: grid.strides(),
            reach: 0.0,
            half_power: 0.0,
        }
    }

    fn of_points(points: &PointShape) -> Self {
        let [nx, ny, _] = points.cells;
        let half_power = match points.weighting {
            Weighting::Nearest => 0.0,
            Weighting::InverseDistance { power, .. } => 0.5 * power,
        };
        Layout {
            origin: points.origin,
            per_length: points.per_length,
            nodes: points.cells,
            strides: [1, nx, nx * ny],
            reach: points.reach(),
            half_power,
        }
    }

    fn of_mesh(mesh: &MeshShape) -> Self {
        let [nx, ny, _] = mesh.bins;
        Layout {
            origin: mesh.origin,
            per_length: mesh.per_length,
            nodes: mesh.bins,
            strides: [1, nx, nx * ny],
            reach: 0.0,
            half_power: 0.0,
        }
    }
}

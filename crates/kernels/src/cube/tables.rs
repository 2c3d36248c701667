//! What is the same for all particles, packed into two small buffers: one place says where each
//! number lies, for the host that writes and the kernel that reads.

use super::{
    obstacles,
    upload::{DeviceTables, upload},
};
use crate::{
    Adaptive, FieldShape, GridShape, MeshShape, Obstacle, PointShape, ReinjectionRules, Segment,
    Weighting, lives::STATUS_CODES, random::halves,
};
use burn::backend::DType;
use burn_cubecl::cubecl::prelude::*;

/// Places in the buffer of reals: three numbers each, one per axis.
pub(super) const LOW: usize = 0;
pub(super) const HIGH: usize = 3;
pub(super) const ORIGIN: usize = 6;
/// Cells or bins per unit of length; 0 on a flat axis.
pub(super) const PER_LENGTH: usize = 9;
/// Square of the threshold speed.
pub(super) const STAGNANT: usize = 12;
/// How far the first search for points looks.
pub(super) const REACH: usize = 13;
/// Half the power of the distance by which points are weighted.
pub(super) const HALF_POWER: usize = 14;
/// A velocity that is added to the field's.
pub(super) const DRIFT: usize = 15;
/// Diffusivity of each axis, and half the distance over which its gradient is taken.
pub(super) const DIFFUSIVITY: usize = 18;
pub(super) const REACHES: usize = 21;
/// Tolerances, relative and absolute, and the least and the greatest length of a step.
pub(super) const CONTROL: usize = 24;
pub(super) const CONTROL_LEAST: usize = CONTROL + 2;
pub(super) const CONTROL_MOST: usize = CONTROL + 3;
/// The frame intervals, and after them two numbers for each step: time since the frame, length.
pub(super) const GAPS: usize = CONTROL + 4;

/// Places in the buffer of integers.
pub(super) const STEPS: usize = 0;
pub(super) const FIRST_STEP: usize = 1;
pub(super) const FRAMES: usize = 2;
pub(super) const GAP_COUNT: usize = 3;
pub(super) const FRAME_SIZE: usize = 4;
/// Nodes of a grid per axis, cells of the lattice that points are sorted by, or a mesh's bins.
pub(super) const NODES: usize = 5;
/// Distance in memory from a value, a cell of the lattice, or a bin to the next one along each axis.
pub(super) const STRIDES: usize = 8;
/// Condition codes of the six faces.
pub(super) const FACES: usize = 11;
/// How many cells a mesh has.
pub(super) const CELLS: usize = 17;
/// Where parts of a mesh's index begin: nodes of cells, neighbours, beginnings of bins, entries.
pub(super) const NODES_AT: usize = 18;
pub(super) const NEIGHBOURS_AT: usize = 19;
pub(super) const BINS_AT: usize = 20;
pub(super) const ENTRIES_AT: usize = 21;
/// What happens at the edge of a mesh.
pub(super) const WALL: usize = 22;
/// How many patches of that edge there are, where their rows begin (wall, and the inlet that
/// follows, or -1), and where among the reals their boxes do (least corner, greatest corner).
pub(super) const PATCHES: usize = 23;
pub(super) const PATCHES_AT: usize = 24;
pub(super) const PATCH_COLUMNS: usize = 2;
pub(super) const PATCH_BOXES_AT: usize = 25;
/// The inlet that follows each status, or -1.
pub(super) const AFTER: usize = 26;
/// Ends that the log has room for.
pub(super) const ROOM: usize = AFTER + STATUS_CODES;
/// Whether the launch goes on with what the one before had no room for.
pub(super) const RESUMES: usize = ROOM + 1;
/// How many sources there are.
pub(super) const SOURCES: usize = ROOM + 2;
/// Where the rows of sources begin: first slot, slots, inlet, number of the first release modulo
/// the slots, releases, where their steps begin, and where among the fractions theirs do.
pub(super) const SOURCES_AT: usize = ROOM + 3;
pub(super) const SOURCE_COLUMNS: usize = 7;
/// Where the rows of inlets begin: first row of the places, rows, scatter, stride.
pub(super) const INLETS_AT: usize = ROOM + 4;
pub(super) const INLET_COLUMNS: usize = 4;
/// Where the fractions of releases begin among the reals.
pub(super) const RELEASES_AT: usize = ROOM + 5;
/// Where the numbers of obstacles begin, and where among the reals those of their shapes do.
pub(super) const OBSTACLES_AT: usize = ROOM + 6;
pub(super) const SHAPES_AT: usize = ROOM + 7;
/// The seed of the random walk, its lower half first.
pub(super) const WALK_SEED: usize = ROOM + 8;
/// Number over the run of the slot in the first row.
pub(super) const FIRST_SLOT: usize = ROOM + 10;
/// The interval in which each step begins; then sources, inlets, and steps of releases.
pub(super) const INTERVALS: usize = ROOM + 11;

/// The two buffers on the host.
pub(super) struct Tables {
    floats: Vec<f64>,
    ints: Vec<i32>,
}

impl Tables {
    /// All that a launch needs. The rows of triangles begin at a place.
    pub fn new(shape: &FieldShape, segment: &Segment, row: usize) -> Self {
        let Tables { mut floats, mut ints } = Tables::of_field(shape);
        let boundary = &segment.boundary;
        floats[LOW..HIGH].copy_from_slice(&boundary.low);
        floats[HIGH..ORIGIN].copy_from_slice(&boundary.high);
        floats[STAGNANT] = segment.stagnant_speed * segment.stagnant_speed;
        floats[DRIFT..DIFFUSIVITY].copy_from_slice(&segment.drift);
        if let Some(Adaptive { relative, absolute, least, most }) = segment.adaptive {
            floats[CONTROL..GAPS].copy_from_slice(&[relative, absolute, least, most]);
        }
        if let Some(walk) = &segment.walk {
            floats[DIFFUSIVITY..REACHES].copy_from_slice(&walk.diffusivity);
            floats[REACHES..CONTROL].copy_from_slice(&walk.reach);
        }
        floats.extend(&segment.clock.gaps);
        floats.extend(segment.steps.iter().flat_map(|step| [step.since, step.h]));

        ints[STEPS] = segment.steps.len() as i32;
        ints[FIRST_STEP] = segment.first_step;
        ints[FIRST_SLOT] = segment.first_slot as i32;
        ints[FRAMES] = segment.clock.frames as i32;
        ints[GAP_COUNT] = segment.clock.gaps.len() as i32;
        for (place, condition) in ints[FACES..].iter_mut().zip(boundary.faces.iter().flatten()) {
            *place = condition.code();
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
            tables.put_lives(reinjection);
        }
        tables
    }

    /// The patches of a mesh's edge.
    fn put_patches(&mut self, segment: &Segment) {
        let Tables { floats, ints } = self;
        let patches = &segment.boundary.patches;
        let after = segment.reinjection.as_ref().map(|next| next.lives.after_patch.as_slice());
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

    /// What follows the ends of lives.
    fn put_lives(&mut self, reinjection: &ReinjectionRules) {
        let Tables { floats, ints } = self;
        let lives = &reinjection.lives;
        for (place, inlet) in ints[AFTER..].iter_mut().zip(lives.after) {
            *place = inlet.map_or(-1, |inlet| inlet as i32);
        }
        ints[ROOM] = reinjection.room as i32;
        ints[RESUMES] = reinjection.resumes.into();
        ints[SOURCES] = lives.sources.len() as i32;
        ints[INLETS_AT] = ints.len() as i32;
        for rows in &lives.inlets {
            ints.extend([rows.first, rows.count, rows.scatter, rows.stride].map(|x| x as i32));
        }
        ints[SOURCES_AT] = ints.len() as i32;
        ints[RELEASES_AT] = floats.len() as i32;
        let mut steps_at = ints.len() + SOURCE_COLUMNS * lives.sources.len();
        let mut fractions_at = 0;
        for (source, releases) in lives.sources.iter().zip(&reinjection.releases) {
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

    /// What there is to know about a field; zeros in the other places.
    pub fn of_field(shape: &FieldShape) -> Self {
        let layout = Layout::of(shape);
        let mut floats = vec![0.0; GAPS];
        floats[ORIGIN..PER_LENGTH].copy_from_slice(&layout.origin);
        floats[PER_LENGTH..STAGNANT].copy_from_slice(&layout.per_length);
        floats[REACH] = layout.reach;
        floats[HALF_POWER] = layout.half_power;

        let mut ints = vec![0; INTERVALS];
        let mut put = |at: usize, numbers: &[usize]| {
            for (place, number) in ints[at..].iter_mut().zip(numbers) {
                *place = *number as i32;
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

    /// Copies the buffers to a device, reals in the field's precision.
    pub fn upload(self, client: &Client, dtype: DType) -> DeviceTables {
        upload(client, dtype, &self.floats, &self.ints)
    }
}

/// Where the values of a field lie.
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

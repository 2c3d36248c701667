//! What the physics of a step reads, on the host.

use super::{Real, dual::Dual, field::FieldArrays, shapes::OfShapes};
use crate::{
    Segment,
    geometry::table_rows,
    physics::{
        features::Features,
        mesh_path::MAX_GUIDED,
        prelude::host::{Float, Vec3},
        region::host::{
            Edge, FoundCell, Meeting, Probe, Surface, bisection, is_between, no_meeting,
            no_surface, shortest_part,
        },
        tables::Tables,
        vector::host::dot,
    },
};

/// The numbers of a launch; see [`tables`](crate::physics::tables) for their layout.
#[derive(Clone, Copy)]
pub(crate) struct Launch<'a, F: Float> {
    pub floats: &'a [F::Stored],
    pub ints: &'a [i32],
    /// Positions of inlets, and tables of obstacles.
    pub rows: &'a [[F::Stored; 3]],
    /// Integers of those tables.
    pub numbers: &'a [i32],
    pub features: Features,
    pub region: Option<&'a dyn Region<F::Stored>>,
    pub shapes: OfShapes<'a>,
}

/// The part of space that a mesh fills. Cell numbers are incremented by one; 0 means none.
pub(crate) trait Region<F: Float>: Sync {
    /// Walks from a cell to a position, or searches for it from cell 0. `face` is a boundary face, as in
    /// [`FoundCell`], that the position is beyond, or -1; a search uses it. `is_rough`: of several cells that have the
    /// position on their border, any will do.
    fn find_cell(&self, p: [F; 3], cell: i32, face: i32, is_rough: bool) -> FoundCell;

    /// Whether a position is in a cell, as in a rough walk that enters no other cell. If not, the face that it is beyond
    /// need not be a boundary face.
    fn examine(&self, _p: [F; 3], cell: i32) -> FoundCell {
        FoundCell { is_found: true, cell, face: -1 }
    }

    /// Whether a straight path from one cell to another, which a walk has reached, may leave the mesh in between.
    fn may_leave(&self, _ends: [[F; 3]; 2], _cells: [i32; 2]) -> bool {
        false
    }

    /// The next point to try in a search for the point where the path between `ends` leaves the mesh: between a fraction
    /// inside and one outside, where a walk has reached a boundary face, or -1; with what [`Probe`] holds.
    fn probe(&self, ends: [[F; 3]; 2], bracket: [F; 2], face: i32) -> (F, bool);

    /// Where the path between `ends` meets a boundary face that the walk to its end has reached, or -1: the fractions and
    /// the cell of [`Meeting`]. `None` unless the path ends in no cell from there on to behind the face.
    fn meeting(&self, _ends: [[F; 3]; 2], _face: i32) -> Option<([F; 2], i32)> {
        None
    }

    /// The boundary face that a walk from a cell to a position outside reaches: eight times its
    /// cell plus its local number, and a vector as in [`Edge`].
    fn edge(&self, p: [F; 3], cell: i32) -> (i32, [F; 3]);

    /// A boundary face, numbered as by [`edge`](Self::edge), near a position; `None` if its cell is a linear image of its type's reference cell.
    fn surface(&self, _p: [F; 3], _face: i32) -> Option<Surface<F>> {
        None
    }

    /// The derivatives of the normal of a boundary face, numbered as by [`edge`](Self::edge), at a point on it: a row for
    /// each of its components, the largest of which is 1 or -1. `None` if the face is plane.
    fn normal_slopes(&self, _p: [F; 3], _face: i32) -> Option<[[F; 3]; 3]> {
        None
    }

    /// The tag of a boundary face, eight times its cell plus its local number; 0 for any other number.
    fn face_tag(&self, face: i32) -> i32;
}

/// The last point in a mesh on a straight path.
pub(crate) struct Clipped<F> {
    /// Fractions of the path: of that point, and of one just beyond.
    pub reached: F,
    pub beyond: F,
    pub cell: i32,
}

/// Clips a path that starts in a cell and ends outside, where `find` searches from a cell, and `probe` gives the next
/// fraction to try between one inside and one outside; see [`Region`].
pub(crate) fn clip_where<F: Real>(
    from: [F; 3],
    to: [F; 3],
    (mut cell, mut face): (i32, i32),
    find: impl Fn([F; 3], i32) -> FoundCell,
    probe: impl Fn([F; 2], i32) -> (F, bool),
) -> Clipped<F> {
    let (mut reached, mut beyond) = (F::zero(), F::one());
    let shortest = shortest_part(Vec3(from), Vec3(to));
    for round in 0.. {
        let guide = if round < MAX_GUIDED { face } else { -1 };
        let (part, is_closed) = probe([reached, beyond], guide);
        if cell == 0 || is_closed || !is_between(part, reached, beyond, shortest) {
            break;
        }
        let found = find(on_path(from, to, part), cell);
        if found.is_found {
            (reached, cell) = (part, found.cell);
        } else {
            (beyond, face) = (part, found.face);
        }
    }
    Clipped { reached, beyond, cell }
}

/// A position without derivatives.
#[inline(always)]
fn stored<F: Float>(Vec3([x, y, z]): Vec3<F>) -> [F::Stored; 3] {
    // Not by `map`, whose call is not inlined.
    [F::store(x), F::store(y), F::store(z)]
}

/// The point at a fraction of a path.
#[inline]
pub(crate) fn on_path<F: Float>(from: [F; 3], to: [F; 3], part: F) -> [F; 3] {
    (Vec3(from) + Vec3::new(part) * (Vec3(to) - Vec3(from))).0
}

impl<F: Float> Launch<'_, F> {
    #[inline(always)]
    pub fn float(&self, i: usize) -> F {
        let value = F::load(self.floats[i]);
        if F::HAS_SLOPES { self.shapes.float(i, value) } else { value }
    }

    #[inline(always)]
    pub fn int(&self, i: usize) -> i32 {
        self.ints[i]
    }

    #[inline(always)]
    pub fn vec3(&self, i: usize) -> Vec3<F> {
        Vec3([self.float(i), self.float(i + 1), self.float(i + 2)])
    }

    #[inline(always)]
    pub fn row(&self, i: usize) -> Vec3<F> {
        let row = self.rows[i].map(F::load);
        Vec3(if F::HAS_SLOPES { self.shapes.row(i, row) } else { row })
    }

    /// See [`OfShapes::meet`].
    #[inline(always)]
    pub fn meet(&self, obstacle: i32, triangle: i32) {
        if F::HAS_SLOPES {
            self.shapes.meet(obstacle, triangle);
        }
    }

    #[inline(always)]
    pub fn number(&self, i: usize) -> i32 {
        self.numbers[i]
    }

    pub fn find_cell(&self, position: Vec3<F>, cell: i32, face: i32, is_rough: bool) -> FoundCell {
        match self.region {
            Some(region) => region.find_cell(stored(position), cell, face, is_rough),
            None => FoundCell { is_found: true, cell, face: -1 },
        }
    }

    /// See [`Region::examine`] and [`Region::find_cell`].
    pub fn examine_or_find(
        &self,
        position: Vec3<F>,
        examines: bool,
        cell: i32,
        face: i32,
        is_rough: bool,
    ) -> FoundCell {
        match self.region {
            Some(region) if examines => region.examine(stored(position), cell),
            _ => self.find_cell(position, cell, face, is_rough),
        }
    }

    /// See [`Region::may_leave`].
    pub fn may_leave(&self, from: Vec3<F>, to: Vec3<F>, first: i32, last: i32) -> bool {
        let ends = [stored(from), stored(to)];
        self.region.is_some_and(|region| region.may_leave(ends, [first, last]))
    }

    /// See [`Region::probe`]. A fraction has no derivatives, as if it were found by bisection.
    pub fn probe(&self, from: Vec3<F>, to: Vec3<F>, reached: F, beyond: F, face: i32) -> Probe<F> {
        let Some(region) = self.region else { return bisection(reached, beyond) };
        let ends = [stored(from), stored(to)];
        let bracket = [F::store(reached), F::store(beyond)];
        let (part, is_closed) = region.probe(ends, bracket, face);
        Probe { part: F::load(part), is_closed }
    }

    /// See [`Region::meeting`]; without derivatives, as [`probe`](Self::probe).
    pub fn meeting(&self, from: Vec3<F>, to: Vec3<F>, face: i32) -> Meeting<F> {
        let ends = [stored(from), stored(to)];
        match self.region.and_then(|region| region.meeting(ends, face)) {
            Some(([reached, beyond], cell)) => {
                let (reached, beyond) = (F::load(reached), F::load(beyond));
                Meeting { is_known: true, reached, beyond, cell }
            }
            None => no_meeting(),
        }
    }

    pub fn edge(&self, position: Vec3<F>, cell: i32) -> Edge<F> {
        let unknown = (0, position.0.map(|_| F::new(0.0)));
        let (face, inward) = self.region.map_or(unknown, |region| {
            let (face, inward) = region.edge(stored(position), cell);
            (face, inward.map(F::load))
        });
        Edge { face, inward: Vec3(inward) }
    }

    /// See [`Region::surface`].
    pub fn surface(&self, position: Vec3<F>, face: i32) -> Surface<F> {
        let region = self.region.filter(|_| face >= 0);
        let surface = region.and_then(|region| region.surface(stored(position), face));
        surface.map_or_else(no_surface, |surface| Surface {
            is_curved: surface.is_curved,
            is_near: surface.is_near,
            depth: F::load(surface.depth),
            tolerance: F::load(surface.tolerance),
            gradient: Vec3(surface.gradient.0.map(F::load)),
        })
    }

    /// The normal of a boundary face at a point on it, as a function of that point.
    pub fn normal_at(&self, normal: Vec3<F>, point: Vec3<F>, face: i32) -> Vec3<F> {
        let region = self.region.filter(|_| F::HAS_SLOPES);
        let slopes = region.and_then(|region| region.normal_slopes(stored(point), face));
        slopes.map_or(normal, |slopes| {
            let change = point - Vec3(stored(point).map(F::load));
            normal + Vec3(slopes.map(|row| dot(Vec3(row.map(F::load)), change)))
        })
    }

    pub fn face_tag(&self, face: i32) -> i32 {
        self.region.map_or(0, |region| region.face_tag(face))
    }
}

/// The numbers of a launch, owned.
pub(crate) struct LaunchData<'a, F> {
    floats: Vec<F>,
    ints: Vec<i32>,
    rows: &'a [[F; 3]],
    numbers: &'a [i32],
    features: Features,
}

impl<'a, F: Real> LaunchData<'a, F> {
    /// `rows` and `numbers` are those of [`GeometryTensors`](crate::GeometryTensors).
    pub fn new(
        tables: Tables,
        (rows, numbers): (&'a [[F; 3]], &'a [i32]),
        features: Features,
    ) -> Self {
        let bounded = |x: f64| F::of(x).max(F::min_value()).min(F::max_value());
        let floats = tables.floats.into_iter().map(bounded).collect();
        LaunchData { floats, ints: tables.ints, rows, numbers, features }
    }

    /// The numbers of a segment.
    ///
    /// # Panics
    ///
    /// If there are more intervals than frames: samplers rely on valid frame offsets.
    pub fn of(
        field: &FieldArrays<F>,
        geometry: (&'a [[F; 3]], &'a [i32]),
        segment: &Segment,
    ) -> Self {
        let clock = &segment.clock;
        assert!(
            clock.frames >= 1 && clock.frame_intervals.len() <= clock.frames,
            "more frame intervals than frames"
        );
        let first_row =
            geometry.0.len().saturating_sub(table_rows(&segment.obstacles, &segment.gates));
        let tables = Tables::new((field.shape, field.groups), segment, first_row);
        LaunchData::new(tables, geometry, Features::new(field.shape, segment))
    }

    pub fn launch<'b>(&'b self, region: Option<&'b dyn Region<F>>) -> Launch<'b, F> {
        self.launch_in(region)
    }

    /// A launch with derivatives.
    pub fn launch_dual<'b>(&'b self, region: Option<&'b dyn Region<F>>) -> Launch<'b, Dual<F>> {
        self.launch_in(region)
    }

    fn launch_in<'b, D: Float<Stored = F>>(
        &'b self,
        region: Option<&'b dyn Region<F>>,
    ) -> Launch<'b, D> {
        Launch {
            floats: &self.floats,
            ints: &self.ints,
            rows: self.rows,
            numbers: self.numbers,
            features: Features { mesh: region.is_some(), ..self.features },
            region,
            shapes: OfShapes::Nothing,
        }
    }
}

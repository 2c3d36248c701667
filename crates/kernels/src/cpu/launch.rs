//! What the physics of a step reads, on the host.

use super::{Real, dual::Dual};
use crate::physics::{
    features::Features,
    prelude::host::{Float, Vec3},
    region::host::{Edge, FoundCell, is_between},
    tables::Tables,
};

/// The numbers of a launch; see [`tables`](crate::physics::tables) for their layout.
#[derive(Clone, Copy)]
pub(crate) struct Launch<'a, F: Float> {
    pub floats: &'a [F::Stored],
    pub ints: &'a [i32],
    /// Positions of inlets, and triangles of surfaces.
    pub rows: &'a [[F::Stored; 3]],
    /// Integers of surfaces.
    pub numbers: &'a [i32],
    pub features: Features,
    pub region: Option<&'a dyn Region<F::Stored>>,
}

/// The part of space that a mesh fills. Cell numbers are incremented by one; 0 means none.
pub(crate) trait Region<F>: Sync {
    /// Walks from a cell to a position, or searches for it from cell 0.
    fn find_cell(&self, p: [F; 3], cell: i32) -> FoundCell;

    /// The boundary face that a walk from a cell to a position outside reaches: eight times its
    /// cell plus its local number, and a vector as in [`Edge`].
    fn edge(&self, p: [F; 3], cell: i32) -> (i32, [F; 3]);

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

impl<F: Real> dyn Region<F> + '_ {
    /// Clips a path that starts in a cell and ends outside the mesh.
    pub fn clip(&self, from: [F; 3], to: [F; 3], cell: i32) -> Clipped<F> {
        clip_where(from, to, cell, |p, cell| self.find_cell(p, cell))
    }
}

/// Clips a path that starts in a cell and ends outside, where `find` searches from a cell.
pub(crate) fn clip_where<F: Real>(
    from: [F; 3],
    to: [F; 3],
    mut cell: i32,
    find: impl Fn([F; 3], i32) -> FoundCell,
) -> Clipped<F> {
    let (mut reached, mut beyond) = (F::zero(), F::one());
    loop {
        let middle = F::of(0.5) * (reached + beyond);
        if cell == 0 || !is_between(middle, reached, beyond) {
            return Clipped { reached, beyond, cell };
        }
        let found = find(on_path(from, to, middle), cell);
        if found.is_found {
            (reached, cell) = (middle, found.cell);
        } else {
            beyond = middle;
        }
    }
}

/// The point at a fraction of a path.
pub(crate) fn on_path<F: Float>(from: [F; 3], to: [F; 3], part: F) -> [F; 3] {
    (Vec3(from) + Vec3::new(part) * (Vec3(to) - Vec3(from))).0
}

impl<F: Float> Launch<'_, F> {
    #[inline(always)]
    pub fn float(&self, i: usize) -> F {
        F::load(self.floats[i])
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
        Vec3(self.rows[i].map(F::load))
    }

    #[inline(always)]
    pub fn number(&self, i: usize) -> i32 {
        self.numbers[i]
    }

    pub fn find_cell(&self, position: Vec3<F>, cell: i32) -> FoundCell {
        match self.region {
            Some(region) => region.find_cell(position.0.map(F::store), cell),
            None => FoundCell { is_found: true, cell },
        }
    }

    pub fn edge(&self, position: Vec3<F>, cell: i32) -> Edge<F> {
        let unknown = (0, position.0.map(|_| F::new(0.0)));
        let (face, inward) = self.region.map_or(unknown, |region| {
            let (face, inward) = region.edge(position.0.map(F::store), cell);
            (face, inward.map(F::load))
        });
        Edge { face, inward: Vec3(inward) }
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
        }
    }
}

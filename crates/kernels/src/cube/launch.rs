//! What the physics of a step reads, on a device.

use super::{Form, Vec4, cubecl, mesh, vec4};
use crate::physics::{
    features::Features,
    region::device::{Edge, FoundCell, Meeting, Probe, Surface, bisection, no_meeting},
};
use burn_cubecl::cubecl::prelude::*;

/// The buffers that a launch reads, and what is known of it at compile time.
#[derive(CubeType, CubeLaunch)]
pub(crate) struct Launch<F: Float> {
    /// See [`tables`](crate::physics::tables).
    pub floats: Box<[F]>,
    pub ints: Box<[i32]>,
    /// Positions of inlets, and tables of obstacles.
    pub rows: Box<[F]>,
    /// Integers of those tables.
    pub numbers: Box<[i32]>,
    pub velocity: Box<[Vec4<F>]>,
    /// The coordinate tensor of a field: as numbers, and in fours (for the records of a mesh).
    pub coords: Box<[F]>,
    pub records: Box<[Vec4<F>]>,
    /// The index tensor of a field.
    pub index: Box<[i32]>,
    #[cube(comptime)]
    pub features: Features,
    #[cube(comptime)]
    pub form: Form,
}

/// The particles of a launch; see [`Particles`](crate::Particles).
#[derive(CubeType, CubeLaunch)]
pub(crate) struct Rows<F: Float> {
    pub position: Box<[F]>,
    pub record: Box<[i32]>,
    pub fraction: Box<[F]>,
}

/// The log of ends; see [`Log`](crate::Log).
#[derive(CubeType, CubeLaunch)]
pub(crate) struct EndLog<F: Float> {
    pub index: Box<[i32]>,
    pub position: Box<[F]>,
    pub count: Box<[i32]>,
}

#[cube]
impl<F: Float> Launch<F> {
    pub fn float(&self, i: usize) -> F {
        self.floats[i]
    }

    pub fn int(&self, i: usize) -> i32 {
        self.ints[i]
    }

    pub fn vec3(&self, i: usize) -> Vec4<F> {
        vec4::<F>(self.floats[i], self.floats[i + 1], self.floats[i + 2])
    }

    pub fn row(&self, i: usize) -> Vec4<F> {
        vec4::<F>(self.rows[3 * i], self.rows[3 * i + 1], self.rows[3 * i + 2])
    }

    pub fn number(&self, i: usize) -> i32 {
        self.numbers[i]
    }

    /// Nothing: derivatives by shapes are computed on the host.
    pub fn meet(&self, _obstacle: i32, _triangle: i32) {}

    pub fn find_cell(
        &self,
        position: Vec4<F>,
        cell: i32,
        _face: i32,
        _is_rough: bool,
    ) -> FoundCell {
        self.examine_or_find(position, false, cell, -1i32, false)
    }

    pub fn examine_or_find(
        &self,
        position: Vec4<F>,
        examines: bool,
        cell: i32,
        _face: i32,
        _is_rough: bool,
    ) -> FoundCell {
        let kind = comptime!(self.form.kind.mesh());
        let found = mesh::find_cell::<F>(self, position, cell, false, examines, kind);
        FoundCell { is_found: found.is_found, cell: found.cell, face: i32::new(-1) }
    }

    pub fn may_leave(&self, from: Vec4<F>, to: Vec4<F>, first: i32, last: i32) -> bool {
        mesh::may_leave::<F>(self, from, to, first, last)
    }

    /// The middle: a search guided by the face would be one more copy of the search in a kernel.
    pub fn probe(
        &self,
        _from: Vec4<F>,
        _to: Vec4<F>,
        reached: F,
        beyond: F,
        _face: i32,
    ) -> Probe<F> {
        bisection::<F>(reached, beyond)
    }

    /// Not known, for the same reason.
    pub fn meeting(&self, _from: Vec4<F>, _to: Vec4<F>, _face: i32) -> Meeting<F> {
        no_meeting::<F>()
    }

    pub fn edge(&self, position: Vec4<F>, cell: i32) -> Edge<F> {
        let kind = comptime!(self.form.kind.mesh());
        let edge = mesh::edge::<F>(self, position, cell, kind);
        let inward = mesh::inward_at::<F>(self, &edge, kind);
        let face = select(edge.cell > 0, 8 * (edge.cell - 1) + edge.face, -1i32);
        Edge::<F> { face, inward }
    }

    /// The normal itself; see the host's function.
    pub fn normal_at(&self, normal: Vec4<F>, _point: Vec4<F>, _face: i32) -> Vec4<F> {
        normal
    }

    pub fn surface(&self, position: Vec4<F>, face: i32) -> Surface<F> {
        let kind = comptime!(self.form.kind.mesh());
        mesh::surface::<F>(self, position, face, kind)
    }

    pub fn face_tag(&self, face: i32) -> i32 {
        let mut tag = 0i32;
        if comptime!(self.features.mesh) {
            let kind = comptime!(self.form.kind.mesh());
            if face >= 0 {
                let next = mesh::beyond::<F>(self, (face / 8) as usize, face % 8, kind);
                tag = max(-1i32 - next, 0i32);
            }
        }
        tag
    }
}

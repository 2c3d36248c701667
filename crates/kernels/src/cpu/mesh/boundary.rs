//! The boundary of a mesh: where paths leave it, and which face they meet there.

use super::{CellGeometry, Mesh, MeshSampler, Reached, convex, portable};
use crate::{
    cpu::{
        Real,
        lanes::{Four, Lanes, Portable, Vector},
        launch::{Clipped, Region, clip_where, on_path},
    },
    physics::{
        cells::{
            HOPS,
            host::{OUTSIDE, inward},
        },
        prelude::host::Vec3,
        region::host::{CellHint, FoundCell, Surface, bisection},
        vector::host::largest,
    },
};

/// Two points of a path before and behind a boundary face.
struct FaceCrossing<F> {
    /// Their depths inside the face.
    depths: [F; 2],
    /// Positions no deeper than this, on either side, may be on the face.
    tolerance: F,
}

/// Where a path meets a boundary face.
struct FaceMeeting<F> {
    crossing: FaceCrossing<F>,
    /// The fraction of the path.
    part: F,
    /// The cell, incremented by one, and the coordinates there.
    cell: i32,
    at: [F; 4],
}

impl<F: Real> FaceCrossing<F> {
    /// The depth in the middle of what a walk takes as on the face from outside: rounding puts a position there on no
    /// other side.
    fn on_face(&self) -> F {
        F::of(-0.5) * self.tolerance
    }

    fn is_on_face(&self, depth: F) -> bool {
        (depth - self.on_face()).abs() <= F::of(0.45) * self.tolerance
    }

    /// The depth behind the face, outside of what counts as on it, at which a search ends.
    fn behind(&self) -> F {
        F::of(-2.0) * self.tolerance
    }

    /// Whether a depth outside is so close to the face that a search may end there.
    fn is_close(&self, depth: F) -> bool {
        depth >= F::of(-3.0) * self.tolerance
    }

    /// The fraction of the way from one point to the other at which a depth is met: exact in simplices, where depths are
    /// linear, and nearly so in other cells.
    fn part(&self, depth: F) -> F {
        (self.depths[0] - depth) / (self.depths[0] - self.depths[1])
    }
}

impl<F: Real, S: CellGeometry<F>> Mesh<'_, F, S> {
    /// The depth of a position inside a face, numbered as in [`FoundCell`].
    #[inline]
    fn depth(&self, p: [F; 3], face: i32) -> F {
        self.geometry.depth(face as usize / 8, p, face as usize % 8)
    }

    /// The points at two fractions of a path, relative to a boundary face, or none for -1.
    #[inline]
    fn crossing(&self, ends: [[F; 3]; 2], bracket: [F; 2], face: i32) -> Option<FaceCrossing<F>> {
        let cell = usize::try_from(face).ok()? / 8;
        let depth = |part: F| self.depth(on_path(ends[0], ends[1], part), face);
        let depths = [depth(bracket[0]), depth(bracket[1])];
        Some(FaceCrossing { depths, tolerance: self.geometry.tolerance(cell) })
    }

    /// The point at which a path that starts in the mesh meets the boundary face beyond which it ends. `None` if the path
    /// does not meet the face there within rounding.
    fn meet(&self, ends: [[F; 3]; 2], face: i32) -> Option<FaceMeeting<F>> {
        let crossing = self.crossing(ends, [F::zero(), F::one()], face)?;
        let part = crossing.part(crossing.on_face());
        if !(F::zero() < part && part < F::one()) {
            return None;
        }
        let point = on_path(ends[0], ends[1], part);
        // The face may be that of a neighbour of the cell in which the path meets its plane.
        let walk = self.walk_until::<Portable>(portable(&point), face / 8 + 1, true);
        let at = walk.at.array();
        let depth = match walk.cell == face / 8 + 1 {
            true => self.geometry.depth_at(face as usize / 8, &at, face as usize % 8),
            false => self.depth(point, face),
        };
        // The mesh may continue behind the plane of the face.
        let is_border = walk.is_found && !walk.is_inside;
        let is_met = is_border && crossing.is_on_face(depth);
        is_met.then_some(FaceMeeting { crossing, part, cell: walk.cell, at })
    }

    /// As [`meet`](Self::meet) in the cell of the face, with coordinates that are linear along the path: those at its end
    /// are given.
    fn meet_in_cell(&self, from: [F; 3], end: [F; 4], face: i32) -> Option<[F; 4]> {
        if !S::IS_LINEAR || face < 0 {
            return None;
        }
        let (cell, face) = (face as usize / 8, face as usize % 8);
        let start = self.geometry.query::<Portable>(cell, portable(&from)).at;
        let depths = [start.array()[face], end[face]];
        let crossing = FaceCrossing { depths, tolerance: self.geometry.tolerance(cell) };
        let part = crossing.part(crossing.on_face());
        let four = <Portable as Lanes<F>>::Four::splat;
        let met = (<Portable as Lanes<F>>::Four::new(end) - start).fma(four(part), start);
        let is_met = F::zero() < part
            && part < F::one()
            && met.reaches(four(-crossing.tolerance))
            && crossing.is_on_face(met.array()[face]);
        is_met.then(|| met.array())
    }

    /// The first cell near a position that contains it, or 0. The position is beyond a boundary face, as in
    /// [`FoundCell`], if that is not -1.
    #[cold]
    #[inline(never)]
    fn search_beyond(&self, p: [F; 3], face: i32) -> i32 {
        let bin = self.bins.at(p);
        match usize::try_from(face / 8) {
            Ok(cell) if face >= 0 && self.is_wall(face) && self.is_outside(bin, cell) => 0,
            _ => self.search(p),
        }
    }

    /// Whether a face is a boundary face.
    fn is_wall(&self, face: i32) -> bool {
        self.geometry.beyond(face as usize / 8, face as usize % 8) < 0
    }

    /// The first cell that contains a position on the border of a cell, or 0.
    #[cold]
    #[inline(never)]
    pub(super) fn search_on_border(&self, p: [F; 3], cell: i32) -> i32 {
        if self.is_on_wall_only(p, cell as usize - 1) { cell } else { self.search(p) }
    }

    /// Whether a position on the border of a cell is certainly in no other cell: on boundary faces only, where the mesh
    /// is convex.
    fn is_on_wall_only(&self, p: [F; 3], cell: usize) -> bool {
        if !S::IS_LINEAR {
            return false;
        }
        let at = self.geometry.query::<Portable>(cell, portable(&p)).at.array();
        let near = |face: &usize| at[*face] < self.geometry.tolerance(cell);
        let mut faces = 0..self.geometry.faces();
        let is_wall = |face: usize| self.geometry.beyond(cell, face) < 0;
        faces.all(|face| !near(&face) || is_wall(face)) && self.is_outside(self.bins.at(p), cell)
    }

    /// Whether positions in a bin that are beyond a boundary face of a cell are certainly in no cell.
    #[inline]
    fn is_outside(&self, bin: usize, cell: usize) -> bool {
        let cells = self.bins.cells(bin);
        cells.contains(&(cell as i32))
            && self.convex.is_convex(bin, || convex::is_convex(&self.geometry, cells))
    }

    /// Whether a straight path from one cell to another certainly leads through faces between cells only.
    fn leads_straight(&self, [from, to]: [[F; 3]; 2], [mut cell, last]: [usize; 2]) -> bool {
        for _ in 0..HOPS {
            if cell == last {
                return true;
            }
            let next =
                self.geometry.exit(cell, from, to).map(|face| self.geometry.beyond(cell, face));
            match next.map(usize::try_from) {
                Some(Ok(next)) => cell = next,
                _ => return false,
            }
        }
        false
    }

    /// The boundary face reached by a walk towards a position outside the mesh, and its cell.
    fn last_face(&self, from: usize, p: [F; 3]) -> (usize, usize) {
        let mut cell = from;
        for _ in 0..HOPS {
            // In a corner, the face that a position is farthest beyond may belong to a neighbour.
            if let Some(face) = self.geometry.wall(cell, p) {
                return (cell, face);
            }
            let face = self.geometry.query::<Portable>(cell, portable(&p)).face;
            match usize::try_from(self.geometry.beyond(cell, face)) {
                Ok(next) => cell = next,
                Err(_) => return (cell, face),
            }
        }
        (cell, 0)
    }
}

impl<F: Real, S: CellGeometry<F>, C> MeshSampler<'_, F, S, C> {
    /// The cell of a sample that no walk reached, its coordinates there, and the sample. For a sample outside
    /// the mesh, all belong to the last point in the mesh on the straight path from the start of
    /// the step.
    #[cold]
    #[inline(never)]
    pub(super) fn clip_to_mesh(
        &self,
        (p, at): ([F; 3], [F; 4]),
        face: i32,
        hint: &mut CellHint<F>,
    ) -> (i32, [F; 4], [F; 3]) {
        hint.walk_failed = hint.base != 0;
        let found = self.mesh.search_beyond(p, face);
        if found != 0 {
            let point = self.mesh.geometry.query::<Portable>(found as usize - 1, portable(&p)).at;
            return (found, point.array(), p);
        }
        if hint.base != 0
            && let Some(met) = self.mesh.meet_in_cell(hint.from.0, at, face)
        {
            // Only simplices, whose samples do not depend on the point.
            return (face / 8 + 1, met, p);
        }
        if hint.base != 0
            && let Some(meeting) = self.mesh.meet([hint.from.0, p], face)
        {
            return (meeting.cell, meeting.at, on_path(hint.from.0, p, meeting.part));
        }
        let find = |p: [F; 3], cell| self.mesh.find_cell(p, cell, -1, true);
        let probe = |bracket, face| self.mesh.probe([hint.from.0, p], bracket, face);
        let Clipped { reached, cell, .. } =
            clip_where(hint.from.0, p, (hint.base, face), find, probe);
        if cell == 0 {
            return (cell, [F::zero(); 4], p);
        }
        let point = on_path(hint.from.0, p, reached);
        let query = self.mesh.geometry.query::<Portable>(cell as usize - 1, portable(&point));
        (cell, query.at.array(), point)
    }
}

impl<F: Real, S: CellGeometry<F>> Region<F> for Mesh<'_, F, S> {
    fn find_cell(&self, p: [F; 3], cell: i32, face: i32, is_rough: bool) -> FoundCell {
        if cell == 0 {
            let cell = self.search_beyond(p, face);
            return FoundCell { is_found: cell != 0, cell, face: -1 };
        }
        let walk = self.walk_until::<Portable>(portable(&p), cell, is_rough);
        let Reached { is_found, cell, face, .. } = walk;
        FoundCell { is_found, cell, face }
    }

    fn examine(&self, p: [F; 3], cell: i32) -> FoundCell {
        let query = self.geometry.query::<Portable>(cell as usize - 1, portable(&p));
        let face = 8 * (cell - 1) + query.face as i32;
        FoundCell { is_found: query.containment != OUTSIDE, cell, face }
    }

    #[cold]
    #[inline(never)]
    fn may_leave(&self, ends: [[F; 3]; 2], cells: [i32; 2]) -> bool {
        let [first, last] = cells.map(|cell| cell as usize - 1);
        let Some(bits) = self.near_reentrant.get(first / 32) else { return false };
        let is_near = bits >> (first % 32) & 1 == 1 || !self.bins.are_close(ends);
        first != last && is_near && !self.leads_straight(ends, [first, last])
    }

    /// First on the face, and then behind it.
    fn probe(&self, ends: [[F; 3]; 2], bracket: [F; 2], face: i32) -> (F, bool) {
        let [reached, beyond] = bracket;
        let middle = bisection(reached, beyond).part;
        let Some(crossing) = self.crossing(ends, bracket, face) else {
            return (middle, false);
        };
        let [inside, outside] = crossing.depths;
        // A path that starts on the face is bisected: it may follow the face.
        let is_reached = reached > F::zero() && crossing.is_on_face(inside);
        let is_closed = is_reached && crossing.is_close(outside);
        let target = if is_reached { crossing.behind() } else { crossing.on_face() };
        let part = reached + crossing.part(target) * (beyond - reached);
        let is_between = reached < part && part < beyond;
        (if is_between { part } else { middle }, is_closed)
    }

    fn meeting(&self, ends: [[F; 3]; 2], face: i32) -> Option<([F; 2], i32)> {
        // No other mesh is known to be convex.
        if !S::IS_LINEAR {
            return None;
        }
        let FaceMeeting { crossing, part, cell, .. } = self.meet(ends, face)?;
        let beyond = crossing.part(crossing.behind());
        let point = on_path(ends[0], ends[1], beyond);
        let is_behind =
            part < beyond && beyond < F::one() && crossing.is_close(self.depth(point, face));
        let is_last = is_behind && self.is_outside(self.bins.at(point), face as usize / 8);
        is_last.then_some(([part, beyond], cell))
    }

    fn edge(&self, p: [F; 3], cell: i32) -> (i32, [F; 3]) {
        if cell == 0 {
            return (-1, [F::zero(); 3]);
        }
        let (cell, face) = self.last_face(cell as usize - 1, p);
        let (gradient, tolerance) = self.geometry.gradient(cell, p, face);
        ((8 * cell + face) as i32, inward(Vec3(gradient), tolerance).0)
    }

    fn surface(&self, p: [F; 3], face: i32) -> Option<Surface<F>> {
        self.geometry.surface(face as usize / 8, p, face as usize % 8)
    }

    fn normal_slopes(&self, p: [F; 3], face: i32) -> Option<[[F; 3]; 3]> {
        let (cell, face) = (face as usize / 8, face as usize % 8);
        let slopes = self.geometry.gradient_slopes(cell, p, face)?;
        let size = largest(Vec3(self.geometry.gradient(cell, p, face).0));
        Some(slopes.map(|row| row.map(|x| x / size)))
    }

    fn face_tag(&self, face: i32) -> i32 {
        let Ok(face) = usize::try_from(face) else { return 0 };
        (-1 - self.geometry.beyond(face / 8, face % 8)).max(0)
    }
}

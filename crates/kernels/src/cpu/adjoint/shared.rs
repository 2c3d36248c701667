//! What the tiles of a launch share, and how they keep its states.

use super::states::States;
use crate::{
    cpu::{
        Real,
        arrays::Arrays,
        dual::Dual,
        follow::TakeSteps,
        launch::Launch,
        paths::{Jacobian, PathEnd, clipped, pulled_in, replayed},
        segment::SegmentContext,
        shapes::{RowGradients, add_gradients},
        tile::Tile,
        trail::Trail,
    },
    physics::prelude::host::Vec3,
    status::WAITING,
};

/// What the tiles of a launch share.
pub(super) struct Shared<'a, F: Real> {
    pub context: &'a SegmentContext<'a, F>,
    /// The launch with derivatives, for paths that meet a wall.
    pub exact: Launch<'a, Dual<F>>,
    pub take_steps: &'a TakeSteps<'a, F>,
    /// The rows of obstacles, if gradients by their shapes are wanted; see [`obstacle_rows`](crate::obstacle_rows).
    pub shapes: Option<Vec<usize>>,
}

impl<F: Real> Shared<'_, F> {
    /// Whether particles take steps of their own, which are kept one by one.
    pub fn is_irregular(&self) -> bool {
        self.context.launch.features.adaptive || self.context.reuses_slots()
    }

    /// Whether a particle of a status is released in step `j`, and whether gradients by times are wanted there.
    #[inline(always)]
    pub fn is_timed(&self, j: usize, status: i32) -> (bool, bool) {
        let segment = self.context.segment;
        let is_release = status == WAITING || segment.starts && j == 0;
        (is_release, is_release || segment.span_parts.is_some())
    }

    /// Takes the steps of a tile that are irregular, and keeps the states before them.
    pub fn irregular(&self, arrays: &mut Arrays<F>) -> States<F> {
        let mut trail = Trail::new();
        self.follow(arrays, &mut trail);
        States::of_trail(trail, arrays)
    }

    fn follow(&self, arrays: &mut Arrays<F>, trail: &mut Trail<F>) {
        let (context, steps) = (self.context, self.context.segment.steps.len());
        if context.reuses_slots() {
            trail.assign_first_releases(arrays, context);
        }
        let is_adaptive = context.launch.features.adaptive;
        // Adaptive steps are kept as they are accepted.
        let size = if is_adaptive { steps } else { 1 };
        for j in (0..steps).step_by(size) {
            if !is_adaptive {
                trail.push_step(arrays, j, context);
            }
            let (arrays, steps) = (arrays.reborrow(), j..j + size);
            let mut tile = Tile::new(arrays, context, steps);
            tile.trail = Some(&mut *trail);
            (self.take_steps)(tile);
        }
    }

    /// The end of a path that meets something, with its derivatives.
    #[cold]
    #[inline(never)]
    pub fn wall(&self, [from, to]: [[F; 3]; 2], cell: i32) -> PathEnd {
        replayed(&self.exact, from, to, cell)
    }

    /// Adds the gradients by the shapes of the obstacles on such a path, if they are wanted, from those by its end and by the
    /// fraction of the path there.
    pub fn add_shapes(
        &self,
        path: ([[F; 3]; 2], i32),
        by_end: ([F; 3], f64),
        sums: &mut RowGradients,
    ) {
        if let Some(rows) = &self.shapes {
            add_gradients(&self.exact, path, by_end, rows, sums);
        }
    }

    /// The derivatives of the last point in the mesh on the path from the start of a step to a stage;
    /// `None` for a stage in the mesh.
    #[cold]
    #[inline(never)]
    pub fn clip(&self, from: [F; 3], to: [F; 3], cell: i32) -> Option<[Jacobian; 2]> {
        let launch = &self.context.launch;
        let contains = |p: [F; 3]| launch.find_cell(Vec3(p), 0, -1, false).is_found;
        if contains(to) {
            return None;
        }
        let clip = pulled_in(launch, from, cell, &contains)
            .and_then(|from| clipped(&self.exact, from, to, cell, &contains).jacobians);
        // A path without a point in the mesh has no velocity.
        Some(clip.unwrap_or_default())
    }
}

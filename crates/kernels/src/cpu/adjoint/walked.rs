//! Gradients by what a random walk depends on.

use super::{
    shared::Shared,
    values::{Pending, ValueGradients},
};
use crate::{
    cpu::{
        Real,
        frame_pair::{FramePair, from_value},
        lanes::{Four, Lanes, Portable, four},
        probe::Probe,
        walk::{WalkSlopes, each_sample, walk_slopes},
    },
    physics::{diffusion::host::Address, tables::DIFFUSIVITY_AT},
};

/// A random walk in a step.
pub(super) struct Walked<'a, F: Real> {
    pub shared: &'a Shared<'a, F>,
    pub from: [F; 3],
    pub address: Address,
    /// The length of the step, and the frames at its start.
    pub step: (F, &'a FramePair<F>),
}

impl<F: Real> Walked<'_, F> {
    /// The gradient by the start of a walk from that by its end, beside the displacement of the start itself. Adds those by the
    /// diffusivity along each axis, and by the diffusivities of the field, if they are wanted.
    #[inline(never)]
    pub fn pull(
        &self,
        to: [F; 3],
        by_diffusivity: &mut [F; 3],
        values: Option<(&mut Pending<F>, &mut ValueGradients<F>)>,
        probe: &mut dyn Probe<F>,
    ) -> [F; 3] {
        let context = self.shared.context;
        let (walls, launches) = (&context.walls, (&context.launch, &self.shared.exact));
        let slopes = walk_slopes(launches, self.from, &self.address, self.step, walls, probe);
        let WalkSlopes { by_diffusivity: of_factor, by_start, by_spread } = slopes;
        add_product(by_diffusivity, &of_factor, to);
        let mut from = [F::zero(); 3];
        add_product(&mut from, &by_start, to);
        if let Some(values) = values.filter(|_| context.launch.features.walk.varies) {
            let mut spread = [F::zero(); 4];
            add_product(&mut spread, &by_spread, to);
            self.add_values(spread, values, probe);
        }
        from
    }

    /// Adds the gradients by the diffusivities at the field's nodes, from those by the diffusivity at the start and by its
    /// derivatives.
    fn add_values(
        &self,
        by_spread: [F; 4],
        (pending, values): (&mut Pending<F>, &mut ValueGradients<F>),
        probe: &mut dyn Probe<F>,
    ) {
        let context = self.shared.context;
        let pair = from_value(self.step.1, context.launch.int(DIFFUSIVITY_AT) as usize);
        each_sample(&context.launch, self.from, by_spread, |at, by| {
            let at = context.walls.wrap::<Portable>(four::<F, Portable>(&at));
            probe.shares(at.array(), pending.shares());
            let zero = F::zero();
            let gradient = <Portable as Lanes<F>>::Four::new([zero, zero, zero, by]);
            pending.add::<Portable>(&pair, gradient, values);
        });
    }
}

/// Adds the product of a transposed matrix, given by its rows, and a vector.
fn add_product<F: Real, const N: usize>(sums: &mut [F; N], rows: &[[F; N]; 3], vector: [F; 3]) {
    for (x, row) in vector.into_iter().zip(rows) {
        for (sum, slope) in sums.iter_mut().zip(row) {
            *sum += x * *slope;
        }
    }
}

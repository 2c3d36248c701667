//! Velocity from a formula.

mod angles;
mod dual;
mod quad;

pub use angles::Angle;

use super::{
    Real,
    dual::Dual,
    field::FieldArrays,
    frame_pair::FramePair,
    lanes::{Four, Lanes, four, three},
    sampler::{Differentiable, Sampler},
    shares::Shares,
};
use crate::{
    FormulaNumber, FormulaShape, Function, Instruction, Program, cpu::segment::FramePairs,
};
use quad::Quad;
use std::sync::OnceLock;

pub(super) struct FormulaSampler<F: Real> {
    shape: FormulaShape,
    constants: Vec<F>,
    clock_constants: Vec<f64>,
    /// The results of the clock at the stages of whole steps, in rows.
    moments: OnceLock<Vec<F>>,
}

impl<F: Real> FormulaSampler<F> {
    /// # Panics
    ///
    /// If there are too few constants.
    pub fn new(field: &FieldArrays<F>, shape: FormulaShape) -> Self {
        let (constants, pairs) = field.coordinates.split_at(shape.velocity.constants);
        let (pairs, _) = pairs.as_chunks::<2>();
        FormulaSampler {
            shape,
            constants: constants.to_vec(),
            clock_constants: pairs[..shape.clock.constants].iter().map(exact_sum).collect(),
            moments: OnceLock::new(),
        }
    }

    /// The velocity of four particles: u, v, w of all.
    #[inline(always)]
    fn evaluate<const FUSES: bool>(
        &self,
        position: &[[F; 4]; 3],
        pair: &FramePair<F>,
    ) -> [[F; 4]; 3] {
        let FormulaShape { velocity, .. } = self.shape;
        let fill = |values: &mut [Quad<F, FUSES>]| {
            for d in 0..3 {
                values[d] = Quad(position[d]);
            }
            self.at_time(pair, |k, x| values[3 + k] = Quad([x; 4]));
            for (value, x) in values[velocity.inputs..].iter_mut().zip(&self.constants) {
                *value = Quad([*x; 4]);
            }
        };
        let take = |values: &[Quad<F, FUSES>]| {
            let mut result = *position;
            for d in 0..3 {
                result[d] = values[usize::from(velocity.outputs[d])].0;
            }
            result
        };
        run(velocity, Quad(position[0]), fill, take)
    }

    #[inline(never)]
    fn evaluate_portable(&self, position: &[[F; 4]; 3], pair: &FramePair<F>) -> [[F; 4]; 3] {
        self.evaluate::<false>(position, pair)
    }

    /// # Safety
    ///
    /// The processor must support AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn evaluate_fused(&self, position: &[[F; 4]; 3], pair: &FramePair<F>) -> [[F; 4]; 3] {
        self.evaluate::<true>(position, pair)
    }

    #[inline(always)]
    fn evaluate_on<L: Lanes<F>>(&self, position: &[[F; 4]; 3], pair: &FramePair<F>) -> [[F; 4]; 3] {
        #[cfg(target_arch = "x86_64")]
        if L::FUSES {
            // SAFETY: these lanes are used if both features were detected.
            return unsafe { self.evaluate_fused(position, pair) };
        }
        self.evaluate_portable(position, pair)
    }

    /// Gives the values that depend on the time alone, with their numbers.
    #[inline(always)]
    fn at_time(&self, pair: &FramePair<F>, mut give: impl FnMut(usize, F)) {
        let count = self.shape.clock.outputs.len();
        if count == 0 {
            return;
        }
        let row = pair.second * count;
        match self.moments.get().and_then(|moments| moments.get(row..row + count)) {
            Some(moment) if pair.first == PREPARED => {
                moment.iter().enumerate().for_each(|(k, x)| give(k, *x));
            }
            _ => self.moment(pair, give),
        }
    }

    /// As [`at_time`](Self::at_time), evaluated.
    #[inline(never)]
    fn moment(&self, pair: &FramePair<F>, mut give: impl FnMut(usize, F)) {
        let clock = self.shape.clock;
        let fill = |values: &mut [f64]| {
            values[0] = exact_sum(&[pair.first_weight, pair.second_weight]);
            values[1..=clock.constants].copy_from_slice(&self.clock_constants);
        };
        run(clock, 0.0, fill, |values| {
            for (k, output) in clock.outputs.iter().enumerate() {
                give(k, F::of(values[usize::from(*output)]));
            }
        });
    }

    /// The velocity of a particle with its derivatives by x, y and z.
    #[inline(never)]
    fn evaluate_dual(&self, position: [F; 3], pair: &FramePair<F>) -> [Dual<F>; 3] {
        let FormulaShape { velocity, .. } = self.shape;
        let fill = |values: &mut [Dual<F>]| {
            for d in 0..3 {
                values[d] = Dual::variable(position[d], d);
            }
            self.at_time(pair, |k, x| values[3 + k] = Dual::constant(x));
            for (value, x) in values[velocity.inputs..].iter_mut().zip(&self.constants) {
                *value = Dual::constant(*x);
            }
        };
        let result = |values: &[Dual<F>], d: usize| values[usize::from(velocity.outputs[d])];
        let zero = Dual::constant(F::zero());
        run(velocity, zero, fill, |values| [0, 1, 2].map(|d| result(values, d)))
    }
}

/// The first frame of a moment that is prepared; the second one is its row.
const PREPARED: usize = 1;

/// A number that is given as a sum.
fn exact_sum<F: Real>([a, b]: &[F; 2]) -> f64 {
    a.exact() + b.exact()
}

/// Runs a program in an array that has room for it: `fill` sets its inputs and constants, `take` reads its results.
#[inline(always)]
fn run<N: FormulaNumber + Copy, T>(
    program: &Program,
    any: N,
    fill: impl FnOnce(&mut [N]),
    take: impl FnOnce(&[N]) -> T,
) -> T {
    const { assert!(Program::MAX_VALUES <= 1024) };
    match program.values() {
        ..=32 => run_in([any; 32], program, fill, take),
        33..=128 => run_in([any; 128], program, fill, take),
        _ => run_in([any; 1024], program, fill, take),
    }
}

#[inline(always)]
fn run_in<N: FormulaNumber + Copy, T, const ROOM: usize>(
    mut values: [N; ROOM],
    program: &Program,
    fill: impl FnOnce(&mut [N]),
    take: impl FnOnce(&[N]) -> T,
) -> T {
    fill(&mut values);
    let mut next = program.inputs + program.constants;
    let mut code = program.code.as_slice();
    while let [instruction, rest @ ..] = code {
        code = rest;
        // A cosine follows its sine.
        if let (
            Instruction::Unary(Function::Sin, a),
            [Instruction::Unary(Function::Cos, b), after @ ..],
        ) = (instruction, rest)
            && a == b
        {
            [values[next], values[next + 1]] = values[usize::from(*a)].sin_cos();
            (next, code) = (next + 2, after);
            continue;
        }
        values[next] = instruction.result(&values);
        next += 1;
    }
    take(&values)
}

impl<F: Real> Sampler<F> for FormulaSampler<F> {
    const IS_FAST: bool = false;

    type Hint = ();
    type Chart = crate::cpu::chart::Flat;

    const TOGETHER: bool = true;

    /// Evaluates what depends on the time alone at all stages.
    fn prepare(&self, steps: &mut [FramePairs<F>]) {
        let mut moments = Vec::new();
        for (row, pair) in steps.as_flattened_mut().iter_mut().enumerate() {
            self.moment(pair, |_, x| moments.push(x));
            (pair.first, pair.second) = (PREPARED, row);
        }
        // A sampler is for one launch.
        self.moments.set(moments).ok();
    }

    #[inline(always)]
    fn sample<L: Lanes<F>>(&self, p: L::Four, pair: &FramePair<F>, _: &mut ()) -> L::Four {
        let [velocity] = self.sample_together::<L, 1>(&[p], pair, &mut [()]);
        velocity
    }

    #[inline(always)]
    fn sample_together<L: Lanes<F>, const G: usize>(
        &self,
        positions: &[L::Four; G],
        pair: &FramePair<F>,
        _: &mut [(); G],
    ) -> [L::Four; G] {
        const { assert!(G >= 1 && G <= 4) };
        let mut coordinates = [[F::zero(); 4]; 3];
        // By index: calls might not be inlined.
        for lane in 0..4 {
            // The lanes without a particle repeat the first one.
            let p = positions[if lane < G { lane } else { 0 }].array();
            for d in 0..3 {
                coordinates[d][lane] = p[d];
            }
        }
        let [u, v, w] = self.evaluate_on::<L>(&coordinates, pair);
        let mut velocities = *positions;
        for g in 0..G {
            velocities[g] = L::Four::new([u[g], v[g], w[g], F::zero()]);
        }
        velocities
    }
}

impl<F: Real> Differentiable<F> for FormulaSampler<F> {
    #[inline(always)]
    fn slopes<L: Lanes<F>>(
        &self,
        p: L::Four,
        pair: &FramePair<F>,
        _: &mut (),
    ) -> (L::Four, [L::Four; 3]) {
        let [u, v, w] = self.evaluate_dual(three(p.array()), pair);
        let slopes = [0, 1, 2].map(|d| [u.slopes[d], v.slopes[d], w.slopes[d]]);
        let value = four::<F, L>(&[u.value, v.value, w.value]);
        (value, slopes.map(|along| four::<F, L>(&along)))
    }

    /// A formula has no values.
    #[inline(always)]
    fn shares<L: Lanes<F>>(&self, _: L::Four, _: &mut (), shares: &mut Shares<F>) {
        shares.nothing();
    }
}

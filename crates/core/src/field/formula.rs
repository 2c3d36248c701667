//! Velocities as formulas of position and time.

mod compile;
mod expression;
mod parse;
mod relative;
mod tensor;
#[cfg(test)]
mod tests;

pub use expression::Expression;

use super::{
    domain::Domain,
    frames::TimeAxis,
    lanes::{ArrayLanes, LANES},
    layout::{FrameTraits, ValueLayout},
    sampled::Sampled,
};
use crate::{Error, Precision, Result};
use burn::tensor::{DType, Device, Tensor, TensorData};
use burntrace_kernels::{FieldShape, FieldTensors, FormulaShape, FormulaStart, Program};
use compile::Compiled;
use relative::{TimeTerms, relative};

/// A velocity as a formula of x, y, z and the time t.
///
/// The fused operation evaluates it on CPUs, four particles at a time, and makes it a part of the kernel on
/// other devices. What depends on the time alone is evaluated in f64 on CPUs. Sums of a coordinate with the time, or
/// with a domain far from 0, lose nothing in f32, unless a formula has some hundred operations.
///
/// ```
/// use burntrace_core::{Expression, Formula};
///
/// let [x, y] = [Expression::x(), Expression::y()];
/// let rotation = Formula::new([-y, x, 0.0.into()])?;
/// assert_eq!(rotation, Formula::parse(["-y", "x", "0"], &[])?);
/// # Ok::<(), burntrace_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Formula {
    velocity: [Expression; 3],
    compiled: Compiled,
    /// The programs of graphics cards, which know the time since the start of a launch.
    on_cards: Compiled,
}

impl PartialEq for Formula {
    /// Whether the two are computed in the same way.
    fn eq(&self, other: &Self) -> bool {
        self.compiled == other.compiled
    }
}

impl Formula {
    /// The velocity u, v, w in length per time.
    ///
    /// # Errors
    ///
    /// [`Error::Formula`] if it has more than about a thousand operations.
    pub fn new(velocity: [Expression; 3]) -> Result<Self> {
        if let Some(formula) = Formula::relative(&velocity, [0.0; 3]) {
            return Ok(formula);
        }
        // It has fewer operations itself.
        let on_cards = relative(&velocity, [0.0; 3], TimeTerms::Sum);
        let (compiled, on_cards) = (Compiled::new(&velocity, 3)?, Compiled::new(&on_cards, 4)?);
        Ok(Formula { velocity, compiled, on_cards })
    }

    fn relative(velocity: &[Expression; 3], origin: [f64; 3]) -> Option<Self> {
        let compiled =
            |time, coordinates| Compiled::new(&relative(velocity, origin, time), coordinates).ok();
        let (one, two) = (compiled(TimeTerms::One, 3)?, compiled(TimeTerms::Two, 4)?);
        Some(Formula { velocity: velocity.clone(), compiled: one, on_cards: two })
    }

    /// The formula at positions measured from an origin; `None` if it has too many operations for that.
    pub(super) fn measured_from(&self, origin: [f64; 3]) -> Option<Self> {
        match origin {
            [0.0, 0.0, 0.0] => Some(self.clone()),
            _ => Formula::relative(&self.velocity, origin),
        }
    }

    /// What graphics cards take from the time of a launch.
    pub(crate) fn start(&self, time: f64) -> FormulaStart {
        FormulaStart { time, results: self.on_cards.clock_at(time) }
    }

    /// Reads u, v and w as text, for example `["-y", "x", "0"]`.
    ///
    /// A formula is made of numbers, `x`, `y`, `z`, `t`, `pi`, the operators `+ - * / ^`, parentheses, and functions:
    /// `sin`, `cos`, `tan`, `asin`, `acos`, `atan`, `atan2(y, x)`, `sinh`, `cosh`, `tanh`, `exp`, `log` (natural),
    /// `log10`, `sqrt`, `abs`, `floor`, `min`, `max`, `pow`, `hypot`, and `if(a < b, yes, no)` with `<`, `<=`, `>` or
    /// `>=`. Angles are in radians. `definitions` are further names with their formulas, which may use one another.
    ///
    /// # Errors
    ///
    /// [`Error::Formula`], with the place of what is wrong.
    pub fn parse(velocity: [&str; 3], definitions: &[(&str, &str)]) -> Result<Self> {
        Formula::new(parse::velocity(velocity, definitions)?)
    }

    /// Whether the velocity is independent of time.
    pub fn is_steady(&self) -> bool {
        self.compiled.clock.outputs.is_empty()
    }

    /// The formula with components that are 0.
    pub(super) fn without(&self, axes: [bool; 3]) -> Self {
        if !axes.contains(&true) {
            return self.clone();
        }
        let kept = |d: usize| if axes[d] { 0.0.into() } else { self.velocity[d].clone() };
        // It has no more operations than before.
        Formula::new([0, 1, 2].map(kept)).unwrap_or_else(|_| self.clone())
    }

    /// Velocity `[n, 3]` at positions `[n, 3]`, and at one time or a time for each of them.
    pub(super) fn velocity_at(&self, position: &Tensor<2>, times: &[f64]) -> Tensor<2> {
        tensor::velocity(&self.compiled, position, times)
    }

    /// The input of the fused operation, which knows positions measured from an origin.
    pub(super) fn sampled(
        &self,
        (domain, origin): (Domain, [f64; 3]),
        device: &Device,
        precision: Precision,
    ) -> Sampled {
        let Compiled { velocity, clock, .. } = self.compiled;
        let constants = self.compiled.constants(&self.on_cards);
        let on_cards = self.on_cards.velocity;
        let count = constants.len();
        let dtype = precision.dtype();
        Sampled {
            tensors: FieldTensors {
                velocity: Tensor::zeros([2, LANES], (device, dtype)),
                groups: 1,
                coordinates: Tensor::from_data(precision.data(constants, [count]), (device, dtype)),
                index: Tensor::from_data(TensorData::new(vec![0_i32], [1]), (device, DType::I32)),
                shape: FieldShape::Formula(FormulaShape { velocity, clock, on_cards }),
            },
            stream: None,
            time: TimeAxis::steady(),
            domain,
            origin,
            device: device.clone(),
            precision,
            traits: FrameTraits::default(),
            land: None,
            layout: ValueLayout::none(),
            lanes: ArrayLanes::velocity_alone(),
        }
    }
}

/// An error in a formula.
fn fail<T>(problem: impl Into<String>) -> Result<T> {
    Err(Error::Formula(problem.into()))
}

/// Maximum number of values of a program, as a number of operations.
const MAX_OPERATIONS: usize = Program::MAX_VALUES;

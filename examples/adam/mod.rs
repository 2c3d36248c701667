//! The optimiser Adam (D. P. Kingma and J. Ba, *Adam: a method for stochastic optimization*, 2015).

use burntrace::burn::tensor::{Gradients, Tensor};

/// Decay rates of the moments.
const DECAY: [f64; 2] = [0.9, 0.999];

/// A tensor to be optimised, with the moments of its gradients.
pub struct Parameter<const D: usize> {
    value: Tensor<D>,
    moments: [Tensor<D>; 2],
    updates: i32,
}

impl<const D: usize> Parameter<D> {
    /// A parameter with an initial value.
    pub fn new(initial: Tensor<D>) -> Self {
        let zero = initial.clone().inner().zeros_like();
        let value = initial.detach().autodiff().require_grad();
        Parameter { value, moments: [zero.clone(), zero], updates: 0 }
    }

    /// The value, which tracks gradients.
    pub fn value(&self) -> Tensor<D> {
        self.value.clone()
    }

    /// Takes a step of a length of up to about `rate` in each component.
    pub fn update(&mut self, gradients: &Gradients, rate: f64) {
        let Some(gradient) = self.value.grad(gradients) else { return };
        self.updates += 1;
        let powers = [gradient.clone(), gradient.square()];
        let mut corrected = Vec::new();
        for ((moment, power), decay) in self.moments.iter_mut().zip(powers).zip(DECAY) {
            *moment = moment.clone() * decay + power * (1.0 - decay);
            corrected.push(moment.clone() / (1.0 - decay.powi(self.updates)));
        }
        let step = corrected.remove(0) / (corrected.remove(0).sqrt() + 1e-8);
        self.value = (self.value.clone().inner() - step * rate).autodiff().require_grad();
    }
}

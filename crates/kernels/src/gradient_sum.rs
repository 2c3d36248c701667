//! Gradients of several backward passes in one container.

#![allow(deprecated)] // the NdArray backend, kept for users that select it by name

use burn::backend::{
    Autodiff, AutodiffBackend, Backend, Dispatch, Flex,
    autodiff::{
        checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
        grads::Gradients,
        ops::{Backward, Ops, OpsKind},
    },
    backend_extension,
    tensor::FloatTensor,
};
use burn::tensor::Tensor;
use burn_ndarray::NdArray;
use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

/// The gradients by all leaves that some backward passes have reached, each the sum over the passes. The
/// leaves need not be known, such as the parameters that a closure holds.
#[derive(Clone, Default)]
pub struct GradientSum(Arc<Mutex<Option<Gradients>>>);

impl GradientSum {
    /// Adds the gradients of a tensor of one element; consumes its graph.
    ///
    /// # Panics
    ///
    /// As [`Tensor::backward`].
    pub fn add(&self, root: Tensor<1>) {
        let root = <Dispatch as GradientBackend>::add_to(root.into_dispatch(), self.clone());
        let gradients = <Dispatch as AutodiffBackend>::backward(root);
        self.put(gradients);
    }

    /// Removes the gradient by a leaf, if there is one.
    pub fn remove<const D: usize>(&self, leaf: &Tensor<D>) -> Option<Tensor<D>> {
        let mut gradients = self.take()?;
        let leaf = leaf.clone().into_dispatch();
        let removed = <Dispatch as AutodiffBackend>::grad_remove(&leaf, &mut gradients);
        self.put(gradients);
        removed.map(Tensor::from_dispatch)
    }

    /// Adds the gradients of a tensor of one element, and returns all of them.
    ///
    /// # Panics
    ///
    /// As [`Tensor::backward`].
    pub fn finish(self, root: Tensor<1>) -> burn::tensor::Gradients {
        let root = <Dispatch as GradientBackend>::add_to(root.into_dispatch(), self);
        Tensor::<1>::from_dispatch(root).backward()
    }

    fn take(&self) -> Option<Gradients> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn put(&self, gradients: Gradients) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(gradients);
    }
}

impl fmt::Debug for GradientSum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GradientSum")
    }
}

/// The identity, whose backward pass continues in the container of a sum.
#[backend_extension(Autodiff, Flex, NdArray, Cube: cfg(feature = "cube"))]
pub trait GradientBackend: Backend {
    /// Returns the root of a backward pass, which adds its gradients to a sum.
    fn add_to(root: FloatTensor<Self>, sum: GradientSum) -> FloatTensor<Self> {
        drop(sum);
        root
    }
}

impl GradientBackend for Flex {}
impl GradientBackend for NdArray {}
#[cfg(feature = "cube")]
impl GradientBackend for burn_cubecl::CubeBackend {}

/// The first step of a backward pass: it replaces the empty container by that of the sum.
#[derive(Debug)]
struct AddTo;

impl<B: Backend> Backward<B, 1> for AddTo {
    type State = GradientSum;

    fn backward(
        self,
        ops: Ops<GradientSum, 1>,
        gradients: &mut Gradients,
        _checkpointer: &mut Checkpointer,
    ) {
        let [root] = ops.parents;
        let gradient = gradients.consume::<B>(&ops.node);
        if let Some(sum) = ops.state.take() {
            *gradients = sum;
        }
        if let Some(root) = root {
            gradients.register::<B>(root.id, gradient);
        }
    }
}

impl<B: GradientBackend, C: CheckpointStrategy> GradientBackend for Autodiff<B, C> {
    fn add_to(root: FloatTensor<Self>, sum: GradientSum) -> FloatTensor<Self> {
        let (root, node) = root.into_parts();
        match AddTo.prepare::<C>([node]).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => prepared.finish(sum, root),
            OpsKind::UnTracked(prepared) => prepared.finish(root),
        }
    }
}

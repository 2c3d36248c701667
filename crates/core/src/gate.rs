//! Gates: surfaces and regions whose crossings a run notes.

use burntrace_kernels::GateShape;

/// A surface or a region of which a run notes who crosses it, when, where and in which direction: each crossing becomes a
/// [`Crossing`]. It changes no track, but for rounding where particles meet a face of the domain, and steps across more than 64 faces, which end at
/// the last of these as they do beside obstacles.
///
/// Crossings are found on the path within each step, which is straight between the events on it (faces, walls, obstacles), in the
/// coordinates of the field: longitude and latitude on a sphere. Those of a particle alternate between forward and backward,
/// whatever the step is, unless it passes beside a gate that is bounded. Particles cross a patch of the mesh boundary where they leave through it.
///
/// ```
/// use burntrace_core::{Analytic, Flow, Gate, GateShape, Precision, Seeds, Tracer};
/// use burn::tensor::Device;
///
/// # fn main() -> Result<(), burntrace_core::Error> {
/// let flow = Flow::named("double-gyre").expect("a built-in flow");
/// let field = Analytic::new(flow, &Device::flex(), Precision::F64);
/// let middle = Gate::new("middle", GateShape::plane([1.0, 0.0, 0.0], [1.0, 0.0, 0.0]));
/// let seeds = Seeds::list(vec![[0.9, 0.3, 0.0]])?;
/// let tracks = Tracer::new(&field).span(0.0..=10.0).steps(200).gate(middle).trace(&seeds)?;
/// assert!(tracks.crossings().iter().all(|crossing| (crossing.position[0] - 1.0).abs() < 1e-12));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// Its name, different from those of other gates.
    pub name: String,
    /// Where it is, in the data's unit of length.
    pub shape: GateShape,
}

impl Gate {
    /// A gate.
    pub fn new(name: impl Into<String>, shape: GateShape) -> Self {
        Gate { name: name.into(), shape }
    }

    /// Whether it is a region, not a surface or a patch.
    pub fn is_region(&self) -> bool {
        matches!(self.shape, GateShape::Region(_))
    }

    /// Whether a position, in the data's unit of length, is in it. A surface has no inside. In a flat domain, ask
    /// [that in the domain](Gate::extended).
    pub fn contains(&self, position: [f64; 3]) -> bool {
        match &self.shape {
            GateShape::Plane { .. } | GateShape::Polygon(_) | GateShape::Patch(_) => false,
            GateShape::Region(shape) => shape.contains(position),
        }
    }
}

/// A particle that crosses a [`Gate`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// The number of the gate.
    pub gate: usize,
    /// The particle's slot, and the number of particle instances before it in the slot.
    pub slot: usize,
    /// See `slot`.
    pub generation: u32,
    /// Whether it crosses a surface along its normal, enters a region, or leaves through a patch.
    pub is_forward: bool,
    /// When, in the data's unit of time.
    pub time: f64,
    /// Where, in the data's unit of length.
    pub position: [f64; 3],
}

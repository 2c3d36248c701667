//! Finite-time Lyapunov exponents (FTLE).
//!
//! The flow map takes positions at one time to positions a time `T` later. With its gradient `F`, the
//! exponent is `ln sqrt(lambda) / |T|`, where `lambda` is the maximum eigenvalue of `F^T F` (S. C.
//! Shadden, F. Lekien and J. E. Marsden, *Definition and properties of Lagrangian coherent structures
//! from finite-time Lyapunov exponents in two-dimensional aperiodic flows*, Physica D 212, 2005). A
//! backward run gives the backward-time exponent.
//!
//! `F` is carried along with the particles ([`FlowMap::of_gradients`]), or computed by finite differences of
//! particle positions ([`Stencil`]), on the device of the positions and in their precision. Differences of nearby positions lose digits: in f32, with
//! coordinates of about 1, the relative error of a difference over a distance `d` is about
//! `1e-7 / (d x stretching)`. Use f64 if the device supports it.
//!
//! ```
//! use burntrace_analysis::ftle::{FlowMap, Lattice, Stencil};
//! use burntrace_core::{GridPlacement, Domain, FieldFn, Flow, Precision, Span, Tracer, device};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let device = device::open("flex")?.device;
//! let flow = Flow::Saddle { rate: 0.5 };
//! let field = FieldFn::new(Domain::unbounded(), &device, Precision::F64, |p, t| flow.velocity(p, t));
//! let (low, high) = ([-1.0, -1.0, 0.0], [1.0, 1.0, 0.0]);
//! let lattice = Lattice::new(low, high, [5, 3, 1], GridPlacement::Corners)?;
//! let tracks = Tracer::new(&field)
//!     .span(Span { t0: Some(0.0), t1: Some(2.0), steps: Some(100), ..Span::default() })
//!     .trace(&lattice.seeds(Stencil::Neighbours)?)?;
//! let end = FlowMap::of_save(&lattice, Stencil::Neighbours, &tracks.saves()[0], [0.0; 3], 2.0)?;
//! let exponents = end.ftle()?;
//! let values: Vec<f64> = exponents.values().into_data().try_to_vec()?;
//! assert!(values.iter().all(|l| (l - 0.5).abs() < 1e-9));
//! # Ok(())
//! # }
//! ```

mod eigen;
mod flow_map;
mod lattice;

pub use flow_map::{Direction, FlowMap, Ftle};
pub use lattice::{Lattice, Stencil};

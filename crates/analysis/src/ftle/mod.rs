//! Finite-time Lyapunov exponents: how much the flow stretches what lies between particles.
//!
//! With `F` the gradient of the flow map, which takes places at one time to places a time `T`
//! later, the exponent is `ln sqrt(lambda) / |T|`, `lambda` being the greatest eigenvalue of
//! `F^T F` (S. C. Shadden, F. Lekien and J. E. Marsden, *Definition and properties of Lagrangian
//! coherent structures from finite-time Lyapunov exponents in two-dimensional aperiodic flows*,
//! Physica D 212, 2005). Of a backward run it is that of backward time.
//!
//! `F` follows from differences of the places of particles ([`Stencil`]), on the device that they
//! are on and in their precision. Differences of near places lose digits: in f32, with places of
//! about 1, the relative error of a difference over `d` is about `1e-7 / (d x stretching)`. Use
//! f64 where the device has it.
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

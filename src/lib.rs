//! burntrace follows particles through velocity fields, on the Burn tensor framework.
//!
//! Fields, seeds and tracks are [Burn](burn) tensors on a device chosen at run time: the CPU
//! (`flex`, `ndarray`), any card with Vulkan, and CUDA, Metal or ROCm where the features of the
//! same names are on. A [`GridField`] is traced by a fused operation, many Runge-Kutta steps a
//! launch; any other [`Field`], a closure or a neural network among them, by tensor operations
//! that can be differentiated.
//!
//! ```
//! use burntrace::{
//!     Analytic, Condition, Flow, GridField, FieldOptions, SaveAt, Seeds, Span, Tracer, device,
//! };
//!
//! # fn main() -> Result<(), burntrace::Error> {
//! let device = device::open("cpu")?.device;
//! let flow = Flow::named("double-gyre").expect("a built-in flow");
//! let times = (0..=10).map(f64::from).collect();
//! let mut frames = Analytic::sample(flow.clone(), flow.domain(), [65, 33, 1], times)?;
//! let field = GridField::load(&mut frames, &device, &FieldOptions::default())?;
//! let seeds = Seeds::uniform([0.0; 3], [2.0, 1.0, 0.0], 1000, 7)?;
//! let tracks = Tracer::new(&field)
//!     .all_faces(Condition::Reflect)
//!     .span(Span { dt: Some(0.05), ..Span::default() })
//!     .save(SaveAt::EverySteps(20))
//!     .trace(&seeds)?;
//! assert_eq!(tracks.positions().dims(), [11, 1000, 3]);
//! # Ok(())
//! # }
//! ```
//!
//! Fields come from files through [`io::Series`] (grids), [`io::MeshSeries`] and
//! [`io::PointSeries`]; lengths and times are in
//! the data's own units.

pub use burn;
pub use burntrace_analysis as analysis;
pub use burntrace_core::*;
pub use burntrace_io as io;
pub use burntrace_plot as plot;

/// The README's example, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

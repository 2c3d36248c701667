//! A Lagrangian particle tracer on the Burn tensor framework.
//!
//! Fields, seeds and tracks are [Burn](burn) tensors on a device chosen at run time: the CPU
//! (`flex`, `ndarray`), any Vulkan or wgpu device, and CUDA, Metal or ROCm with the cargo features of
//! the same names. [`GridField`], [`MeshField`] and [`PointField`] are traced by a fused operation that
//! takes many Runge-Kutta steps in one launch. Any other [`Field`], such as a closure or a neural
//! network, is traced by tensor operations. Both can be differentiated.
//!
//! ```
//! use burntrace::{
//!     Analytic, BoundaryCondition, FieldOptions, Flow, GridField, SaveAt, Seeds, Tracer, device,
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
//!     .all_faces(BoundaryCondition::Reflect)
//!     .dt(0.05)
//!     .save(SaveAt::EverySteps(20))
//!     .trace(&seeds)?;
//! assert_eq!(tracks.positions().dims(), [11, 1000, 3]); // [saves, particles, 3]
//! # Ok(())
//! # }
//! ```
//!
//! [`io::Series`] (grids), [`io::MeshSeries`] and [`io::PointSeries`] read fields from files. Lengths
//! and times are in the units of the data.

pub mod case;
pub mod curves;
pub mod densities;
pub mod trajectories;

pub use burn;
pub use burntrace_analysis as analysis;
pub use burntrace_case::profile::profile;
pub use burntrace_core::*;
pub use burntrace_io as io;
pub use burntrace_plot as plot;

/// Compiles the Rust code of Markdown pages as doctests.
macro_rules! test_pages {
    ($($name:ident: $page:literal,)*) => {
        $(
            #[cfg(doctest)]
            #[doc = include_str!($page)]
            struct $name;
        )*
    };
}

test_pages! {
    Readme: "../README.md",
    ArraysGuide: "../docs/guide/arrays.md",
    DensityGuide: "../docs/guide/density.md",
    EarthGuide: "../docs/guide/earth.md",
    ExportGuide: "../docs/guide/export.md",
    GatesGuide: "../docs/guide/gates.md",
    GradientsGuide: "../docs/guide/gradients.md",
    InertiaGuide: "../docs/guide/inertia.md",
    LibraryGuide: "../docs/guide/library.md",
    PageGuide: "../docs/guide/page.md",
    PicturesGuide: "../docs/guide/pictures.md",
    RustRecipe: "../docs/guide/recipes/rust.md",
    SourcesGuide: "../docs/guide/sources.md",
    StatisticsGuide: "../docs/guide/statistics.md",
}

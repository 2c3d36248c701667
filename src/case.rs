//! Cases: a field, seeds, boundaries and what to save, as a file has them.
//!
//! The keys of a case are those of [`burntrace run`](https://docs.rs/burntrace-cli), and each section is a type.
//!
//! ```
//! use burntrace::case::Case;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let out = folder.path().join("gyre");
//! let case = Case::from_toml(
//!     r#"
//!     [field]
//!     flow = "double-gyre"
//!     [seeds]
//!     kind = "uniform"
//!     count = 100
//!     [trace]
//!     dt = 0.05
//!     t1 = 1.0
//!     "#,
//! )?;
//! let run = case.with("save.every=5")?.run(&out)?;
//! assert_eq!((run.summary.released, run.summary.steps), (100, 20));
//! assert_eq!(run.tracks()?.times().len(), 5);
//! # Ok(())
//! # }
//! ```

pub use burntrace_case::{
    Comparison, Completed, DeviceField, Error, GradientBy, Leaves, StepCheck, TrackedRun,
    console::{Console, Hint, Interrupts, Silent},
    file::{
        AxisName, Boundary, Burst, Case, Condition, Definition, DeviceNames, Diffusivity, Domain,
        Field, FieldSource, GivenFlow, Inlet, InletShape, Interpolation, Longitude, Obstacle,
        ObstacleShape, OwnField, OwnFormula, Patch, PatchDensity, Profile, Repeat, Reporting, Run,
        Sample, SampledArray, Save, SeedShape, Seeds, Source, SourceRate, Trace, Units, VtkOutput,
        Walk, nearest,
    },
    run::IoStats,
};

//! The benchmark of burntrace without its command line: workloads whose answers are known, their measurement on a device, and
//! an independent reference tracer, with which tests compare, too.

mod ball;
pub mod batch;
mod bins;
pub mod check;
mod data;
mod density;
mod flow;
mod gradient;
mod kd_tree;
pub mod kind;
pub mod measure;
mod npy;
pub mod oracle;
pub mod random;
pub mod record;
mod reference;
mod source;
mod subject;
mod tetrahedra;
mod workload;

pub use reference::Reference;
pub use workload::Workload;

/// The error of shared arrays that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct InvalidData(String);

impl InvalidData {
    fn error(text: impl Into<String>) -> anyhow::Error {
        InvalidData(text.into()).into()
    }
}

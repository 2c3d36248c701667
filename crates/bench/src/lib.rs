//! The benchmark of burntrace without its command line: workloads whose answers are known, their measurement on a device, and
//! an independent reference tracer, with which tests compare, too.

mod ball;
pub mod batch;
mod bins;
pub mod check;
mod density;
mod flow;
mod gradient;
mod kd_tree;
pub mod kind;
pub mod measure;
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

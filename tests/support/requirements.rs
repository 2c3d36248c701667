//! Requirements of tests. `BURNTRACE_REQUIRE` lists devices (`flex`, `ndarray`, `vulkan`, ...) and
//! other requirements: `data`, the folder of measured and simulated flows beside the repository;
//! `ffmpeg`; `browser`, Chromium and its driver; `mpirun`; `python`, with packages that read tracks; `netcdf4`,
//! `vtk` and `jsonschema`, the packages of Python. A test whose requirement is missing is skipped with a
//! note, or fails if it is listed.
//!
//! Included by path into the tests of several crates.
#![allow(dead_code, clippy::print_stderr, clippy::unwrap_used)] // Each crate uses only some functions.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Entries of `BURNTRACE_REQUIRE` that are not devices.
pub const OTHER_THAN_DEVICES: [&str; 10] = [
    "data",
    "ffmpeg",
    "browser",
    "mpirun",
    "mpich",
    "slurm",
    "python",
    "netcdf4",
    "vtk",
    "jsonschema",
];

/// Whether `BURNTRACE_REQUIRE` lists a name.
pub fn is_required(name: &str) -> bool {
    let required = std::env::var("BURNTRACE_REQUIRE").unwrap_or_default();
    required.split(',').any(|listed| listed.trim() == name)
}

/// Notes that a test is skipped for a reason.
///
/// # Panics
///
/// If the requirement that is missing is listed in `BURNTRACE_REQUIRE`.
pub fn skip(requirement: &str, reason: &str) {
    assert!(!is_required(requirement), "`{requirement}` is required: {reason}");
    eprintln!("skipped: {reason}");
}

/// A file of the flows beside the repository (`../shared/data`), if it exists.
///
/// # Panics
///
/// If it does not exist and `data` is required.
pub fn flow_data(name: &str) -> Option<PathBuf> {
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let root = folders.find(|folder| folder.join("Cargo.lock").exists()).unwrap();
    let path = root.join("../shared/data").join(name);
    if !path.exists() {
        skip("data", &format!("{} does not exist", path.display()));
    }
    path.canonicalize().ok()
}

/// A Python with packages, as of an `import`, if there is one: `BURNTRACE_PYTHON`, or `python3`.
///
/// # Panics
///
/// If there is none and `requirement` is listed in `BURNTRACE_REQUIRE`.
pub fn python(requirement: &str, packages: &str) -> Option<PathBuf> {
    let python = PathBuf::from(std::env::var_os("BURNTRACE_PYTHON").unwrap_or("python3".into()));
    let found = Command::new(&python).args(["-c", &format!("import {packages}")]).output();
    if found.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    skip(requirement, &format!("no Python with the packages {packages}"));
    None
}

//! The speed of memory and disk.

use rayon::prelude::*;
use serde::Serialize;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Bytes of each of the two arrays that are copied: beyond caches, and small beside a limit of 1 GiB.
const ARRAY: usize = 64 << 20;

/// Bytes written to the disk.
const FILE: usize = 64 << 20;

/// Copies of which the fastest counts.
const COPIES: usize = 5;

/// Speeds of memory and disk in bytes per second.
#[derive(Serialize)]
pub struct Speeds {
    /// Bytes read and written while an array is copied by all threads.
    pub memory: f64,
    /// Bytes written to a file, until they are on the disk.
    pub disk: Option<f64>,
    /// The folder of this file.
    pub folder: PathBuf,
    /// Why there is no speed of the disk.
    pub problem: Option<String>,
}

impl Speeds {
    /// Measures in a folder, by default the working directory.
    pub fn measure(folder: Option<&Path>) -> Speeds {
        let folder =
            folder.map_or_else(|| std::env::current_dir().unwrap_or_default(), Path::to_path_buf);
        let (disk, problem) = match disk(&folder) {
            Ok(speed) => (Some(speed), None),
            Err(error) => (None, Some(error.to_string())),
        };
        Speeds { memory: memory(), disk, folder, problem }
    }
}

fn memory() -> f64 {
    let from = vec![1_u8; ARRAY];
    let mut to = vec![0_u8; ARRAY];
    let part = ARRAY.div_ceil(rayon::current_num_threads());
    let mut seconds = f64::INFINITY;
    for _ in 0..COPIES {
        let start = Instant::now();
        to.par_chunks_mut(part).zip(from.par_chunks(part)).for_each(|(to, from)| {
            to.copy_from_slice(from);
        });
        seconds = seconds.min(start.elapsed().as_secs_f64());
        std::hint::black_box(&to);
    }
    2.0 * ARRAY as f64 / seconds
}

fn disk(folder: &Path) -> std::io::Result<f64> {
    let path = folder.join(format!(".burntrace-doctor-{}", std::process::id()));
    // Not compressible by a file system.
    let mut state = 1_u64;
    let block: Vec<u8> = (0..FILE / 16)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        })
        .collect();
    let write = || -> std::io::Result<f64> {
        let start = Instant::now();
        let mut file = File::create_new(&path)?;
        (0..16).try_for_each(|_| file.write_all(&block))?;
        file.sync_all()?;
        Ok(FILE as f64 / start.elapsed().as_secs_f64())
    };
    let speed = write();
    std::fs::remove_file(&path).ok();
    speed
}

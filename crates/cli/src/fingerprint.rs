//! By what a run knows again the data that it began with.

use crate::{
    case::Case,
    job::{LoadedField, NodeCount},
};
use anyhow::{Context, Result};
use burntrace::Seeds;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Bytes that are read at each place of a file.
const PIECE: u64 = 4096;

/// Places of a file that are read, at its begin and its end among them.
const PLACES: u64 = 16;

/// Places that are read of all files together, if that leaves two for each.
const ALL_PLACES: u64 = 4096;

/// Sizes and sums of what a run reads. Sums are CRC-32.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Fingerprint {
    /// The files of the field, of seeds and of inlets.
    files: Vec<Print>,
    /// How many frames there are, and the sum of their times.
    times: [u64; 2],
    nodes: NodeCount,
    /// How many seeds there are, and the sum of their places and times of release.
    seeds: [u64; 2],
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Print {
    path: PathBuf,
    bytes: u64,
    sum: u32,
}

impl Fingerprint {
    /// That of a field and of seeds that have been read. Relative file names start at `base`.
    pub fn of(case: &Case, base: &Path, loaded: &LoadedField, seeds: &Seeds) -> Result<Self> {
        let series = loaded.description.series();
        let of_field = series.map_or(&[][..], |series| &series.files).iter().cloned();
        let paths: Vec<PathBuf> = of_field.chain(case.clone().within(base).point_files()).collect();
        let places = (ALL_PLACES / paths.len().max(1) as u64).clamp(2, PLACES);
        let times = series.map_or(&[][..], |series| &series.times);
        Ok(Fingerprint {
            files: paths.into_iter().map(|path| Print::of(path, places)).collect::<Result<_>>()?,
            times: [times.len() as u64, sum(times.iter().copied())],
            nodes: loaded.description.nodes(),
            seeds: [seeds.len() as u64, sum_of_seeds(seeds)],
        })
    }

    /// What is other here than it was when the run began, if anything is.
    pub fn change(&self, before: &Fingerprint) -> Option<String> {
        let is_in = |all: &[Print], print: &Print| all.iter().any(|of| of.path == print.path);
        if let Some(gone) = before.files.iter().find(|print| !is_in(&self.files, print)) {
            return Some(format!("`{}` is not there any more", gone.path.display()));
        }
        if let Some(new) = self.files.iter().find(|print| !is_in(&before.files, print)) {
            return Some(format!("`{}` was not there", new.path.display()));
        }
        let mut pairs = self.files.iter().zip(&before.files);
        if let Some((now, before)) = pairs.find(|(now, before)| now != before) {
            return Some(now.change(before));
        }
        let counts = |what: &str, [now, _]: [u64; 2], [before, _]: [u64; 2]| match now == before {
            true => format!("the {now} {what} are others"),
            false => format!("there are {now} {what} where there were {before}"),
        };
        if self.times != before.times {
            return Some(counts("times of frames", self.times, before.times));
        }
        if self.nodes != before.nodes {
            return Some(format!("the field has {} nodes, not {}", self.nodes, before.nodes));
        }
        (self.seeds != before.seeds).then(|| counts("seeds", self.seeds, before.seeds))
    }
}

impl Print {
    fn of(path: PathBuf, places: u64) -> Result<Self> {
        let (bytes, sum) =
            sample(&path, places).with_context(|| format!("cannot read `{}`", path.display()))?;
        Ok(Print { path, bytes, sum })
    }

    fn change(&self, before: &Print) -> String {
        let path = self.path.display();
        if self.path != before.path {
            return format!("`{path}` is where `{}` was", before.path.display());
        }
        match self.bytes == before.bytes {
            true => format!("`{path}` has other content than it had"),
            false => format!("`{path}` has {} bytes where it had {}", self.bytes, before.bytes),
        }
    }
}

/// The length of a file, and the sum of what it has at some places, evenly spread.
fn sample(path: &Path, places: u64) -> std::io::Result<(u64, u32)> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut sum = crc32fast::Hasher::new();
    let mut piece = Vec::new();
    if length <= places * PIECE {
        file.read_to_end(&mut piece)?;
        sum.update(&piece);
        return Ok((length, sum.finalize()));
    }
    for place in 0..places {
        let start =
            (u128::from(length - PIECE) * u128::from(place) / u128::from(places - 1)) as u64;
        file.seek(SeekFrom::Start(start))?;
        piece.clear();
        file.by_ref().take(PIECE).read_to_end(&mut piece)?;
        sum.update(&piece);
    }
    Ok((length, sum.finalize()))
}

fn sum(numbers: impl Iterator<Item = f64>) -> u64 {
    let mut sum = crc32fast::Hasher::new();
    numbers.for_each(|number| sum.update(&number.to_le_bytes()));
    sum.finalize().into()
}

fn sum_of_seeds(seeds: &Seeds) -> u64 {
    let places = seeds.positions().iter().flatten();
    let times = seeds.release().unwrap_or_default();
    sum(places.chain(times).copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_at_the_begin_or_the_end_of_a_file_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        for length in [10_usize, 70_000, 1_000_000] {
            let mut bytes = vec![7_u8; length];
            let print = |bytes: &[u8]| {
                std::fs::write(&path, bytes).unwrap();
                Print::of(path.clone(), PLACES).unwrap()
            };
            let before = print(&bytes);
            assert_eq!(print(&bytes), before);
            for place in [0, length - 1] {
                bytes[place] = 8;
                let change = print(&bytes).change(&before);
                assert!(change.contains("other content"), "{change}");
                bytes[place] = 7;
            }
            let change = print(&bytes[1..]).change(&before);
            assert!(change.contains(&format!("{} bytes where it had {length}", length - 1)));
        }
    }
}

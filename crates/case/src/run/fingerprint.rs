//! Fingerprint of the input data, checked on resume.

use crate::{
    file::Case,
    job::{LoadedField, NodeCount},
};
use anyhow::{Context, Result};
use burntrace_core::Seeds;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Bytes of one sampled block of a file.
const BLOCK: u64 = 4096;

/// Maximum number of blocks per file, the first and the last included.
const BLOCKS: u64 = 16;

/// Maximum number of blocks over all files, but at least two per file.
const ALL_BLOCKS: u64 = 4096;

/// Sizes and CRC-32 checksums of the input data of a run.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Fingerprint {
    /// Files of the fields, the mask of land, the seeds and the inlets.
    files: Vec<FileFingerprint>,
    /// Number of frames, and the checksum of their times.
    times: [u64; 2],
    /// Nodes of the field, as in its description.
    nodes: NodeCount,
    /// Number of seeds, and the checksum of their positions and release times.
    seeds: [u64; 2],
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct FileFingerprint {
    path: PathBuf,
    bytes: u64,
    checksum: u32,
}

impl Fingerprint {
    /// The fingerprint of a loaded field and of seeds. Relative file names are resolved against
    /// `base`.
    pub fn of(case: &Case, loaded: &LoadedField, seeds: &Seeds) -> Result<Self> {
        let series = loaded.description.series();
        let files = loaded.all_series().flat_map(|series| series.files.iter().cloned());
        let parts = loaded.all_series().flat_map(|series| series.parts.iter().cloned());
        let of_arrays = loaded.sampled.iter().flat_map(|sampled| &sampled.files).cloned();
        let others = case.clone().other_files();
        let mut known = HashSet::new();
        let of_fields = files.chain(parts).chain(of_arrays);
        let mut paths: Vec<PathBuf> = of_fields.chain(others).flat_map(files_of).collect();
        paths.retain(|path| known.insert(path.clone()));
        let blocks = (ALL_BLOCKS / paths.len().max(1) as u64).clamp(2, BLOCKS);
        let files = paths.into_iter().map(|path| FileFingerprint::of(path, blocks));
        let times = series.map_or(&[][..], |series| &series.times);
        Ok(Fingerprint {
            files: files.collect::<Result<_>>()?,
            times: [times.len() as u64, checksum(times.iter().copied())],
            nodes: loaded.description.nodes(),
            seeds: [seeds.len() as u64, checksum_of_seeds(seeds)],
        })
    }

    /// Describes the first difference from the fingerprint at the start of the run, if any.
    pub fn change(&self, before: &Fingerprint) -> Option<String> {
        let is_in = |all: &[FileFingerprint], file: &FileFingerprint| {
            all.iter().any(|other| other.path == file.path)
        };
        if let Some(gone) = before.files.iter().find(|file| !is_in(&self.files, file)) {
            return Some(format!("`{}` no longer exists", gone.path.display()));
        }
        if let Some(new) = self.files.iter().find(|file| !is_in(&before.files, file)) {
            return Some(format!("`{}` is new", new.path.display()));
        }
        let mut pairs = self.files.iter().zip(&before.files);
        if let Some((now, before)) = pairs.find(|(now, before)| now != before) {
            return Some(now.change(before));
        }
        let counts = |what: &str, [now, _]: [u64; 2], [before, _]: [u64; 2]| match now == before {
            true => format!("the values of the {now} {what} changed"),
            false => format!("there are {now} {what} and were {before}"),
        };
        if self.times != before.times {
            return Some(counts("frame times", self.times, before.times));
        }
        if self.nodes != before.nodes {
            return Some(format!("the field has {} nodes and had {}", self.nodes, before.nodes));
        }
        (self.seeds != before.seeds).then(|| counts("seeds", self.seeds, before.seeds))
    }
}

impl FileFingerprint {
    fn of(path: PathBuf, blocks: u64) -> Result<Self> {
        let (bytes, checksum) =
            sample(&path, blocks).with_context(|| format!("cannot read `{}`", path.display()))?;
        Ok(FileFingerprint { path, bytes, checksum })
    }

    fn change(&self, before: &FileFingerprint) -> String {
        let path = self.path.display();
        if self.path != before.path {
            return format!("`{path}` takes the place of `{}`", before.path.display());
        }
        match self.bytes == before.bytes {
            true => format!("the content of `{path}` changed"),
            false => format!("`{path}` has {} bytes and had {}", self.bytes, before.bytes),
        }
    }
}

/// The path itself and the files that it lists, or the files in it if it is the folder of a Zarr group.
fn files_of(path: PathBuf) -> Vec<PathBuf> {
    if path.is_dir() {
        return files_in(path);
    }
    // The run fails earlier if an index cannot be read; files that are no index list none.
    let listed = burntrace_io::listed_files(&path).unwrap_or_default();
    std::iter::once(path).chain(listed).collect()
}

/// The path itself, or the files in it if it is a folder.
fn files_in(path: PathBuf) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(&path) else { return vec![path] };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.into_iter().flat_map(files_in).collect()
}

/// The length of a file, and the checksum of evenly spaced blocks of it.
fn sample(path: &Path, blocks: u64) -> std::io::Result<(u64, u32)> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut hasher = crc32fast::Hasher::new();
    let mut block = Vec::new();
    if length <= blocks * BLOCK {
        file.read_to_end(&mut block)?;
        hasher.update(&block);
        return Ok((length, hasher.finalize()));
    }
    for i in 0..blocks {
        let start = (u128::from(length - BLOCK) * u128::from(i) / u128::from(blocks - 1)) as u64;
        file.seek(SeekFrom::Start(start))?;
        block.clear();
        file.by_ref().take(BLOCK).read_to_end(&mut block)?;
        hasher.update(&block);
    }
    Ok((length, hasher.finalize()))
}

fn checksum(numbers: impl Iterator<Item = f64>) -> u64 {
    let mut hasher = crc32fast::Hasher::new();
    numbers.for_each(|number| hasher.update(&number.to_le_bytes()));
    hasher.finalize().into()
}

fn checksum_of_seeds(seeds: &Seeds) -> u64 {
    let coordinates = seeds.positions().iter().flatten();
    let times = seeds.release().unwrap_or_default();
    checksum(coordinates.chain(times).chain(seeds.columns().flatten()).copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_the_files_in_it() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("u")).unwrap();
        let [first, second] = ["u/c", "zarr.json"].map(|name| folder.path().join(name));
        [&second, &first].into_iter().for_each(|path| std::fs::write(path, "").unwrap());
        assert_eq!(files_of(folder.path().into()), [first.clone(), second]);
        assert_eq!(files_of(first.clone()), [first]);
    }

    #[test]
    fn an_index_is_itself_and_the_files_that_it_lists() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/composite");
        let files = |name: &str| files_of(folder.join(name));
        let in_folder = |names: &[&str]| -> Vec<PathBuf> {
            names.iter().map(|name| folder.join(name)).collect()
        };
        let blocks = ["internal.vtu", "boundary/walls.vtp", "boundary/outlet.vtp"];
        let foam = blocks.map(|name| format!("foam/{name}"));
        let [internal, walls, outlet] = foam.each_ref().map(String::as_str);
        assert_eq!(files("foam.vtm"), in_folder(&["foam.vtm", internal, walls, outlet]));
        assert!(files("plain_vti.pvti").len() > 2);
        assert_eq!(files("octree.vtu"), in_folder(&["octree.vtu"]));
        assert_eq!(files("absent.vtu"), in_folder(&["absent.vtu"]));
    }

    #[test]
    fn changes_at_start_and_end_of_file_are_detected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        for length in [10_usize, 70_000, 1_000_000] {
            let mut bytes = vec![7_u8; length];
            let fingerprint = |bytes: &[u8]| {
                std::fs::write(&path, bytes).unwrap();
                FileFingerprint::of(path.clone(), BLOCKS).unwrap()
            };
            let before = fingerprint(&bytes);
            assert_eq!(fingerprint(&bytes), before);
            for i in [0, length - 1] {
                bytes[i] = 8;
                let change = fingerprint(&bytes).change(&before);
                assert!(change.contains("content of"), "{change}");
                bytes[i] = 7;
            }
            let change = fingerprint(&bytes[1..]).change(&before);
            assert!(change.contains(&format!("{} bytes and had {length}", length - 1)));
        }
    }
}

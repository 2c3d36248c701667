use std::alloc::{GlobalAlloc, Layout, System};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::common::{composite, composites, copy_folder, fixtures, mixed};
use burntrace_vtk::{CellArray, Error, VtkFile, open};
use proptest::prelude::*;

/// Records the largest allocation.
struct RecordingAllocator;

static LARGEST: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: RecordingAllocator = RecordingAllocator;

// SAFETY: every call is forwarded to the system allocator.
unsafe impl GlobalAlloc for RecordingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// A fixture with the files that it lists has less than 16 kB, and decompresses to at most 1032 times its size; each coordinate of an
/// image has eight bytes.
const MAX_BYTES: usize = 8 * 1032 * 16384;

/// All fixtures, those with cells of many types, and those of several files and blocks.
fn all() -> Vec<PathBuf> {
    fixtures().into_iter().chain(mixed()).chain(composites()).collect()
}

/// A folder for damaged files, with the files that indices list.
fn damage_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy_folder(&composite(""), folder.path());
    folder
}

fn read_everything(file: &VtkFile) -> Result<(), Error> {
    for array in file.arrays().iter().chain(file.topology()) {
        let _ = file.read(array);
    }
    let _ = file.coordinates();
    let _ = file.points();
    if let Some(points) = positions(file)
        && let Ok(split) = file.split_cells(&points)
    {
        check(&split.cells, points.len() + split.added.len());
        assert!(split.added.iter().all(|(of, _)| of.iter().all(|i| (*i as usize) < points.len())));
    }
    if let Ok(cells) = file.cells() {
        check(&cells, file.geometry().num_points());
    }
    file.time_value().map(|_| ())
}

/// The points, if they can be read.
fn positions(file: &VtkFile) -> Option<Vec<[f64; 3]>> {
    let points = file.points().ok()?.values.into_f64();
    Some(points.as_chunks().0.to_vec())
}

/// Checks the guarantees that the documentation gives for cells.
fn check(cells: &CellArray, points: usize) {
    let (offsets, len) = (cells.offsets(), cells.connectivity().len());
    assert!(cells.connectivity().iter().all(|point| (*point as usize) < points));
    assert_eq!((offsets.len(), offsets[0]), (cells.len() + 1, 0));
    assert_eq!(*offsets.last().unwrap() as usize, len);
    assert!(offsets.is_sorted());
}

/// Overwrites a file in place: truncating it first makes some file systems wait for the disk.
fn write(path: &Path, bytes: &[u8]) {
    let options = File::options().write(true).create(true).truncate(false).open(path);
    let mut file = options.unwrap();
    file.write_all(bytes).unwrap();
    file.set_len(bytes.len() as u64).unwrap();
}

/// Writes the bytes to a file and reads all of it.
fn read_damaged(path: &Path, bytes: &[u8]) {
    write(path, bytes);
    let _ = open(path).and_then(|file| read_everything(&file));
    let largest = LARGEST.load(Ordering::Relaxed);
    assert!(largest <= MAX_BYTES, "an allocation of {largest} bytes");
}

#[test]
fn truncated_files_are_refused_or_read() {
    let folder = damage_folder();
    let path = folder.path().join("cut");
    for fixture in all() {
        let bytes = std::fs::read(&fixture).unwrap();
        let is_dense = fixture.to_str().unwrap().contains("hand-");
        let step = if is_dense { 1 } else { 97 };
        for end in (0..bytes.len()).step_by(step) {
            read_damaged(&path, &bytes[..end]);
        }
    }
}

#[test]
fn files_with_one_changed_byte_are_refused_or_read() {
    let folder = damage_folder();
    let path = folder.path().join("flipped");
    for (index, fixture) in all().into_iter().enumerate() {
        let mut bytes = std::fs::read(&fixture).unwrap();
        for position in (index % 97..bytes.len()).step_by(97) {
            for mask in [0x01, 0x80, 0xff] {
                bytes[position] ^= mask;
                read_damaged(&path, &bytes);
                bytes[position] ^= mask;
            }
        }
    }
}

#[derive(Debug, Clone)]
enum Damage {
    Cut,
    Flip(u8),
    /// Inserts digits, so that sizes become huge, or other text.
    Insert(&'static [u8]),
    Remove(usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    let inserted: [&'static [u8]; 5] =
        [b"99999999999", b"9999999999999999999999", b"-1", b"\n\n", b"<"];
    prop_oneof![
        Just(Damage::Cut),
        any::<u8>().prop_map(Damage::Flip),
        proptest::sample::select(inserted.to_vec()).prop_map(Damage::Insert),
        (1_usize..200).prop_map(Damage::Remove),
    ]
}

fn apply(damage: &Damage, bytes: &mut Vec<u8>, at: usize) {
    match damage {
        Damage::Cut => bytes.truncate(at),
        Damage::Flip(mask) => bytes[at] ^= mask,
        Damage::Insert(text) => drop(bytes.splice(at..at, text.iter().copied())),
        Damage::Remove(count) => drop(bytes.drain(at..(at + count).min(bytes.len()))),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn files_with_multiple_damages_are_refused_or_read(
        file in any::<proptest::sample::Index>(),
        damages in proptest::collection::vec((damage(), any::<proptest::sample::Index>()), 1..4),
    ) {
        let mut bytes = std::fs::read(file.get(&all())).unwrap();
        for (damage, at) in &damages {
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                apply(damage, &mut bytes, at);
            }
        }
        static FOLDER: LazyLock<tempfile::TempDir> = LazyLock::new(damage_folder);
        read_damaged(&FOLDER.path().join("damaged"), &bytes);
    }
}

/// Replaces the first digit of each number near the start of the file by a huge number.
#[test]
fn files_with_huge_sizes_are_refused_or_read() {
    let folder = damage_folder();
    let path = folder.path().join("absurd");
    for fixture in all() {
        let bytes = std::fs::read(&fixture).unwrap();
        let starts_number = |i: &usize| {
            bytes[*i].is_ascii_digit() && !bytes[i.saturating_sub(1)].is_ascii_alphanumeric()
        };
        for position in (0..bytes.len()).filter(starts_number).take(20) {
            for number in [&b"4000000000"[..], b"9223372036854775807", b"18446744073709551615"] {
                let mut changed = bytes.clone();
                changed.splice(position..=position, number.iter().copied());
                read_damaged(&path, &changed);
            }
        }
    }
}

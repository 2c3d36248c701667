//! Stores of pieces, joined, have the bytes of one store.

use burn::tensor::{DType, Device, Tensor, TensorData};
use burntrace_core::{Ends, Precision, Save, SavePlan, Status, TrackSink};
use burntrace_io::TrackWriter;
use burntrace_io::tracks::{PieceTracks, Tracks, join_pieces, verify};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Two chunks of 131,100 and 131,099 particles.
const PARTICLES: usize = 262_199;

fn plan(particles: usize) -> SavePlan {
    SavePlan {
        particles,
        reuses_slots: false,
        saves: 2,
        precision: Precision::F32,
        positions: Precision::F32,
        velocity: false,
        periods: [0.0; 3],
        arrays: Vec::new(),
        gates: Vec::new(),
    }
}

/// Writes the store of some of the particles, each at its number.
fn write(folder: &Path, particles: Range<usize>) {
    let (n, device) = (particles.len(), Device::flex());
    let mut writer = TrackWriter::new(folder);
    writer.begin(&plan(n)).unwrap();
    let at: Vec<[f64; 3]> = particles.clone().map(|particle| [particle as f64; 3]).collect();
    writer.releases(0, &at).unwrap();
    for index in 0..2 {
        let at = particles.clone().flat_map(|particle| [particle as f32, index as f32, 0.0]);
        let position = TensorData::new(at.collect::<Vec<_>>(), [n, 3]);
        let status = TensorData::new(vec![Status::Active.code(); n], [n]);
        let save = Save {
            index,
            time: index as f64,
            first: 0,
            position: Tensor::from_data(position, (&device, DType::F32)),
            rest: None,
            status: Tensor::from_data(status, (&device, DType::I32)),
            image: Tensor::zeros([n, 3], (&device, DType::I32)),
            velocity: None,
            generation: None,
            arrays: Vec::new(),
        };
        writer.save(save).unwrap();
    }
    let ends = Ends {
        status: vec![Status::Active; n],
        release_time: particles.map(|particle| particle as f64).collect(),
        end_time: vec![f64::NAN; n],
        ..Ends::default()
    };
    writer.end(&ends).unwrap();
}

fn pieces(folder: &Path, ranges: &[Range<usize>]) -> Vec<PieceTracks> {
    let piece = |(number, range): (usize, &Range<usize>)| {
        let folder = folder.join(format!("piece{number}"));
        write(&folder, range.clone());
        PieceTracks { folder, instances_by_segment: Vec::new(), crossings_by_segment: Vec::new() }
    };
    ranges.iter().enumerate().map(piece).collect()
}

fn listed(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

fn assert_same(one: &Path, other: &Path) {
    let mut files = 0;
    for array in listed(one) {
        for path in if array.is_dir() { listed(&array) } else { vec![array] } {
            let name = path.strip_prefix(one).unwrap();
            let [a, b] = [&path, &other.join(name)].map(|path| std::fs::read(path).unwrap());
            assert!(a == b, "{}", name.display());
            files += 1;
        }
    }
    assert!(files > 15);
}

#[test]
fn pieces_are_copied_and_chunks_are_linked_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    write(&path("whole"), 0..PARTICLES);
    let pieces = pieces(folder.path(), &[0..131_100, 131_100..PARTICLES]);
    join_pieces(&pieces, path("joined"), &plan(PARTICLES)).unwrap();
    assert_same(&path("whole"), &path("joined"));
    assert!(verify(path("joined")).unwrap().damage.is_empty());
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let inode = |store: &str, chunk: &str| {
            std::fs::metadata(path(store).join("position").join(chunk)).unwrap().ino()
        };
        assert_eq!(inode("joined", "c.1.0.0"), inode("piece0", "c.1.0.0"), "a chunk is linked");
        // The last chunk of the run is padded.
        assert_ne!(inode("joined", "c.1.1.0"), inode("piece1", "c.1.0.0"));
    }
    // Once more, over the joined store.
    join_pieces(&pieces, path("joined"), &plan(PARTICLES)).unwrap();
    assert_same(&path("whole"), &path("joined"));
    for piece in &pieces {
        std::fs::remove_dir_all(&piece.folder).unwrap();
    }
    assert_eq!(Tracks::open(path("joined")).unwrap().position(1).unwrap()[7], [7.0, 1.0, 0.0]);
}

#[test]
fn damaged_missing_and_other_pieces_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("joined");
    let mut pieces = pieces(folder.path(), &[0..40, 40..100]);
    let refused = |pieces: &[PieceTracks], plan: &SavePlan| {
        join_pieces(pieces, &to, plan).unwrap_err().to_string()
    };
    assert!(refused(&pieces[..1], &plan(100)).contains("pieces of 40 particles, expected 100"));
    let longer = SavePlan { saves: 3, ..plan(100) };
    assert!(refused(&pieces, &longer).contains("a piece with saves = 2"));
    pieces[1].instances_by_segment = vec![3];
    assert!(refused(&pieces, &plan(100)).contains("0 particle instances"));
    pieces[1].instances_by_segment.clear();
    let chunk = pieces[0].folder.join("position/c.0.0.0");
    let mut bytes = std::fs::read(&chunk).unwrap();
    bytes[17] ^= 1;
    std::fs::write(&chunk, bytes).unwrap();
    assert!(refused(&pieces, &plan(100)).contains("other bytes than its checksum says"));
    assert!(!to.exists(), "nothing is written before the pieces are checked");
}

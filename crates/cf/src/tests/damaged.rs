//! Files that are damaged: an error or other numbers, and no panic.

use super::*;

#[test]
fn damaged_shards_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    copy(&fixture("sparse.zarr"), folder.path());
    let file = folder.path().join("a/c/0/0");
    let bytes = std::fs::read(&file).unwrap();
    let error = |bytes: &[u8]| {
        std::fs::write(&file, bytes).unwrap();
        let store = open(folder.path()).unwrap();
        let all = [Span::all(40), Span::all(30)];
        store.read(&store.variables()[0], &all).unwrap_err().to_string()
    };
    let mut flipped = bytes.clone();
    *flipped.last_mut().unwrap() ^= 1;
    let checksum = error(&flipped);
    assert!(checksum.contains("its shard `c/0/0` cannot be decoded: its checksum"), "{checksum}");
    assert!(error(&bytes[..100]).contains("too short for the index of its chunks"));
    // Without a checksum of the index, a position beyond the file is found.
    let metadata = folder.path().join("a/zarr.json");
    let json: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&metadata).unwrap()).unwrap();
    let edited = |path: &str, value: serde_json::Value| {
        let mut json = json.clone();
        *json.pointer_mut(path).unwrap() = value;
        std::fs::write(&metadata, json.to_string()).unwrap();
    };
    let codecs = "/codecs/0/configuration/index_codecs";
    edited(
        codecs,
        serde_json::json!([{ "name": "bytes", "configuration": { "endian": "little" } }]),
    );
    let beyond = error(&[0x7f; 1000]);
    assert!(beyond.contains("beyond its 1000 bytes"), "{beyond}");
    edited(codecs, serde_json::json!([{ "name": "gzip" }]));
    assert!(error(&bytes).contains("the index of its shards has the codec `gzip`"));
    edited("/codecs/0/configuration/chunk_shape", serde_json::json!([7, 5]));
    assert!(error(&bytes).contains("chunks of [7, 5] do not divide its shards of [20, 15]"));
}

/// Reads everything of a store, and returns whether that was possible.
fn read_everything(path: &Path) -> bool {
    let Ok(store) = open(path) else { return false };
    let read = |store: &dyn Store| {
        store.variables().iter().all(|v| {
            v.scalar.is_none()
                || store.read(v, &v.shape().into_iter().map(Span::all).collect::<Vec<_>>()).is_ok()
        })
    };
    let all = read(&*store);
    let grid = CfGrid::of(store, &Request::default());
    all && grid.is_ok_and(|grid| {
        let ranges = whole(&grid);
        (0..TIMES).all(|t| grid.read(t, ranges).is_ok())
    })
}

/// A file of which a byte or the end is damaged gives an error or other numbers, never a panic.
#[test]
fn damaged_files_do_not_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.nc");
    for name in ["classic.nc", "data64.nc", "nc4_deflate.nc", "xarray.nc", "packed.nc"] {
        let bytes = std::fs::read(fixture(name)).unwrap();
        let stride = (bytes.len() / 60).max(1);
        let mut refused = 0;
        for at in (0..bytes.len()).step_by(stride) {
            std::fs::write(&path, &bytes[..at]).unwrap();
            refused += usize::from(!read_everything(&path));
            for flip in [0x01, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] ^= flip;
                std::fs::write(&path, &damaged).unwrap();
                refused += usize::from(!read_everything(&path));
            }
        }
        assert!(refused > 50, "{name}: {refused} were refused");
    }
}

#[test]
fn damaged_groups_do_not_panic() {
    for name in [
        "v2_blosc_lz4_shuffle.zarr",
        "v2_blosc_zstd_bitshuffle.zarr",
        "v3_gzip.zarr",
        "v3_zstd.zarr",
        "v3_sharded.zarr",
    ] {
        let folder = tempfile::tempdir().unwrap();
        copy(&fixture(name), folder.path());
        assert!(read_everything(folder.path()), "{name}");
        let mut refused = 0;
        for file in files(folder.path()) {
            let bytes = std::fs::read(&file).unwrap();
            for at in (0..bytes.len()).step_by((bytes.len() / 8).max(1)) {
                std::fs::write(&file, &bytes[..at]).unwrap();
                refused += usize::from(!read_everything(folder.path()));
                for flip in [0x01, 0x08, 0xff] {
                    let mut damaged = bytes.clone();
                    damaged[at] ^= flip;
                    std::fs::write(&file, &damaged).unwrap();
                    refused += usize::from(!read_everything(folder.path()));
                }
            }
            std::fs::write(&file, &bytes).unwrap();
        }
        assert!(refused > 100, "{name}: {refused} were refused");
    }
}

pub(super) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn copy(from: &Path, to: &Path) {
    for file in files(from) {
        let target = to.join(file.strip_prefix(from).unwrap());
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::copy(&file, target).unwrap();
    }
}

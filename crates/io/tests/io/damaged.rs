//! Damaged files of fields, seeds and surfaces are read or refused: no panic, no endless loop, no huge
//! allocation. The tests of `burntrace_vtk` damage all encodings of VTK files; these go through the readers
//! of this crate.

use super::support::data;
use burntrace_io::{SeriesOptions, inspect, read_points, read_surface};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A damaged file takes milliseconds.
const LIMIT: Duration = Duration::from_secs(10);

/// The fixtures have a few kB, and decompress to at most 1032 times their size.
const MAX_BYTES: usize = 256 << 20;

thread_local! {
    /// Bytes of the largest allocation of this thread.
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

struct RecordingAllocator;

#[global_allocator]
static ALLOCATOR: RecordingAllocator = RecordingAllocator;

// SAFETY: every call is forwarded to the system allocator.
unsafe impl GlobalAlloc for RecordingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that ends has no such number any more.
        LARGEST.try_with(|largest| largest.set(largest.get().max(layout.size()))).ok();
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        LARGEST.try_with(|largest| largest.set(largest.get().max(layout.size()))).ok();
        // SAFETY: the caller upholds the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        LARGEST.try_with(|largest| largest.set(largest.get().max(size))).ok();
        // SAFETY: the caller upholds the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

struct Fixture {
    name: &'static str,
    bytes: Vec<u8>,
}

/// Numbers from a linear congruential generator, so that each run has the same damages.
struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % count.max(1)
    }
}

fn fixtures() -> Vec<Fixture> {
    let read = |path: &str| fs::read(data(path)).unwrap();
    let facets: String = ["0 0 0\nvertex 0 1 0\nvertex 1 0 0", "0 0 0\nvertex 1 0 0\nvertex 0 0 1"]
        .map(|corners| {
            format!("facet normal 0 0 1\nouter loop\nvertex {corners}\nendloop\nendfacet\n")
        })
        .concat();
    let stl = format!("solid body\n{facets}endsolid body\n").into_bytes();
    let mut binary = vec![0_u8; 80];
    binary.extend(2_u32.to_le_bytes());
    binary.extend([1_u8; 100]);
    let pvd = "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\"><Collection>\n\
        <DataSet timestep=\"0.5\" part=\"0\" file=\"u_2.vti\"/>\n\
        <DataSet timestep=\"1\" part=\"0\" file=\"u_9.vti\"/>\n</Collection></VTKFile>\n";
    let parts = "<VTKFile><Collection><DataSet timestep=\"0\" part=\"0\" file=\"images_0.vti\"/>\n\
        <DataSet timestep=\"0\" part=\"1\" file=\"images_1.vti\"/></Collection></VTKFile>\n";
    let series = "{ \"file-series-version\": \"1.0\", \"files\": [\n\
        { \"name\": \"u_2.vti\", \"time\": 0.5 }, { \"name\": \"u_9.vti\", \"time\": 1 } ] }\n";
    let csv = "# seeds\nx,y,z,time\n0.25,1,1e-3,0\n\"0.5\",2,3,4\n";
    vec![
        Fixture { name: "a.vti", bytes: read("series/u_2.vti") },
        Fixture { name: "a.vtu", bytes: read("cells/appended64-zlib.vtu") },
        Fixture { name: "b.vtu", bytes: read("cells/ascii.vtu") },
        Fixture { name: "a.vtk", bytes: read("vtk/image-ascii-42.vtk") },
        Fixture { name: "b.vtk", bytes: read("cells/mixed-binary-51.vtk") },
        Fixture { name: "c.vtk", bytes: read("vtk/poly-ascii-42.vtk") },
        Fixture { name: "a.vtp", bytes: read("vtk/appended64-zlib.vtp") },
        Fixture { name: "c.vtu", bytes: read("composite/octree.vtu") },
        Fixture { name: "d.vtu", bytes: read("composite/quadratic.vtu") },
        Fixture { name: "b.vtp", bytes: read("composite/polygons.vtp") },
        Fixture { name: "a.pvd", bytes: pvd.into() },
        Fixture { name: "b.pvd", bytes: parts.into() },
        Fixture { name: "a.vti.series", bytes: series.into() },
        Fixture { name: "a.csv", bytes: csv.into() },
        Fixture { name: "a.stl", bytes: stl },
        Fixture { name: "b.stl", bytes: binary },
        Fixture { name: "e.vtu", bytes: read("composite/marked.vtu") },
        Fixture { name: "patches.vtm", bytes: read("composite/patches.vtm") },
        // One of the blocks of `b.vtm`.
        Fixture { name: "patches/patches_3.vtp", bytes: read("composite/patches/patches_3.vtp") },
    ]
}

/// Text that damaged files contain in place of numbers and names.
const INSERTED: [&str; 8] =
    ["99999999999", "18446744073709551615", "-1", "nan", "1e400", "\n\n", "<", "\0"];

/// The file with one or two damages.
fn damaged(whole: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    for _ in 0..1 + random.below(2) {
        let at = random.below(bytes.len());
        match random.below(4) {
            _ if bytes.is_empty() => {}
            0 => bytes.truncate(at),
            1 => bytes[at] ^= 1 << random.below(8),
            2 => {
                let text = INSERTED[random.below(INSERTED.len())];
                drop(bytes.splice(at..at, text.bytes()));
            }
            _ => drop(bytes.drain(at..(at + random.below(100)).min(bytes.len()))),
        }
    }
    bytes
}

/// Reads a file in each way that its name allows. Returns the number of successes.
fn read_everything(path: &Path) -> usize {
    let is = |extensions: &[&str]| {
        extensions.iter().any(|extension| path.extension().is_some_and(|of| of == *extension))
    };
    let mut successes = 0;
    if !is(&["csv", "stl"]) {
        let read = inspect(path, &SeriesOptions::default());
        successes += usize::from(read.map_err(|error| assert_typed(&error.to_string())).is_ok());
    }
    if path.parent().is_some_and(|folder| folder.ends_with("patches")) {
        let whole = path.with_file_name("../b.vtm");
        let read = inspect(whole, &SeriesOptions::default());
        successes += usize::from(read.map_err(|error| assert_typed(&error.to_string())).is_ok());
    }
    if is(&["csv", "vtk", "vtp", "vtu"]) {
        let read = read_points(path);
        successes += usize::from(read.map_err(|error| assert_typed(&error.to_string())).is_ok());
    }
    if is(&["stl", "vtp", "vtk"]) {
        let read = read_surface(path);
        successes += usize::from(read.map_err(|error| assert_typed(&error.to_string())).is_ok());
    }
    successes
}

/// A message says something, on few lines.
fn assert_typed(message: &str) {
    assert!(message.len() > 20 && message.lines().count() < 10, "{message:?}");
}

#[test]
fn damaged_files_are_refused_or_read() {
    const EACH: usize = 400;
    let folder = tempfile::tempdir().unwrap();
    for name in ["u_2.vti", "u_9.vti"] {
        fs::copy(data("series").join(name), folder.path().join(name)).unwrap();
    }
    for name in ["images_0.vti", "images_1.vti"] {
        fs::copy(data("composite/images").join(name), folder.path().join(name)).unwrap();
    }
    fs::create_dir(folder.path().join("patches")).unwrap();
    fs::copy(data("composite/patches.vtm"), folder.path().join("b.vtm")).unwrap();
    for name in ["patches_0.vtu", "patches_1.vtp", "patches_2.vtp", "patches_3.vtp"] {
        let name = format!("patches/{name}");
        fs::copy(data("composite").join(&name), folder.path().join(&name)).unwrap();
    }
    let (mut cases, mut successes) = (0, 0);
    let mut random = Random(7);
    for Fixture { name, bytes } in fixtures() {
        let path: PathBuf = folder.path().join(name);
        fs::write(&path, &bytes).unwrap();
        // A whole file is read in one of the ways, but for the surfaces, which are open.
        assert!(name.ends_with("stl") || read_everything(&path) > 0, "{name}");
        for _ in 0..EACH {
            let changed = damaged(&bytes, &mut random);
            fs::write(&path, &changed).unwrap();
            let start = Instant::now();
            let read = std::panic::catch_unwind(|| read_everything(&path));
            let copy = || {
                let kept = std::env::temp_dir().join(format!("damaged-{}", name.replace('/', "-")));
                fs::write(&kept, &changed).unwrap();
                kept
            };
            match read {
                Ok(count) => successes += count,
                Err(_) => panic!("{name}: case {cases} panics; see {}", copy().display()),
            }
            assert!(
                start.elapsed() < LIMIT,
                "{name}: case {cases} is slow; see {}",
                copy().display()
            );
            let largest = LARGEST.get();
            let copy = || copy().display().to_string();
            assert!(
                largest < MAX_BYTES,
                "{name}: an allocation of {largest} bytes; see {}",
                copy()
            );
            cases += 1;
        }
    }
    println!("{cases} damaged files, {successes} successful reads");
    assert!(cases >= 4000 && successes > 0, "{cases} cases");
}

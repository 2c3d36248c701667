//! Every `run.strategy` with few and many frames of each kind of field, and limits of the memory of the process.

use super::meshes::Mesh;
use super::program::{burntrace, text};
use super::resume::files;
use std::path::Path;
use std::process::{Command, Output};

const STRATEGIES: [&str; 5] = ["auto", "in-memory", "streamed-frames", "batched", "streamed"];

/// Numbers of frames: around the numbers that windows hold, and one.
const FRAMES: [usize; 12] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 20];

const REST: &str = "[seeds]\nkind = \"uniform\"\ncount = 5\nlow = [0.2, 0.2, 0.2]\nhigh = [0.8, 0.8, 0.8]\n\
    [trace]\nt0 = 0.0\nt1 = 0.5\ndt = 0.125\n[save]\nevery = 2\nvtk = []\nreport = \"never\"\n\
    [run]\ndevice = \"flex\"\nthreads = 1\nkeep_state = false\ncheckpoint = 0\n";

/// The sections `[field]` with a number of frames, of which the files exist.
fn fields(folder: &Path, frames: usize) -> [(&'static str, String); 3] {
    let values = "0.5 0.25 0.125 ".repeat(27);
    let image = format!(
        "<VTKFile type=\"ImageData\" version=\"0.1\" byte_order=\"LittleEndian\"><ImageData WholeExtent=\"0 2 0 2 0 2\" \
         Origin=\"0 0 0\" Spacing=\"1 1 1\"><Piece Extent=\"0 2 0 2 0 2\"><PointData><DataArray type=\"Float64\" Name=\"U\" \
         NumberOfComponents=\"3\" format=\"ascii\">{values}</DataArray></PointData></Piece></ImageData></VTKFile>"
    );
    let mesh = Mesh::cubes([2, 2, 2], |_| true).file("POINT_DATA", |_| [0.5, 0.25, 0.125]);
    for frame in 0..frames {
        std::fs::write(folder.join(format!("u_{frame}.vti")), &image).unwrap();
        std::fs::write(folder.join(format!("m_{frame}.vtk")), &mesh).unwrap();
    }
    let of_files = |pattern: &str, more: &str| {
        format!("[field]\nfiles = \"{pattern}\"\nfile_dt = 1.0\noutside_time = \"hold\"\n{more}")
    };
    let stop = frames as f64;
    [
        ("grid", of_files("u_*.vti", "")),
        ("mesh", of_files("m_*.vtk", "interpolation = \"mesh\"\n")),
        (
            "flow",
            format!(
                "[field]\nflow = \"abc\"\noutside_time = \"hold\"\n\
                 sample = {{ nodes = [5, 5, 5], start = 0.0, stop = {stop:?}, frames = {frames} }}\n"
            ),
        ),
    ]
}

/// What is wrong with the outcome of a run, if anything.
fn problem(output: &Output, (kind, strategy): (&str, &str)) -> Option<String> {
    let message = text(&output.stderr);
    match output.status.code() {
        Some(0) => None,
        code => Some(format!("{kind}, {strategy}: {code:?} {message}")),
    }
}

#[test]
fn every_strategy_runs_with_any_number_of_frames() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let mut problems = Vec::new();
    for frames in FRAMES {
        for (kind, field) in fields(path, frames) {
            std::fs::write(path.join("case.toml"), field + REST).unwrap();
            let mut first = None;
            for strategy in STRATEGIES {
                let set = format!("run.strategy={strategy}");
                let args =
                    ["run", "case.toml", "--quiet", "--overwrite", "--out", "out", "--set", &set];
                let output = burntrace(path, &args);
                problems.extend(
                    problem(&output, (kind, strategy)).map(|text| format!("{frames} {text}")),
                );
                if output.status.success() {
                    let tracks = files(&path.join("out/tracks"));
                    assert!(
                        *first.get_or_insert_with(|| tracks.clone()) == tracks,
                        "{kind} {strategy} {frames}"
                    );
                }
            }
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

/// Runs the program in a shell that has limits set first.
fn limited(folder: &Path, limit: &str, args: &[&str]) -> Output {
    let script = format!("ulimit -c 0; {limit}; exec \"$0\" \"$@\"");
    let mut shell = Command::new("sh");
    shell.current_dir(folder).args(["-c", &script, env!("CARGO_BIN_EXE_burntrace")]);
    shell.args(args).output().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn limits_of_the_process_are_planned_with_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let case = "[field]\nflow = \"abc\"\nsample = { nodes = [300, 300, 300], start = 0.0, stop = 1.0, frames = 3 }\n\
        [seeds]\nkind = \"uniform\"\ncount = 10\n[trace]\ndt = 0.1\n[run]\ndevice = \"flex\"\nthreads = 2\n";
    std::fs::write(path.join("case.toml"), case).unwrap();
    let run = ["run", "case.toml", "--quiet", "--overwrite", "--set"];
    for (kilobytes, set) in [
        (600_000, "seeds.count=10"),
        (1_000_000, "seeds.count=10"),
        (2_000_000, "seeds.count=10"),
        (600_000, "seeds.count=30000000"),
        (300_000, "field.sample.nodes=[100,100,100]"),
    ] {
        let output = limited(path, &format!("ulimit -v {kilobytes}"), &[&run[..], &[set]].concat());
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{kilobytes} {set}: {message}");
        let limit = format!("{} bytes", 1024 * kilobytes);
        for part in ["error: ", "ulimit -v", &limit] {
            assert!(message.contains(part), "{kilobytes} {set}: {message}");
        }
        assert!(!path.join("results").exists(), "{kilobytes} {set}");
    }
    // Whatever the limit, the program runs or says why not.
    for kilobytes in [180_000, 250_000, 300_000, 350_000, 400_000, 500_000] {
        let args =
            [&run[..], &["field.sample.nodes=[20,20,20]", "--set", "seeds.count=1000000"]].concat();
        let output = limited(path, &format!("ulimit -v {kilobytes}"), &args);
        let message = text(&output.stderr);
        assert!(
            matches!(output.status.code(), Some(0..=2)),
            "{kilobytes}: {:?} {message}",
            output.status
        );
        assert!(output.status.success() || message.contains("error: "), "{kilobytes}: {message}");
    }
}

/// Runs commands that write files on a file system that takes no more bytes: each says so, and leaves what is there.
#[cfg(unix)]
#[test]
fn commands_on_a_full_disk_leave_earlier_files_and_name_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let [.., (_, field)] = fields(path, 3);
    let rest = REST.replace("kind = \"uniform\"\ncount = 5", "kind = \"grid\"\ncounts = [3, 3, 3]");
    std::fs::write(path.join("case.toml"), field + &rest).unwrap();
    std::fs::write(path.join("at.csv"), "x,y,z\n0.5,0.5,0.5\n").unwrap();
    for out in ["out", "other"] {
        let output = burntrace(path, &["run", "case.toml", "--quiet", "--out", out]);
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    let small = ["--size", "200x160"];
    for (args, name) in [
        (&["render", "out", "--html"][..], "out/page.html"),
        (&[&["render", "out", "--gif", "--seconds", "0.5"], &small[..]].concat(), "out/tracks.gif"),
        (&[&["render", "out"], &small[..]].concat(), "out/pictures/tracks"),
        (&[&["render", "out", "--svg"], &small[..]].concat(), "out/pictures/tracks"),
        (&["report", "out"], "out/"),
        (&["export", "out", "--to", "csv"], "out/tracks.csv"),
        (&["export", "out", "--to", "parquet"], "out/tracks.parquet"),
        (&["export", "out", "--to", "vtp"], "out/tracks.vtp"),
        (&["density", "out"], "out/density/density_00002"),
        (&["density", "out", "--points", "at.csv"], "out/density/density_00002"),
        (&["ftle", "out"], "out/ftle/ftle_00002"),
        (&["compare", "out", "other", "--particles", "both.csv"], "both.csv"),
        (&["probe", "u_0.vti", "--at", "at.csv", "--out", "probed.csv"], "probed.csv"),
        (&["init", "new.toml"], "new.toml"),
        (&["man", "--out", "man"], "man"),
        (&["run", "case.toml", "--out", "third", "--profile", "profile.json"], "profile.json"),
    ] {
        let full = limited(path, "trap '' XFSZ; ulimit -f 0", args);
        let message = text(&full.stderr);
        assert_eq!(full.status.code(), Some(1), "{args:?}: {message}");
        assert!(message.contains(name), "{args:?}: {message}");
        let whole = burntrace(path, args);
        assert!(whole.status.success(), "{args:?}: {}", text(&whole.stderr));
        let before = files(path);
        if name == "new.toml" || name == "profile.json" {
            continue;
        }
        let full = limited(path, "trap '' XFSZ; ulimit -f 0", args);
        assert_eq!(full.status.code(), Some(1), "{args:?}: {}", text(&full.stderr));
        let after = files(path);
        let changed = before.iter().filter(|(name, bytes)| after.get(*name) != Some(bytes));
        let changed: Vec<_> = changed.map(|(name, _)| name).collect();
        assert!(changed.is_empty(), "{args:?}: {changed:?}");
        assert!(!after.keys().any(|name| name.extension() == Some("part".as_ref())), "{args:?}");
    }
}

#[test]
fn tables_replace_no_file_of_a_run_and_no_input() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let [(_, field), ..] = fields(path, 2);
    std::fs::write(path.join("seeds.csv"), "x,y,z\n0.5,0.5,0.5\n").unwrap();
    let (_, rest) = REST.split_once("[trace]").unwrap();
    let seeds = "[seeds]\nkind = \"file\"\npath = \"seeds.csv\"\n[trace]";
    std::fs::write(path.join("case.toml"), field + seeds + rest).unwrap();
    let output = burntrace(path, &["run", "case.toml", "--quiet", "--out", "out"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let before = files(path);
    let export = ["export", "out", "--to", "csv", "--out"];
    for name in
        ["seeds.csv", "u_0.vti", "out/case.toml", "out/summary.json", "out/tracks/zarr.json"]
    {
        let output = burntrace(path, &[&export[..], &[name]].concat());
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{name}: {message}");
        assert!(message.contains("would be replaced") && message.contains(name), "{message}");
    }
    let probe = ["probe", "u_0.vti", "--at", "seeds.csv", "--out", "seeds.csv"];
    assert_eq!(burntrace(path, &probe).status.code(), Some(2));
    let profile = ["run", "case.toml", "--out", "new", "--profile", "case.toml"];
    assert_eq!(burntrace(path, &profile).status.code(), Some(2));
    assert!(files(path) == before);
    let output = burntrace(path, &["run", "case.toml", "--quiet", "--out", "other"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let before = files(path);
    for command in ["render", "density", "view"] {
        let output = burntrace(path, &[command, "out", "--out", "other"]);
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{command}: {message}");
        assert!(message.contains("/other is the folder of another run"), "{command}: {message}");
    }
    assert!(files(path) == before);
    for name in ["out/tracks.csv", "out/mine.csv", "mine.csv"] {
        for _ in 0..2 {
            let output = burntrace(path, &[&export[..], &[name]].concat());
            assert!(output.status.success(), "{}", text(&output.stderr));
        }
    }
}

//! Output, files and exit codes of the program.

use super::requirements::skip;
use burntrace::io::Tracks;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs the program in a folder.
pub fn burntrace(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_burntrace")).current_dir(folder).args(args).output().unwrap()
}

/// A folder with the case of `burntrace init`.
fn folder_with_case() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let init = burntrace(folder.path(), &["init"]);
    assert!(init.status.success());
    std::fs::write(folder.path().join("case.toml"), init.stdout).unwrap();
    folder
}

/// Settings that reduce the size of the case.
const SMALL: [&str; 8] = [
    "--set",
    "seeds.count=500",
    "--set",
    "field.sample.nodes=[33,17,1]",
    "--set",
    "field.sample.frames=11",
    "--set",
    "run.device=flex",
];

fn run(folder: &Path, more: &[&str]) -> Output {
    let mut args = vec!["run", "case.toml", "--out", "out"];
    args.extend(SMALL);
    args.extend(more);
    burntrace(folder, &args)
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Asserts that a call fails with an exit code, and with a message that contains all parts.
pub fn assert_refused(output: &Output, code: i32, parts: &[&str]) {
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{message}");
    for part in parts {
        assert!(message.contains(part), "`{part}` is not in: {message}");
    }
    assert!(!message.contains("panicked"), "{message}");
}

fn summary(folder: &Path) -> serde_json::Value {
    let text = std::fs::read_to_string(folder.join("out/summary.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data").join(name)
}

#[test]
fn help_and_version_name_the_program_burntrace() {
    let folder = tempfile::tempdir().unwrap();
    let call = |args: &[&str]| burntrace(folder.path(), args);
    assert!(text(&call(&["--version"]).stdout).starts_with("burntrace "));
    assert!(text(&call(&["--help"]).stdout).contains("Usage: burntrace <COMMAND>"));
    let commands = [
        "demo", "init", "info", "run", "sweep", "plan", "density", "ftle", "render", "report",
        "export", "compare", "verify", "devices", "doctor", "bench",
    ];
    for command in commands {
        let usage = format!("Usage: burntrace {command}");
        assert!(text(&call(&[command, "--help"]).stdout).contains(&usage), "{command}");
    }
    assert_refused(&call(&["info"]), 2, &["Usage: burntrace info <FILES>..."]);
}

#[test]
fn init_case_runs_and_counts_add_up() {
    let folder = folder_with_case();
    let output = run(folder.path(), &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let summary = summary(folder.path());
    assert_eq!(summary["particles"], 500);
    assert_eq!(summary["released"], 500);
    let status = summary["status"].as_object().unwrap();
    let total: u64 = status.values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(total, 500);
    assert_eq!(summary["engine"], "fused");
    assert_eq!(summary["launches"], 50);
    assert_eq!(summary["saves"], 51);
    for name in ["case.toml", "log.txt", "tracks.vtp", "tracks/position/zarr.json"] {
        assert!(folder.path().join("out").join(name).exists(), "{name} is missing");
    }
    let printed = text(&output.stdout);
    assert!(printed.contains("released   500 = 500 active\n"), "{printed}");
    assert!(printed.contains("particle-steps/s"), "{printed}");
    assert!(text(&output.stderr).contains("100%"), "progress lines in piped output");
}

#[test]
fn effective_case_reproduces_identical_tracks() {
    let folder = folder_with_case();
    assert!(run(folder.path(), &["--quiet"]).status.success());
    let again = burntrace(folder.path(), &["run", "out/case.toml", "--out", "again", "--quiet"]);
    assert!(again.status.success(), "{}", text(&again.stderr));
    assert!(again.stdout.is_empty() && again.stderr.is_empty());
    let positions =
        |name: &str| std::fs::read(folder.path().join(name).join("tracks/position/c.0.0.0"));
    assert_eq!(positions("out").unwrap(), positions("again").unwrap());
}

#[test]
fn json_output_is_exactly_the_summary() {
    let folder = folder_with_case();
    let output = run(folder.path(), &["--json", "--quiet"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json, summary(folder.path()));
}

#[test]
fn earlier_run_is_replaced_only_with_overwrite() {
    let folder = folder_with_case();
    assert!(run(folder.path(), &[]).status.success());
    assert_refused(&run(folder.path(), &[]), 2, &["earlier run", "--overwrite"]);
    let clouds = ["--overwrite", "--set", "save.vtk=[\"clouds\"]"];
    assert!(run(folder.path(), &clouds).status.success());
    let out = folder.path().join("out");
    assert!(out.join("clouds/clouds.pvd").exists());
    assert!(!out.join("tracks.vtp").exists(), "the earlier run's lines are gone");
    assert!(run(folder.path(), &["--overwrite"]).status.success());
    assert!(!out.join("clouds").exists(), "the earlier run's clouds are gone");
}

#[test]
fn errors_in_a_case_say_what_to_write() {
    let folder = folder_with_case();
    let set = |assignment: &str| run(folder.path(), &["--set", assignment]);
    assert_refused(&set("trace.schem=\"rk4\""), 2, &["schem", "did you mean `scheme`"]);
    assert_refused(&set("trace.scheme=rk5"), 2, &["rk5", "did you mean `rk4`"]);
    let conflict = run(folder.path(), &["--set", "trace.steps=7", "--set", "trace.t1=10.0"]);
    assert_refused(&conflict, 2, &["7 steps", "t1, dt and steps"]);
    assert_refused(&set("trace.t1=99.0"), 2, &["99", "outside_time"]);
    assert_refused(&set("seeds.low=[5.0,0.0,0.0]"), 2, &["seeds", "5"]);
    assert_refused(&set("boundary.x=[\"periodic\",\"exit\"]"), 2, &["x-low", "x-high", "periodic"]);
    assert_refused(&set("run.device=abacus"), 2, &["abacus", "flex", "ndarray"]);
    assert_refused(&set("run.device=vulkan:99"), 2, &["vulkan:99", "flex"]);
    assert_refused(&set("field.flow=whirl"), 2, &["whirl", "double-gyre"]);
    assert_refused(&set("field.files=nowhere_*.vti"), 2, &["`files`", "`flow`"]);
    assert_refused(&set("seeds.radius=1.0"), 2, &["radius", "uniform"]);
    assert_refused(&set("save.every_time=0.5"), 2, &["every", "every_time"]);
    assert_refused(&set("nonsense"), 2, &["key=value"]);
    let huge = ["--set", "field.flow=abc", "--set", "field.sample.nodes=[9000,9000,9000]"];
    assert_refused(&run(folder.path(), &huge), 2, &["bytes", "are available", "fewer frames"]);
    assert_refused(&burntrace(folder.path(), &["run", "absent.toml"]), 2, &["absent.toml", "init"]);
}

#[test]
fn formulas_run_on_the_fused_engine() {
    let folder = folder_with_case();
    let case = std::fs::read_to_string(folder.path().join("case.toml")).unwrap();
    let formula: String =
        case.lines().filter(|l| !l.starts_with("sample")).map(|l| format!("{l}\n")).collect();
    std::fs::write(folder.path().join("case.toml"), formula).unwrap();
    let args = ["run", "case.toml", "--out", "out", "--set", "trace.t1=1.0", "--set"];
    let output = burntrace(folder.path(), &[&args[..], &["seeds.count=10"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(summary(folder.path())["engine"], "fused");
}

/// A rigid rotation by a quarter turn, with a constant and its use in another.
#[test]
fn case_may_hold_its_own_formula() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let case = "[field.flow]\nu = \"-rate*y\"\nv = \"rate*x\"\n\
        constants = { rate = \"half/2\", half = \"pi*1.0\" }\n\
        [domain]\nlow = [-1.0, -1.0, 0.0]\nhigh = [1.0, 1.0, 0.0]\n\
        [seeds]\nkind = \"list\"\npoints = [[0.5, 0.0, 0.0]]\n\
        [trace]\nt0 = 0.0\nt1 = 1.0\nsteps = 100\n[save]\nreport = \"never\"\n\
        [run]\ndevice = \"flex\"\nprecision = \"f64\"\nout = \"out\"\n";
    std::fs::write(path.join("case.toml"), case).unwrap();
    let output = burntrace(path, &["run", "case.toml"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let tracks = burntrace::io::Tracks::open(path.join("out/tracks")).unwrap();
    let [x, y, _] = tracks.position(tracks.num_saves() - 1).unwrap()[0];
    assert!(x.abs() < 1e-8 && (y - 0.5).abs() < 1e-8, "{x} {y}");
    let refused = |from: &str, to: &str, parts: &[&str]| {
        std::fs::write(path.join("wrong.toml"), case.replace(from, to)).unwrap();
        assert_refused(&burntrace(path, &["run", "wrong.toml", "--out", "wrong"]), 2, parts);
    };
    refused("rate*x", "rate*q", &["field.flow", "character 6", "`q` is not known", "half"]);
    refused("low = [-1.0, -1.0, 0.0]\n", "", &["no domain of its own", "give [domain]"]);
    refused("v = ", "vv = ", &["vv"]);
    refused("half = ", "x = ", &["`x` has a meaning already"]);
}

#[test]
fn f64_formula_is_refused_on_vulkan() {
    let folder = folder_with_case();
    let devices = text(&burntrace(folder.path(), &["devices"]).stdout);
    if !devices.lines().any(|line| line.starts_with("vulkan:0")) {
        return skip("vulkan", "there is no Vulkan device");
    }
    let case = "[field]\nflow = \"double-gyre\"\n[seeds]\nkind = \"uniform\"\ncount = 5\n\
                [trace]\nt1 = 0.1\nsteps = 2\n[run]\nprecision = \"f64\"\n";
    std::fs::write(folder.path().join("case.toml"), case).unwrap();
    let output = burntrace(folder.path(), &["run", "case.toml", "--device", "vulkan:0"]);
    assert_refused(&output, 2, &["vulkan:0", "f64", "field.sample"]);
}

#[test]
fn seeds_outside_are_refused_or_not_located() {
    let folder = folder_with_case();
    let outside = ["--set", "seeds.high=[4.0,1.0,0.0]"];
    assert_refused(&run(folder.path(), &outside), 2, &["of 500 seeds are outside", "not-located"]);
    let not_located =
        [&outside[..], &["--overwrite", "--set", "seeds.outside=not-located"]].concat();
    assert!(run(folder.path(), &not_located).status.success());
    let summary = summary(folder.path());
    assert!(summary["status"]["not located"].as_u64().unwrap() > 100);
}

#[test]
fn devices_are_listed_and_auto_is_one_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let output = burntrace(folder.path(), &["devices", "--json"]);
    let devices: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let usable = devices["usable"].as_array().unwrap();
    assert!(usable.iter().any(|device| device["name"] == "flex"));
    assert!(usable.iter().any(|device| device["name"] == devices["auto"]));
    let unusable = devices["unusable"].as_array().unwrap();
    assert!(unusable.iter().all(|device| !device["reason"].as_str().unwrap().is_empty()));
}

#[test]
fn info_describes_image_data() {
    let file = fixture("vtk/image-ascii-42.vtk");
    let folder = tempfile::tempdir().unwrap();
    let output = burntrace(folder.path(), &["info", file.to_str().unwrap()]);
    let printed = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    for part in ["image data", "4 x 3 x 2", "velocity"] {
        assert!(printed.contains(part), "`{part}` is not in: {printed}");
    }
    assert_refused(&burntrace(folder.path(), &["info", "absent.vti"]), 2, &["absent.vti"]);
}

#[test]
fn missing_array_is_refused_with_available_names() {
    let folder = tempfile::tempdir().unwrap();
    let file = fixture("vtk/image-ascii-42.vtk");
    let case = format!(
        "[field]\nfiles = {file:?}\nvelocity = \"speed\"\n[seeds]\nkind = \"grid\"\ncounts = [2, 2, 2]\n\
         [trace]\nt1 = 1.0\nsteps = 4\n"
    );
    std::fs::write(folder.path().join("case.toml"), case).unwrap();
    let output = burntrace(folder.path(), &["run", "case.toml", "--device", "flex"]);
    assert_refused(&output, 2, &["speed", "velocity"]);
}

#[test]
fn non_finite_velocities_are_refused_with_file_position_and_count() {
    let folder = tempfile::tempdir().unwrap();
    let values = "1 0 0 nan 0 0 1 0 0 1 0 0 1 0 0 1 0 inf 1 0 0 1 0 0";
    let file = format!(
        "# vtk DataFile Version 3.0\ntwo bad ones\nASCII\nDATASET STRUCTURED_POINTS\n\
         DIMENSIONS 2 2 2\nORIGIN 0 0 0\nSPACING 1 1 1\nPOINT_DATA 8\nVECTORS u float\n{values}\n"
    );
    std::fs::write(folder.path().join("u.vtk"), file).unwrap();
    let case = "[field]\nfiles = \"u.vtk\"\n[seeds]\nkind = \"grid\"\ncounts = [2, 2, 2]\n\
                [trace]\nt1 = 0.1\nsteps = 2\n[run]\ndevice = \"flex\"\n";
    std::fs::write(folder.path().join("case.toml"), case).unwrap();
    let output = burntrace(folder.path(), &["run", "case.toml"]);
    assert_refused(&output, 2, &["u.vtk", "2 velocities", "(1, 0, 0)", "not_finite"]);
    let zero = ["run", "case.toml", "--set", "field.not_finite=zero", "--overwrite"];
    let output = burntrace(folder.path(), &zero);
    assert!(output.status.success() && !text(&output.stderr).contains("no effect"));
    // Without such velocities.
    let file = std::fs::read_to_string(folder.path().join("u.vtk")).unwrap();
    std::fs::write(folder.path().join("u.vtk"), file.replace("nan", "1").replace("inf", "1"))
        .unwrap();
    let output = burntrace(folder.path(), &zero);
    let warning =
        "field.not_finite = \"zero\" has no effect: all velocities of the field are finite";
    assert!(text(&output.stderr).contains(warning), "{}", text(&output.stderr));
}

#[test]
fn truncated_file_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read(fixture("vtk/raw.vti")).unwrap();
    std::fs::write(folder.path().join("cut.vti"), &whole[..whole.len() / 2]).unwrap();
    let case = "[field]\nfiles = \"cut.vti\"\nvelocity = \"velocity\"\n\
                [seeds]\nkind = \"grid\"\ncounts = [2, 2, 2]\n[trace]\nt1 = 0.1\nsteps = 2\n";
    std::fs::write(folder.path().join("case.toml"), case).unwrap();
    let output = burntrace(folder.path(), &["run", "case.toml", "--device", "flex"]);
    assert_refused(&output, 2, &["cut.vti"]);
    // The last file of a series, and the shortest one.
    for cut in [1, 2] {
        for frame in 0..3 {
            let bytes = if frame == cut { &whole[..whole.len() - 400] } else { &whole };
            std::fs::write(folder.path().join(format!("frame_{frame}.vti")), bytes).unwrap();
        }
        let info = text(&burntrace(folder.path(), &["info", "frame_*.vti"]).stdout);
        let cut = format!("`frame_{cut}.vti`, ");
        let is_named = |line: &&str| line.contains(&cut) && line.contains("the data ends");
        assert_eq!(info.lines().filter(is_named).count(), 1, "{info}");
    }
}

#[test]
fn numbers_out_of_range_are_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let case = "[field]\nflow = \"saddle\"\nsample = { nodes = [5, 5, 1] }\n\
        [domain]\nlow = [-1.0, -1.0, 0.0]\nhigh = [1.0, 1.0, 0.0]\n\
        [seeds]\nkind = \"grid\"\ncounts = [2, 2, 1]\n\
        [trace]\nt0 = 0.0\nt1 = 0.1\nsteps = 2\n[run]\ndevice = \"flex\"\nout = \"out\"\n";
    std::fs::write(folder.path().join("case.toml"), case).unwrap();
    for (set, parts) in [
        ("run.threads=1000000", ["run.threads is 1000000", "up to 4096"]),
        ("run.checkpoint=1e300", ["run.checkpoint is 1e", "1e9"]),
        ("run.checkpoint=nan", ["`run.checkpoint` is nan", "give a number"]),
        ("trace.stagnant_speed=nan", ["`trace.stagnant_speed` is nan", "give a number"]),
        ("field.file_dt=nan", ["`field.file_dt` is nan", "give a number"]),
        (
            "patch=[{name=\"a\",low=[0.0,nan,0.0],wall=\"stick\"}]",
            ["`patch.low[1]` is nan", "give a number"],
        ),
        ("save.every_time=1e-30", ["1e-30 is shorter than times", "give a longer one"]),
        ("save.every_time=1e-9", ["1.000e8 of them", "10000000"]),
        ("walk={diffusivity=1e300}", ["along x is 1", "from 0 to 1e30"]),
        ("trace.drift=[1e300,0.0,0.0]", ["added velocity 1", "up to 1e30"]),
        (
            "field.sample.nodes=[9223372036854775807,5,1]",
            ["9223372036854775807 x 5 x 1", "maximum"],
        ),
        (
            "field.sample.nodes=[4294967296,4294967296,1]",
            ["4294967296 x 4294967296", "16777216 nodes"],
        ),
        ("field.sample.nodes=[1,5,1]", ["1 nodes along x", "give 2 or more"]),
        ("field.sample.nodes=[5,5,3]", ["3 nodes along z, where the domain is flat", "give 1"]),
        ("field.sample.frames=1000000000000", ["1000000000000 frames", "up to 10000000"]),
        ("seeds={kind=\"sobol\",count=2000000000000}", ["2000000000000 particles", "bytes"]),
        (
            "source=[{rate=1e9,capacity=10,inlet={kind=\"points\",points=[[0.5,0.5,0.0]]}}]",
            ["capacity of 10 particles", "allows 640 releases"],
        ),
    ] {
        let output = burntrace(folder.path(), &["run", "case.toml", "--set", set]);
        assert_refused(&output, 2, &parts);
        assert!(!folder.path().join("out").exists(), "{set}");
    }
}

#[test]
fn keys_without_effect_and_domains_beyond_the_field_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let file = fixture("vtk/image-ascii-42.vtk");
    let case = format!(
        "[field]\nfiles = {file:?}\n[seeds]\nkind = \"grid\"\ncounts = [2, 2, 2]\n\
         [trace]\nt0 = 0.0\nt1 = 1.0\nsteps = 4\n[run]\ndevice = \"flex\"\nout = \"out\"\n"
    );
    std::fs::write(folder.path().join("case.toml"), case).unwrap();
    let set = |low: &str, high: &str| {
        let domain = format!("domain={{low={low},high={high}}}");
        burntrace(folder.path(), &["run", "case.toml", "--overwrite", "--set", &domain])
    };
    let apart = set("[1e3, 1e3, 1e3]", "[2e3, 2e3, 2e3]");
    assert_refused(&apart, 2, &["the domain extends from 1000 to 2000 along x", "overlaps"]);
    let partly = set("[-1e3, -1e3, -1e3]", "[1e3, 1e3, 1e3]");
    assert!(text(&partly.stderr).contains("% of the domain is outside the field"));
    // The file has its own time.
    let args = ["run", "case.toml", "--overwrite", "--set", "field.file_dt=0.5"];
    let unused = text(&burntrace(folder.path(), &args).stderr);
    assert!(unused.contains("`field.file_dt` has no effect: times are from TimeValue"), "{unused}");
}

/// A small run into `out`, with more arguments.
fn small_run(folder: &Path, args: &[&str]) -> Output {
    let case = "[field]\nflow = \"saddle\"\nsample = { nodes = [5, 5, 1] }\n\
        [domain]\nlow = [-1.0, -1.0, 0.0]\nhigh = [1.0, 1.0, 0.0]\n\
        [seeds]\nkind = \"grid\"\ncounts = [2, 2, 1]\n\
        [trace]\nt0 = 0.0\nt1 = 0.1\nsteps = 2\n[run]\ndevice = \"flex\"\nout = \"out\"\n";
    std::fs::write(folder.join("case.toml"), case).unwrap();
    burntrace(folder, &[&["run", "case.toml", "--quiet"], args].concat())
}

#[test]
fn overwriting_a_run_in_progress_is_refused_and_removes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    assert!(small_run(folder.path(), &[]).status.success());
    let names = || {
        let all = std::fs::read_dir(folder.path().join("out")).unwrap();
        let mut names: Vec<_> = all.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = names();
    // The lock of a run in progress.
    let log =
        std::fs::File::options().append(true).open(folder.path().join("out/log.txt")).unwrap();
    log.lock().unwrap();
    let output = small_run(folder.path(), &["--overwrite"]);
    assert_refused(&output, 2, &["still in progress", "log.txt"]);
    assert_eq!(names(), before);
    drop(log);
    assert!(small_run(folder.path(), &["--overwrite"]).status.success());
}

#[test]
fn overwriting_removes_no_files_that_no_run_wrote() {
    let folder = tempfile::tempdir().unwrap();
    assert!(small_run(folder.path(), &[]).status.success());
    let notes = folder.path().join("out/tracks/notes.txt");
    std::fs::write(&notes, "do not lose this").unwrap();
    let output = small_run(folder.path(), &["--overwrite"]);
    assert_refused(&output, 2, &["a file, which no run wrote (notes.txt)", "--out"]);
    assert!(notes.exists() && folder.path().join("out/tracks/position/zarr.json").exists());
    // A folder `tracks` of something else.
    let other = folder.path().join("other");
    std::fs::create_dir_all(other.join("tracks/music")).unwrap();
    assert_refused(&small_run(folder.path(), &["--out", "other", "--overwrite"]), 2, &["music"]);
    assert!(other.join("tracks/music").exists());
}

#[test]
fn overwriting_keeps_other_files_in_folders_of_results() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let out = path.join("out");
    let clouds = ["--set", "save.vtk=[\"clouds\"]", "--set", "save.report=\"always\""];
    assert!(small_run(path, &clouds).status.success());
    for args in [&["density", "out"][..], &["ftle", "out"], &["render", "out", "--view", "xy,3d"]] {
        let output = burntrace(path, args);
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    let results = ["clouds", "pictures", "density", "ftle"];
    let entries = |name: &str| std::fs::read_dir(out.join(name)).unwrap().count();
    assert!(results.iter().all(|name| entries(name) > 1), "{:?}", results.map(entries));
    let none = ["--overwrite", "--set", "save.report=\"never\""];
    let output = small_run(path, &none);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(results.iter().all(|name| !out.join(name).exists()), "only results were there");
    assert!(!out.join("tracks/density").exists());
    for name in results {
        std::fs::create_dir_all(out.join(name).join("aside")).unwrap();
        for file in ["notes.txt", "cloud_00001.vtp", "tracks.png", "aside/density_00001.vti"] {
            std::fs::write(out.join(name).join(file), "mine").unwrap();
        }
    }
    let output = small_run(path, &none);
    assert!(output.status.success(), "{}", text(&output.stderr));
    for name in results {
        assert!(out.join(name).join("notes.txt").exists(), "{name}");
        assert!(out.join(name).join("aside/density_00001.vti").exists(), "{name}");
        assert_eq!(out.join(name).join("cloud_00001.vtp").exists(), name != "clouds", "{name}");
        assert_eq!(out.join(name).join("tracks.png").exists(), name != "pictures", "{name}");
    }
    std::fs::write(out.join("tracks/position/notes.txt"), "mine").unwrap();
    assert_refused(&small_run(path, &["--overwrite"]), 2, &["(position/notes.txt)", "--out"]);
}

#[test]
fn other_things_than_fields_and_folders_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    assert!(small_run(path, &[]).status.success());
    std::fs::write(path.join("taken"), "").unwrap();
    assert_refused(&small_run(path, &["--out", "taken"]), 2, &["taken is a file", "--out"]);
    assert_refused(
        &burntrace(path, &["info", "out", "a.vtu"]),
        2,
        &["out is the folder of a run", "`burntrace info out`"],
    );
    assert_refused(&burntrace(path, &["info", "."]), 2, &["it is a folder with case.toml"]);
    for (bytes, kind) in [
        (&b"CDF\x01...."[..], "cannot be read as NetCDF"),
        (b"\x89HDF\r\n\x1a\n....", "cannot be read as NetCDF"),
        (b"\x1f\x8b\x08....", "is compressed by gzip"),
        (b"version https://git-lfs.github.com/spec/v1\n", "is a Git LFS pointer"),
    ] {
        std::fs::write(path.join("a.vtu"), bytes).unwrap();
        assert_refused(&burntrace(path, &["info", "a.vtu"]), 2, &["a.vtu", kind]);
    }
}

/// Eight nodes along a periodic axis without the repeated layer, as spectral simulations write them.
#[test]
fn periodic_faces_need_a_repeated_layer_or_closed_axes() {
    let folder = tempfile::tempdir().unwrap();
    let row: String = (0..8)
        .map(|i| format!("{} 0 0 ", 1.0 + 0.5 * (std::f64::consts::TAU * f64::from(i) / 8.0).sin()))
        .collect();
    let file = format!(
        "<VTKFile type=\"ImageData\" version=\"0.1\" byte_order=\"LittleEndian\"><ImageData \
         WholeExtent=\"0 7 0 1 0 0\" Origin=\"0 0 0\" Spacing=\"0.125 1 1\"><Piece Extent=\"0 7 0 1 0 0\">\
         <PointData><DataArray type=\"Float64\" Name=\"U\" NumberOfComponents=\"3\" format=\"ascii\">\
         {row}{row}</DataArray></PointData></Piece></ImageData></VTKFile>"
    );
    std::fs::write(folder.path().join("u.vti"), file).unwrap();
    let case = "[field]\nfiles = \"u.vti\"\n[boundary]\nx = [\"periodic\", \"periodic\"]\n\
        [seeds]\nkind = \"list\"\npoints = [[0.1, 0.5, 0.0]]\n\
        [trace]\nt0 = 0.0\nt1 = 5.0\nsteps = 400\n\
        [run]\ndevice = \"flex\"\nprecision = \"f64\"\nout = \"out\"\n";
    std::fs::write(folder.path().join("case.toml"), case).unwrap();
    let run = |set: &[&str]| {
        let args = set.iter().flat_map(|set| ["--set", set]);
        let args: Vec<_> = ["run", "case.toml", "--quiet"].into_iter().chain(args).collect();
        burntrace(folder.path(), &args)
    };
    assert_refused(&run(&[]), 2, &["u.vti", "along x differ", "field.periodic_axes = [\"x\"]"]);
    let closed = "field.periodic_axes=[\"x\"]";
    let open = "boundary.x=[\"exit\",\"exit\"]";
    assert_refused(&run(&[closed, open]), 2, &["the faces of x are not periodic", "boundary.x"]);
    assert_refused(
        &run(&[closed, "field.interpolation=nearest"]),
        2,
        &["interpolation = \"grid\""],
    );
    let output = run(&[closed]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let tracks = Tracks::open(folder.path().join("out/tracks")).unwrap();
    let [x, ..] = tracks.unwrapped(tracks.num_saves() - 1).unwrap()[0];
    assert!((x - 4.624).abs() < 5e-4, "{x}");
}

/// Layers that are equal already are not closed by another one, unless the case gives the period.
#[test]
fn repeated_layers_are_not_closed_again() {
    let folder = tempfile::tempdir().unwrap();
    let write = |speed: fn(f64) -> f64| {
        let row: String = (0..9).map(|i| format!("{} 0 0 ", speed(f64::from(i)))).collect();
        let file = format!(
            "<VTKFile type=\"ImageData\" version=\"0.1\" byte_order=\"LittleEndian\"><ImageData \
             WholeExtent=\"0 8 0 1 0 0\" Origin=\"0 0 0\" Spacing=\"1 1 1\"><Piece Extent=\"0 8 0 1 0 0\">\
             <PointData><DataArray type=\"Float64\" Name=\"U\" NumberOfComponents=\"3\" format=\"ascii\">\
             {row}{row}</DataArray></PointData></Piece></ImageData></VTKFile>"
        );
        std::fs::write(folder.path().join("u.vti"), file).unwrap();
    };
    let case = "[field]\nfiles = \"u.vti\"\nperiodic_axes = [\"x\"]\n[boundary]\nx = \"periodic\"\n\
        [seeds]\nkind = \"list\"\npoints = [[0.3, 0.5, 0.0]]\n[trace]\nt0 = 0.0\nt1 = 1.0\nsteps = 10\n\
        [run]\ndevice = \"flex\"\n[save]\nreport = \"never\"\n";
    std::fs::write(folder.path().join("case.toml"), case).unwrap();
    let run = |set: &[&str]| {
        let args = set.iter().flat_map(|set| ["--set", set]);
        let args: Vec<_> =
            ["run", "case.toml", "--quiet", "--overwrite"].into_iter().chain(args).collect();
        burntrace(folder.path(), &args)
    };
    write(|x| 1.0 + 0.5 * (std::f64::consts::TAU * x / 8.0).sin());
    let words = ["u.vti", "along x, at 8, repeats the first one", "omit \"x\"", "from 0 to 9"];
    assert_refused(&run(&[]), 2, &words);
    assert_refused(&run(&["domain.low=[0,0,0]", "domain.high=[8,1,0]"]), 2, &words);
    let of_case = ["domain.low=[0,0,0]", "domain.high=[9,1,0]"];
    for set in [&["field.periodic_axes=[]"][..], &of_case] {
        let output = run(set);
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    // A field that does not depend on x is closed by any layer.
    write(|_| 1.0);
    let output = run(&[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn warnings_and_notes_are_in_the_summary() {
    let folder = folder_with_case();
    let path = folder.path();
    assert!(run(path, &["--quiet"]).status.success());
    assert_eq!(summary(path)["warnings"], serde_json::json!([]));
    let args = ["--overwrite", "--set", "run.batch=", "--set", "field.file_dt=0.5"];
    let output = run(path, &args);
    let warnings = summary(path)["warnings"].clone();
    let expected = [
        "`--set run.batch=` has no effect: the case lacks this key",
        "`field.file_dt` has no effect: it belongs to `field.files`",
    ];
    assert_eq!(warnings, serde_json::json!(expected));
    let printed = text(&output.stderr);
    assert!(expected.iter().all(|warning| printed.contains(warning)), "{printed}");
    let quiet = run(path, &[&["--quiet"], &args[..]].concat());
    assert!(quiet.status.success() && quiet.stderr.is_empty(), "{}", text(&quiet.stderr));
    assert_eq!(summary(path)["warnings"], serde_json::json!(expected));
}

#[test]
fn steady_fields_without_times_name_all_missing_keys_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let case = "[field]\nflow = \"saddle\"\nsample = { nodes = [5, 5, 1] }\n\
        [domain]\nlow = [-1.0, -1.0, 0.0]\nhigh = [1.0, 1.0, 0.0]\n\
        [seeds]\nkind = \"grid\"\ncounts = [2, 2, 1]\n[run]\ndevice = \"flex\"\nout = \"out\"\n";
    std::fs::write(folder.path().join("case.toml"), case).unwrap();
    let output = burntrace(folder.path(), &["run", "case.toml"]);
    assert_refused(
        &output,
        2,
        &["t1, dt and steps are missing", "give two of them, such as t1 = 1"],
    );
}

#[test]
fn missing_files_are_named_once_with_what_to_give() {
    let folder = folder_with_case();
    let path = folder.path();
    let refused_once = |output: &Output, parts: &[&str]| {
        assert_refused(output, 2, parts);
        let message = text(&output.stderr);
        assert!(message.matches("No such file").count() <= 1, "{message}");
        assert!(!path.join("out").exists(), "{message}");
    };
    let set = |set: &[&str]| {
        let set: Vec<&str> = set.iter().flat_map(|set| ["--set", set]).collect();
        run(path, &set)
    };
    let seeds = "seeds={kind=\"file\",path=\"none.csv\"}";
    refused_once(&set(&[seeds]), &["cannot read", "none.csv"]);
    let surface = "obstacle=[{kind=\"surface\",path=\"none.stl\"}]";
    refused_once(&set(&[surface]), &["[[obstacle]] 1 of 1", "none.stl"]);
    let inlet = "inlet={kind=\"file\",path=\"none.csv\"}";
    let outlet = "boundary.x=[\"exit\",\"outlet\"]";
    refused_once(&set(&[inlet, outlet]), &["cannot read", "none.csv"]);
    refused_once(&burntrace(path, &["run", "none.toml"]), &["none.toml", "burntrace init"]);
    refused_once(&burntrace(path, &["run", "."]), &[". is a folder", "./case.toml", "--resume ."]);
    refused_once(
        &burntrace(path, &["run", "case.toml", "--set", "run.out=\"\""]),
        &["run.out is \"\"", "folder"],
    );
    std::fs::create_dir(path.join("empty")).unwrap();
    let resumed = burntrace(path, &["run", "--resume", "empty"]);
    refused_once(&resumed, &["empty contains no run", "give the folder of a stopped run"]);
}

#[test]
fn output_folders_that_cannot_be_made_are_refused_by_name() {
    let folder = folder_with_case();
    let path = folder.path();
    std::fs::write(path.join("file"), "").unwrap();
    for out in ["file/x", "file"] {
        let run = burntrace(path, &["run", "case.toml", "--set", "run.device=flex", "--out", out]);
        assert_refused(&run, 2, &["file is a file", "--out"]);
    }
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        let name = std::ffi::OsStr::from_bytes(b"bad\xff");
        for command in ["run", "sweep"] {
            let mut program = Command::new(env!("CARGO_BIN_EXE_burntrace"));
            program.current_dir(path).args([command, "case.toml", "--out"]).arg(name);
            program.args(SMALL);
            if command == "sweep" {
                program.args(["--vary", "trace.dt=0.1,0.05"]);
            }
            let output = program.output().unwrap();
            assert_refused(&output, 2, &["UTF-8", "bad\\xFF"]);
            assert!(!path.join(name).exists(), "{command}");
        }
    }
}

#[test]
fn numbers_of_options_are_refused_in_plain_words() {
    let folder = tempfile::tempdir().unwrap();
    for (args, part) in [
        (["run", "c.toml", "--threads", "two"], "give a whole number, 0 or more"),
        (["run", "c.toml", "--threads", "99999999999999999999"], "give a smaller number"),
        (["compare", "a", "--tolerance", "x"], "give a number"),
    ] {
        assert_refused(&burntrace(folder.path(), &args), 2, &["error: invalid value", part]);
    }
}

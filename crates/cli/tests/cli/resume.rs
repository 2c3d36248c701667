//! Stopped and killed runs: after resuming, their output is bit-identical to that of an
//! uninterrupted run.

use super::program::{assert_refused, burntrace, text};
use burntrace::io::Tracks;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// Re-injection, a source, a random walk, and a checkpoint at each save.
pub const REINJECTION: &str = "[field]\nflow = \"double-gyre\"\n\
    sample = { nodes = [65, 33, 2], start = 0.0, stop = 10.0, frames = 11 }\n\
    [domain]\nlow = [0.0, 0.0, 0.0]\nhigh = [2.0, 1.0, 1.0]\n\
    [boundary]\nx = [\"outlet\", \"outlet\"]\ny = [\"reflect\", \"reflect\"]\n\
    z = [\"periodic\", \"periodic\"]\n\
    [inlet]\nkind = \"face\"\nface = \"x-low\"\npattern = \"uniform\"\n\
    [[source]]\nrate = 300.0\ncapacity = 3000\ninlet = { kind = \"face\", face = \"x-low\" }\n\
    [seeds]\nkind = \"uniform\"\ncount = 9000\nseed = 4\n\
    [trace]\nscheme = \"rk4\"\nt1 = 10.0\nsteps = 400\n[walk]\ndiffusivity = 1e-2\nseed = 5\n\
    [[gate]]\nname = \"middle\"\nkind = \"plane\"\norigin = [1.0, 0.0, 0.0]\nnormal = [1.0, 0.2, 0.1]\n\
    [[gate]]\nname = \"core\"\nkind = \"sphere\"\ncentre = [0.5, 0.5, 0.5]\nradius = 0.3\n\
    [save]\nevery = 10\nvtk = [\"lines\"]\n\
    [run]\ndevice = \"flex\"\nout = \"out\"\ncheckpoint_segments = 1\n";

/// Adaptive steps.
pub const TOLERANCE: &str = "[field]\nflow = \"double-gyre\"\n\
    sample = { nodes = [65, 33, 1], start = 0.0, stop = 10.0, frames = 11 }\n\
    [boundary]\nx = [\"reflect\", \"reflect\"]\ny = [\"reflect\", \"reflect\"]\n\
    [seeds]\nkind = \"uniform\"\ncount = 6000\nseed = 4\n\
    [trace]\nscheme = \"dormand-prince\"\nt1 = 10.0\ntolerance = { relative = 1e-6, absolute = 1e-7 }\n\
    [save]\nevery_time = 0.25\nvelocity = true\n\
    [run]\ndevice = \"flex\"\nout = \"out\"\ncheckpoint_segments = 1\n";

/// Random numbers by xorshift.
pub struct Random(u64);

impl Random {
    /// Seeded from the time. The seed is printed, so that a failure can be reproduced.
    pub fn new() -> Self {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let seed = std::env::var("BURNTRACE_SEED").ok().and_then(|seed| seed.parse().ok());
        let seed = seed.unwrap_or(since.as_nanos() as u64 | 1);
        println!("BURNTRACE_SEED={seed}");
        Random(seed)
    }

    /// The same numbers each time.
    pub fn of(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Between 0 and 1.
    pub fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

pub fn folder_with(case: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("case.toml"), case).unwrap();
    folder
}

pub fn start(folder: &Path, args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_burntrace"));
    command.current_dir(folder).args(args).stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

pub fn succeed(folder: &Path, args: &[&str]) {
    let output = burntrace(folder, args);
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
}

/// Waits until a file contains some text.
pub fn wait_for(path: &Path, words: &str) {
    let start = Instant::now();
    while !std::fs::read(path).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(words)) {
        assert!(start.elapsed() < Duration::from_secs(60), "no `{words}` in {}", path.display());
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The bytes of all files in a folder, recursively.
pub fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => {
                    let name = path.strip_prefix(folder).unwrap().to_path_buf();
                    all.insert(name, std::fs::read(&path).unwrap());
                }
            }
        }
    }
    all
}

/// Asserts that two runs have identical tracks and counts.
pub fn assert_same(folder: &Path, names: [&str; 2]) {
    let [first, second] = names.map(|name| files(&folder.join(name).join("tracks")));
    let [keys, others] = [&first, &second].map(|files| files.keys().collect::<Vec<_>>());
    assert_eq!(keys, others, "{names:?}");
    assert!(keys.len() > 5);
    for (name, bytes) in &first {
        assert!(second[name] == *bytes, "{} differs in {names:?}", name.display());
    }
    let lines = names.map(|name| std::fs::read(folder.join(name).join("tracks.vtp")).ok());
    assert!(lines[0] == lines[1], "tracks.vtp differs in {names:?}");
    let [first, second] = names.map(|name| summary(folder, name));
    for key in ["status", "released", "particle_steps", "saves", "steps", "residence_time", "gates"]
    {
        assert_eq!(first[key], second[key], "{key}");
    }
    for name in names {
        assert!(!folder.join(name).join("checkpoint.bin").exists(), "{name} has ended");
    }
}

pub fn summary(folder: &Path, name: &str) -> serde_json::Value {
    let text = std::fs::read_to_string(folder.join(name).join("summary.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Kills runs at random times, and resumes them with other numbers of threads and batch sizes until
/// they end. Checks that their output equals that of an uninterrupted run.
fn kill_and_resume(folder: &Path, times: usize) {
    let whole = Instant::now();
    succeed(folder, &["run", "case.toml", "--quiet", "--out", "whole"]);
    let whole = whole.elapsed().as_secs_f64();
    let mut random = Random::new();
    let (mut killed, mut ended) = (0, 0);
    while killed < times || ended == 0 {
        let threads = format!("{}", 1 + killed % 2);
        let batch = format!("run.batch={}", [100_000, 2500, 7000][killed % 3]);
        let mut args = match folder.join("out/checkpoint.bin").exists() {
            true => vec!["run", "--resume", "out"],
            false => vec!["run", "case.toml", "--overwrite"],
        };
        args.extend(["--quiet", "--threads", &threads, "--set", &batch]);
        let mut child = start(folder, &args);
        if killed < times {
            std::thread::sleep(Duration::from_secs_f64(random.next() * 0.6 * whole));
            child.kill().unwrap();
        }
        let output = child.wait_with_output().unwrap();
        if output.status.code().is_none() {
            killed += 1;
            continue;
        }
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert_same(folder, ["whole", "out"]);
        let seconds = |key: &str| summary(folder, "out")["seconds"][key].as_f64().unwrap();
        assert!(seconds("trace") <= seconds("total"), "over all processes");
        ended += 1;
        println!("{killed} kills, resumed {} times", summary(folder, "out")["resumed"]);
    }
}

#[test]
fn killed_run_with_reinjection_resumes_to_identical_output() {
    kill_and_resume(folder_with(REINJECTION).path(), 5);
}

#[test]
fn killed_adaptive_run_resumes_to_identical_output() {
    kill_and_resume(folder_with(TOLERANCE).path(), 3);
}

#[test]
#[ignore = "minutes, by hand: `--ignored killed`; fewer kills are tested above"]
fn run_killed_fifty_times_resumes_to_identical_output() {
    kill_and_resume(folder_with(REINJECTION).path(), 50);
}

/// Starts a run, and sends it a signal once a file contains some text.
#[cfg(unix)]
fn stop(folder: &Path, args: &[&str], signal: &str, sign: (&str, &str)) -> Output {
    let child = start(folder, args);
    wait_for(&folder.join(sign.0), sign.1);
    if folder.join("out/checkpoint.bin").exists() {
        let both = burntrace(folder, &["run", "--resume", "out"]);
        assert_refused(&both, 2, &["out/log.txt", "still in progress"]);
        let info = text(&burntrace(folder, &["info", "out"]).stdout);
        assert!(info.contains("out, in progress"), "{info}");
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    child.wait_with_output().unwrap()
}

#[cfg(unix)]
#[test]
fn signalled_run_resumes_only_with_unchanged_input() {
    let folder = folder_with(REINJECTION);
    let path = folder.path();
    succeed(path, &["run", "case.toml", "--quiet", "--out", "whole"]);
    let sign = ("out/log.txt", "checkpoint");
    let args = ["run", "case.toml", "--quiet", "--set", "field.file_dt=0.1"];
    let output = stop(path, &args, "-TERM", sign);
    assert_refused(&output, 143, &["stopped at t = ", "resume with `burntrace run --resume out`"]);
    assert!(!path.join("out/summary.json").exists());

    assert_refused(&burntrace(path, &["run", "case.toml"]), 2, &["was stopped", "--resume out"]);
    let info = text(&burntrace(path, &["info", "out"]).stdout);
    for part in ["out, stopped; it can be resumed", "of 41", "burntrace run --resume out"] {
        assert!(info.contains(part), "`{part}` is not in: {info}");
    }
    let resume = |more: &[&str]| burntrace(path, &[&["run", "--resume", "out"], more].concat());
    let changed = resume(&["--set", "trace.steps=500"]);
    assert_refused(&changed, 2, &["trace.steps is 500 and was 400", "run.device, threads"]);
    assert_refused(&resume(&["--set", "run.precision=f64"]), 2, &["run.precision is \"f64\""]);
    let other = REINJECTION.replace("count = 9000", "count = 9001");
    std::fs::write(path.join("other.toml"), other).unwrap();
    assert_refused(&resume(&["other.toml"]), 2, &["seeds.count is 9001 and was 9000"]);
    assert_refused(&resume(&["--overwrite"]), 2, &["--overwrite"]);
    assert_refused(&resume(&["--set", "run.out=elsewhere"]), 2, &["run.out", "its folder out"]);
    assert!(!path.join("elsewhere").exists());

    let whole = std::fs::read(path.join("out/checkpoint.bin")).unwrap();
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 1;
    std::fs::write(path.join("out/checkpoint.bin"), &damaged).unwrap();
    assert_refused(
        &resume(&[]),
        2,
        &["checkpoint.bin", "checksum", "start again", "out/case.toml"],
    );
    std::fs::write(path.join("out/checkpoint.bin"), &whole).unwrap();

    let sign = ("out/log.txt", "run resumes");
    let output = stop(path, &["run", "--resume", "out", "--quiet"], "-INT", sign);
    if output.status.code() != Some(130) {
        // Before the first step, the signal ends the process directly.
        assert_eq!(output.status.code(), None, "{}", text(&output.stderr));
    }
    let output = resume(&["case.toml", "--set", "run.strategy=batched", "--threads", "1"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_same(path, ["whole", "out"]);
    assert!(summary(path, "out")["resumed"].as_u64().unwrap() >= 1);
    assert_eq!(summary(path, "out")["strategy"], "batched");
    assert_eq!(summary(path, "out")["device"]["description"], "this machine's CPU, 1 thread");
    // A warning from before the resume.
    let warnings = summary(path, "out")["warnings"].clone();
    assert!(
        warnings[0].as_str().unwrap().starts_with("`field.file_dt` has no effect"),
        "{warnings}"
    );
    let log = std::fs::read_to_string(path.join("out/log.txt")).unwrap();
    assert!(log.contains("run starts") && log.contains("run resumes"), "{log}");
    assert_refused(&resume(&[]), 2, &["has ended"]);
    assert_refused(&burntrace(path, &["run", "--resume", "none"]), 2, &["no folder none"]);
}

#[cfg(unix)]
#[test]
fn signal_without_checkpoints_leaves_complete_tracks() {
    let folder = folder_with(REINJECTION);
    let path = folder.path();
    let off = REINJECTION.replace("checkpoint_segments = 1", "checkpoint = 0");
    std::fs::write(path.join("case.toml"), off).unwrap();
    let sign = ("out/tracks/position/zarr.json", "zarr");
    let output = stop(path, &["run", "case.toml", "--quiet"], "-TERM", sign);
    assert_refused(&output, 143, &["stopped at t = ", "`run.checkpoint = 0`"]);
    let tracks = burntrace::io::Tracks::open(path.join("out/tracks")).unwrap();
    assert!(tracks.num_saves() < 41);
    assert_eq!(summary(path, "out")["cancelled"], true);
    assert_refused(&burntrace(path, &["run", "--resume", "out"]), 2, &["has ended"]);
    let both = burntrace(path, &["run", "case.toml", "--set", "run.checkpoint_segments=3"]);
    assert_refused(&both, 2, &["checkpoint_segments", "checkpoint = 0"]);
    let info = text(&burntrace(path, &["info", "out"]).stdout);
    assert!(info.contains("it cannot be resumed, as it has no checkpoint"), "{info}");
}

/// A step of the run takes minutes: a tolerance far below the resolution of the grid.
#[cfg(unix)]
#[test]
fn signal_within_a_long_launch_is_answered() {
    let folder = folder_with(&TOLERANCE.replace("1e-6", "1e-13").replace("1e-7", "1e-13"));
    let path = folder.path();
    let args = ["run", "case.toml", "--quiet", "--set", "seeds.count=200000"];
    let child = start(path, &args);
    wait_for(&path.join("out/tracks/position/zarr.json"), "zarr");
    std::thread::sleep(Duration::from_secs(2));
    let sent = Instant::now();
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    // A second, with room for a busy machine.
    assert!(sent.elapsed() < Duration::from_secs(5), "{:?}", sent.elapsed());
    assert_refused(&output, 130, &["within a segment", "`burntrace run --resume out`"]);
    assert!(path.join("out/checkpoint.bin").exists());
}

/// The first segment takes longer than the program waits for a run with checkpoints.
#[cfg(unix)]
#[test]
fn signal_within_a_long_segment_without_checkpoints_leaves_complete_tracks() {
    let folder = folder_with(&TOLERANCE.replace("checkpoint_segments = 1", "checkpoint = 0"));
    let path = folder.path();
    let tight = "trace.tolerance={relative=1e-10,absolute=1e-10}";
    let args = ["run", "case.toml", "--quiet", "--set", "seeds.count=30000", "--set", tight];
    let output = stop(path, &args, "-TERM", ("out/tracks/position/zarr.json", "zarr"));
    assert_refused(&output, 143, &["stopped at t = ", "`run.checkpoint = 0`"]);
    assert_eq!(summary(path, "out")["cancelled"], true);
}

/// Frames that are read while the run traces.
pub const SERIES: &str = "[field]\nfiles = \"u_*.vtk\"\nfile_dt = 0.25\n\
    periodic_axes = [\"x\", \"y\", \"z\"]\n\
    [boundary]\nx = [\"periodic\", \"periodic\"]\ny = [\"periodic\", \"periodic\"]\n\
    z = [\"periodic\", \"periodic\"]\n\
    [seeds]\nkind = \"sobol\"\ncount = 5000\n[trace]\ndt = 0.005\n[save]\nevery = 50\n\
    [run]\ndevice = \"flex\"\nout = \"out\"\nstrategy = \"streamed-frames\"\ncheckpoint_segments = 1\n";

/// Writes a frame of a rotating velocity, with another first number if given.
pub fn frame(folder: &Path, number: usize, first: Option<&str>) -> PathBuf {
    let mut values = String::new();
    for k in 0..9 * 9 * 9 {
        let angle = 0.1 * number as f64 + 0.01 * f64::from(k);
        values += &format!("{} {} 0.1\n", angle.cos(), angle.sin());
    }
    if let Some(first) = first {
        values = format!("{first} {}", values.split_once(' ').unwrap().1);
    }
    let path = folder.join(format!("u_{number:03}.vtk"));
    let file = format!(
        "# vtk DataFile Version 3.0\na frame\nASCII\nDATASET STRUCTURED_POINTS\nDIMENSIONS 9 9 9\n\
         ORIGIN 0 0 0\nSPACING 0.125 0.125 0.125\nPOINT_DATA 729\nVECTORS u double\n{values}"
    );
    std::fs::write(&path, file).unwrap();
    path
}

pub fn series() -> tempfile::TempDir {
    let folder = folder_with(SERIES);
    (0..40).for_each(|number| drop(frame(folder.path(), number, None)));
    folder
}

#[test]
fn missing_frame_stops_run_which_resumes_after_restoring_it() {
    let folder = series();
    let path = folder.path();
    succeed(path, &["run", "case.toml", "--quiet", "--out", "whole"]);
    assert_eq!(summary(path, "whole")["strategy"], "streamed-frames");
    let child = start(path, &["run", "case.toml", "--quiet"]);
    wait_for(&path.join("out/checkpoint.bin"), "BURNTRCP");
    let (file, aside) = (path.join("u_036.vtk"), path.join("aside"));
    std::fs::rename(&file, &aside).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_refused(&output, 1, &["frame 36", "u_036.vtk", "burntrace run --resume out"]);
    let resume = ["run", "--resume", "out", "--quiet"];
    let missing = ["u_036.vtk", "no longer exists", "--accept-changes"];
    assert_refused(&burntrace(path, &resume), 2, &missing);
    std::fs::rename(&aside, &file).unwrap();
    succeed(path, &[&resume[..], &["--set", "run.strategy=in-memory"]].concat());
    assert_same(path, ["whole", "out"]);
}

#[test]
fn nan_frame_stops_run_which_resumes_after_fixing_it() {
    let folder = series();
    let path = folder.path();
    succeed(path, &["run", "case.toml", "--quiet", "--out", "whole"]);
    frame(path, 30, Some("nan"));
    let output = burntrace(path, &["run", "case.toml", "--quiet"]);
    // One node, in all corners of a grid with closed axes.
    assert_refused(&output, 1, &["u_030.vtk", "frame 30 has 8 velocities", "--resume out"]);
    frame(path, 30, None);
    let resume = ["run", "--resume", "out", "--quiet"];
    assert_refused(&burntrace(path, &resume), 2, &["u_030.vtk", "--accept-changes"]);
    let output = burntrace(path, &[&resume[..2], &["out", "--accept-changes"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("warning"), "the change is reported");
    assert_same(path, ["whole", "out"]);
}

/// A small file system in memory, unmounted on drop.
struct Small(PathBuf);

impl Small {
    fn mount(at: &Path, options: &str) -> bool {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(at).stderr(Stdio::null());
        mount.status().is_ok_and(|status| status.success())
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        Command::new("umount").arg(&self.0).status().ok();
    }
}

#[test]
fn full_disk_stops_run_which_resumes_with_more_space() {
    let folder = folder_with(REINJECTION);
    let path = folder.path();
    succeed(path, &["run", "case.toml", "--quiet", "--out", "whole"]);
    let small = path.join("small");
    std::fs::create_dir(&small).unwrap();
    if !Small::mount(&small, "size=4m") {
        println!("skipped: no file system can be mounted here");
        return;
    }
    let _small = Small(small.clone());
    let output = burntrace(path, &["run", "case.toml", "--quiet", "--out", "small/out"]);
    assert_refused(&output, 1, &["o space left", "burntrace run --resume small/out"]);
    let resume = ["run", "--resume", "small/out", "--quiet"];
    assert_refused(&burntrace(path, &resume), 1, &["o space left"]);
    assert!(Small::mount(&small, "remount,size=64m"), "the file system grows");
    succeed(path, &resume);
    assert_same(path, ["whole", "small/out"]);
}

/// The bytes of the files in a folder.
fn bytes_of(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    let bytes = |entry: std::fs::DirEntry| match entry.path().is_dir() {
        true => bytes_of(&entry.path()),
        false => entry.metadata().unwrap().len(),
    };
    entries.map(bytes).sum()
}

#[test]
fn a_run_starts_with_the_least_memory_that_plan_accepts() {
    let folder = series();
    let succeeds = |command: &[&str], megabytes: u64| {
        let memory = format!("run.memory={megabytes}MB");
        let args = [command, &["case.toml", "--quiet", "--set", &memory]].concat();
        burntrace(folder.path(), &args).status.success()
    };
    let [mut too_little, mut enough] = [1, 1000];
    while enough - too_little > 1 {
        let middle = (too_little + enough) / 2;
        let side = if succeeds(&["plan"], middle) { &mut enough } else { &mut too_little };
        *side = middle;
    }
    assert!(succeeds(&["run", "--out", "enough"], enough), "{enough} MB");
    assert!(!succeeds(&["run", "--out", "too-little"], too_little), "{too_little} MB");
}

#[test]
fn plan_reports_memory_and_batches() {
    let folder = series();
    let plan = |more: &[&str]| burntrace(folder.path(), &[&["plan", "case.toml"], more].concat());
    let printed = text(&plan(&[]).stdout);
    for part in ["streamed-frames", "MiB", "at most", "12 frames at a time", "5000 particles"] {
        assert!(printed.contains(part), "`{part}` is not in: {printed}");
    }
    let json = plan(&["--json", "--set", "run.strategy=batched", "--set", "run.batch=700"]).stdout;
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!((&json["strategy"], &json["batches"]), (&"batched".into(), &8.into()));
    // The tracks are as large as planned, but for metadata and checksums.
    let tracks = &json["tracks"];
    assert_eq!(tracks["particles"], 5000);
    succeed(folder.path(), &["run", "case.toml", "--quiet", "--out", "sized"]);
    let stored = Tracks::open(folder.path().join("sized/tracks")).unwrap();
    assert_eq!(tracks["saves"], stored.num_saves());
    let [planned, written] =
        [tracks["bytes"].as_f64().unwrap(), bytes_of(&folder.path().join("sized/tracks")) as f64];
    assert!((0.9..1.3).contains(&(written / planned)), "{planned} {written}");
    let job = [("SLURM_JOB_ID", "1"), ("SLURM_MEM_PER_NODE", "300")];
    let limited = Command::new(env!("CARGO_BIN_EXE_burntrace"))
        .current_dir(folder.path())
        .args(["plan", "case.toml"])
        .envs(job)
        .output()
        .unwrap();
    assert!(text(&limited.stdout).contains("by the memory of the SLURM job"), "{limited:?}");
    assert!(text(&plan(&["--set", "run.memory=300MiB"]).stdout).contains("by run.memory"));
    assert_refused(&plan(&["--set", "run.memory=1MiB"]), 2, &["bytes"]);
    assert_refused(&plan(&["--set", "run.memory=lots"]), 2, &["\"lots\"", "3GiB"]);
    assert_refused(&plan(&["--set", "run.strategy=steamed"]), 2, &["did you mean `streamed`"]);
    let both = ["--set", "run.strategy=in-memory", "--set", "run.batch=700"];
    assert_refused(&plan(&both), 2, &["in-memory", "batch"]);
}

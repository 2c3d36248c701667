//! One run in several processes: byte-identical to one process, whichever of them are killed.

use super::meshes::{MESH, Mesh};
use super::program::{assert_refused, burntrace, text};
use super::requirements::skip;
use super::resume::{
    REINJECTION, Random, assert_same, files, folder_with, series, start, succeed, summary, wait_for,
};
use burntrace::io::Checkpoint;
use std::path::Path;
use std::process::{Child, Command, Output};
use std::time::{Duration, Instant};

/// The case with an inlet, a source and a walk, with few checkpoints.
fn busy() -> tempfile::TempDir {
    let case = REINJECTION.replace("checkpoint_segments = 1", "checkpoint_segments = 20");
    folder_with(&case.replace("capacity = 3000", "capacity = 400"))
}

const PIECES: [&str; 4] = ["--set", "seeds.count=900", "--set", "run.piece=130"];

/// Starts ranks with the same arguments.
fn start_ranks(folder: &Path, args: &[&str], count: usize) -> Vec<Child> {
    let rank = |index: usize| {
        let rank = format!("{index}/{count}");
        start(folder, &[args, &["--threads", "1", "--rank", &rank]].concat())
    };
    (0..count).map(rank).collect()
}

fn wait_all(ranks: Vec<Child>) -> Vec<Output> {
    ranks.into_iter().map(|rank| rank.wait_with_output().unwrap()).collect()
}

fn assert_success(outputs: &[Output]) {
    for output in outputs {
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
}

/// Runs a case in one process and in several, and compares all that they write.
fn assert_ranks(folder: &Path, settings: &[&str], count: usize) {
    let set: Vec<&str> = settings.iter().flat_map(|key| ["--set", key]).collect();
    let args = [&["run", "case.toml", "--quiet"], &set[..]].concat();
    succeed(folder, &[&args[..], &["--out", "whole"]].concat());
    let args = [&args[..], &["--out", "out"]].concat();
    assert_success(&wait_all(start_ranks(folder, &args, count)));
    assert_all_same(folder);
}

/// Compares tracks, counts, reports and last states of `whole` and `out`.
fn assert_all_same(folder: &Path) {
    assert_same(folder, ["whole", "out"]);
    let state = |name: &str| Checkpoint::read(folder.join(name).join("state.bin")).unwrap();
    let [whole, out] = ["whole", "out"].map(state);
    assert!(whole.names().eq(out.names()));
    for array in whole.names() {
        let bytes = |state: &Checkpoint| state.array::<u8>(array).unwrap();
        assert!(bytes(&whole) == bytes(&out), "{array} of the state");
    }
    let report = |name: &str| -> serde_json::Value {
        let text = std::fs::read_to_string(folder.join(name).join("report.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    let [whole, out] = ["whole", "out"].map(report);
    for part in ["statistics", "groups", "domain"] {
        assert_eq!(whole[part], out[part], "{part} of the report");
    }
    let names = |name: &str| -> Vec<String> {
        let entries = std::fs::read_dir(folder.join(name)).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    };
    assert_eq!(names("whole"), names("out"), "no parts are left");
    assert!(burntrace(folder, &["verify", "out"]).status.success());
}

#[test]
fn ranks_write_the_bytes_of_one_process() {
    let folder = busy();
    assert_ranks(folder.path(), &["seeds.count=900", "run.piece=130"], 3);
    let summary = summary(folder.path(), "out");
    assert_eq!(summary["ranks"]["pieces"], 10);
    let processes = summary["ranks"]["processes"].as_array().unwrap();
    let pieces: u64 = processes.iter().map(|of| of["pieces"].as_u64().unwrap()).sum();
    assert_eq!(pieces, 10);
    let log = std::fs::read_to_string(folder.path().join("out/log.txt")).unwrap();
    for rank in 0..3 {
        assert!(log.contains(&format!("rank {rank} of 3 joins")), "{log}");
    }
}

#[test]
fn extended_run_of_ranks_equals_one_long_run() {
    let folder = busy();
    let path = folder.path();
    let keys = |steps: &str, t1: &str| {
        let keys = ["seeds.count=900", "run.piece=130", t1, steps].map(String::from);
        keys.into_iter().flat_map(|key| ["--set".to_string(), key]).collect::<Vec<_>>()
    };
    let run = |start: &[&str], keys: &[String]| {
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        [start, &keys].concat().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let long = keys("trace.steps=400", "trace.t1=10");
    let call = |args: Vec<String>| {
        succeed(path, &args.iter().map(String::as_str).collect::<Vec<_>>());
    };
    call(run(&["run", "case.toml", "--quiet", "--out", "whole"], &long));
    let short = run(
        &["run", "case.toml", "--quiet", "--out", "first"],
        &keys("trace.steps=200", "trace.t1=5"),
    );
    let short: Vec<&str> = short.iter().map(String::as_str).collect();
    assert_success(&wait_all(start_ranks(path, &short, 2)));
    call(run(&["run", "--extend", "first", "--quiet", "--out", "out"], &long));
    assert_all_same(path);
    let several = ["run", "--extend", "first", "--out", "o", "--rank", "0/2"];
    assert_refused(&burntrace(path, &several), 2, &["--extend is for one process", "--rank 0/1"]);
}

#[test]
fn ranks_with_streamed_frames_write_the_bytes_of_one_process() {
    let folder = series();
    let settings = ["seeds.count=500", "run.piece=170", "run.checkpoint_segments=100"];
    assert_ranks(folder.path(), &settings, 2);
    assert_eq!(summary(folder.path(), "out")["strategy"], "streamed-frames");
}

#[test]
fn ranks_on_a_mesh_write_the_bytes_of_one_process() {
    let mesh = Mesh::cubes([6, 3, 3], |_| true).tetrahedra();
    let file = mesh.file("POINT_DATA", |[_, y, _]| [1.0 + 0.2 * y, 0.1, 0.0]);
    let case = format!(
        "[field]\n{MESH}\n[seeds]\nkind = \"uniform\"\ncount = 600\n[trace]\n\
         scheme = \"dormand-prince\"\nt1 = 4.0\ndt = 0.05\n\
         tolerance = {{ relative = 1e-5, absolute = 1e-6 }}\n[save]\nevery = 20\nvelocity = true\n\
         vtk = [\"lines\"]\n[run]\ndevice = \"flex\"\n"
    );
    let folder = folder_with(&case);
    std::fs::write(folder.path().join("u.vtk"), file).unwrap();
    assert_ranks(folder.path(), &["run.piece=130", "run.batch=50"], 2);
    let ended = &summary(folder.path(), "out")["ended"];
    assert!(ended.as_u64().unwrap() > 0, "{ended}");
    for run in ["whole", "out"] {
        std::fs::remove_dir_all(folder.path().join(run)).unwrap();
    }
    assert_devices(folder.path(), &["flex", "flex"], &["run.piece=130"]);
}

/// Runs a case on one device and on two, and compares all that they write.
fn assert_devices(folder: &Path, devices: &[&str], settings: &[&str]) -> serde_json::Value {
    let set: Vec<&str> = settings.iter().flat_map(|key| ["--set", key]).collect();
    let args = [&["run", "case.toml", "--quiet"], &set[..]].concat();
    succeed(folder, &[&args[..], &["--out", "whole", "--device", devices[0]]].concat());
    let devices = devices.iter().flat_map(|device| ["--device", device]);
    succeed(folder, &[&args[..], &["--out", "out"], &devices.collect::<Vec<_>>()[..]].concat());
    assert_all_same(folder);
    let summary = summary(folder, "out");
    let processes = summary["ranks"]["processes"].as_array().unwrap();
    let pieces: u64 = processes.iter().map(|of| of["pieces"].as_u64().unwrap()).sum();
    assert_eq!(summary["ranks"]["pieces"], pieces);
    summary
}

#[test]
fn two_devices_write_the_bytes_of_one() {
    let folder = busy();
    let path = folder.path();
    let pieces = ["seeds.count=900", "run.piece=130"];
    let summary = assert_devices(path, &["flex", "flex"], &pieces);
    let processes = summary["ranks"]["processes"].as_array().unwrap();
    assert_eq!(processes.len(), 2, "{processes:?}");
    assert_eq!(processes[0]["process"], processes[1]["process"]);
    let written = std::fs::read_to_string(path.join("out/case.toml")).unwrap();
    assert!(written.contains("device = [\"flex\", \"flex\"]"), "{written}");
    let plan = burntrace(path, &["plan", "case.toml", "--device", "flex,flex"]);
    assert!(text(&plan.stdout).contains("on each of 2 devices at a time (flex, flex)"));
    // A run on several devices replaces an earlier one.
    let before = files(&path.join("whole/tracks"));
    let set: Vec<&str> = pieces.iter().flat_map(|key| ["--set", key]).collect();
    let again =
        [&["run", "case.toml", "--quiet", "--overwrite", "--device", "flex,flex"], &set[..]];
    succeed(path, &again.concat());
    assert!(files(&path.join("out/tracks")) == before);
}

#[test]
fn two_devices_with_streamed_frames_write_the_bytes_of_one() {
    let folder = series();
    let settings = ["seeds.count=500", "run.piece=250", "run.checkpoint_segments=100"];
    let summary = assert_devices(folder.path(), &["flex", "flex"], &settings);
    assert_eq!(summary["strategy"], "streamed-frames");
}

#[test]
fn one_vulkan_device_twice_writes_the_bytes_of_one() {
    let folder = busy();
    let devices = text(&burntrace(folder.path(), &["devices"]).stdout);
    if !devices.lines().any(|line| line.starts_with("vulkan:0")) {
        return skip("vulkan", "there is no Vulkan device");
    }
    let small = ["seeds.count=200", "run.piece=150", "trace.steps=40", "source.capacity=100"];
    assert_devices(folder.path(), &["vulkan:0", "vulkan:0"], &small);
}

#[test]
fn several_devices_refuse_what_needs_one() {
    let folder = busy();
    let path = folder.path();
    let run = |more: &[&str]| burntrace(path, &[&["run", "case.toml"], more].concat());
    for (args, parts) in [
        (&["--device", "flex,ndarray"][..], &["`flex` and `ndarray`", "of one kind"][..]),
        (&["--device", "cuda:*"], &["cuda:*", "flex, ndarray"]),
        (&["--set", "run.device=[]"], &["run.device", "give the name of"]),
        (&["--device", "flex,flex", "--profile", "p.json"], &["--profile needs one device"]),
    ] {
        assert_refused(&run(args), 2, parts);
    }
    let vary = ["--vary", "walk.seed=1,2", "--out", "s", "--device", "flex,flex"];
    let sweep = burntrace(path, &[&["sweep", "case.toml"], &vary[..]].concat());
    assert_refused(&sweep, 2, &["a sweep needs one device"]);
}

/// Kills ranks at random moments, one of them or all, and resumes what is left with other numbers of ranks.
fn kill_ranks(folder: &Path, times: usize) {
    let new = [&["run", "case.toml", "--quiet"], &PIECES[..]].concat();
    let whole = Instant::now();
    succeed(folder, &[&new[..], &["--out", "whole"]].concat());
    let whole = whole.elapsed().as_secs_f64();
    let mut random = Random::new();
    let (mut killed, mut resumed, mut ended) = (0, 0, 0);
    while killed < times || ended == 0 {
        let is_resumed = folder.join("out/parts").exists();
        resumed += usize::from(is_resumed);
        let args = if is_resumed { vec!["run", "--resume", "out", "--quiet"] } else { new.clone() };
        let count = 2 + (random.next() * 3.0) as usize;
        let mut ranks = start_ranks(folder, &args, count);
        if killed < times {
            std::thread::sleep(Duration::from_secs_f64(random.next() * 1.2 * whole));
            // Every third time, only one of them: the others complete theirs.
            let few = if killed % 3 == 2 { 1 } else { count };
            ranks.iter_mut().take(few).for_each(|rank| rank.kill().unwrap());
            killed += 1;
        }
        let is_killed = |output: &Output| output.status.code().is_none();
        let outputs: Vec<Output> =
            wait_all(ranks).into_iter().filter(|output| !is_killed(output)).collect();
        assert_success(&outputs);
        let has = |name: &str| folder.join("out").join(name).exists();
        if has("parts") || !has("summary.json") {
            continue;
        }
        // A late rank removes what one that was killed has left, but makes no report.
        succeed(folder, &[&new[..], &["--rank", "0/2"]].concat());
        if !has("report.json") {
            succeed(folder, &["report", "out"]);
        }
        assert_all_same(folder);
        std::fs::remove_dir_all(folder.join("out")).unwrap();
        ended += 1;
    }
    println!("{killed} kills, {resumed} resumed, {ended} ended");
}

#[test]
fn killed_ranks_resume_to_identical_output() {
    kill_ranks(busy().path(), 3);
}

#[test]
#[ignore = "minutes, by hand: `--ignored killed`; fewer kills are tested above"]
fn ranks_killed_thirty_times_resume_to_identical_output() {
    kill_ranks(busy().path(), 30);
}

#[cfg(unix)]
#[test]
fn rank_that_was_stopped_leaves_its_piece_to_others() {
    let folder = busy();
    let path = folder.path();
    let long = ["--set", "seeds.count=20000", "--set", "run.piece=10000"];
    let args = [&["run", "case.toml", "--quiet"], &long[..]].concat();
    succeed(path, &[&args[..], &["--out", "whole"]].concat());
    let first = start(path, &[&args[..], &["--rank", "0/2"]].concat());
    wait_for(&path.join("out/case.toml"), "seeds");
    let info = text(&burntrace(path, &["info", "out"]).stdout);
    for part in ["out, in progress", "of 3 done", "joined at the end"] {
        assert!(info.contains(part), "`{part}` is not in: {info}");
    }
    let replaced = burntrace(path, &["run", "case.toml", "--overwrite"]);
    assert_refused(&replaced, 2, &["still in progress"]);
    let id = first.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    let output = first.wait_with_output().unwrap();
    assert_refused(&output, 143, &["stopped", "burntrace run --resume out"]);
    let info = text(&burntrace(path, &["info", "out"]).stdout);
    assert!(info.contains("out, stopped; it can be resumed"), "{info}");
    // One process goes on with the pieces of several.
    succeed(path, &["run", "--resume", "out", "--quiet"]);
    assert_all_same(path);
}

#[test]
fn rank_refuses_another_run_and_leaves_a_complete_one() {
    let folder = busy();
    let path = folder.path();
    let args = [&["run", "case.toml", "--rank", "1/2"], &PIECES[..]].concat();
    let call = |more: &[&str]| burntrace(path, &[&args[..], more].concat());
    // No rank waits for the others; the last one joins the pieces.
    let first = burntrace(path, &args);
    assert_success(std::slice::from_ref(&first));
    let left = "rank 1 of 2 has traced its pieces; 5 of 10 are left to other ranks";
    assert!(text(&first.stderr).contains(left), "{}", text(&first.stderr));
    let info = text(&burntrace(path, &["info", "out"]).stdout);
    assert!(info.contains("5 of 10 done"), "{info}");
    let other = [&["run", "case.toml", "--rank", "0/2"], &PIECES[..]].concat();
    let output = burntrace(path, &other);
    assert_success(std::slice::from_ref(&output));
    assert!(text(&output.stdout).contains("10 pieces of up to 130 particles by 2 processes:"));
    let late = call(&[]);
    assert_success(std::slice::from_ref(&late));
    assert!(text(&late.stderr).contains("is complete; rank 1 of 2 has nothing to do"));
    let before = files(&path.join("out"));
    let other = call(&["--set", "trace.steps=300"]);
    assert_refused(&other, 2, &["out contains an earlier run", "remove it"]);
    assert_refused(
        &call(&["--overwrite"]),
        2,
        &["--overwrite is for one process", "remove the folder"],
    );
    let resume = ["run", "--resume", "out", "--rank", "1/2"];
    let late = burntrace(path, &resume);
    assert_success(std::slice::from_ref(&late));
    assert!(text(&late.stderr).contains("is complete; rank 1 of 2 has nothing to do"));
    assert_refused(
        &burntrace(path, &["run", "--resume", "out"]),
        2,
        &["has ended and cannot be resumed"],
    );
    for rank in ["2/2", "a"] {
        let wrong = burntrace(path, &["run", "case.toml", "--rank", rank]);
        assert_refused(&wrong, 2, &["--rank", rank, "0/4"]);
    }
    assert_refused(
        &burntrace(path, &["run", "case.toml", "--set", "run.piece=0"]),
        2,
        &["run.piece"],
    );
    assert!(files(&path.join("out")) == before);
}

/// Without the name of a device, ranks ask which device is the fastest, and how many threads there are.
#[test]
fn ranks_of_each_launcher_run_on_the_default_device() {
    let folder = folder_with(&REINJECTION.replace("device = \"flex\"\n", ""));
    let path = folder.path();
    let small = ["seeds.count=100", "source.capacity=100", "run.piece=80", "trace.steps=20"];
    let cache = path.join("cache");
    let start = |[rank, size]: [&str; 2], index: usize| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_burntrace"));
        command.current_dir(path).args(["run", "case.toml", "--quiet", "--threads", "2"]);
        command.args(small.iter().flat_map(|key| ["--set", key])).env("XDG_CACHE_HOME", &cache);
        match rank {
            "--rank" => command.args([rank, &format!("{index}/{size}")]),
            _ => command.env(rank, index.to_string()).env(size, "2"),
        };
        command.stderr(std::process::Stdio::piped()).spawn().unwrap()
    };
    for launcher in [
        ["--rank", "2"],
        ["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"],
        ["PMI_RANK", "PMI_SIZE"],
        ["SLURM_PROCID", "SLURM_STEP_NUM_TASKS"],
    ] {
        assert_success(&wait_all((0..2).map(|index| start(launcher, index)).collect()));
        assert_eq!(summary(path, "out")["ranks"]["pieces"], 3, "{launcher:?}");
        std::fs::remove_dir_all(path.join("out")).unwrap();
    }
}

/// The launchers that work here, each with what a machine of two cores, or its administrator, needs beside what
/// `docs/guide/cluster.md` prints.
fn launchers() -> Vec<(&'static str, &'static [&'static str])> {
    let answers = |program: &str, args: &[&str]| {
        let output = Command::new(program).args(args).output();
        output.is_ok_and(|output| output.status.success() && !output.stdout.is_empty())
    };
    let open_mpi: (_, &[&str]) = ("mpirun", &["--oversubscribe", "--allow-run-as-root"]);
    let slurm: (_, &[&str]) = ("srun", &["--overcommit", "--quiet"]);
    let all = [
        ("mpirun", answers("mpirun", &["--version"]), open_mpi),
        ("mpich", answers("mpiexec.hydra", &["--version"]), ("mpiexec.hydra", &[])),
        // Without its daemons, or on a node at work, `srun` waits.
        ("slurm", answers("sinfo", &["--noheader", "--states", "idle"]), slurm),
    ];
    let works = |(name, works, launcher): (&str, bool, _)| {
        if !works {
            skip(name, "its launcher is missing or does not work");
        }
        works.then_some(launcher)
    };
    all.into_iter().filter_map(works).collect()
}

#[test]
fn launchers_start_ranks_that_write_the_bytes_of_one_process() {
    let folder = busy();
    let path = folder.path();
    succeed(path, &[&["run", "case.toml", "--quiet", "--out", "whole"], &PIECES[..]].concat());
    for (program, args) in launchers() {
        let counts = ["1", "2", "3", "4"].map(|count| (count, "flex"));
        for (count, device) in counts.into_iter().chain([("2", "auto")]) {
            let mut ranks = Command::new(program);
            ranks.current_dir(path).args(args).args(["-n", count]);
            ranks.arg(env!("CARGO_BIN_EXE_burntrace")).args(["run", "case.toml", "--quiet"]);
            ranks.args(PIECES).args(["--device", device]);
            assert_success(&[ranks.output().unwrap()]);
            // The default device may be another one.
            if device == "flex" {
                assert_all_same(path);
            }
            std::fs::remove_dir_all(path.join("out")).unwrap();
        }
    }
}

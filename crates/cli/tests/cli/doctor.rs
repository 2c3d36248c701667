//! `burntrace doctor`.

use super::program::{burntrace, text};
use super::requirements::skip;
use std::path::Path;
use std::process::Command;

#[test]
fn doctor_gives_the_limits_the_answers_and_what_to_install() {
    let [folder, caches] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let output = Command::new(env!("CARGO_BIN_EXE_burntrace"))
        .current_dir(folder.path())
        .args(["doctor", "--json"])
        .envs([("SLURM_JOB_ID", "7"), ("SLURM_CPUS_PER_TASK", "1"), ("SLURM_MEM_PER_NODE", "512")])
        // Of the drivers of graphics cards, none: their tests are slow on a CPU.
        .env("VK_ICD_FILENAMES", "/nowhere")
        .env("VK_DRIVER_FILES", "/nowhere")
        .env("XDG_CACHE_HOME", caches.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let devices = json["devices"].as_array().unwrap();
    for name in ["flex", "ndarray"] {
        let device = devices.iter().find(|device| device["name"] == name).unwrap();
        assert_eq!((&device["kind"], &device["answer"]["is_right"]), (&"cpu".into(), &true.into()));
        assert!(device["answer"]["speed"].as_f64().unwrap() > 1e5, "{device}");
    }
    // The job has one CPU.
    assert_eq!(json["limits"]["threads"], 1);
    let from = json["limits"]["threads_from"].as_str().unwrap();
    let threads = std::thread::available_parallelism().unwrap().get();
    assert_eq!(from == "the CPUs of the SLURM job", threads > 1, "{from}");
    assert_eq!(json["limits"]["memory_from"], "the memory of the SLURM job");
    assert_eq!(json["limits"]["slurm"]["cpus"], 1);
    assert_eq!(json["limits"]["slurm"]["memory"], 512 << 20);
    let advice = json["advice"].as_array().unwrap();
    let has = |part: &str| advice.iter().any(|text| text.as_str().unwrap().contains(part));
    assert_eq!(has("runs take 1 of"), threads > 1, "{advice:?}");
    assert!(json["speeds"]["memory"].as_f64().unwrap() > 1e8);
    let kept = caches.path().join("burntrace/devices.json");
    assert_eq!(json["auto"]["kept"], kept.to_str().unwrap());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
    auto_is_the_fastest_of_the_kept_measurement(caches.path(), &kept);
}

/// The CPU is the only device that may be chosen here, so the test changes the measurement.
fn auto_is_the_fastest_of_the_kept_measurement(caches: &Path, kept: &Path) {
    let auto = || {
        let output = Command::new(env!("CARGO_BIN_EXE_burntrace"))
            .args(["devices", "--json"])
            .envs([("VK_ICD_FILENAMES", "/nowhere"), ("VK_DRIVER_FILES", "/nowhere")])
            .env("XDG_CACHE_HOME", caches)
            .output()
            .unwrap();
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        json["auto"].as_str().unwrap().to_string()
    };
    assert_eq!(auto(), "flex");
    let mut all: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(kept).unwrap()).unwrap();
    let change = |all: &serde_json::Value| std::fs::write(kept, all.to_string()).unwrap();
    let faster = serde_json::json!({ "name": "ndarray", "description": "", "speed": 1e12 });
    all[0]["devices"].as_array_mut().unwrap().push(faster);
    change(&all);
    assert_eq!(auto(), "ndarray");
    all[0]["conditions"]["machine"]["threads"] = 12_345.into();
    change(&all);
    assert_eq!(auto(), "flex", "measured under other conditions");
}

#[test]
fn answer_of_an_unknown_device_is_an_error() {
    let output = burntrace(&std::env::temp_dir(), &["doctor", "--check", "abacus"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("abacus"));
}

#[test]
fn compilations_are_counted_and_timed_on_cards_only() {
    let folder = tempfile::tempdir().unwrap();
    let case = "[field]\nflow = \"double-gyre\"\nsample = { nodes = [9, 9, 1], start = 0.0, stop = 0.5, frames = 2 }\n\
                [seeds]\nkind = \"uniform\"\ncount = 10\n[trace]\nt1 = 0.5\ndt = 0.1\n[run]\nout = \"out\"\n";
    std::fs::write(folder.path().join("case.toml"), case).unwrap();
    let run = |device: &str| {
        let args = ["run", "case.toml", "--overwrite", "--json", "--quiet", "--device", device];
        let output = burntrace(folder.path(), &args);
        assert!(output.status.success(), "{}", text(&output.stderr));
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    let cpu = run("flex");
    assert_eq!(cpu["seconds"]["compile"], 0.0);
    assert_eq!(cpu["compilations"], 0);
    let devices = burntrace(folder.path(), &["devices"]);
    if !text(&devices.stdout).lines().any(|line| line.starts_with("vulkan:0")) {
        return skip("vulkan", "there is no Vulkan device");
    }
    let card = run("vulkan:0");
    assert!(card["seconds"]["compile"].as_f64().unwrap() > 0.0, "{card}");
    assert!(card["compilations"].as_u64().unwrap() >= card["kernels"].as_u64().unwrap(), "{card}");
    let log = std::fs::read_to_string(folder.path().join("out/log.txt")).unwrap();
    assert!(!log.contains("ERROR"), "{log}");
}

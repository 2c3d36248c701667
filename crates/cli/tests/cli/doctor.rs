//! `burntrace doctor`.

use super::program::{burntrace, text};
use std::process::Command;

#[test]
fn doctor_gives_the_limits_the_answers_and_what_to_install() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_burntrace"))
        .current_dir(folder.path())
        .args(["doctor", "--json"])
        .envs([("SLURM_JOB_ID", "7"), ("SLURM_CPUS_PER_TASK", "1"), ("SLURM_MEM_PER_NODE", "512")])
        // Of the drivers of graphics cards, none: their tests are slow on a CPU.
        .env("VK_ICD_FILENAMES", "/nowhere")
        .env("VK_DRIVER_FILES", "/nowhere")
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
    let threads = std::thread::available_parallelism().unwrap().get();
    assert_eq!(json["limits"]["threads"], threads);
    assert_eq!(json["limits"]["slurm"]["cpus"], 1);
    assert_eq!(json["limits"]["slurm"]["memory"], 512 << 20);
    let advice = json["advice"].as_array().unwrap();
    let has = |part: &str| advice.iter().any(|text| text.as_str().unwrap().contains(part));
    assert_eq!(has("set run.threads = 1"), threads > 1, "{advice:?}");
    assert!(json["speeds"]["memory"].as_f64().unwrap() > 1e8);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
}

#[test]
fn answer_of_an_unknown_device_is_an_error() {
    let output = burntrace(&std::env::temp_dir(), &["doctor", "--check", "abacus"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("abacus"));
}

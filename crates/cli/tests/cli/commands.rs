//! Commands that write case files, completions, manual pages and the page of a run.

use super::program::{assert_refused, burntrace, text};
use std::path::Path;
use std::process::{Command, Output};

/// A run of a few particles in the folder `run`.
fn small_run(folder: &Path) -> Output {
    let case = "[field]\nflow = \"saddle\"\nsample = { nodes = [5, 5, 1] }\n\
        [domain]\nlow = [-1.0, -1.0, 0.0]\nhigh = [1.0, 1.0, 0.0]\n[boundary]\nx = \"slide\"\n\
        [seeds]\nkind = \"grid\"\ncounts = [4, 4, 1]\n\
        [trace]\nt0 = 0.0\nt1 = 0.1\nsteps = 2\n[run]\ndevice = \"flex\"\nout = \"run\"\n";
    std::fs::write(folder.join("case.toml"), case).unwrap();
    burntrace(folder, &["run", "case.toml"])
}

#[test]
fn init_writes_a_file_and_replaces_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let printed = text(&burntrace(path, &["init"]).stdout);
    let written = burntrace(path, &["init", "case.toml"]);
    assert!(written.status.success(), "{}", text(&written.stderr));
    assert!(text(&written.stdout).contains("burntrace run case.toml"));
    let read = || std::fs::read_to_string(path.join("case.toml")).unwrap();
    assert_eq!(read(), printed);
    let parts = ["case.toml exists", "another name"];
    assert_refused(&burntrace(path, &["init", "case.toml", "--for", "mesh"]), 2, &parts);
    assert_eq!(read(), printed);
    assert_refused(
        &burntrace(path, &["init", "none/case.toml"]),
        1,
        &["cannot write `none/case.toml`"],
    );
}

#[test]
fn init_writes_the_schema_of_case_files() {
    let folder = tempfile::tempdir().unwrap();
    let written = burntrace(folder.path(), &["init", "case.schema.json", "--schema"]);
    assert!(text(&written.stdout).contains("#:schema case.schema.json"), "{written:?}");
    let schema = std::fs::read_to_string(folder.path().join("case.schema.json")).unwrap();
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    assert_eq!(schema["properties"]["trace"]["properties"]["t1"]["type"][0], "number");
    let both = burntrace(folder.path(), &["init", "--schema", "--for", "mesh"]);
    assert_refused(&both, 2, &["--schema", "--for"]);
}

/// The templates differ from a case that runs by the names of their files only.
#[test]
fn templates_run_with_files_of_their_kind() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data");
    let folder = tempfile::tempdir().unwrap();
    for (kind, file) in
        [("mesh", "vtk/raw.vtu"), ("grid", "formats/image_0.vti"), ("points", "vtk/raw.vtu")]
    {
        let case = format!("{kind}.toml");
        assert!(burntrace(folder.path(), &["init", &case, "--for", kind]).status.success());
        let files = format!("field.files={:?}", data.join(file));
        let (few, out) = ("seeds.count=50", format!("{kind}-run"));
        let args = [
            "run", &case, "--quiet", "--set", &files, "--set", few, "--out", &out, "--device",
            "flex",
        ];
        let output = burntrace(folder.path(), &args);
        assert!(output.status.success(), "{kind}: {}", text(&output.stderr));
        assert_eq!(text(&output.stderr), "", "{kind}");
        assert!(folder.path().join(out).join("tracks.vtp").exists());
    }
}

#[test]
fn a_run_says_that_only_its_end_is_saved() {
    let folder = tempfile::tempdir().unwrap();
    let output = small_run(folder.path());
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("only the end is saved; save.every"));
    let more = ["run", "case.toml", "--overwrite", "--set", "save.every=1"];
    assert!(!text(&burntrace(folder.path(), &more).stderr).contains("only the end"));
}

#[test]
fn export_and_verify_print_json_or_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    assert!(small_run(path).status.success());
    let json = |args: &[&str]| -> serde_json::Value {
        serde_json::from_slice(&burntrace(path, args).stdout).unwrap()
    };
    let exported = json(&["export", "run", "--to", "csv", "--json"]);
    assert_eq!(exported, serde_json::json!({ "file": "run/tracks.csv", "rows": 16 }));
    let verified = json(&["verify", "run", "--json"]);
    assert_eq!(
        (&verified["is_intact"], &verified["damage"]),
        (&true.into(), &serde_json::json!([]))
    );
    let ftle = ["ftle", "run", "--quiet"];
    for args in [&["export", "run", "--to", "csv", "-q"][..], &["verify", "run", "--quiet"], &ftle]
    {
        let output = burntrace(path, args);
        assert!(output.status.success() && output.stdout.is_empty(), "{args:?}");
    }
    std::fs::write(path.join("run/tracks/position/zarr.json"), "{}").unwrap();
    let output = burntrace(path, &["verify", "run", "--json"]);
    assert_refused(&output, 1, &["damaged or missing", "position/zarr.json"]);
    let verified: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(verified["is_intact"], false);
    assert!(verified["damage"][0].as_str().unwrap().contains("position/zarr.json"), "{verified}");
}

#[test]
fn completions_and_pages_have_all_commands() {
    let folder = tempfile::tempdir().unwrap();
    let commands = ["run", "sweep", "ftle", "view", "completions"];
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = text(&burntrace(folder.path(), &["completions", shell]).stdout);
        assert!(commands.iter().all(|name| script.contains(name)), "{shell}");
        assert!(script.contains("no-open"), "{shell}");
    }
    assert_refused(&burntrace(folder.path(), &["completions", "tcsh"]), 2, &["tcsh", "bash"]);
    let page = text(&burntrace(folder.path(), &["man"]).stdout);
    assert!(page.contains(".TH burntrace 1"), "{page}");
    assert!(burntrace(folder.path(), &["man", "--out", "man/man1"]).status.success());
    for name in commands {
        let page = folder.path().join(format!("man/man1/burntrace-{name}.1"));
        assert!(std::fs::read_to_string(page).unwrap().contains(".SH SYNOPSIS"), "{name}");
    }
}

#[test]
fn help_says_what_a_command_computes() {
    let folder = tempfile::tempdir().unwrap();
    let help = |args: &[&str]| text(&burntrace(folder.path(), args).stdout);
    assert!(help(&["ftle", "--help"]).contains("finite-time Lyapunov exponents"));
    assert!(help(&["render", "--help"]).contains("--color <COLOR>"));
    for command in ["density", "ftle"] {
        let help = help(&[command, "--help"]);
        assert!(!help.contains("--color <") && help.contains("--colors <"), "{help}");
    }
}

#[cfg(unix)]
#[test]
fn view_opens_the_page_in_the_browser() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    assert!(small_run(path).status.success());
    let view = |browser: &Path, args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_burntrace"));
        command.current_dir(path).args(["view", "run"]).args(args).env("BROWSER", browser);
        command.output().unwrap()
    };
    let browser = path.join("browser");
    let opened = path.join("opened");
    // Renamed, so that the file is complete when it is there.
    let script =
        format!("#!/bin/sh\nprintf %s \"$1\" >{0}.part\nmv {0}.part {0}\n", opened.display());
    std::fs::write(&browser, script).unwrap();
    std::fs::set_permissions(&browser, PermissionsExt::from_mode(0o755)).unwrap();

    let output = view(&browser, &["--no-open"]);
    assert_eq!(text(&output.stdout).trim(), "run/page.html");
    std::fs::remove_file(path.join("run/page.html")).unwrap();
    assert!(!opened.exists());

    let output = view(&browser, &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let waits = std::time::Duration::from_millis(20);
    (0..500)
        .find(|_| {
            std::thread::sleep(waits);
            opened.exists()
        })
        .unwrap();
    let page = std::fs::read_to_string(&opened).unwrap();
    assert_eq!(Path::new(&page), path.join("run/page.html"));
    assert!(std::fs::read_to_string(page).unwrap().starts_with("<!"));

    let output = view(Path::new("/nowhere/browser"), &[]);
    assert_refused(&output, 1, &["no browser opened run/page.html", "BROWSER", "--no-open"]);
}

/// A file whose values take most of the free memory, of which most would be written by the system as zeros.
#[cfg(target_os = "linux")]
#[test]
fn values_that_do_not_fit_into_memory_are_refused_from_the_header() {
    let folder = tempfile::tempdir().unwrap();
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap();
    let free = memory.lines().find_map(|line| line.strip_prefix("MemAvailable:")).unwrap();
    let free: u64 = free.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024;
    let layers = 3 * free / 4 / (12 * 1000 * 1000);
    let nodes = layers * 1000 * 1000;
    let header = format!(
        "# vtk DataFile Version 3.0\nt\nBINARY\nDATASET STRUCTURED_POINTS\nDIMENSIONS 1000 1000 {layers}\n\
         ORIGIN 0 0 0\nSPACING 1 1 1\nPOINT_DATA {nodes}\nVECTORS U float\n"
    );
    let path = folder.path().join("u.vtk");
    std::fs::write(&path, &header).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    // A file with a hole, which some file systems do not have.
    if file.set_len(header.len() as u64 + 12 * nodes).is_err() {
        return;
    }
    let output = burntrace(folder.path(), &["info", "u.vtk"]);
    let printed = text(&output.stdout);
    assert!(output.status.success(), "{printed}");
    let problem = format!("array `U`: cannot allocate memory for {} values", 3 * nodes);
    assert!(printed.contains(&problem), "{printed}");
}

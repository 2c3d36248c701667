//! `--quiet` and `--json` of all commands.

use super::program::{assert_refused, burntrace, fixture, text};
use serde_json::{Value, json};
use std::path::Path;

/// A run of a few particles in the folder `run`, all of which leave through the upper face of x.
fn run(set: &[&str]) -> tempfile::TempDir {
    let case = "[field]\nflow = \"uniform\"\nsample = { nodes = [5, 5, 1] }\n\
        [domain]\nlow = [0.0, 0.0, 0.0]\nhigh = [2.0, 1.0, 0.0]\n[boundary]\ny = \"reflect\"\n\
        [seeds]\nkind = \"grid\"\ncounts = [4, 4, 1]\nlow = [0.5, 0.25, 0.0]\nhigh = [1.0, 0.75, 0.0]\n\
        [trace]\nt0 = 0.0\nt1 = 0.8\nsteps = 8\n[save]\nevery = 2\nreport = \"never\"\n\
        [units]\nlength = \"m\"\ntime = \"s\"\n[run]\ndevice = \"flex\"\nout = \"run\"\n";
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("case.toml"), case).unwrap();
    let mut args = vec!["run", "case.toml", "-q"];
    set.iter().for_each(|set| args.extend(["--set", set]));
    assert_silent(folder.path(), &args);
    folder
}

/// Asserts that a command succeeds and prints nothing.
#[track_caller]
fn assert_silent(folder: &Path, args: &[&str]) {
    let output = burntrace(folder, args);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success() && out.is_empty() && err.is_empty(), "{args:?}: {out}{err}");
}

/// The one JSON document that a command prints, with the given arguments and `--json`.
#[track_caller]
fn document(folder: &Path, args: &[&str]) -> Value {
    let output = burntrace(folder, &[args, &["--json"]].concat());
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{args:?}: {error}"))
}

/// Asserts that all files of a list exist, and returns their names.
#[track_caller]
fn existing(folder: &Path, files: &Value) -> Vec<String> {
    let files = files.as_array().unwrap().iter();
    let name = |file: &Value| {
        let path = Path::new(file.as_str().unwrap());
        assert!(folder.join(path).is_file(), "{}", path.display());
        path.file_name().unwrap().to_string_lossy().into_owned()
    };
    files.map(name).collect()
}

#[test]
fn every_command_is_quiet_or_prints_one_document() {
    let folder = run(&[]);
    let path = folder.path();
    std::fs::write(path.join("at.csv"), "x,y,z\n1,-0.75,3\n").unwrap();
    let data = fixture("series").join("u_2.vti").display().to_string();
    let probe = ["probe", &data, "--at", "at.csv"];
    for args in [
        &["info", "run"][..],
        &["info", &data],
        &["plan", "case.toml"],
        &["check", "case.toml", "--particles", "8"],
        &probe,
        &["density", "run", "--nodes", "9", "--save", "0,1", "--gif", "--seconds", "0.2"],
        &["ftle", "run", "--save", "1"],
        &["render", "run", "--size", "640x480"],
        &["render", "run", "--html"],
        &["render", "run", "--gif", "--seconds", "0.2", "--size", "320x240"],
        &["view", "run", "--no-open"],
        &["report", "run"],
        &["export", "run", "--to", "csv"],
        &["compare", "run", "run", "--tolerance", "0"],
        &["verify", "run"],
        &["devices"],
    ] {
        assert_silent(path, &[args, &["--quiet"]].concat());
        assert_silent(path, &[args, &["-q"]].concat());
        document(path, args);
    }
}

#[test]
fn documents_have_the_files_and_numbers() {
    let folder = run(&[]);
    let path = folder.path();
    let rendered = document(path, &["render", "run", "--size", "640x480"]);
    let files = existing(path, &rendered["files"]);
    assert!(files.contains(&"tracks.png".into()) && files.contains(&"density.png".into()));
    assert_eq!(rendered["captions"].as_array().unwrap().len(), files.len());
    assert_eq!(rendered["captions"][0], "Tracks of 16 of 16 particles.");
    assert_eq!(rendered["page"], Value::Null);
    let viewed = document(path, &["view", "run", "--no-open", "--particles", "4"]);
    assert_eq!(existing(path, &viewed["files"]), ["page.html"]);
    let page = &viewed["page"];
    assert_eq!((&page["particles"], &page["saves"]), (&json!(4), &json!(5)));
    let bytes = std::fs::metadata(path.join("run/page.html")).unwrap().len();
    assert_eq!(page["bytes"], bytes);

    let densities = document(path, &["density", "run", "--save", "0,2", "--nodes", "9"]);
    assert_eq!(existing(path, &densities[1]["files"]), ["density_00002.vti", "density_00002.png"]);
    let note = densities[0]["notes"][0].as_str().unwrap();
    assert!(note.contains("the colours of all pictures go from 0 to"), "{note}");

    std::fs::write(path.join("at.csv"), "x,y,z\n1,-0.75,3\n-9,0,0\n").unwrap();
    let data = fixture("series").join("u_2.vti").display().to_string();
    let probe = ["probe", &data, "--at", "at.csv"];
    let printed = text(&burntrace(path, &probe).stdout);
    let table = document(path, &probe);
    let names: Vec<&str> = printed.lines().next().unwrap().split(',').collect();
    assert_eq!(table["columns"], json!(names));
    assert_eq!(table["count"], 2);
    let first = table["rows"][0].as_array().unwrap();
    let cells = printed.lines().nth(1).unwrap().split(',');
    let numbers: Vec<f64> = cells.map(|cell| cell.parse().unwrap()).collect();
    assert_eq!(first.iter().map(|x| x.as_f64().unwrap()).collect::<Vec<_>>(), numbers);
    assert_eq!(table["rows"][1][4], Value::Null, "outside the field");
    let written = document(path, &[&probe[..], &["--out", "values.csv"]].concat());
    assert_eq!((&written["file"], &written["count"]), (&json!("values.csv"), &json!(2)));
    assert_eq!(std::fs::read_to_string(path.join("values.csv")).unwrap(), printed);
}

/// Notes and warnings are not errors: they are in the document, and `--quiet` turns them off.
#[test]
fn notes_are_in_the_document_and_not_in_quiet_output() {
    let folder = run(&["trace.t1=1.6", "save.every=1"]);
    let path = folder.path();
    // The last saves have no active particles.
    let args = ["density", "run", "--save", "all", "--no-pictures", "--nodes", "9"];
    let notes = document(path, &args)[0]["notes"].to_string();
    assert!(notes.contains("has no active particles; it is skipped"), "{notes}");
    let printed = text(&burntrace(path, &args).stderr);
    assert!(printed.contains("it is skipped"), "{printed}");
    assert_silent(path, &[&args[..], &["--quiet"]].concat());
    let plan = ["plan", "case.toml", "--set", "field.file_dt=0.5"];
    let notes = document(path, &plan)["notes"].to_string();
    assert!(notes.contains("`field.file_dt` has no effect"), "{notes}");
    assert_silent(path, &[&plan[..], &["-q"]].concat());
    let bench =
        ["bench", "--devices", "flex", "--workload", "w1", "--particles", "100", "--steps", "2"];
    assert_silent(
        path,
        &[&bench[..], &["--repeats", "1", "--json", "bench.json", "--quiet"]].concat(),
    );
    assert!(path.join("bench.json").is_file());
    // Errors remain.
    let none = ["density", "run", "--save", "last", "-q"];
    assert_refused(&burntrace(path, &none), 2, &["has no active particles"]);
    let differs = ["compare", "run", "run", "--tolerance=-1", "-q"];
    assert_refused(&burntrace(path, &differs), 2, &["give a length of 0 or more"]);
}

/// Lines that are not known are left out.
#[test]
fn info_prints_speed_and_memory_of_a_velocity_only() {
    let folder = tempfile::tempdir().unwrap();
    let file = "# vtk DataFile Version 3.0\nt\nASCII\nDATASET STRUCTURED_POINTS\nDIMENSIONS 2 2 1\n\
        ORIGIN 0 0 0\nSPACING 1 1 1\nPOINT_DATA 4\nVECTORS u float\n3 4 0 0 0 0 1 0 0 0 nan 0\n\
        VECTORS w float\n9 0 0 9 0 0 9 0 0 9 0 0\n";
    std::fs::write(folder.path().join("two.vtk"), file).unwrap();
    let info = |args: &[&str]| {
        text(&burntrace(folder.path(), &[&["info", "two.vtk"], args].concat()).stdout)
    };
    let ambiguous = info(&[]);
    assert!(ambiguous.contains("velocity   ambiguous"), "{ambiguous}");
    assert!(!ambiguous.contains("memory") && !ambiguous.contains("speed"), "{ambiguous}");
    let named = info(&["--velocity", "u"]);
    assert!(named.contains("speed      up to 5\n"), "{named}");
    assert!(named.contains("memory     64 B on a device in f32, 128 B in f64"), "{named}");
    assert!(named.contains("frames     1 file, steady\n"), "{named}");
}

/// Blocks of seeds and sources are choices on the page, if there are several.
#[test]
fn the_page_has_the_sources_of_the_case() {
    let header = |set: &[&str], expected: &str| {
        let folder = run(set);
        let output = burntrace(folder.path(), &["view", "run", "--no-open"]);
        assert_eq!((output.status.success(), text(&output.stderr).as_str()), (true, ""));
        let page = std::fs::read_to_string(folder.path().join("run/page.html")).unwrap();
        assert!(page.contains(expected), "no {expected}");
    };
    header(&[], "\"sources\":null");
    let burst =
        "source=[{burst={time=0.1,count=3},inlet={kind=\"points\",points=[[0.5,0.5,0.0]]}}]";
    header(&[burst], "\"sources\":[\"Seeds 1 (grid)\",\"Source 1 (points)\"]");
}

/// The page has the densities of the store, at their times, instead of estimates from the particles.
#[test]
fn the_page_has_the_densities_of_the_store() {
    let folder = run(&[]);
    let path = folder.path();
    let slice = |args: &[&str]| -> (Value, String) {
        let output = burntrace(path, &[&["view", "run", "--no-open"], args].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        let page = std::fs::read_to_string(path.join("run/page.html")).unwrap();
        let (_, rest) = page.split_once("\"slices\":[").unwrap();
        let first = serde_json::Deserializer::from_str(rest).into_iter().next().unwrap().unwrap();
        (first, text(&output.stderr))
    };
    let (estimated, _) = slice(&[]);
    assert_eq!(estimated["times"].as_array().unwrap().len(), 5);
    let density = |args: &[&str]| {
        assert_silent(path, &[&["density", "run", "-q", "--no-pictures"], args].concat());
    };
    density(&["--save", "1,3", "--nodes", "8x5", "--number", "--bandwidth", "0.2"]);
    let (stored, notes) = slice(&[]);
    assert_eq!(stored["times"], json!([0.2, 0.6000000000000001]));
    assert_eq!((&stored["counts"], &stored["unit"]), (&json!([8, 5]), &json!("1/m²")));
    assert_eq!((&stored["title"], &stored["normal_axis"]), (&json!("density"), &json!(2)));
    assert!(notes.contains("density of 2 of 5 saves") && notes.contains("--save all"), "{notes}");
    // One save is shown beside estimates that follow the time.
    density(&["--save", "2", "--nodes", "9x5"]);
    let (estimated_again, notes) = slice(&[]);
    assert_eq!((&estimated_again, &*notes), (&estimated, ""));
    let page = std::fs::read_to_string(path.join("run/page.html")).unwrap();
    assert!(page.contains("\"title\":\"density, t = 0.4 s\""));
    // All saves, without a note.
    density(&["--save", "all", "--nodes", "8x5"]);
    let (stored, notes) = slice(&[]);
    assert_eq!((stored["times"].as_array().unwrap().len(), &*notes), (5, ""));
    // Densities along a line are not shown.
    density(&["--axes", "x", "--save", "all"]);
    let (estimated_again, notes) = slice(&[]);
    assert_eq!(estimated_again, estimated);
    assert!(notes.contains("they are along a line"), "{notes}");
    std::fs::write(path.join("run/tracks/density/c.4.0.0.0"), "short").unwrap();
    let (estimated_again, notes) = slice(&[]);
    assert_eq!(estimated_again, estimated);
    assert!(notes.contains("compute it again with `burntrace density`"), "{notes}");
}

/// Of three dimensions, the layer with the maximum; a projection is named.
#[test]
fn the_page_has_a_plane_of_stored_densities_in_three_dimensions() {
    let set = [
        "field.sample={nodes=[3,3,3]}",
        "domain.high=[2.0,1.0,1.0]",
        "seeds.counts=[4,4,3]",
        "seeds.low=[0.5,0.25,0.7]",
        "seeds.high=[1.0,0.75,0.8]",
    ];
    let folder = run(&set);
    let path = folder.path();
    let title = |args: &[&str]| -> (String, f64) {
        let common = ["density", "run", "-q", "--no-pictures", "--save", "all"];
        assert_silent(path, &[&common, args].concat());
        assert_silent(path, &["view", "run", "--no-open", "-q"]);
        let page = std::fs::read_to_string(path.join("run/page.html")).unwrap();
        let (_, rest) = page.split_once("\"slices\":[").unwrap();
        let slice: Value =
            serde_json::Deserializer::from_str(rest).into_iter().next().unwrap().unwrap();
        (slice["title"].as_str().unwrap().into(), slice["position"].as_f64().unwrap())
    };
    let (of_layer, position) = title(&["--nodes", "9x9x5"]);
    assert_eq!((&*of_layer, position), ("density at z = 0.75 m", 0.75));
    assert_eq!(title(&["--axes", "xy"]), ("density, projected along z".into(), 0.0));
    assert_eq!(title(&["--slice", "x=0.5"]), ("density at x = 0.5 m".into(), 0.5));
}

/// In a job with 300 MiB, the lines of 20,000 particles at 161 saves need more: the run keeps its tracks, and says so before and after.
#[test]
fn lines_that_do_not_fit_into_memory_are_left_out() {
    let folder = run(&["save.report=never"]);
    let in_job = |args: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_burntrace"));
        command.current_dir(folder.path()).args(args);
        command.envs([("SLURM_JOB_ID", "1"), ("SLURM_MEM_PER_NODE", "300")]).output().unwrap()
    };
    let many = ["seeds.counts=[200,100,1]", "trace.t1=0.05", "trace.steps=160", "save.every=1"];
    let many = many.iter().flat_map(|set| ["--set", set]).collect::<Vec<_>>();
    let set = [&["run", "case.toml", "--out", "large", "--set", "save.vtk=[\"lines\"]"], &many[..]];
    let output = in_job(&set.concat());
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("20,000 particles at 161 saves are lines that need up to"), "{said}");
    assert!(said.contains("its 3220000 points need 0.5 GB of memory"), "{said}");
    let large = folder.path().join("large");
    assert!(!large.join("tracks.vtp").exists());
    let summary = std::fs::read_to_string(large.join("summary.json")).unwrap();
    assert!(summary.contains("burntrace export large --to vtp --every-save 10"), "{summary}");
    let whole = in_job(&["export", "large", "--to", "vtp"]);
    assert_refused(&whole, 1, &["need 0.5 GB of memory", "select fewer saves or particles"]);
    let part = in_job(&["export", "large", "--to", "vtp", "--every-save", "10", "-q"]);
    assert!(part.status.success(), "{}", text(&part.stderr));
}

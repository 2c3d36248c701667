//! Figures of runs: on paper, as panels, with fields behind tracks, of ends and streaklines.

use super::program::{assert_refused, burntrace};
use super::results::done;
use serde_json::Value;
use std::path::Path;

/// A uniform flow of 1 m/s to the right, whose particles leave at the right or stay for the run.
const CHANNEL: &str = "[field]\nflow = \"uniform\"\nsample = { nodes = [5, 5, 1] }\n\
    [domain]\nlow = [0.0, 0.0, 0.0]\nhigh = [4.0, 2.0, 0.0]\n\
    [boundary]\nx = [\"exit\", \"exit\"]\ny = [\"reflect\", \"reflect\"]\n\
    [seeds]\nkind = \"grid\"\ncounts = [6, 4, 1]\nlow = [0.5, 0.5, 0.0]\nhigh = [3.0, 1.5, 0.0]\n\
    [trace]\nt0 = 0.0\nt1 = 2.0\ndt = 0.05\n[save]\nevery = 10\n\
    [units]\nlength = \"m\"\ntime = \"s\"\n\
    [run]\ndevice = \"flex\"\nprecision = \"f64\"\nout = \"out\"\n";

/// Runs the channel with settings, and returns its folder.
fn run(set: &[&str]) -> tempfile::TempDir {
    super::results::run(CHANNEL, &[&["save.report=\"never\""], set].concat())
}

fn rendered(folder: &Path, args: &[&str]) -> Value {
    let args = [&["render"], args, &["--json"]].concat();
    serde_json::from_str(&done(&burntrace(folder, &args))).unwrap()
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn figures_have_a_size_on_paper_and_a_style_file() {
    let folder = run(&[]);
    let path = folder.path();
    let style = "size = \"84mmx60mm\"\nfont-size = 7\ncolors = \"magma\"\nno-heading = true\n";
    std::fs::write(path.join("paper.toml"), style).unwrap();
    let json = rendered(path, &["out", "--pdf", "--svg", "--style", "paper.toml", "--out", "p"]);
    let files: Vec<&str> =
        json["files"].as_array().unwrap().iter().map(|f| f.as_str().unwrap()).collect();
    for name in ["tracks.svg", "tracks.pdf", "density.svg", "density.pdf"] {
        assert!(files.iter().any(|file| file.ends_with(name)), "{name}: {files:?}");
    }
    assert_eq!(json["captions"].as_array().unwrap().len(), files.len());
    assert_eq!(json["bytes"].as_array().unwrap().len(), files.len());
    let svg = read(path, "p/pictures/tracks.svg");
    assert!(svg.contains("width=\"83.99mm\"") && !svg.contains("Tracks of"), "{svg:.600}");
    let pdf = std::fs::read(path.join("p/pictures/tracks.pdf")).unwrap();
    assert!(pdf.starts_with(b"%PDF-1.7"));
    let refused = |args: &[&str], parts: &[&str]| {
        assert_refused(&burntrace(path, &[&["render", "out"], args].concat()), 2, parts);
    };
    refused(&["--size", "84mm"], &["84mm", "such as 84mmx60mm"]);
    refused(
        &["--size", "84mmx60mm", "--font-size", "90"],
        &["font_size", "90", "a tenth of the shorter side"],
    );
    refused(&["--style", "none.toml"], &["none.toml", "No such file"]);
    std::fs::write(path.join("wrong.toml"), "colour = \"magma\"\n").unwrap();
    refused(&["--style", "wrong.toml"], &["unknown field `colour`", "colors"]);
}

#[test]
fn ends_and_statuses_are_told_apart() {
    let folder = run(&[]);
    let path = folder.path();
    let json = rendered(path, &["out", "--svg", "--color", "status"]);
    let captions = json["captions"].to_string();
    // Columns at 2.5 and 3 have left after 2 s, and that at 2 is on the face at the end of the run.
    assert!(captions.contains("Where 8 ended particles ended, and how."), "{captions}");
    let ends = read(path, "out/pictures/end_positions.svg");
    assert!(
        ends.contains(">Ends of 8 particles<") && ends.contains(">exited x-high<"),
        "{ends:.900}"
    );
    // One dot of each, and no category that does not occur.
    assert_eq!(ends.matches("<circle").count(), 8);
    assert!(!ends.contains(">active<"));
    let tracks = read(path, "out/pictures/tracks.svg");
    assert!(tracks.contains(">active<") && tracks.contains(">exited x-high<"), "{tracks:.900}");
    // Particles of a source, in slots that have had others.
    let source = "source=[{rate=5.0,capacity=4,inlet={kind=\"points\",points=[[3.0,1.0,0.0]]}}]";
    let of_source = run(&[source, "seeds={kind=\"list\",points=[[0.5,0.5,0.0]]}"]);
    rendered(of_source.path(), &["out", "--svg", "--color", "status"]);
    let tracks = read(of_source.path(), "out/pictures/tracks.svg");
    assert!(tracks.contains(">active<") && tracks.contains(">exited x-high<"), "{tracks:.900}");
    assert!(!tracks.contains("No status"), "{tracks:.900}");
    rendered(of_source.path(), &["out", "--svg", "--color", "source"]);
    let tracks = read(of_source.path(), "out/pictures/tracks.svg");
    assert!(
        tracks.contains(">Seeds 1 (list)<") && tracks.contains(">Source 1 (points)<"),
        "{tracks:.900}"
    );
    let refused = |args: &[&str], parts: &[&str]| {
        assert_refused(&burntrace(path, &[&["render", "out"], args].concat()), 2, parts);
    };
    refused(&["--color", "taste"], &["`taste`", "speed, age, time, seed, status, source"]);
    refused(&["--color", "source"], &["come from one source"]);
    refused(&["--streaklines"], &["no streaklines", "seeds.repeat"]);
}

#[test]
fn streaklines_join_the_particles_of_a_position() {
    let repeat = [
        "seeds={kind=\"list\",points=[[0.5,0.5,0.0],[0.5,1.0,0.0]],repeat={every=0.25,until=1.5}}",
    ];
    let folder = run(&repeat);
    let path = folder.path();
    let json = rendered(path, &["out", "--svg", "--streaklines"]);
    assert!(json["captions"].to_string().contains("released at each of 2 positions"), "{json}");
    let svg = read(path, "out/pictures/streaklines.svg");
    assert!(
        svg.contains(">Streaklines of 2 positions<") && svg.contains(">Age (s)<"),
        "{svg:.900}"
    );
    // Particles released at 0, 0.25, .., 1.5: six coloured lines for each position; axes are grey.
    let is_colored = |path: &&str| {
        let parts = [1, 3, 5].map(|at| u8::from_str_radix(&path[at..at + 2], 16).unwrap());
        parts.iter().max().unwrap() - parts.iter().min().unwrap() > 40
    };
    let paths = svg.split("<path stroke=\"").skip(1).filter(is_colored);
    let lines = |path: &str| path.split("/>").next().unwrap().matches('L').count();
    assert_eq!(paths.map(lines).sum::<usize>(), 12, "{svg}");
}

#[test]
fn a_field_is_drawn_behind_tracks() {
    let folder = run(&[]);
    let path = folder.path();
    let json = rendered(path, &["out", "--svg", "--background", "speed"]);
    assert!(json["files"].to_string().contains("tracks.svg"));
    let svg = read(path, "out/pictures/tracks.svg");
    assert!(
        svg.contains(">Speed (m/s)<") && svg.contains("behind: speed at the last save"),
        "{svg:.900}"
    );
    // A uniform speed of 1: the bar is around it.
    assert!(svg.contains(">1.0"), "{svg:.2000}");
    let refused = |args: &[&str], parts: &[&str]| {
        assert_refused(&burntrace(path, &[&["render", "out"], args].concat()), 2, parts);
    };
    refused(&["--background", "speed", "--view", "3d"], &["--view xy"]);
    refused(&["--background", "taste"], &["taste"]);
    refused(&["--background", "speed", "--color", "age"], &["field behind tracks has the colours"]);
}

#[test]
fn the_last_time_of_a_run_can_be_drawn() {
    let folder = run(&[]);
    let path = folder.path();
    rendered(path, &["out", "--svg", "--last", "0.5"]);
    assert!(read(path, "out/pictures/tracks.svg").contains(">t = 1.5 to 2 s, 2 of 5 saves<"));
    rendered(path, &["out", "--svg", "--last", "1 s"]);
    assert!(read(path, "out/pictures/tracks.svg").contains(">t = 1 to 2 s, 3 of 5 saves<"));
    let refused = burntrace(path, &["render", "out", "--last", "soon"]);
    assert_refused(&refused, 2, &["--last soon"]);
}

#[test]
fn runs_are_panels_of_one_picture() {
    let folder = run(&[]);
    let path = folder.path();
    done(&burntrace(
        path,
        &["run", "case.toml", "--quiet", "--set", "trace.t1=1.0", "--out", "short"],
    ));
    let json = rendered(path, &["out", "short", "--svg", "--color", "status", "--out", "p"]);
    assert_eq!(json["files"], serde_json::json!(["p/panels.svg"]));
    assert_eq!(json["captions"][0], "Tracks of out, short, in the same box and colours.");
    let svg = read(path, "p/panels.svg");
    assert!(svg.contains(">(a) out<") && svg.contains(">(b) short<"), "{svg:.900}");
    // Categories have the same colours in both, though others are more frequent.
    assert_eq!(svg.matches(">exited x-high<").count(), 2);
    let refused = |args: &[&str], parts: &[&str]| {
        assert_refused(&burntrace(path, &[&["render"], args].concat()), 2, parts);
    };
    refused(&["out", "short", "--gif"], &["--gif is for one run", "2 are given"]);
    refused(&["out", "--columns", "2"], &["--columns is for panels"]);
    refused(&["out", "missing"], &["missing"]);
}

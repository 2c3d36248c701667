//! Five workflows of the guide from files to pictures, reports and pages, compared with numbers, texts and small
//! pictures in `tests/golden`; `BURNTRACE_GOLDEN=write` writes them.
//!
//! Machines differ by rounding, which decides where a few particles go. So numbers may differ by 1 %, and
//! pictures are compared by the means of blocks of 8 x 8 pixels.
#![cfg(unix)]

use super::browser::{Browser, Shot};
use super::guide::case_of;
use super::program::{burntrace, text};
use super::requirements::flow_data;
use serde_json::Value;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Size of the pictures.
const SIZE: &str = "480x320";
/// Side of the blocks of a picture in pixels; references have their means.
const BLOCK: usize = 8;

/// The standard output of a command that must succeed.
fn done(folder: &Path, args: &[&str]) -> String {
    let output = burntrace(folder, args);
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

fn json(folder: &Path, args: &[&str]) -> Value {
    serde_json::from_str(&done(folder, &[args, &["--json", "-q"]].concat())).unwrap()
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

fn is_writing() -> bool {
    std::env::var("BURNTRACE_GOLDEN").is_ok_and(|value| value == "write")
}

/// Runs a case with settings in the folder `run`.
fn run(case: &str, set: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    run_in(folder.path(), case, set);
    folder
}

fn run_in(folder: &Path, case: &str, set: &[&str]) {
    std::fs::write(folder.join("case.toml"), case).unwrap();
    let mut args = vec!["run", "case.toml", "-q", "--out", "run", "--device", "flex"];
    set.iter().for_each(|set| args.extend(["--set", set]));
    done(folder, &args);
}

/// Compares counts, times and positions of a run, its report, its pictures, tracks on light and density on dark,
/// and what its page shows when it opens.
fn check(folder: &Path, name: &str) {
    let report = json(folder, &["report", "run"]);
    let all = &report["statistics"]["all"];
    let mut found = String::new();
    let mut add = |key: &str, value: &Value| writeln!(found, "{key} {value}").unwrap();
    ["released", "active", "ended"].iter().for_each(|key| add(key, &all[key]));
    // Of fewer particles, rounding may change too much.
    let ends = all["ends"].as_array().unwrap().iter();
    for end in ends.filter(|end| end["count"].as_u64().unwrap() >= 20) {
        let name = end["status"].to_string().replace(['"', ' '], "");
        add(&format!("ended.{name}"), &end["count"]);
        add(&format!("time.{name}"), &end["residence"]["mean"]);
    }
    let last = all["saves"].as_array().unwrap().last().unwrap();
    for (axis, centroid) in ["x", "y", "z"].iter().zip(last["centroid"].as_array().unwrap()) {
        add(&format!("centroid.{axis}"), centroid);
    }
    add("speed", &last["mean_speed"]);
    compare_numbers(&found, &format!("{name}.txt"));
    done(folder, &["render", "run", "-q", "--size", SIZE]);
    done(folder, &["render", "run", "-q", "--size", SIZE, "--dark", "--out", "dark"]);
    compare_pictures(&folder.join("run/pictures/tracks.png"), &format!("{name}_tracks.png"));
    compare_pictures(&folder.join("dark/pictures/density.png"), &format!("{name}_density.png"));
    check_report(folder, name);
    check_page(folder, name);
}

/// Compares the words and the tables of a report, without its numbers, up to the costs; the HTML file has the same
/// pictures.
fn check_report(folder: &Path, name: &str) {
    let report = std::fs::read_to_string(folder.join("run/report.md")).unwrap();
    let (report, _) = report.split_once("## What the run cost").unwrap();
    let html = std::fs::read_to_string(folder.join("run/report.html")).unwrap();
    let embedded = html.matches("<img src=\"data:image/png;base64,").count();
    assert_eq!(embedded, report.matches("![").count());
    let reference = golden(&format!("{name}_report.md"));
    if is_writing() {
        return std::fs::write(reference, report).unwrap();
    }
    let reference = std::fs::read_to_string(reference).unwrap();
    assert_eq!(without_numbers(report), without_numbers(&reference), "{name}: {report}");
}

/// A text with each word that has a digit replaced, and without the rows of a few particles, which rounding may
/// change.
fn without_numbers(text: &str) -> String {
    let is_few = |row: &str| {
        let count = row.split('|').nth(2).map(|cell| cell.trim().parse());
        matches!(count, Some(Ok(0..20_u64)))
    };
    let word = |word: &str| {
        if word.contains(|c: char| c.is_ascii_digit()) { "#" } else { word }.to_owned()
    };
    let line = |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ");
    text.lines().filter(|line| !is_few(line)).map(line).collect::<Vec<_>>().join("\n")
}

/// Compares what the page of a run shows in the browser when it opens, without the labels, whose font is the
/// machine's.
fn check_page(folder: &Path, name: &str) {
    let Some(browser) = Browser::new() else { return };
    browser.prefer("light");
    done(folder, &["view", "run", "-q", "--no-open"]);
    browser.open(&folder.join("run/page.html"));
    browser.script("document.querySelector('#labels').hidden = true");
    assert_eq!(browser.console_messages(), Vec::<String>::new());
    let Shot { width, pixels, .. } = browser.shot("#scene");
    let page = Pixels { width, rgb: pixels.into_flattened() };
    compare_small(&page.small(), &format!("{name}_page.png"));
}

/// Compares the numbers of two lists.
fn compare_numbers(found: &str, name: &str) {
    let path = golden(name);
    if is_writing() {
        return std::fs::write(path, found).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    let parse = |text: &str| -> Vec<(String, f64)> {
        let pairs = text.lines().map(|line| line.split_once(' ').unwrap());
        pairs.map(|(key, value)| (key.into(), value.parse().unwrap_or(f64::NAN))).collect()
    };
    let [found, expected] = [found, &expected].map(parse);
    let released = expected[0].1;
    let keys = |list: &[(String, f64)]| list.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>();
    assert_eq!(keys(&found), keys(&expected), "{name}");
    for ((key, now), (_, before)) in found.iter().zip(&expected) {
        let is_count = ["released", "active", "ended"].iter().any(|name| key.starts_with(name));
        let limit = 0.01 * if is_count { released } else { before.abs() };
        let are_alike = (now - before).abs() <= limit || (now.is_nan() && before.is_nan());
        assert!(are_alike, "{name}: {key} is {now} and was {before}");
    }
}

/// A picture: its width, and red, green and blue of each pixel.
pub struct Pixels {
    width: usize,
    pub rgb: Vec<u8>,
}

impl Pixels {
    pub fn read(path: &Path) -> Pixels {
        let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
        let mut reader = png::Decoder::new(file).read_info().unwrap();
        let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut rgb).unwrap();
        Pixels { width: info.width as usize, rgb }
    }

    fn write(&self, path: &Path) {
        let height = self.rgb.len() / 3 / self.width;
        let file = std::fs::File::create(path).unwrap();
        let mut encoder = png::Encoder::new(file, self.width as u32, height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.write_header().unwrap().write_image_data(&self.rgb).unwrap();
    }

    /// The mean colour of each block; what is left of them at the right and the lower side does not count.
    fn small(&self) -> Pixels {
        let (width, height) = (self.width / BLOCK, self.rgb.len() / 3 / self.width / BLOCK);
        let mut sums = vec![[0; 3]; width * height];
        for (pixel, color) in self.rgb.chunks_exact(3).enumerate() {
            let [row, column] = [pixel / self.width, pixel % self.width].map(|side| side / BLOCK);
            if row < height && column < width {
                (0..3).for_each(|c| sums[row * width + column][c] += usize::from(color[c]));
            }
        }
        let rgb = sums.iter().flatten().map(|sum| (sum / (BLOCK * BLOCK)) as u8).collect();
        Pixels { width, rgb }
    }

    /// The fraction of pixels that differ by more than 12 of 255 in a colour.
    fn difference(&self, other: &Pixels) -> f64 {
        assert_eq!((self.width, self.rgb.len()), (other.width, other.rgb.len()));
        let pairs = self.rgb.chunks_exact(3).zip(other.rgb.chunks_exact(3));
        let is_other = |(a, b): &(&[u8], &[u8])| (0..3).any(|c| a[c].abs_diff(b[c]) > 12);
        pairs.clone().filter(is_other).count() as f64 / pairs.len() as f64
    }
}

/// Compares the block means of a picture with a reference: at most 1 % differ.
fn compare_pictures(path: &Path, name: &str) {
    compare_small(&Pixels::read(path).small(), name);
}

fn compare_small(found: &Pixels, name: &str) {
    let reference = golden(name);
    if is_writing() {
        return found.write(&reference);
    }
    let difference = found.difference(&Pixels::read(&reference));
    assert!(difference <= 0.01, "{name}: {difference} of the blocks differ");
}

/// Seeds where the flow is, as in the recipe of a body.
#[test]
fn artery() {
    let Some(data) = flow_data("carotid.vtk") else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let data = data.display().to_string();
    let speeds = json(path, &["probe", &data, "--at", &data, "--fields", "vectors"]);
    let mut seeds = String::from("x,y,z\n");
    for row in speeds["rows"].as_array().unwrap() {
        let row: Vec<f64> = row.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
        if row[4..7].iter().map(|v| v * v).sum::<f64>() > 25.0 {
            writeln!(seeds, "{},{},{}", row[0], row[1], row[2]).unwrap();
        }
    }
    std::fs::write(path.join("seeds.csv"), seeds).unwrap();
    let case = format!(
        "[field]\nfiles = {data:?}\n[seeds]\nkind = \"file\"\npath = \"seeds.csv\"\n\
         [trace]\nt0 = 0.0\nt1 = 5.0\ndt = 0.02\nstagnant_speed = 1e-3\n[save]\nevery_time = 0.1\n\
         [units]\nlength = \"mm\"\ntime = \"s\"\n"
    );
    run_in(path, &case, &[]);
    check(path, "artery");
}

#[test]
fn vessel() {
    let Some(data) = flow_data("blood_vessels/T0000000500.pvtu") else { return };
    let case = format!(
        "[field]\nfiles = {data:?}\ninterpolation = \"mesh\"\n[boundary]\nmesh = \"slide\"\n\
         [seeds]\nkind = \"mesh\"\ncount = 1000\n[trace]\nt0 = 0.0\nt1 = 400.0\ndt = 1.0\n\
         [save]\nevery_time = 10.0\n"
    );
    check(run(&case, &[]).path(), "vessel");
}

#[test]
fn kitchen() {
    let Some(data) = flow_data("kitchen.vtk") else { return };
    let case = case_of("recipes/plume.md", "room.toml");
    let files = format!("field.files={data:?}");
    let set = [
        &files,
        "field.velocity=velocity",
        "save.fields=[]",
        "source[0].rate=20",
        "source[0].capacity=1200",
    ];
    check(run(&case, &set).path(), "kitchen");
}

#[test]
fn inlet() {
    let case = case_of("recipes/inlet.md", "inlet.toml");
    check(run(&case, &["trace.t1=20"]).path(), "inlet");
}

#[test]
fn double_gyre() {
    let case = case_of("recipes/double-gyre.md", "gyre.toml");
    let folder = run(&case, &["seeds.counts=[200,100,1]"]);
    check_report(folder.path(), "double_gyre");
    check_page(folder.path(), "double_gyre");
    let ftle = json(folder.path(), &["ftle", "run", "--size", SIZE, "--dark"]);
    let mut found = String::from("released 20000\n");
    for key in ["min", "max", "missing", "time"] {
        writeln!(found, "{key} {}", ftle[key]).unwrap();
    }
    compare_numbers(&found, "double_gyre.txt");
    compare_pictures(&folder.path().join("run/ftle/ftle_00001.png"), "double_gyre_ftle.png");
}

#[test]
fn a_shifted_picture_differs_from_the_reference() {
    for name in ["inlet_tracks.png", "inlet_density.png", "double_gyre_ftle.png"] {
        let picture = Pixels::read(&golden(name));
        let mut rgb = picture.rgb.clone();
        rgb.rotate_right(3 * picture.width);
        let shifted = Pixels { width: picture.width, rgb };
        assert!(picture.difference(&shifted) > 0.05, "{name}");
        assert_eq!(picture.difference(&picture), 0.0);
    }
}

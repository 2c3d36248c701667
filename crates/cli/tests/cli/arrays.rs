//! Arrays beside the velocity: along the tracks of a run, and at given places.

use super::program::{assert_refused, burntrace, text};
use super::resume::{assert_same, succeed, summary};
use burntrace::io::Tracks;
use std::path::Path;

/// Image data of 6 x 5 x 3 nodes with unit spacing and a velocity of (1, 0.5, 0), and with the point arrays `T`
/// and `tau` and the cell array `id`; `T` grows with the frame.
fn write_frame(folder: &Path, frame: usize) {
    let nodes: Vec<[f64; 3]> = grid([6, 5, 3], 0.0);
    let cells: Vec<[f64; 3]> = grid([5, 4, 2], 0.5);
    let list = |points: &[[f64; 3]], values: &dyn Fn([f64; 3]) -> Vec<f64>| -> String {
        let numbers = points.iter().flat_map(|p| values(*p));
        numbers.map(|x| format!("{x} ")).collect()
    };
    let array = |name: &str, kind: &str, components: usize, values: &str| {
        format!(
            "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" \
             format=\"ascii\">{values}</DataArray>"
        )
    };
    let points = [
        array("U", "Float64", 3, &list(&nodes, &|_| vec![1.0, 0.5, 0.0])),
        array("T", "Float32", 1, &list(&nodes, &|p| vec![temperature(p, frame as f64)])),
        array("tau", "Float64", 2, &list(&nodes, &|p| stress(p).to_vec())),
    ];
    let cells = array("id", "Int32", 1, &list(&cells, &|p| vec![number(p)]));
    let text = format!(
        "<VTKFile type=\"ImageData\" version=\"0.1\" byte_order=\"LittleEndian\"><ImageData \
         WholeExtent=\"0 5 0 4 0 2\" Origin=\"0 0 0\" Spacing=\"1 1 1\"><Piece Extent=\"0 5 0 4 0 2\">\
         <PointData>{}</PointData><CellData>{cells}</CellData></Piece></ImageData></VTKFile>",
        points.concat()
    );
    std::fs::write(folder.join(format!("u_{frame}.vti")), text).unwrap();
}

fn grid([nx, ny, nz]: [usize; 3], offset: f64) -> Vec<[f64; 3]> {
    let indices = (0..nz).flat_map(|k| (0..ny).flat_map(move |j| (0..nx).map(move |i| [i, j, k])));
    indices.map(|p| p.map(|i| i as f64 + offset)).collect()
}

fn temperature([x, y, z]: [f64; 3], t: f64) -> f64 {
    1.0 + 2.0 * x - y + 0.5 * z + 4.0 * t
}

fn stress([x, y, z]: [f64; 3]) -> [f64; 2] {
    [x + z, 3.0 * y - 1.0]
}

/// The number of the cell around a point.
fn number([x, y, z]: [f64; 3]) -> f64 {
    x.floor() + 5.0 * y.floor() + 20.0 * z.floor()
}

const CASE: &str = "[field]\nfiles = \"u_*.vti\"\nvelocity = \"U\"\nfile_dt = 1.0\n[seeds]\nkind = \"list\"\n\
    points = [[0.25, 0.375, 0.5], [1.5, 1.25, 1.75], [4.75, 0.5, 1.0]]\n[trace]\ndt = 0.125\n\
    [run]\ndevice = \"flex\"\nprecision = \"f64\"\nout = \"out\"\n[save]\nevery = 4\nvtk = [\"clouds\"]\n\
    report = \"always\"\n";

fn folder(fields: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    (0..3).for_each(|frame| write_frame(folder.path(), frame));
    std::fs::write(folder.path().join("case.toml"), format!("{CASE}fields = {fields}\n")).unwrap();
    folder
}

/// Arrays of points and cells of the velocity's files, and of another file under another name. The third
/// particle leaves the grid at 0.25.
#[test]
fn arrays_are_saved_along_the_tracks() {
    let folder = folder(
        "[\"T\", \"tau\", \"id\", { array = \"T\", files = \"other/u_1.vti\", name = \"T1\" }]",
    );
    write_other(folder.path());
    let output = burntrace(folder.path(), &["run", "case.toml", "--quiet"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let tracks = Tracks::open(folder.path().join("out/tracks")).unwrap();
    let names: Vec<_> =
        tracks.arrays().into_iter().map(|array| (array.name, array.components)).collect();
    let expected = [("T", 1), ("tau", 2), ("id", 1), ("T1", 1)];
    assert_eq!(names, expected.map(|(name, components)| (name.to_string(), components)));
    for (save, time) in tracks.times().to_vec().into_iter().enumerate() {
        let [t, tau, id, t1] =
            ["T", "tau", "id", "T1"].map(|name| tracks.array(name, save).unwrap());
        for (i, p) in tracks.position(save).unwrap().into_iter().enumerate() {
            // The end of the third particle is sampled at the first save after it.
            let time = if i == 2 { f64::min(time, 0.5) } else { time };
            let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-6, "{a}, {b}: {i} at {p:?}");
            near(t[i], temperature(p, time));
            near(t1[i], temperature(p, 1.0));
            near(tau[2 * i], stress(p)[0]);
            near(tau[2 * i + 1], stress(p)[1]);
            if i < 2 {
                assert_eq!(id[i], number(p), "{p:?}");
            }
        }
    }
    let cloud = std::fs::read(folder.path().join("out/clouds/cloud_00002.vtp")).unwrap();
    let cloud = String::from_utf8_lossy(&cloud);
    assert!(
        ["T", "tau", "id", "T1"].iter().all(|name| cloud.contains(&format!("Name=\"{name}\"")))
    );
    let report = std::fs::read_to_string(folder.path().join("out/report.md")).unwrap();
    assert!(report.contains("## Sampled arrays over the active particles"), "{report}");
    assert!(report.contains("| tau:1 |"), "{report}");
    let written = std::fs::read_to_string(folder.path().join("out/case.toml")).unwrap();
    assert!(written.contains("name = \"T1\""), "{written}");
    let again = burntrace(folder.path(), &["run", "out/case.toml", "--quiet", "--out", "again"]);
    assert!(again.status.success(), "{}", text(&again.stderr));
}

#[test]
fn arrays_that_cannot_be_sampled_are_refused() {
    let refused = |fields: &str, set: &[&str], parts: &[&str]| {
        let folder = folder(fields);
        let output = burntrace(folder.path(), &[&["run", "case.toml"], set].concat());
        assert_refused(&output, 2, parts);
        assert!(!folder.path().join("out").exists());
    };
    refused("[\"p\"]", &[], &["`p`", "u_0.vti", "`T` (point)", "`id` (cell)"]);
    refused("[{ array = \"id\", prefer = \"point\" }]", &[], &["`id`", "no such point array"]);
    refused("[\"T\", \"T\"]", &[], &["`T`", "another sampled array", "name"]);
    refused("[{ array = \"T\", name = \"status\" }]", &[], &["`status`", "name"]);
    refused("[{ arrays = \"T\" }]", &[], &["save.fields", "array = \"T\""]);
    refused("[\"\"]", &[], &["save.fields"]);
    refused("[{ array = \"T\", files = \"none_*.vti\" }]", &[], &["none_*.vti"]);
    // The one file of `T1` is steady; two of the three frames end before the run.
    let late = "[{ array = \"T\", files = [\"u_0.vti\", \"u_1.vti\"], name = \"T1\" }]";
    refused(late, &[], &["T1", "from t = 0 to t = 2", "from 0 to 1"]);
    let formula = ["--set", "field={flow=\"double-gyre\"}", "--set", "trace.t1=1.0"];
    refused("[\"T\"]", &formula, &["`T`", "formula", "files"]);
}

/// Frame 1 in a folder of its own.
fn write_other(folder: &Path) {
    std::fs::create_dir(folder.join("other")).unwrap();
    write_frame(&folder.join("other"), 1);
}

/// The third particle ends before the end of the first part, and keeps its values.
#[test]
fn extended_run_has_the_arrays_of_one_long_run() {
    let other = "{ array = \"T\", files = \"other/u_1.vti\", name = \"T1\" }";
    let folder = folder(&format!("[\"T\", \"id\", {other}]"));
    let path = folder.path();
    write_other(path);
    succeed(path, &["run", "case.toml", "--quiet", "--out", "whole"]);
    let first = ["--set", "trace.t1=1.0", "--out", "first"];
    succeed(path, &[&["run", "case.toml", "--quiet"], &first[..]].concat());
    let longer = ["--set", "trace.t1=2.0", "--out", "longer"];
    succeed(path, &[&["run", "--extend", "first", "--quiet"], &longer[..]].concat());
    assert_same(path, ["whole", "longer"]);
    let tracks = Tracks::open(path.join("longer/tracks")).unwrap();
    let values = tracks.array("T", tracks.num_saves() - 1).unwrap();
    let positions = tracks.position(tracks.num_saves() - 1).unwrap();
    assert!((values[0] - temperature(positions[0], 2.0)).abs() < 1e-6);
    assert!((values[2] - temperature(positions[2], 0.5)).abs() < 1e-6);
}

#[test]
fn plan_and_summary_count_all_fields() {
    let other = "{ array = \"T\", files = \"other/u_1.vti\", name = \"T1\" }";
    let folder = folder(&format!("[\"T\", \"tau\", {other}]"));
    let path = folder.path();
    write_other(path);
    let plan = burntrace(path, &["plan", "case.toml", "--json"]);
    assert!(plan.status.success(), "{}", text(&plan.stderr));
    let plan: serde_json::Value = serde_json::from_slice(&plan.stdout).unwrap();
    let items = plan["items"].as_array().unwrap();
    let item = items.iter().find(|item| item["name"] == "sampled arrays").unwrap();
    // Four numbers and the status of three particles; a frame of the other file in groups of four.
    assert_eq!(item["host"], 3 * (4 * 8 + 4));
    assert!(item["device"].as_u64().unwrap() >= 6 * 5 * 3 * 4 * 8, "{item}");
    let unknown = burntrace(path, &["plan", "case.toml", "--set", "save.fields=[\"p\"]"]);
    assert_refused(&unknown, 2, &["`p`", "u_0.vti", "`T` (point)"]);

    let run = ["run", "case.toml", "--quiet", "--out"];
    succeed(path, &[&run[..], &["all"]].concat());
    succeed(path, &[&run[..], &["own", "--set", "save.fields=[\"T\", \"tau\"]"]].concat());
    let read = |name: &str| summary(path, name)["bytes"]["read"].as_u64().unwrap();
    assert_eq!(read("all") - read("own"), 6 * 5 * 3 * 4);
    let streamed = ["streamed", "--set", "run.strategy=streamed-frames"];
    succeed(path, &[&run[..], &streamed].concat());
    assert_same(path, ["all", "streamed"]);
}

/// The axis x is closed from 5 to 6 in both files.
#[test]
fn arrays_of_other_files_are_closed_along_periodic_axes() {
    let other = "{ array = \"tau\", files = \"other/u_1.vti\", name = \"tau1\" }";
    let folder = folder(&format!("[\"tau\", {other}, \"id\"]"));
    let path = folder.path();
    write_other(path);
    let closed = ["field.periodic_axes=[\"x\"]", "boundary.x=[\"periodic\",\"periodic\"]"];
    let closed = closed.iter().flat_map(|key| ["--set", key]).collect::<Vec<_>>();
    succeed(path, &[&["run", "case.toml", "--quiet"], &closed[..]].concat());
    let tracks = Tracks::open(path.join("out/tracks")).unwrap();
    let mut between = 0;
    for save in 0..tracks.num_saves() {
        let [own, other] = ["tau", "tau1"].map(|name| tracks.array(name, save).unwrap());
        assert!(own.iter().zip(&other).all(|(a, b)| (a - b).abs() < 1e-9), "{own:?} {other:?}");
        between += tracks.position(save).unwrap().iter().filter(|p| p[0] > 5.0).count();
    }
    assert!(between > 1);
}

#[test]
fn arrays_are_probed_at_points() {
    let folder = folder("[]");
    let path = folder.path();
    std::fs::write(path.join("at.csv"), "x,y,z\n1.25,2.5,0.5\n9,0,0\n").unwrap();
    let probe = |args: &[&str]| {
        let files = ["probe", "u_0.vti", "u_1.vti", "--file-dt", "1", "--at", "at.csv"];
        burntrace(path, &[&files, args].concat())
    };
    let found = probe(&["--time", "0.25,1", "--fields", "T,tau,id"]);
    assert!(found.status.success(), "{}", text(&found.stderr));
    let lines: Vec<String> = text(&found.stdout).lines().map(String::from).collect();
    let at = |t: f64| temperature([1.25, 2.5, 0.5], t);
    assert_eq!(lines[0], "x,y,z,time,T,tau:0,tau:1,id");
    assert_eq!(lines[1], format!("1.25,2.5,0.5,0.25,{},1.75,6.5,11", at(0.25)));
    assert_eq!(lines[2], "9,0,0,0.25,NaN,NaN,NaN,NaN");
    assert_eq!(lines[3], format!("1.25,2.5,0.5,1,{},1.75,6.5,11", at(1.0)));
    assert_eq!(lines.len(), 5);
    let ordered = probe(&["--time", "0", "--fields", "tau,T"]);
    assert!(text(&ordered.stdout).starts_with("x,y,z,time,tau:0,tau:1,T\n"));
    assert_refused(&probe(&[]), 2, &["from t = 0 to 1", "--time", "at.csv"]);
    assert_refused(&probe(&["--time", "7"]), 2, &["7", "from 0 to 1"]);
    assert_refused(&probe(&["--time", "0", "--fields", "p"]), 2, &["no array `p`", "`tau`"]);
    std::fs::write(path.join("at.csv"), "x,y,z,time\n1.25,2.5,0.5,1\n").unwrap();
    let all = probe(&["--out", "found.csv"]);
    assert!(all.status.success() && all.stdout.is_empty(), "{}", text(&all.stderr));
    let table = std::fs::read_to_string(path.join("found.csv")).unwrap();
    assert!(table.starts_with("x,y,z,time,U:0,U:1,U:2,T,tau:0,tau:1,id\n"), "{table}");
    assert!(table.contains(&format!(",1,0.5,0,{},", at(1.0))), "{table}");
}

//! Commands that evaluate runs: density, FTLE, pictures, pages and reports.

use super::program::{assert_refused, burntrace, text};
use burntrace::{Precision, io::Tracks};
use serde_json::Value;
use std::path::Path;
use std::process::Output;

/// A saddle flow of rate 1 for one unit of time, seeded on a lattice.
const SADDLE: &str = "[field]\nflow = \"saddle\"\nsample = { nodes = [9, 9, 1] }\n\
    [domain]\nlow = [-4.0, -4.0, 0.0]\nhigh = [4.0, 4.0, 0.0]\n\
    [seeds]\nkind = \"grid\"\ncounts = [8, 6, 1]\nlow = [-1.0, -1.0, 0.0]\nhigh = [1.0, 1.0, 0.0]\n\
    [trace]\nt0 = 0.0\nt1 = 1.0\ndt = 0.05\n[save]\nevery = 5\n\
    [units]\nlength = \"m\"\ntime = \"s\"\n\
    [run]\ndevice = \"flex\"\nprecision = \"f64\"\nout = \"out\"\n";

/// Runs a case with settings, and returns its folder.
pub fn run(case: &str, set: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("case.toml"), case).unwrap();
    let mut args = vec!["run", "case.toml", "--quiet"];
    set.iter().for_each(|set| args.extend(["--set", set]));
    done(&burntrace(folder.path(), &args));
    folder
}

/// The output of a call that must succeed.
pub fn done(output: &Output) -> String {
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

fn json(output: &Output) -> Value {
    serde_json::from_str(&done(output)).unwrap()
}

/// Runs a case, and removes everything but the store from its folder, which is then `bare`.
fn bare_run(case: &str, set: &[&str]) -> tempfile::TempDir {
    let folder = run(case, &[set, &["save.report=\"never\""]].concat());
    std::fs::create_dir(folder.path().join("bare")).unwrap();
    std::fs::rename(folder.path().join("out/tracks"), folder.path().join("bare/tracks")).unwrap();
    folder
}

/// Asserts that pictures, page and report of a run can be made.
fn assert_all_outputs(folder: &Path, run: &str) -> Value {
    let printed = done(&burntrace(folder, &["render", run, "--size", "640x480"]));
    assert!(printed.contains("tracks.png"), "{printed}");
    done(&burntrace(folder, &["render", run, "--html", "--gif", "--seconds", "0.5"]));
    let report = json(&burntrace(folder, &["report", run, "--particles", "--json"]));
    for name in
        ["report.md", "report.html", "report.json", "particles.csv", "page.html", "tracks.gif"]
    {
        assert!(folder.join(run).join(name).exists(), "{name} is missing");
    }
    let all = &report["statistics"]["all"];
    let count = |key: &str| all[key].as_u64().unwrap();
    assert_eq!(count("released"), count("active") + count("ended"));
    assert!(!report["pictures"].as_array().unwrap().is_empty());
    report
}

#[test]
fn run_writes_report_unless_disabled() {
    let folder = run(SADDLE, &[]);
    let text = std::fs::read_to_string(folder.path().join("out/report.md")).unwrap();
    for part in
        ["48 particles", "| all | 48 | 48 | 0 | 0 |", "pictures/tracks.png", "f64", "[seeds]"]
    {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let report = std::fs::read_to_string(folder.path().join("out/report.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["case"]["seeds"]["counts"], serde_json::json!([8, 6, 1]));
    assert_eq!(report["domain"]["low"], serde_json::json!([-4.0, -4.0, 0.0]));
    assert_eq!(report["summary"]["particles"], 48);
    assert_eq!(report["pictures"][0], "pictures/tracks.png");
    // A page that is made later is linked.
    assert!(!text.contains("page.html") && text.contains("`burntrace view`"), "{text}");
    done(&burntrace(folder.path(), &["view", "out", "--no-open"]));
    let linked =
        |name: &str| std::fs::read_to_string(folder.path().join("out").join(name)).unwrap();
    let link = "[The interactive page](page.html) shows the tracks.";
    let without = linked("report.md").replace(link, "");
    assert_eq!(without.len(), linked("report.md").len() - link.len());
    assert!(text.len() - without.len() < 100, "the rest of the report is the same");
    let html = linked("report.html");
    assert!(html.contains("<a href=\"page.html\">The interactive page</a>"), "{html}");
    assert!(html.contains("<img src=\"data:image/png;base64,"));
    let folder = run(SADDLE, &["save.report=\"never\""]);
    assert!(!folder.path().join("out/report.md").exists());
    assert_all_outputs(folder.path(), "out");
}

#[test]
fn density_integrates_to_one_and_is_image_data() {
    let folder = run(SADDLE, &[]);
    let ask = |more: &[&str]| {
        let args = [&["density", "out", "--json"], more].concat();
        json(&burntrace(folder.path(), &args))[0].clone()
    };
    let plain = ask(&["--nodes", "201"]);
    assert!((plain["integral"].as_f64().unwrap() - 1.0).abs() < 1e-3, "{plain}");
    let file = burntrace_vtk::open(folder.path().join("out/density/density_00004.vti")).unwrap();
    assert_eq!(file.time_value().unwrap(), Some(1.0));
    let tuples = file.arrays().iter().find(|array| array.name == "density").unwrap().tuples;
    assert_eq!(tuples, 201 * 201);
    assert!(folder.path().join("out/density/density_00004.png").exists());
    // It is also in the store, only at this save.
    let chunks = folder.path().join("out/tracks/density");
    assert_eq!(std::fs::read(chunks.join("c.4.0.0.0")).unwrap().len(), 8 * 201 * 201);
    assert!(!chunks.join("c.3.0.0.0").exists());
    // These integrate to the number of particles.
    for method in [
        &["--method", "sph", "--bandwidth", "0.4", "--kernel", "wendland-c2", "--nodes", "161"][..],
        &["--method", "histogram", "--nodes", "20"],
        &["--method", "cloud-in-cell", "--nodes", "20"],
        &["--number", "--bandwidth", "covariance", "--save", "t=0.3"],
    ] {
        let found = ask(method);
        assert!((found["integral"].as_f64().unwrap() - 48.0).abs() < 0.1, "{method:?}: {found}");
    }
    // At t = 0 the lattice is symmetric, and so is its density.
    std::fs::write(folder.path().join("points.csv"), "x,y,z\n0.3,0.2,0\n-0.3,0.2,0\n").unwrap();
    let found = ask(&["--points", "points.csv", "--save", "0"]);
    let [min, max] = ["min", "max"].map(|key| found[key].as_f64().unwrap());
    assert!(min > 0.0 && (max / min - 1.0).abs() < 1e-12, "{found}");
    // Along a line, at all saves.
    let line = json(&burntrace(
        folder.path(),
        &["density", "out", "--axes", "x", "--save", "all", "--json", "--out", "line"],
    ));
    assert_eq!(line.as_array().unwrap().len(), 5);
    for found in line.as_array().unwrap() {
        assert!((found["integral"].as_f64().unwrap() - 1.0).abs() < 1e-6, "{found}");
    }
}

#[test]
fn slice_and_plane_have_equal_extremes() {
    let domain = "domain={low=[0.0,0.0,0.0],high=[1.0,1.0,1.0]}";
    let seeds = "seeds={kind=\"list\",points=[[0.25,0.1,0.25],[0.5,0.5,0.4],[0.3,0.9,0.1]]}";
    let field = "field={flow=\"uniform\",sample={nodes=[3,3,3]}}";
    let set = [field, domain, seeds, "trace.t1=0.25", "run.precision=\"f32\""];
    let folder = bare_run(SADDLE, &set);
    let ask = |more: &[&str], out: &str| {
        let args = ["density", "bare", "--save", "0", "--bandwidth", "0.5", "--json", "--out", out];
        let open = ["--device", "flex", "--nodes", "11", "--edges", "open"];
        json(&burntrace(folder.path(), &[&args[..], &open[..], more].concat()))[0].clone()
    };
    let slice = ask(&["--low", "0,0,0", "--high", "1,1,1", "--slice", "z=0.25"], "slice");
    let plane = ask(&["--plane", "0,0,0.25,1,0,0,0,1,0"], "plane");
    assert_eq!(slice["max"], plane["max"], "{slice} {plane}");
    assert_eq!(slice["min"], plane["min"]);
    assert!(slice["max"].as_f64().unwrap() > 0.0);
}

#[test]
fn invalid_density_requests_are_refused() {
    let folder = run(SADDLE, &["save.report=\"never\""]);
    let refused = |args: &[&str], parts: &[&str]| {
        let output = burntrace(folder.path(), &[&["density"], args].concat());
        assert_refused(&output, 2, parts);
    };
    refused(&["nowhere"], &["nowhere", "contains no run"]);
    refused(&["out", "--save", "9"], &["`9`", "0 to 4"]);
    refused(&["out", "--method", "sph"], &["smoothing length", "--bandwidth"]);
    refused(&["out", "--bandwidth", "wide"], &["wide", "scott"]);
    refused(&["out", "--bandwidth", "-1"], &["-1"]);
    refused(&["out", "--slice", "w=1"], &["w=1", "z=0.5"]);
    refused(&["out", "--nodes", "3,4,5"], &["3 numbers"]);
    refused(&["out", "--plane", "0,0,1"], &["3 numbers", "nine"]);
    refused(&["out", "--kernel", "gaussian"], &["--method sph"]);
    refused(&["out", "--device", "cuda:7"], &["cuda"]);
    // Nothing but zeros.
    refused(&["out", "--bandwidth", "1e-30"], &["1e-30", "resolved to", "spacing"]);
    refused(&["out", "--method", "sph", "--bandwidth", "1e-30"], &["1e-30", "resolved to"]);
    refused(&["out", "--bandwidth", "1e300", "--edges", "open"], &["an extent of 8", "up to 8000"]);
    refused(&["out", "--bandwidth", "1e-4"], &["0.0001, and the nodes are", "more --nodes"]);
    refused(&["out", "--slice", "y=5"], &["is at 5 along y", "from -4 to 4"]);
    refused(
        &["out", "--low", "5,5,0", "--high", "6,6,0"],
        &["from 5 to 6 along x", "from -4 to 4"],
    );
    refused(
        &["out", "--method", "histogram", "--edges", "open", "--low", "5,5,0", "--high", "6,6,0"],
        &["from 5 to 6 along x"],
    );
    refused(&["out", "--low", "1,1,0", "--high", "1,2,0"], &["from 1 to 1 along x"]);
    refused(&["out", "--plane", "0,0,0,1,0,0,2,0,0"], &["[2.0, 0.0, 0.0]", "no area"]);
    refused(&["out", "--plane", "0,0,0,0,0,0,0,1,0"], &["no area"]);
    refused(&["out", "--plane", "7,0,0,1,0,0,0,1,0"], &["the plane", "from 7 to 8 along x"]);
    std::fs::write(folder.path().join("far.csv"), "x,y,z\n9,9,0\n").unwrap();
    refused(&["out", "--points", "far.csv"], &["the list of points", "is at 9 along x"]);
}

#[test]
fn ftle_of_saddle_equals_its_rate() {
    let rate = 1.0;
    let (near, apart) = ("differences of neighbours", "differences of auxiliary particles");
    let (by_auxiliary, carried) = ("seeds.auxiliary=1e-4", "save.flow_map_gradient=true");
    for (dt, setting, gradient) in [
        ("0.05", None, near),
        ("-0.05", None, near),
        ("0.05", Some(by_auxiliary), apart),
        ("0.05", Some(carried), "carried along the tracks"),
        ("-0.05", Some(carried), "carried along the tracks"),
    ] {
        let (t0, t1) = if dt.starts_with('-') { ("1.0", "0.0") } else { ("0.0", "1.0") };
        let mut set =
            vec![format!("trace.dt={dt}"), format!("trace.t0={t0}"), format!("trace.t1={t1}")];
        set.extend(setting.map(String::from));
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        let folder = run(SADDLE, &set);
        let found = json(&burntrace(folder.path(), &["ftle", "out", "--json"]));
        for key in ["min", "max"] {
            let exponent = found[key].as_f64().unwrap();
            assert!((exponent - rate).abs() < 1e-6, "dt = {dt}: {found}");
        }
        assert_eq!(found["missing"], 0);
        assert_eq!(found["gradient"], gradient);
        let image = burntrace_vtk::open(folder.path().join("out/ftle/ftle_00004.vti")).unwrap();
        let tuples = image.arrays().iter().find(|array| array.name == "ftle").unwrap().tuples;
        assert_eq!(tuples, 48);
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("case.toml"), SADDLE).unwrap();
    let tensor = ["run", "case.toml", "--set", carried, "--set", "trace.engine=\"tensor\""];
    let parts = ["gradient of the flow map", "fused engine", "auxiliary"];
    assert_refused(&burntrace(folder.path(), &tensor), 2, &parts);
    let folder = run(SADDLE, &["seeds={kind=\"uniform\",count=5}", "save.report=\"never\""]);
    assert_refused(&burntrace(folder.path(), &["ftle", "out"]), 2, &["lattice", "kind = \"grid\""]);
}

#[test]
fn a_store_alone_can_be_rendered_and_reported() {
    let burst =
        "source=[{burst={time=0.1,count=3},inlet={kind=\"points\",points=[[0.5,0.5,0.0]]}}]";
    for (set, lives) in [(&[][..], false), (&[burst], true)] {
        let folder = bare_run(SADDLE, set);
        let report = assert_all_outputs(folder.path(), "bare");
        assert_eq!(report["summary"], Value::Null);
        assert_eq!(report["statistics"]["reuses_slots"], lives);
    }
}

#[test]
fn a_store_of_an_earlier_version_is_refused_with_both_versions() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("old/tracks")).unwrap();
    let group = "{\"attributes\": {\"format\": \"burntrace tracks\", \"version\": 3}}";
    std::fs::write(folder.path().join("old/tracks/zarr.json"), group).unwrap();
    for command in ["density", "ftle", "render", "report"] {
        let output = burntrace(folder.path(), &[command, "old"]);
        assert_refused(&output, 2, &["zarr.json", "version 3", "version 4"]);
    }
}

#[test]
fn runs_with_few_particles_or_saves_can_be_rendered_and_reported() {
    let list = |points: &str| format!("seeds={{kind=\"list\",points=[{points}]}}");
    let one = list("[0.1, 0.2, 0.0]");
    let gone = list("[3.9, 0.1, 0.0],[3.8, -0.1, 0.0]");
    let burst =
        "source=[{burst={time=1.0,count=3},inlet={kind=\"points\",points=[[0.5,0.5,0.0]]}}]";
    let source = &SADDLE.replace(
        "[seeds]\nkind = \"grid\"\ncounts = [8, 6, 1]\nlow = [-1.0, -1.0, 0.0]\nhigh = [1.0, 1.0, 0.0]\n",
        "",
    );
    for (case, set, released, ended) in [
        (SADDLE, &[one.as_str()][..], 1, 0),
        (SADDLE, &["save={}"], 48, 0),
        (SADDLE, &[&one, "save={}"], 1, 0),
        (SADDLE, &[&gone], 2, 2),
        (SADDLE, &[&gone, "save={}"], 2, 2),
        (source, &[burst, "trace.t1=0.5"], 0, 0),
    ] {
        let folder = run(case, set);
        let report = assert_all_outputs(folder.path(), "out");
        let all = &report["statistics"]["all"];
        assert_eq!((&all["released"], &all["ended"]), (&released.into(), &ended.into()), "{set:?}");
    }
}

#[test]
fn render_options_are_applied() {
    let folder = run(SADDLE, &["save.report=\"never\""]);
    let args =
        ["render", "out", "--svg", "--view", "xy,3d", "--color", "age", "--dark", "--out", "p"];
    let printed = done(&burntrace(folder.path(), &args));
    for name in ["tracks.svg", "tracks-3d.svg", "density.svg", "dispersion.svg"] {
        assert!(printed.contains(name), "{name} is not in {printed}");
        let svg = std::fs::read_to_string(folder.path().join("p/pictures").join(name)).unwrap();
        assert!(svg.contains("</svg>"));
    }
    let tracks = std::fs::read_to_string(folder.path().join("p/pictures/tracks.svg")).unwrap();
    assert!(tracks.contains("Age (s)") && tracks.contains("x (m)"), "{tracks}");
    let refused = |args: &[&str], parts: &[&str]| {
        assert_refused(&burntrace(folder.path(), &[&["render", "out"], args].concat()), 2, parts);
    };
    refused(&["--color", "taste"], &["`taste`", "speed"]);
    refused(&["--size", "3x3"], &["3 x 3"]);
    refused(&["--colors", "rainbow"], &["rainbow", "viridis"]);
    refused(&["--zoom", "0.5"], &["zoom", "0.5", "from 1 to"]);
    refused(&["--azimuth", "30", "--view", "xy"], &["--azimuth", "add 3d"]);
    let args = [
        "render",
        "out",
        "--svg",
        "--perspective",
        "--azimuth",
        "-30",
        "--zoom",
        "2",
        "--out",
        "q",
    ];
    done(&burntrace(folder.path(), &args));
    let turned = std::fs::read_to_string(folder.path().join("q/pictures/tracks.svg")).unwrap();
    let flat = std::fs::read_to_string(folder.path().join("p/pictures/tracks-3d.svg")).unwrap();
    assert_ne!(turned, flat);
}

/// A current of 0.1 m/s to the east and 0.05 m/s to the north, in UTM coordinates.
fn utm(folder: &Path) {
    let image = format!(
        "<VTKFile type=\"ImageData\" version=\"0.1\" byte_order=\"LittleEndian\"><ImageData \
         WholeExtent=\"0 10 0 10 0 1\" Origin=\"450000 4500000 0\" Spacing=\"1000 1000 20\">\
         <Piece Extent=\"0 10 0 10 0 1\"><PointData><DataArray type=\"Float32\" Name=\"U\" \
         NumberOfComponents=\"3\" format=\"ascii\">{}</DataArray></PointData></Piece></ImageData>\
         </VTKFile>",
        "0.1 0.05 0 ".repeat(11 * 11 * 2)
    );
    let case = "[field]\nfiles = \"u.vti\"\n\
        [seeds]\nkind = \"list\"\npoints = [[452000.3, 4502000.7, 5.0], [453000.1, 4503000.2, 7.0]]\n\
        [trace]\nt0 = 0.0\nt1 = 10000.0\ndt = 1.0\n\
        [save]\nevery_time = 2500.0\nvtk = [\"lines\", \"clouds\"]\n\
        [run]\ndevice = \"flex\"\nout = \"out\"\n";
    std::fs::write(folder.join("u.vti"), image).unwrap();
    std::fs::write(folder.join("case.toml"), case).unwrap();
}

#[test]
fn saves_by_time_are_those_of_the_run() {
    let folder = run(SADDLE, &["save.report=\"never\""]);
    let density = |save: &str| {
        burntrace(folder.path(), &["density", "out", "--save", save, "--json", "--no-pictures"])
    };
    assert_eq!(json(&density("t=0.3"))[0]["save"], 1);
    assert_eq!(json(&density("t=1.0"))[0]["save"], 4);
    for time in ["t=1.2", "t=-0.1", "t=nan"] {
        assert_refused(&density(time), 2, &[time, "from t = 0 to 1"]);
    }
}

#[test]
fn positions_far_from_zero_are_saved_in_double_precision() {
    let folder = tempfile::tempdir().unwrap();
    utm(folder.path());
    done(&burntrace(folder.path(), &["run", "case.toml", "--quiet"]));
    let tracks = Tracks::open(folder.path().join("out/tracks")).unwrap();
    assert_eq!((tracks.precision(), tracks.position_precision()), (Precision::F32, Precision::F64));
    let [first, last] = [0, tracks.num_saves() - 1].map(|save| tracks.position(save).unwrap());
    assert!((first[0][1] - 4_502_000.7).abs() < 1e-6, "{first:?}");
    for (from, to) in first.iter().zip(&last) {
        for (d, travelled) in [1000.0, 500.0, 0.0].into_iter().enumerate() {
            assert!((to[d] - from[d] - travelled).abs() < 1e-5 * 1000.0, "{from:?}, {to:?}");
        }
    }
    let lines = burntrace_vtk::open(folder.path().join("out/tracks.vtp")).unwrap();
    let points = lines.points().unwrap().values.into_f64();
    let of_first: Vec<f64> =
        (0..tracks.num_saves()).flat_map(|save| tracks.position(save).unwrap()[0]).collect();
    assert_eq!(points[..of_first.len()], of_first);
    assert_all_outputs(folder.path(), "out");
    let all = json(&burntrace(folder.path(), &["report", "out", "--particles", "--json"]));
    let saves = all["statistics"]["all"]["saves"].as_array().unwrap();
    let speed = saves.last().unwrap()["mean_speed"].as_f64().unwrap();
    assert!((speed - 0.1_f64.hypot(0.05)).abs() < 1e-8, "{speed}");
    let density = json(&burntrace(
        folder.path(),
        &["density", "out", "--method", "histogram", "--json", "--no-pictures"],
    ));
    assert_eq!(density[0]["left_out"], 0, "{density}");
}

#[test]
fn saves_without_particles_are_refused() {
    let gone = "seeds={kind=\"grid\",counts=[2,2,1],low=[3.8,-0.1,0.0],high=[3.9,0.1,0.0]}";
    let folder = run(SADDLE, &[gone, "save.report=\"never\""]);
    let refused = |args: &[&str], parts: &[&str]| {
        assert_refused(&burntrace(folder.path(), args), 2, parts);
        assert!(!folder.path().join("out/ftle").exists());
    };
    for method in ["kde", "histogram"] {
        let args = ["density", "out", "--method", method];
        refused(&args, &["save 4, at t = 1, has no active particles", "--ended"]);
    }
    refused(&["ftle", "out"], &["all 4 nodes are undefined at save 4", "earlier save"]);
    let info = done(&burntrace(folder.path(), &["info", "out"]));
    assert!(info.contains("4 = 4 exited x-high") && !info.contains("density"), "{info}");
    done(&burntrace(folder.path(), &["density", "out", "--save", "0", "--no-pictures"]));
    let all =
        ["density", "out", "--save", "all", "--method", "histogram", "--no-pictures", "--json"];
    assert_eq!(json(&burntrace(folder.path(), &all)).as_array().unwrap().len(), 5);
}

#[test]
fn info_describes_a_run_and_the_commands_for_it() {
    let folder = run(SADDLE, &["save.report=\"never\""]);
    let printed = done(&burntrace(folder.path(), &["info", "out"]));
    for part in [
        "out, finished",
        "saddle, sampled at 9 x 9 x 1 nodes",
        "grid, 8 x 6 x 1",
        "flex (",
        "5 of 5, t = 0 to 1",
        "48 = 48 active at the last save",
        "burntrace report out",
        "burntrace export out --to parquet",
        "burntrace density out",
        "burntrace ftle out",
    ] {
        assert!(printed.contains(part), "`{part}` is not in: {printed}");
    }
    let info = json(&burntrace(folder.path(), &["info", "out", "--json"]));
    assert_eq!((&info["kind"], &info["state"]), (&"run".into(), &"finished".into()));
    assert_eq!(info["saves"], serde_json::json!({ "complete": 5, "planned": 5 }));
    assert_eq!(info["status"], serde_json::json!({ "active": 48 }));
    assert_eq!(info["case"]["seeds"]["counts"], serde_json::json!([8, 6, 1]));
    assert_eq!(info["problems"], serde_json::json!([]));
    // Each command that it names works.
    for command in info["commands"].as_array().unwrap() {
        let args: Vec<&str> = command.as_str().unwrap().split(' ').skip(1).collect();
        done(&burntrace(folder.path(), &args));
    }
    // Seeds that are not on a grid have no FTLE.
    let list =
        run(SADDLE, &["seeds={kind=\"list\",points=[[0.1,0.2,0.0]]}", "save.report=\"never\""]);
    let printed = done(&burntrace(list.path(), &["info", "out"]));
    assert!(printed.contains("list, 1") && !printed.contains("ftle"), "{printed}");
    assert_refused(
        &burntrace(folder.path(), &["info", "out", "--velocity", "u"]),
        2,
        &["out is the folder of a run", "options of fields"],
    );
}

#[test]
fn missing_and_damaged_files_of_a_run_are_named_by_all_commands() {
    let folder = run(SADDLE, &["save.report=\"never\""]);
    let path = folder.path();
    let (case, summary) = (path.join("out/case.toml"), path.join("out/summary.json"));
    let whole = [&case, &summary].map(|file| std::fs::read(file).unwrap());
    let restore = || {
        for (file, bytes) in [&case, &summary].into_iter().zip(&whole) {
            std::fs::write(file, bytes).unwrap();
        }
    };
    let calls: [&[&str]; 4] = [
        &["report", "out"],
        &["render", "out"],
        &["density", "out", "--no-pictures", "--nodes", "20", "--device", "flex"],
        &["ftle", "out", "--device", "flex"],
    ];
    let assert_named = |parts: &[&str], has_case: bool| {
        for args in calls {
            let output = burntrace(path, args);
            let message = text(&output.stderr);
            let parts = [parts, &["restore it from a copy, or run the case again"]].concat();
            for part in parts {
                assert!(message.contains(part), "{args:?}: `{part}` is not in: {message}");
            }
            // FTLE need the seeds of the case.
            let code = if args[0] == "ftle" && !has_case { 2 } else { 0 };
            assert_eq!(output.status.code(), Some(code), "{args:?}: {message}");
        }
        let printed = done(&burntrace(path, &["info", "out"]));
        assert!(parts.iter().all(|part| printed.contains(part)), "{printed}");
    };
    std::fs::remove_file(&case).unwrap();
    assert_named(&["out/case.toml is missing", "seeds"], false);
    std::fs::write(&case, "[field\nflow = 3").unwrap();
    assert_named(&["cannot read the case of the run: out/case.toml: line 1"], false);
    std::fs::write(&case, b"\xff\xfe").unwrap();
    assert_named(&["cannot read the case of the run", "out/case.toml"], false);
    restore();
    std::fs::remove_file(&summary).unwrap();
    assert_named(&["out/summary.json is missing", "timings"], true);
    for damaged in ["", "{\"device\":", "[1]", "\0"] {
        std::fs::write(&summary, damaged).unwrap();
        assert_named(&["out/summary.json is damaged"], true);
    }
    restore();
    let output = burntrace(path, &["report", "out"]);
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
}

#[test]
fn times_are_printed_without_rounding_errors() {
    let set = ["trace.t1=0.3", "trace.dt=0.1", "save.every=1", "save.report=\"never\""];
    let folder = run(SADDLE, &set);
    let density = ["density", "out", "--save", "all", "--no-pictures", "--nodes", "20"];
    let printed = [
        done(&burntrace(folder.path(), &density)),
        done(&burntrace(folder.path(), &["info", "out"])),
        text(&burntrace(folder.path(), &["density", "out", "--save", "9"]).stderr),
    ]
    .concat();
    assert!(printed.contains("t = 0.3") && !printed.contains("00000004"), "{printed}");
}

/// With Scott's rule, the bandwidth of 1000 particles is far below the distance of default nodes.
#[test]
fn a_compact_cloud_has_a_density() {
    let folder = run(
        SADDLE,
        &[
            "field={flow=\"uniform\",sample={nodes=[3,3,3]}}",
            "domain={low=[0.0,0.0,0.0],high=[1.0,1.0,1.0]}",
            "seeds={kind=\"gaussian\",count=1000,seed=1,centre=[0.5,0.5,0.5],deviation=[0.002,0.002,0.002]}",
            "trace.t1=0.1",
            "save.every=2",
            "save.report=\"never\"",
        ],
    );
    let density = |more: &[&str]| {
        let common = ["density", "out", "--no-pictures", "--json"];
        burntrace(folder.path(), &[&common, more].concat())
    };
    let output = density(&[]);
    let integral = json(&output)[0]["integral"].as_f64().unwrap();
    assert!((integral - 1.0).abs() < 1e-2, "{integral}");
    let note = "note: the nodes extend around the particles from [0.5";
    assert!(text(&output.stderr).contains(note), "{}", text(&output.stderr));
    for more in [&["--nodes", "40"][..], &["--nodes", "40", "--save", "all"]] {
        let output = density(more);
        done(&output);
        let warning = text(&output.stderr);
        assert!(warning.contains("warning: the bandwidth along x is 0.00"), "{more:?}: {warning}");
    }
    assert_refused(&density(&["--bandwidth", "0.0008"]), 2, &["bandwidth along x", "more --nodes"]);
}

/// Particles that start on a line have no spread across it.
#[test]
fn particles_on_a_line_have_a_density() {
    let line = "seeds={kind=\"line\",from=[0.5,0.5,0.0],to=[1.0,0.5,0.0],count=50}";
    let folder = run(SADDLE, &[line, "save.report=\"never\""]);
    let output = burntrace(
        folder.path(),
        &["density", "out", "--save", "all", "--gif", "--seconds", "1", "--nodes", "60", "--json"],
    );
    let found = json(&output);
    assert_eq!(found.as_array().unwrap().len(), 5);
    for save in found.as_array().unwrap() {
        let integral = save["integral"].as_f64().unwrap();
        assert!((integral - 1.0).abs() < 0.02, "{save}");
        let files: Vec<&str> =
            save["files"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert!(files.iter().any(|file| file.ends_with(".png")), "{files:?}");
        assert!(files.iter().any(|file| file.ends_with("density.gif")), "{files:?}");
    }
    let notes = text(&output.stderr);
    for part in ["all particles are at y = 0.5", "the colours of all pictures go from 0 to"] {
        assert!(notes.contains(part), "`{part}` is not in {notes}");
    }
    let one = burntrace(folder.path(), &["density", "out", "--gif"]);
    assert_refused(&one, 2, &["--gif needs several saves", "--save all"]);
}

#[test]
fn seeds_that_are_not_located_are_told_apart() {
    let seeds = "seeds={kind=\"grid\",counts=[40,30,1],low=[-12.0,-9.0,0.0],high=[12.0,9.0,0.0],outside=\"not-located\"}";
    let folder = run(SADDLE, &[seeds, "trace.t1=0.5"]);
    let path = folder.path().join("out");
    let summary: Value =
        serde_json::from_str(&std::fs::read_to_string(path.join("summary.json")).unwrap()).unwrap();
    let lost = summary["not_located"].as_u64().unwrap();
    assert!(lost > 1000, "{lost}");
    let report = std::fs::read_to_string(path.join("report.md")).unwrap();
    let found = 1200 - lost;
    let lost = format!("{},{:03}", lost / 1000, lost % 1000);
    for part in [
        format!("**{lost} of 1,200 seeds were not located**"),
        format!("Tracks of 100 of {found} particles; a further {lost} seeds were not located."),
        "Field: the formula `saddle`, sampled at 9 x 9 x 1 nodes. Tracks: ".into(),
        "## What ended where".into(),
        "## What the run cost".into(),
    ] {
        assert!(report.contains(&part), "`{part}` is not in {report}");
    }
    let before_case = report.split("## Case").next().unwrap();
    assert!(!before_case.contains('{'), "the report has JSON: {report}");
    let html = std::fs::read_to_string(path.join("report.html")).unwrap();
    assert!(
        html.contains("<img src=\"data:image/png;base64,") && !html.contains("<img src=\"pictures")
    );
    done(&burntrace(folder.path(), &["view", "out", "--no-open"]));
    let page = std::fs::read_to_string(path.join("page.html")).unwrap();
    let (_, header) = page.split_once("id=\"header\">").unwrap();
    let header: Value = serde_json::from_str(header.split_once("</script>").unwrap().0).unwrap();
    assert_eq!(header["particles"], found, "the page has the located particles only");
    let svg = ["render", "out", "--svg", "--out", "r"];
    done(&burntrace(folder.path(), &svg));
    let tracks = std::fs::read_to_string(folder.path().join("r/pictures/tracks.svg")).unwrap();
    let title = format!("Tracks of {found} particles");
    assert!(tracks.contains(&title) && tracks.contains("seeds not located"), "{title}");
}

#[test]
fn info_names_damaged_arrays_and_describes_the_rest() {
    let folder = run(SADDLE, &["save.report=\"never\""]);
    let path = folder.path();
    let chunk = path.join("out/tracks/status/c.0.0");
    for damage in [None, Some("x")] {
        match damage {
            None => std::fs::remove_file(&chunk).unwrap(),
            Some(bytes) => std::fs::write(&chunk, bytes).unwrap(),
        }
        let printed = done(&burntrace(path, &["info", "out"]));
        for part in ["out, finished", "grid, 8 x 6 x 1", "tracks/status", "`burntrace verify out`"]
        {
            assert!(printed.contains(part), "`{part}` is not in: {printed}");
        }
        assert!(!printed.contains("burntrace report"), "{printed}");
    }
    std::fs::remove_dir_all(path.join("out/tracks/status")).unwrap();
    std::fs::remove_file(path.join("out/summary.json")).unwrap();
    let printed = done(&burntrace(path, &["info", "out"]));
    assert!(printed.contains("`burntrace verify out`"), "{printed}");
    let info = json(&burntrace(path, &["info", "out", "--json"]));
    assert_eq!(info["commands"], serde_json::json!(["burntrace verify out"]));
}

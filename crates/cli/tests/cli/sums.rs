//! Several fields, `[[field]]`: waves and wind beside currents.

use super::earth::script;
use super::program::{assert_refused, burntrace, fixture, text};
use super::requirements;
use super::resume::{assert_same, succeed, summary};
use burntrace::io::Tracks;
use std::path::Path;

/// Currents and wind in files, on two grids and with two steps in time.
const OCEAN: &str = "[[field]]\nfiles = \"ocean.nc\"\n\
    [[field]]\nfiles = \"wind.nc\"\nfactor = 0.03\nrotate = 20.0\n\
    [[seeds]]\nkind = \"uniform\"\ncount = 400\nlow = [-10.0, 35.0, 0.0]\nhigh = [5.0, 45.0, 0.0]\n\
    outside = \"not-located\"\n\
    [trace]\ndt = \"10 min\"\nt1 = \"20 d\"\n[save]\nevery_time = \"1 d\"\n\
    [run]\ndevice = \"flex\"\nout = \"out\"\n";

/// Writes a case, and runs it with more arguments.
fn run(folder: &Path, case: &str, more: &str) -> String {
    std::fs::write(folder.join("case.toml"), case).unwrap();
    let args = format!("run case.toml {more}");
    let output = burntrace(folder, &args.split_whitespace().collect::<Vec<_>>());
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stderr) + &text(&output.stdout)
}

#[test]
fn an_ocean_with_wind_has_the_tracks_of_steps_in_degrees() {
    let Some(python) = requirements::python("netcdf4", "netCDF4") else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    script(&python, path, &["write", "ocean.nc"]);
    script(&python, path, &["wind", "wind.nc"]);
    let said = run(path, OCEAN, "");
    let note = "field[1]: interpolated between the nodes of the first field, its velocity differs by up to ";
    assert!(said.contains(note) && said.contains(" m/s (with the factor) at "), "{said}");
    let added = &summary(path, "out")["field"]["added"][0];
    assert_eq!((&added["factor"], &added["rotate"]), (&0.03.into(), &20.0.into()));
    let file = added["files"][0].as_str().unwrap();
    assert!(file.ends_with("wind.nc") && added["times"][0] == -10_800.0, "{added}");
    // 31 x 21 nodes of the wind are inside, some of which are beside the land. They are nodes of the ocean, too.
    let difference = &added["difference"];
    assert_eq!(difference["frames"], 8);
    assert!(difference["velocity"].as_f64().unwrap() < 1e-15, "{difference}");
    assert!((600..651).contains(&difference["positions"].as_u64().unwrap()), "{difference}");
    succeed(path, &["export", "out", "--to", "csv", "--quiet"]);
    let args = ["compare", "ocean.nc", "out/tracks.csv", "wind.nc"];
    let worst: f64 = script(&python, path, &args).trim().parse().unwrap();
    assert!(worst < 20.0, "{worst} m");
    for (out, more) in [
        ("streamed", "--set run.strategy=streamed-frames"),
        ("dated", "--set field[1].frames.start=2023-12-31T21:00"),
        ("first", "--set trace.t1=432000"),
        ("joined", "--rank 0/1 --set run.piece=100"),
    ] {
        run(path, OCEAN, &format!("--quiet --out {out} {more}"));
    }
    assert_same(path, ["out", "joined"]);
    let positions = |out: &str| {
        let tracks = Tracks::open(path.join(out).join("tracks")).unwrap();
        tracks.position(tracks.num_saves() - 1).unwrap()
    };
    // As text, which is equal where numbers are none.
    for other in ["streamed", "dated"] {
        assert_eq!(format!("{:?}", positions("out")), format!("{:?}", positions(other)), "{other}");
    }
    let longer = ["run", "--extend", "first", "--out", "longer", "--set", "trace.t1=1728000"];
    succeed(path, &longer);
    assert_same(path, ["out", "longer"]);
    std::fs::copy(path.join("ocean.nc"), path.join("wind.nc")).unwrap();
    let again = burntrace(path, &["run", "--extend", "first", "--out", "again"]);
    assert_refused(&again, 2, &["wind.nc"]);
    let info = burntrace(path, &["info", "out"]);
    let expected = "ocean.nc, interpolation = \"grid\" + 0.03 times ";
    assert!(text(&info.stdout).contains(expected), "{}", text(&info.stdout));
    let report = std::fs::read_to_string(path.join("out/report.md")).unwrap();
    assert!(report.contains(" + 0.03 times 82 files, `wind.nc`"), "{report}");
}

const FLOWS: &str = "[[field]]\nflow = { u = \"y\", v = \"-x\" }\nsample = { nodes = [5, 3, 1], stop = 10.0, frames = 3 }\n\
    [[field]]\nflow = { u = \"0.5 + 0.1 * t\", v = \"x\" }\nsample = { nodes = [2, 2, 1], stop = 10.0, frames = 6 }\n\
    factor = 0.5\nrotate = -90.0\n\
    [[field]]\nflow = { u = 0.01, v = 0.0 }\nfactor = 2.0\n";

const AROUND: &str = "[domain]\nlow = [-1.0, -1.0, 0.0]\nhigh = [1.0, 1.0, 0.0]\n\
    [seeds]\nkind = \"grid\"\ncounts = [5, 5, 1]\nlow = [-0.5, -0.5, 0.0]\nhigh = [0.5, 0.5, 0.0]\n\
    [trace]\ndt = 0.1\nt1 = 5.0\n[save]\nevery = 10\nreport = \"never\"\n\
    [run]\ndevice = \"flex\"\nprecision = \"f64\"\n";

/// The positions of the last save of a run.
fn last(folder: &Path, out: &str) -> Vec<[f64; 3]> {
    let tracks = Tracks::open(folder.join(out).join("tracks")).unwrap();
    tracks.position(tracks.num_saves() - 1).unwrap()
}

fn apart(a: &[[f64; 3]], b: &[[f64; 3]]) -> f64 {
    assert!(a.len() == b.len() && a.iter().chain(b).flatten().all(|x| x.is_finite()));
    let pairs = a.as_flattened().iter().zip(b.as_flattened());
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn linear_flows_add_up_to_rounding() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for (out, set, half) in [("sum", "trace.t0=0", 0.5), ("other", "field[1].factor=0.25", 0.25)] {
        run(path, &format!("{FLOWS}{AROUND}"), &format!("--quiet --out {out} --set {set}"));
        let one = format!(
            "[field]\nflow = {{ u = \"y - {half} * x + 0.02\", v = \"-x + {half} * (0.5 + 0.1 * t)\" }}\n\
             sample = {{ nodes = [3, 3, 1], stop = 10.0, frames = 2 }}\n{AROUND}"
        );
        run(path, &one, &format!("--quiet --out {out}_one"));
        let apart = apart(&last(path, out), &last(path, &format!("{out}_one")));
        assert!(apart < 1e-14, "{apart}");
    }
    // The case of a run is read again.
    let case = std::fs::read_to_string(path.join("other/case.toml")).unwrap();
    assert!(case.starts_with("[[field]]\n") && case.contains("factor = 0.25"), "{case}");
    run(path, &case, "--quiet --out again");
    assert_same(path, ["other", "again"]);
    // Keys that do not belong to a formula.
    let said = run(path, &format!("{FLOWS}{AROUND}"), "--out noted --set field[2].file_dt=1.0");
    assert!(said.contains("`field[2].file_dt` has no effect"), "{said}");
}

#[test]
fn a_flow_is_added_to_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    for name in ["u_2.vti", "u_9.vti", "u_10.vti"] {
        std::fs::copy(fixture("series").join(name), path.join(name)).unwrap();
    }
    let case = |more: &str| {
        format!(
            "[[field]]\nfiles = \"u_*.vti\"\nvelocity = \"velocity\"\nignore_file_times = true\nfile_dt = 0.1\n{more}\
             [seeds]\nkind = \"grid\"\ncounts = [3, 3, 3]\nplacement = \"centres\"\n\
             [trace]\ndt = 0.05\n[save]\nevery = 1\nvelocity = true\nreport = \"never\"\n\
             [run]\ndevice = \"flex\"\nprecision = \"f64\"\n"
        )
    };
    run(path, &case(""), "--quiet --out one");
    run(path, &case("[[field]]\nflow = { u = 0.5, v = 0.25 }\n"), "--quiet --out two");
    let first = |out: &str| {
        let tracks = Tracks::open(path.join(out).join("tracks")).unwrap();
        tracks.velocity(0).unwrap().unwrap()
    };
    for (one, two) in first("one").iter().zip(first("two")) {
        let found = [0, 1, 2].map(|d| two[d] - one[d]);
        let away = [0.5, 0.25, 0.0].iter().zip(found).map(|(a, b)| (a - b).abs());
        assert!(away.fold(0.0, f64::max) < 1e-14, "{one:?} {two:?}");
    }
}

#[test]
fn what_several_fields_cannot_have_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    std::fs::copy(fixture("series").join("u_2.vti"), path.join("u_2.vti")).unwrap();
    std::fs::write(path.join("case.toml"), format!("{FLOWS}{AROUND}")).unwrap();
    for (set, parts) in [
        ("field[0].factor=2", &["field[0].factor is for further fields", "[[field]]"][..]),
        ("field[0].sample=", &["field[0] is a formula", "field[0].sample"]),
        ("field[1].sample=", &["field[1]: the formula depends on time", "frames = 25"]),
        ("field[1].sample.start=20", &["field[1]: [field.sample]"]),
        (
            "field[1].outside_time=zero",
            &["field[1]: its rule outside its times is Zero", "(`outside_time`)"],
        ),
        ("field[1].in_time=nearest", &["field[1]: velocities of", "`in_time = \"linear\"`"]),
        ("field[1].flow={ u = \"0.1 * z +\", v = 0 }", &["field[1]: field.flow"]),
        ("field[2].factor=inf", &["field[2]: its factor is inf"]),
        ("field[2]={ files = \"u_2.vti\", crop = \"auto\" }", &["field[2] has crop = \"auto\""]),
        ("field[2]={ files = \"u_2.vti\", radius = 1.0 }", &["field[2] has radius"]),
        ("field[2]={ files = \"u_2.vti\", diffusivity = \"K\" }", &["field[2] has diffusivity"]),
        ("field[2]={ files = \"u_3.vti\" }", &["u_3.vti"]),
        (
            "field[2]={ files = \"u_2.vti\", velocity = \"velocity\" }",
            &["field[2] has no velocity at", "`outside = \"zero\"`"],
        ),
        ("field.factor=2", &["there are 3 sections [[field]]", "field[0]"]),
        ("field=[]", &["`field` is missing"]),
    ] {
        let output =
            burntrace(path, &["run", "case.toml", "--quiet", "--out", "out", "--set", set]);
        assert_refused(&output, 2, parts);
        assert!(!path.join("out").exists(), "{set}");
    }
    let plan = burntrace(path, &["plan", "case.toml"]);
    assert!(plan.status.success(), "{}", text(&plan.stderr));
}

/// The fields, with a column of the seeds as a factor.
fn windage() -> String {
    FLOWS.replace("factor = 0.5", "factor = \"windage\"")
}

/// What follows the fields, with seeds in a file.
fn from_file() -> String {
    let start = AROUND.find("[seeds]").unwrap();
    let end = AROUND.find("[trace]").unwrap();
    AROUND[..start].to_string()
        + "[seeds]\nkind = \"file\"\npath = \"seeds.csv\"\n"
        + &AROUND[end..]
}

#[test]
fn a_column_of_the_seeds_is_the_factor_of_each() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let factors = [0.0, 0.25, -0.125, 0.25];
    let row = |(i, factor): (usize, &f64)| format!("{}, 0.25, 0.0, {factor}\n", 0.1 * i as f64);
    let rows: String = factors.iter().enumerate().map(row).collect();
    std::fs::write(path.join("seeds.csv"), format!("x,y,z,windage\n{rows}")).unwrap();
    let case = format!("{}{}", windage(), from_file());
    let said = run(path, &case, "--out out --set save.velocity=true --set save.report=always");
    let note = "field[1]: interpolated between the nodes of the first field, its velocity differs by up to ";
    assert!(said.contains(note) && said.contains(" (with a factor of 1) at "), "{said}");
    let found = last(path, "out");
    for (i, factor) in factors.iter().enumerate() {
        let set = format!("--quiet --out alone_{i} --set field[1].factor={factor}");
        run(path, &case, &set);
        let apart = apart(&found[i..=i], &last(path, &format!("alone_{i}"))[i..=i]);
        assert!(apart < 1e-14, "{factor}: {apart}");
    }
    assert_eq!(summary(path, "out")["field"]["added"][0]["factor"], "windage");
    let info = burntrace(path, &["info", "out"]);
    let expected = " + the column windage of the seeds times ";
    assert!(text(&info.stdout).contains(expected), "{}", text(&info.stdout));
    let report = std::fs::read_to_string(path.join("out/report.md")).unwrap();
    assert!(report.contains(" + the column `windage` of the seeds times "), "{report}");
    // The case of a run is read again; ranks and a run that is extended have the same bits.
    let written = std::fs::read_to_string(path.join("out/case.toml")).unwrap();
    assert!(written.contains("factor = \"windage\""), "{written}");
    let velocity = "--quiet --set save.velocity=true";
    run(path, &case, &format!("{velocity} --out joined --rank 0/1 --set run.piece=3"));
    assert_same(path, ["out", "joined"]);
    run(path, &case, &format!("{velocity} --out first --set trace.t1=2.0"));
    succeed(path, &["run", "--extend", "first", "--out", "longer", "--set", "trace.t1=5.0"]);
    assert_same(path, ["out", "longer"]);
    let plan = burntrace(path, &["plan", "case.toml"]);
    assert!(plan.status.success(), "{}", text(&plan.stderr));
}

#[test]
fn columns_that_cannot_be_factors_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    std::fs::write(path.join("seeds.csv"), "x,y,z,windage,none\n0,0,0,0.1,nan\n").unwrap();
    std::fs::write(path.join("case.toml"), format!("{}{}", windage(), from_file())).unwrap();
    let source =
        "source={ rate = 1.0, capacity = 5, inlet = { kind = \"face\", face = \"x-low\" } }";
    for (set, parts) in [
        ("field[1].factor=drag", &["has no column `drag`, but x, y, z, windage, none"][..]),
        ("field[1].factor=none", &["seeds.csv`, line 2: `nan` in column 5 is not a finite number"]),
        ("field[1].factor=true", &["field[1].factor", "a number, or the name of a column"]),
        (
            "field[2].factor=windage",
            &["field[1].factor and field[2].factor are columns of the seeds"],
        ),
        (
            "seeds={ kind = \"grid\", counts = [2, 2, 1] }",
            &["field[1].factor is the column `windage` of the seeds, which are not all from files"],
        ),
        (source, &["field[1].factor is the column `windage` of the seeds", "[[source]]"]),
        (
            "motion={ kind = \"inertial\", relaxation_time = 0.1, beta = 0.0 }",
            &["particles with inertia"],
        ),
        ("save.flow_map_gradient=true", &["the gradient of the flow map"]),
    ] {
        let output =
            burntrace(path, &["run", "case.toml", "--quiet", "--out", "out", "--set", set]);
        assert_refused(&output, 2, parts);
    }
    let one = format!("[field]\nflow = \"abc\"\nfactor = \"windage\"\n{}", from_file());
    std::fs::write(path.join("one.toml"), one).unwrap();
    let output = burntrace(path, &["run", "one.toml", "--quiet", "--out", "out"]);
    assert_refused(&output, 2, &["field.factor is for further fields"]);
}

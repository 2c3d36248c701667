//! Files in degrees, traced on a sphere, beside steps in degrees in Python.

use super::program::burntrace;
use super::requirements;
use super::resume::{assert_same, succeed, summary};
use super::workflows::Pixels;
use burntrace::{Status, io::Tracks};
use burntrace_plot::Land;
use std::path::Path;
use std::process::Command;

const CASE: &str = "[field]\nfiles = \"ocean.nc\"\n\
    [[seeds]]\nkind = \"uniform\"\ncount = 400\nlow = [-10.0, 35.0, 0.0]\nhigh = [5.0, 45.0, 0.0]\n\
    outside = \"not-located\"\n\
    [trace]\ndt = \"10 min\"\nt1 = \"20 d\"\n[save]\nevery_time = \"1 d\"\n\
    [run]\ndevice = \"flex\"\nout = \"out\"\n";

/// Runs `earth.py` in a folder, and returns what it prints.
pub fn script(python: &Path, folder: &Path, args: &[&str]) -> String {
    peer("earth.py", python, folder, args)
}

/// Runs a script of `tests/peers` in a folder, and returns what it prints.
pub fn peer(name: &str, python: &Path, folder: &Path, args: &[&str]) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/peers").join(name);
    let output = Command::new(python).arg(script).args(args).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn an_ocean_in_degrees_has_the_tracks_of_steps_in_degrees() {
    let Some(python) = requirements::python("netcdf4", "netCDF4") else { return };
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| script(&python, folder.path(), args);
    run(&["write", "ocean.nc"]);
    std::fs::write(folder.path().join("case.toml"), CASE).unwrap();
    let output = burntrace(folder.path(), &["run", "case.toml", "--quiet"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let summary = summary(folder.path(), "out");
    let count = |name: &str| summary["status"][name].as_u64().unwrap_or(0);
    assert!(count("beached") > 5 && summary["not_located"].as_u64() > Some(5), "{summary}");
    let other = |set: &str, out: &str| {
        let args = ["run", "case.toml", "--quiet", "--set", set, "--out", out];
        let output = burntrace(folder.path(), &args);
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for (set, status) in [
        ("boundary.coast=\"exit\"", Some("left the field")),
        ("boundary.coast=\"slide\"", None),
        ("field.not_finite=\"outside\"", Some("left the field")),
    ] {
        assert_eq!(other(set, "other").0, Some(0), "{set}");
        let summary = self::summary(folder.path(), "other");
        let ended = |name: &str| summary["status"][name].as_u64().unwrap_or(0);
        assert_eq!(ended("beached"), 0, "{set}");
        assert_eq!(ended("left the field") > 5, status.is_some(), "{set}: {summary}");
        std::fs::remove_dir_all(folder.path().join("other")).unwrap();
    }
    let sea = [
        "run",
        "case.toml",
        "--quiet",
        "--out",
        "sea",
        "--set",
        "seeds[0].placement=\"sea\"",
        "--set",
        "seeds[0].outside=\"error\"",
    ];
    let output = burntrace(folder.path(), &sea);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let in_sea = self::summary(folder.path(), "sea");
    assert_eq!(in_sea["released"].as_u64(), Some(400), "{in_sea}");
    let (code, error) = other("seeds[0].outside=\"error\"", "other");
    assert!(code == Some(2) && error.contains("seeds are outside the water"), "{error}");
    let error = other("field.slip=\"free\"", "slip").1;
    assert_eq!(error, "", "a slip is fine with land");
    let output = burntrace(folder.path(), &["export", "out", "--to", "csv", "--quiet"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let worst: f64 = run(&["compare", "ocean.nc", "out/tracks.csv"]).trim().parse().unwrap();
    // Interpolating vectors instead of components changes some metres, and single precision rounds to 1.7 m.
    assert!(worst < 20.0, "{worst} m");
    let report = std::fs::read_to_string(folder.path().join("out/report.md")).unwrap();
    assert!(report.contains("pictures/density.png"), "{report}");
    let first = report.split("\n\n").nth(1).unwrap();
    for part in [
        format!(" {} (", count("beached")),
        " landed on the coast".into(),
        " left through the face x-low (west)".into(),
        " left through the face y-high (north)".into(),
        " days) of their release.".into(),
    ] {
        assert!(first.contains(&part), "{part}: {first}");
    }
    densities(folder.path());
}

/// Densities of the run `out` are per square kilometre, and others are refused.
fn densities(folder: &Path) {
    let density = |more: &str| {
        let args = format!("density out --json {more}");
        let output = burntrace(folder, &args.split_whitespace().collect::<Vec<_>>());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()[0].clone()
    };
    let counts = density("--method histogram --nodes 6x4");
    let particles = counts["particles"].as_f64().unwrap();
    assert!(
        (counts["integral"].as_f64().unwrap() - particles).abs() < 1e-6 * particles,
        "{counts}"
    );
    assert_eq!((&counts["unit"], particles > 100.0), (&"1/km²".into(), true));
    let shells =
        density("--method cloud-in-cell --axes xyz --nodes 5 --low 350,30,-10 --high 365,50,10");
    assert_eq!(shells["unit"], "1/km³");
    let kernels = density("--bandwidth 100000 --low -20,25,0 --high 15,60,0");
    assert_eq!(kernels["bandwidth"], serde_json::json!([1e5, 1e5, 0.0]));
    assert!((kernels["integral"].as_f64().unwrap() - 1.0).abs() < 0.01, "{kernels}");
    for (command, expected) in [
        ("ftle out", "are not on a lattice"),
        ("density out --plane 0,0,0,1,0,0,0,1,0", "--plane is of lengths"),
        ("density out --bandwidth 1", "a narrower kernel reaches no node"),
    ] {
        let output = burntrace(folder, &command.split_whitespace().collect::<Vec<_>>());
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && text.contains(expected), "{text}");
    }
}

#[test]
fn exponents_of_a_rigid_turn_of_the_globe_vanish() {
    let Some(python) = requirements::python("netcdf4", "netCDF4") else { return };
    let folder = tempfile::tempdir().unwrap();
    script(&python, folder.path(), &["globe", "globe.nc"]);
    let case = "[field]\nfiles = \"globe.nc\"\n[seeds]\nkind = \"grid\"\ncounts = [40, 20, 1]\n\
        placement = \"corners\"\nlow = [100.0, 40.0, 0.0]\nhigh = [120.0, 50.0, 0.0]\n\
        [trace]\ndt = \"1 h\"\nt1 = \"1 d\"\n[run]\nprecision = \"f64\"\nout = \"out\"\n";
    std::fs::write(folder.path().join("case.toml"), case).unwrap();
    for args in [&["run", "case.toml", "--quiet"][..], &["ftle", "out", "--json"]] {
        let output = burntrace(folder.path(), args);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        if args[0] == "ftle" {
            let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            let size = ["min", "max"].map(|key| found[key].as_f64().unwrap().abs());
            // Between nodes 5 degrees apart the flow has shears of 2e-7/s. Degrees for metres would make it 1e-4/s.
            assert!(size.iter().all(|x| *x < 3e-7) && found["missing"] == 0, "{found}");
        }
    }
}

/// The fraction of the pixels of a picture with the colour of land.
fn share_of_land(path: &Path) -> f64 {
    let pixels = Pixels::read(path).rgb;
    let is_land = |pixel: &&[u8]| **pixel == [199, 200, 201];
    pixels.chunks_exact(3).filter(is_land).count() as f64 / (pixels.len() / 3) as f64
}

#[test]
fn land_is_stored_with_a_run_and_drawn_in_its_pictures() {
    let Some(python) = requirements::python("netcdf4", "netCDF4") else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    script(&python, path, &["write", "ocean.nc"]);
    std::fs::write(path.join("case.toml"), CASE).unwrap();
    for more in [
        "case.toml",
        "case.toml --out first --set trace.t1=864000",
        "--extend first --out longer --set trace.t1=1728000",
        "case.toml --out joined --rank 0/1 --set run.piece=100",
    ] {
        let args = format!("run --quiet {more}");
        succeed(path, &args.split_whitespace().collect::<Vec<_>>());
    }
    let stored = |name: &str| std::fs::read_to_string(path.join(name).join("land.json")).unwrap();
    let text = stored("out");
    assert_eq!([stored("longer"), stored("joined")], [text.clone(), text.clone()]);
    let land: Land = serde_json::from_str(&text).unwrap();
    // The cells around the nodes nearer than a degree to 357°E, 40.5°N, in any turn.
    let on_land = [[356.1, 39.6], [357.9, 41.4], [-3.0, 40.5]];
    assert!(on_land.iter().all(|at| land.contains(*at)), "{text}");
    assert!(
        ![[356.0, 40.5], [358.0, 40.5], [357.0, 39.5], [357.0, 41.5]]
            .iter()
            .any(|at| land.contains(*at))
    );
    succeed(path, &["render", "out", "--view", "xy,3d", "--quiet"]);
    for name in ["tracks", "density"] {
        // An island of 2 x 2 in a map of 15 x 10 degrees, the colour of which antialiasing changes at its coast.
        let share = share_of_land(&path.join(format!("out/pictures/{name}.png")));
        assert!((0.008..0.025).contains(&share), "{name}: {share}");
    }
    std::fs::write(path.join("out/land.json"), text.replace("[[", "[[[")).unwrap();
    let output = burntrace(path, &["render", "out", "--quiet"]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{message}");
    assert!(share_of_land(&path.join("out/pictures/tracks.png")) < 1e-4);
    let output = burntrace(path, &["info", "out"]);
    let message = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(message.contains("land.json is damaged") && message.contains("no land"), "{message}");
}

/// A case of `seam.py` with a domain.
const SEAM: &str = "[field]\nfiles = \"FILE.nc\"\nFIELD\n\
    [domain]\nlow = [LOW, -40.0, 0.0]\nhigh = [HIGH, 40.0, 0.0]\n\
    [[seeds]]\nkind = \"grid\"\ncounts = [9, 9, 1]\nlow = [-8.0, -30.0, 0.0]\nhigh = [4.0, 30.0, 0.0]\n\
    outside = \"not-located\"\n\
    [[seeds]]\nkind = \"uniform\"\ncount = 30\nlow = [352.0, -30.0, 0.0]\nhigh = [364.0, 30.0, 0.0]\n\
    outside = \"not-located\"\n\
    [trace]\ndt = \"1 h\"\n[save]\nevery_time = \"12 h\"\nreport = \"never\"\nfields = [\"thetao\"]\n\
    [run]\nprecision = \"f64\"\ndevice = \"flex\"\n";

#[test]
fn domains_may_be_in_any_turn_of_longitudes() {
    let Some(python) = requirements::python("netcdf4", "netCDF4") else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    peer("seam.py", &python, path, &["."]);
    let tracks = |name: &str, file: &str, [low, high]: [f64; 2], field: &str, temperature: &str| {
        let case = SEAM.replace("FILE", file).replace("FIELD", field);
        let case = case.replace("LOW", &format!("{low:?}")).replace("HIGH", &format!("{high:?}"));
        let mut case = case.replace("\"thetao\"", temperature);
        if low == -50.0 {
            case = case.replace("[-8.0,", "[-48.0,").replace("[4.0,", "[-16.0,");
            case = case.replace("[352.0,", "[312.0,").replace("[364.0,", "[344.0,");
        }
        std::fs::write(path.join("case.toml"), case).unwrap();
        let output = burntrace(path, &["run", "case.toml", "--quiet", "--out", name]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && said.is_empty(), "{name}: {said}");
        let tracks = Tracks::open(path.join(name).join("tracks")).unwrap();
        let save = tracks.num_saves() - 1;
        let json = summary(path, name);
        assert!(json["not_located"].as_u64() > Some(3), "{json}");
        (
            tracks.position(save).unwrap(),
            tracks.status(save).unwrap(),
            tracks.array("thetao", save).unwrap(),
        )
    };
    let rolled = tracks("rolled", "dateline", [-10.0, 5.0], "", "\"thetao\"");
    assert!(rolled.1.iter().filter(|status| **status == Status::Active).count() > 30);
    let own = "\"thetao\"";
    let other = "{ array = \"thetao\", files = \"dateline.nc\" }";
    let crop = "crop = { low = [340.0, -60.0, 0.0], high = [380.0, 60.0, 0.0] }";
    for (name, file, domain, field, temperature) in [
        ("turned", "greenwich", [-10.0, 5.0], "", own),
        ("east", "dateline", [350.0, 365.0], "", own),
        ("closed", "closed", [350.0, 365.0], "", own),
        ("greenwich", "greenwich", [350.0, 365.0], "", own),
        ("crop", "greenwich", [-10.0, 5.0], crop, own),
        ("other", "greenwich", [350.0, 365.0], "", other),
    ] {
        let (positions, statuses, temperatures) = tracks(name, file, domain, field, temperature);
        assert_eq!(statuses, rolled.1, "{name}");
        // Saved longitudes are in the domain.
        let turn = domain[0] + 10.0;
        for (at, [x, y, _]) in positions.iter().zip(&rolled.0) {
            let away = (at[0] - x - turn).abs().max((at[1] - y).abs());
            assert!(away < 1e-9 || x.is_nan(), "{name}: {at:?} {x} {y}");
        }
        let pairs = temperatures.iter().zip(&rolled.2);
        assert!(pairs.clone().all(|(a, b)| (a - b).abs() < 1e-9 || b.is_nan()), "{name}");
        assert!(pairs.filter(|(a, _)| !a.is_nan()).count() > 30, "{name}");
    }
    let [west, atlantic] =
        ["west", "atlantic"].map(|file| tracks(file, file, [-50.0, -20.0], "", own));
    // As text, which is equal where numbers are none.
    assert_eq!(format!("{west:?}"), format!("{atlantic:?}"));
    assert!(west.1.contains(&Status::Active));
}

/// Particles that go around the earth more than once, one of which crosses the seam between two saves.
const GLOBE: &str = "[field]\nfiles = \"globe.nc\"\noutside_time = \"hold\"\n\
    [[seeds]]\nkind = \"grid\"\ncounts = [5, 3, 1]\nlow = [-180.0, -60.0, 0.0]\nhigh = [180.0, 60.0, 0.0]\n\
    [trace]\ndt = \"1 h\"\nt1 = \"10 d\"\n[save]\nevery_time = \"12 h\"\nlongitude = \"continuous\"\n\
    [run]\ndevice = \"flex\"\nout = \"out\"\n";

#[test]
fn continuous_longitudes_go_on_around_the_earth() {
    let Some(python) = requirements::python("netcdf4", "netCDF4") else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    script(&python, path, &["globe", "globe.nc"]);
    std::fs::write(path.join("case.toml"), GLOBE).unwrap();
    let run = |more: &str| {
        let args = format!("run --quiet {more}");
        succeed(path, &args.split_whitespace().collect::<Vec<_>>());
    };
    run("case.toml");
    run("case.toml --out wrapped --set save.longitude=wrapped");
    run("case.toml --out first --set trace.t1=432000");
    run("--extend first --out longer --set trace.t1=864000");
    run("case.toml --out joined --rank 0/1 --set run.piece=4");
    assert_same(path, ["out", "longer"]);
    assert_same(path, ["out", "joined"]);
    let [out, wrapped] =
        ["out", "wrapped"].map(|name| Tracks::open(path.join(name).join("tracks")).unwrap());
    let last = out.num_saves() - 1;
    let (continuous, in_domain) = (out.position(last).unwrap(), wrapped.position(last).unwrap());
    let [none, turns] = [&out, &wrapped].map(|tracks| tracks.image(last).unwrap().unwrap());
    assert!(none.iter().all(|image| *image == [0; 3]) && turns.iter().any(|image| image[0] > 0));
    for ((continuous, wrapped), turns) in continuous.iter().zip(&in_domain).zip(&turns) {
        let expected = wrapped[0] + 360.0 * f64::from(turns[0]);
        assert!((continuous[0] - expected).abs() < 1e-4, "{continuous:?} {wrapped:?} {turns:?}");
        assert_eq!(continuous[1..], wrapped[1..]);
    }
    // The lines of tracks are whole.
    let page = |name: &str| {
        succeed(path, &["view", name, "--no-open", "--quiet"]);
        let domain = [[-180.0, -90.0, 0.0], [180.0, 90.0, 0.0]];
        let tracks = Tracks::open(path.join(name).join("tracks")).unwrap();
        burntrace::trajectories::sample(&tracks, domain, 10, 99).unwrap().trajectories
    };
    let [whole, broken] = ["out", "wrapped"].map(page);
    let joined = |of: &burntrace_plot::Trajectories| of.joined.iter().filter(|is| **is).count();
    assert_eq!(joined(&whole), whole.joined.len() - whole.particles.len());
    assert!(joined(&broken) < joined(&whole) && broken.domain[1][0] == 180.0);
    assert!(whole.domain[1][0] > 500.0, "{:?}", whole.domain);
    let output = burntrace(path, &["run", "case.toml", "--set", "field={ flow = \"uniform\" }"]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.code() == Some(2) && text.contains("files with axes in degrees"),
        "{text}"
    );
}

#[test]
fn tracks_are_exported_for_maps_and_as_cf_trajectories() {
    let Some(python) = requirements::python("netcdf4", "netCDF4") else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    script(&python, path, &["globe", "globe.nc"]);
    let case = GLOBE.replace("longitude = \"continuous\"", "velocity = true").replace(
        "high = [180.0, 60.0, 0.0]\n",
        "high = [180.0, 60.0, 0.0]\n[[seeds]]\nkind = \"list\"\npoints = [[0.0, 0.0, 0.0]]\nrelease = 100000.0\n",
    );
    std::fs::write(path.join("case.toml"), case).unwrap();
    succeed(path, &["run", "case.toml", "--quiet"]);
    let export = |more: &str| {
        let args = format!("export out --json {more}");
        let output = burntrace(path, &args.split_whitespace().collect::<Vec<_>>());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    assert_eq!(export("--to geojson")["features"], 16);
    let text = std::fs::read_to_string(path.join("out/tracks.geojson")).unwrap();
    let lines: serde_json::Value = serde_json::from_str(&text).unwrap();
    let features = lines["features"].as_array().unwrap();
    let parts = |feature: &serde_json::Value| {
        assert_eq!(feature["geometry"]["type"], "MultiLineString");
        serde_json::from_value::<Vec<Vec<[f64; 3]>>>(feature["geometry"]["coordinates"].clone())
            .unwrap()
    };
    for parts in features.iter().map(parts) {
        assert!(
            parts.len() > 1 && parts[0].last().unwrap()[0] == 180.0 && parts[1][0][0] == -180.0
        );
        let steps =
            parts.iter().flat_map(|part| part.windows(2)).map(|pair| pair[1][0] - pair[0][0]);
        assert!(steps.clone().all(|step| (0.0..40.0).contains(&step)));
    }
    let late = &features[15]["properties"];
    assert_eq!((&late["particle"], &late["status"]), (&15.into(), &"active".into()));
    assert_eq!((&late["release_time"], &late["end_time"]), (&1e5.into(), &serde_json::Value::Null));
    assert_eq!(
        export("--to geojson --rows saves --from-time 864000 --out ends.geojson")["features"],
        16
    );
    let text = std::fs::read_to_string(path.join("ends.geojson")).unwrap();
    assert!(text.matches("\"type\":\"Point\"").count() == 16 && text.contains("\"velocity_x\""));
    assert_eq!(export("--to flatgeobuf")["features"], 16);
    assert!(std::fs::read(path.join("out/tracks.fgb")).unwrap().starts_with(b"fgb\x03fgb"));
    assert_eq!(export("--to zarr")["trajectories"], 16);
    let again = burntrace(path, &["export", "out", "--to", "zarr"]);
    assert!(
        again.status.code() == Some(2)
            && String::from_utf8_lossy(&again.stderr).contains("remove it")
    );
    let Some(python) = requirements::python("python", "xarray, zarr, pandas") else { return };
    export("--to csv");
    let printed = peer("trajectories.py", &python, path, &["out/tracks.zarr", "out/tracks.csv"]);
    assert_eq!(printed.trim(), "16 21");
}

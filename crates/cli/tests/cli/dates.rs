//! Dates in cases, in the calendar of the field's files.

use super::program::{assert_refused, burntrace, text};
use super::requirements;
use super::resume::{assert_same, succeed, summary};
use std::path::Path;
use std::process::Command;

/// Daily frames for 41 days from 2000-02-01 06:00.
const WRITE: &str = "import sys, netCDF4, numpy as np
for calendar in ['standard', 'noleap', '360_day']:
    data = netCDF4.Dataset(calendar + '.nc', 'w')
    axes = {'time': (0.25 + np.arange(41.0), {'units': 'days since 2000-02-01', 'calendar': calendar}),
            'y': (np.array([0, 5e5, 1e6]), {'units': 'm'}), 'x': (np.array([0, 5e5, 1e6]), {'units': 'm'})}
    for name, (values, attributes) in axes.items():
        data.createDimension(name, len(values))
        variable = data.createVariable(name, 'f8', (name,))
        variable[:] = values
        variable.setncatts(attributes)
    for name, phase in [('u', 0.0), ('v', 1.0)]:
        variable = data.createVariable(name, 'f4', ('time', 'y', 'x'))
        variable.units = 'm s-1'
        variable[:] = 0.1 * np.sin(np.arange(41.0) / 5 + phase)[:, None, None] + 1e-7 * np.arange(9.0).reshape(3, 3)
    data.close()
";

/// A case with these times: of the frames, seeds, their repetition, the rates of a source, and the run.
fn case(calendar: &str, times: [&str; 9]) -> String {
    let [start, stop, release, until, rate0, rate1, t0, t1, save] = times;
    format!(
        "[field]\nfiles = \"{calendar}.nc\"\nframes = {{ start = {start}, stop = {stop} }}\n\
         [[seeds]]\nkind = \"list\"\npoints = [[3e5, 3e5, 0.0]]\nrelease = {release}\n\
         repeat = {{ every = \"1 d\", until = {until} }}\n\
         [[seeds]]\nkind = \"file\"\npath = \"seeds.csv\"\n\
         [[source]]\ntable = [[{rate0}, 1e-4], [{rate1}, 0.0]]\ncapacity = 99\n\
         inlet = {{ kind = \"points\", points = [[4e5, 4e5, 0.0]] }}\n\
         [trace]\nt0 = {t0}\nt1 = {t1}\ndt = \"6 h\"\n[save]\ntimes = [{save}, {t1}]\nvelocity = true\n\
         [run]\ndevice = \"flex\"\n"
    )
}

/// Seconds of a number of days since the first frame, at 06:00.
fn days(days: f64) -> String {
    format!("{:?}", 86_400.0 * days - 21_600.0)
}

fn written(folder: &Path) -> Option<()> {
    let python = requirements::python("netcdf4", "netCDF4")?;
    let output = Command::new(python).args(["-c", WRITE]).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    Some(())
}

fn write(folder: &Path, name: &str, content: &str) {
    std::fs::write(folder.join(name), content).unwrap();
}

#[test]
fn dates_give_the_tracks_of_seconds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let Some(()) = written(path) else { return };
    // 2000-03-01 is 29, 28 or 30 days after 2000-02-01.
    for (calendar, march) in [("standard", 29.0), ("noleap", 28.0), ("360_day", 30.0)] {
        let run = |name: &str, case: String, seed: String| {
            write(path, "seeds.csv", &format!("x,y,time\n1e5,1e5,{seed}\n2e5,2e5,{}\n", days(9.0)));
            write(path, "case.toml", &case);
            succeed(path, &["run", "case.toml", "--quiet", "--overwrite", "--out", name]);
        };
        let dates = case(
            calendar,
            [
                "\"2000-02-02\"",
                "2000-03-08",
                "\"2000-02-05 06:00:00Z\"",
                "2000-02-08T06:00:00",
                "\"2000-02-04\"",
                "2000-02-06",
                "\"2000-02-03\"",
                "2000-03-03T12:00:00",
                "\"2000-02-20T12:00\"",
            ],
        );
        run("dates", dates, "2000-03-01T00:00".into());
        let seconds = [1.0, march + 7.0, 4.25, 7.25, 3.0, 5.0, 2.0, march + 2.5, 19.5].map(days);
        let seconds = case(calendar, seconds.each_ref().map(String::as_str));
        run("seconds", seconds, days(march));
        assert_same(path, ["dates", "seconds"]);
        // The written case is the same run.
        std::fs::copy(path.join("dates/case.toml"), path.join("again.toml")).unwrap();
        succeed(path, &["run", "again.toml", "--quiet", "--overwrite", "--out", "again"]);
        assert_same(path, ["dates", "again"]);
        let texts = ["dates", "seconds"].map(|name| {
            let text = std::fs::read_to_string(path.join(name).join("case.toml")).unwrap();
            text.replace(name, "")
        });
        assert_eq!(texts[0], texts[1]);
        let json = summary(path, "dates");
        assert_eq!(json["t0_date"], "2000-02-03 00:00");
        assert_eq!(json["time_date"], "2000-03-03 12:00");
        assert!(json["released"].as_u64() > Some(6), "{json}");
        let report = std::fs::read_to_string(path.join("dates/report.md")).unwrap();
        assert!(report.contains("(2000-02-20 12:00 to 2000-03-03 12:00)"), "{report}");
        let first = report.split("\n\n").nth(1).unwrap();
        let dates =
            ["between t = ", " (2000-02-0", " and followed to t = ", " (2000-03-03 12:00)."];
        assert!(dates.iter().all(|part| first.contains(part)), "{first}");
    }
}

/// Seconds of a duration at 06:00 on 2000-02-03, from two days later on.
const SHORT: &str = "[field]\nfiles = \"noleap.nc\"\nframes = { start = 2000-02-03 }\n\
    [seeds]\nkind = \"grid\"\ncounts = [2, 2, 1]\nrepeat = { every = \"12 h\" }\n\
    [trace]\nt1 = \"2 d\"\ndt = \"6 h\"\n[save]\nevery_time = \"12 h\"\n\
    [run]\ndevice = \"flex\"\nout = \"out\"\n";

#[test]
fn a_duration_counts_from_the_first_frame_and_seeds_are_repeated_to_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let Some(()) = written(path) else { return };
    write(path, "case.toml", SHORT);
    succeed(path, &["run", "case.toml", "--quiet"]);
    let json = summary(path, "out");
    // The first frame of 2000-02-03 is at 06:00.
    assert_eq!(json["t0_date"], "2000-02-03 06:00");
    assert_eq!(json["time_date"], "2000-02-05 06:00");
    // Four seeds at 0, 12, 24 and 36 hours.
    assert_eq!((&json["released"], &json["warnings"]), (&16.into(), &serde_json::json!([])));
    let run = |more: &str| {
        let args = format!("run --quiet {more}");
        succeed(path, &args.split_whitespace().collect::<Vec<_>>());
    };
    run(
        "case.toml --out given --set trace.t0=2000-02-03T06:00 --set seeds.repeat.until=2000-02-04T18:00",
    );
    assert_same(path, ["out", "given"]);
    run("case.toml --out backward --set trace.dt=-21600 --set trace.t1=-1d");
    let json = summary(path, "backward");
    assert_eq!((&json["time_date"], &json["released"]), (&"2000-03-12 06:00".into(), &8.into()));
    // A longer run has the same particles.
    run("--extend out --out longer --set trace.t1=432000");
    assert_eq!(summary(path, "longer")["released"], 16);
    let zero = SHORT.replace("every = \"12 h\" }", "every = \"-12 h\" }");
    write(path, "case.toml", &zero);
    let output = burntrace(path, &["run", "case.toml", "--quiet", "--overwrite"]);
    assert_refused(&output, 2, &["seeds.repeat is every -43200.0; give a positive interval"]);
}

#[test]
fn commands_take_dates_and_durations() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let Some(()) = written(path) else { return };
    write(path, "case.toml", SHORT);
    succeed(path, &["run", "case.toml", "--quiet"]);
    let json = |args: &str| {
        let output = burntrace(path, &args.split_whitespace().collect::<Vec<_>>());
        assert!(output.status.success(), "{args}: {}", text(&output.stderr));
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    // Saves of 4, 4, 8, 12 and 16 particles, 2 days after the first frame and later.
    let rows = |more: &str| json(&format!("export out --to csv --json {more}"))["rows"].clone();
    assert_eq!(rows("--from-time 2000-02-04T18:00"), 28);
    assert_eq!(rows("--from-time 302400 --to-time 3.5d"), 12);
    assert_eq!(rows("--to-time 2000-02-03T18:00:00Z"), 8);
    assert_eq!(rows("--final"), 16);
    assert_eq!(rows("--final --status active --every-particle 4"), 4);
    let density = |save: &str| {
        json(&format!("density out --json --no-pictures --save t={save}"))[0]["save"].clone()
    };
    for save in ["2000-02-04T06:00", "3d", "259200"] {
        assert_eq!(density(save), 2, "{save}");
    }
    write(path, "points.csv", "x,y,time\n1e5,1e5,2000-02-03T18:00\n");
    let probed = |more: &str| {
        json(&format!("probe noleap.nc --at points.csv --json {more}"))["rows"].clone()
    };
    let [given, numbers, dates] =
        ["", "--time 216000,3d", "--time 2000-02-03T18:00,2000-02-04T06:00"].map(probed);
    assert_eq!((&given[0], &numbers), (&numbers[0], &dates));
    assert_eq!(numbers.as_array().map(Vec::len), Some(2));
    let refused = |args: &str, parts: &[&str]| {
        let args: Vec<_> = args.split_whitespace().collect();
        assert_refused(&burntrace(path, &args), 2, parts);
    };
    let no_such = "2000-02-29: the calendar noleap has no such date";
    refused("export out --to csv --from-time 2000-02-29", &[no_such]);
    refused("density out --save t=2000-02-29", &[no_such]);
    refused("density out --save t=noon", &["`t=noon`", "or a date such as"]);
    refused("probe noleap.nc --at points.csv --time 2000-02-29", &["--time: ", no_such]);
    refused("probe noleap.nc --at points.csv --file-dt noon", &["give a number, or a duration"]);
}

#[test]
fn dates_that_are_none_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let Some(()) = written(path) else { return };
    let case = "[field]\nfiles = \"noleap.nc\"\n[seeds]\nkind = \"list\"\npoints = [[3e5, 3e5, 0.0]]\n\
                [trace]\nt0 = \"2000-02-03\"\nt1 = \"2 d\"\ndt = \"6 h\"\n[run]\ndevice = \"flex\"\n";
    write(path, "case.toml", case);
    let refused = |set: &str, parts: &[&str]| {
        let output = burntrace(path, &["run", "case.toml", "--out", "none", "--set", set]);
        assert_refused(&output, 2, parts);
    };
    let no_such = "the calendar noleap has no such date";
    refused("trace.t1=2001-02-29", &["--set trace.t1=2001-02-29", "`trace.t1` is", no_such]);
    refused("trace.t1=2000-02-05 noon", &["`trace.t1` is \"2000-02-05 noon\"", no_such]);
    refused("trace.dt=2000-02-05", &["`trace.dt` is 2000-02-05; give a number"]);
    refused("units.time=h", &["units.time is \"h\"", "dates"]);
    let range = ["from 2000-02-03 00:00 to 2000-06-01 00:00", "to 2000-03-13 06:00"];
    refused("trace.t1=2000-06-01", &range);
    refused("field.frames.start=2001-01-01", &["2000-02-01 06:00 to 2000-03-13 06:00"]);
    refused("trace.t1=2000-01-03", &["change its sign", "t = 0 is 2000-02-01 06:00"]);
    refused(
        "field={ flow = \"abc\" }",
        &["line 7: `trace.t0` is \"2000-02-03\"; the field has no dates; give a number"],
    );
    let vtk = super::program::fixture("series/u_2.vti").display().to_string();
    refused(
        &format!("field={{ files = '{vtk}' }}"),
        &["`trace.t0` is \"2000-02-03\"; the files of the field have no dates; give a number"],
    );
    // A duration counts from the date, and dates are shown.
    let output = burntrace(path, &["run", "case.toml", "--out", "out"]);
    let (said, shown) = (text(&output.stderr), text(&output.stdout));
    assert!(output.status.success(), "{said}");
    assert!(shown.contains("dates      2000-02-03 00:00 to 2000-02-05 00:00"), "{shown}");
    assert!(said.contains("t = 324000 (2000-02-05 00:00)"), "{said}");
    let shown = text(&burntrace(path, &["info", "noleap.nc"]).stdout);
    assert!(shown.contains("t = 0 to 3456000 (2000-02-01 06:00 to 2000-03-13 06:00)"), "{shown}");
}

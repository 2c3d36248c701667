//! Each key of the case file with invalid and extreme values: the program runs the case, or refuses it
//! within seconds before it writes anything.
//!
//! By default a part of the cases; `BURNTRACE_FUZZ=all` takes all of them.

use super::program::{burntrace, fixture, text};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use toml::{Table, Value};

/// A case takes a fraction of a second; this limit allows for a busy machine.
const LIMIT: Duration = Duration::from_secs(20);

/// One of this number of cases is taken by default.
const STRIDE: usize = 31;

/// Settings that make the case of `burntrace init` small and quick.
const SMALL: &str = "field.sample = { nodes = [9, 5, 1], start = 0.0, stop = 10.0, frames = 3 }\n\
    seeds.count = 20\nseeds.low = [0.5, 0.25, 0.0]\nseeds.high = [1.5, 0.75, 0.0]\nseeds.release = 0.0\n\
    domain.low = [0.0, 0.0, 0.0]\ndomain.high = [2.0, 1.0, 0.0]\n\
    trace.t0 = 0.0\ntrace.t1 = 1.0\ntrace.dt = 0.25\nsave.every = 2\nsave.vtk = []\nsave.report = \"never\"\n\
    run.device = \"flex\"\nrun.threads = 1\nrun.out = \"out\"\nrun.checkpoint_segments = 2\n\
    run.memory = \"1GiB\"\nrun.batch = 7\nrun.piece = 5\n";

/// Sections that all other cases have.
const COMMON: &str = "trace = { t0 = 0.0, t1 = 1.0, steps = 4 }\nsave = { report = \"never\" }\n\
    run = { device = \"flex\", threads = 1, out = \"out\" }\n";
const FLOW: &str = "field = { flow = \"uniform\", sample = { nodes = [3, 3, 3] } }\n\
    domain = { low = [0.0, 0.0, 0.0], high = [2.0, 2.0, 2.0] }\n";
const SEEDS: &str = "seeds = { kind = \"list\", points = [[0.25, 0.5, 0.5], [0.5, 0.5, 0.5]] }\n";
const AT: &str = "{ kind = \"points\", points = [[0.5, 0.5, 0.5]] }";

/// A case with the built-in flow.
fn flow(sections: &str) -> String {
    format!("{COMMON}{FLOW}{sections}\n")
}

/// A case with the built-in flow and two seeds.
fn seeded(sections: &str) -> String {
    flow(&format!("{SEEDS}{sections}"))
}

/// The optional keys, by cases that have them.
fn optional() -> Vec<String> {
    [settings(), seeds(), inflow(), obstacles(), files()].concat()
}

fn settings() -> Vec<String> {
    let walk = "walk = { diffusivity = 1e-3, scheme = \"milstein\", seed = 1 }";
    vec![
        seeded("save = { every_time = 0.5, velocity = true, report = \"never\" }"),
        seeded("save = { times = [0.25, 1.0], vtk = [\"lines\"], report = \"never\" }"),
        seeded("units = { length = \"m\", time = \"s\" }"),
        seeded(
            "trace = { t0 = 0.0, t1 = 1.0, steps = 4, stop_when = [\"age > 0.5\", \"integral(shear_rate) > 9\"] }\n\
             save = { fields = [\"shear_rate\", \"path_length\", \"time_above(speed, 1)\"], report = \"never\" }",
        ),
        seeded(walk),
        seeded("walk = { diffusivity = [1e-3, 1e-3, 0.0] }"),
        seeded("walk = { smagorinsky = 0.1, factors = [1.0, 1.0, 0.0] }"),
        seeded("walk = { profile = { z = [0.0, 1.0], diffusivity = [1e-3, 2e-3] } }"),
        seeded(
            "motion = { kind = \"inertial\", diameter = 1e-4, density = 2650.0, fluid_density = 1000.0, \
             viscosity = 1e-3, drag = \"schiller-naumann\", gravity = [0.0, 0.0, -9.81], \
             initial_velocity = \"zero\" }",
        ),
        seeded(
            "motion = { kind = \"inertial\", diameter = { scale = 1e-4, spread = 3.0, seed = 1 }, density = 2650.0, \
             fluid_density = 1000.0, viscosity = 1e-3 }",
        ),
        seeded(
            "motion = { kind = \"inertial\", relaxation_time = 0.1, beta = 0.0, restitution = [0.5, 1.0], contact = \"centre\", lift = \"none\", \
             turbulence = { k = 0.1, time_scale = 0.2 } }",
        ),
        seeded(
            "trace = { t0 = 0.0, t1 = 1.0, scheme = \"dormand-prince\", tolerance = { relative = 1e-4, \
             absolute = 1e-6, min_step = 1e-3, max_step = 0.5 } }",
        ),
    ]
}

fn seeds() -> Vec<String> {
    let seeds = |keys: &str| flow(&format!("seeds = {{ {keys} }}"));
    vec![
        seeds("kind = \"grid\", counts = [2, 2, 2], auxiliary = 1e-3, low = [0.5, 0.5, 0.5]"),
        seeds("kind = \"sobol\", count = 8, high = [1.0, 1.0, 1.0]"),
        seeds(
            "kind = \"gaussian\", count = 8, seed = 1, centre = [0.5, 1.0, 1.0], \
             deviation = [0.01, 0.0, 0.01]",
        ),
        seeds("kind = \"line\", count = 8, from = [0.5, 0.5, 0.5], to = [0.5, 1.0, 1.0]"),
        seeds(
            "kind = \"plane\", counts = [2, 3], origin = [0.5, 0.5, 0.5], edge1 = [0.0, 1.0, 0.0], \
             edge2 = [0.0, 0.0, 1.0]",
        ),
        seeds(
            "kind = \"disc\", count = 8, centre = [0.5, 1.0, 1.0], normal = [1.0, 0.0, 0.0], radius = 0.5",
        ),
        seeds("kind = \"sphere\", count = 8, centre = [1.0, 1.0, 1.0], radius = 0.5"),
        seeds("kind = \"ball\", count = 8, seed = 1, centre = [1.0, 1.0, 1.0], radius = 0.5"),
        seeds("kind = \"file\", path = \"seeds.csv\""),
        flow(
            "seeds = [{ kind = \"line\", count = 4, from = [0.5, 0.5, 0.5], to = [0.5, 1.0, 1.0], release = 0.0, \
             repeat = { every = 0.25, until = 0.75 } }, { kind = \"sobol\", count = 4, high = [1.0, 1.0, 1.0] }]",
        ),
    ]
}

fn inflow() -> Vec<String> {
    let released = |source: &str| flow(&format!("source = [{{ {source} }}]"));
    let inlet = |keys: &str| {
        seeded(&format!("boundary = {{ x = [\"exit\", \"outlet\"] }}\ninlet = {{ {keys} }}"))
    };
    vec![
        released(&format!("rate = 8.0, begin = 0.0, end = 1.0, capacity = 9, inlet = {AT}")),
        released(&format!("table = [[0.0, 0.0], [1.0, 8.0]], capacity = 9, inlet = {AT}")),
        released(&format!("burst = {{ time = 0.5, count = 5 }}, inlet = {AT}")),
        inlet("kind = \"face\", face = \"x-low\", pattern = \"uniform\""),
        inlet(
            "kind = \"rectangle\", origin = [0.0, 0.5, 0.5], edge1 = [0.0, 1.0, 0.0], \
             edge2 = [0.0, 0.0, 1.0], pattern = \"flux\"",
        ),
        inlet(
            "kind = \"disc\", centre = [0.0, 1.0, 1.0], normal = [1.0, 0.0, 0.0], radius = 0.5, \
             pattern = \"gaussian\", deviation = 0.1",
        ),
        inlet("kind = \"polygon\", corners = [[0.0, 0.5, 0.5], [0.0, 1.5, 0.5], [0.0, 1.0, 1.5]]"),
        inlet("kind = \"points\", points = [[0.25, 1.0, 1.0]]"),
        inlet("kind = \"file\", path = \"seeds.csv\""),
    ]
}

fn obstacles() -> Vec<String> {
    let obstacle = |keys: &str| seeded(&format!("obstacle = [{{ {keys} }}]"));
    vec![
        obstacle(
            "kind = \"sphere\", centre = [1.5, 0.5, 0.5], radius = 0.25, allowed = \"outside\"",
        ),
        obstacle(
            "kind = \"cylinder\", base = [1.5, 1.5, 0.5], axis = [0.0, 0.0, 1.0], radius = 0.25, \
             capped = true, surface = \"stick\"",
        ),
        obstacle("kind = \"box\", low = [1.5, 0.0, 0.0], high = [1.75, 2.0, 2.0]"),
        seeded(
            "gate = [{ name = \"a\", kind = \"plane\", origin = [1.0, 0.0, 0.0], normal = [1.0, 0.5, 0.0], low = [0.0, 0.0, 0.0], high = [2.0, 2.0, 1.0] }]",
        ),
        seeded(
            "gate = [{ name = \"b\", kind = \"disc\", centre = [1.0, 1.0, 1.0], normal = [0.0, 0.0, 1.0], radius = 0.5 }]",
        ),
        obstacle("kind = \"surface\", path = \"body.stl\", scale = 0.25, shift = [1.5, 1.5, 1.5]"),
    ]
}

fn files() -> Vec<String> {
    let files = |keys: &str, sections: &str| format!("{COMMON}field = {{ {keys} }}\n{sections}\n");
    let inside = "seeds = { kind = \"grid\", counts = [2, 2, 2], placement = \"centres\" }";
    vec![
        files(
            "files = \"u_*.vti\", velocity = \"velocity\", prefer = \"point\", ignore_file_times = true, \
             file_dt = 0.1, same_times = \"last\", frames = { start = 0, stop = 2, every = 1, max = 3 }, \
             crop = { low = [0.5, -1.0, -1.0], high = [2.0, 9.0, 9.0] }, every = [1, 1, 1], \
             outside_time = \"periodic\", period = 1.0, in_time = \"nearest\", not_finite = \"zero\"",
            inside,
        ),
        files(
            "files = \"u_*.vti\", velocity = \"velocity\", ignore_file_times = true, file_dt = 0.1, crop = \"auto\", \
             outside_time = \"hold\"",
            inside,
        ),
        files(
            "files = [\"u_2.vti\", \"u_9.vti\"], velocity = \"velocity\", ignore_file_times = true, times = [0.0, 1.0], \
             land_value = 0.0, slip = \"free\", mask = { array = \"sea\", files = \"sea.vti\" }",
            &format!(
                "{inside}\nsave = {{ report = \"never\", fields = [{{ array = \"velocity\", name = \"v\" }}, \
                 \"slow\", {{ array = \"slow\", name = \"calm\", files = \"u_2.vti\", prefer = \"cell\" }}] }}"
            ),
        ),
        files(
            "files = \"K.vti\", diffusivity = \"K\", periodic_axes = [\"x\"], ignore_hidden = true",
            &format!(
                "{inside}\nboundary = {{ x = [\"periodic\", \"periodic\"] }}\n\
                 walk = {{ factors = [1.0, 1.0, 0.0] }}"
            ),
        ),
        files(
            "files = \"mesh.vtk\", interpolation = \"mesh\", other_cells = \"skip\", \
             cell_velocity = \"constant\"",
            "seeds = [{ kind = \"list\", points = [[0.5, 0.5, 0.5]], outside = \"not-located\" }, { kind = \"mesh\", \
             count = 5, seed = 2, low = [0.0, 0.0, 0.0], high = [2.0, 1.0, 1.0], outside = \"not-located\" }]\n\
             boundary = { mesh = \"slide\" }\n\
             patch = [{ name = \"out\", low = [1.0, -inf, -inf], high = [2.0, inf, inf], wall = \"stick\" }]",
        ),
        files(
            "files = \"patches.vtm\", velocity = \"velocity\", interpolation = \"mesh\"",
            "seeds = { kind = \"mesh\", count = 5, patch = \"in\" }\n\
             inlet = { kind = \"patch\", patch = \"in\" }\n\
             patch = [{ name = \"in\", block = \"inlet\", wall = \"reflect\" }, \
             { name = \"out\", block = \"boundary/outlet\", low = [1.0, -inf, -inf], wall = \"outlet\" }]",
        ),
        files(
            "files = \"marked.vtu\", velocity = \"velocity\", interpolation = \"mesh\"",
            "seeds = { kind = \"mesh\", count = 5 }\n\
             patch = [{ name = \"walls\", array = \"BoundaryID\", value = 7, wall = \"slide\" }]",
        ),
        files(
            "files = { u = \"nc4.nc\", v = \"nc4.nc\", w = \"nc4.nc\" }, interpolation = \"mesh\", staggering = \"c\", \
             follow_levels = false, convention = \"mitgcm\", corners = { files = \"nc4.nc\", x = \"x\", y = \"y\", z = \"z\" }",
            "seeds = { kind = \"list\", points = [[1.0, 1.0, 0.5]], outside = \"not-located\" }\n\
             trace = { t0 = 0.0, t1 = 1.0, steps = 4 }",
        ),
        files(
            "files = \"K.vti\", interpolation = \"inverse-distance\", neighbours = 4, power = 2.0",
            inside,
        ),
        // A section that is given twice replaces the first one.
        files(
            "files = \"K.vti\"",
            &format!(
                "{inside}\nfield = [{{ files = \"K.vti\", velocity = \"U\" }}, {{ files = \"u_2.vti\", velocity = \
                 \"velocity\", factor = 0.5, rotate = 15.0, outside = \"zero\" }}]"
            ),
        ),
    ]
}

/// All cases: that of `burntrace init`, and those with optional keys.
fn bases(template: &str) -> Vec<Table> {
    let mut init: Table = template.parse().unwrap();
    for line in SMALL.lines() {
        let (key, value) = line.trim().split_once(" = ").unwrap();
        let mut parsed: Table = format!("value = {value}").parse().unwrap();
        let (section, key) = key.split_once('.').unwrap();
        init[section].as_table_mut().unwrap().insert(key.into(), parsed.remove("value").unwrap());
    }
    let parse = |text: &String| {
        // A section that is given twice replaces the common one.
        let mut case = Table::new();
        text.lines().filter(|line| !line.is_empty()).for_each(|line| {
            case.extend(line.parse::<Table>().unwrap_or_else(|error| panic!("{line}: {error}")));
        });
        case
    };
    let mut all = vec![init];
    all.extend(optional().iter().map(parse));
    all
}

/// Values to put in place of each value.
fn values() -> Vec<Value> {
    let floats = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        0.0,
        -0.0,
        -1.0,
        0.5,
        1e-300,
        5e-324,
        1e300,
        -1e300,
        1e10,
        1e39,
        4_294_967_296.0,
    ];
    let integers = [
        0,
        -1,
        1,
        3,
        4_097,
        1 << 31,
        (1 << 31) - 1,
        1 << 32,
        10_000_000_000,
        1 << 53,
        i64::MAX,
        i64::MIN,
    ];
    let texts = [
        "",
        "auto",
        "nan",
        "-1",
        "a\0b",
        "../..//",
        "\u{1F300} ü\n",
        "1e400GiB",
        &"long".repeat(2000),
    ];
    let nan = Value::Float(f64::NAN);
    let table = |key: &str, value: Value| Value::Table(Table::from_iter([(key.into(), value)]));
    let mut all: Vec<Value> = floats.into_iter().map(Value::Float).collect();
    all.extend(integers.into_iter().map(Value::Integer));
    all.extend(texts.into_iter().map(|text| Value::String(text.into())));
    all.extend([Value::Boolean(true), Value::Boolean(false)]);
    all.extend([
        Value::Array(Vec::new()),
        Value::Array(vec![1.into()]),
        Value::Array(vec![nan.clone(), 0.0.into(), 0.0.into()]),
        Value::Array(vec![(-1).into(); 3]),
        Value::Array(vec![1e300.into(); 3]),
        Value::Array(vec![0.0.into(); 3]),
        Value::Array(vec![i64::MAX.into(); 3]),
        Value::Array(vec![Value::Array(vec![nan; 3])]),
        Value::Array(vec![Value::Array(Vec::new())]),
        Value::Array(vec!["x".into(); 3]),
        Value::Table(Table::new()),
        table("x", 1.into()),
        Value::Datetime("1979-05-27".parse().unwrap()),
    ]);
    all
}

/// One step from a case to a value.
#[derive(Clone, Debug)]
enum Step {
    Key(String),
    Item(usize),
}

/// The paths to all values of a case, sections and items included.
fn paths(value: &Value) -> Vec<Vec<Step>> {
    let below = |step: Step, inner: &Value| {
        let own = std::iter::once(Vec::new()).chain(paths(inner));
        own.map(|path| [vec![step.clone()], path].concat()).collect::<Vec<_>>()
    };
    match value {
        Value::Table(table) => {
            table.iter().flat_map(|(key, inner)| below(Step::Key(key.clone()), inner)).collect()
        }
        Value::Array(items) => {
            items.iter().enumerate().flat_map(|(i, inner)| below(Step::Item(i), inner)).collect()
        }
        _ => Vec::new(),
    }
}

/// The case with another value.
fn with(case: &Table, path: &[Step], value: &Value) -> String {
    let mut changed = Value::Table(case.clone());
    let mut at = &mut changed;
    for step in path {
        at = match step {
            Step::Key(key) => &mut at[key.as_str()],
            Step::Item(item) => &mut at[*item],
        };
    }
    *at = value.clone();
    toml::to_string(changed.as_table().unwrap()).unwrap()
}

/// Files that the cases name.
fn write_files(folder: &Path) {
    for name in ["u_2.vti", "u_9.vti", "u_10.vti"] {
        std::fs::copy(fixture("series").join(name), folder.join(name)).unwrap();
    }
    let mesh = "# vtk DataFile Version 3.0\nmesh\nASCII\nDATASET UNSTRUCTURED_GRID\n\
        POINTS 12 double\n0 0 0 1 0 0 2 0 0 0 1 0 1 1 0 2 1 0 0 0 1 1 0 1 2 0 1 0 1 1 1 1 1 2 1 1\n\
        CELLS 2 18\n8 0 1 4 3 6 7 10 9\n8 1 2 5 4 7 8 11 10\nCELL_TYPES 2\n12 12\n\
        CELL_DATA 2\nVECTORS U double\n0.5 0 0\n0.5 0 0\n";
    std::fs::create_dir(folder.join("patches")).unwrap();
    for name in ["patches_0.vtu", "patches_1.vtp", "patches_2.vtp", "patches_3.vtp"] {
        let name = format!("patches/{name}");
        std::fs::copy(fixture("composite").join(&name), folder.join(&name)).unwrap();
    }
    std::fs::copy(fixture("cf").join("nc4.nc"), folder.join("nc4.nc")).unwrap();
    for name in ["patches.vtm", "marked.vtu"] {
        std::fs::copy(fixture("composite").join(name), folder.join(name)).unwrap();
    }
    std::fs::write(folder.join("mesh.vtk"), mesh).unwrap();
    std::fs::write(folder.join("seeds.csv"), "x,y,z,time\n0.25,1,1,0\n0.25,1,0.5,0\n").unwrap();
    let facet = |[a, b, c]: [&str; 3]| {
        format!(
            "facet normal 0 0 0\nouter loop\nvertex {a}\nvertex {b}\nvertex {c}\nendloop\nendfacet\n"
        )
    };
    let [o, x, y, z] = ["0 0 0", "1 0 0", "0 1 0", "0 0 1"];
    let facets: String = [[o, y, x], [o, x, z], [o, z, y], [x, y, z]].map(facet).concat();
    std::fs::write(folder.join("body.stl"), format!("solid body\n{facets}endsolid body\n"))
        .unwrap();
    let array = |name: &str, components: usize, values: String| {
        format!(
            "<DataArray type=\"Float64\" Name=\"{name}\" NumberOfComponents=\"{components}\" \
             format=\"ascii\">{values}</DataArray>"
        )
    };
    let arrays = array("U", 3, "0.1 0 0 ".repeat(27)) + &array("K", 1, "1e-3 ".repeat(27));
    let image = format!(
        "<VTKFile type=\"ImageData\" version=\"0.1\" byte_order=\"LittleEndian\"><ImageData \
         WholeExtent=\"0 2 0 2 0 2\" Origin=\"0 0 0\" Spacing=\"1 1 1\"><Piece Extent=\"0 2 0 2 0 2\">\
         <PointData>{arrays}</PointData></Piece></ImageData></VTKFile>"
    );
    std::fs::write(folder.join("K.vti"), image).unwrap();
    let sea = array("sea", 1, "1 ".repeat(24));
    let sea = format!(
        "<VTKFile type=\"ImageData\" version=\"0.1\" byte_order=\"LittleEndian\"><ImageData \
         WholeExtent=\"0 3 0 2 0 1\" Origin=\"0.5 -1 2\" Spacing=\"0.5 0.25 2\"><Piece Extent=\"0 3 0 2 0 1\">\
         <PointData>{sea}</PointData></Piece></ImageData></VTKFile>"
    );
    std::fs::write(folder.join("sea.vti"), sea).unwrap();
}

/// How a command ended.
pub struct Ended {
    pub code: Option<i32>,
    /// What it printed on standard error.
    pub message: String,
}

/// Runs a command with its output in files of a folder. `None` if it takes too long.
pub fn finished(command: &mut Command, folder: &Path) -> Option<Ended> {
    let [out, error] = ["stdout", "stderr"].map(|name| folder.join(name));
    let start = Instant::now();
    let mut child = command
        .stdout(std::fs::File::create(out).unwrap())
        .stderr(std::fs::File::create(&error).unwrap())
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let code = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status.code(),
            None if start.elapsed() > LIMIT => {
                child.kill().unwrap();
                child.wait().unwrap();
                return None;
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    Some(Ended { code, message: String::from_utf8_lossy(&std::fs::read(&error).unwrap()).into() })
}

/// Runs the case in a folder. Returns what is wrong with the outcome.
fn attempt(folder: &Path, case: &str) -> Option<String> {
    let before = names(folder);
    std::fs::write(folder.join("case.toml"), case).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_burntrace"));
    command.current_dir(folder).args(["run", "case.toml", "--quiet"]);
    let Some(Ended { code, message }) = finished(&mut command, folder) else {
        clear(folder, &before);
        return Some(format!("it takes more than {} s", LIMIT.as_secs()));
    };
    let written = clear(folder, &before);
    let is_path_error = code == Some(1) && message.contains("cannot create the folder");
    // NaN, not the text "nan".
    let has_nan = [" = nan", "[nan", ", nan"].iter().any(|value| case.contains(value));
    match code {
        _ if message.contains("panicked") => Some(message),
        Some(0) if has_nan => Some("it runs with NaN".into()),
        Some(0) => None,
        Some(2) if !written.is_empty() => Some(format!("it wrote {written:?}: {message}")),
        Some(2) if message.lines().count() > 12 => Some(format!("a long message: {message}")),
        Some(2) => None,
        _ if is_path_error => None,
        other => Some(format!("exit code {other:?}: {message}")),
    }
}

fn names(folder: &Path) -> Vec<std::ffi::OsString> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect()
}

/// Removes what a run wrote, and returns the names.
fn clear(folder: &Path, before: &[std::ffi::OsString]) -> Vec<std::ffi::OsString> {
    let is_ours = |name: &std::ffi::OsString| {
        let ours = ["case.toml", "stdout", "stderr"];
        before.contains(name) || ours.iter().any(|own| name == own)
    };
    let written: Vec<_> = names(folder).into_iter().filter(|name| !is_ours(name)).collect();
    for name in &written {
        let path = folder.join(name);
        if path.is_dir() {
            std::fs::remove_dir_all(path).unwrap();
        } else {
            std::fs::remove_file(path).unwrap();
        }
    }
    written
}

fn template() -> String {
    text(&burntrace(Path::new("."), &["init"]).stdout)
}

/// Runs cases in several processes at a time. Returns those that went wrong.
fn run_all(cases: &[String]) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let folder = tempfile::tempdir().unwrap();
        // Of its own, as a file name such as `../..//` must not lead to another worker's files.
        let inner = folder.path().join("a/b/c");
        std::fs::create_dir_all(&inner).unwrap();
        write_files(&inner);
        let mut failures = Vec::new();
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Some(problem) = attempt(&inner, case) {
                let failure = format!("{problem}\nin the case\n{case}");
                // At once: all cases take minutes.
                println!("{failure}\n----");
                failures.push(failure);
            }
        }
        failures
    };
    let threads = std::thread::available_parallelism().map_or(2, |n| n.get().min(8));
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    })
}

#[test]
fn unchanged_fuzz_cases_run() {
    let cases: Vec<String> =
        bases(&template()).iter().map(|case| toml::to_string(case).unwrap()).collect();
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path());
    for case in &cases {
        std::fs::write(folder.path().join("case.toml"), case).unwrap();
        let output = burntrace(folder.path(), &["run", "case.toml", "--quiet", "--overwrite"]);
        assert!(output.status.success(), "{}\n{case}", text(&output.stderr));
    }
}

/// Each `# key = value` of the case that `burntrace init` prints.
#[test]
fn fuzz_cases_have_every_key_of_the_template() {
    let template = template();
    let mut used = Vec::new();
    for case in bases(&template) {
        let all = paths(&Value::Table(case));
        used.extend(all.into_iter().flatten().filter_map(|step| match step {
            Step::Key(key) => Some(key),
            Step::Item(_) => None,
        }));
    }
    let commented = template.lines().filter_map(|line| line.strip_prefix("# ")?.split_once(" = "));
    let keys = commented.map(|(key, _)| key.trim()).filter(|key| !key.contains(' '));
    let missing: Vec<&str> = keys.filter(|key| !used.iter().any(|name| name == key)).collect();
    assert!(missing.is_empty(), "not in a case of this test: {missing:?}");
}

#[test]
fn invalid_and_extreme_values_are_refused_or_run() {
    let values = values();
    let mut cases = Vec::new();
    for (number, case) in bases(&template()).into_iter().enumerate() {
        for path in paths(&Value::Table(case.clone())) {
            // The keys of [run] are the same in all cases.
            let is_run = matches!(&path[0], Step::Key(key) if key == "run");
            let is_item = matches!(path.last(), Some(Step::Item(_)));
            let chosen = values
                .iter()
                .filter(|value| !is_item || value.is_float() || value.is_integer())
                .filter(|_| number == 0 || !is_run);
            cases.extend(chosen.map(|value| with(&case, &path, value)));
        }
    }
    cases.sort_unstable();
    cases.dedup();
    let all = cases.len();
    let takes_all = std::env::var("BURNTRACE_FUZZ").is_ok_and(|value| value == "all");
    if !takes_all {
        let mut number = 0;
        cases.retain(|_| {
            number += 1;
            number % STRIDE == 0
        });
    }
    let start = Instant::now();
    let failures = run_all(&cases);
    let count = cases.len();
    println!("{count} of {all} cases in {:.0} s", start.elapsed().as_secs_f64());
    let listed = failures.join("\n----\n");
    assert!(failures.is_empty(), "{} of {count} cases fail:\n{listed}", failures.len());
}

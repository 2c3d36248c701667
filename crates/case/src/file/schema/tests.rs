//! The schema against the reader, and against the page of the guide.

use super::*;
use crate::file::{Assignment, GRID_TEMPLATE, MESH_TEMPLATE, POINTS_TEMPLATE, TEMPLATE};
use std::path::{Path, PathBuf};
use std::process::Command;
use toml::Table;

#[path = "../../../../../tests/support/requirements.rs"]
mod requirements;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

const BASE: &str =
    "field = { flow = \"abc\" }\nseeds = { kind = \"uniform\", count = 1 }\ntrace = { dt = 0.1 }";

/// Valid settings, also without effect on another.
const VALID: [&str; 79] = [
    "trace.dt=\"-15 min\"",
    "boundary.x=reflect",
    "boundary.x=[\"exit\", \"outlet\"]",
    "boundary.mesh=stick",
    "boundary.coast=slide",
    "field.slip=free",
    "field.land_value=0",
    "field.mask=mask",
    "field.mask={ array = \"mask\", files = \"static.nc\" }",
    "seeds.placement=sea",
    "domain.low=[0, 0, 0]",
    "field={ files = \"u_*.vti\" }",
    "field={ files = [\"a.vti\", \"b.vti\"], velocity = [\"u\", \"v\"], prefer = \"cell\", times = [0, 1] }",
    "field={ files = \"a.vtu\", interpolation = \"mesh\", cell_velocity = \"averaged\", other_cells = \"skip\" }",
    "field={ files = \"a.vtp\", interpolation = \"inverse-distance\", neighbours = 3, power = 1 }",
    "field={ files = \"a.vti\", outside_time = \"periodic\", period = 1.5, in_time = \"nearest\" }",
    "field={ files = \"a.vti\", times = { start = 0, step = 0.1 }, frames = { start = 2.0, stop = -1 } }",
    "field={ files = \"a.vti\", crop = { low = [0, 0, 0] }, every = [2, 2, 1], periodic_axes = [\"x\"] }",
    "field={ files = \"a.vti\", crop = \"auto\" }",
    "field={ files = \"a.nc\", staggering = \"c\", convention = \"nemo\", corners = { files = \"m.nc\", x = \"glamf\", y = \"gphif\", z = \"depthw\" } }",
    "field={ files = { u = \"u.nc\", v = \"v.nc\" }, corners = { z = \"depth\" } }",
    "field={ files = { u = \"u_*.nc\", v = [\"v.nc\"], w = \"w.nc\" }, interpolation = \"mesh\", convention = \"roms\" }",
    "field.flow={ u = 1, v = \"x / s\", constants = { s = 2 } }",
    "field.sample={ nodes = [9, 9, 1], frames = 3 }",
    "field={ files = \"a.vti\", times = { start = 0, step = \"1 h\" } }",
    "field={ files = \"../../tests/data/cf/nc4.nc\", frames = { start = \"2000-01-01T06:00\", stop = \"2000-01-02\" } }",
    "field.ignore_file_times=true",
    "field=[{ flow = \"abc\" }]",
    "field=[{ files = \"a.nc\" }, { files = \"b.nc\", factor = 0.03, rotate = -15, outside = \"zero\" }]",
    "field=[{ files = \"a.nc\" }, { files = \"b.nc\", factor = \"windage\" }]",
    "inlet={ kind = \"face\", face = \"x-low\" }",
    "inlet={ kind = \"polygon\", corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0]], pattern = \"flux\" }",
    "inlet={ kind = \"patch\", patch = \"a\", pattern = \"gaussian\", deviation = 0.1 }",
    "obstacle={ kind = \"sphere\", centre = [0, 0, 0], radius = 1, allowed = \"inside\" }",
    "obstacle=[{ kind = \"box\", low = [-inf, 0, 0], high = [1, inf, 1], surface = \"outlet\" }]",
    "obstacle={ kind = \"surface\", path = \"a.stl\", scale = 0.001 }",
    "gate={ name = \"a\", kind = \"plane\", origin = [0, 0, 0], normal = [1, 0, 0], low = [-inf, 0, 0] }",
    "gate=[{ name = \"a\", kind = \"box\", low = [-inf, 0, 0], high = [1, inf, 1] }]",
    "gate={ name = \"a\", kind = \"cylinder\", base = [0, 0, 0], axis = [0, 0, 1], radius = 1, capped = false }",
    "patch={ name = \"a\", block = \"b\", wall = \"exit\" }",
    "patch=[{ name = \"a\", array = \"b\", value = 3, low = [-inf, 0, 0], wall = \"slide\" }]",
    "patch={ name = \"a\", wall = \"outlet\" }",
    "run.device=cuda:*",
    "run.device=[\"cuda:0\", \"cuda:1\"]",
    "run.memory=3GiB",
    "run.memory=3000000000",
    "run.memory=75%",
    "run.memory=0.75",
    "run.precision=f64",
    "run.strategy=auto",
    "save.every=3",
    "save.every_time=0.5",
    "save.fields=[\"p\", { array = \"T\", files = \"other.vtu\", name = \"T2\", prefer = \"point\" }]",
    "save.longitude=continuous",
    "save.times=[0, 1.5]",
    "save.times=[\"6 h\", 1.5]",
    "save.vtk=[\"lines\", \"clouds\"]",
    "seeds=[{ kind = \"sobol\", count = 1 }, { kind = \"run\", path = \"a\", outside = \"not-located\" }]",
    "seeds={ kind = \"grid\", counts = [1, 2, 3], placement = \"corners\", auxiliary = 0.1 }",
    "seeds={ kind = \"mesh\", count = 1, patch = \"a\", by = \"flux\" }",
    "seeds={ kind = \"plane\", counts = [1, 2], origin = [0, 0, 0], edge1 = [1, 0, 0], edge2 = [0, 1, 0] }",
    "seeds.repeat={ every = 1, until = 2 }",
    "seeds.repeat={ every = \"6 h\" }",
    "seeds.repeat={ every = \"6h\", until = \"2 d\" }",
    "source={ rate = 1, capacity = 2, begin = 0, inlet = { kind = \"face\", face = \"x-low\" } }",
    "source=[{ burst = { time = 0, count = 1 }, inlet = { kind = \"face\", face = \"x-low\" } }]",
    "source={ table = [[\"1 h\", 1]], capacity = 2, inlet = { kind = \"points\", points = [[0, 0, 0]] } }",
    "source={ table = [[0, 1]], capacity = 2, inlet = { kind = \"points\", points = [[0, 0, 0]] } }",
    "trace={ scheme = \"dormand-prince\", tolerance = { relative = 1e-6, absolute = 0, max_step = 0.1 } }",
    "trace.engine=auto",
    "trace.engine=tensor",
    "trace.dt=1.5e1 min",
    "trace.t1=2",
    "trace.t1=30 d",
    "units.length=m",
    "walk={ diffusivity = 1, scheme = \"milstein\" }",
    "walk={ diffusivity = [1, 2, 3], seed = 2 }",
    "walk={ smagorinsky = 0.1 }",
    "walk={ profile = { z = [0, 1], diffusivity = [1, 2] } }",
];

/// Unknown keys, keys of other kinds, wrong types, names and numbers of values.
const INVALID: [&str; 60] = [
    "bondary.x=\"exit\"",
    "boundary.w=exit",
    "boundary.coast=outlet",
    "seeds.placement=land",
    "boundary.x=stop",
    "boundary.x=[\"exit\"]",
    "domain.low=[0, 0]",
    "field={}",
    "field=[{ flow = \"abc\" }, { factor = 2.0 }]",
    "field=[{ flow = \"abc\" }, { flow = \"abc\", outside = \"hold\" }]",
    "field.files=a.vti",
    "field={ files = \"a.vti\", crop = \"all\" }",
    "field={ files = \"a.nc\", staggering = \"b\" }",
    "field={ files = \"a.nc\", convention = \"mom\" }",
    "field={ files = { u = \"u.nc\" } }",
    "field={ files = \"a.nc\", corners = { lon = \"x\" } }",
    "field.flow={ u = 1 }",
    "field.in_time=cubic",
    "field.interpolation=cubic",
    "field.mask={ array = \"mask\" }",
    "field.mask=1",
    "field.neighbours=3",
    "field.period=1.5",
    "field.sample={ nodes = [9, 9] }",
    "field.velocty=u",
    "inlet={ kind = \"face\" }",
    "inlet={ kind = \"face\", face = \"x-low\", radius = 1 }",
    "inlet={ kind = \"face\", face = \"x-low\", deviation = 0.1 }",
    "inlet={ kind = \"face\", face = \"x-low\", pattern = \"random\" }",
    "obstacle={ kind = \"sphere\", centre = [0, 0, 0], low = [0, 0, 0] }",
    "obstacle={ kind = \"sphere\", centre = [0, 0, 0], radius = \"1\" }",
    "obstacle=[{ kind = \"cube\" }]",
    "gate={ kind = \"sphere\", centre = [0, 0, 0], radius = 1 }",
    "gate={ name = \"a\", kind = \"disc\", centre = [0, 0, 0], radius = 1 }",
    "patch={ name = \"a\" }",
    "patch={ name = \"a\", array = \"b\", wall = \"exit\" }",
    "run.memory=true",
    "run.strategy=fast",
    "run.threads=-1",
    "save.every=0.5",
    "save.every=1 d",
    "save.longitude=360",
    "save={ every = 1, times = [0] }",
    "save.vtk=lines",
    "seeds.count=\"1\"",
    "seeds.kind=cube",
    "seeds.radius=1",
    "seeds=[{ kind = \"sobol\", count = 1, seed = 1 }]",
    "source={ rate = 1, inlet = { kind = \"face\", face = \"x-low\" } }",
    "source={ burst = { time = 0, count = 1 }, capacity = 1, inlet = { kind = \"face\", face = \"x-low\" } }",
    "source={ table = [[0, \"1 h\"]], capacity = 2, inlet = { kind = \"points\", points = [[0, 0, 0]] } }",
    "trace.dt=10 minutes",
    "trace.dt=2024-02-01",
    "trace.dt=fast",
    "trace.t1=2024-02",
    "trace.scheme=rk3",
    "trace.tmax=1",
    "trace.tolerance={ relative = 1e-6 }",
    "walk.diffusivity=[1, 2]",
    "walk={ profile = { z = [0, 1] } }",
];

/// The cases of the program and of the examples, with their names.
fn cases_of_files() -> Vec<(String, Table)> {
    let templates = [TEMPLATE, MESH_TEMPLATE, GRID_TEMPLATE, POINTS_TEMPLATE];
    let templates = templates.iter().map(|text| (text[..40].to_string(), text.parse().unwrap()));
    let examples = std::fs::read_dir(root().join("examples/cases")).unwrap();
    let paths = examples.map(|entry| entry.unwrap().path());
    let examples = paths.filter(|path| path.extension() == Some("toml".as_ref())).map(|path| {
        let text = std::fs::read_to_string(&path).unwrap();
        (path.display().to_string(), text.parse().unwrap())
    });
    templates.chain(examples).collect()
}

/// The base case with a setting.
fn case_with(assignment: &str) -> (String, Table) {
    let mut table: Table = BASE.parse().unwrap();
    Assignment::parse(assignment).unwrap().apply(&mut table).unwrap();
    (assignment.into(), table)
}

/// The lines of the schema's validator in Python for cases; `None` if it is missing.
fn validated(cases: &[&Table]) -> Option<Vec<String>> {
    let python = requirements::python("jsonschema", "jsonschema")?;
    let folder = tempfile::tempdir().unwrap();
    let [schema, list] = ["schema", "cases"].map(|name| folder.path().join(name));
    std::fs::write(&schema, serde_json::to_string(&json_schema()).unwrap()).unwrap();
    std::fs::write(&list, serde_json::to_string(cases).unwrap()).unwrap();
    let script = root().join("tests/peers/case_schema.py");
    let output = Command::new(python).arg(script).args([schema, list]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap().lines().map(String::from).collect())
}

#[test]
fn the_schema_accepts_the_cases_that_the_reader_accepts() {
    let valid = cases_of_files().into_iter().chain(VALID.map(case_with));
    let invalid = INVALID.map(case_with);
    let cases: Vec<(String, Table, bool)> = valid
        .map(|(name, case)| (name, case, true))
        .chain(invalid.map(|(name, case)| (name, case, false)))
        .collect();
    for (name, case, is_valid) in &cases {
        let read = crate::file::from_text(&case.to_string(), &[]);
        assert_eq!(read.is_ok(), *is_valid, "{name}: {read:?}");
    }
    let tables: Vec<&Table> = cases.iter().map(|(_, case, _)| case).collect();
    let Some(lines) = validated(&tables) else { return };
    assert_eq!(lines.len(), cases.len());
    let differs = |((_, _, is_valid), line): &(&(String, Table, bool), &String)| {
        (*line == "valid") != *is_valid
    };
    let wrong: Vec<_> = cases.iter().zip(&lines).filter(differs).collect();
    let wrong: Vec<_> = wrong.iter().map(|((name, ..), line)| format!("{name}: {line}")).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The texts in backticks.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The keys in the tables of a section of the guide: those in the first column, and with `kind` there those in the
/// second.
fn keys_in_tables(section: &str) -> BTreeSet<String> {
    let (mut column, mut found) = (1, BTreeSet::new());
    for line in section.lines().filter(|line| line.starts_with('|')) {
        let cells: Vec<&str> = line.split('|').collect();
        match cells[1].trim() {
            "key" => column = 1,
            "`kind`" => {
                column = 2;
                found.insert("kind".into());
            }
            _ => found.extend(code(cells[column]).map(|key| key.split(' ').next().unwrap().into())),
        }
    }
    found
}

#[test]
fn the_schema_has_the_keys_of_the_guide() {
    let schema = json_schema().to_value();
    let page = std::fs::read_to_string(root().join("docs/guide/case-file.md")).unwrap();
    let sections = page.split("\n##").filter_map(|text| {
        let name = code(text.lines().next()?).next()?;
        Some((name.trim_matches(['[', ']']), text))
    });
    let mut names = BTreeSet::new();
    for (name, text) in sections {
        let section = name.split('.').fold(&schema, |of, name| {
            names.insert(name.to_string());
            keys(of).into_iter().find(|(key, _)| *key == name).unwrap().1
        });
        let own: BTreeSet<String> = keys(section).iter().map(|(key, _)| key.to_string()).collect();
        let in_tables = keys_in_tables(text);
        // It has a section of its own.
        let elsewhere = |key: &&String| *key == "tolerance";
        let different: Vec<_> =
            own.symmetric_difference(&in_tables).filter(|key| !elsewhere(key)).collect();
        assert!(different.is_empty(), "[{name}]: {different:?}");
        // The keys of values that are tables.
        for (key, value) in keys(section) {
            for (inner, _) in keys(value).into_iter().chain(keys(&value["items"])) {
                let is_word = |text: &str| {
                    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
                        .any(|word| word == inner)
                };
                assert!(code(&page).any(is_word), "[{name}] {key}: `{inner}`");
            }
        }
    }
    let sections: BTreeSet<_> = keys(&schema).into_iter().map(|(key, _)| key.clone()).collect();
    assert!(sections.is_subset(&names), "{sections:?} {names:?}");
}

#[test]
fn keys_have_descriptions() {
    fn check(schema: &Value, path: &str) {
        for (key, value) in keys(schema) {
            let path = format!("{path}.{key}");
            let text = value["description"].as_str().unwrap_or_default();
            assert!(!text.is_empty() && !text.contains("[`"), "{path}: {text:?}");
            check(value, &path);
        }
    }
    check(&json_schema().to_value(), "");
}

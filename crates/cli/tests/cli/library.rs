//! Cases that a Rust program runs: their results are those of the program.

use super::program::burntrace;
use super::resume::assert_same;
use burntrace::case::{Case, Error, Field, FieldSource, SeedShape, Seeds, Trace};
use burntrace::{SaveAt, Scheme, Solver, Span};
use std::path::Path;

#[test]
fn example_cases_give_the_same_bits_from_rust() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/cases");
    let mut count = 0;
    for entry in std::fs::read_dir(examples).unwrap() {
        let path = entry.unwrap().path();
        let folder = tempfile::tempdir().unwrap();
        let set = ["run.device=flex", "save.report=never"];
        let case = Case::from_path(&path).unwrap();
        let case = set.iter().fold(case, |case, key| case.with(key).unwrap());
        let run = case.run(folder.path().join("library")).unwrap();
        let args = ["run", path.to_str().unwrap(), "--quiet", "--out", "program"];
        let args = [&args[..], &["--set", set[0], "--set", set[1]]].concat();
        assert!(burntrace(folder.path(), &args).status.success(), "{path:?}");
        assert_same(folder.path(), ["program", "library"]);
        assert_eq!(run.json["released"], run.summary.released);
        count += 1;
    }
    assert_eq!(count, 6);
}

#[test]
fn cases_are_values() {
    let source = FieldSource::Flow { flow: "shear".into(), sample: None };
    let shape = SeedShape::List { points: vec![[0.0, 0.5, 0.0]], times: None };
    let seeds = Seeds { shape, release: None, repeat: None, outside: Default::default() };
    let mut case = Case {
        seeds: vec![seeds],
        trace: Trace {
            solver: Solver { scheme: Scheme::Euler, tolerance: None },
            span: Span { t0: Some(0.0), dt: Some(0.25), steps: Some(4), ..Span::default() },
            ..Trace::default()
        },
        ..Case::new(Field::new(source))
    };
    case.save.at = SaveAt::EverySteps(2);
    assert_eq!(Case::from_toml(&case.to_toml().unwrap()).unwrap(), case);
    let folder = tempfile::tempdir().unwrap();
    let run = case.clone().run(folder.path().join("out")).unwrap();
    assert_eq!(run.tracks().unwrap().times(), [0.0, 0.5, 1.0]);
    let again = case.run(folder.path().join("out")).unwrap_err();
    assert!(matches!(&again, Error::Invalid(text) if text.contains("an earlier run")), "{again}");
}

#[test]
fn errors_of_cases_name_file_line_and_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case.toml");
    std::fs::write(&path, "[field]\nflow = \"abc\"\n[trace]\nschem = \"rk4\"\n").unwrap();
    let error = Case::from_path(&path).unwrap_err().to_string();
    assert!(error.contains("case.toml: line 4: `schem`") && error.contains("`scheme`?"), "{error}");
    let case = Case::from_toml("[field]\nflow = \"abc\"\n").unwrap();
    let error = case.with("trace.dt=fast").unwrap_err().to_string();
    assert!(error.starts_with("--set trace.dt=fast: "), "{error}");
}

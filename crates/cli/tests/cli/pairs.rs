//! `burntrace pairs`.

use super::program::{assert_refused, burntrace, text};
use serde_json::Value;

/// In a strain of the rate 1, 40 seeds 0.01 apart along the axis on which they separate.
const CASE: &str = "[field]\nflow = { u = \"x\", v = \"-y\" }\n[domain]\nlow = [-90.0, -1.0, 0.0]\nhigh = [90.0, 1.0, 0.0]\n\
    [boundary]\nx = \"exit\"\ny = \"exit\"\n\
    [seeds]\nkind = \"line\"\ncount = 40\nfrom = [0.01, 0.0, 0.0]\nto = [0.4, 0.0, 0.0]\n\
    [trace]\nt0 = 0.0\nt1 = 4.0\ndt = 0.05\n[run]\nprecision = \"f64\"\n[save]\nevery_time = 0.2\n";

#[test]
fn pairs_in_a_strain_separate_at_its_rate() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("case.toml"), CASE).unwrap();
    let run = burntrace(folder.path(), &["run", "case.toml", "--out", "out"]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let call = |args: &[&str]| burntrace(folder.path(), &[&["pairs", "out"], args].concat());
    let output = call(&["--distances", "0.005,0.015,0.025", "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (found["classes"][0]["pairs"][0].as_u64(), found["classes"][1]["pairs"][20].as_u64()),
        (Some(39), Some(38))
    );
    let square = found["classes"][0]["mean_square_distance"][20].as_f64().unwrap();
    assert!((square / (1e-4 * 8.0_f64.exp()) - 1.0).abs() < 1e-5, "{square}");
    let exponents = found["exponents"].as_array().unwrap();
    assert!(exponents.len() >= 10, "{exponents:?}");
    for of in exponents {
        assert!((of["exponent"].as_f64().unwrap() - 1.0).abs() < 1e-5, "{of}");
    }
    for file in ["dispersion.csv", "exponents.csv", "pair_distances.png", "exponents.png"] {
        assert!(folder.path().join("out/pairs").join(file).exists(), "{file}");
    }
    let shown = text(&call(&[]).stdout);
    assert!(shown.contains("0 to 0.02") && shown.contains("exponents (FSLE)"), "{shown}");
    assert_refused(&call(&["--distances", "5,1"]), 2, &["give two or more that ascend"]);
    assert_refused(&call(&["--growth", "1"]), 2, &["give a factor above 1"]);
}

//! Estimates against `scipy.stats.gaussian_kde`; the reference values are written by
//! `tests/peers/density.py`.

use crate::common::{machines, numbers};
use burntrace_analysis::density::{Axes, Bandwidth, Density, Factor};
use serde_json::Value;

fn floats(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

fn points(value: &Value) -> Vec<[f64; 3]> {
    value.as_array().unwrap().iter().map(|row| floats(row).try_into().unwrap()).collect()
}

#[test]
fn estimates_match_scipy() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/density/scipy.json");
    let fixture: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let cases = fixture["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 18);
    for machine in machines() {
        for (number, case) in cases.iter().enumerate() {
            let axes: Axes = case["axes"].as_str().unwrap().parse().unwrap();
            let factor = match case["factor"].as_str() {
                Some("scott") => Factor::Scott,
                Some(_) => Factor::Silverman,
                None => Factor::Given(case["factor"].as_f64().unwrap()),
            };
            let mut density = Density::kde(Bandwidth::Full(factor)).axes(axes).truncation(9.0);
            if !case["weights"].is_null() {
                density = density.weights(floats(&case["weights"]));
            }
            let positions = machine.tensor(&points(&case["positions"]));
            let targets = machine.tensor(&points(&case["points"]));
            let estimate = density.at(&positions, &targets).unwrap();
            let covariance = estimate.covariance.unwrap();
            let mut rows = case["covariance"].as_array().unwrap().iter();
            for d in (0..3).filter(|&d| axes.active()[d]) {
                let mut row = floats(rows.next().unwrap()).into_iter();
                for e in (0..3).filter(|&e| axes.active()[e]) {
                    let expected = row.next().unwrap();
                    let error = (covariance[d][e] - expected).abs();
                    assert!(error < 1e-13, "{number}: {}, expected {expected}", covariance[d][e]);
                }
            }
            let expected = floats(&case["density"]);
            // Relative to the maximum: the tails are sensitive to rounding of the positions.
            let bound = 40.0 * machine.epsilon() * expected.iter().copied().fold(0.0, f64::max);
            for (value, expected) in numbers(&estimate.values).iter().zip(expected) {
                let error = (value - expected).abs();
                assert!(error < bound, "{machine}, {number}: {value}, expected {expected}");
            }
        }
    }
}

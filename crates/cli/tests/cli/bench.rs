//! `burntrace bench`: measurements, files, comparison and errors.

use super::program::{assert_refused, burntrace, text};
use serde_json::Value;
use std::path::Path;

/// Measures on one device with additional arguments, and returns the JSON.
fn measure(folder: &Path, more: &[&str]) -> Value {
    let mut args = vec!["bench", "--devices", "flex", "--repeats", "2", "--json", "now.json"];
    args.extend(more);
    let output = burntrace(folder, &args);
    assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
    json(&folder.join("now.json"))
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

const SMALL: [&str; 6] = ["--workload", "w2", "--particles", "300", "--steps", "5"];

#[test]
fn all_devices_are_measured_and_right() {
    let folder = tempfile::tempdir().unwrap();
    let output = burntrace(
        folder.path(),
        &[
            "bench",
            "--devices=flex,ndarray",
            "--workload=w2,w2-sorted,w2-steady",
            "--particles=200,1e3",
            "--steps=5",
            "--repeats=3",
            "--json=bench.json",
            "--markdown=bench.md",
        ],
    );
    assert!(output.status.success(), "{}", text(&output.stderr));
    let printed = text(&output.stdout);
    let markdown = std::fs::read_to_string(folder.path().join("bench.md")).unwrap();
    for part in ["w2-sorted: 1000 particles x 5 steps, f32", "particle-steps/s", "bounds: median"] {
        assert!(printed.contains(part) && markdown.contains(part), "`{part}`: {printed}");
    }
    let json = json(&folder.path().join("bench.json"));
    let results = json["results"].as_array().unwrap();
    assert_eq!(results.len(), 2 * 3 * 2);
    for result in results {
        assert_eq!(result["outcome"], "right");
        assert!(result["errors"][0]["median"].as_f64().unwrap() < 1e-6);
        assert_eq!(result["seconds"]["steady"].as_array().unwrap().len(), 3);
        let particles = result["particles"].as_u64().unwrap();
        assert_eq!(result["speed"]["particle_steps"], 5 * particles);
        let is_first = result["device"] == "flex";
        assert_eq!(is_first, result["ratio_to_first_device"] == 1.0, "{result}");
    }
}

#[test]
fn f64_errors_are_below_1e_13() {
    let folder = tempfile::tempdir().unwrap();
    let mut args = SMALL.to_vec();
    args.extend(["--precision", "f64"]);
    let json = measure(folder.path(), &args);
    let errors = &json["results"][0]["errors"][0];
    assert!(errors["max"].as_f64().unwrap() < 1e-13, "{errors}");
}

#[test]
fn scattered_nodes_are_compared_at_50_steps_and_at_end() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["--workload", "w1", "--particles", "60", "--steps", "55"];
    let result = &measure(folder.path(), &args)["results"][0];
    let errors = result["errors"].as_array().unwrap();
    let steps: Vec<_> = errors.iter().map(|errors| errors["steps"].as_u64().unwrap()).collect();
    assert_eq!(steps, [50, 55]);
    assert!(errors[0]["median"].as_f64().unwrap() < 1e-6);
    assert_eq!(result["outcome"], "right");
}

#[test]
fn single_and_double_tetrahedra_workloads_are_right() {
    let folder = tempfile::tempdir().unwrap();
    let small = ["--particles", "60", "--steps", "20", "--workload"];
    let double = ["w3", "--precision", "f64"];
    for (more, max_error) in [(&["w3,w3-double"][..], 1e-6), (&double[..], 1e-14)] {
        let json = measure(folder.path(), &[&small[..], more].concat());
        for result in json["results"].as_array().unwrap() {
            assert_eq!(result["outcome"], "right");
            assert!(result["errors"][0]["max"].as_f64().unwrap() < max_error, "{result}");
            assert!(result["seconds"]["load"].as_f64().unwrap() > 0.0);
            // Seeds fill the longer box.
            let is_double = result["workload"] == "w3-double";
            let first = json["results"][0]["first_seed"][0].as_f64().unwrap();
            assert_eq!(result["first_seed"][0], if is_double { 2.0 * first } else { first });
        }
    }
}

#[test]
fn auto_batch_chooses_fastest_of_those_tried() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["--workload=w2-steady", "--particles=4000", "--steps=3", "--batch=auto"];
    let json = measure(folder.path(), &args);
    let result = &json["results"][0];
    let tried = result["batches_tried"].as_array().unwrap();
    assert_eq!(tried.len(), 2);
    assert_eq!(result["batch"], tried[0]["batch"]);
    assert!(tried[0]["seconds"].as_f64() <= tried[1]["seconds"].as_f64());
    // A batch size that does not divide the number of particles loses none of them.
    let json =
        measure(folder.path(), &["--workload=w2", "--particles=1e3", "--steps=3", "--batch=300"]);
    assert_eq!(json["results"][0]["speed"]["particle_steps"], 3000);
}

#[test]
fn speed_below_earlier_spread_exits_with_1() {
    let folder = tempfile::tempdir().unwrap();
    let measured = measure(folder.path(), &SMALL);
    let compared_with = |edit: &dyn Fn(&mut Value)| {
        let mut old = measured.clone();
        edit(&mut old["results"][0]);
        std::fs::write(folder.path().join("old.json"), old.to_string()).unwrap();
        let mut args = vec!["bench", "--devices", "flex", "--compare", "old.json"];
        args.extend(SMALL);
        burntrace(folder.path(), &args)
    };
    let slow = compared_with(&|old| old["speed"]["per_second"] = 1.0.into());
    assert!(slow.status.success(), "{}", text(&slow.stderr));
    assert!(text(&slow.stdout).contains("ratio"));
    let fast = |old: &mut Value| {
        old["speed"]["per_second"] = 1e15.into();
        old["speed"]["spread"] = 1e3.into();
    };
    assert_refused(&compared_with(&fast), 1, &["1 of 1 measurements are worse"]);
    let other = compared_with(&|old| old["steps"] = 6.into());
    assert_refused(&other, 1, &["no earlier file has one of these measurements"]);
}

#[test]
fn several_earlier_files_are_a_history_with_a_bound() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["--workload=w2,w2-steady", "--particles=1000", "--steps=3", "--batch=500"];
    let measured = measure(folder.path(), &args);
    // The speeds of `w2` and `w2-steady`, and the memory, of three earlier machines.
    for (name, [w2, steady], bytes) in
        [("a", [1.0, 0.5], 1e15), ("b", [1e9, 2e9], 1e15), ("c", [1e18, 4e18], 1e15)]
    {
        let mut old = measured.clone();
        for (k, speed) in [w2, steady].into_iter().enumerate() {
            old["results"][k]["speed"]["per_second"] = speed.into();
            old["results"][k]["host_peak_bytes"] = (bytes as u64).into();
        }
        std::fs::write(folder.path().join(format!("{name}.json")), old.to_string()).unwrap();
    }
    let compare = |more: &[&str]| {
        let mut all = vec!["bench", "--devices", "flex", "--compare", "a.json,b.json,c.json"];
        all.extend(args.iter().chain(more));
        burntrace(folder.path(), &all)
    };
    // The median is 1e9, and the range is wide: nothing is slower than the spread.
    let all = compare(&[]);
    let out = text(&all.stdout);
    assert!(all.status.success(), "{out} {}", text(&all.stderr));
    assert!(out.contains("w2 on flex, 1000 particles in batches of 500: 1 to "), "{out}");
    assert!(out.contains("in 3 earlier runs, median 1.00 G"), "{out}");
    assert_refused(&compare(&["--bound", "1.5"]), 1, &["2 of 2 measurements are worse"]);
    // Relative to `w2`, those of `w2-steady` were 0.5, 2 and 4.
    let relative = compare(&["--relative-to", "w2"]);
    let out = text(&relative.stdout);
    assert!(relative.status.success(), "{out}");
    assert!(
        out.contains("0.500 of w2 to 4.000 of w2 in 3 earlier runs, median 2.000 of w2"),
        "{out}"
    );
    // That of `w2` is one of itself; only its memory is compared.
    assert!(out.contains("1.000 of w2 now, ratio 1.000"), "{out}");
    let grown = measured["results"][0]["host_peak_bytes"].as_u64().unwrap();
    for name in ["a", "b", "c"] {
        let path = folder.path().join(format!("{name}.json"));
        let mut old: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        old["results"][1] = measured["results"][1].clone();
        old["results"][1]["speed"]["per_second"] = 1.0.into();
        old["results"][1]["host_peak_bytes"] = (grown / 100).into();
        std::fs::write(path, old.to_string()).unwrap();
    }
    let more = compare(&["--bound", "1.5", "--relative-to", "w2"]);
    assert!(text(&more.stdout).contains("times the memory"), "{}", text(&more.stdout));
    assert_refused(&more, 1, &["1 of 2 measurements are worse"]);
}

#[test]
fn misuse_is_refused_before_measuring() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("no.json"), "{}").unwrap();
    let cases: [(&[&str], &[&str]); 11] = [
        (&["--devices", "abacus"], &["abacus", "flex"]),
        (&["--workload", "w9"], &["w9", "w2-sorted"]),
        (&["--particles", "0.5"], &["0.5", "1e4"]),
        (&["--workload", "w2", "--steps", "201"], &["201", "1 to 200 steps"]),
        (&["--steps", "0"], &["--steps 0"]),
        (&["--repeats", "0"], &["--repeats 0", "1 or more"]),
        (&["--batch", "0"], &["--batch 0", "auto"]),
        (&["--compare", "no.json"], &["no.json", "burntrace bench --json"]),
        (&["--compare", "no.json", "--bound", "0.5"], &["--bound 0.5", "1.5"]),
        (&["--compare", "no.json", "--relative-to", "w3"], &["w3", "--workload"]),
        (&["--json", "no/such/folder.json"], &["no/such", "create it first"]),
    ];
    for (args, parts) in cases {
        let mut all = vec!["bench"];
        all.extend(args);
        assert_refused(&burntrace(folder.path(), &all), 2, parts);
    }
}

#[test]
fn a_case_is_measured_on_each_device_with_the_distance_between_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    std::fs::write(path.join("case.toml"), burntrace(path, &["init"]).stdout).unwrap();
    let args = ["bench", "--case", "case.toml", "--devices", "flex,ndarray", "--repeats", "2"];
    let small = ["--set", "seeds.count=300", "--set", "trace.dt=0.1", "--json", "case.json"];
    let output = burntrace(path, &[&args[..], &small].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let printed = text(&output.stdout);
    assert!(printed.contains("case.toml: 300 slots, 100 steps"), "{printed}");
    let results = json(&path.join("case.json"))["results"].as_array().unwrap().clone();
    assert_eq!(results.len(), 2);
    for result in &results {
        assert_eq!(result["seconds"].as_array().unwrap().len(), 2);
        assert_eq!(result["speed"]["particle_steps"], 30_000);
        assert_eq!(result["problem"], Value::Null);
    }
    assert_eq!((&results[0]["ratio"], &results[0]["distance"]), (&Value::from(1.0), &Value::Null));
    assert!(results[1]["distance"][0].as_f64().unwrap() < 1e-5, "{printed}");
    assert_eq!(results[1]["other_status"], 0);
    assert!(!path.join("results").exists(), "nothing is written");
    let both = burntrace(path, &["bench", "--case", "case.toml", "--workload", "w1"]);
    assert_refused(&both, 2, &["--workload"]);
    let wrong = [&args[..5], &["--set", "trace.dt=x"]].concat();
    assert_refused(&burntrace(path, &wrong), 2, &["--set trace.dt=x"]);
}

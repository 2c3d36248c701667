//! `burntrace skill`, and the probabilities of `burntrace gates`.

use super::program::{assert_refused, burntrace, text};
use serde_json::Value;
use std::path::Path;

/// Two particles in a uniform flow of 1.1, saved every 0.7.
const CASE: &str = "[field]\nflow = { u = \"1.1\", v = \"0\" }\n[domain]\nlow = [0.0, -1.0, 0.0]\nhigh = [9.0, 1.0, 0.0]\n\
    [boundary]\nx = \"exit\"\ny = \"exit\"\n\
    [seeds]\nkind = \"list\"\npoints = [[0.0, 0.0, 0.0], [7.9, 0.5, 0.0]]\n\
    [trace]\nt0 = 0.0\nt1 = 5.0\ndt = 0.1\n[save]\nevery_time = 0.7\n";

/// Drifters that move by 1 a unit of time, the first of them in the opposite order of lines.
fn observed() -> String {
    let mut text = "id,time,x,y\n".to_string();
    for k in (0..5).rev() {
        text += &format!("71,{k},{k},0\n");
    }
    for k in 0..5 {
        text += &format!("72,{k},{},0.5\n", 7.9 + f64::from(k));
    }
    text
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("case.toml"), CASE).unwrap();
    std::fs::write(folder.path().join("drifters.csv"), observed()).unwrap();
    let run = burntrace(folder.path(), &["run", "case.toml", "--out", "out"]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    folder
}

fn json(folder: &Path, args: &[&str]) -> Value {
    let output = burntrace(folder, args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn skill_of_a_particle_that_is_a_tenth_too_fast_is_nine_tenths() {
    let folder = folder();
    let found = json(folder.path(), &["skill", "out", "--observed", "drifters.csv", "--json"]);
    let [first, second] = &found["drifters"].as_array().unwrap()[..] else { panic!("{found}") };
    let number = |of: &Value, key: &str| of[key].as_f64().unwrap();
    assert_eq!(
        (number(first, "drifter"), &first["compared"], &first["observations"]),
        (71.0, &5.into(), &5.into())
    );
    assert!((number(first, "skill") - 0.9).abs() < 1e-6, "{first}");
    assert!((number(first, "mean_separation") - 0.25).abs() < 1e-6, "{first}");
    assert!((number(first, "last_separation") - 0.4).abs() < 1e-6, "{first}");
    assert!((number(first, "start")).abs() < 1e-6, "{first}");
    // The second one leaves the domain after 1, as it is active at the saves 0 and 0.7 only.
    assert_eq!(
        (&second["particle"], &second["compared"], &second["skill"]),
        (&1.into(), &1.into(), &Value::Null)
    );
    assert!((number(&found, "mean_score") - 0.9).abs() < 1e-6, "{found}");

    let shown =
        text(&burntrace(folder.path(), &["skill", "out", "--observed", "drifters.csv"]).stdout);
    assert!(shown.contains("mean skill 0.900"), "{shown}");
    let separations =
        std::fs::read_to_string(folder.path().join("out/skill/separations.csv")).unwrap();
    assert_eq!(separations.lines().count(), 1 + 5 + 1, "{separations}");
}

#[test]
fn runs_that_use_slots_again_have_no_skill() {
    let folder = folder();
    let case = CASE.replace("x = \"exit\"", "x = [\"clamp\", \"outlet\"]")
        + "[inlet]\nkind = \"face\"\nface = \"x-low\"\n";
    std::fs::write(folder.path().join("case.toml"), case).unwrap();
    let run = burntrace(folder.path(), &["run", "case.toml", "--out", "again"]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let refused = burntrace(folder.path(), &["skill", "again", "--observed", "drifters.csv"]);
    assert_refused(&refused, 2, &["the slots of the run are used again"]);
}

#[test]
fn files_of_drifters_that_do_not_fit_are_refused() {
    let folder = folder();
    let refused = |name: &str, content: &str, parts: &[&str]| {
        std::fs::write(folder.path().join(name), content).unwrap();
        let output = burntrace(folder.path(), &["skill", "out", "--observed", name]);
        assert_refused(&output, 2, parts);
    };
    refused("a.csv", "id,x,y\n1,0,0\n", &["has no column `time`"]);
    refused("b.csv", "time,x,y\n1,0,0\n", &["id"]);
    let many = "id,time,x,y\n1,0,0,0\n2,0,0,0\n3,0,0,0\n";
    refused("c.csv", many, &["has 3 drifters, and the run 2 particles"]);
}

/// Half of the particles are at the gate within 3 times its distance divided by the speed.
#[test]
fn gates_within_a_time_have_a_probability() {
    let folder = tempfile::tempdir().unwrap();
    let case = "[field]\nflow = { u = \"1\", v = \"0\" }\n[domain]\nlow = [0.0, -1.0, 0.0]\nhigh = [9.0, 1.0, 0.0]\n\
        [boundary]\nx = \"exit\"\ny = \"exit\"\n\
        [seeds]\nkind = \"line\"\ncount = 20\nfrom = [0.1, 0.0, 0.0]\nto = [3.9, 0.0, 0.0]\n\
        [trace]\nt0 = 0.0\nt1 = 4.0\ndt = 0.1\n\
        [[gate]]\nname = \"middle\"\nkind = \"plane\"\norigin = [4.0, 0.0, 0.0]\nnormal = [1.0, 0.0, 0.0]\n";
    std::fs::write(folder.path().join("case.toml"), case).unwrap();
    let run = burntrace(folder.path(), &["run", "case.toml", "--out", "out"]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let found =
        json(folder.path(), &["gates", "out", "--within", "2", "--within", "5 s", "--json"]);
    let [first, late] = &found["within"].as_array().unwrap()[..] else { panic!("{found}") };
    assert_eq!(
        (&first["gate"], &first["reached"], &first["of"]),
        (&"middle".into(), &10.into(), &20.into())
    );
    let interval: Vec<f64> =
        first["interval"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    // scipy.stats.binomtest(10, 20).proportion_ci(method="wilson")
    assert!(
        (interval[0] - 0.299_298_0).abs() < 1e-6 && (interval[1] - 0.700_702_0).abs() < 1e-6,
        "{interval:?}"
    );
    // The run is shorter than that.
    assert_eq!(late["of"], 0);
    for (given, part) in [("-1", "0 or more"), ("soon", "give a number, or a duration")] {
        let within = format!("--within={given}");
        assert_refused(&burntrace(folder.path(), &["gates", "out", &within]), 2, &[part]);
    }
    let shown = text(&burntrace(folder.path(), &["gates", "out", "--within", "2"]).stdout);
    assert!(shown.contains("50.00 %"), "{shown}");
}

//! The chart and the table of a particle against time.

use super::browser::{Browser, keys};
use super::{assert_clean, runs, shown, time};

fn number(browser: &Browser, script: &str) -> f64 {
    browser.script(&format!("return {script}")).as_f64().unwrap()
}

#[test]
fn series_of_a_particle_follows_the_time_and_the_colour() {
    let Some(browser) = shown(&runs::helices(9, 41)) else { return };
    let is_hidden = || browser.script("return document.querySelector('#series').hidden");
    assert_eq!(is_hidden(), true);
    browser.enter("#number", "4");
    assert_eq!(is_hidden(), false);
    assert_eq!(browser.text("#series-name"), "Speed (m/s)");
    let label = || browser.script("return document.querySelector('#series-chart svg').ariaLabel");
    assert!(
        label().as_str().unwrap().starts_with("Speed of particle 4 against time, from "),
        "{}",
        label()
    );
    browser.choose("#attribute", "Age (s)");
    assert_eq!(browser.text("#series-name"), "Age (s)");
    browser.slide("#time", 0.5);
    assert_eq!(label(), "Age of particle 4 against time, from 0 s to 10 s; now 5 s");
    // The cursor is in the middle of the chart, and a click in the chart sets the time.
    let cursor = number(&browser, "Number(document.querySelector('.cursor').getAttribute('x1'))");
    assert!((cursor - (52.0 + 290.0) / 2.0).abs() < 0.1, "{cursor}");
    browser.script("document.querySelector('#series-chart').scrollIntoView()");
    let area = browser.area("#series-chart svg");
    let at = (area.x + area.width * (52.0 + 0.25 * 238.0) / 300.0, area.y + area.height / 2.0);
    browser.drag(at, at);
    assert!((time(&browser) - 2.5).abs() < 0.1, "{}", time(&browser));
    // A quantity that was chosen stays.
    browser.choose("#series-of", "z (m)");
    browser.choose("#attribute", "Speed (m/s)");
    assert_eq!(browser.text("#series-name"), "z (m)");
    browser.press(keys::ESCAPE);
    assert_eq!(is_hidden(), true);
    assert_clean(&browser);
}

#[test]
fn series_has_gaps_where_the_track_has() {
    let mut page = runs::helices(9, 41);
    page.trajectories.joined[9 * 10 + 4] = false;
    page.trajectories.attributes[0].values[9 * 20 + 4] = f32::NAN;
    let Some(browser) = shown(&page) else { return };
    browser.enter("#number", "4");
    let commands = |letter: char| {
        let path =
            browser.script("return document.querySelector('.chart .line').getAttribute('d')");
        path.as_str().unwrap().matches(letter).count()
    };
    // 41 saves without the missing one; three parts.
    assert_eq!((commands('M'), commands('L')), (3, 37));
    // A particle that ends has no line afterwards.
    browser.enter("#number", "3");
    assert_eq!(commands('L'), 20);
    assert_clean(&browser);
}

#[test]
fn series_has_a_table() {
    let page = runs::helices(9, 41);
    let Some(browser) = shown(&page) else { return };
    browser.enter("#number", "4");
    assert_eq!(number(&browser, "document.querySelectorAll('#series-rows tr').length"), 0.0);
    browser.click("summary");
    assert_eq!(number(&browser, "document.querySelectorAll('#series-rows tr').length"), 42.0);
    let rows = browser.text("#series-rows");
    let lines: Vec<Vec<&str>> = rows.lines().map(|line| line.split('\t').collect()).collect();
    let heading =
        ["Save", "Time (s)", "Status", "Speed (m/s)", "Age (s)", "x (m)", "y (m)", "z (m)"];
    assert_eq!(lines[1], heading, "{rows}");
    let cells = &lines[12];
    assert_eq!(cells[..3], ["11", "2.5", "active"]);
    let [x, ..] = page.trajectories.position[9 * 10 + 4];
    let shown: f64 = cells[5].replace('−', "-").parse().unwrap();
    assert!((shown - x).abs() < 1e-3, "{shown} {x}");
    browser.enter("#number", "2");
    assert!(browser.text("#series-rows").starts_with("Particle 2"));
    assert_clean(&browser);
}

//! The selection by status, source and box.

use super::browser::{Browser, keys};
use super::{BLUE, ORANGE, SCENE, assert_clean, plane_of, runs, shown, until, written};
use burntrace_plot::page::{Page, Sources};

fn is(browser: &Browser, property: &str) -> bool {
    browser.script(&format!("return {property}")).as_bool().unwrap()
}

/// The number of active particles in a box at a save.
fn inside(page: &Page, save: usize, low: [f64; 2], high: [f64; 2]) -> usize {
    let particles = page.trajectories.particles.len();
    let row = &page.trajectories.position[save * particles..(save + 1) * particles];
    row.iter().filter(|x| (0..2).all(|d| low[d] <= x[d] && x[d] <= high[d])).count()
}

#[test]
fn statuses_are_selected_and_counted() {
    let Some(browser) = shown(&runs::helices(60, 41)) else { return };
    browser.choose("#attribute", "Status");
    assert_eq!(browser.text("#selected"), "40 of 60 particles selected");
    let list = browser.text("#status-list");
    assert_eq!(list.split_whitespace().collect::<Vec<_>>().join(" "), "Active 40 Exited x-high 20");
    let colors = || {
        let shot = browser.shot(SCENE);
        (shot.count(BLUE) > 100, shot.count(ORANGE) > 30)
    };
    assert_eq!(colors(), (true, false));
    browser.click("#status-1");
    assert_eq!(browser.text("#selected"), "60 of 60 particles selected");
    assert!(is(&browser, "ended.checked") && colors() == (true, true));
    browser.click("#status-0");
    assert_eq!(browser.text("#selected"), "20 of 60 particles selected");
    assert_eq!(colors(), (false, true));
    // Before the end of these particles, none of them is selected.
    browser.slide("#time", 0.3);
    assert_eq!(browser.text("#selected"), "0 of 60 particles selected");
    assert_eq!(colors(), (false, false));
    assert!(browser.text("#status-list").contains("60"));
    browser.click("#select-reset");
    assert_eq!(browser.text("#selected"), "60 of 60 particles selected");
    assert!(!is(&browser, "ended.checked") && colors() == (true, false));
    assert_clean(&browser);
}

#[test]
fn sources_are_selected_and_others_are_hidden_or_faint() {
    let mut page = runs::helices(60, 41);
    let Some(browser) = shown(&page) else { return };
    assert!(is(&browser, "document.querySelector('#source-choice').hidden"));
    page.statuses = None;
    page.trajectories.active.fill(true);
    let names = vec!["rake".into(), "</label>plume".into()];
    page.sources = Some(Sources { names, codes: (0..60).map(|i| u16::from(i < 15)).collect() });
    let Some(browser) = shown(&page) else { return };
    browser.choose("#attribute", "One colour");
    assert!(browser.text("#source-list").contains("</label>plume"));
    let all = browser.shot(SCENE);
    browser.click("#source-0");
    assert_eq!(browser.text("#selected"), "15 of 60 particles selected");
    let hidden = browser.shot(SCENE);
    let part = hidden.count(BLUE) as f64 / all.count(BLUE) as f64;
    assert!((0.1..0.45).contains(&part), "{part}");
    browser.choose("#others", "faint");
    let faint = browser.shot(SCENE);
    assert!(hidden.differs(&faint) > 300, "{}", hidden.differs(&faint));
    assert!(faint.count(BLUE) < all.count(BLUE) / 2);
    browser.click("#source-1");
    assert_eq!(browser.text("#selected"), "0 of 60 particles selected");
    assert_eq!(browser.shot(SCENE).count(BLUE), 0);
    assert_clean(&browser);
}

#[test]
fn box_selects_at_the_current_time_or_at_the_release() {
    let page = runs::flat(300, 21);
    let Some(browser) = shown(&page) else { return };
    let selected = |count: usize| {
        assert_eq!(browser.text("#selected"), format!("{count} of 300 particles selected"));
    };
    selected(300);
    assert!(is(&browser, "document.querySelector('#box-clear').disabled"));
    browser.enter("#box-low-x", "2.0");
    browser.enter("#box-high-y", "0.6");
    let [low, high] = [[2.0, f64::MIN], [f64::MAX, 0.6]];
    selected(inside(&page, 20, low, high));
    browser.slide("#time", 0.5);
    selected(inside(&page, 10, low, high));
    browser.choose("#box-of", "at the release");
    selected(inside(&page, 0, low, high));
    browser.slide("#time", 0.9);
    selected(inside(&page, 0, low, high));
    let only = browser.shot(SCENE);
    browser.click("#box-clear");
    selected(300);
    assert_eq!(browser.text("#box-low-x"), "");
    let all = browser.shot(SCENE);
    assert!(only.differs(&all) > 300, "{}", only.differs(&all));
    assert_clean(&browser);
}

#[test]
fn box_is_drawn_in_a_plane_view() {
    let page = runs::flat(300, 21);
    let Some(browser) = shown(&page) else { return };
    // The box of 4 x 1 fills the width of the plot area.
    let area = browser.area(SCENE);
    let side = (area.width - 98.0) / 1.04 / 4.0;
    let (x, y) =
        (area.x + 80.0 + (area.width - 98.0) / 2.0, area.y + 28.0 + (area.height - 74.0) / 2.0);
    let at = |px: f64, py: f64| (x + (px - 2.0) * side, y - (py - 0.5) * side);
    let box_is = |expected: [f64; 4]| {
        let ids = ["low-x", "low-y", "high-x", "high-y"];
        let given = ids.map(|id| browser.text(&format!("#box-{id}")).parse::<f64>().unwrap());
        let is_near = given.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.01);
        assert!(is_near, "{given:?} {expected:?}");
        let [low, high] = [[given[0], given[1]], [given[2], given[3]]];
        let text = format!("{} of 300 particles selected", inside(&page, 20, low, high));
        assert_eq!(browser.text("#selected"), text);
    };
    browser.click("#box-draw");
    assert!(is(&browser, "document.querySelector('#box-draw').ariaPressed === 'true'"));
    browser.drag(at(1.0, 0.2), at(2.5, 0.7));
    box_is([1.0, 0.2, 2.5, 0.7]);
    assert!(is(&browser, "document.querySelector('#box-draw').ariaPressed === 'false'"));
    // The next drag pans; with Ctrl it draws, in any direction.
    let before = browser.shot(SCENE);
    browser.drag(at(1.0, 0.2), at(1.1, 0.2));
    box_is([1.0, 0.2, 2.5, 0.7]);
    assert!(before.differs(&browser.shot(SCENE)) > 300);
    browser.press("0");
    browser.drag_with(keys::CONTROL, at(3.5, 0.9), at(2.0, 0.4));
    box_is([2.0, 0.4, 3.5, 0.9]);
    // Not in 3-D.
    browser.click("label:has(input[value='3d'])");
    assert!(is(&browser, "document.querySelector('#box-draw').disabled"));
    assert_clean(&browser);
}

#[test]
fn address_keeps_the_selection() {
    let Some(browser) = Browser::new() else { return };
    browser.prefer("light");
    let folder = tempfile::tempdir().unwrap();
    let mut page = runs::helices(60, 41);
    let names = vec!["rake".into(), "plume".into()];
    page.sources = Some(Sources { names, codes: (0..60).map(|i| u16::from(i < 30)).collect() });
    browser.open(&written(folder.path(), &page));
    browser.click("label:has(input[value=xy])");
    browser.click("#status-0");
    browser.click("#status-1");
    browser.click("#source-1");
    browser.choose("#others", "faint");
    browser.choose("#box-of", "at the release");
    browser.enter("#box-low-y", "-0.25");
    let hash = || browser.script("return location.hash").as_str().unwrap().to_owned();
    until(|| hash().contains("box=%2C-0.25"));
    browser.settle();
    let (before, selected) = (browser.shot(SCENE), browser.text("#selected"));
    assert!(!selected.starts_with("0 "), "{selected}");
    browser.script("location.reload()");
    until(|| browser.script("return document.readyState") == "complete");
    browser.settle();
    assert_eq!(browser.text("#selected"), selected);
    assert_eq!(browser.text("#box-low-y"), "-0.25");
    assert!(!is(&browser, "document.querySelector('#status-0').checked"));
    assert!(!is(&browser, "document.querySelector('#source-1').checked"));
    assert_eq!(before.differs(&browser.shot(SCENE)), 0);
    assert_eq!(browser.console_messages(), Vec::<String>::new());
}

#[test]
fn hidden_particles_are_not_clicked() {
    let page = runs::helices(9, 41);
    let Some(browser) = shown(&page) else { return };
    browser.click("label:has(input[value=xy])");
    browser.click("#lines");
    let (left, top, side) = plane_of(&browser, 2.0);
    let [x, y, _] = page.trajectories.position[9 * 40 + 4];
    let at = (left + (x + 1.0) * side, top + (1.0 - y) * side);
    browser.drag(at, at);
    assert!(browser.text("#particle").contains("active"), "{}", browser.text("#particle"));
    browser.enter("#box-low-z", "5");
    browser.drag(at, at);
    assert!(browser.text("#particle").contains("Click a particle"));
    assert_clean(&browser);
}

//! Tests of the page in a browser.
//!
//! Without Chromium and its driver these tests are skipped. If `BURNTRACE_REQUIRE` lists `browser`, as in
//! `.ci/run`, they fail instead.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

#[path = "../../../../tests/support/browser.rs"]
mod browser;
#[path = "../../../../tests/support/requirements.rs"]
mod requirements;
mod runs;
mod selection;
mod series;
mod size;

use browser::{Browser, Shot, color_distance, keys};
use burntrace_plot::page::{Error, Page, Sources};
use burntrace_plot::{Attribute, Land, Raster, Surface};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The ends of the colour map on a light background, where a tenth is cut off at the light end.
const VIRIDIS: [[u8; 3]; 2] = [[68, 1, 84], [187, 223, 39]];
/// The first two colours of statuses and charts.
const BLUE: [u8; 3] = [0, 114, 178];
const ORANGE: [u8; 3] = [230, 159, 0];
const SCENE: &str = "#scene";

fn written(folder: &Path, page: &Page) -> PathBuf {
    let path = folder.join("page.html");
    page.write(&path).unwrap();
    path
}

/// A browser that shows a page; `None` if there is no browser and none is required.
fn shown(page: &Page) -> Option<Browser> {
    let browser = Browser::new()?;
    browser.prefer("light");
    let folder = tempfile::tempdir().unwrap();
    browser.open(&written(folder.path(), page));
    Some(browser)
}

/// Checks that the console has no messages, and that only the file was requested.
fn assert_clean(browser: &Browser) {
    assert_eq!(browser.console_messages(), Vec::<String>::new());
    let requests = browser.requests();
    let others: Vec<_> = requests
        .iter()
        .filter(|url| !(url.starts_with("file://") && url.ends_with("/page.html")))
        .collect();
    assert!(others.is_empty() && !requests.is_empty(), "{requests:?}");
    assert!(!browser.script("return document.querySelector('#message').hidden").is_null());
}

/// The time that the page shows.
fn time(browser: &Browser) -> f64 {
    let text = browser.text("#clock");
    let number = text.strip_prefix("t = ").and_then(|rest| rest.split_once(' ')).unwrap().0;
    number.replace('−', "-").parse().unwrap()
}

/// Waits for a condition, for at most a minute.
fn until(mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(60), "the condition was not met");
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn middle(browser: &Browser) -> (f64, f64) {
    let area = browser.area(SCENE);
    (area.x + area.width / 2.0, area.y + area.height / 2.0)
}

#[test]
fn tracks_are_drawn_in_their_colors() {
    let Some(browser) = shown(&runs::helices(60, 41)) else { return };
    let all = browser.shot(SCENE);
    assert!(all.colors() > 300, "{} colours", all.colors());
    for color in VIRIDIS {
        assert!(all.count(color) > 20, "{} of {color:?}", all.count(color));
    }
    browser.click("#lines");
    let points = browser.shot(SCENE);
    assert!(all.differs(&points) > 2000, "{}", all.differs(&points));
    browser.click("#points");
    let none = browser.shot(SCENE);
    assert!(points.differs(&none) > 300, "{}", points.differs(&none));
    assert!(none.colors() < points.colors() && VIRIDIS.iter().all(|&color| none.count(color) == 0));
    assert_clean(&browser);
}

#[test]
fn playback_starts_pauses_and_stops_at_the_end() {
    let Some(browser) = shown(&runs::helices(60, 41)) else { return };
    assert_eq!(browser.text("#clock"), "t = 10.00 s · save 41 of 41");
    let end = browser.shot(SCENE);
    browser.click("#play");
    assert_eq!(browser.script("return play.getAttribute('aria-label')"), "Pause");
    let early = time(&browser);
    until(|| time(&browser) > early);
    assert!(time(&browser) < 10.0);
    browser.click("#play");
    let paused = time(&browser);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(time(&browser), paused);
    assert!(end.differs(&browser.shot(SCENE)) > 1000);
    // At five times the speed it reaches the end and stops.
    browser.choose("#speed", "5×");
    browser.click("#play");
    until(|| browser.script("return play.getAttribute('aria-label')") == "Play");
    assert_eq!(time(&browser), 10.0);
    assert_eq!(end.differs(&browser.shot(SCENE)), 0);
    assert_clean(&browser);
}

#[test]
fn keys_and_slider_change_the_time() {
    let Some(browser) = shown(&runs::helices(20, 41)) else { return };
    let end = browser.shot(SCENE);
    browser.press(keys::LEFT);
    assert_eq!(browser.text("#clock"), "t = 9.75 s · save 40 of 41");
    browser.press(keys::HOME);
    browser.press(keys::LEFT);
    assert_eq!(browser.text("#clock"), "t = 0.00 s · save 1 of 41");
    browser.press(keys::RIGHT);
    assert_eq!(browser.text("#clock"), "t = 0.25 s · save 2 of 41");
    browser.press(" ");
    assert_eq!(browser.script("return play.getAttribute('aria-label')"), "Pause");
    browser.press(" ");
    assert_eq!(browser.script("return play.getAttribute('aria-label')"), "Play");
    let slider = browser.area("#time");
    let at = |part: f64| (slider.x + part * slider.width, slider.y + slider.height / 2.0);
    browser.drag(at(0.3), at(0.5));
    assert!((time(&browser) - 5.0).abs() < 0.15, "{}", time(&browser));
    assert!(end.differs(&browser.shot(SCENE)) > 300);
    // Arrow keys work the same with the slider focused.
    let before = browser.text("#clock");
    browser.press(keys::END);
    assert_ne!(browser.text("#clock"), before);
    browser.press(keys::LEFT);
    assert_eq!(browser.text("#clock"), "t = 9.75 s · save 40 of 41");
    assert_clean(&browser);
}

#[test]
fn dates_are_shown_instead_of_times() {
    let mut page = runs::helices(20, 3);
    page.trajectories.dates = [1, 2, 3].map(|day| format!("2000-02-0{day} 06:00")).into();
    let Some(browser) = shown(&page) else { return };
    assert_eq!(browser.text("#clock"), "2000-02-03 06:00 · save 3 of 3");
    browser.slide("#time", 0.75);
    assert_eq!(browser.text("#clock"), "2000-02-02 06:00 · save 2 of 3");
    assert_clean(&browser);
}

#[test]
fn uneven_and_decreasing_times_are_shown() {
    let mut page = runs::helices(20, 4);
    page.trajectories.times = vec![10.0, 9.0, 8.5, -2.0];
    let Some(browser) = shown(&page) else { return };
    assert_eq!(browser.text("#clock"), "t = −2.00 s · save 4 of 4");
    browser.press(keys::LEFT);
    assert_eq!(browser.text("#clock"), "t = 8.50 s · save 3 of 4");
    browser.slide("#time", 0.5);
    assert_eq!(browser.text("#clock"), "t = 4.00 s · save 3 of 4");
    browser.press(keys::HOME);
    assert_eq!(browser.text("#clock"), "t = 10.00 s · save 1 of 4");
    assert_clean(&browser);
}

#[test]
fn colors_follow_the_attribute_the_map_and_the_range() {
    let Some(browser) = shown(&runs::helices(60, 41)) else { return };
    browser.slide("#width", 3.0);
    browser.slide("#size", 10.0);
    let speed = browser.shot(SCENE);
    assert!(browser.text("#bars").contains("Speed (m/s)"), "{}", browser.text("#bars"));
    browser.choose("#map", "plasma");
    let plasma = browser.shot(SCENE);
    assert!(speed.differs(&plasma) > 2000, "{}", speed.differs(&plasma));
    browser.choose("#attribute", "Age (s)");
    assert!(plasma.differs(&browser.shot(SCENE)) > 2000);
    assert!(browser.text("#bars").contains("Age (s)") && browser.text("#bars").contains("10"));
    // Ages above 1 have the last colour of the map.
    browser.enter("#high", "1");
    browser.choose("#map", "viridis");
    let (old, fast) = (browser.shot(SCENE).count(VIRIDIS[1]), speed.count(VIRIDIS[1]));
    assert!(old > 3 * fast.max(100), "{old} {fast}");
    browser.choose("#attribute", "Status");
    browser.click("#ended");
    assert!(browser.text("#bars").contains("Exited x-high"));
    let status = browser.shot(SCENE);
    assert!(status.count(BLUE) > 1000 && status.count(ORANGE) > 30);
    browser.choose("#attribute", "One colour");
    let one = browser.shot(SCENE);
    assert!(one.count(BLUE) > 1000 && one.count(ORANGE) == 0);
    assert_clean(&browser);
}

#[test]
fn theme_follows_the_button_and_the_system() {
    let Some(browser) = shown(&runs::helices(60, 41)) else { return };
    let background = |shot: &Shot| shot.pixels[5 * shot.width + 5];
    let light = browser.shot(SCENE);
    assert_eq!(background(&light), [255, 255, 255]);
    browser.click("#theme");
    let dark = browser.shot(SCENE);
    assert!(color_distance(background(&dark), [0, 0, 0]) < 40, "{:?}", background(&dark));
    browser.click("#theme");
    assert_eq!(browser.shot(SCENE).differs(&light), 0);
    let Some(other) = shown(&runs::one()) else { return };
    other.prefer("dark");
    assert!(color_distance(background(&other.shot(SCENE)), [0, 0, 0]) < 40);
    assert_clean(&browser);
}

#[test]
fn page_opens_readable() {
    let Some(browser) = shown(&runs::helices(300, 41)) else { return };
    assert_eq!(browser.script("return ended.checked"), false);
    // The part of the run that trails show, and the part of the picture that is covered.
    let trail = || browser.script("return trail.value ** 2 / 1e4").as_f64().unwrap();
    let covered = || {
        let shot = browser.shot(SCENE);
        1.0 - shot.count([255; 3]) as f64 / (shot.width * shot.height) as f64
    };
    assert!((0.05..0.2).contains(&trail()), "{}", trail());
    let readable = covered();
    browser.slide("#trail", 100.0);
    assert!(readable < 0.15 && covered() > 2.0 * readable, "{readable} and {}", covered());
    assert_clean(&browser);
    // Of many tracks, trails have the length of the interval between two saves.
    let folder = tempfile::tempdir().unwrap();
    browser.open(&written(folder.path(), &runs::helices(10_000, 21)));
    assert!((trail() - 0.05).abs() < 0.01, "{}", trail());
    assert!(covered() < 0.15, "{}", covered());
    assert_clean(&browser);
    // Where most particles have ended, it opens while half of them are active.
    let mut page = runs::helices(30, 41);
    for save in 11..41 {
        for at in 30 * save..30 * save + 20 {
            page.trajectories.active[at] = false;
            page.trajectories.joined[at] = false;
        }
    }
    let Some(browser) = shown(&page) else { return };
    assert_eq!(browser.text("#clock"), "t = 2.50 s · save 11 of 41");
}

#[test]
fn address_keeps_the_view() {
    let Some(browser) = Browser::new() else { return };
    browser.prefer("light");
    let folder = tempfile::tempdir().unwrap();
    browser.open(&written(folder.path(), &runs::helices(60, 41)));
    let fresh = browser.script("return location.hash");
    browser.click("label:has(input[value=xy])");
    browser.choose("#attribute", "Age (s)");
    browser.click("#slice-on-0");
    browser.click("#points");
    browser.slide("#time", 0.5);
    browser.slide("#trail", 60.0);
    browser.enter("#number", "7");
    until(|| browser.script("return location.hash").as_str().unwrap().contains("particle=7"));
    assert_ne!(browser.script("return location.hash"), fresh);
    browser.settle();
    let before = browser.shot(SCENE);
    browser.script("location.reload()");
    until(|| browser.script("return document.readyState") == "complete");
    browser.settle();
    assert_eq!(browser.text("#clock"), "t = 5.00 s · save 21 of 41");
    assert!(browser.text("#bars").contains("Age (s)"), "{}", browser.text("#bars"));
    assert!(browser.text("#particle").contains("active"), "{}", browser.text("#particle"));
    assert_eq!(before.differs(&browser.shot(SCENE)), 0);
    // What is invalid changes nothing.
    browser.script("location.hash = '#view=9d&time=x&camera=1,2&color=99&particle=-3&sliders=a'");
    browser.settle();
    assert_eq!(browser.text("#clock"), "t = 5.00 s · save 21 of 41");
    assert_eq!(browser.console_messages(), Vec::<String>::new());
}

#[test]
fn the_page_of_a_run_in_progress_is_loaded_again_with_its_view() {
    /// Seconds: a click takes part of one on a busy machine.
    const RELOAD: f64 = 1.5;
    let Some(browser) = Browser::new() else { return };
    let folder = tempfile::tempdir().unwrap();
    let with = |saves: usize, reload: Option<f64>| {
        written(folder.path(), &Page { reload, ..runs::helices(30, saves) })
    };
    browser.open(&with(21, Some(RELOAD)));
    let clock = || browser.script("return (document.querySelector('#clock') || {}).value || ''");
    let shows = |text: &str| clock().as_str().is_some_and(|clock| clock.ends_with(text));
    // It may be between two pages.
    until(|| shows("save 21 of 21"));
    browser.click("label:has(input[value=xy])");
    with(31, Some(RELOAD));
    // At the latest save, until another time is chosen.
    until(|| shows("save 31 of 31"));
    assert_eq!(browser.script("return document.querySelector('input[value=xy]').checked"), true);
    browser.slide("#time", 0.5);
    with(41, None);
    until(|| shows("save 21 of 41"));
    // It is not loaded again.
    browser.script("window.kept = true");
    std::thread::sleep(Duration::from_secs_f64(RELOAD + 0.5));
    assert_eq!(browser.script("return window.kept"), true);
}

#[test]
fn numbers_of_particles_are_exact() {
    let mut page = runs::helices(30, 41);
    page.trajectories.particles = (0..30).map(|i| 70_001 + 17 * i).collect();
    let values = page.trajectories.particles.iter().map(|number| *number as f32);
    let values = values.collect::<Vec<f32>>().repeat(41);
    let seed = Attribute { name: "seed".into(), values, ..Attribute::default() };
    page.trajectories.attributes.push(seed);
    let Some(browser) = shown(&page) else { return };
    browser.choose("#attribute", "Seed");
    browser.slide("#time", 0.512);
    let bars = browser.text("#bars");
    assert!(bars.contains("70,001") && bars.contains("70,494"), "{bars}");
    browser.enter("#number", "70018");
    let facts = browser.text("#particle");
    assert!(facts.contains("70018") && !facts.contains("70018."), "{facts}");
    assert_clean(&browser);
}

#[test]
fn density_follows_the_time() {
    let mut page = runs::helices(9, 41);
    let slice = &mut page.slices[0];
    slice.times = vec![0.0, 5.0];
    slice.later = vec![slice.raster.values.iter().map(|value| 0.1 * value).collect()];
    let Some(browser) = shown(&page) else { return };
    browser.click("#lines");
    browser.click("#points");
    browser.click("#slice-on-0");
    let late = browser.shot(SCENE);
    let title = "Density at z = 0.5 m (1/m³), t = ";
    assert!(browser.text("#bars").contains(&format!("{title}5 s")), "{}", browser.text("#bars"));
    browser.slide("#time", 0.6);
    assert_eq!(late.differs(&browser.shot(SCENE)), 0);
    browser.slide("#time", 0.4);
    assert!(browser.text("#bars").contains(&format!("{title}0 s")), "{}", browser.text("#bars"));
    assert!(late.differs(&browser.shot(SCENE)) > 5000);
    assert_clean(&browser);
}

#[test]
fn walls_can_be_switched_off() {
    let mut page = runs::helices(9, 41);
    let Some(browser) = shown(&page) else { return };
    assert_eq!(browser.script("return walls.parentElement.hidden"), true);
    let without = browser.shot(SCENE);
    let triangles = vec![[[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 1.0, 1.0]]];
    page.trajectories.surfaces = vec![Surface { triangles, is_wall: false }];
    page.trajectories.outline = vec![[[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]];
    let Some(browser) = shown(&page) else { return };
    assert!(without.differs(&browser.shot(SCENE)) > 1000);
    browser.click("#walls");
    assert_eq!(without.differs(&browser.shot(SCENE)), 0);
    assert_clean(&browser);
}

#[test]
fn land_is_shaded_in_the_domain() {
    let shaded = |is_land: fn(usize, usize) -> bool| {
        let mut page = runs::helices(9, 41);
        // In quarters, and beyond the domain from -1 to 1.
        let walls = vec![-3.0, 0.0, 3.0];
        page.trajectories.land = Some(Land::new([walls.clone(), walls], is_land));
        let browser = shown(&page)?;
        ["#lines", "#points", "label:has(input[value=xy])"]
            .iter()
            .for_each(|button| browser.click(button));
        let with = browser.shot(SCENE);
        browser.click("#walls");
        let count = with.differs(&browser.shot(SCENE));
        assert_clean(&browser);
        Some(count as f64)
    };
    let Some(all) = shaded(|_, _| true) else { return };
    let quarter = shaded(|i, j| i + j == 0).unwrap();
    assert!(quarter > 2000.0 && (3.6..4.4).contains(&(all / quarter)), "{all} {quarter}");
}

#[test]
fn camera_rotates_pans_and_zooms() {
    let Some(browser) = shown(&runs::helices(60, 41)) else { return };
    let (x, y) = middle(&browser);
    let first = browser.shot(SCENE);
    browser.drag((x, y), (x + 120.0, y + 40.0));
    let turned = browser.shot(SCENE);
    assert!(first.differs(&turned) > 5000, "{}", first.differs(&turned));
    browser.wheel((x, y), -400);
    let near = browser.shot(SCENE);
    assert!(turned.differs(&near) > 5000);
    browser.click("#reset");
    browser.pinch((x, y), 40.0, 120.0);
    assert!(first.differs(&browser.shot(SCENE)) > 5000);
    assert!(
        browser.text("#particle").contains("Click a particle"),
        "two fingers must not select a particle"
    );
    browser.click("#reset");
    assert_eq!(first.differs(&browser.shot(SCENE)), 0);
    // The same with one finger, and with the keyboard.
    browser.swipe((x, y), (x + 120.0, y + 40.0));
    assert_eq!(turned.differs(&browser.shot(SCENE)), 0);
    browser.press("0");
    assert_eq!(first.differs(&browser.shot(SCENE)), 0);
    browser.press_with_shift(keys::RIGHT);
    assert!(first.differs(&browser.shot(SCENE)) > 5000);
    browser.press("0");
    browser.press("+");
    assert!(first.differs(&browser.shot(SCENE)) > 5000);
    browser.press("-");
    assert!(first.differs(&browser.shot(SCENE)) < 500);
    browser.press("0");
    browser.click("#equal");
    assert!(first.differs(&browser.shot(SCENE)) > 5000);
    for plane in ["xy", "xz", "yz"] {
        browser.click(&format!("label:has(input[value={plane}])"));
        let flat = browser.shot(SCENE);
        assert!(first.differs(&flat) > 5000, "{plane}");
        browser.drag((x, y), (x + 60.0, y));
        assert!(flat.differs(&browser.shot(SCENE)) > 1000, "{plane}");
    }
    assert_clean(&browser);
}

#[test]
fn slices_can_be_switched_on_and_off() {
    let Some(browser) = shown(&runs::helices(10, 11)) else { return };
    browser.click("label:has(input[value=xy])");
    let without = browser.shot(SCENE);
    browser.click("#slice-on-0");
    let with = browser.shot(SCENE);
    assert!(without.differs(&with) > 50_000, "{}", without.differs(&with));
    assert!(browser.text("#bars").contains("Density at z = 0.5 m (1/m³)"));
    // The peak is in the centre of the box: dark on a light background.
    let (x, y) = middle(&browser);
    let area = browser.area(SCENE);
    // The margins shift the centre of the plot area from that of the canvas.
    let (x, y) = ((x - area.x + 31.0) as usize, (y - area.y - 9.0) as usize);
    let color = |shot: &Shot, [x, y]: [usize; 2]| shot.pixels[y * shot.width + x];
    assert!(color_distance(color(&with, [x, y]), [51, 51, 54]) < 30);
    // Where there is little, it fades into the background.
    let corner = [x - 270, y - 270];
    assert!(color_distance(color(&with, corner), [255; 3]) < 30, "{:?}", color(&with, corner));
    browser.click("#theme");
    let dark = browser.shot(SCENE);
    let [peak, low] = [[x, y], corner].map(|at| color(&dark, at));
    assert!(peak[0] > 180 && peak[1] > 180, "the peak is not light on dark: {peak:?}");
    assert!(color_distance(low, color(&dark, [5, 5])) < 30, "{low:?}");
    browser.click("#theme");
    browser.click("#slice-on-0");
    assert_eq!(without.differs(&browser.shot(SCENE)), 0);
    assert_clean(&browser);
}

#[test]
fn click_selects_a_particle() {
    let mut page = runs::helices(9, 41);
    page.trajectories.particles = (100..109).collect();
    let Some(browser) = shown(&page) else { return };
    browser.click("label:has(input[value=xy])");
    browser.choose("#attribute", "Status");
    browser.click("#lines");
    let plain = browser.shot(SCENE);
    // The last position of a particle in the box of 2 x 2 m.
    let (left, top, side) = plane_of(&browser, 2.0);
    let last = page.trajectories.particles.len() * 40 + 4;
    let [x, y, _] = page.trajectories.position[last].map(f64::from);
    let at = (left + (x + 1.0) * side, top + (1.0 - y) * side);
    browser.drag(at, at);
    let facts = browser.text("#particle");
    assert!(facts.contains("104") && facts.contains("active"), "{facts}");
    let speed = f64::from(page.trajectories.attributes[0].values[last]);
    assert!(facts.contains(&format!("{speed:.2}")[..3]), "{facts} {speed}");
    assert!(plain.differs(&browser.shot(SCENE)) > 200, "the track is not highlighted");
    browser.enter("#number", "100");
    assert!(browser.text("#particle").contains("exited x-high"));
    browser.click("#drop");
    assert!(browser.text("#particle").contains("Click a particle"));
    assert_eq!(plain.differs(&browser.shot(SCENE)), 0);
    browser.enter("#number", "7");
    assert!(browser.text("#particle").contains("Particle 7 is not on this page"));
    browser.drag(at, at);
    assert!(browser.text("#particle").contains("104"));
    // A click without a hit clears the selection.
    browser.drag((left - 20.0, top + 20.0), (left - 20.0, top + 20.0));
    assert!(browser.text("#particle").contains("Click a particle"));
    browser.swipe(at, at);
    assert!(browser.text("#particle").contains("104"), "a touch selects as a click does");
    browser.press(keys::ESCAPE);
    assert!(browser.text("#particle").contains("Click a particle"));
    assert_clean(&browser);
}

/// The left and top side of a box of this height in a plane view, and the length of a unit, in
/// pixels.
fn plane_of(browser: &Browser, height: f64) -> (f64, f64, f64) {
    let area = browser.area(SCENE);
    let [left, right, top, bottom] = [80.0, 18.0, 28.0, 46.0];
    let (wide, high) = (area.width - left - right, area.height - top - bottom);
    let side = high / 1.04 / height;
    let (x, y) = (area.x + left + wide / 2.0, area.y + top + high / 2.0);
    (x - side * height / 2.0, y - side * height / 2.0, side)
}

#[test]
fn line_is_at_the_positions_of_the_particle() {
    // The line goes from 0.05 to 0.95 of the box, at half its height.
    let Some(browser) = shown(&runs::one()) else { return };
    browser.click("label:has(input[value=xy])");
    browser.choose("#attribute", "One colour");
    browser.slide("#width", 4.0);
    browser.click("#points");
    let (left, top, side) = plane_of(&browser, 1.0);
    let area = browser.area(SCENE);
    let (x, y) = browser.shot(SCENE).middle_of(BLUE);
    let expected = (left + 0.5 * side - area.x, top + 0.5 * side - area.y);
    assert!((x - expected.0).abs() < 1.5 && (y - expected.1).abs() < 1.5, "{x} {y} {expected:?}");
    // Halfway between two saves, the particle is halfway between their positions.
    browser.slide("#time", 0.05);
    browser.click("#lines");
    browser.click("#points");
    let (x, _) = browser.shot(SCENE).middle_of(BLUE);
    let expected = left + 0.095 * side - area.x;
    assert!((x - expected).abs() < 1.5, "{x} {expected}");
    assert_clean(&browser);
}

#[test]
fn jumps_are_not_joined() {
    let mut page = runs::one();
    page.trajectories.joined[5] = false;
    let gap = |page: &Page| {
        let browser = shown(page)?;
        browser.click("label:has(input[value=xy])");
        browser.choose("#attribute", "One colour");
        browser.slide("#width", 4.0);
        browser.click("#points");
        assert_clean(&browser);
        Some(browser.shot(SCENE).count(BLUE))
    };
    let (Some(whole), Some(broken)) = (gap(&runs::one()), gap(&page)) else { return };
    let part = broken as f64 / whole as f64;
    assert!((part - 0.9).abs() < 0.02, "{part} of the line is drawn, expected 0.9");
}

#[test]
fn tables_and_charts_are_shown() {
    let Some(browser) = shown(&runs::helices(10, 11)) else { return };
    let summary = browser.text("#summary");
    for text in ["Run", "precision", "f32", "exited x-high", "1,000", "Residence times", "Stuck"] {
        assert!(summary.contains(text), "no `{text}` in {summary}");
    }
    let bars = browser.script("return document.querySelectorAll('.chart rect').length");
    let counts = &runs::helices(10, 11).histograms[0].series;
    let filled = counts.iter().flat_map(|(_, counts)| counts).filter(|&&count| count > 0).count();
    assert_eq!(bars, filled);
    assert_eq!(browser.text("#shown"), "All 10 particles, all 11 saves");
}

#[test]
fn text_of_a_run_is_escaped() {
    let evil =
        "</script><script>window.evil = 1</script>{{numbers}}<img src=x onerror='evil = 2'>\"'&";
    let mut page = runs::helices(5, 5);
    page.title = evil.into();
    page.trajectories.length_unit = evil.into();
    page.trajectories.attributes[0].name = evil.into();
    page.sections[0].title = evil.into();
    page.sections[0].rows[0] = (evil.into(), evil.into());
    page.slices[0].raster.title = evil.into();
    page.histograms[0].series[0].0 = evil.into();
    page.statuses.as_mut().unwrap().names[0] = evil.into();
    let Some(browser) = shown(&page) else { return };
    assert_eq!(browser.text("h1"), evil);
    assert!(browser.text("#summary").contains(evil));
    assert_eq!(browser.script("return document.title"), evil);
    assert!(browser.script("return window.evil ?? null").is_null());
    assert!(browser.shot(SCENE).colors() > 100);
    assert_clean(&browser);
}

#[test]
fn network_access_is_blocked() {
    let Some(browser) = shown(&runs::one()) else { return };
    assert_clean(&browser);
    for (tries, directive) in [
        ("fetch('http://127.0.0.1:9/').catch(() => {})", "connect-src"),
        ("new Image().src = 'http://127.0.0.1:9/a.png'", "img-src"),
        (
            "document.body.append(Object.assign(document.createElement('script'), {text: '1'}))",
            "script-src-elem",
        ),
    ] {
        let refused = browser.script_async(&format!(
            "const done = arguments[0]; \
             document.addEventListener('securitypolicyviolation', (event) => done(event.effectiveDirective), {{once: true}}); \
             {tries}"
        ));
        assert_eq!(refused, directive, "{tries}");
    }
}

#[test]
fn empty_and_small_runs_are_shown() {
    let none = Page { title: "Nothing".into(), ..Page::default() };
    let Some(browser) = shown(&none) else { return };
    assert_eq!(browser.text("#message"), "There are no particles to show.");
    assert_eq!(browser.text("#shown"), "No particles, no saves");
    assert_clean(&browser);
    let Some(browser) = shown(&runs::helices(30, 1)) else { return };
    assert_eq!(browser.text("#clock"), "t = 0.000 s · save 1 of 1");
    assert!(browser.script("return play.disabled").as_bool().unwrap());
    assert!(browser.shot(SCENE).count(VIRIDIS[1]) > 10);
    assert_clean(&browser);
    // A flat box is viewed along its normal.
    let Some(browser) = shown(&runs::flat(50, 21)) else { return };
    assert!(
        browser.script("return document.querySelector('[value=xy]').checked").as_bool().unwrap()
    );
    assert!(browser.shot(SCENE).colors() > 100);
    assert_clean(&browser);
    let mut missing = runs::one();
    missing.trajectories.position.fill([f64::NAN; 3]);
    missing.trajectories.attributes[0].values.fill(f32::NAN);
    let Some(browser) = shown(&missing) else { return };
    browser.enter("#number", "0");
    assert!(browser.text("#particle").contains("does not exist"), "{}", browser.text("#particle"));
    assert_clean(&browser);
}

#[test]
fn without_webgl_a_message_and_the_tables_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let Some(browser) = Browser::with(&["--disable-3d-apis"]) else { return };
    browser.open(&written(folder.path(), &runs::helices(10, 11)));
    assert!(
        browser.text("#message").contains("WebGL 2 is not available"),
        "{}",
        browser.text("#message")
    );
    assert!(browser.text("#summary").contains("Residence times"));
    browser.click("#play");
    browser.choose("#attribute", "Status");
    browser.click("#slice-on-0");
}

#[test]
fn picture_is_restored_after_a_lost_context() {
    let Some(browser) = shown(&runs::helices(60, 41)) else { return };
    browser.click("#slice-on-0");
    browser.enter("#number", "3");
    let before = browser.shot(SCENE);
    browser.script(
        "window.card = scene.getContext('webgl2').getExtension('WEBGL_lose_context'); card.loseContext()",
    );
    until(|| browser.text("#message").contains("was lost"));
    browser.slide("#time", 0.5);
    browser.slide("#time", 1.0);
    browser.script("card.restoreContext()");
    until(|| browser.text("#message").is_empty());
    assert_eq!(before.differs(&browser.shot(SCENE)), 0);
}

#[test]
fn only_statuses_that_occur_have_colors() {
    let mut page = runs::helices(30, 21);
    let statuses = page.statuses.as_mut().unwrap();
    statuses.names = (0..14).map(|code| format!("status {code}")).collect();
    for code in &mut statuses.codes {
        *code = [1, 12][usize::from(*code)];
    }
    let Some(browser) = shown(&page) else { return };
    browser.click("#ended");
    browser.choose("#attribute", "Status");
    let bar = browser.text("#bars");
    assert!(
        bar.contains("Status 1") && bar.contains("Status 12") && !bar.contains("Status 0"),
        "{bar}"
    );
    let shot = browser.shot(SCENE);
    assert!(shot.count(BLUE) > 300 && shot.count(ORANGE) > 10, "{}", shot.count(ORANGE));
    browser.enter("#number", "0");
    assert!(browser.text("#particle").contains("status 12"));
    assert_clean(&browser);
}

#[test]
fn layout_fits_a_phone() {
    let Some(browser) = Browser::new() else { return };
    browser.prefer("light");
    let folder = tempfile::tempdir().unwrap();
    let page = written(folder.path(), &runs::helices(60, 41));
    let opened = |width, height| {
        browser.size(width, height);
        browser.open(&page);
        browser.script("return Number(size.value)").as_f64().unwrap()
    };
    let (on_desktop, on_phone) = (opened(1280, 800), opened(360, 740));
    assert!(on_phone < 0.7 * on_desktop, "points of {on_desktop} and {on_phone} pixels");
    browser.enter("#number", "4");
    browser.click("summary");
    let wide = browser.script("return document.documentElement.scrollWidth").as_f64().unwrap();
    assert!(wide <= 360.0, "{wide}");
    browser.script("scrollTo(0, 0)");
    let area = browser.area(SCENE);
    assert!(area.width == 360.0 && area.height > 280.0, "{area:?}");
    assert!(browser.shot(SCENE).count(VIRIDIS[1]) > 20);
    let overlap = browser.script(
        "const boxes = [...document.querySelectorAll('#transport > *')].map((e) => e.getBoundingClientRect()); \
         return boxes.some((a, i) => boxes.some((b, k) => k > i && a.left < b.right - 1 && b.left < a.right - 1 \
         && a.top < b.bottom - 1 && b.top < a.bottom - 1))",
    );
    assert!(!overlap.as_bool().unwrap());
    assert_clean(&browser);
}

#[test]
fn controls_have_accessible_names() {
    let mut page = runs::helices(10, 11);
    page.sources = Some(Sources { names: vec!["rake".into(), "plume".into()], codes: vec![1; 10] });
    let Some(browser) = shown(&page) else { return };
    browser.enter("#number", "3");
    browser.click("summary");
    let tree = browser.devtools("Accessibility.getFullAXTree", serde_json::json!({}));
    let nodes = tree["nodes"].as_array().unwrap();
    let roles = ["button", "slider", "checkbox", "radio", "combobox", "spinbutton", "image"];
    let has_role = |node: &&serde_json::Value| {
        roles.iter().any(|role| node["role"]["value"] == *role) && node["ignored"] == false
    };
    let found: Vec<_> = nodes.iter().filter(has_role).collect();
    assert!(found.len() > 35, "{}", found.len());
    for node in found {
        assert_ne!(node["name"]["value"].as_str().unwrap_or(""), "", "{node}");
    }
}

#[test]
fn inconsistent_pages_are_refused() {
    let refused = |change: &dyn Fn(&mut Page)| {
        let mut page = runs::helices(4, 3);
        change(&mut page);
        page.html().unwrap_err()
    };
    let error = refused(&|page| {
        page.trajectories.attributes[0].values.pop();
    });
    assert_eq!(
        error.to_string(),
        "the attribute `speed` has 11 values, and must have 12: one for each save and particle"
    );
    let error = refused(&|page| page.trajectories.times[2] = 1.0);
    assert!(matches!(error, Error::Times { save: 2, .. }), "{error}");
    let error = refused(&|page| page.trajectories.domain[1][2] = -1.0);
    assert!(matches!(error, Error::Number { .. }), "{error}");
    let error = refused(&|page| page.slices[0].normal_axis = 3);
    assert!(error.to_string().contains("must be 0, 1 or 2"), "{error}");
    let error = refused(&|page| page.slices[0].raster = Raster::default());
    assert!(error.to_string().contains("at least one along each axis"), "{error}");
    let error = refused(&|page| page.statuses.as_mut().unwrap().codes[0] = 9);
    assert!(error.to_string().contains("10: one for each code"), "{error}");
    let error = refused(&|page| {
        page.sources = Some(Sources { names: vec!["rake".into()], codes: vec![0, 0, 1, 0] });
    });
    assert!(error.to_string().contains("2: one for each code"), "{error}");
    let error = refused(&|page| page.precision.value = 7);
    assert!(error.to_string().contains("it must be from 8 to 16"), "{error}");
    let error = refused(&|page| page.histograms[0].edges.truncate(3));
    assert!(matches!(error, Error::Length { .. }), "{error}");
    let error = runs::one().write("/no/such/folder/page.html").unwrap_err();
    assert!(matches!(error, Error::Write { .. }), "{error}");
}

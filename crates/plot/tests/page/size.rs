//! The size of pages, and the precision of their numbers.

use super::{assert_clean, runs, shown, written};
use burntrace_plot::page::{BUDGET, Page, Precision, Statuses, stride};

/// Checks that the particles of a page have their own values.
fn assert_is_part(part: &Page, page: &Page) {
    let (kept, all) = (&part.trajectories, &page.trajectories);
    let last = all.times.len() - 1;
    for (column, &number) in kept.particles.iter().enumerate() {
        let new = last * kept.particles.len() + column;
        let old = last * all.particles.len() + number as usize;
        assert_eq!(kept.position[new], all.position[old]);
        assert_eq!(kept.attributes[0].values[new], all.attributes[0].values[old]);
        assert_eq!(kept.active[new], all.active[old]);
        let codes = |statuses: &Option<Statuses>, at| statuses.as_ref().unwrap().codes[at];
        assert_eq!(codes(&part.statuses, new), codes(&page.statuses, old));
    }
}

#[test]
fn fit_lowers_the_precision_before_it_thins_out_particles() {
    let page = runs::helices(2000, 50);
    let (same, html) = page.clone().fitted_html(BUDGET).unwrap();
    assert!(same == page && html == page.html().unwrap());
    let whole = html.len();
    let (coarse, html) = page.clone().fitted_html(whole - 1000).unwrap();
    assert!(html.len() <= whole - 1000 && coarse.trajectories.particles.len() == 2000);
    assert_eq!(coarse.precision, Precision::STEPS[1]);
    let text = "all 2,000 particles, all 50 saves; positions rounded to 1/16,382 of their range, values to 1/4,094";
    assert!(html.contains(text));

    let overhead = page.clone().fit(0).unwrap().html().unwrap().len();
    let budget = overhead + (whole - overhead) / 5;
    let part = page.clone().fit(budget).unwrap();
    let html = part.html().unwrap();
    assert!(html.len() <= budget && html.len() > budget * 2 / 3, "{} of {budget}", html.len());
    let every = part.trajectories.particles[1] as usize;
    let kept: Vec<u32> = (0..2000).step_by(every).collect();
    assert_eq!(part.trajectories.particles, kept);
    assert!((2..6).contains(&every), "{every}");
    assert_eq!(part.trajectories.run_size, [2000, 50]);
    assert!(html.contains(&format!("{} of 2,000 particles, all 50 saves", kept.len())));
    assert_is_part(&part, &page);
    assert_eq!(page.fit(0).unwrap().trajectories.particles, [0]);
}

#[test]
fn stride_is_a_lower_limit() {
    assert_eq!(stride(100_000, 100, BUDGET), 1);
    assert_eq!(stride(1_000_000, 100, BUDGET), 7);
    assert_eq!(stride(0, 0, 0), 1);
    assert_eq!(stride(7, usize::MAX, BUDGET), 7);
}

#[test]
fn codes_are_restored_in_every_precision() {
    for precision in Precision::STEPS {
        let mut page = runs::helices(40, 21);
        page.precision = precision;
        page.trajectories.attributes[0].values[7 * 40 + 5] = f32::NAN;
        // A slot that is empty for some saves.
        (0..5).for_each(|save| page.trajectories.position[save * 40 + 9] = [f64::NAN; 3]);
        let Some(browser) = shown(&page) else { return };
        let fact = |line: &str| {
            let text = browser.text("#particle");
            let found = text.lines().find_map(|row| row.strip_prefix(line));
            found.unwrap_or_else(|| panic!("no {line} in {text}")).trim().replace('−', "-")
        };
        let tolerance = 2.0 / f64::from((1 << precision.position) - 2) + 1e-4;
        for (save, particle) in [(0, 0), (3, 17), (4, 5), (12, 39), (20, 4), (20, 9)] {
            browser.slide("#time", save as f64 / 20.0);
            browser.enter("#number", &particle.to_string());
            let position = page.trajectories.position[save * 40 + particle];
            let text = fact("Position (m)");
            let given: Vec<f64> = text.split(", ").map(|x| x.parse().unwrap()).collect();
            let is_near = given.iter().zip(position).all(|(a, b)| (a - b).abs() < tolerance);
            assert!(is_near, "{precision:?}: {given:?} {position:?}");
        }
        browser.slide("#time", 0.2);
        assert!(browser.text("#particle").contains("does not exist"));
        browser.enter("#number", "5");
        browser.slide("#time", 7.0 / 20.0);
        assert_eq!(fact("Speed"), "– m/s");
        assert_clean(&browser);
    }
}

/// Positions are in parts of their range, which are the same far from 0.
#[test]
fn positions_far_from_zero_have_the_codes_of_those_near_it() {
    let codes = |by: f64| {
        let mut page = runs::channel(50, 40);
        // Multiples of 2^-18, which stay exact.
        let moved = |p: [f64; 3]| p.map(|x| (x * 262_144.0).round() / 262_144.0 + by);
        page.trajectories.position.iter_mut().for_each(|p| *p = moved(*p));
        page.trajectories.domain = page.trajectories.domain.map(moved);
        let folder = tempfile::tempdir().unwrap();
        let html = std::fs::read_to_string(written(folder.path(), &page)).unwrap();
        let (_, arrays) = html.split_once(" id=\"x\" ").unwrap();
        arrays.split_once(" id=\"flags\"").unwrap().0.to_owned()
    };
    let (near, far) = (codes(0.0), codes(8_589_934_592.0));
    assert!(near.len() > 1_000, "{}", near.len());
    assert!(near == far, "the codes differ");
}

/// The size and the speed that the guide promises.
#[test]
fn a_hundred_thousand_particles_fit_and_take_little_time_per_frame() {
    let (page, html) = runs::flat(100_000, 100).fitted_html(BUDGET).unwrap();
    assert!(html.len() <= BUDGET && page.trajectories.particles.len() == 100_000);
    println!("{} bytes, {:?}", html.len(), page.precision);
    let Some(browser) = super::Browser::new() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.html");
    std::fs::write(&path, html).unwrap();
    browser.open(&path);
    assert!(browser.text("#shown").starts_with("All 100,000 particles, all 100 saves"));
    browser.click("#lines");
    browser.enter("#number", "4");
    browser.enter("#box-low-x", "2");
    // The CPU time that the program takes for a frame, without that of the graphics: with a box, the whole mask is renewed.
    browser.devtools("Performance.enable", serde_json::json!({"timeDomain": "threadTicks"}));
    let script_time = || {
        let answer = browser.devtools("Performance.getMetrics", serde_json::json!({}));
        let metrics = answer["metrics"].as_array().unwrap();
        metrics.iter().find(|metric| metric["name"] == "ScriptDuration").unwrap()["value"]
            .as_f64()
            .unwrap()
    };
    let before = script_time();
    browser.script_async(
        "const done = arguments[0]; let frames = 0; play.click(); \
         const next = () => { frames += 1; if (frames < 20) requestAnimationFrame(next); else { play.click(); done(); } }; \
         next()",
    );
    let milliseconds = (script_time() - before) / 20.0 * 1000.0;
    println!("{milliseconds:.1} ms per frame");
    assert!(milliseconds < 20.0, "{milliseconds} ms");
    assert_clean(&browser);
}

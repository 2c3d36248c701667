//! Screenshots of pages for review, and the speed of a large page.
//!
//!     cargo test --release -p burntrace-plot --test page -- --ignored --nocapture

use super::browser::Browser;
use super::{runs, written};
use burntrace_plot::page::{BUDGET, Page};
use std::time::Instant;

/// Writes them to the folder `burntrace-page` of the temporary directory.
#[test]
#[ignore = "writes screenshots for review"]
fn screenshots() {
    let folder = std::env::temp_dir().join("burntrace-page");
    std::fs::create_dir_all(&folder).unwrap();
    let Some(browser) = Browser::new() else { return };
    let save = |name: &str| std::fs::write(folder.join(name), browser.png()).unwrap();
    browser.open(&written(&folder, &runs::helices(300, 101)));
    save("light.png");
    browser.prefer("dark");
    save("dark.png");
    browser.click("#slice-on-0");
    browser.choose("#attribute", "Status");
    save("dark-slice.png");
    browser.prefer("light");
    browser.enter("#number", "3");
    save("light-slice.png");
    browser.click("label:has(input[value=xy])");
    browser.script("document.querySelector('aside').scrollTop = 1e6");
    save("xy-numbers.png");
    browser.size(390, 844);
    browser.click("label:has(input[value='3d'])");
    browser.script("scrollTo(0, 0)");
    save("phone.png");
    browser.script("scrollTo(0, 1e6)");
    save("phone-end.png");
    browser.size(1280, 800);
    browser.open(&written(&folder, &runs::flat(2000, 51)));
    save("flat.png");
    browser.open(&written(&folder, &runs::channel(400, 41)));
    save("channel.png");
    browser.click("#equal");
    save("channel-cube.png");
    browser.click("label:has(input[value=xy])");
    browser.wheel((300.0, 300.0), -2000);
    save("channel-near.png");
    browser.size(390, 844);
    browser.click("#theme");
    browser.script("scrollTo(0, 0)");
    save("channel-phone.png");
    browser.size(1280, 800);
    browser.open(&written(&folder, &runs::helices(10_000, 101)));
    save("many.png");
    browser.open(&written(&folder, &runs::one()));
    save("one.png");
    browser.open(&written(&folder, &Page { title: "Nothing".into(), ..Page::default() }));
    save("empty.png");
    browser.open(&written(&folder, &runs::helices(1000, 1)));
    save("one-save.png");
    let Some(browser) = Browser::with(&["--disable-3d-apis"]) else { return };
    browser.prefer("dark");
    browser.size(390, 844);
    browser.open(&written(&folder, &runs::helices(10, 11)));
    std::fs::write(folder.join("no-webgl.png"), browser.png()).unwrap();
}

#[test]
#[ignore = "a benchmark that takes a minute"]
fn speed_of_a_large_page() {
    let folder = std::env::temp_dir().join("burntrace-page");
    std::fs::create_dir_all(&folder).unwrap();
    let start = Instant::now();
    let page = runs::helices(100_000, 100);
    println!("made in {:.1?}", start.elapsed());
    let start = Instant::now();
    let page = page.fit(BUDGET).unwrap();
    let path = written(&folder, &page);
    let bytes = path.metadata().unwrap().len();
    println!(
        "{} particles, {bytes} bytes, written in {:.1?}",
        page.trajectories.particles.len(),
        start.elapsed()
    );
    let Some(browser) = Browser::new() else { return };
    let start = Instant::now();
    browser.open(&path);
    println!("opened and drawn in {:.1?}", start.elapsed());
    std::fs::write(folder.join("large.png"), browser.png()).unwrap();
    for trail in [35, 70, 100] {
        browser.slide("#trail", f64::from(trail));
        println!("trail of {}: {}", browser.text("#trail-value"), frames(&browser));
    }
    browser.click("#lines");
    println!("points alone: {}", frames(&browser));
    let picked = browser.script(
        "const at = performance.now(); \
         for (const kind of ['pointerdown', 'pointerup']) scene.dispatchEvent(new PointerEvent(kind, \
         {clientX: 60, clientY: 100, pointerId: 1, bubbles: true})); return performance.now() - at",
    );
    println!("a click without a hit takes {picked} ms");
    println!("console messages: {:?}", browser.console_messages());
}

/// Frames per second during playback, and the script time per frame.
fn frames(browser: &Browser) -> String {
    let script = "
        const done = arguments[0];
        const rewind = () => {
            time.value = 0;
            time.dispatchEvent(new Event('input'));
        };
        rewind();
        repeat.checked = true;
        play.click();
        let frames = 0;
        const start = performance.now();
        const count = () => {
            frames += 1;
            if (performance.now() - start < 4000) return requestAnimationFrame(count);
            rewind();
            done([1000 * frames / (performance.now() - start), frames]);
        };
        requestAnimationFrame(count);";
    browser.devtools("Performance.enable", serde_json::json!({}));
    let before = script_seconds(browser);
    let [rate, frames] = [0, 1].map({
        let answer = browser.script_async(script);
        move |k| answer[k].as_f64().unwrap()
    });
    let each = 1e3 * (script_seconds(browser) - before) / frames;
    format!("{rate:.1} frames per second, {each:.2} ms of script per frame")
}

fn script_seconds(browser: &Browser) -> f64 {
    let answer = browser.devtools("Performance.getMetrics", serde_json::json!({}));
    let metrics = answer["metrics"].as_array().unwrap();
    let script = metrics.iter().find(|metric| metric["name"] == "ScriptDuration").unwrap();
    script["value"].as_f64().unwrap()
}

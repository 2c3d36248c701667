//! Pictures of pages for people to look at, and how fast a large page is.
//!
//!     cargo test --release -p burntrace-plot --test page -- --ignored --nocapture

use super::browser::Browser;
use super::{runs, written};
use burntrace_plot::page::{BUDGET, Page};
use std::time::Instant;

/// They lie in the folder `burntrace-page` among temporary files.
#[test]
#[ignore = "writes pictures to look at"]
fn pictures() {
    let folder = std::env::temp_dir().join("burntrace-page");
    std::fs::create_dir_all(&folder).unwrap();
    let browser = Browser::new();
    let save = |name: &str| std::fs::write(folder.join(name), browser.png()).unwrap();
    browser.open(&written(&folder, &runs::helices(300, 101)));
    save("light.png");
    browser.prefer("dark");
    save("dark.png");
    browser.click("#slice-on-0");
    browser.choose("#attribute", "status");
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
    browser.open(&written(&folder, &runs::one()));
    save("one.png");
    browser.open(&written(&folder, &Page { title: "Nothing".into(), ..Page::default() }));
    save("empty.png");
    browser.open(&written(&folder, &runs::helices(1000, 1)));
    save("one-save.png");
}

#[test]
#[ignore = "takes a minute, and measures"]
fn speed_of_a_large_page() {
    let folder = std::env::temp_dir().join("burntrace-page");
    std::fs::create_dir_all(&folder).unwrap();
    let begin = Instant::now();
    let page = runs::helices(100_000, 100);
    println!("made in {:.1?}", begin.elapsed());
    let begin = Instant::now();
    let page = page.fit(BUDGET).unwrap();
    let path = written(&folder, &page);
    let bytes = path.metadata().unwrap().len();
    println!(
        "{} particles, {bytes} bytes, written in {:.1?}",
        page.ways.particles.len(),
        begin.elapsed()
    );
    let browser = Browser::new();
    let begin = Instant::now();
    browser.open(&path);
    println!("opened and drawn in {:.1?}", begin.elapsed());
    std::fs::write(folder.join("large.png"), browser.png()).unwrap();
    println!("frames per second: {}", frames(&browser));
    browser.click("#lines");
    println!("of points alone: {}", frames(&browser));
    println!("complaints: {:?}", browser.complaints());
}

/// Frames in a second while it plays, over five seconds.
fn frames(browser: &Browser) -> String {
    let script = "
        const done = arguments[0];
        document.querySelector('#play').click();
        let frames = 0, busy = 0;
        const begin = performance.now();
        const count = () => {
            frames += 1;
            if (performance.now() - begin < 5000) return requestAnimationFrame(count);
            document.querySelector('#play').click();
            done((1000 * frames / (performance.now() - begin)).toFixed(1));
        };
        requestAnimationFrame(count);";
    browser.script_async(script).as_str().unwrap().to_string()
}

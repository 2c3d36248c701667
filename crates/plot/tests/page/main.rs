//! The page in a browser.

mod browser;
mod runs;

use browser::Browser;
use burntrace_plot::page::Page;
use std::path::{Path, PathBuf};

fn written(folder: &Path, page: &Page) -> PathBuf {
    let path = folder.join("page.html");
    page.write(&path).unwrap();
    path
}

/// Pictures of pages, for people to look at: `-- --ignored pictures`.
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
    save("light-slice.png");
    browser.click("label:has(input[value=xy])");
    save("xy.png");
    browser.script("document.querySelector('aside').scrollTop = 1e6");
    save("numbers.png");
    browser.size(390, 844);
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
    println!("{:?} {:?}", browser.complaints(), browser.requests());
}

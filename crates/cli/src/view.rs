//! `burntrace view`: the page of a run, in the browser.

use crate::{
    args::{Seconds, ViewArgs},
    folder::Folder,
    notes,
    page::{self, PageSize, WrittenPage},
    results::Results,
};
use anyhow::{Context, Result};
use serde_json::json;
use std::path::Path;
use std::time::Duration;

/// How long to wait for the error of a program that opens the page.
const WAIT: Duration = Duration::from_secs(2);

pub fn execute(args: &ViewArgs) -> Result<()> {
    let results = opened(args)?;
    let is_followed = args.follow.is_some() && results.folder.is_in_progress();
    let results = if is_followed { results } else { results.note_unfinished() };
    let out = results.out(args.out.as_deref(), "")?;
    let page = write(args, &results, &out, is_followed)?;
    let path = &page.path;
    args.output.print(
        || json!({ "files": [path], "page": page.json(), "notes": notes::take() }),
        || format!("{}\n", path.display()),
    )?;
    if !args.no_open {
        open(path).with_context(|| {
            format!(
                "no browser opened {}; open the file yourself, name a browser in the variable BROWSER, or give \
                 --no-open",
                path.display()
            )
        })?;
    }
    if is_followed { follow(args, &out, results.tracks.num_saves()) } else { Ok(()) }
}

/// Opens a run; one that is followed as soon as it has a save.
fn opened(args: &ViewArgs) -> Result<Results> {
    loop {
        match (Results::open(&args.run), args.follow) {
            (Err(_), Some(pause)) if Folder::at(&args.run).is_in_progress() => {
                std::thread::sleep(Duration::from_secs_f64(pause.get()));
            }
            (opened, _) => return opened,
        }
    }
}

/// Writes the page of a run; one that is loaded again and again if it is followed.
fn write(args: &ViewArgs, results: &Results, out: &Path, is_followed: bool) -> Result<WrittenPage> {
    let reload = args.follow.filter(|_| is_followed).map(Seconds::get);
    page::write(
        results,
        out,
        PageSize { particles: args.particles, max_bytes: args.page_bytes },
        reload,
    )
}

/// Writes the page of a run again after each further save until the run has ended.
fn follow(args: &ViewArgs, out: &Path, mut saves: usize) -> Result<()> {
    let pause = Duration::from_secs_f64(args.follow.map_or(0.0, Seconds::get));
    let mut is_in_progress = true;
    while is_in_progress {
        std::thread::sleep(pause);
        // Before the saves are counted, so that the last page has all of them.
        is_in_progress = Folder::at(&args.run).is_in_progress();
        let results = Results::open(&args.run)?;
        // The last page is loaded once more, and no further.
        if !is_in_progress || results.tracks.num_saves() != saves {
            saves = results.tracks.num_saves();
            let results = if is_in_progress { results } else { results.note_unfinished() };
            write(args, &results, out, is_in_progress)?;
        }
    }
    Ok(())
}

/// Opens a file with the program in `BROWSER`, or else with that of the desktop.
fn open(path: &Path) -> Result<()> {
    let path = std::path::absolute(path)?;
    match std::env::var("BROWSER") {
        Ok(browser) if !browser.is_empty() => Ok(open::with_detached(&path, browser)?),
        _ => Ok(open::that_detached_with_timeout(&path, WAIT)?),
    }
}

//! `burntrace view`: the page of a run, in the browser.

use crate::{args::ViewArgs, notes, page, results::Results};
use anyhow::{Context, Result};
use serde_json::json;
use std::path::Path;
use std::time::Duration;

/// How long to wait for the error of a program that opens the page.
const WAIT: Duration = Duration::from_secs(2);

pub fn execute(args: &ViewArgs) -> Result<()> {
    let results = Results::open(&args.run)?.note_unfinished();
    let out = results.out(args.out.as_deref(), "")?;
    let page = page::write(&results, &out, args.particles, args.page_bytes)?;
    let path = &page.path;
    args.output.print(
        || json!({ "files": [path], "page": page.json(), "notes": notes::take() }),
        || format!("{}\n", path.display()),
    )?;
    if args.no_open {
        return Ok(());
    }
    open(path).with_context(|| {
        format!(
            "no browser opened {}; open the file yourself, name a browser in the variable BROWSER, or give \
             --no-open",
            path.display()
        )
    })
}

/// Opens a file with the program in `BROWSER`, or else with that of the desktop.
fn open(path: &Path) -> Result<()> {
    let path = std::path::absolute(path)?;
    match std::env::var("BROWSER") {
        Ok(browser) if !browser.is_empty() => Ok(open::with_detached(&path, browser)?),
        _ => Ok(open::that_detached_with_timeout(&path, WAIT)?),
    }
}

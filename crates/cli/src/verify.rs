//! `burntrace verify`: compares the tracks of a run with their checksums.

use crate::{args::VerifyArgs, checkpoint::restart_hint, folder::Folder};
use anyhow::{Result, bail};
use burntrace::io::tracks::{self, Verification};
use std::io::Write;
use std::path::Path;

pub fn execute(args: &VerifyArgs) -> Result<()> {
    let folder = Folder::at(&args.run);
    let store = folder.tracks()?;
    let found = tracks::verify(&store)?;
    if args.output.json {
        writeln!(std::io::stdout().lock(), "{:#}", json(&store, &found))?;
    }
    let (store, files) = (store.display(), found.files);
    if !found.damage.is_empty() {
        let damage: String = found.damage.iter().map(|error| format!("\n  {error}")).collect();
        let count = found.damage.len();
        let remedy = match folder.path("case.toml").exists() {
            true => format!("\nwithout a copy of them, {}", restart_hint(&folder)),
            false => String::new(),
        };
        bail!("{count} of {files} files in {store} are damaged or missing:{damage}{remedy}");
    }
    if args.output.quiet || args.output.json {
        return Ok(());
    }
    let bytes = found.bytes;
    let mut out = std::io::stdout().lock();
    match found.is_complete {
        true => writeln!(out, "{store} is intact: {files} files, {bytes} bytes")?,
        false => writeln!(
            out,
            "{store} is intact: {files} files, {bytes} bytes, {} of {} saves; later saves of this \
             unfinished run have no checksums yet",
            found.saves, found.planned_saves
        )?,
    }
    Ok(())
}

/// The result as JSON, for intact and for damaged stores.
fn json(store: &Path, found: &Verification) -> serde_json::Value {
    let damage: Vec<String> = found.damage.iter().map(ToString::to_string).collect();
    serde_json::json!({
        "store": store,
        "is_intact": damage.is_empty(),
        "is_complete": found.is_complete,
        "files": found.files,
        "bytes": found.bytes,
        "saves": found.saves,
        "planned_saves": found.planned_saves,
        "damage": damage,
    })
}

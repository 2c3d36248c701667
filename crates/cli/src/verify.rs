//! `burntrace verify`: compares the tracks of a run with their checksums.

use crate::{args::VerifyArgs, folder::Folder};
use anyhow::{Result, bail};
use burntrace::io::tracks::{self, Verification};
use std::path::Path;

pub fn execute(args: &VerifyArgs) -> Result<()> {
    let folder = Folder::at(&args.run);
    let store = folder.tracks()?;
    let found = tracks::verify(&store)?;
    args.output.print(|| json(&store, &found), || text(&store, &found))?;
    if found.damage.is_empty() {
        return Ok(());
    }
    let damage: String = found.damage.iter().map(|error| format!("\n  {error}")).collect();
    let remedy = match folder.path("case.toml").exists() {
        true => format!(
            "\nwithout a copy of them, run the case again in another folder: `burntrace run {} --out FOLDER`",
            folder.path("case.toml").display()
        ),
        false => String::new(),
    };
    bail!(
        "{} of {} files in {} are damaged or missing:{damage}{remedy}",
        found.damage.len(),
        found.files,
        store.display()
    );
}

/// A line about an intact store; nothing about a damaged one, which is an error.
fn text(store: &Path, found: &Verification) -> String {
    if !found.damage.is_empty() {
        return String::new();
    }
    let (store, files, bytes) = (store.display(), found.files, found.bytes);
    let saves = match found.is_complete {
        true => String::new(),
        false => format!(
            ", {} of {} saves; later saves of this unfinished run have no checksums yet",
            found.saves, found.planned_saves
        ),
    };
    format!("{store} is intact: {files} files, {bytes} bytes{saves}\n")
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

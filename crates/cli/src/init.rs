//! `burntrace init`.

use crate::{
    args::{InitArgs, Template},
    case::{self, Misuse},
};
use anyhow::{Context, Result};
use std::fs::File;
use std::io::{ErrorKind, Write};

pub fn execute(args: &InitArgs) -> Result<()> {
    let text = match args.template {
        Template::All => case::TEMPLATE,
        Template::Mesh => case::MESH_TEMPLATE,
        Template::Grid => case::GRID_TEMPLATE,
        Template::Points => case::POINTS_TEMPLATE,
    };
    let mut out = std::io::stdout().lock();
    let Some(path) = &args.file else { return Ok(out.write_all(text.as_bytes())?) };
    let name = path.display();
    match File::create_new(path) {
        Ok(mut file) => {
            file.write_all(text.as_bytes()).with_context(|| format!("cannot write {name}"))?;
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            return Err(Misuse::error(format!(
                "{name} exists, and is not replaced; give another name, or remove it first"
            )));
        }
        Err(error) => return Err(error).with_context(|| format!("cannot write {name}")),
    }
    writeln!(out, "{name}: edit it, then `burntrace run {name}`")?;
    Ok(())
}

//! `burntrace init`.

use crate::{
    args::{InitArgs, Template},
    file::{self, Misuse},
};
use anyhow::Result;
use burntrace::io;
use std::io::Write;

pub fn execute(args: &InitArgs) -> Result<()> {
    let text = match args.template {
        Template::All => file::TEMPLATE,
        Template::Mesh => file::MESH_TEMPLATE,
        Template::Grid => file::GRID_TEMPLATE,
        Template::Points => file::POINTS_TEMPLATE,
    };
    let mut out = std::io::stdout().lock();
    let Some(path) = &args.file else { return Ok(out.write_all(text.as_bytes())?) };
    let name = path.display();
    if path.is_file() || path.is_dir() {
        return Err(Misuse::error(format!(
            "{name} exists, and is not replaced; give another name, or remove it first"
        )));
    }
    io::write_text_beside(path, text)?;
    writeln!(out, "{name}: edit it, then `burntrace run {name}`")?;
    Ok(())
}

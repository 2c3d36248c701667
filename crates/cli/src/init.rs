//! `burntrace init`.

use crate::{
    args::{InitArgs, Template},
    file::{self, Misuse},
};
use anyhow::Result;
use burntrace::io;
use std::{borrow::Cow, io::Write};

pub fn execute(args: &InitArgs) -> Result<()> {
    let text = text(args);
    let mut out = std::io::stdout().lock();
    let Some(path) = &args.file else { return Ok(out.write_all(text.as_bytes())?) };
    let name = path.display();
    if path.is_file() || path.is_dir() {
        return Err(Misuse::error(format!(
            "{name} exists, and is not replaced; give another name, or remove it first"
        )));
    }
    io::write_text_beside(path, text.as_bytes())?;
    let next = match args.schema {
        true => format!("for editors, start case files with `#:schema {name}`"),
        false => format!("edit it, then `burntrace run {name}`"),
    };
    writeln!(out, "{name}: {next}")?;
    Ok(())
}

fn text(args: &InitArgs) -> Cow<'static, str> {
    let template = match args.template {
        _ if args.schema => return format!("{:#}\n", file::json_schema().to_value()).into(),
        Template::All => file::TEMPLATE,
        Template::Mesh => file::MESH_TEMPLATE,
        Template::Grid => file::GRID_TEMPLATE,
        Template::Points => file::POINTS_TEMPLATE,
    };
    template.into()
}

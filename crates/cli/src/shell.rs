//! `burntrace completions` and `burntrace man`.

use crate::args::{Cli, CompletionsArgs, ManArgs};
use anyhow::{Context, Result};
use clap::CommandFactory;
use std::io::Write;
use std::path::Path;

pub fn completions(args: &CompletionsArgs) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "burntrace", &mut script);
    Ok(std::io::stdout().lock().write_all(&script)?)
}

pub fn man(args: &ManArgs) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let Some(folder) = &args.out else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Cli::command()).render(&mut page)?;
        return Ok(out.write_all(&page)?);
    };
    write_pages(folder).with_context(|| format!("cannot write pages to {}", folder.display()))?;
    writeln!(out, "{}", folder.join("burntrace.1").display())?;
    Ok(())
}

fn write_pages(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    clap_mangen::generate_to(Cli::command(), folder)
}

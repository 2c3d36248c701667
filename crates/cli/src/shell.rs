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

/// Writes the pages to a folder beside their own, and moves them.
fn write_pages(folder: &Path) -> std::io::Result<()> {
    let part = folder.join("pages.part");
    std::fs::create_dir_all(&part)?;
    let made = clap_mangen::generate_to(Cli::command(), &part).and_then(|()| {
        std::fs::read_dir(&part)?.try_for_each(|page| {
            let page = page?;
            std::fs::rename(page.path(), folder.join(page.file_name()))
        })
    });
    std::fs::remove_dir_all(part).and(made)
}

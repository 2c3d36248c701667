//! `burntrace init`.

use crate::case;
use anyhow::Result;
use std::io::Write;

pub fn execute() -> Result<()> {
    std::io::stdout().lock().write_all(case::TEMPLATE.as_bytes())?;
    Ok(())
}

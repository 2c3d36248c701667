//! A device with its answer.

use super::answer::Answer;
use anyhow::{Context, Result, bail};
use burntrace::device::{self, OpenDevice};
use serde::Serialize;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a device may take for its answer.
const PATIENCE: Duration = Duration::from_secs(120);

/// A device, with its answer.
#[derive(Serialize)]
pub struct DeviceReport {
    pub name: String,
    pub description: String,
    /// `cpu`, or as the driver says: `discrete`, `integrated`, `virtual`, `software`, `other`.
    pub kind: &'static str,
    pub driver: Option<String>,
    /// Bytes of memory of its own, if the driver reports it.
    pub memory: Option<u64>,
    pub f64: bool,
    pub answer: Option<Answer>,
    /// Why there is no answer.
    pub problem: Option<String>,
}

impl DeviceReport {
    pub fn of(device: &OpenDevice) -> Self {
        let details = device::details(device);
        let (answer, problem) = match answer(&device.name) {
            Ok(answer) => (Some(answer), None),
            Err(error) => (None, Some(format!("{error:#}"))),
        };
        DeviceReport {
            name: device.name.clone(),
            description: device.description.clone(),
            kind: match &details {
                Some(details) => details.kind,
                None if is_cpu(device) => "cpu",
                None if device.is_software => "software",
                None => "other",
            },
            driver: details.as_ref().map(|details| details.driver.clone()),
            memory: details.and_then(|details| details.memory),
            f64: device.has_f64,
            answer,
            problem,
        }
    }

    /// Whether the device gave the right answer.
    pub fn is_right(&self) -> bool {
        self.answer.as_ref().is_some_and(|answer| answer.is_right)
    }

    /// Whether it is a card, and not the CPU.
    pub fn is_card(&self) -> bool {
        !["cpu", "software"].contains(&self.kind)
    }
}

/// The answer of a device, from a process of its own: a driver that crashes or hangs ends only this one.
fn answer(name: &str) -> Result<Answer> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let mut child = Command::new(program)
        .args(["doctor", "--check", name])
        .env("RAYON_NUM_THREADS", rayon::current_num_threads().to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot start a process")?;
    let start = Instant::now();
    // An answer is short: it fits into the pipe.
    while child.try_wait()?.is_none() {
        if start.elapsed() > PATIENCE {
            child.kill().ok();
            child.wait().ok();
            bail!("no answer within {} s", PATIENCE.as_secs());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let status = child.wait()?;
    let (text, errors) = (read(child.stdout.take())?, read_errors(&mut child));
    if !status.success() {
        bail!("{status}: {errors}");
    }
    serde_json::from_str(&text).with_context(|| format!("no answer but {text:?}"))
}

fn read(from: Option<impl Read>) -> Result<String> {
    let mut text = String::new();
    if let Some(mut from) = from {
        from.read_to_string(&mut text)?;
    }
    Ok(text)
}

/// The last line that a process printed on standard error.
fn read_errors(child: &mut Child) -> String {
    let text = read(child.stderr.take()).unwrap_or_default();
    let last = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no message");
    last.trim_start_matches("error: ").into()
}

/// Whether a device is the CPU itself.
pub fn is_cpu(device: &OpenDevice) -> bool {
    ["flex", "ndarray"].contains(&device.name.as_str())
}

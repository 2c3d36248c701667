//! The burntrace program: turns a case file into a run, and errors into exit codes.

mod album;
mod args;
mod bench;
mod case;
mod checkpoint;
mod demo;
mod density;
mod devices;
mod fingerprint;
mod folder;
mod ftle;
mod info;
mod init;
mod job;
mod lives;
mod log;
mod page;
mod pictures;
mod plan;
mod progress;
mod render;
mod report;
mod results;
mod resume;
mod run;
mod signals;
mod summary;
mod traffic;
mod watch;

use clap::Parser;
use std::process::ExitCode;

/// Exit code of a run that did not do what was asked.
const FAILED: u8 = 1;
/// Exit code of a case file or a command line that cannot be used.
const MISUSED: u8 = 2;

fn main() -> ExitCode {
    silence_wayland();
    let args = args::Args::parse();
    let result = match args.command {
        args::Command::Demo(demo) => demo::execute(&demo),
        args::Command::Init => init::execute(),
        args::Command::Info(info) => info::execute(&info),
        args::Command::Run(run) => run::execute(&run),
        args::Command::Plan(plan) => plan::execute(&plan),
        args::Command::Density(density) => density::execute(&density),
        args::Command::Ftle(ftle) => ftle::execute(&ftle),
        args::Command::Render(render) => render::execute(&render),
        args::Command::Report(report) => report::execute(&report),
        args::Command::Devices(devices) => devices::execute(&devices),
        args::Command::Bench(bench) => bench::execute(&bench),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) if error.is::<signals::Stopped>() => {
            eprintln!("{error}");
            ExitCode::from(
                error.downcast_ref().map_or(FAILED, |stopped: &signals::Stopped| stopped.code),
            )
        }
        Err(error) => {
            eprintln!("error: {}", chain(&error));
            ExitCode::from(if error.is::<case::Misuse>() { MISUSED } else { FAILED })
        }
    }
}

/// Keeps a graphics driver that looks for a desktop from complaining on standard error, once for
/// each time it looks, that there is none.
fn silence_wayland() {
    if cfg!(target_os = "linux") && std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        // SAFETY: no other thread runs yet that could read the environment.
        unsafe { std::env::set_var("XDG_RUNTIME_DIR", std::env::temp_dir()) };
    }
}

/// An error and its causes, each said once.
pub fn chain(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let cause = cause.to_string();
        if !text.contains(&cause) {
            let joint = if text.is_empty() { "" } else { ": " };
            text = format!("{text}{joint}{cause}");
        }
    }
    text
}

/// Whether the reader of our output has gone, as `head` does.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    io.is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
}

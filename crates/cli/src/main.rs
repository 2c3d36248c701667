//! The burntrace program: runs a case file, and turns errors into exit codes.

mod allocator;
mod args;
mod background;
mod bench;
mod boundary;
mod check;
mod compare;
mod compilations;
mod demo;
mod density;
mod devices;
mod doctor;
mod export;
mod figure_dir;
mod fit;
mod ftle;
mod gates;
mod info;
mod init;
mod log;
mod machine;
mod notes;
mod page;
mod pairs;
mod panels;
mod pictures;
mod plan;
mod probe;
mod progress;
mod render;
mod report;
mod residence;
mod results;
mod resume;
mod run;
mod run_info;
mod shell;
mod signals;
mod skill;
mod spectrum;
mod sweep;
mod terminal;
mod verify;
mod view;

use burntrace_case::{errors, file, folder, format, job, ranks, run::Stopped};
use std::process::ExitCode;

/// Exit code of a command that failed.
const FAILED: u8 = 1;
/// Exit code for an invalid case file or command line.
const MISUSED: u8 = 2;

fn main() -> ExitCode {
    allocator::report_want_of_memory();
    silence_wayland();
    compilations::observe();
    burntrace::io::limit_memory(job::free_memory);
    let (cli, quiet) = args::Cli::read();
    if quiet {
        notes::be_quiet();
    }
    let result = match cli.command {
        args::Command::Demo(demo) => demo::execute(&demo),
        args::Command::Init(init) => init::execute(&init),
        args::Command::Info(info) => info::execute(&info),
        args::Command::Run(run) => run::execute(&run),
        args::Command::Sweep(sweep) => sweep::execute(&sweep),
        args::Command::Plan(plan) => plan::execute(&plan),
        args::Command::Check(check) => check::execute(&check),
        args::Command::Probe(probe) => probe::execute(&probe),
        args::Command::Density(density) => density::execute(&density),
        args::Command::Ftle(ftle) => ftle::execute(&ftle),
        args::Command::Gates(gates) => gates::execute(&gates),
        args::Command::Pairs(pairs) => pairs::execute(&pairs),
        args::Command::Residence(residence) => residence::execute(&residence),
        args::Command::Skill(skill) => skill::execute(&skill),
        args::Command::Fit(fit) => fit::execute(&fit),
        args::Command::Spectrum(spectrum) => spectrum::execute(&spectrum),
        args::Command::Render(render) => render::execute(&render),
        args::Command::View(view) => view::execute(&view),
        args::Command::Report(report) => report::execute(&report),
        args::Command::Export(export) => export::execute(&export),
        args::Command::Compare(compare) => compare::execute(&compare),
        args::Command::Verify(verify) => verify::execute(&verify),
        args::Command::Devices(devices) => devices::execute(&devices),
        args::Command::Doctor(doctor) => doctor::execute(&doctor),
        args::Command::Bench(bench) => bench::execute(&bench),
        args::Command::Completions(completions) => shell::completions(&completions),
        args::Command::Man(man) => shell::man(&man),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if errors::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) if error.is::<Stopped>() => {
            eprintln!("{error}");
            ExitCode::from(error.downcast_ref().map_or(FAILED, |stopped: &Stopped| stopped.code))
        }
        Err(error) => {
            eprintln!("error: {}", errors::chain(&error));
            ExitCode::from(if error.is::<file::Misuse>() { MISUSED } else { FAILED })
        }
    }
}

/// Sets `XDG_RUNTIME_DIR` if it is unset; graphics drivers would otherwise print an error on a
/// machine without a desktop.
fn silence_wayland() {
    if cfg!(target_os = "linux") && std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        // SAFETY: no other thread runs yet that could read the environment.
        unsafe { std::env::set_var("XDG_RUNTIME_DIR", std::env::temp_dir()) };
    }
}

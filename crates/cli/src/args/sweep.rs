//! Arguments of `burntrace sweep`.

use super::OutputArgs;
use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
pub struct SweepArgs {
    /// Case file
    pub case: PathBuf,
    /// A key of the case and its values, such as `trace.dt=0.1,0.05` or `walk.seed=1..100`, with both ends;
    /// give it again for further keys
    #[arg(long, value_name = "KEY=VALUES", required = true)]
    pub vary: Vec<String>,
    /// Take the values of all keys side by side, instead of all combinations
    #[arg(long)]
    pub zip: bool,
    /// Folder of the sweep; if it has this sweep already, unfinished runs go on
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Trace a part of the runs, as a task of a job array: `0/4` to `3/4`
    #[arg(long, value_name = "I/N", value_parser = task)]
    pub task: Option<Task>,
    /// Set or remove a key of the case for all runs, such as `trace.dt=0.01`; can be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Device; overrides the case
    #[arg(long)]
    pub device: Option<String>,
    /// Number of CPU threads; overrides the case
    #[arg(long)]
    pub threads: Option<usize>,
    /// Probability of confidence intervals; default: that of the sweep in the folder, else 0.95
    #[arg(long)]
    pub confidence: Option<f64>,
    /// Write a trace of the phases of all runs to this file, to open in https://ui.perfetto.dev
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// A part of the runs of a sweep: every `count`th one, from number `index` on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Task {
    pub index: usize,
    pub count: usize,
}

fn task(text: &str) -> Result<Task, String> {
    let parts = text.split_once('/').map(|(index, count)| (index.parse(), count.parse()));
    match parts {
        Some((Ok(index), Ok(count))) if index < count => Ok(Task { index, count }),
        Some((Ok(_), Ok(count))) if count > 0 => {
            Err(format!("tasks are counted from 0; give 0/{count} to {}/{count}", count - 1))
        }
        _ => Err("give the number of this task, from 0, and the number of tasks, as 0/4".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_counted_from_0() {
        assert_eq!(task("3/4"), Ok(Task { index: 3, count: 4 }));
        assert!(task("4/4").unwrap_err().contains("give 0/4 to 3/4"));
        for text in ["", "1", "1/0", "-1/4", "a/b"] {
            assert!(task(text).unwrap_err().contains("as 0/4"), "{text}");
        }
    }
}

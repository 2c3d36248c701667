//! `burntrace fit`: the numbers of a case at which its run is nearest to observed positions.

mod measure;
mod output;
mod parameter;

use crate::{
    args::{FitArgs, lines_of},
    devices,
    file::{self, Assignment, Case, Misuse, Reporting},
    folder, job, log, notes,
    results::Results,
    signals::Signals,
    skill::Pair,
    sweep::FieldOnDevice,
    terminal::Terminal,
};
use anyhow::Result;
use burntrace::analysis::fit::{self, Fit};
use burntrace_case::{console::Interrupts, run};
use measure::{Compared, Data};
use parameter::Parameter;
use std::path::PathBuf;

pub fn execute(args: &FitArgs) -> Result<()> {
    let parameters = Parameter::all(&args.parameters)?;
    if args.runs < 2 * parameters.len() + 2 {
        return Err(Misuse::error(format!(
            "--runs is {}; {} parameters need {} or more",
            args.runs,
            parameters.len(),
            2 * parameters.len() + 2
        )));
    }
    let mut tracing = Tracing::of(args, &parameters)?;
    run::start_threads(tracing.case(&starts(&parameters))?.run.threads)?;
    folder::make(&args.out)?;
    let ranges: Vec<fit::Parameter> = parameters.iter().map(|of| of.range).collect();
    let (mut rms, mut pairs) = (Vec::new(), Vec::new());
    let fit = fit::fit(&ranges, args.runs, |values| -> Result<_> {
        let compared = tracing.compare(args, values)?;
        rms.push(compared.rms(args.measure));
        pairs = compared.pairs;
        Ok(compared.residuals)
    })?;
    // The last run, which stays, is that of the values.
    let found = Found { fit, rms, pairs };
    if !found.fit.has_converged {
        notes::warning(format!(
            "the search ended after --runs {} before its values settled; give more, or nearer bounds",
            args.runs
        ));
    }
    let results = Results::open(&tracing.folder)?;
    let written = output::write(args, (&parameters, &found), tracing.data.as_ref(), &results)?;
    let text = || output::text(args, (&parameters, &found), &results) + &lines_of(&written);
    args.output.print(|| output::json((&parameters, &found), &written), text)
}

/// What a fit of a case found.
struct Found {
    fit: Fit,
    /// The difference from the data of each run.
    rms: Vec<f64>,
    /// Of the last run; see [`Compared`].
    pairs: Vec<(f64, Pair)>,
}

impl Found {
    /// The differences at the start and at the fitted values.
    fn ends(&self) -> [f64; 2] {
        [self.rms[0], self.rms[self.rms.len() - 1]]
    }

    /// The runs of the search, with their differences.
    fn trials(&self) -> impl Iterator<Item = (&[f64], f64)> {
        self.fit.trials.iter().map(|trial| &trial.values[..]).zip(self.rms.iter().copied())
    }
}

fn starts(parameters: &[Parameter]) -> Vec<f64> {
    parameters.iter().map(|of| of.range.start).collect()
}

/// Traces the case with other values, one run in place of the other.
struct Tracing {
    /// The case as TOML, with absolute file names, and its keys.
    text: String,
    keys: Vec<Parameter>,
    /// The folder of the run.
    folder: PathBuf,
    held: Option<FieldOnDevice>,
    /// Read for the first run, whose units they are in.
    data: Option<Data>,
    terminal: Terminal,
}

impl Tracing {
    fn of(args: &FitArgs, parameters: &[Parameter]) -> Result<Tracing> {
        let mut set = Vec::new();
        for text in &args.set {
            set.push(Assignment::parse(text).map_err(Misuse::error)?);
        }
        let mut case = file::read(&args.case, &args.set)?;
        log::warn(&case.notes);
        if let Some(device) = &args.device {
            case.run.device = device.as_str().into();
        }
        devices::only_name(&case.run.device, "a fit")?;
        let given = set.iter().find(|own| parameters.iter().any(|of| of.key == own.key()));
        if let Some(own) = given {
            return Err(Misuse::error(format!(
                "--set {} sets a key that --parameter fits; give it once",
                own.text()
            )));
        }
        Ok(Tracing {
            text: folder::case_text(&case)?,
            keys: parameters.to_vec(),
            folder: args.out.join("run"),
            held: None,
            data: None,
            terminal: Terminal::new(args.output.quiet).without_progress(),
        })
    }

    /// The case with values of its parameters.
    fn case(&self, values: &[f64]) -> Result<Case> {
        let set: Vec<String> =
            self.keys.iter().zip(values).map(|(of, value)| of.assignment(*value)).collect();
        let mut case = file::from_text(&self.text, &set)
            .map_err(|error| Misuse::error(error.replacen("--set ", "--parameter ", 1)))?;
        case.run.out.clone_from(&self.folder);
        case.run.keep_state = false;
        (case.run.checkpoint, case.run.checkpoint_segments) = (0.0, None);
        case.save.report = Reporting::Never;
        Ok(case)
    }

    /// Traces the case with values, and compares it with the data.
    fn compare(&mut self, args: &FitArgs, values: &[f64]) -> Result<Compared> {
        if let Some(code) = Signals::watch(None)?.code() {
            let text = "the fit was stopped; it has no results".to_string();
            return Err(run::Stopped { code, text }.into());
        }
        let case = self.case(values)?;
        job::check(&case)?;
        let quiet = self.held.is_some() || args.output.quiet;
        let field = FieldOnDevice::of(&case, &mut self.held, (&mut self.terminal, quiet))?;
        let stopped = field.trace(&case, &self.terminal);
        log::close();
        if let Some(stopped) = stopped? {
            return Err(stopped.into());
        }
        self.terminal.quiet = true;
        let results = Results::open(&self.folder)?;
        let data = match self.data.take() {
            Some(data) => data,
            None => Data::read(args, &results)?,
        };
        self.data.insert(data).compare(args, &results)
    }
}

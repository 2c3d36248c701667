//! `burntrace check`.

use crate::{args::CheckArgs, file, format::four_digits, job, log, notes, terminal::Terminal};
use anyhow::Result;
use burntrace::Courant;
use burntrace::case::{Comparison, Error, StepCheck};
use burntrace_case::file::Misuse;

pub fn execute(args: &CheckArgs) -> Result<()> {
    let mut case = file::read(&args.case, &args.set)?;
    log::warn(&case.notes);
    log::warn(&job::plan_warnings(&case));
    if let Some(device) = &args.device {
        case.run.device = device.as_str().into();
    }
    let terminal = Terminal::new(args.output.json || args.output.quiet);
    let check = case.check_steps(args.particles, &terminal).map_err(|error| match error {
        Error::Invalid(text) => Misuse::error(text),
        other => other.into(),
    })?;
    args.output.print(|| json(&check), || text(&check))
}

fn json(check: &StepCheck) -> serde_json::Value {
    let mut json = serde_json::to_value(check).unwrap_or_default();
    json["notes"] = [check.notes.clone(), notes::take()].concat().into();
    json
}

fn text(check: &StepCheck) -> String {
    let StepCheck { particles: [count, all], travel, comparisons, order, error, .. } = check;
    let widths = [10, 20, 11, 11, 11, 11];
    let line = |cells: [String; 6]| {
        let cells = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("{}\n", cells.collect::<String>().trim_end())
    };
    let mut text = format!(
        "{count} of {all} particles; distances of their ends, which are {} from their releases (median)\n\n",
        four_digits(*travel)
    );
    if let Some(Courant { median, p99, max }) = check.cells_per_step {
        let [median, p99, max] = [median, p99, max].map(four_digits);
        text.truncate(text.trim_end().len());
        text += &format!(
            "\na step crosses {median} cells (median), {p99} in 99 % of the field, {max} at most\n\n"
        );
    }
    text += &line(["", "", "median", "90 %", "maximum", "other ends"].map(String::from));
    for Comparison { key, values, median, p90, max, other_ends } in comparisons {
        let [median, p90, max] = [median, p90, max].map(|x| four_digits(*x));
        let values = values.join(" -> ");
        text += &line([(*key).into(), values, median, p90, max, other_ends.to_string()]);
    }
    let scheme = check.scheme;
    text += &match order {
        Some(order) => {
            format!("\norder      {order:.1} ({} is of order {})\n", scheme.name(), scheme.order())
        }
        None => "\norder      not seen: the differences are those of rounding\n".into(),
    };
    if let Some(error) = error {
        let share = 100.0 * error / travel.max(f64::MIN_POSITIVE);
        let (error, share) = (four_digits(*error), four_digits(share));
        text += &format!("error      {error} by the step (median), {share} % of the distance\n");
    }
    check.notes.iter().for_each(|note| text += &format!("note       {note}\n"));
    text
}

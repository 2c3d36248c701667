//! Tracks of several runs as panels of one picture.

use crate::{
    args::RenderArgs,
    figure_dir::{FigureDir, Formats},
    file::Misuse,
    notes,
    render::{self, PARTICLES, Rendered},
    report,
    results::{Results, walls},
};
use anyhow::Result;
use burntrace::trajectories;
use burntrace_plot::{
    Trajectories,
    picture::{self, Panel},
};
use std::path::Path;

/// Writes the tracks of several runs as panels of one picture, `panels`, in the current folder unless another one is given.
pub fn execute(args: &RenderArgs) -> Result<Rendered> {
    if let Some(option) = not_of_panels(args) {
        return Err(Misuse::error(format!(
            "{option} is for one run, and {} are given; give one, or omit {option}",
            args.runs.len()
        )));
    }
    let runs: Vec<Results> = args
        .runs
        .iter()
        .map(|run| Ok(Results::open(run)?.note_unfinished()))
        .collect::<Result<_>>()?;
    note_units(&runs);
    let particles = args.particles.unwrap_or(PARTICLES);
    let mut all: Vec<Trajectories> = Vec::new();
    for results in &runs {
        let mut sample = results.sample(particles, args.style.color.as_deref())?.trajectories;
        trajectories::add_details(&mut sample, &report::places_by_slot(results)?);
        if let Some(time) = &args.last {
            sample = sample.last(results.duration("--last", time)?);
        }
        if !args.no_walls {
            walls::add(results, &mut sample);
        }
        all.push(sample);
    }
    share_categories(&mut all);
    let names: Vec<String> = runs.iter().map(Results::name).collect();
    let panel = |(trajectories, label)| Panel { label, trajectories };
    let labels = names.iter().map(|name| if args.style.style().subtitle { name } else { "" });
    let panels: Vec<Panel> = all.iter().zip(labels).map(panel).collect();
    let columns = args.columns.unwrap_or_else(|| (all.len() as f64).sqrt().ceil() as usize);
    let view = render::views(args, &runs[0])?[0];
    let made =
        picture::panels(&panels, columns, &view, &render::style(args)).map_err(Misuse::of)?;
    let out = args.out.as_deref().unwrap_or(Path::new("."));
    let mut figures = FigureDir::at(out, Formats { svg: args.svg, pdf: args.pdf })?;
    figures.add("panels", &made)?;
    let caption = format!("Tracks of {}, in the same box and colours.", names.join(", "));
    Ok(Rendered {
        files: [figures.written, figures.others].concat(),
        captions: vec![caption],
        ..Rendered::default()
    })
}

/// An option that panels do not have.
fn not_of_panels(args: &RenderArgs) -> Option<&'static str> {
    let given = [
        (args.html, "--html"),
        (args.gif, "--gif"),
        (args.mp4, "--mp4"),
        (args.streaklines, "--streaklines"),
        (args.background.is_some(), "--background"),
        (args.view.len() > 1, "a second --view"),
    ];
    given.into_iter().find(|(is_given, _)| *is_given).map(|(_, name)| name)
}

/// Says that runs have different units, which the axes of one scale do not show.
fn note_units(runs: &[Results]) {
    let different = runs.iter().find(|run| run.units() != runs[0].units());
    if let Some(run) = different {
        notes::warning(format!(
            "{} and {} have different units; the panels have the numbers of each run on one scale",
            runs[0].folder.root.display(),
            run.folder.root.display()
        ));
    }
}

/// Gives the categories of all runs the same numbers, so that they have the same colours.
fn share_categories(all: &mut [Trajectories]) {
    let mut shared: Vec<String> = Vec::new();
    for attribute in all.iter_mut().flat_map(|of| &mut of.attributes) {
        if attribute.categories.is_empty() {
            continue;
        }
        let mut number = |name: &String| {
            shared.iter().position(|known| known == name).unwrap_or_else(|| {
                shared.push(name.clone());
                shared.len() - 1
            })
        };
        let numbers: Vec<f32> =
            attribute.categories.iter().map(|name| number(name) as f32).collect();
        let of = |value: f32| numbers.get(value as usize).copied().filter(|_| value >= 0.0);
        attribute.values.iter_mut().for_each(|value| *value = of(*value).unwrap_or(f32::NAN));
    }
    let with = all.iter_mut().flat_map(|of| &mut of.attributes);
    with.filter(|of| !of.categories.is_empty()).for_each(|of| of.categories.clone_from(&shared));
}

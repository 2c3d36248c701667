//! `burntrace export`: writes the tracks of a run as a table, as lines, or as arrays.

use crate::{
    args::{ExportArgs, ExportFormat},
    file::{GivenTime, Misuse},
    folder,
    results::Results,
};
use anyhow::Result;
use burntrace::io::{self, Rows, Selection};
use std::path::Path;

pub fn execute(args: &ExportArgs) -> Result<()> {
    let rows = rows(args)?;
    let results = Results::open(&args.run)?.note_unfinished();
    let (tracks, selection) = (&results.tracks, selection(args, &results)?);
    let path = args.out.clone().unwrap_or_else(|| results.folder.path(default_name(args.to)));
    refuse_other(&path, args.to)?;
    folder::refuse_replacing(&path, &results.inputs(), default_name(args.to))?;
    let written = match args.to {
        ExportFormat::Parquet => io::write_parquet(tracks, &selection, rows, &path),
        ExportFormat::Csv => io::write_csv(tracks, &selection, rows, &path),
        ExportFormat::Vtp => io::write_selected_tracks(tracks, &selection, &path),
        ExportFormat::Zarr => io::write_trajectories(tracks, &selection, &path),
        ExportFormat::Npy => io::write_npy(tracks, &selection, &path),
        ExportFormat::Safetensors => io::write_safetensors(tracks, &selection, &path),
        ExportFormat::Geojson => io::write_geojson(tracks, &selection, rows, &path),
        ExportFormat::Flatgeobuf => io::write_flatgeobuf(tracks, &selection, rows, &path),
    };
    let count = written.map_err(|error| match error {
        io::Error::Selection(_) => Misuse::of(error),
        _ => error.into(),
    })?;
    let what = match args.to {
        ExportFormat::Parquet | ExportFormat::Csv => "rows",
        ExportFormat::Vtp => "points",
        ExportFormat::Zarr => "trajectories",
        ExportFormat::Npy | ExportFormat::Safetensors => "particles",
        ExportFormat::Geojson | ExportFormat::Flatgeobuf => "features",
    };
    args.output.print(
        || serde_json::json!({ "file": path, what: count }),
        || format!("{}: {count} {what}\n", path.display()),
    )
}

/// Refuses a folder, a link or a device: the file is written beside it and takes its place. A new folder replaces nothing.
fn refuse_other(path: &Path, format: ExportFormat) -> Result<()> {
    match path.symlink_metadata() {
        Ok(_) if matches!(format, ExportFormat::Zarr | ExportFormat::Npy) => {
            Err(Misuse::error(format!(
                "{} exists, and {} is a new folder; remove it, or give another name with --out",
                path.display(),
                default_name(format)
            )))
        }
        Ok(found) if !found.is_file() => Err(Misuse::error(format!(
            "{} is a folder, a link or a device, which a file would replace; give the name of a file \
             with --out",
            path.display()
        ))),
        _ => Ok(()),
    }
}

/// The rows of the table.
fn rows(args: &ExportArgs) -> Result<Rows> {
    let name = default_name(args.to);
    let given = args.rows.map(Rows::from).or(args.is_final.then_some(Rows::Final));
    match (given, args.to) {
        (
            Some(rows),
            ExportFormat::Vtp | ExportFormat::Zarr | ExportFormat::Npy | ExportFormat::Safetensors,
        ) => {
            let option = if rows == Rows::Final { "--final" } else { "--rows" };
            Err(Misuse::error(format!(
                "{option} is for tables and maps, and {name} has whole tracks; give --to parquet, csv, geojson or \
                 flatgeobuf, or leave out {option}"
            )))
        }
        (None, ExportFormat::Geojson | ExportFormat::Flatgeobuf) => Ok(Rows::Particles),
        (given, _) => Ok(given.unwrap_or(Rows::Saves)),
    }
}

fn selection(args: &ExportArgs, results: &Results) -> Result<Selection> {
    let all = Selection::default();
    let time = |given: &Option<GivenTime>, default: f64| {
        given.as_ref().map_or(Ok(default), |time| results.time(time))
    };
    let [statuses, end_statuses] = [&args.status, &args.end_status]
        .map(|given| given.iter().flat_map(|some| some.0.clone()).collect());
    // An instance of a particle may have ended after its last save.
    let (statuses, end_statuses) = match args.is_final && results.tracks.is_complete() {
        true => (end_statuses, statuses),
        false => (statuses, end_statuses),
    };
    Ok(Selection {
        statuses,
        end_statuses,
        from: time(&args.from_time, all.from)?,
        to: time(&args.to_time, all.to)?,
        every_save: args.every_save,
        every_particle: args.every_particle,
    })
}

/// The name of the file in the folder of the run.
fn default_name(format: ExportFormat) -> &'static str {
    match format {
        ExportFormat::Parquet => "tracks.parquet",
        ExportFormat::Csv => "tracks.csv",
        ExportFormat::Vtp => "tracks.vtp",
        ExportFormat::Zarr => "tracks.zarr",
        ExportFormat::Npy => "tracks_npy",
        ExportFormat::Safetensors => "tracks.safetensors",
        ExportFormat::Geojson => "tracks.geojson",
        ExportFormat::Flatgeobuf => "tracks.fgb",
    }
}

//! `burntrace residence`: how long particles stay in each cell of a lattice.

mod output;
mod records;
mod voxels;

use crate::{
    args::ResidenceArgs,
    figure_dir::{FigureDir, Formats},
    file::Misuse,
    format::count,
    notes,
    results::Results,
};
use anyhow::{Context, Result};
use burntrace::{
    analysis::residence::{Residence, VoxelResidence},
    io,
};
use output::Summary;
use records::Records;

/// Number of voxels that a leg may pass through in the median without a warning.
const VOXELS_OF_LEG: usize = 2;

pub fn execute(args: &ResidenceArgs) -> Result<()> {
    let results = Results::open(&args.run)?.note_unfinished();
    let found = evaluate(args, &results)?;
    let summary = Summary::of(&found);
    let folder = results.out(args.out.as_deref(), "residence")?;
    let mut figures = FigureDir::at(&folder, Formats::default())?;
    for (name, drawable) in output::drawables(&results, &found) {
        drawable.draw(name, &args.style.of_density(), &mut figures)?;
    }
    let path = folder.join("residence.vti");
    io::write_image(&output::image(found), &path)
        .with_context(|| format!("cannot write {}", path.display()))?;
    let written = [vec![path], figures.written].concat();
    args.output.print(|| summary.json(&written), || summary.text(&results, &written))
}

/// Adds up the times of all particles.
fn evaluate(args: &ResidenceArgs, results: &Results) -> Result<VoxelResidence> {
    let voxels = voxels::of(args, results)?;
    let mut residence = Residence::new(voxels, results.tracks.periods()).map_err(Misuse::of)?;
    let mut records = Records::new(results)?;
    records.each(|track| residence.add(track))?;
    let found = residence.result();
    if found.num_particles == 0 {
        return Err(Misuse::error(format!(
            "no particle of the run in {} was released",
            results.folder.root.display()
        )));
    }
    note_legs(&found, results);
    note_open(&records);
    Ok(found)
}

/// Says what is assumed between saves.
fn note_legs(found: &VoxelResidence, results: &Results) {
    let in_degrees = if results.radius().is_some() { " in longitude and latitude" } else { "" };
    notes::note(format!("between saves particles move straight{in_degrees}, at a constant speed"));
    if let Some(median) = found.median_voxels.filter(|median| *median > VOXELS_OF_LEG) {
        notes::warning(format!(
            "the saves are too far apart for these voxels: half of the legs between saves pass through {median} voxels or \
             more, and straight lines decide which; save more often (save.every_time), or give fewer --cells"
        ));
    }
}

/// Says what is not known of releases and ends.
fn note_open(records: &Records) {
    let particles = |n: u64| count(n as usize);
    if records.open_releases > 0 {
        notes::note(format!(
            "the releases of {} particles are not known until the run has ended: their times are since their first saves",
            particles(records.open_releases)
        ));
    }
    if records.open_ends > 0 {
        notes::note(format!(
            "the ends of {} particles are not known: they are followed to the last save before them",
            particles(records.open_ends)
        ));
    }
}

//! What is written, drawn and printed of residence by voxel.

use crate::{
    args::lines_of,
    density::Drawable,
    format::{count, four_digits, six_digits},
    gates::columns,
    notes,
    results::{AXES, Results},
};
use burntrace::{
    analysis::residence::{VoxelResidence, Voxels},
    densities::Layer,
    io::Image,
};
use burntrace_plot::{Axis, Curves, Raster};
use serde_json::{Value, json};
use std::{fmt::Write as _, path::PathBuf};

/// Number of voxels in the table.
const ROWS: usize = 5;

/// What is printed.
pub struct Summary {
    voxels: Voxels,
    visited: usize,
    particles: u64,
    visitors: u64,
    inside: f64,
    outside: f64,
    median_voxels: Option<usize>,
    longest: Vec<Row>,
}

/// A voxel.
struct Row {
    centre: [f64; 3],
    time: f64,
    visits: u64,
    particles: u64,
    first_passage: f64,
    mean_first_passage: f64,
}

impl Summary {
    pub fn of(found: &VoxelResidence) -> Summary {
        let row = |voxel: usize| Row {
            centre: found.voxels.centre(voxel),
            time: found.times[voxel],
            visits: found.visits[voxel],
            particles: found.particles[voxel],
            first_passage: found.first_passages[voxel],
            mean_first_passage: found.mean_first_passages[voxel],
        };
        let mut longest: Vec<usize> =
            (0..found.times.len()).filter(|voxel| found.visits[*voxel] > 0).collect();
        let visited = longest.len();
        let by_time =
            |a: &usize, b: &usize| found.times[*b].total_cmp(&found.times[*a]).then(a.cmp(b));
        if visited > ROWS {
            longest.select_nth_unstable_by(ROWS, by_time);
            longest.truncate(ROWS);
        }
        longest.sort_unstable_by(by_time);
        Summary {
            voxels: found.voxels,
            visited,
            particles: found.num_particles,
            visitors: found.num_visitors,
            inside: found.times.iter().sum(),
            outside: found.time_outside,
            median_voxels: found.median_voxels,
            longest: longest.into_iter().map(row).collect(),
        }
    }

    pub fn text(&self, results: &Results, written: &[PathBuf]) -> String {
        let units = results.units();
        let extended = self.voxels.extended();
        let at = extended.iter().map(|d| axis(results, *d, [0.0; 2]).name).collect::<Vec<_>>();
        let centre = format!("Centre ({})", at.join(", "));
        let head = [&centre, "Time", "Visits", "Particles", "Per particle", "First passage"];
        let row = |row: &Row| {
            let centre = extended.iter().map(|d| six_digits(row.centre[*d]).to_string());
            vec![
                centre.collect::<Vec<_>>().join(", "),
                four_digits(row.time),
                count(row.visits as usize),
                count(row.particles as usize),
                four_digits(row.time / row.particles as f64),
                four_digits(row.first_passage),
            ]
        };
        let rows = std::iter::once(head.map(String::from).to_vec());
        let mut text = columns(&rows.chain(self.longest.iter().map(row)).collect::<Vec<_>>());
        let number: usize = self.voxels.counts.iter().product();
        let counts = extended.iter().map(|d| count(self.voxels.counts[*d])).collect::<Vec<_>>();
        let total = self.inside + self.outside;
        let unit = if units.time.is_empty() { "the data's unit of time" } else { &units.time };
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "{} of {} particles were in the voxels, {} of {} in total; times in {unit}",
            count(self.visitors as usize),
            count(self.particles as usize),
            four_digits(self.inside),
            four_digits(total)
        );
        let _ = writeln!(
            text,
            "{} of {} voxels ({}) were visited",
            count(self.visited),
            count(number),
            counts.join(" x ")
        );
        text + &lines_of(written)
    }

    pub fn json(&self, written: &[PathBuf]) -> Value {
        let row = |row: &Row| {
            json!({
                "centre": row.centre,
                "time": row.time,
                "visits": row.visits,
                "particles": row.particles,
                "first_passage": row.first_passage,
                "mean_first_passage": row.mean_first_passage,
            })
        };
        let Voxels { counts, low, high } = self.voxels;
        json!({
            "counts": counts,
            "low": low,
            "high": high,
            "visited": self.visited,
            "particles": self.particles,
            "visitors": self.visitors,
            "time_inside": self.inside,
            "time_outside": self.outside,
            "median_voxels_per_leg": self.median_voxels,
            "longest": self.longest.iter().map(row).collect::<Vec<_>>(),
            "files": written,
            "notes": notes::take(),
        })
    }
}

/// Image data with an array for each quantity, one value for each voxel.
pub fn image(found: VoxelResidence) -> Image {
    let Voxels { counts, low, high } = found.voxels;
    let is_flat = |d: usize| low[d] == high[d];
    let floats = |numbers: Vec<u64>| numbers.into_iter().map(|n| n as f64).collect::<Vec<f64>>();
    let pairs = found.times.iter().zip(&found.particles);
    let means = pairs.map(|(time, particles)| time / *particles as f64).collect();
    let cells = [
        ("residence_time", found.times),
        ("mean_residence_time", means),
        ("visits", floats(found.visits)),
        ("particles", floats(found.particles)),
        ("first_passage", found.first_passages),
        ("mean_first_passage", found.mean_first_passages),
    ];
    Image {
        counts: [0, 1, 2].map(|d| if is_flat(d) { 1 } else { counts[d] + 1 }),
        origin: low,
        spacing: found.voxels.size(),
        cells: cells.map(|(name, values)| (name.into(), values)).into(),
        ..Image::default()
    }
}

/// Pictures of the residence time and of the visits, with their names: along a line, on a plane, or summed along z.
pub fn drawables(results: &Results, found: &VoxelResidence) -> Vec<(&'static str, Drawable)> {
    let visits = || found.visits.iter().map(|n| *n as f64);
    let time = results.units().time;
    let drawables = [
        (
            "residence_time",
            drawable(results, found, found.times.iter().copied(), ("residence time", &time)),
        ),
        ("visits", drawable(results, found, visits(), ("visits", ""))),
    ];
    drawables.into_iter().filter_map(|(name, of)| Some((name, of?))).collect()
}

/// A picture of values of the voxels. `None` of a single voxel.
fn drawable(
    results: &Results,
    found: &VoxelResidence,
    values: impl Iterator<Item = f64>,
    (name, unit): (&str, &str),
) -> Option<Drawable> {
    let (counts, first, size) = (found.voxels.counts, found.voxels.centre(0), found.voxels.size());
    let extended: Vec<usize> = (0..3).filter(|d| counts[*d] > 1).collect();
    let layer = match extended.len() {
        3 => counts[0] * counts[1],
        _ => counts.iter().product(),
    };
    // What no particle has visited has no value.
    let mut sums = vec![f64::NAN; layer];
    for (voxel, value) in values.enumerate().filter(|(voxel, _)| found.visits[*voxel] > 0) {
        let sum = &mut sums[voxel % layer];
        *sum = if sum.is_nan() { value } else { *sum + value };
    }
    let title =
        if extended.len() == 3 { format!("{name}, summed along {}", AXES[2]) } else { name.into() };
    let unit = String::from(unit);
    if let [d] = extended[..] {
        let coordinate = |k: usize| first[d] + k as f64 * size[d];
        let points = sums.iter().enumerate().map(|(k, value)| [coordinate(k), *value]).collect();
        let range = [found.voxels.low[d], found.voxels.high[d]];
        return Some(Drawable::Curves(Curves {
            axes: [axis(results, d, range), Axis { name: name.into(), unit, range: [0.0; 2] }],
            series: vec![(String::new(), points)],
            title,
            ..Curves::default()
        }));
    }
    let [nx, ny, nz] = counts;
    let counts = [nx, ny, if extended.len() == 3 { 1 } else { nz }];
    let centres = Image { counts, origin: first, spacing: size, ..Image::default() };
    let layer = Layer::of(&centres, &sums, 0, &results.tracks.units())?;
    let particles = count(found.num_particles as usize);
    let subtitle = format!("{particles} particle{}", if particles == "1" { "" } else { "s" });
    let raster = Raster { name: name.into(), unit, title, subtitle, ..layer.raster };
    Some(Drawable::Raster(results.with_land(raster)))
}

/// An axis of positions.
fn axis(results: &Results, d: usize, range: [f64; 2]) -> Axis {
    let [name, unit] = results.tracks.units().axis_names()[d].clone();
    Axis { name, unit, range }
}

//! The part of a grid that the particles of a case can reach, found in its files before the run.
//!
//! Between nodes a velocity is a mean of those at nodes, in time a mean of two frames. So the largest speeds at the nodes
//! around the particles limit how far they get until the next frames.

use super::{field, geometry, seeds};
use crate::file::{Case, FieldSource, GivenCrop, Misuse};
use anyhow::Result;
use burntrace_core::{
    BoundaryCondition, Domain, FrameSource, GridSource, Slip, Span,
    program::{TimeSpan, frames_of_steps},
};
use burntrace_io as io;
use std::{ops::Range, time::Instant};

/// Nodes that are read beyond the reach: rounding, and neighbours of land.
const MARGIN: usize = 2;
/// How many times the steps of a group their nodes are read for, as the next steps need them, too.
const AHEAD: f64 = 3.0;
/// How much more than the largest speed is tried next.
const MORE: f64 = 1.25;
/// Steps of an adaptive run that sets neither their number nor their length.
const ADAPTIVE_STEPS: u64 = 100;

/// For each axis the low and the high end of a box, or the speeds towards them.
type Ends = [[f64; 2]; 3];
/// Ranges of nodes along the axes.
type Nodes = [Range<usize>; 3];

/// The case with the box that its particles can reach, and what it is; `None` unless `field.crop = "auto"`.
///
/// # Errors
///
/// If the reach has no limit or depends on more than the velocity, or files cannot be read.
pub fn find(case: &Case) -> Result<Option<(Case, String)>> {
    let (FieldSource::Files { files }, Some(GivenCrop::Auto)) =
        (&case.field.source, case.field.crop)
    else {
        return Ok(None);
    };
    refuse(case)?;
    let start = Instant::now();
    let options = io::SeriesOptions { diffusivity: None, ..field::series_options(case) };
    let series = io::Series::open(files.clone(), &options).map_err(Misuse::of)?;
    let mut search = Search::new(case, &series)?;
    let nodes = search.reached()?;
    let axes = series.axes();
    let corner = |at: fn(&Range<usize>) -> usize| Some([0, 1, 2].map(|d| axes[d][at(&nodes[d])]));
    let (low, high) = (corner(|nodes| nodes.start), corner(|nodes| nodes.end - 1));
    let mut cropped = case.clone();
    cropped.field.crop = match search.is_all(&nodes) {
        true => None,
        false => Some(GivenCrop::Box(io::Crop { low, high })),
    };
    let seconds = start.elapsed().as_secs_f64();
    Ok(Some((cropped, format!("auto: {}, found in {seconds:.1} s", describe(&nodes, axes)))))
}

/// Refuses what has no reach, or starts particles elsewhere.
fn refuse(case: &Case) -> Result<()> {
    let refused = [
        (case.walk.is_some(), "a random walk, whose displacements have no limit"),
        (case.inlet.is_some() || !case.source.is_empty(), "inlets and sources"),
    ];
    match refused.into_iter().find(|(is_given, _)| *is_given) {
        None => Ok(()),
        Some((_, what)) => Err(Misuse::error(format!(
            "field.crop is \"auto\", and the case has {what}; give a box, such as field.crop = {{ low = [0, 0, 0], \
             high = [1, 1, 1] }}, or omit it"
        ))),
    }
}

fn describe(nodes: &Nodes, axes: &[Vec<f64>; 3]) -> String {
    let product = |counts: [usize; 3]| counts.iter().product::<usize>() as f64;
    let (part, all) = (nodes.each_ref().map(Range::len), axes.each_ref().map(Vec::len));
    let times = |[x, y, z]: [usize; 3]| format!("{x} x {y} x {z}");
    let ends = [0, 1, 2].map(|d| {
        let [low, high] = [nodes[d].start, nodes[d].end - 1].map(|node| axes[d][node]);
        format!("{} from {low} to {high}", ["x", "y", "z"][d])
    });
    format!(
        "{} of {} nodes ({:.3} %), {}",
        times(part),
        times(all),
        100.0 * product(part) / product(all),
        ends.join(", ")
    )
}

struct Search<'a> {
    case: &'a Case,
    series: &'a io::Series,
    /// The groups of steps: their frames, and the total and the longest time.
    groups: Vec<(Vec<usize>, [f64; 2])>,
    runs_backward: bool,
    /// Displacements of a step and of its farthest stage, as multiples of its length times the largest speed.
    per_step: f64,
    per_stage: f64,
    /// Whether displacements may be turned back along their axis, and into any direction.
    turns_back: bool,
    turns: bool,
    /// The radius of the sphere, of positions in degrees.
    radius: Option<f64>,
    /// Axes that are always read as a whole.
    is_whole: [bool; 3],
    /// Frames that were read: their nodes, and the largest speeds there.
    held: Vec<(usize, Nodes, Ends)>,
}

impl<'a> Search<'a> {
    fn new(case: &'a Case, series: &'a io::Series) -> Result<Self> {
        let info = series.info();
        let faces = geometry::faces(case, Some(info)).map(|faces| faces.map(Into::into));
        let is_periodic = |d: usize| faces[d] == [BoundaryCondition::Periodic; 2];
        let reflects = faces.as_flattened().contains(&BoundaryCondition::Reflect)
            || BoundaryCondition::from(case.boundary.coast) == BoundaryCondition::Reflect;
        let tableau = case.trace.solver.scheme.tableau();
        let rows = [&tableau.b].into_iter().chain(&tableau.a);
        let is_signed = rows.clone().flatten().any(|ratio| ratio.value() < 0.0);
        let mut sums = rows.map(|row| row.iter().map(|ratio| ratio.value().abs()).sum());
        let per_step: f64 = sums.next().unwrap_or(1.0);
        let span = span(case, series)?;
        let radius = geometry::geometry(case, Some(info));
        // Longitudes around the earth are read as a whole where the reach goes on at their other end.
        let is_whole_x = is_periodic(0) && (case.boundary.x.is_some() || radius.is_none());
        Ok(Search {
            case,
            series,
            groups: frames_of_steps(series.times().to_vec(), case.field.outside_time, &span)
                .map_err(Misuse::of)?,
            runs_backward: span.dt < 0.0,
            per_step,
            per_stage: sums.fold(per_step, f64::max),
            turns_back: reflects || is_signed,
            turns: !case.obstacle.is_empty(),
            radius,
            is_whole: [is_whole_x, is_periodic(1), is_periodic(2)],
            held: Vec::new(),
        })
    }

    /// The nodes around all that the particles can reach.
    fn reached(&mut self) -> Result<Nodes> {
        let axes = self.series.axes();
        let ends = |at: fn(&Vec<f64>) -> f64| axes.each_ref().map(at);
        let domain = Domain::new(ends(|axis| axis[0]), ends(|axis| axis[axis.len() - 1]));
        let domain = geometry::up_to_surface(domain.map_err(Misuse::of)?, Some(self.series.info()));
        let domain = super::domain_within(self.case, domain)?;
        let origin = self.series.info().time_origin.as_ref();
        let mut reached = seeds::bounds(self.case, domain, (self.radius.is_some(), origin))?;
        let (mut all, mut guess) = (reached, Ends::default());
        for (frames, [total, longest]) in std::mem::take(&mut self.groups) {
            let (moved, stages) = (self.per_step * total, self.per_stage * longest);
            loop {
                let near = self.nodes(&self.grown(&reached, &guess, moved + stages));
                let held = self.held.iter().find(|(_, nodes, _)| is_inside(&near, nodes));
                let nodes = match held {
                    Some((_, nodes, _)) => nodes.clone(),
                    None => self.nodes(&self.grown(&reached, &guess, AHEAD * moved + stages)),
                };
                let speeds = self.speeds(&frames, &nodes)?;
                let next = self.grown(&reached, &speeds, moved);
                let read = self.grown(&next, &speeds, stages);
                if is_inside(&self.nodes(&read), &nodes) {
                    (all, reached, guess) = (union(&all, &read), next, speeds);
                    break;
                }
                guess =
                    [0, 1, 2].map(|d| [0, 1].map(|end| MORE * guess[d][end].max(speeds[d][end])));
            }
            if self.is_all(&self.nodes(&all)) {
                break;
            }
        }
        Ok(self.nodes(&all))
    }

    /// Whether nodes are those of the whole grid.
    fn is_all(&self, nodes: &Nodes) -> bool {
        (0..3).all(|d| nodes[d].len() == self.series.axes()[d].len())
    }

    /// The nodes of the cells that a box touches, and some more.
    fn nodes(&self, reach: &Ends) -> Nodes {
        let axes = self.series.axes();
        let mut nodes = [0, 1, 2].map(|d| {
            let (axis, [low, high]) = (&axes[d], reach[d]);
            let first = axis.partition_point(|x| *x <= low).saturating_sub(1 + MARGIN);
            let end = (axis.partition_point(|x| *x < high) + 1 + MARGIN).min(axis.len());
            if self.is_whole[d] { 0..axis.len() } else { first.min(end.saturating_sub(2))..end }
        });
        let is_at_end = |d: usize| nodes[d].start == 0 || nodes[d].end == axes[d].len();
        // Longitudes go on at their other end, and a grid around the earth may have a row at a pole.
        if self.series.geometry().global().is_some() && (is_at_end(0) || is_at_end(1)) {
            nodes[0] = 0..axes[0].len();
        }
        nodes
    }

    /// A box, and what is reached from it in a time with these speeds.
    fn grown(&self, from: &Ends, speeds: &Ends, time: f64) -> Ends {
        let by = |d: usize, end: usize| {
            time * if self.runs_backward { speeds[d][1 - end] } else { speeds[d][end] }
        };
        let moved =
            |d: usize, scale: f64| [from[d][0] - scale * by(d, 0), from[d][1] + scale * by(d, 1)];
        let Some(radius) = self.radius else { return [0, 1, 2].map(|d| moved(d, 1.0)) };
        let height = moved(2, 1.0);
        let degree = (radius + height[0].min(0.0)) * 1_f64.to_radians();
        let latitude = moved(1, 1.0 / degree);
        let nearest_to_pole = latitude[1].max(-latitude[0]);
        if nearest_to_pole >= 90.0 {
            return [[f64::NEG_INFINITY, f64::INFINITY], latitude, height];
        }
        let parallel = degree * nearest_to_pole.max(0.0).to_radians().cos();
        [moved(0, 1.0 / parallel), latitude, height]
    }

    /// The largest speeds in frames, at least at some nodes, with the drift.
    fn speeds(&mut self, frames: &[usize], nodes: &Nodes) -> Result<Ends> {
        self.held.retain(|(frame, ..)| frames.contains(frame));
        let mut all = Ends::default();
        for frame in frames {
            let known =
                self.held.iter().find(|(of, held, _)| of == frame && is_inside(nodes, held));
            let speeds = match known {
                Some((.., speeds)) => *speeds,
                None => {
                    let speeds = self.speeds_of(*frame, nodes)?;
                    self.held.push((*frame, nodes.clone(), speeds));
                    speeds
                }
            };
            all = [0, 1, 2].map(|d| [0, 1].map(|end| all[d][end].max(speeds[d][end])));
        }
        Ok(all)
    }

    /// The largest speeds at nodes of a frame, with the drift.
    fn speeds_of(&self, frame: usize, nodes: &Nodes) -> Result<Ends> {
        let velocity = self.series.read_box(frame, nodes).map_err(Misuse::of)?.velocity;
        let (drift, land) = (self.case.trace.drift, self.case.field.land_value);
        let mut speeds = Ends::default();
        for i in 0..velocity.len() / 3 {
            let mut v = [0, 1, 2].map(|d| velocity.get(3 * i + d));
            if v.iter().any(|u| !u.is_finite()) || land.is_some_and(|land| v[..2] == [land; 2]) {
                v = [0.0; 3];
            }
            let v = [0, 1, 2].map(|d| v[d] + drift[d]);
            let (level, norm) = (v[0].hypot(v[1]), v[0].hypot(v[1]).hypot(v[2]));
            // Each component on land may be that of another node in the water.
            let [level, norm] = match self.case.field.slip {
                None | Some(Slip::No) => [level, norm],
                Some(_) => [2_f64.sqrt() * level, 3_f64.sqrt() * norm],
            };
            for d in 0..3 {
                let sides = match self.radius {
                    _ if self.turns => [norm; 2],
                    Some(_) if d < 2 => [level; 2],
                    _ if self.turns_back => [v[d].abs(); 2],
                    _ => [-v[d], v[d]],
                };
                speeds[d] = [0, 1].map(|end: usize| speeds[d][end].max(sides[end]));
            }
        }
        Ok(speeds)
    }
}

/// The span of the run; an adaptive one has its longest steps.
fn span(case: &Case, series: &io::Series) -> Result<TimeSpan> {
    let (times, given) = (series.times(), case.trace.span);
    let is_open = case.trace.solver.tolerance.is_some() && given.dt.is_none();
    let steps = given.steps.or(is_open.then_some(ADAPTIVE_STEPS));
    let span = Span { steps, ..given }.resolve([times[0], times[times.len() - 1]]);
    span.map_err(Misuse::of)
}

fn is_inside(inner: &Nodes, outer: &Nodes) -> bool {
    (0..3).all(|d| outer[d].start <= inner[d].start && inner[d].end <= outer[d].end)
}

fn union(a: &Ends, b: &Ends) -> Ends {
    [0, 1, 2].map(|d| [a[d][0].min(b[d][0]), a[d][1].max(b[d][1])])
}

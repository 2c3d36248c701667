//! Places distributed over an inlet, from Sobol's sequence.
//!
//! Points of the sequence are proposed one after another, and kept where they fall within the rim
//! and, for a flux, below it. What is kept is as evenly spread as the sequence. Its first point,
//! a corner, is left out; no other has a coordinate of 0.

use super::normal::normal_quantile;
use super::patch::Patch;
use super::room;
use crate::seeds::Sobol;
use crate::{Domain, Error, Result};

/// The flow at places.
pub(super) type Velocity<'a> = dyn FnMut(&[[f64; 3]]) -> Result<Vec<[f64; 3]>> + 'a;

/// Of this many proposals one must be kept on average.
const LEAST: usize = 1000;
/// After how many proposals that is judged.
const TRIAL: usize = 1 << 16;
/// How many velocities are asked for at once, and how many make the first bound of a flux.
const BATCH: usize = 1 << 14;

/// Places uniform by area.
pub(super) fn uniform(patch: &Patch, count: usize) -> Result<Vec<[f64; 3]>> {
    kept(patch, count, |[s, t, _]| patch.at([s, t]), "the inlet fills less of its surroundings")
}

/// Places normally distributed about the centroid, equally wide in both directions; those beyond
/// the rim are left out.
pub(super) fn gaussian(patch: &Patch, deviation: f64, count: usize) -> Result<Vec<[f64; 3]>> {
    let propose = |point: [f64; 3]| {
        let [a, b] = [0, 1].map(|k| match k < patch.dims {
            true => patch.centre[k] + deviation * normal_quantile(point[k]),
            false => patch.centre[k],
        });
        [a, b]
    };
    let reason = format!(
        "the standard deviation {deviation} does not go with its size: fewer than one in {LEAST} \
         normally distributed places would lie on it; give another one, or the uniform pattern"
    );
    kept(patch, count, propose, &reason)
}

/// The first proposals that lie within the rim.
fn kept(
    patch: &Patch,
    count: usize,
    propose: impl Fn([f64; 3]) -> [f64; 2],
    reason: &str,
) -> Result<Vec<[f64; 3]>> {
    let sobol = Sobol::new();
    let mut places = room(count)?;
    let mut tried = 0;
    while places.len() < count {
        tried += 1;
        let p = propose(sobol.point(tried));
        if patch.contains(p) {
            places.push(patch.place(p));
        }
        if tried >= TRIAL && tried > LEAST * places.len() {
            return Err(Error::Inlet(reason.into()));
        }
    }
    Ok(places)
}

/// A place that was proposed for a flux.
#[derive(Clone, Copy)]
struct Candidate {
    place: [f64; 3],
    /// The fraction of the bound that the inflow must exceed.
    threshold: f64,
    /// The speed at which the flow comes in; 0 where it does not.
    inflow: f64,
}

/// Places in proportion to the speed at which the flow comes in.
///
/// A proposal is kept where its inflow exceeds a fraction, the next dimension of the sequence, of
/// a bound. The bound is the greatest inflow of all proposals. Where it grows, those kept so far
/// are judged again; as it never shrinks, that gives what the last bound would have given from
/// the beginning. Speeds above it, which only peaks narrower than the distance of neighbouring
/// proposals can have, count as the bound. The distribution function is accurate to about one in
/// a thousand with 65,536 places. Beyond the domain nothing flows in.
pub(super) fn flux(
    patch: &Patch,
    count: usize,
    domain: &Domain,
    velocity: &mut Velocity<'_>,
    reversal: &str,
) -> Result<Vec<[f64; 3]>> {
    let sobol = Sobol::new();
    let mut kept: Vec<Candidate> = room(count)?;
    let (mut next, mut proposed, mut bound, mut out) = (1, 0, 0.0, 0);
    while kept.len() < count {
        let mut batch = proposals(patch, &sobol, &mut next);
        out += measure(&mut batch, patch, domain, velocity)?;
        proposed += batch.len();
        let greatest = batch.iter().fold(bound, |m: f64, c| m.max(c.inflow));
        if greatest == 0.0 {
            return Err(no_inflow(patch.normal, proposed, out, reversal));
        }
        let below = |c: &Candidate| c.threshold * greatest < c.inflow;
        if greatest > bound {
            kept.retain(below);
            bound = greatest;
        }
        kept.extend(batch.into_iter().filter(below));
        if proposed >= TRIAL && proposed > LEAST * kept.len() {
            return Err(Error::Inlet(format!(
                "the inflow is confined to a small part of it: of {proposed} places {} were \
                 found in proportion to the inflow; make it smaller, around the inflow",
                kept.len()
            )));
        }
    }
    kept.truncate(count);
    Ok(kept.into_iter().map(|c| c.place).collect())
}

/// The next batch of places within the rim, their inflow not known yet.
fn proposals(patch: &Patch, sobol: &Sobol, next: &mut usize) -> Vec<Candidate> {
    let mut batch = Vec::with_capacity(BATCH);
    while batch.len() < BATCH {
        let point = sobol.point(*next);
        *next += 1;
        let p = patch.at([point[0], point[1]]);
        if patch.contains(p) {
            // On a segment the second dimension is free, and goes better with the first.
            let threshold = point[patch.dims];
            batch.push(Candidate { place: patch.place(p), threshold, inflow: 0.0 });
        }
    }
    batch
}

/// Finds the inflow of proposals; at how many the flow goes out.
fn measure(
    batch: &mut [Candidate],
    patch: &Patch,
    domain: &Domain,
    velocity: &mut Velocity<'_>,
) -> Result<usize> {
    let asked: Vec<usize> = (0..batch.len()).filter(|i| domain.contains(batch[*i].place)).collect();
    if asked.is_empty() {
        return Ok(0);
    }
    let places: Vec<[f64; 3]> = asked.iter().map(|i| batch[*i].place).collect();
    let mut out = 0;
    for (i, v) in asked.into_iter().zip(velocity(&places)?) {
        let speed = super::vectors::dot(v, patch.normal);
        // Where the velocity is not a number nothing comes in.
        if speed.is_finite() {
            batch[i].inflow = speed.max(0.0);
            out += usize::from(speed < 0.0);
        }
    }
    Ok(out)
}

fn no_inflow([x, y, z]: [f64; 3], proposed: usize, out: usize, reversal: &str) -> Error {
    let remedy = match out {
        0 => "move it to where the flow comes in".to_owned(),
        _ => format!("at {out} it goes the other way: {reversal}"),
    };
    Error::Inlet(format!(
        "nothing flows in through it: at none of {proposed} places on it does the velocity at the \
         begin of the run point along the inward normal ({x}, {y}, {z}); {remedy}"
    ))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{disc, from_centre, inside, message, rectangle, star};
    use super::*;

    const COUNT: usize = 1 << 16;

    fn still(places: &[[f64; 3]]) -> Result<Vec<[f64; 3]>> {
        Ok(vec![[0.0; 3]; places.len()])
    }

    fn flux_through(patch: &Patch, flow: impl Fn([f64; 3]) -> [f64; 3]) -> Result<Vec<[f64; 3]>> {
        let mut velocity = |p: &[[f64; 3]]| Ok(p.iter().map(|p| flow(*p)).collect());
        flux(patch, COUNT, &Domain::unbounded(), &mut velocity, "turn it")
    }

    #[test]
    fn uniform_places_fill_equal_boxes_equally() {
        let mut boxes = [[0_i32; 8]; 8];
        for p in uniform(&rectangle(), COUNT).unwrap() {
            boxes[(p[0] / 3.0 * 8.0) as usize][(p[1] / 2.0 * 8.0) as usize] += 1;
        }
        // Of 65,536 points of the sequence from its first on, each box has 1024.
        assert!(boxes.as_flattened().iter().all(|n| (n - 1024).abs() <= 1), "{boxes:?}");
    }

    #[test]
    fn uniform_places_lie_inside_in_proportion_to_area() {
        for patch in [disc(), star()] {
            let places = uniform(&patch, COUNT).unwrap();
            assert!(places.iter().all(|p| inside(&patch, *p, 1.0)));
            // Half the figure's width is a quarter of its area, and each quadrant is as well.
            let inner = places.iter().filter(|p| inside(&patch, **p, 0.5)).count();
            assert!((inner as f64 / COUNT as f64 - 0.25).abs() < 1e-3, "{inner}");
            let first = places
                .iter()
                .map(|p| from_centre(&patch, *p))
                .filter(|p| p[0] > 0.0 && p[1] > 0.0)
                .count();
            assert!((first as f64 / COUNT as f64 - 0.25).abs() < 1e-3, "{first}");
        }
    }

    #[test]
    fn gaussian_places_have_the_mean_and_the_deviation() {
        // The rim is ten deviations away.
        let places = gaussian(&rectangle(), 0.1, COUNT).unwrap();
        for (k, centre) in [(0, 1.5), (1, 1.0)] {
            let mean = places.iter().map(|p| p[k] - centre).sum::<f64>() / COUNT as f64;
            let square = places.iter().map(|p| (p[k] - centre).powi(2)).sum::<f64>();
            // A tenth of the error that random numbers would have.
            assert!(mean.abs() < 0.1 * 0.1 / 256.0, "{mean}");
            assert!(((square / COUNT as f64).sqrt() / 0.1 - 1.0).abs() < 0.1 / 256.0);
        }
    }

    #[test]
    fn gaussian_places_are_cut_off_at_the_rim() {
        // Of a disc of one deviation: the distribution of r^2 is exponential, cut off.
        let places = gaussian(&disc(), 2.0, COUNT).unwrap();
        for part in [0.25, 0.5, 0.75] {
            let below = places.iter().filter(|p| p[0] * p[0] + p[1] * p[1] < 4.0 * part).count();
            let expected = (-0.5 * part).exp_m1() / (-0.5_f64).exp_m1();
            assert!((below as f64 / COUNT as f64 - expected).abs() < 1e-3);
        }
    }

    #[test]
    fn a_gaussian_that_misses_is_refused() {
        let refused = message(gaussian(&disc(), 1000.0, COUNT));
        assert!(refused.contains("standard deviation 1000"), "{refused}");
    }

    #[test]
    fn a_flux_is_as_the_flow_comes_in() {
        // Poiseuille flow in a pipe of radius 2: u ~ 1 - r^2 / 4.
        let flow = |p: [f64; 3]| [5.0, 5.0, 1.0 - 0.25 * (p[0] * p[0] + p[1] * p[1])];
        let places = flux_through(&disc(), flow).unwrap();
        let squares = || places.iter().map(|p| 0.25 * (p[0] * p[0] + p[1] * p[1]));
        let mean = squares().sum::<f64>() / COUNT as f64;
        assert!((mean - 1.0 / 3.0).abs() < 5e-4, "{mean}");
        for q in [0.1, 0.25, 0.5, 0.75, 0.9] {
            let below = squares().filter(|square| *square < q).count() as f64 / COUNT as f64;
            assert!((below - (2.0 * q - q * q)).abs() < 1e-3, "{q}: {below}");
        }
        let right = places.iter().filter(|p| p[0] > 0.0).count() as f64 / COUNT as f64;
        assert!((right - 0.5).abs() < 1e-3, "{right}");
    }

    #[test]
    fn backflow_and_holes_have_no_places() {
        let flow = |p: [f64; 3]| {
            [
                0.0,
                0.0,
                if p[0] < 1.0 {
                    -1.0
                } else if p[0] < 2.0 {
                    f64::NAN
                } else {
                    1.0
                },
            ]
        };
        let places = flux_through(&rectangle(), flow).unwrap();
        assert!(places.iter().all(|p| p[0] > 2.0));
        assert_eq!(places.len(), COUNT);
    }

    #[test]
    fn a_bound_that_grows_leaves_no_trace() {
        // A peak around the place of one proposal, which is not in the first batch.
        let (patch, sobol) = (rectangle(), Sobol::new());
        let proposal = |i: usize| {
            let [s, t, threshold] = sobol.point(i);
            (patch.place(patch.at([s, t])), threshold)
        };
        let [x, y, _] = proposal(40_000).0;
        let high = |p: [f64; 3]| (p[0] - x).hypot(p[1] - y) < 3e-3;
        assert!(!(1..=BATCH).any(|i| high(proposal(i).0)));
        let speed = |p: [f64; 3]| if high(p) { 8.0 } else { 1.0 + p[0] };
        let places = flux_through(&patch, |p| [0.0, 0.0, speed(p)]).unwrap();
        let below = |(p, threshold): &([f64; 3], f64)| threshold * 8.0 < speed(*p);
        let expected: Vec<[f64; 3]> =
            (1..).map(proposal).filter(below).map(|(p, _)| p).take(COUNT).collect();
        assert!(places == expected);
    }

    #[test]
    fn no_inflow_is_refused() {
        let still = flux(&disc(), COUNT, &Domain::unbounded(), &mut still, "turn it");
        let still = message(still);
        assert!(still.contains("nothing flows in") && still.contains("move it"), "{still}");
        let out = message(flux_through(&disc(), |_| [0.0, 0.0, -1.0]));
        assert!(out.contains("normal (0, 0, 1)") && out.contains("turn it"), "{out}");
        let spot = |p: [f64; 3]| [0.0, 0.0, f64::from(u8::from(p[0].hypot(p[1]) < 0.02))];
        let confined = message(flux_through(&disc(), spot));
        assert!(confined.contains("confined to a small part"), "{confined}");
        let domain = Domain::new([10.0; 3], [11.0; 3]).unwrap();
        let mut asked = |_: &[[f64; 3]]| panic!("no place is in the domain");
        assert!(message(flux(&disc(), COUNT, &domain, &mut asked, "")).contains("nothing flows"));
    }

    #[test]
    fn an_error_of_the_flow_is_passed_on() {
        let mut broken = |_: &[[f64; 3]]| Err(Error::Execution("lost".into()));
        let failed = flux(&disc(), COUNT, &Domain::unbounded(), &mut broken, "");
        assert!(matches!(failed, Err(Error::Execution(_))));
    }
}

//! Random release positions on an inlet, from a Sobol sequence.
//!
//! Rejection sampling: candidates come from the sequence and are accepted inside the outline and,
//! for a flux, below the inflow speed. Accepted positions keep the low discrepancy of the sequence.
//! Its first point, a corner, is skipped; no other point has a coordinate of 0.

use super::normal::normal_quantile;
use super::patch::Patch;
use super::positions::reserve;
use crate::seeds::Sobol;
use crate::{Domain, Error, Result};

/// Velocity at positions.
pub(super) type VelocityAt<'a> = dyn FnMut(&[[f64; 3]]) -> Result<Vec<[f64; 3]>> + 'a;

/// Minimum acceptance rate: one candidate in this many.
const MAX_REJECTION: usize = 1000;
/// Number of candidates before the acceptance rate is checked.
const TRIAL: usize = 1 << 16;
/// Number of candidates for each evaluation of the velocity.
const BATCH: usize = 1 << 14;

/// A number of positions, from one of the independent sequences.
pub(super) struct Sequence {
    sobol: Sobol,
    count: usize,
}

impl Sequence {
    pub fn new(number: u64, count: usize) -> Self {
        Sequence { sobol: Sobol::independent(number), count }
    }
}

/// Positions that are uniform over the area.
pub(super) fn uniform(patch: &Patch, sequence: &Sequence) -> Result<Vec<[f64; 3]>> {
    accepted(
        patch,
        sequence,
        |[s, t, _]| patch.at([s, t]),
        "the outline fills too little of its bounding box",
    )
}

/// Normally distributed positions about the centroid, isotropic and truncated at the outline.
pub(super) fn gaussian(
    patch: &Patch,
    deviation: f64,
    sequence: &Sequence,
) -> Result<Vec<[f64; 3]>> {
    let propose = |point: [f64; 3]| {
        let [a, b] = [0, 1].map(|k| match k < patch.dims {
            true => patch.centre[k] + deviation * normal_quantile(point[k]),
            false => patch.centre[k],
        });
        [a, b]
    };
    let reason = format!(
        "the standard deviation {deviation} does not fit its size: fewer than one in \
         {MAX_REJECTION} normally distributed positions would be on it; give another one, or use \
         the uniform pattern"
    );
    accepted(patch, sequence, propose, &reason)
}

/// The first `count` candidates inside the outline.
fn accepted(
    patch: &Patch,
    Sequence { sobol, count }: &Sequence,
    propose: impl Fn([f64; 3]) -> [f64; 2],
    reason: &str,
) -> Result<Vec<[f64; 3]>> {
    let mut positions = reserve(*count)?;
    let mut tried = 0;
    while positions.len() < *count {
        tried += 1;
        let p = propose(sobol.point(tried));
        if patch.contains(p) {
            positions.push(patch.position(p));
        }
        if tried >= TRIAL && tried > MAX_REJECTION * positions.len() {
            return Err(Error::Inlet(reason.into()));
        }
    }
    Ok(positions)
}

/// A candidate position of a flux.
#[derive(Clone, Copy)]
struct Candidate {
    position: [f64; 3],
    /// Fraction of the bound that the inflow must exceed.
    threshold: f64,
    /// Normal inflow speed; 0 for outflow.
    inflow: f64,
}

/// Positions in proportion to the normal inflow speed.
///
/// A candidate is accepted if its inflow exceeds a fraction (the next dimension of the sequence) of
/// a bound. The bound is the maximum inflow of all candidates so far. When it grows, the accepted
/// candidates are checked again, which gives the same result as the final bound from the start.
/// Peaks between the candidates of the sequence can exceed the bound, and count as the bound. The
/// distribution function is accurate to about one part in a thousand with 65,536 positions. There
/// is no inflow outside the domain.
pub(super) fn flux(
    patch: &Patch,
    &Sequence { ref sobol, count }: &Sequence,
    domain: &Domain,
    velocity: &mut VelocityAt<'_>,
    reversal: &str,
) -> Result<Vec<[f64; 3]>> {
    let mut accepted: Vec<Candidate> = reserve(count)?;
    let (mut next, mut proposed, mut bound, mut out) = (1, 0, 0.0, 0);
    while accepted.len() < count {
        let mut batch = proposals(patch, sobol, &mut next)?;
        out += measure(&mut batch, patch, domain, velocity)?;
        proposed += batch.len();
        let max_inflow = batch.iter().fold(bound, |m: f64, c| m.max(c.inflow));
        if max_inflow == 0.0 {
            return Err(no_inflow(patch.normal, proposed, out, reversal));
        }
        let below = |c: &Candidate| c.threshold * max_inflow < c.inflow;
        if max_inflow > bound {
            accepted.retain(below);
            bound = max_inflow;
        }
        accepted.extend(batch.into_iter().filter(below));
        if proposed >= TRIAL && proposed > MAX_REJECTION * accepted.len() {
            return Err(Error::Inlet(format!(
                "the inflow is limited to a small part of it: {} of {proposed} candidates were \
                 accepted in proportion to the inflow; make it smaller, around the inflow",
                accepted.len()
            )));
        }
    }
    accepted.truncate(count);
    Ok(accepted.into_iter().map(|c| c.position).collect())
}

/// The next candidates inside the outline, before their inflow is known.
///
/// # Errors
///
/// [`Error::Inlet`] if none is inside, because coordinates do not resolve the figure.
fn proposals(patch: &Patch, sobol: &Sobol, next: &mut usize) -> Result<Vec<Candidate>> {
    let first = *next;
    let mut batch = Vec::with_capacity(BATCH);
    while batch.len() < BATCH {
        let tried = *next - first;
        if tried >= TRIAL && tried > MAX_REJECTION * batch.len() {
            return Err(Error::Inlet(
                "it is too narrow to find positions on it; give a shape with a greater width"
                    .into(),
            ));
        }
        let point = sobol.point(*next);
        *next += 1;
        let p = patch.at([point[0], point[1]]);
        if patch.contains(p) {
            // On a segment the second dimension is free, and correlates less with the first.
            let threshold = point[patch.dims];
            batch.push(Candidate { position: patch.position(p), threshold, inflow: 0.0 });
        }
    }
    Ok(batch)
}

/// Evaluates the inflow of candidates, and returns the number with outflow.
fn measure(
    batch: &mut [Candidate],
    patch: &Patch,
    domain: &Domain,
    velocity: &mut VelocityAt<'_>,
) -> Result<usize> {
    let inside: Vec<usize> =
        (0..batch.len()).filter(|i| domain.contains(batch[*i].position)).collect();
    if inside.is_empty() {
        return Ok(0);
    }
    let positions: Vec<[f64; 3]> = inside.iter().map(|i| batch[*i].position).collect();
    let mut out = 0;
    for (i, v) in inside.into_iter().zip(velocity(&positions)?) {
        let speed = crate::vectors::dot(v, patch.normal);
        // An undefined velocity is no inflow.
        if speed.is_finite() {
            batch[i].inflow = speed.max(0.0);
            out += usize::from(speed < 0.0);
        }
    }
    Ok(out)
}

fn no_inflow([x, y, z]: [f64; 3], proposed: usize, out: usize, reversal: &str) -> Error {
    let remedy = match out {
        0 => "move it to a region with inflow".to_owned(),
        _ => format!("{out} have outflow: {reversal}"),
    };
    Error::Inlet(format!(
        "nothing flows in through it: none of {proposed} positions on it has a velocity along the \
         inward normal ({x}, {y}, {z}) at the start of the run; {remedy}"
    ))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{disc, from_centre, inside, message, rectangle, star};
    use super::*;

    const COUNT: usize = 1 << 16;

    fn first() -> Sequence {
        Sequence::new(0, COUNT)
    }

    fn still(positions: &[[f64; 3]]) -> Result<Vec<[f64; 3]>> {
        Ok(vec![[0.0; 3]; positions.len()])
    }

    fn flux_through(patch: &Patch, flow: impl Fn([f64; 3]) -> [f64; 3]) -> Result<Vec<[f64; 3]>> {
        let mut velocity = |p: &[[f64; 3]]| Ok(p.iter().map(|p| flow(*p)).collect());
        flux(patch, &first(), &Domain::unbounded(), &mut velocity, "turn it")
    }

    #[test]
    fn uniform_positions_have_low_discrepancy() {
        for number in [0, 1, 2] {
            let mut boxes = [[0_i32; 8]; 8];
            for p in uniform(&rectangle(), &Sequence::new(number, COUNT)).unwrap() {
                boxes[(p[0] / 3.0 * 8.0) as usize][(p[1] / 2.0 * 8.0) as usize] += 1;
            }
            // The first 65,536 points of the sequence have 1024 in each box.
            assert!(boxes.as_flattened().iter().all(|n| (n - 1024).abs() <= 1), "{boxes:?}");
        }
    }

    #[test]
    fn sequences_are_independent() {
        let all =
            [0, 1, 2].map(|number| uniform(&rectangle(), &Sequence::new(number, 4096)).unwrap());
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            let mean = |p: &[f64; 3], q: &[f64; 3]| (p[0] - 1.5) * (q[0] - 1.5) / 0.75;
            let pairs = all[a].iter().zip(&all[b]);
            let correlation = pairs.map(|(p, q)| mean(p, q)).sum::<f64>() / 4096.0;
            assert!(correlation.abs() < 0.1, "{a} {b}: {correlation}");
            assert!(all[a].iter().all(|p| !all[b].contains(p)), "{a} {b}");
        }
    }

    #[test]
    fn uniform_positions_are_inside_and_proportional_to_area() {
        for patch in [disc(), star()] {
            let positions = uniform(&patch, &first()).unwrap();
            assert!(positions.iter().all(|p| inside(&patch, *p, 1.0)));
            // Half of the width is a quarter of the area, and so is each quadrant.
            let inner = positions.iter().filter(|p| inside(&patch, **p, 0.5)).count();
            assert!((inner as f64 / COUNT as f64 - 0.25).abs() < 1e-3, "{inner}");
            let first = positions
                .iter()
                .map(|p| from_centre(&patch, *p))
                .filter(|p| p[0] > 0.0 && p[1] > 0.0)
                .count();
            assert!((first as f64 / COUNT as f64 - 0.25).abs() < 1e-3, "{first}");
        }
    }

    #[test]
    fn gaussian_positions_have_the_requested_moments() {
        // The outline is ten deviations away.
        let positions = gaussian(&rectangle(), 0.1, &first()).unwrap();
        for (k, centre) in [(0, 1.5), (1, 1.0)] {
            let mean = positions.iter().map(|p| p[k] - centre).sum::<f64>() / COUNT as f64;
            let square = positions.iter().map(|p| (p[k] - centre).powi(2)).sum::<f64>();
            // A tenth of the sampling error of random numbers.
            assert!(mean.abs() < 0.1 * 0.1 / 256.0, "{mean}");
            assert!(((square / COUNT as f64).sqrt() / 0.1 - 1.0).abs() < 0.1 / 256.0);
        }
    }

    #[test]
    fn gaussian_positions_are_truncated_at_the_outline() {
        // A disc of one deviation: r^2 has a truncated exponential distribution.
        let positions = gaussian(&disc(), 2.0, &first()).unwrap();
        for part in [0.25, 0.5, 0.75] {
            let below = positions.iter().filter(|p| p[0] * p[0] + p[1] * p[1] < 4.0 * part).count();
            let expected = (-0.5 * part).exp_m1() / (-0.5_f64).exp_m1();
            assert!((below as f64 / COUNT as f64 - expected).abs() < 1e-3);
        }
    }

    #[test]
    fn too_wide_gaussian_is_refused() {
        let refused = message(gaussian(&disc(), 1000.0, &first()));
        assert!(refused.contains("standard deviation 1000"), "{refused}");
    }

    #[test]
    fn flux_is_proportional_to_the_inflow_speed() {
        // Poiseuille flow in a pipe of radius 2: u ~ 1 - r^2 / 4.
        let flow = |p: [f64; 3]| [5.0, 5.0, 1.0 - 0.25 * (p[0] * p[0] + p[1] * p[1])];
        let positions = flux_through(&disc(), flow).unwrap();
        let squares = || positions.iter().map(|p| 0.25 * (p[0] * p[0] + p[1] * p[1]));
        let mean = squares().sum::<f64>() / COUNT as f64;
        assert!((mean - 1.0 / 3.0).abs() < 5e-4, "{mean}");
        for q in [0.1, 0.25, 0.5, 0.75, 0.9] {
            let below = squares().filter(|square| *square < q).count() as f64 / COUNT as f64;
            assert!((below - (2.0 * q - q * q)).abs() < 1e-3, "{q}: {below}");
        }
        let right = positions.iter().filter(|p| p[0] > 0.0).count() as f64 / COUNT as f64;
        assert!((right - 0.5).abs() < 1e-3, "{right}");
    }

    #[test]
    fn backflow_and_undefined_velocity_have_no_positions() {
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
        let positions = flux_through(&rectangle(), flow).unwrap();
        assert!(positions.iter().all(|p| p[0] > 2.0));
        assert_eq!(positions.len(), COUNT);
    }

    #[test]
    fn growing_bound_gives_the_result_of_the_final_bound() {
        // A peak around one candidate outside the first batch.
        let (patch, sobol) = (rectangle(), Sobol::new());
        let proposal = |i: usize| {
            let [s, t, threshold] = sobol.point(i);
            (patch.position(patch.at([s, t])), threshold)
        };
        let [x, y, _] = proposal(40_000).0;
        let high = |p: [f64; 3]| (p[0] - x).hypot(p[1] - y) < 3e-3;
        assert!(!(1..=BATCH).any(|i| high(proposal(i).0)));
        let speed = |p: [f64; 3]| if high(p) { 8.0 } else { 1.0 + p[0] };
        let positions = flux_through(&patch, |p| [0.0, 0.0, speed(p)]).unwrap();
        let below = |(p, threshold): &([f64; 3], f64)| threshold * 8.0 < speed(*p);
        let expected: Vec<[f64; 3]> =
            (1..).map(proposal).filter(below).map(|(p, _)| p).take(COUNT).collect();
        assert!(positions == expected);
    }

    #[test]
    fn no_inflow_is_refused() {
        let still = flux(&disc(), &first(), &Domain::unbounded(), &mut still, "turn it");
        let still = message(still);
        assert!(still.contains("nothing flows in") && still.contains("move it"), "{still}");
        let out = message(flux_through(&disc(), |_| [0.0, 0.0, -1.0]));
        assert!(out.contains("normal (0, 0, 1)") && out.contains("turn it"), "{out}");
        let spot = |p: [f64; 3]| [0.0, 0.0, f64::from(u8::from(p[0].hypot(p[1]) < 0.02))];
        let limited = message(flux_through(&disc(), spot));
        assert!(limited.contains("limited to a small part"), "{limited}");
        let domain = Domain::new([10.0; 3], [11.0; 3]).unwrap();
        let mut unused = |_: &[[f64; 3]]| panic!("no position is in the domain");
        assert!(
            message(flux(&disc(), &first(), &domain, &mut unused, "")).contains("nothing flows")
        );
    }

    #[test]
    fn velocity_errors_are_returned() {
        let mut broken = |_: &[[f64; 3]]| Err(Error::Execution("lost".into()));
        let failed = flux(&disc(), &first(), &Domain::unbounded(), &mut broken, "");
        assert!(matches!(failed, Err(Error::Execution(_))));
    }
}

//! Damped Newton steps for sums of squares (K. Levenberg, 1944; D. W. Marquardt, 1963).

use super::{
    Found, Problem, Residuals, STEP,
    errors::{inverse, product},
};

/// Changes of the sum of squares, in parts of it, and of the parameters, in parts of their ranges, at which the search ends.
const TOLERANCE: f64 = 1e-8;
/// Gains that a step promises, in parts of the sum of squares at the start, which are nothing: with data of a model without errors, rounding is
/// all that is left.
const NOTHING: f64 = 1e-11;
/// Factors of the damping after a step that helps and one that does not.
const DAMPING: [f64; 2] = [0.1, 10.0];
/// The shortest step of differences, in parts of the ranges: positions are known in single precision.
const SHORTEST: f64 = 3e-5;
/// Steps that do not help, one after another, after which the differences are not smooth enough.
const MAX_FAILED: usize = 6;

/// Searches from a start. It ends without convergence where steps do not help, or the number of differences changes.
pub(super) fn search<E>(problem: &Problem<E>, start: Vec<f64>) -> Result<Found, E> {
    let (mut at, mut damping, mut failed) = (start, 1e-3, 0);
    let mut here = problem.residuals(&at)?;
    let (nothing, mut slopes) = (NOTHING * here.sum_of_squares(), None);
    // Where the differences bend, they are taken over a shorter way near the end.
    let mut reach = STEP;
    while failed < MAX_FAILED && problem.left() > at.len() {
        let slopes_here = match slopes.take() {
            Some(slopes) => slopes,
            None => match derivatives(problem, (&at, reach), &here)? {
                Some(slopes) => slopes,
                None => break,
            },
        };
        let sum = here.sum_of_squares();
        let Some((step, promised)) = step(&slopes_here, &here, &at, damping) else { break };
        let next: Vec<f64> = at.iter().zip(step).map(|(x, d)| (x + d).clamp(0.0, 1.0)).collect();
        let moved = at.iter().zip(&next).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()));
        if sum == 0.0 || moved < TOLERANCE {
            return Ok(Found { at, has_converged: true });
        }
        let there = problem.residuals(&next)?;
        let gain = sum - there.sum_of_squares();
        let is_better = gain >= 0.0 && is_alike(&here, &there);
        if !is_better && promised <= nothing {
            return Ok(Found { at, has_converged: true });
        }
        if !is_better && reach > SHORTEST {
            reach = SHORTEST;
            continue;
        }
        if !is_better {
            (failed, damping, slopes) = (failed + 1, damping * DAMPING[1], Some(slopes_here));
            continue;
        }
        (at, here, failed, damping) = (next, there, 0, damping * DAMPING[0]);
        reach = (0.1 * moved).clamp(SHORTEST, STEP);
        if gain <= TOLERANCE * sum || promised <= nothing {
            return Ok(Found { at, has_converged: true });
        }
    }
    Ok(Found { at, has_converged: false })
}

/// Whether differences are those of the same data.
fn is_alike(a: &Residuals, b: &Residuals) -> bool {
    a.groups.iter().map(Vec::len).eq(b.groups.iter().map(Vec::len))
}

/// The derivative of each difference by each fraction, one-sided; `None` if the differences are not those of the same data.
fn derivatives<E>(
    problem: &Problem<E>,
    (at, reach): (&[f64], f64),
    here: &Residuals,
) -> Result<Option<Vec<Vec<f64>>>, E> {
    let mut all = Vec::new();
    for i in 0..at.len() {
        let step = if at[i] > 0.5 { -reach } else { reach };
        let mut there = at.to_vec();
        there[i] += step;
        let there = problem.residuals(&there)?;
        if !is_alike(here, &there) {
            return Ok(None);
        }
        all.push(there.all().zip(here.all()).map(|(b, a)| (b - a) / step).collect());
    }
    Ok(Some(all))
}

/// The damped step of the fractions that are not held at a bound, and the gain that it promises; `None` if the differences determine none of them.
fn step(
    slopes: &[Vec<f64>],
    here: &Residuals,
    at: &[f64],
    damping: f64,
) -> Option<(Vec<f64>, f64)> {
    let residuals: Vec<f64> = here.all().collect();
    let downhill: Vec<f64> = slopes.iter().map(|slopes| -product(slopes, &residuals)).collect();
    let is_free = |i: &usize| {
        let is_held = at[*i] <= 0.0 && downhill[*i] < 0.0 || at[*i] >= 1.0 && downhill[*i] > 0.0;
        !is_held && product(&slopes[*i], &slopes[*i]) > 0.0
    };
    let free: Vec<usize> = (0..at.len()).filter(is_free).collect();
    let mut step = vec![0.0; at.len()];
    if free.is_empty() {
        return slopes.iter().flatten().any(|x| *x != 0.0).then_some((step, 0.0));
    }
    let normal = free.iter().map(|i| {
        let row = free.iter().map(|j| {
            let factor = if i == j { 1.0 + damping } else { 1.0 };
            factor * product(&slopes[*i], &slopes[*j])
        });
        row.collect()
    });
    let inverse = inverse(normal.collect())?;
    for (row, i) in inverse.iter().zip(&free) {
        step[*i] = row.iter().zip(&free).map(|(x, j)| x * downhill[*j]).sum();
    }
    let promised = product(&step, &downhill);
    Some((step, promised))
}

//! The voxels of a command line.

use crate::{
    args::ResidenceArgs,
    density::corner,
    file::Misuse,
    format::{bytes, count},
    job,
    results::{AXES, Results},
};
use anyhow::Result;
use burntrace::analysis::residence::Voxels;

/// Default number of voxels along the longest side.
const ALONG: usize = 64;
/// Bytes of memory for each voxel: a tally, and the result.
const BYTES: u64 = 88;

/// The voxels: those of the arguments, by default cubes in the domain.
pub fn of(args: &ResidenceArgs, results: &Results) -> Result<Voxels> {
    let extended = results.axes();
    if extended.is_empty() {
        return Err(Misuse::error("the domain of the run is a point, which has no voxels"));
    }
    let domain = results.domain;
    let mut low = corner("--low", &args.low, domain[0])?;
    let mut high = corner("--high", &args.high, domain[1])?;
    for d in (0..3).filter(|d| !extended.contains(d)) {
        (low[d], high[d]) = (domain[0][d], domain[0][d]);
    }
    for d in &extended {
        check_side(*d, [low[*d], high[*d]], results)?;
    }
    let voxels = match args.cells[..] {
        [] => by_default(low, high, results),
        _ => Voxels { counts: counts(&args.cells, &extended)?, low, high },
    };
    check_memory(&voxels)?;
    Ok(voxels)
}

/// Cubes; on a sphere squares in degrees, over all heights.
fn by_default(low: [f64; 3], high: [f64; 3], results: &Results) -> Voxels {
    match results.radius() {
        Some(_) => {
            let squares = Voxels::cubes(low, [high[0], high[1], low[2]], ALONG);
            Voxels { counts: squares.counts, low, high }
        }
        None => Voxels::cubes(low, high, ALONG),
    }
}

/// Numbers of voxels along all axes: one for each extended axis, or one for all of them, or three.
fn counts(given: &[usize], extended: &[usize]) -> Result<[usize; 3]> {
    let mut counts = [1; 3];
    match *given {
        [x, y, z] => {
            counts = [x, y, z];
            if let Some(d) = (0..3).find(|d| counts[*d] > 1 && !extended.contains(d)) {
                return Err(Misuse::error(format!(
                    "--cells gives {} along {}, and the domain of the run is flat there; give 1",
                    counts[d], AXES[d]
                )));
            }
        }
        [all] => extended.iter().for_each(|d| counts[*d] = all),
        _ if given.len() == extended.len() => {
            extended.iter().zip(given).for_each(|(d, count)| counts[*d] = *count);
        }
        _ => {
            return Err(Misuse::error(format!(
                "--cells has {} numbers; give one, three, or one for each of the {} axes of the domain",
                given.len(),
                extended.len()
            )));
        }
    }
    Ok(counts)
}

/// Refuses voxels without extent along an axis of the domain, or beside it.
fn check_side(d: usize, [low, high]: [f64; 2], results: &Results) -> Result<()> {
    let (name, [first, last]) = (AXES[d], results.domain.map(|corner| corner[d]));
    if !(low < high && low.is_finite() && high.is_finite()) {
        return Err(Misuse::error(format!(
            "the voxels extend from {low} to {high} along {name}; give finite corners with --low and --high, the lower \
             one first"
        )));
    }
    let period = results.tracks.periods()[d];
    let is_beside = |shift: f64| high + shift <= first || low + shift >= last;
    let beside = match period > 0.0 {
        // The image whose low corner is in the domain, and the one before it.
        true => {
            let turns = -((low - first) / period).floor();
            is_beside(turns * period) && is_beside((turns - 1.0) * period)
        }
        false => is_beside(0.0),
    };
    match beside {
        false => Ok(()),
        true => Err(Misuse::error(format!(
            "the voxels extend from {low} to {high} along {name}, outside the domain of the run from {first} to {last}; \
             give coordinates in the domain with --low and --high"
        ))),
    }
}

/// Refuses more voxels than the memory holds. Their maximum number is checked by the library.
fn check_memory(voxels: &Voxels) -> Result<()> {
    let Some(number) = voxels.checked_len() else { return Ok(()) };
    let (needed, free) = (number as u64 * BYTES, job::free_memory());
    match needed <= free {
        true => Ok(()),
        false => Err(Misuse::error(format!(
            "{} voxels need {} of memory, and {} are free; give fewer --cells, or a part of the domain with --low and \
             --high",
            count(number),
            bytes(needed as f64),
            bytes(free as f64)
        ))),
    }
}

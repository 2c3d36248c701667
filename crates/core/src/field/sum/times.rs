//! The times of a sum of fields.

use crate::{
    Error, Floats, OutsideTime, Precision, Result, TimeInterpolation,
    error::short,
    field::{frames::TimeAxis, source::FrameData},
};

/// Part of the time range below which times are equal.
const SLACK: f64 = 1e-9;

/// The times of the frames of all fields at which all of them are known. A steady field has no part in them. Others than the
/// first one have their numbers.
///
/// # Errors
///
/// [`Error::Sum`] if the fields have no time in common, or rules that a sum cannot have.
pub fn common<'a>(
    first: &'a TimeAxis,
    others: impl Iterator<Item = (usize, &'a TimeAxis)>,
) -> Result<Vec<f64>> {
    let all = std::iter::once((0, first)).chain(others);
    let all: Vec<(usize, &TimeAxis)> = all.filter(|(_, axis)| !axis.is_steady()).collect();
    let Some((_, one)) = all.first() else { return Ok(first.times().to_vec()) };
    let have_same_times = all.iter().all(|(_, axis)| axis.times() == one.times());
    for (i, axis) in all.iter().filter(|(i, _)| *i > 0) {
        check_rules(first, (*i, axis), have_same_times)?;
    }
    if have_same_times {
        return Ok(one.times().to_vec());
    }
    let limited = all.iter().filter(|(_, axis)| axis.outside() == OutsideTime::Error);
    let shared = |[a, b]: [f64; 2], [c, d]: [f64; 2]| [a.max(c), b.min(d)];
    let hull = |[a, b]: [f64; 2], [c, d]: [f64; 2]| [a.min(c), b.max(d)];
    let known = limited.map(|(_, axis)| axis.ends()).reduce(shared);
    let all_frames = all.iter().map(|(_, axis)| axis.ends()).reduce(hull);
    let range = known.or(all_frames).unwrap_or(one.ends());
    let frames = all.iter().flat_map(|(_, axis)| within(axis, range));
    let mut times: Vec<f64> = frames.collect();
    times.sort_by(f64::total_cmp);
    times.dedup_by(|b, a| (*b - *a).abs() <= SLACK * (range[1] - range[0]));
    match times.len() {
        0 | 1 => Err(Error::Sum(format!(
            "its fields have no range of time in common: {}; give files of the same time, or `OutsideTime::Hold`",
            ranges(&all)
        ))),
        _ => Ok(times),
    }
}

/// The first and the last time of each field, in words.
fn ranges(all: &[(usize, &TimeAxis)]) -> String {
    let range = |(i, axis): &(usize, &TimeAxis)| {
        let [from, to] = axis.ends().map(short);
        format!("field[{i}] has times from {from} to {to}")
    };
    all.iter().map(range).collect::<Vec<_>>().join(", ")
}

/// The times of the frames of a field in a range, in all of its periods.
fn within(axis: &TimeAxis, [from, to]: [f64; 2]) -> impl Iterator<Item = f64> {
    let ([first, last], period) = (axis.ends(), axis.period());
    let periods = match axis.repeats() {
        true => ((from - last) / period).floor() as i64..=((to - first) / period).ceil() as i64,
        false => 0..=0,
    };
    let of_period = move |k: i64| axis.times().iter().map(move |t| t + k as f64 * period);
    periods.flat_map(of_period).filter(move |t| (from..=to).contains(t))
}

/// Refuses rules of a field, in time and outside its times, that its sum with others cannot have.
fn check_rules(
    first: &TimeAxis,
    (i, axis): (usize, &TimeAxis),
    have_same_times: bool,
) -> Result<()> {
    let fail = |text: String| Err(Error::Sum(format!("field[{i}]: {text}")));
    let (of_sum, own) = (first.outside(), axis.outside());
    let fits = match of_sum {
        OutsideTime::Error => own != OutsideTime::Zero,
        OutsideTime::Hold => own == OutsideTime::Hold,
        OutsideTime::Zero | OutsideTime::Periodic { .. } => own == of_sum && have_same_times,
    };
    if !fits {
        return fail(format!(
            "its rule outside its times is {own:?}, and that of field[0], which is that of the sum, {of_sum:?}; give \
             field[0] the rule Error and the others Error, Hold or Periodic, or all of them Hold, or all of them the same rule \
             and frames at the same times (`OutsideTime`)"
        ));
    }
    let in_time = axis.clock().in_time;
    let is_linear = in_time == TimeInterpolation::Linear;
    match in_time == first.clock().in_time && (is_linear || have_same_times) {
        true => Ok(()),
        false => fail(
            "velocities of fields with frames at several times are interpolated linearly in time; give \
             all of them `TimeInterpolation::Linear`"
                .into(),
        ),
    }
}

/// The mean of two frames, the second with a weight; hidden where one of them is.
pub(super) fn mean(a: &FrameData, b: &FrameData, weight: f64) -> FrameData {
    let of = |a: &Floats, b: &Floats, precision: Precision| match a.len() == b.len() {
        // Exact where both are equal, as on land.
        true => Floats::from_f64(
            precision,
            (0..a.len()).map(|i| a.get(i) + weight * (b.get(i) - a.get(i))),
        ),
        false => a.clone(),
    };
    let own = |a: &Floats, b: &Floats| of(a, b, a.precision());
    let arrays = a.arrays.iter().zip(&b.arrays).map(|(a, b)| own(a, b)).collect();
    let diffusivity = a.diffusivity.as_ref().zip(b.diffusivity.as_ref()).map(|(a, b)| own(a, b));
    let scaled = a.scaled_velocity.as_ref().zip(b.scaled_velocity.as_ref());
    let scaled = scaled.map(|(a, b)| own(a, b));
    let hidden = match (a.hidden(), b.hidden()) {
        (Some(a), Some(b)) => Some(a.iter().zip(b).map(|(a, b)| *a || *b).collect()),
        (one, other) => one.or(other).map(<[bool]>::to_vec),
    };
    let velocity = of(&a.velocity, &b.velocity, Precision::F64);
    let mean = FrameData::new(velocity).with_hidden(hidden).with_diffusivity(diffusivity);
    mean.with_scaled_velocity(scaled).with_arrays(arrays)
}

#[cfg(test)]
mod tests {
    use super::*;
    use OutsideTime::{Error as Limited, Hold, Periodic, Zero};

    fn axis(times: &[f64], outside: OutsideTime) -> TimeAxis {
        TimeAxis::new(times.to_vec(), outside, TimeInterpolation::Linear).unwrap()
    }

    fn common_of(all: &[TimeAxis]) -> Result<Vec<f64>> {
        common(&all[0], (1..).zip(&all[1..]))
    }

    #[test]
    fn times_are_those_of_all_frames_in_the_common_range() {
        let period = Periodic { period: Some(3.0) };
        for (all, expected) in [
            (vec![axis(&[0.0], Limited), axis(&[5.0], Limited)], vec![0.0]),
            (vec![axis(&[0.0], Limited), axis(&[1.0, 2.0], Limited)], vec![1.0, 2.0]),
            (vec![axis(&[1.0, 2.0], Limited), axis(&[7.0], Limited)], vec![1.0, 2.0]),
            (
                vec![axis(&[0.0, 2.0, 4.0], Limited), axis(&[1.0, 2.0 + 1e-12, 5.0], Limited)],
                vec![1.0, 2.0, 4.0],
            ),
            (vec![axis(&[0.0, 2.0], Limited), axis(&[1.0, 3.0], Hold)], vec![0.0, 1.0, 2.0]),
            (vec![axis(&[0.0, 2.0], Hold), axis(&[1.0, 3.0], Hold)], vec![0.0, 1.0, 2.0, 3.0]),
            (
                vec![axis(&[0.0, 7.0], Limited), axis(&[0.5, 2.5], period)],
                vec![0.0, 0.5, 2.5, 3.5, 5.5, 6.5, 7.0],
            ),
            (
                vec![axis(&[-2.0, 1.0], Limited), axis(&[0.5, 2.5], Periodic { period: None })],
                vec![-2.0, -1.5, 0.5, 1.0],
            ),
            (vec![axis(&[0.0, 1.0], period), axis(&[0.0, 1.0], period)], vec![0.0, 1.0]),
        ] {
            assert_eq!(common_of(&all).unwrap(), expected);
        }
    }

    #[test]
    fn rules_that_do_not_fit_are_refused() {
        let period = Periodic { period: Some(3.0) };
        let refused = |all: &[TimeAxis]| common_of(all).unwrap_err().to_string();
        for (of_sum, own) in
            [(Limited, Zero), (Hold, Limited), (Hold, period), (Zero, Hold), (period, period)]
        {
            let text = refused(&[axis(&[0.0, 2.0], of_sum), axis(&[1.0, 2.0], own)]);
            assert!(text.contains("field[1]: its rule outside its times"), "{text}");
        }
        let text = refused(&[axis(&[0.0, 2.0], Limited), axis(&[3.0, 4.0], Limited)]);
        let expected = "no range of time in common: field[0] has times from 0 to 2, field[1]";
        assert!(text.contains(expected), "{text}");
        let nearest = |times: &[f64]| {
            TimeAxis::new(times.to_vec(), Limited, TimeInterpolation::Nearest).unwrap()
        };
        let text = refused(&[axis(&[0.0, 2.0], Limited), nearest(&[0.0, 2.0])]);
        assert!(text.contains("`TimeInterpolation::Linear`"), "{text}");
        refused(&[nearest(&[0.0, 2.0]), nearest(&[0.0, 1.0])]);
        assert!(common_of(&[nearest(&[0.0, 2.0]), nearest(&[0.0, 2.0])]).is_ok());
    }
}

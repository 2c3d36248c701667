//! A quantity over two varied keys, as a raster.

use super::axis::KeyAxis;
use burntrace_plot::{Axis, Raster};

/// Samples along an axis whose values are not evenly spaced.
const SAMPLES: usize = 400;
/// Deviation from even spacing, in steps, that counts as rounding.
const ROUNDING: f64 = 1e-6;

/// A raster of values at numbers of two keys; cells without a value are NaN. Where numbers are not evenly spaced, a cell reaches to the
/// middles between them. The decimal logarithm takes the place of numbers on logarithmic axes.
pub fn raster(keys: [&KeyAxis; 2], cells: &[([f64; 2], f64)]) -> Raster {
    let mut scales = keys.map(Scale::of);
    // Axes of one unit have one scale, and keys are no lengths in a plane: their numbers tell them apart.
    for (scale, number) in scales.iter_mut().zip(["first key", "second key"]) {
        let unit = &mut scale.axis.unit;
        *unit = if unit.is_empty() { number.into() } else { format!("{unit}, {number}") };
    }
    let counts = [0, 1].map(|i| scales[i].places.len());
    let mut values = Vec::with_capacity(counts[0] * counts[1]);
    for y in &scales[1].places {
        for x in &scales[0].places {
            let is_here = |(at, _): &&([f64; 2], f64)| at == &[*x, *y];
            values.push(cells.iter().find(is_here).map_or(f32::NAN, |(_, value)| *value as f32));
        }
    }
    Raster { axes: scales.map(|scale| scale.axis), counts, values, ..Raster::default() }
}

/// The samples along an axis.
struct Scale {
    axis: Axis,
    /// For each sample, the number of the key.
    places: Vec<f64>,
}

impl Scale {
    fn of(key: &KeyAxis) -> Scale {
        let numbers = key.sorted();
        let (name, unit) = (key.name.clone(), key.unit());
        let (name, unit, at) = match key.is_log() {
            true => (format!("log10 of {name}"), unit, numbers.iter().map(|x| x.log10()).collect()),
            false => (name, unit, numbers.clone()),
        };
        let at: Vec<f64> = at;
        let ends = [at[0], at[at.len() - 1]];
        let step = (ends[1] - ends[0]) / (at.len() - 1) as f64;
        let is_even = at
            .iter()
            .enumerate()
            .all(|(i, x)| (x - ends[0] - i as f64 * step).abs() < ROUNDING * step);
        if is_even {
            return Scale { axis: Axis { name, unit, range: ends }, places: numbers };
        }
        // From half a gap before the first number to half a gap behind the last one.
        let low = at[0] - 0.5 * (at[1] - at[0]);
        let high = ends[1] + 0.5 * (ends[1] - at[at.len() - 2]);
        let width = (high - low) / SAMPLES as f64;
        let samples = (0..SAMPLES).map(|i| low + (i as f64 + 0.5) * width);
        let nearest = |x: f64| {
            let distance = |i: &usize| (at[*i] - x).abs();
            let i = (0..at.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)));
            numbers[i.unwrap_or(0)]
        };
        let range = [low + 0.5 * width, high - 0.5 * width];
        Scale { axis: Axis { name, unit, range }, places: samples.map(nearest).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::vary::Vary;
    use super::*;

    fn key(text: &str) -> KeyAxis {
        KeyAxis::of(&Vary::parse(text).unwrap()).unwrap()
    }

    #[test]
    fn cells_are_at_the_numbers_of_the_keys_and_missing_ones_are_nan() {
        let keys = [key("a.b=3,1,2"), key("c.d=10,20")];
        let cells = [([1.0, 10.0], 5.0), ([3.0, 10.0], 7.0), ([2.0, 20.0], 9.0)];
        let map = raster([&keys[0], &keys[1]], &cells);
        assert_eq!(
            (map.counts, map.axes[0].range, map.axes[1].range),
            ([3, 2], [1.0, 3.0], [10.0, 20.0])
        );
        let known: Vec<Option<f32>> =
            map.values.iter().map(|x| Some(*x).filter(|x| !x.is_nan())).collect();
        assert_eq!(known, [Some(5.0), None, Some(7.0), None, Some(9.0), None]);
    }

    #[test]
    fn uneven_numbers_have_wider_cells_and_large_ratios_logarithms() {
        let keys = [key("a.b=1,2,5"), key("c.d=0.1,1,10")];
        let map = raster([&keys[0], &keys[1]], &[([5.0, 1.0], 2.0)]);
        assert_eq!((map.counts, map.axes[1].range), ([SAMPLES, 3], [-1.0, 1.0]));
        assert_eq!(map.axes[1].name, "log10 of c.d");
        // The cell at 5 is from 3.5 to 6.5, of 0.5 to 6.5.
        let known = map.values.iter().filter(|x| !x.is_nan()).count();
        assert_eq!(known, SAMPLES / 2);
    }
}

//! Mean, standard deviation and confidence interval of a quantity over the runs of an ensemble.
//!
//! ```
//! use burntrace_analysis::ensemble::Spread;
//!
//! let found = Spread::of(&[1.0, 2.0, 3.0, 4.0], 0.95);
//! assert_eq!((found.count, found.mean), (4, Some(2.5)));
//! let [low, high] = found.interval.unwrap_or_default();
//! assert!((low - 0.4457).abs() < 1e-4 && (high - 4.5543).abs() < 1e-4);
//! ```

use serde::{Deserialize, Serialize};

/// The distribution of a quantity over independent runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Number of runs with a finite value.
    pub count: usize,
    /// Their mean, in the unit of the quantity; `None` without values.
    pub mean: Option<f64>,
    /// Their standard deviation (over n - 1), in the unit of the quantity; `None` for fewer than two
    /// values.
    pub deviation: Option<f64>,
    /// The confidence interval of the mean by Student's t distribution, which assumes values that are
    /// independent and about normal; `None` for fewer than two values.
    pub interval: Option<[f64; 2]>,
}

impl Spread {
    /// The spread of values, of which those that are not finite are left out. `confidence` is the
    /// probability of the interval, above 0 and below 1, such as 0.95.
    pub fn of(values: &[f64], confidence: f64) -> Spread {
        let values = || values.iter().copied().filter(|x| x.is_finite());
        let count = values().count();
        if count == 0 {
            return Spread::default();
        }
        let n = count as f64;
        let mean = values().sum::<f64>() / n;
        if count == 1 {
            return Spread { count, mean: Some(mean), ..Spread::default() };
        }
        let squares: f64 = values().map(|x| (x - mean).powi(2)).sum();
        let deviation = (squares / (n - 1.0)).sqrt();
        let half = t_quantile(confidence, count - 1) * deviation / n.sqrt();
        Spread {
            count,
            mean: Some(mean),
            deviation: Some(deviation),
            interval: Some([mean - half, mean + half]),
        }
    }
}

/// The number that the absolute value of a variable with Student's t distribution does not exceed with
/// a probability between 0 and 1. `degrees` is the number of degrees of freedom, 1 or more.
///
/// Bisection of the distribution function for whole degrees of freedom: Abramowitz and Stegun, *Handbook
/// of Mathematical Functions*, 26.7.3 and 26.7.4.
pub fn t_quantile(probability: f64, degrees: usize) -> f64 {
    // In the angle of 26.7.3, which is finite.
    let (mut low, mut high) = (0.0, std::f64::consts::FRAC_PI_2);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        match within(middle, degrees) < probability {
            true => low = middle,
            false => high = middle,
        }
    }
    (degrees as f64).sqrt() * (0.5 * (low + high)).tan()
}

/// The probability that |t| is at most sqrt(degrees) tan(angle).
fn within(angle: f64, degrees: usize) -> f64 {
    let (sine, cosine) = angle.sin_cos();
    let is_odd = degrees % 2 == 1;
    // The powers of the cosine: 1, 3, ... for odd degrees and 0, 2, ... for even ones.
    let (mut term, mut sum) = (if is_odd { cosine } else { 1.0 }, 0.0);
    let mut power = usize::from(is_odd);
    while power + 2 <= degrees {
        sum += term;
        power += 2;
        term *= cosine * cosine * (power - 1) as f64 / power as f64;
    }
    match is_odd {
        true => std::f64::consts::FRAC_2_PI * (angle + sine * sum),
        false => sine * sum,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_t_are_those_of_the_tables() {
        for (degrees, expected) in [
            (1, 12.7062),
            (2, 4.30265),
            (3, 3.18245),
            (4, 2.77645),
            (9, 2.26216),
            (49, 2.00958),
            (50, 2.00856),
            (1000, 1.96234),
        ] {
            let found = t_quantile(0.95, degrees);
            assert!((found / expected - 1.0).abs() < 3e-6, "{degrees}: {found}");
        }
        assert!((t_quantile(0.99, 5) - 4.03214).abs() < 1e-5);
    }

    #[test]
    fn few_values_have_no_interval() {
        assert_eq!(Spread::of(&[f64::NAN], 0.95), Spread::default());
        let one = Spread::of(&[3.0, f64::INFINITY], 0.95);
        assert_eq!((one.count, one.mean, one.deviation, one.interval), (1, Some(3.0), None, None));
        let same = Spread::of(&[2.0; 5], 0.95);
        assert_eq!((same.deviation, same.interval), (Some(0.0), Some([2.0; 2])));
    }
}

//! Sums over the values of sampled arrays.

use super::ArrayStatistics;
use burntrace_core::FieldArray;

/// Sums over the values of one component at a save.
#[derive(Clone, Debug, Default)]
struct ValueMoments {
    count: u64,
    mean: f64,
    squares: f64,
    min: f64,
    max: f64,
}

/// Sums over the values of all components of all arrays; empty before the first particle.
#[derive(Clone, Debug, Default)]
pub(super) struct ArrayMoments(Vec<ValueMoments>);

impl ArrayMoments {
    /// Adds the values of a particle, by Welford's method. Values that are not finite do not count.
    pub fn add(&mut self, values: &[f64]) {
        self.0.resize(values.len(), ValueMoments::default());
        let finite = |(_, value): &(&mut ValueMoments, &f64)| value.is_finite();
        for (sums, value) in self.0.iter_mut().zip(values).filter(finite) {
            let is_first = sums.count == 0;
            sums.count += 1;
            let deviation = *value - sums.mean;
            sums.mean += deviation / sums.count as f64;
            sums.squares += deviation * (*value - sums.mean);
            sums.min = if is_first { *value } else { sums.min.min(*value) };
            sums.max = if is_first { *value } else { sums.max.max(*value) };
        }
    }

    /// Adds the sums over other particles, by the method of Chan, Golub and LeVeque.
    pub fn merge(&mut self, other: &Self) {
        self.0.resize(self.0.len().max(other.0.len()), ValueMoments::default());
        for (sums, other) in self.0.iter_mut().zip(&other.0).filter(|(_, other)| other.count > 0) {
            if sums.count == 0 {
                *sums = other.clone();
                continue;
            }
            let [n, m] = [sums.count as f64, other.count as f64];
            let apart = other.mean - sums.mean;
            sums.count += other.count;
            sums.mean += apart * (m / (n + m));
            sums.squares += other.squares + apart * apart * (n * m / (n + m));
            sums.min = sums.min.min(other.min);
            sums.max = sums.max.max(other.max);
        }
    }

    /// The statistics of each component of the arrays.
    pub fn to_statistics(&self, arrays: &[FieldArray]) -> Vec<ArrayStatistics> {
        let components = arrays.iter().flat_map(|FieldArray { name, components }| {
            (0..*components).map(move |c| (name, (*components > 1).then_some(c)))
        });
        let none = ValueMoments::default();
        let sums = self.0.iter().chain(std::iter::repeat(&none));
        components.zip(sums).map(|((name, component), sums)| sums.of(name, component)).collect()
    }
}

impl ValueMoments {
    fn of(&self, name: &str, component: Option<usize>) -> ArrayStatistics {
        let if_any = |x: f64| (self.count > 0).then_some(x);
        ArrayStatistics {
            name: name.to_owned(),
            component,
            count: self.count,
            mean: if_any(self.mean),
            variance: if_any(self.squares / self.count.max(1) as f64),
            min: if_any(self.min),
            max: if_any(self.max),
        }
    }
}

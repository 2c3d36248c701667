//! Seeds that are repeated in time, and several sets of seeds as one.

use super::{Seeds, check_count, check_finite, reserve};
use crate::{Error, Result, error::short, sphere::CIRCLE};
use burn::tensor::{Device, Int, Tensor, TensorData};

/// Fraction of an interval that is attributed to rounding.
const SLACK: f64 = 1e-9;

impl Seeds {
    /// The seeds released again and again: at their release time, and every interval `every` after it,
    /// until the time `until`, inclusive. Before the release time, if `until` is earlier, as for
    /// backward runs. The batches follow one another, each in the order of the seeds.
    ///
    /// The batches of tracked positions stay in the graph of the given tensor.
    ///
    /// # Errors
    ///
    /// [`Error::Seeds`] if the seeds have no release time, if the interval is not positive, if `until`
    /// is not finite or between the release times, or if there would be too many seeds.
    pub fn repeat(self, every: f64, until: f64) -> Result<Self> {
        check_finite("the end of the repetition", &[until])?;
        if !(every.is_finite() && every > 0.0) {
            return Err(Error::Seeds(format!(
                "they are released every {}; give a positive interval",
                short(every)
            )));
        }
        if self.is_empty() {
            return Ok(self);
        }
        let times = self.times_before(until)?;
        let counts = times.iter().map(|time| Seeds::num_releases(*time, every, until));
        let counts: Vec<usize> = counts.collect();
        let total = counts.iter().copied().fold(0, usize::saturating_add);
        check_count(total)?;
        let mut rows = Vec::new();
        reserve(&mut rows, total)?;
        let mut due: Vec<usize> = (0..times.len()).collect();
        for k in 0..counts.iter().copied().max().unwrap_or(0) {
            due.retain(|i| k < counts[*i]);
            let time = |i: usize| times[i] + (k as f64 * every).copysign(until - times[i]);
            rows.extend(due.iter().map(|i| (*i, time(*i))));
        }
        self.rows(&rows)
    }

    /// The number of releases of a seed that is [repeated](Seeds::repeat) from a time on.
    pub fn num_releases(time: f64, every: f64, until: f64) -> usize {
        (((until - time).abs() / every + SLACK).floor() as usize).saturating_add(1)
    }

    /// The release times, which must all be before the end of a repetition, or all after it.
    fn times_before(&self, until: f64) -> Result<&[f64]> {
        let times = self.release().ok_or_else(|| {
            Error::Seeds(
                "they have no release time from which to repeat; set it with `release_at`".into(),
            )
        })?;
        let is_backward = times.iter().any(|time| *time > until);
        match times.iter().find(|time| is_backward && **time < until) {
            None => Ok(times),
            Some(ahead) => Err(Error::Seeds(format!(
                "their release times, such as {}, are before and after the end of the repetition at {}; \
                 give an end after all of them, or before all of them for a backward run",
                short(*ahead),
                short(until)
            ))),
        }
    }

    /// Seeds that are rows of these, each at a release time.
    fn rows(&self, rows: &[(usize, f64)]) -> Result<Self> {
        self.check_release("be repeated")?;
        let tensor = self.tensor.as_ref().map(|given| {
            let index: Vec<i32> = rows.iter().map(|(i, _)| *i as i32).collect();
            let index = TensorData::new(index, [rows.len()]);
            given.clone().select(0, Tensor::<1, Int>::from_data(index, &given.device()))
        });
        let mut position = Vec::new();
        reserve(&mut position, rows.len())?;
        position.extend(rows.iter().map(|(i, _)| self.position[*i]));
        let of_rows = |(name, all): &(String, Vec<f64>)| {
            (name.clone(), rows.iter().map(|(i, _)| all[*i]).collect())
        };
        Ok(Seeds {
            position,
            tensor,
            release: Some(rows.iter().map(|(_, time)| *time).collect()),
            release_tensor: None,
            columns: self.columns.iter().map(of_rows).collect(),
        })
    }

    /// Some of the seeds, by their indices: a batch of training data, for example.
    ///
    /// # Errors
    ///
    /// [`Error::Seeds`] for an index beyond the last seed, and without indices.
    pub fn select(&self, indices: &[usize]) -> Result<Self> {
        check_count(indices.len())?;
        if let Some(beyond) = indices.iter().find(|i| **i >= self.len()) {
            return Err(Error::Seeds(format!(
                "the index {beyond} is not one of {} seeds; give numbers below that",
                self.len()
            )));
        }
        let index: Vec<i32> = indices.iter().map(|i| *i as i32).collect();
        let index = |device: &Device| {
            Tensor::<1, Int>::from_data(TensorData::new(index.clone(), [index.len()]), device)
        };
        let of = |all: &Vec<f64>| indices.iter().map(|i| all[*i]).collect();
        let tensor = |given: &Tensor<2>| given.clone().select(0, index(&given.device()));
        let times = |given: &Tensor<1>| given.clone().select(0, index(&given.device()));
        Ok(Seeds {
            position: indices.iter().map(|i| self.position[*i]).collect(),
            tensor: self.tensor.as_ref().map(tensor),
            release: self.release.as_ref().map(of),
            release_tensor: self.release_tensor.as_ref().map(times),
            columns: self.columns.iter().map(|(name, all)| (name.clone(), of(all))).collect(),
        })
    }

    /// Refuses release times in a graph, which would be cut.
    fn check_release(&self, what: &str) -> Result<()> {
        match self.tracked_release() {
            None => Ok(()),
            Some(_) => Err(Error::Seeds(format!(
                "their release times track gradients, and cannot {what}; give the times of all seeds as one tensor"
            ))),
        }
    }

    /// Moves longitudes in degrees by whole turns into a range, where they fit into it.
    pub fn within_longitudes(mut self, low: f64, high: f64) -> Self {
        for [lon, ..] in &mut self.position {
            let moved = low + (*lon - low).rem_euclid(CIRCLE);
            if !(low..=high).contains(lon) && moved <= high {
                *lon = moved;
            }
        }
        self
    }

    /// Makes positions that are uniform in degrees of latitude from `south` to `north` uniform by area on a sphere.
    pub fn by_area(mut self, south: f64, north: f64) -> Self {
        let [low, high] = [south, north].map(|lat| lat.to_radians().sin());
        if south < north {
            for [_, lat, _] in &mut self.position {
                let part = (*lat - south) / (north - south);
                *lat = (low + part * (high - low)).clamp(-1.0, 1.0).asin().to_degrees();
            }
        }
        self
    }

    /// These seeds, followed by others. If positions of one are tracked, the others become constants in
    /// the same tensor. Columns are kept that both have.
    ///
    /// # Errors
    ///
    /// [`Error::Seeds`] if only one of them has release times, or if there are too many seeds.
    pub fn join(mut self, other: Seeds) -> Result<Self> {
        if other.is_empty() {
            return Ok(self);
        }
        if self.is_empty() {
            return Ok(other);
        }
        check_count(self.len().saturating_add(other.len()))?;
        if self.release.is_some() != other.release.is_some() {
            let names = ["the first", "the second"];
            let [with, without] = if self.release.is_some() { [0, 1] } else { [1, 0] };
            return Err(Error::Seeds(format!(
                "{} {} of them have release times, and {} {} start with the run; give the latter the start \
                 time of the run with `release_at`",
                names[with],
                [self.len(), other.len()][with],
                names[without],
                [self.len(), other.len()][without]
            )));
        }
        self.check_release("be joined")?;
        other.check_release("be joined")?;
        self.release_tensor = None;
        self.tensor = joined_tensor(&self, &other);
        reserve(&mut self.position, other.len())?;
        self.position.extend(other.position);
        if let (Some(times), Some(others)) = (&mut self.release, other.release) {
            times.extend(others);
        }
        self.columns.retain_mut(|(name, all)| {
            let more = other.columns.iter().find(|(known, _)| known == name);
            all.extend(more.into_iter().flat_map(|(_, more)| more));
            more.is_some()
        });
        Ok(self)
    }
}

/// The tensor of both positions, if one of them is tracked; an untracked tensor is not needed.
fn joined_tensor(first: &Seeds, second: &Seeds) -> Option<Tensor<2>> {
    let tracked = [first, second].into_iter().find(|seeds| seeds.is_tracked())?;
    let beside = tracked.tensor.as_ref()?;
    let (device, dtype) = (beside.device(), beside.dtype());
    let part = |seeds: &Seeds| match &seeds.tensor {
        Some(given) if given.device() == device => given.clone().cast(dtype),
        Some(given) => given.clone().to_device(&device).cast(dtype),
        None => {
            let numbers = seeds.position.as_flattened().to_vec();
            let data = TensorData::new(numbers, [seeds.len(), 3]);
            Tensor::from_data(data, (&device, dtype))
        }
    };
    Some(Tensor::cat(vec![part(first), part(second)], 0))
}

#[cfg(test)]
mod tests {
    use super::super::tests::message;
    use super::*;
    use crate::field::evaluate;

    fn pair() -> Seeds {
        Seeds::list(vec![[0.5, 1.0, 2.0], [1.5, 1.0, 2.0]]).unwrap()
    }

    #[test]
    fn repeated_seeds_follow_batch_by_batch() {
        let seeds = pair().release_at(1.0).unwrap().repeat(0.1, 1.3).unwrap();
        assert_eq!(seeds.len(), 8);
        assert_eq!(seeds.positions()[..4], [pair().positions(), pair().positions()].concat());
        let times = seeds.release().unwrap();
        assert_eq!(times[..2], [1.0; 2]);
        // Inclusive, whatever the rounding.
        assert!((times[6] - 1.3).abs() < 1e-12 && times[6] == times[7]);
        let once = pair().release_at(1.0).unwrap().repeat(0.5, 1.0).unwrap();
        assert_eq!(once.release(), Some(&[1.0; 2][..]));
    }

    #[test]
    fn seeds_repeat_backward_if_their_end_is_earlier() {
        let seeds = pair().release_at(2.0).unwrap().repeat(0.5, 1.2).unwrap();
        assert_eq!(seeds.release(), Some(&[2.0, 2.0, 1.5, 1.5][..]));
    }

    #[test]
    fn releases_are_counted_as_they_are_repeated() {
        for (every, until) in [(0.1, 1.3), (0.1, 1.29), (0.3, 1.0), (0.5, -2.0), (9.0, 2.0)] {
            let seeds = pair().release_at(1.0).unwrap().repeat(every, until).unwrap();
            assert_eq!(seeds.len(), 2 * Seeds::num_releases(1.0, every, until), "{every} {until}");
        }
        assert_eq!(Seeds::num_releases(1.0, 0.1, 1.3), 4);
        assert_eq!(Seeds::num_releases(1.0, 5e-324, 2.0), usize::MAX);
        assert_eq!(Seeds::none().repeat(1.0, 2.0).unwrap().len(), 0);
    }

    #[test]
    fn each_seed_repeats_from_its_own_release() {
        let seeds = pair().with_release(vec![0.0, 1.0]).unwrap().repeat(1.0, 2.0).unwrap();
        assert_eq!(seeds.release(), Some(&[0.0, 1.0, 1.0, 2.0, 2.0][..]));
        let [a, b] = [pair().positions()[0], pair().positions()[1]];
        assert_eq!(seeds.positions(), [a, b, a, b, a]);
    }

    #[test]
    fn joined_seeds_keep_their_order_and_times() {
        let early = pair().release_at(1.0).unwrap();
        let late = Seeds::list(vec![[9.0; 3]]).unwrap().release_at(2.0).unwrap();
        let joined = early.clone().join(late).unwrap();
        assert_eq!((joined.len(), joined.positions()[2]), (3, [9.0; 3]));
        assert_eq!(joined.release(), Some(&[1.0, 1.0, 2.0][..]));
        assert_eq!(pair().join(Seeds::none()).unwrap().len(), 2);
        assert_eq!(Seeds::none().join(early).unwrap().release(), Some(&[1.0; 2][..]));
        assert_eq!(pair().join(pair()).unwrap().release(), None);
    }

    #[test]
    fn gradients_reach_each_repetition_and_each_joined_tensor() {
        let device = Device::flex().autodiff();
        let given = Tensor::<2>::from_floats([[0.5, 1.0, 2.0]], &device).require_grad();
        let tracked = Seeds::from_tensor(given.clone()).unwrap().release_at(0.0).unwrap();
        let seeds = tracked.repeat(1.0, 3.0).unwrap();
        let seeds = pair().release_at(0.0).unwrap().join(seeds).unwrap();
        assert!(seeds.is_tracked());
        assert_eq!(seeds.len(), 6);
        let tensor = seeds.tensor(&device, crate::Precision::F64);
        assert_eq!(evaluate::on_host(&tensor).unwrap(), seeds.positions());
        let gradients = tensor.sum().backward();
        assert_eq!(evaluate::on_host(&given.grad(&gradients).unwrap()).unwrap(), [[4.0; 3]]);
    }

    #[test]
    fn errors_name_the_given_values() {
        let early = || pair().release_at(1.0).unwrap();
        assert!(message(pair().repeat(1.0, 2.0)).contains("no release time"));
        assert!(message(early().repeat(0.0, 2.0)).contains("every 0; give a positive"));
        assert!(message(early().repeat(f64::NAN, 2.0)).contains("NaN"));
        assert!(message(early().repeat(1.0, f64::INFINITY)).contains("inf"));
        assert!(message(early().repeat(5e-324, 2.0)).contains("too many"));
        assert!(message(early().repeat(1e-9, 1e9)).contains("too many"));
        let apart = pair().with_release(vec![1.0, 3.0]).unwrap().repeat(0.5, 2.0);
        assert!(message(apart).contains("such as 1, are before and after"));
        let mixed = message(early().join(pair()));
        assert!(mixed.contains("the first 2 of them have release times"), "{mixed}");
    }
}

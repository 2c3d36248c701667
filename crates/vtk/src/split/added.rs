//! Points that are added to those of a file.

/// Points whose positions and values are weighted sums of those at points of the file. The weights of each
/// point sum to 1.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AddedPoints {
    /// The end of each point in the lists.
    ends: Vec<usize>,
    points: Vec<u32>,
    weights: Vec<f64>,
}

impl AddedPoints {
    /// Number of added points.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether none is added.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Iterates over the added points: the points of the file that they depend on, and their weights.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&[u32], &[f64])> {
        self.ends.iter().enumerate().map(|(i, end)| {
            let start = i.checked_sub(1).and_then(|before| self.ends.get(before)).copied();
            let range = start.unwrap_or(0)..*end;
            let points = self.points.get(range.clone()).unwrap_or_default();
            (points, self.weights.get(range).unwrap_or_default())
        })
    }

    /// The value at each added point of a field, `value` at the points of the file.
    pub fn values(&self, value: impl Fn(usize) -> f64) -> impl Iterator<Item = f64> {
        self.iter().map(move |(points, weights)| {
            let values = points.iter().zip(weights);
            values.map(|(point, weight)| weight * value(*point as usize)).sum()
        })
    }

    /// Appends a point.
    pub(super) fn push(&mut self, weights: impl IntoIterator<Item = (u32, f64)>) {
        for (point, weight) in weights {
            self.points.push(point);
            self.weights.push(weight);
        }
        self.ends.push(self.points.len());
    }
}

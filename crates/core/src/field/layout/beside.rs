//! What a frame has beside its velocity: a second one, and arrays.

use super::Layout;
use crate::{
    Error, FieldArray, Floats, Precision, Result,
    field::{lanes::LANES, options::NotFinite},
};

impl Layout {
    /// The rows of the second velocity of a frame.
    pub(super) fn scaled(
        &self,
        (frame, velocity): (usize, Option<Floats>),
        is_hole: impl Fn(usize) -> bool + Sync,
        not_finite: NotFinite,
        precision: Precision,
    ) -> Result<Floats> {
        let mut velocity = velocity.ok_or_else(|| {
            Error::Arrays(format!(
                "frame {frame} has no second velocity, and the source says that it has \
                 (`FrameSource::has_scaled_velocity`); add it (`FrameData::with_scaled_velocity`)"
            ))
        })?;
        self.check_size(frame, &velocity)?;
        if let Some(coast) = &self.coast {
            velocity = coast.filled_beside(velocity);
        }
        let mut rows = Floats::with_capacity(precision, self.values() * LANES);
        let bad = self.put_velocity(&velocity, is_hole, &mut rows);
        if let Some(stored) = &self.stored {
            stored.finish(&mut rows, 0);
        }
        self.check_finite(frame, bad, not_finite)?;
        Ok(rows)
    }

    /// Writes the arrays of a frame into its rows; NaN where they are hidden.
    pub(super) fn put_arrays<T>(
        &self,
        frame: usize,
        arrays: &[Floats],
        is_hidden: impl Fn(usize) -> bool,
        rows: &mut [T],
        cast: impl Fn(f64) -> T,
    ) -> Result<()> {
        let expected = self.lanes.arrays().len();
        if arrays.len() != expected {
            let found = arrays.len();
            return Err(Error::Arrays(format!(
                "frame {frame} has {found} arrays; give the {expected} that the source lists"
            )));
        }
        let (values, order) = (self.values(), self.order());
        for (numbers, (FieldArray { name, components }, first)) in
            arrays.iter().zip(self.lanes.places())
        {
            if numbers.len() != components * self.given {
                return Err(Error::Arrays(format!(
                    "`{name}` has {} numbers in frame {frame}; give {} ({} x {components} components)",
                    numbers.len(),
                    components * self.given,
                    self.name
                )));
            }
            for value in 0..values {
                let i = order.map_or(value, |order| order[value]);
                for component in 0..*components {
                    let lane = first + component;
                    let at = (lane / LANES * values + value) * LANES + lane % LANES;
                    let number = numbers.get(components * i + component);
                    rows[at] = cast(if is_hidden(i) { f64::NAN } else { number });
                }
            }
        }
        Ok(())
    }
}

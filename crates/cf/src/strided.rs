//! Copies between arrays of different layouts.

/// One dimension of a copy: a number of values, and the distances of neighbours in both arrays.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub count: usize,
    /// Distance in the target.
    pub to: usize,
    /// Distance in the source.
    pub from: usize,
}

/// Copies the values of a box, whose corner is the first value of both slices. Returns `None`, after a part
/// of the copy, if a slice is too short.
pub(crate) fn copy<T: Copy>(target: &mut [T], source: &[T], runs: &[Run]) -> Option<()> {
    match runs {
        [] => *target.first_mut()? = *source.first()?,
        [Run { count, to: 1, from: 1 }] => {
            target.get_mut(..*count)?.copy_from_slice(source.get(..*count)?);
        }
        [Run { count, to, from }] => {
            let Some(last) = count.checked_sub(1) else { return Some(()) };
            let (target, source) = (target.get_mut(..=last * to)?, source.get(..=last * from)?);
            // A distance in the source is 0 along a dimension that it does not have, and in the target of a single value.
            let targets = target.iter_mut().step_by((*to).max(1));
            let values = source.iter().step_by((*from).max(1));
            match from {
                0 => targets.for_each(|target| *target = source[0]),
                _ => targets.zip(values).for_each(|(target, value)| *target = *value),
            }
        }
        [Run { count, to, from }, inner @ ..] => {
            for i in 0..*count {
                copy(target.get_mut(i * to..)?, source.get(i * from..)?, inner)?;
            }
        }
    }
    Some(())
}

/// The distances of neighbours along the dimensions of an array whose last dimension varies fastest.
pub(crate) fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1_usize; shape.len()];
    for d in (1..shape.len()).rev() {
        strides[d - 1] = strides[d].saturating_mul(shape[d]);
    }
    strides
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_is_transposed() {
        let source = [1, 2, 3, 4, 5, 6];
        assert_eq!(strides(&[2, 3]), [3, 1]);
        let mut target = [0; 6];
        let runs = [Run { count: 2, to: 1, from: 3 }, Run { count: 3, to: 2, from: 1 }];
        copy(&mut target, &source, &runs).unwrap();
        assert_eq!(target, [1, 4, 2, 5, 3, 6]);
        assert_eq!(copy(&mut target[..5], &source, &runs), None);
        let repeated = [Run { count: 3, to: 2, from: 0 }];
        copy(&mut target, &source[4..], &repeated).unwrap();
        assert_eq!(target, [5, 4, 5, 5, 5, 6]);
        copy(&mut target, &[], &[Run { count: 0, to: 1, from: 2 }]).unwrap();
        assert_eq!(copy(&mut target, &source[..5], &runs), None);
    }
}

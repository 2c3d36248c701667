//! Sampled values that ended particles keep.

use super::{arrays::is_host, rows};
use crate::{Floats, Result, Status};
use burn::tensor::{Bool, Int, Tensor};

/// The values of the last save, which ended particles keep.
#[derive(Default)]
pub(super) struct KeptValues {
    pub last: Option<LastValues>,
    /// The blocks of the next save.
    blocks: Vec<LastValues>,
}

/// Values `[n, numbers]` and statuses `[n]` of a save.
pub(super) enum LastValues {
    Host(Floats, Vec<i32>),
    Device(Box<(Tensor<2>, Tensor<1, Int>)>),
}

impl LastValues {
    /// The values and statuses on the host.
    pub fn read(&self) -> Result<(Floats, Vec<i32>)> {
        match self {
            LastValues::Host(values, status) => Ok((values.clone(), status.clone())),
            LastValues::Device(last) => {
                let (values, status) = &**last;
                Ok((Floats::from_tensor(values.clone())?, ints(status)?))
            }
        }
    }

    /// Blocks, one after another.
    fn joined(blocks: Vec<Self>) -> Option<Self> {
        blocks.into_iter().reduce(|all, next| match (all, next) {
            (LastValues::Host(mut values, mut status), LastValues::Host(more, statuses)) => {
                values.append(more);
                status.extend(statuses);
                LastValues::Host(values, status)
            }
            (LastValues::Device(all), LastValues::Device(next)) => {
                let ((values, status), (more, statuses)) = (*all, *next);
                let status = Tensor::cat(vec![status, statuses], 0);
                LastValues::Device(Box::new((Tensor::cat(vec![values, more], 0), status)))
            }
            (_, next) => next,
        })
    }
}

impl KeptValues {
    /// The values of the last save.
    pub fn of(last: LastValues) -> Self {
        KeptValues { last: Some(last), blocks: Vec::new() }
    }

    /// The values `[n, numbers]` of a block of the next save, from particle `first` on: as sampled, but
    /// those of the last save for particles that had ended there, or have ended where there is no value.
    pub fn keep(
        &mut self,
        (values, status): (Tensor<2>, &Tensor<1, Int>),
        first: usize,
        is_whole: bool,
    ) -> Result<Tensor<2>> {
        if first == 0 {
            self.blocks.clear();
        }
        let device = values.device();
        let kept = match is_host(&device) {
            true => {
                let (shape, statuses) = (values.dims(), ints(status)?);
                let mut values = Floats::from_tensor(values)?;
                let last = match &self.last {
                    Some(LastValues::Host(last, before)) => Some((last, before.as_slice())),
                    _ => None,
                };
                keep_rows(&mut values, &statuses, last, (first, shape[1]));
                self.blocks.push(LastValues::Host(values.clone(), statuses));
                values.into_tensor(shape, &device)
            }
            false => {
                let last = match &self.last {
                    Some(LastValues::Device(last)) => Some((&last.0, &last.1)),
                    _ => None,
                };
                let values = keep_on_device(values, status, last, first);
                self.blocks.push(LastValues::Device(Box::new((values.clone(), status.clone()))));
                values
            }
        };
        if is_whole {
            self.last = LastValues::joined(std::mem::take(&mut self.blocks));
        }
        Ok(kept)
    }
}

/// As [`KeptValues::keep`], on the host. `last` has the values and statuses of all particles.
fn keep_rows(
    values: &mut Floats,
    status: &[i32],
    last: Option<(&Floats, &[i32])>,
    (first, width): (usize, usize),
) {
    let ended = |code: i32| code != Status::Active.code() && code != Status::Waiting.code();
    for (row, code) in status.iter().enumerate().filter(|(_, code)| ended(**code)) {
        for at in width * row..width * (row + 1) {
            if *code == Status::NotLocated.code() {
                values.set(at, f64::NAN);
            } else if let Some((last, before)) = last
                && (ended(before[first + row]) || values.get(at).is_nan())
            {
                values.set(at, last.get(width * first + at));
            }
        }
    }
}

/// As [`KeptValues::keep`], by tensor operations.
fn keep_on_device(
    values: Tensor<2>,
    status: &Tensor<1, Int>,
    last: Option<(&Tensor<2>, &Tensor<1, Int>)>,
    first: usize,
) -> Tensor<2> {
    let dims = values.dims();
    let is = |status: &Tensor<1, Int>, code: Status| {
        status.clone().equal_elem(code.code()).unsqueeze_dim::<2>(1).expand(dims)
    };
    let values = values.mask_fill(is(status, Status::NotLocated), f64::NAN);
    let Some((last, before)) = last else { return values };
    let last = last.clone().narrow(0, first, dims[0]);
    let before = before.clone().narrow(0, first, dims[0]);
    let ended = |status: &Tensor<1, Int>| -> Tensor<2, Bool> {
        is(status, Status::Active).bool_or(is(status, Status::Waiting)).bool_not()
    };
    let is_located = is(status, Status::NotLocated).bool_not();
    let lacks = ended(&before).bool_or(values.clone().is_nan());
    values.mask_where(ended(status).bool_and(lacks).bool_and(is_located), last)
}

fn ints(status: &Tensor<1, Int>) -> Result<Vec<i32>> {
    rows::ints(&status.clone().unsqueeze_dim::<2>(1))
}

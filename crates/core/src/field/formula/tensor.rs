//! Formulas in tensor operations, which can be differentiated.

use super::compile::Compiled;
use burn::tensor::{Tensor, TensorData};
use burntrace_kernels::{FormulaNumber, Function, Operator};

/// One number for all positions, or a column `[n, 1]` with one for each.
#[derive(Clone)]
#[allow(clippy::large_enum_variant)] // There are few, for as long as a call takes.
enum Column {
    Number(f64),
    Rows(Tensor<2>),
}

/// Velocity `[n, 3]` at positions `[n, 3]`, and at one time or a time for each of them.
pub(super) fn velocity(compiled: &Compiled, position: &Tensor<2>, times: &[f64]) -> Tensor<2> {
    let column = |d: usize| position.clone().narrow(1, d, 1);
    let mut values: Vec<Column> = [0, 1, 2].map(|d| Column::Rows(column(d))).into();
    values.extend(clock(compiled, position, times));
    values.extend(compiled.velocity_constants.iter().map(|x| Column::Number(*x)));
    compiled.velocity.run(&mut values);
    let component = |output: &u16| match &values[usize::from(*output)] {
        Column::Rows(rows) => rows.clone(),
        Column::Number(x) => column(0).detach().zeros_like().add_scalar(*x),
    };
    Tensor::cat(compiled.velocity.outputs.iter().map(component).collect(), 1)
}

/// What depends on the time alone, evaluated on the host in f64.
fn clock(compiled: &Compiled, position: &Tensor<2>, times: &[f64]) -> Vec<Column> {
    let all: Vec<Vec<f64>> = times.iter().map(|time| compiled.clock_at(*time)).collect();
    let column = |k: usize| match all.as_slice() {
        [only] => Column::Number(only[k]),
        _ => {
            let rows: Vec<f64> = all.iter().map(|results| results[k]).collect();
            let data = TensorData::new(rows, [times.len(), 1]);
            Column::Rows(Tensor::from_data(data, (&position.device(), position.dtype())))
        }
    };
    (0..compiled.clock.outputs.len()).map(column).collect()
}

impl Column {
    /// The number in each row of `beside`.
    fn rows(&self, beside: &Tensor<2>) -> Tensor<2> {
        match self {
            Column::Rows(rows) => rows.clone(),
            Column::Number(x) => beside.clone().detach().zeros_like().add_scalar(*x),
        }
    }
}

impl FormulaNumber for Column {
    fn apply(&self, function: Function) -> Self {
        let x = match self {
            Column::Number(x) => return Column::Number(x.apply(function)),
            Column::Rows(rows) => rows.clone(),
        };
        Column::Rows(match function {
            Function::Neg => -x,
            Function::Sqrt => x.sqrt(),
            Function::Abs => x.abs(),
            Function::Floor => x.floor(),
            Function::Sin => x.sin(),
            Function::Cos => x.cos(),
            Function::Tan => x.tan(),
            Function::Asin => x.asin(),
            Function::Acos => x.acos(),
            Function::Atan => x.atan(),
            Function::Sinh => x.sinh(),
            Function::Cosh => x.cosh(),
            Function::Tanh => x.tanh(),
            Function::Exp => x.exp(),
            Function::Log => x.log(),
        })
    }

    fn combine(&self, operator: Operator, other: &Self) -> Self {
        match (self, other) {
            (Column::Number(a), Column::Number(b)) => Column::Number(a.combine(operator, b)),
            (Column::Rows(a), Column::Number(b)) => {
                Column::Rows(with_number(operator, a.clone(), *b))
            }
            (Column::Number(a), Column::Rows(b)) => Column::Rows(match operator {
                Operator::Add => b.clone().add_scalar(*a),
                Operator::Mul => b.clone().mul_scalar(*a),
                _ => both(operator, self.rows(b), b.clone()),
            }),
            (Column::Rows(a), Column::Rows(b)) => {
                Column::Rows(both(operator, a.clone(), b.clone()))
            }
        }
    }

    fn choose_less(&self, bound: &Self, yes: &Self, no: &Self) -> Self {
        let columns = [self, bound, yes, no];
        let rows = columns.into_iter().find_map(|column| match column {
            Column::Rows(rows) => Some(rows.clone()),
            Column::Number(_) => None,
        });
        let Some(rows) = rows else {
            // Of constants or times alone: all four are numbers.
            let number = |column: &Column| match column {
                Column::Number(x) => *x,
                Column::Rows(_) => f64::NAN,
            };
            let [a, b, yes, no] = columns.map(number);
            return Column::Number(a.choose_less(&b, &yes, &no));
        };
        let [a, b, yes, no] = columns.map(|column| column.rows(&rows));
        Column::Rows(choose_less([a, b, yes, no]))
    }
}

fn with_number(operator: Operator, a: Tensor<2>, b: f64) -> Tensor<2> {
    match operator {
        Operator::Add => a.add_scalar(b),
        Operator::Sub => a.sub_scalar(b),
        Operator::Mul => a.mul_scalar(b),
        Operator::Div => a.div_scalar(b),
        // Not by `powf_scalar`: NdArray rounds its exponent to single precision.
        Operator::Pow | Operator::Min | Operator::Max | Operator::Atan2 => {
            let rows = a.clone().detach().zeros_like().add_scalar(b);
            both(operator, a, rows)
        }
    }
}

fn both(operator: Operator, a: Tensor<2>, b: Tensor<2>) -> Tensor<2> {
    match operator {
        Operator::Add => a + b,
        Operator::Sub => a - b,
        Operator::Mul => a * b,
        Operator::Div => a / b,
        Operator::Pow => a.powf(b),
        Operator::Atan2 => a.atan2(b),
        Operator::Min => choose_less([a.clone(), b.clone(), a, b]),
        Operator::Max => choose_less([a.clone(), b.clone(), b, a]),
    }
}

/// The third where the first is less than the second, the fourth where it is not, NaN where one of the two is NaN.
fn choose_less([a, b, yes, no]: [Tensor<2>; 4]) -> Tensor<2> {
    let is_nan = a.clone().is_nan().bool_or(b.clone().is_nan());
    no.mask_where(a.lower(b), yes).mask_fill(is_nan, f64::NAN)
}

//! Velocity from a formula: its program becomes part of the kernel.

use super::{Vec4, cubecl, frame_pair::FramePair, launch::Launch, vec4};
use crate::{
    FormulaShape, Function, Instruction, Operator,
    physics::tables::{FRAME_INTERVALS, STEPS},
};
use burn_cubecl::cubecl::prelude::*;

/// Velocity at a position and time.
#[cube]
pub(super) fn sample<F: Float>(
    launch: &Launch<F>,
    position: Vec4<F>,
    pair: &FramePair<F>,
) -> Vec4<F> {
    let FormulaShape { velocity, clock, on_cards } = comptime!(launch.form.kind.formula());
    let first = comptime!(velocity.constants + 2 * clock.constants);
    // Behind three numbers for each step.
    let start = FRAME_INTERVALS + 3 * launch.int(STEPS) as usize;
    let mut values = Sequence::<F>::new();
    values.push(position.extract(0usize));
    values.push(position.extract(1usize));
    values.push(position.extract(2usize));
    // The first difference is exact.
    let since = pair.first_weight - launch.float(start);
    values.push(since + (pair.second_weight - launch.float(start + 1)));
    #[unroll]
    for i in 0..comptime!(on_cards.inputs - 4) {
        values.push(launch.float(start + comptime!(2 + i)));
    }
    #[unroll]
    for i in 0..comptime!(on_cards.constants) {
        values.push(launch.coords[comptime!(first + i)]);
    }
    #[unroll]
    for i in 0..comptime!(on_cards.code.len()) {
        let result = result::<F>(&values, comptime!(on_cards.code[i]));
        values.push(result);
    }
    vec4::<F>(
        value::<F>(&values, comptime!(on_cards.outputs[0])),
        value::<F>(&values, comptime!(on_cards.outputs[1])),
        value::<F>(&values, comptime!(on_cards.outputs[2])),
    )
}

/// A value of a program.
#[cube]
fn value<F: Float>(values: &Sequence<F>, #[comptime] number: u16) -> F {
    values[comptime!(number as usize)]
}

/// The result of an instruction.
#[cube]
fn result<F: Float>(values: &Sequence<F>, #[comptime] instruction: Instruction) -> F {
    let [a, b, yes, no] = comptime!(operands(instruction));
    let a = value::<F>(values, a);
    let b = value::<F>(values, b);
    if comptime!(matches!(instruction, Instruction::Unary(..))) {
        apply::<F>(a, comptime!(function(instruction)))
    } else if comptime!(matches!(instruction, Instruction::Binary(..))) {
        combine::<F>(a, b, comptime!(operator(instruction)))
    } else {
        choose_less::<F>(a, b, value::<F>(values, yes), value::<F>(values, no))
    }
}

#[cube]
fn choose_less<F: Float>(a: F, b: F, yes: F, no: F) -> F {
    // The sum is not a number.
    select(a < b, yes, select(a >= b, no, a + b))
}

/// The operands of an instruction; those that it lacks repeat the first.
fn operands(instruction: Instruction) -> [u16; 4] {
    match instruction {
        Instruction::Unary(_, a) => [a; 4],
        Instruction::Binary(_, a, b) => [a, b, a, a],
        Instruction::ChooseLess(all) => all,
    }
}

/// The function of an instruction; any if it has none.
fn function(instruction: Instruction) -> Function {
    match instruction {
        Instruction::Unary(function, _) => function,
        _ => Function::Neg,
    }
}

/// The operator of an instruction; any if it has none.
fn operator(instruction: Instruction) -> Operator {
    match instruction {
        Instruction::Binary(operator, ..) => operator,
        _ => Operator::Add,
    }
}

#[cube]
fn apply<F: Float>(x: F, #[comptime] function: Function) -> F {
    if comptime!(function == Function::Neg) {
        F::new(0.0_f32) - x
    } else if comptime!(function == Function::Sqrt) {
        x.sqrt()
    } else if comptime!(function == Function::Abs) {
        x.abs()
    } else if comptime!(function == Function::Floor) {
        x.floor()
    } else if comptime!(function == Function::Sin) {
        x.sin()
    } else if comptime!(function == Function::Cos) {
        x.cos()
    } else if comptime!(function == Function::Tan) {
        x.tan()
    } else if comptime!(function == Function::Exp) {
        x.exp()
    } else if comptime!(function == Function::Log) {
        x.ln()
    } else {
        apply_other::<F>(x, function)
    }
}

#[cube]
fn apply_other<F: Float>(x: F, #[comptime] function: Function) -> F {
    if comptime!(function == Function::Asin) {
        x.asin()
    } else if comptime!(function == Function::Acos) {
        x.acos()
    } else if comptime!(function == Function::Atan) {
        x.atan()
    } else if comptime!(function == Function::Sinh) {
        x.sinh()
    } else if comptime!(function == Function::Cosh) {
        x.cosh()
    } else {
        x.tanh()
    }
}

#[cube]
fn combine<F: Float>(a: F, b: F, #[comptime] operator: Operator) -> F {
    if comptime!(operator == Operator::Add) {
        a + b
    } else if comptime!(operator == Operator::Sub) {
        a - b
    } else if comptime!(operator == Operator::Mul) {
        a * b
    } else if comptime!(operator == Operator::Div) {
        a / b
    } else if comptime!(operator == Operator::Min) {
        choose_less::<F>(a, b, a, b)
    } else if comptime!(operator == Operator::Max) {
        choose_less::<F>(a, b, b, a)
    } else if comptime!(operator == Operator::Pow) {
        a.powf(b)
    } else {
        a.atan2(b)
    }
}

//! From expressions to programs: equal parts are computed once, constant ones never, and what depends on the time alone
//! goes to a program of its own.

use super::{
    MAX_OPERATIONS,
    expression::{Expression, Node},
    fail,
};
use crate::Result;
use burntrace_kernels::{FormulaNumber, Function, Instruction, Operator, Program};
use std::{collections::HashMap, sync::Arc};

/// The programs of a formula.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Compiled {
    /// The velocity, from x, y, z and the results of `clock`.
    pub velocity: &'static Program,
    /// What depends on the time alone.
    pub clock: &'static Program,
    pub velocity_constants: Vec<f64>,
    pub clock_constants: Vec<f64>,
}

impl Compiled {
    /// The programs of components that are functions of some coordinates, of which there are four at most, and of the
    /// time.
    pub fn new(velocity: &[Expression; 3], coordinates: usize) -> Result<Self> {
        let mut parts = Parts::default();
        let roots = velocity.each_ref().map(|component| parts.part(component));
        let timed = parts.timed();
        let needed = parts.needed(&roots);
        // What the velocity takes from the clock: results that are used beside the position.
        let from_clock: Vec<usize> = (0..parts.list.len())
            .filter(|part| timed[*part] && needed[*part])
            .filter(|part| roots.contains(part) || parts.is_used_beside(*part, &timed, &needed))
            .collect();
        let mut clock = Emitter::new(&parts, &[Part::Time], &[]);
        from_clock.iter().for_each(|part| clock.require(*part));
        let (clock, clock_constants) = clock.program(&from_clock)?;
        let inputs: Vec<Part> = (0..coordinates).map(Part::Coordinate).collect();
        let mut main = Emitter::new(&parts, &inputs, &from_clock);
        roots.iter().for_each(|part| main.require(*part));
        let (velocity, velocity_constants) = main.program(&roots)?;
        Ok(Compiled { velocity, clock, velocity_constants, clock_constants })
    }

    /// What depends on the time alone, at a time.
    pub fn clock_at(&self, time: f64) -> Vec<f64> {
        let mut values = vec![time];
        values.extend(&self.clock_constants);
        self.clock.run(&mut values);
        self.clock.outputs.iter().map(|output| values[usize::from(*output)]).collect()
    }

    /// The constants as the fused operation reads them, before those for graphics cards; at least one number.
    pub fn constants(&self, on_cards: &Compiled) -> Vec<f64> {
        let pair = |x: &f64| {
            let single = f64::from(*x as f32);
            if single.is_finite() { [single, x - single] } else { [*x, 0.0] }
        };
        let clock = self.clock_constants.iter().flat_map(pair);
        let mut constants: Vec<f64> =
            self.velocity_constants.iter().copied().chain(clock).collect();
        constants.extend(&on_cards.velocity_constants);
        if constants.is_empty() {
            constants.push(0.0);
        }
        constants
    }
}

/// A part of a formula; operands are numbers of parts.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    /// A number, by its bits.
    Number(u64),
    Coordinate(usize),
    Time,
    Unary(Function, usize),
    Binary(Operator, usize, usize),
    ChooseLess([usize; 4]),
}

impl Part {
    fn number(x: f64) -> Self {
        Part::Number(x.to_bits())
    }

    fn operands(&self) -> Vec<usize> {
        match *self {
            Part::Number(_) | Part::Coordinate(_) | Part::Time => Vec::new(),
            Part::Unary(_, a) => vec![a],
            Part::Binary(_, a, b) => vec![a, b],
            Part::ChooseLess(all) => all.to_vec(),
        }
    }
}

/// The different parts of a formula, each after its operands.
#[derive(Default)]
struct Parts {
    list: Vec<Part>,
    numbers: HashMap<Part, usize>,
    /// The parts of shared expressions, by address.
    known: HashMap<*const Node, usize>,
}

impl Parts {
    /// The number of the part that an expression is.
    fn part(&mut self, expression: &Expression) -> usize {
        let address = Arc::as_ptr(expression.node());
        if let Some(part) = self.known.get(&address) {
            return *part;
        }
        let part = match &**expression.node() {
            Node::Number(x) => Part::number(*x),
            Node::Coordinate(axis) => Part::Coordinate(*axis),
            Node::Time => Part::Time,
            Node::Unary(function, a) => Part::Unary(*function, self.part(a)),
            Node::Binary(operator, a, b) => {
                let a = self.part(a);
                Part::Binary(*operator, a, self.part(b))
            }
            Node::ChooseLess(all) => Part::ChooseLess(all.each_ref().map(|x| self.part(x))),
        };
        let part = self.simplified(part);
        self.known.insert(address, part);
        part
    }

    /// The number of a part, or of a simpler one with the same value.
    fn simplified(&mut self, part: Part) -> usize {
        if let Part::Binary(operator, a, b) = part {
            match (operator, self.value(a), self.value(b)) {
                (Operator::Add | Operator::Sub, _, Some(0.0))
                | (Operator::Mul | Operator::Div, _, Some(1.0)) => return a,
                (Operator::Add, Some(0.0), _) | (Operator::Mul, Some(1.0), _) => return b,
                _ => {}
            }
        }
        let part = self.constant(part).map_or(part, Part::number);
        let Parts { list, numbers, .. } = self;
        *numbers.entry(part).or_insert_with(|| {
            list.push(part);
            list.len() - 1
        })
    }

    /// The value of a part that is a number.
    fn value(&self, part: usize) -> Option<f64> {
        match self.list[part] {
            Part::Number(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    /// The value of a part whose operands are numbers.
    fn constant(&self, part: Part) -> Option<f64> {
        Some(match part {
            Part::Unary(function, a) => self.value(a)?.apply(function),
            Part::Binary(operator, a, b) => self.value(a)?.combine(operator, &self.value(b)?),
            _ => return None,
        })
    }

    /// Whether each part depends on the time and not on the position.
    fn timed(&self) -> Vec<bool> {
        let mut depends: Vec<[bool; 2]> = Vec::new();
        for part in &self.list {
            let mut on = [*part == Part::Time, matches!(part, Part::Coordinate(_))];
            for operand in part.operands() {
                on = [0, 1].map(|k| on[k] || depends[operand][k]);
            }
            depends.push(on);
        }
        depends.into_iter().map(|[on_time, on_position]| on_time && !on_position).collect()
    }

    /// Whether the velocity depends on each part.
    fn needed(&self, roots: &[usize]) -> Vec<bool> {
        let mut needed = vec![false; self.list.len()];
        roots.iter().for_each(|root| needed[*root] = true);
        for part in (0..self.list.len()).rev() {
            if needed[part] {
                self.list[part].operands().into_iter().for_each(|operand| needed[operand] = true);
            }
        }
        needed
    }

    /// Whether a part is an operand of one that depends on the position.
    fn is_used_beside(&self, part: usize, timed: &[bool], needed: &[bool]) -> bool {
        let uses = |(number, other): (usize, &Part)| {
            needed[number] && !timed[number] && other.operands().contains(&part)
        };
        self.list.iter().enumerate().any(uses)
    }
}

/// Writes a program.
struct Emitter<'a> {
    parts: &'a Parts,
    /// The parts that are its inputs.
    inputs: Vec<usize>,
    /// The number of inputs, of which some may be no parts.
    count: usize,
    required: Vec<bool>,
    values: HashMap<usize, u16>,
}

impl<'a> Emitter<'a> {
    /// A program with some parts as its first inputs, and numbers of others as the next.
    fn new(parts: &'a Parts, first: &[Part], next: &[usize]) -> Self {
        let mut values = HashMap::new();
        for (input, part) in first.iter().enumerate() {
            if let Some(part) = parts.numbers.get(part) {
                values.insert(*part, input as u16);
            }
        }
        for (input, part) in next.iter().enumerate() {
            values.insert(*part, (first.len() + input) as u16);
        }
        Emitter {
            parts,
            inputs: values.keys().copied().collect(),
            count: first.len() + next.len(),
            required: vec![false; parts.list.len()],
            values,
        }
    }

    /// Requires a part and what it depends on.
    fn require(&mut self, part: usize) {
        if self.required[part] || self.inputs.contains(&part) {
            return;
        }
        self.required[part] = true;
        for operand in self.parts.list[part].operands() {
            self.require(operand);
        }
    }

    /// The program with its results, and its constants.
    fn program(mut self, results: &[usize]) -> Result<(&'static Program, Vec<f64>)> {
        let required = |part: &usize| self.required[*part];
        let all: Vec<usize> = (0..self.parts.list.len()).filter(required).collect();
        let is_number = |part: &usize| self.parts.value(*part).is_some();
        let (numbers, operations): (Vec<usize>, Vec<usize>) = all.into_iter().partition(is_number);
        let operations = self.paired(&operations);
        let total = self.count + numbers.len() + operations.len();
        if total > MAX_OPERATIONS {
            return fail(format!(
                "it has {total} numbers and operations; the maximum is {MAX_OPERATIONS}"
            ));
        }
        let order = numbers.iter().chain(&operations);
        self.values.extend(order.enumerate().map(|(i, part)| (*part, (self.count + i) as u16)));
        let instruction = |part: &usize| self.instruction(self.parts.list[*part]);
        let program = Program {
            inputs: self.count,
            constants: numbers.len(),
            code: operations.iter().filter_map(instruction).collect(),
            outputs: results.iter().map(|part| self.values[part]).collect(),
        };
        let constants = numbers.iter().filter_map(|part| self.parts.value(*part)).collect();
        Ok((program.kept(), constants))
    }

    /// The same operations, with the cosine of a number after its sine: both are computed at once.
    fn paired(&self, operations: &[usize]) -> Vec<usize> {
        let mut order = Vec::new();
        for part in operations {
            let is_sine_or_cosine = |function| matches!(function, Function::Sin | Function::Cos);
            match self.parts.list[*part] {
                Part::Unary(function, a) if is_sine_or_cosine(function) => {
                    let both =
                        [Function::Sin, Function::Cos].map(|function| Part::Unary(function, a));
                    let both = both.iter().filter_map(|part| self.parts.numbers.get(part));
                    let both: Vec<usize> = both.copied().filter(|x| self.required[*x]).collect();
                    if !order.contains(part) {
                        order.extend(both);
                    }
                }
                _ => order.push(*part),
            }
        }
        order
    }

    fn instruction(&self, part: Part) -> Option<Instruction> {
        let value = |part: usize| self.values[&part];
        Some(match part {
            Part::Unary(function, a) => Instruction::Unary(function, value(a)),
            Part::Binary(operator, a, b) => Instruction::Binary(operator, value(a), value(b)),
            Part::ChooseLess(all) => Instruction::ChooseLess(all.map(value)),
            Part::Number(_) | Part::Coordinate(_) | Part::Time => return None,
        })
    }
}

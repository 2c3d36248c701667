//! The same velocity at positions measured from an origin, without a sum that single precision would lose.
//!
//! A sum of a coordinate and of its origin, or of the time, is kept as two terms for as long as the operations on it
//! allow. The `far` one does not depend on the position and is evaluated in double precision: `cos(x - t)` becomes
//! `cos(x) cos(t) + sin(x) sin(t)`, and `x - 5e5` with an origin of 5.1e5 becomes `x + 1e4`.

use super::expression::{Expression, Node};
use burntrace_kernels::{FormulaNumber, Function, Operator};
use std::{collections::HashMap, sync::Arc};

/// How the time is known.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TimeTerms {
    /// As a number.
    One,
    /// As the start of a launch and the time since then, which are kept apart.
    Two,
    /// As the sum of these.
    Sum,
}

/// The components as functions of the coordinates measured from an origin.
pub(super) fn relative(
    velocity: &[Expression; 3],
    origin: [f64; 3],
    time: TimeTerms,
) -> [Expression; 3] {
    let mut splitter = Splitter { origin, time, known: HashMap::new() };
    velocity.each_ref().map(|component| splitter.split(component).whole())
}

/// The sum of two terms. If there are both, the far one grows.
#[derive(Clone)]
struct Split {
    /// Does not depend on the position.
    far: Option<Expression>,
    near: Option<Expression>,
    /// Whether the far one is an origin, or is not bounded in time.
    grows: bool,
}

struct Splitter {
    origin: [f64; 3],
    time: TimeTerms,
    /// The terms of shared expressions, by address.
    known: HashMap<*const Node, Split>,
}

impl Splitter {
    fn split(&mut self, expression: &Expression) -> Split {
        let address = Arc::as_ptr(expression.node());
        if let Some(known) = self.known.get(&address) {
            return known.clone();
        }
        let split = match &**expression.node() {
            Node::Number(_) => Split::far(expression.clone(), false),
            Node::Time => match self.time {
                TimeTerms::One => Split::far(expression.clone(), true),
                TimeTerms::Two => Split::both(expression.clone(), Expression::since_start()),
                TimeTerms::Sum => Split::near(expression.clone() + Expression::since_start()),
            },
            Node::Coordinate(axis) => match self.origin[*axis] {
                0.0 => Split::near(expression.clone()),
                origin => Split::both(origin.into(), expression.clone()),
            },
            Node::Unary(function, a) => self.split(a).apply(*function),
            Node::Binary(operator, a, b) => self.split(a).combine(*operator, &self.split(b)),
            Node::ChooseLess([a, b, yes, no]) => {
                let [a, b, yes, no] = [a, b, yes, no].map(|x| self.split(x));
                a.choose_less(&b, &yes, &no)
            }
        };
        self.known.insert(address, split.clone());
        split
    }
}

impl Split {
    fn far(far: Expression, grows: bool) -> Self {
        Split { far: Some(far), near: None, grows }
    }

    fn near(near: Expression) -> Self {
        Split { far: None, near: Some(near), grows: false }
    }

    fn both(far: Expression, near: Expression) -> Self {
        match far.number() {
            Some(0.0) => Split::near(near),
            _ => Split { far: Some(far), near: Some(near), grows: true },
        }
    }

    fn whole(&self) -> Expression {
        match (&self.far, &self.near) {
            (Some(far), Some(near)) => near.clone() + far.clone(),
            (Some(only), None) | (None, Some(only)) => only.clone(),
            (None, None) => 0.0.into(),
        }
    }

    /// The terms, if there are two.
    fn terms(&self) -> Option<(&Expression, &Expression)> {
        self.far.as_ref().zip(self.near.as_ref())
    }

    fn apply(&self, function: Function) -> Self {
        if let (Some(far), None) = (&self.far, &self.near) {
            return Split::far(folded(function, far), self.grows && !is_bounded(function));
        }
        let Some((far, near)) = self.terms() else {
            return Split::near(self.whole().apply(function));
        };
        let of = |function| (folded(function, far), near.clone().apply(function));
        let ((sin_far, sin), (cos_far, cos)) = (of(Function::Sin), of(Function::Cos));
        let sine = || cos.clone() * sin_far.clone() + sin.clone() * cos_far.clone();
        let cosine = || cos.clone() * cos_far.clone() - sin.clone() * sin_far.clone();
        match function {
            Function::Neg => Split::both(folded(function, far), -near.clone()),
            Function::Sin => Split::near(sine()),
            Function::Cos => Split::near(cosine()),
            Function::Tan => Split::near(sine() / cosine()),
            Function::Floor => {
                let whole = folded(function, far);
                let rest = together(Operator::Sub, far, &whole);
                Split::both(whole, (near.clone() + rest).apply(function))
            }
            _ => Split::near(self.whole().apply(function)),
        }
    }

    fn combine(&self, operator: Operator, other: &Self) -> Self {
        if let (Some(a), None, Some(b), None) = (&self.far, &self.near, &other.far, &other.near) {
            let grows = (self.grows || other.grows) && operator != Operator::Atan2;
            return Split::far(together(operator, a, b), grows);
        }
        match operator {
            Operator::Add | Operator::Sub => self.sum(operator, other),
            Operator::Mul | Operator::Div => self.scaled(operator, other),
            Operator::Min if self.is_far_from(other) => self.choose_less(other, self, other),
            Operator::Max if self.is_far_from(other) => self.choose_less(other, other, self),
            _ => Split::near(self.whole().combine(operator, other.whole())),
        }
    }

    /// The sum or the difference.
    fn sum(&self, operator: Operator, other: &Self) -> Self {
        if !self.grows && !other.grows {
            return Split::near(self.whole().combine(operator, other.whole()));
        }
        let term = |a: &Option<Expression>, b: &Option<Expression>| match (a, b) {
            (Some(a), Some(b)) => together(operator, a, b),
            (Some(a), None) => a.clone(),
            (None, Some(b)) if operator == Operator::Sub => folded(Function::Neg, b),
            (None, Some(b)) => b.clone(),
            (None, None) => 0.0.into(),
        };
        Split::both(term(&self.far, &other.far), term(&self.near, &other.near))
    }

    /// The product or the quotient: of both terms, if the other number does not depend on the position.
    fn scaled(&self, operator: Operator, other: &Self) -> Self {
        let terms = |sum: &Split, number: &Split| {
            let (far, near) = sum.terms()?;
            let (Some(number), None) = (&number.far, &number.near) else { return None };
            let near = near.clone().combine(operator, number.clone());
            Some(Split::both(together(operator, far, number), near))
        };
        let product = if operator == Operator::Mul { terms(other, self) } else { None };
        let whole = || Split::near(self.whole().combine(operator, other.whole()));
        terms(self, other).or(product).unwrap_or_else(whole)
    }

    /// Whether the difference of two numbers has two terms.
    fn is_far_from(&self, other: &Self) -> bool {
        (self.grows || other.grows) && (self.near.is_some() || other.near.is_some())
    }

    fn choose_less(&self, bound: &Self, yes: &Self, no: &Self) -> Self {
        let all = [self, bound, yes, no];
        let [a, b] = match self.is_far_from(bound) {
            true => [self.sum(Operator::Sub, bound).whole(), 0.0.into()],
            false => [self.whole(), bound.whole()],
        };
        let choose = |yes: &Split, no: &Split| {
            Expression::choose_less(a.clone(), b.clone(), yes.whole(), no.whole())
        };
        if all.iter().all(|number| number.near.is_none()) {
            return Split::far(choose(yes, no), yes.grows || no.grows);
        }
        let Some((far, _)) = yes.terms().or(no.terms()) else {
            return Split::near(choose(yes, no));
        };
        let far = Split::far(far.clone(), true);
        let [yes, no] = [yes, no].map(|branch| branch.combine(Operator::Sub, &far));
        Split::both(far.whole(), choose(&yes, &no))
    }
}

/// Whether the values of a function have a bound.
fn is_bounded(function: Function) -> bool {
    use Function::{Acos, Asin, Atan, Cos, Sin, Tanh};
    matches!(function, Sin | Cos | Asin | Acos | Atan | Tanh)
}

/// A function of a number that does not depend on the position.
fn folded(function: Function, of: &Expression) -> Expression {
    match of.number() {
        Some(x) => x.apply(function).into(),
        None => of.clone().apply(function),
    }
}

/// An operation on numbers of one term.
fn together(operator: Operator, a: &Expression, b: &Expression) -> Expression {
    match (a.number(), b.number()) {
        (Some(a), Some(b)) => a.combine(operator, &b).into(),
        _ => a.clone().combine(operator, b.clone()),
    }
}

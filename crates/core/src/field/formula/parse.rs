//! Formulas as text.

use super::{Expression, fail};
use crate::{Error, Result};
use burntrace_kernels::{Function, Operator};
use nom::{
    IResult, Parser,
    branch::alt,
    bytes::complete::tag,
    character::complete::{char, multispace0, one_of, satisfy},
    combinator::{opt, recognize},
    error::{ErrorKind, ParseError},
    multi::{many0_count, separated_list1},
    number::complete::recognize_float,
    sequence::{delimited, pair, preceded},
};
use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
};

/// Maximum length of a formula in bytes.
const MAX_LENGTH: usize = 10_000;
/// Maximum number of parentheses and signs within one another.
const MAX_DEPTH: usize = 100;

/// Reads the components of a velocity. Definitions may use one another, in any order.
pub(super) fn velocity(
    velocity: [&str; 3],
    definitions: &[(&str, &str)],
) -> Result<[Expression; 3]> {
    let scope = Scope::new(definitions)?;
    for (name, text) in definitions {
        scope.read(name, text)?;
    }
    let [u, v, w] = velocity;
    Ok([scope.read("u", u)?, scope.read("v", v)?, scope.read("w", w)?])
}

/// The names that formulas may use.
struct Scope<'s> {
    names: RefCell<HashMap<&'s str, Expression>>,
    definitions: &'s [(&'s str, &'s str)],
    /// The definitions that are being read.
    open: RefCell<Vec<&'s str>>,
    depth: Cell<usize>,
}

/// What is wrong, and how much of the text is left there.
struct Problem {
    left: usize,
    what: String,
}

type Parsed<'a, T = Expression> = IResult<&'a str, T, Problem>;

impl ParseError<&str> for Problem {
    fn from_error_kind(input: &str, _: ErrorKind) -> Self {
        let what = match input.chars().next() {
            None => "it ends where a number, a name or a parenthesis is expected".to_owned(),
            Some(found) => {
                format!("`{found}` is there instead of a number, a name or a parenthesis")
            }
        };
        Problem { left: input.len(), what }
    }

    fn append(_: &str, _: ErrorKind, other: Self) -> Self {
        other
    }
}

fn wrong<T>(input: &str, what: impl Into<String>) -> std::result::Result<T, nom::Err<Problem>> {
    Err(nom::Err::Failure(Problem { left: input.len(), what: what.into() }))
}

impl<'s> Scope<'s> {
    fn new(definitions: &'s [(&'s str, &'s str)]) -> Result<Self> {
        let names = HashMap::from([
            ("x", Expression::x()),
            ("y", Expression::y()),
            ("z", Expression::z()),
            ("t", Expression::time()),
            ("pi", std::f64::consts::PI.into()),
        ]);
        for (i, (defined, _)) in definitions.iter().enumerate() {
            let is_name = matches!(name(defined), Ok(("", _)));
            let is_known = names.contains_key(defined)
                || *defined == "if"
                || function_named(defined).is_some()
                || definitions[..i].iter().any(|(other, _)| other == defined);
            if is_known || !is_name {
                let reason = if is_name { "has a meaning already" } else { "is not a name" };
                return fail(format!(
                    "`{defined}` {reason}; define a name of letters, digits and _, which starts with a letter"
                ));
            }
        }
        let open = RefCell::default();
        Ok(Scope { names: names.into(), definitions, open, depth: Cell::new(0) })
    }

    /// The value of a name, at the start of a text.
    fn value(&self, input: &str, name: &str) -> std::result::Result<Expression, nom::Err<Problem>> {
        if let Some(value) = self.names.borrow().get(name) {
            return Ok(value.clone());
        }
        let Some((name, text)) = self.definitions.iter().find(|(defined, _)| *defined == name)
        else {
            return wrong(input, self.unknown(name));
        };
        if self.open.borrow().contains(name) {
            let circle = self.open.borrow().join("`, `");
            return wrong(input, format!("`{circle}` depend on one another"));
        }
        self.open.borrow_mut().push(name);
        let value = self.read(name, text);
        self.open.borrow_mut().pop();
        match value {
            Ok(value) => {
                self.names.borrow_mut().insert(name, value.clone());
                Ok(value)
            }
            Err(Error::Formula(problem)) => wrong(input, problem),
            Err(other) => wrong(input, other.to_string()),
        }
    }

    /// Reads a formula with a name.
    fn read(&self, of: &str, text: &str) -> Result<Expression> {
        if text.len() > MAX_LENGTH {
            return fail(format!(
                "{of} has {} characters; the maximum is {MAX_LENGTH}",
                text.len()
            ));
        }
        let problem = match self.sum(text) {
            Ok((rest, value)) if rest.trim().is_empty() => return Ok(value),
            Ok((rest, _)) => Problem {
                left: rest.trim_start().len(),
                what: "an operator is missing, or a parenthesis is not open".into(),
            },
            Err(nom::Err::Error(problem) | nom::Err::Failure(problem)) => problem,
            Err(nom::Err::Incomplete(_)) => Problem { left: 0, what: "it is not complete".into() },
        };
        let column = 1 + text[..text.len() - problem.left].chars().count();
        fail(format!("{of} = \"{text}\", character {column}: {}", problem.what))
    }

    fn sum<'a>(&self, input: &'a str) -> Parsed<'a> {
        let (mut rest, mut sum) = self.product(input)?;
        while let (after, Some(sign)) = opt(spaced(one_of("+-"))).parse(rest)? {
            let (after, term) = self.product(after)?;
            sum = if sign == '+' { sum + term } else { sum - term };
            rest = after;
        }
        Ok((rest, sum))
    }

    fn product<'a>(&self, input: &'a str) -> Parsed<'a> {
        let (mut rest, mut product) = self.signed(input)?;
        while let (after, Some(sign)) = opt(spaced(one_of("*/"))).parse(rest)? {
            let (after, factor) = self.signed(after)?;
            product = if sign == '*' { product * factor } else { product / factor };
            rest = after;
        }
        Ok((rest, product))
    }

    /// A power with signs before it, which bind less: -x^2 is -(x^2).
    fn signed<'a>(&self, input: &'a str) -> Parsed<'a> {
        let (rest, sign) = opt(spaced(one_of("+-"))).parse(input)?;
        match sign {
            None => self.power(rest),
            Some(sign) => self.deeper(rest, |rest| {
                let (rest, value) = self.signed(rest)?;
                Ok((rest, if sign == '-' { -value } else { value }))
            }),
        }
    }

    fn power<'a>(&self, input: &'a str) -> Parsed<'a> {
        let (rest, base) = self.atom(input)?;
        match opt(spaced(char('^'))).parse(rest)? {
            (rest, None) => Ok((rest, base)),
            (rest, Some(_)) => {
                let (rest, exponent) = self.deeper(rest, |rest| self.signed(rest))?;
                Ok((rest, base.pow(exponent)))
            }
        }
    }

    fn atom<'a>(&self, input: &'a str) -> Parsed<'a> {
        let (input, _) = multispace0(input)?;
        if let (rest, Some(_)) = opt(char('(')).parse(input)? {
            return self.deeper(rest, |rest| {
                let (rest, value) = self.sum(rest)?;
                Ok((closed(rest)?, value))
            });
        }
        let (rest, name) = opt(name).parse(input)?;
        let Some(name) = name else {
            let (rest, digits) = recognize_float(input)?;
            return match digits.parse::<f64>() {
                Ok(number) => Ok((rest, number.into())),
                Err(_) => wrong(input, format!("`{digits}` is not a number")),
            };
        };
        match opt(spaced(char('('))).parse(rest)? {
            (rest, Some(_)) => self.deeper(rest, |rest| self.call(input, name, rest)),
            (rest, None) => Ok((rest, self.value(input, name)?)),
        }
    }

    fn unknown(&self, name: &str) -> String {
        if function_named(name).is_some() || name == "if" {
            return format!("`{name}` is a function; give its arguments in parentheses");
        }
        let mut names = vec!["x", "y", "z", "t", "pi"];
        names.extend(self.definitions.iter().map(|(name, _)| *name));
        format!("`{name}` is not known; known names are {}", names.join(", "))
    }

    /// A function with its arguments; `at` is the text from its name on.
    fn call<'a>(&self, at: &str, name: &str, rest: &'a str) -> Parsed<'a> {
        if name == "if" {
            return self.choice(rest);
        }
        let Some(function) = function_named(name) else {
            let all = FUNCTIONS.map(|(name, _)| name).join(", ");
            return wrong(at, format!("`{name}` is not a function; functions are {all} and if"));
        };
        let (rest, arguments) =
            separated_list1(spaced(char(',')), |rest| self.sum(rest)).parse(rest)?;
        let (rest, given) = (closed(rest)?, arguments.len());
        match (function, <[Expression; 1]>::try_from(arguments)) {
            (Call::One(call), Ok([x])) => Ok((rest, call(x))),
            (Call::Two(call), Err(arguments)) => match <[Expression; 2]>::try_from(arguments) {
                Ok([a, b]) => Ok((rest, call(a, b))),
                Err(_) => wrong(at, format!("`{name}` has {given} arguments; give 2")),
            },
            (Call::One(_), _) => wrong(at, format!("`{name}` has {given} arguments; give 1")),
            (Call::Two(_), _) => wrong(at, format!("`{name}` has 1 argument; give 2")),
        }
    }

    /// The arguments of `if(a < b, yes, no)`.
    fn choice<'a>(&self, input: &'a str) -> Parsed<'a> {
        let (rest, a) = self.sum(input)?;
        let comparisons = alt((tag("<="), tag(">="), tag("<"), tag(">")));
        let (rest, comparison) = opt(spaced(comparisons)).parse(rest)?;
        let Some(comparison) = comparison else {
            return wrong(rest, "`if` needs a comparison: if(a < b, yes, no), with <, <=, > or >=");
        };
        let (rest, b) = self.sum(rest)?;
        let next = |rest| preceded(spaced(char(',')), |rest| self.sum(rest)).parse(rest);
        let (rest, yes) = next(rest)?;
        let (rest, no) = next(rest)?;
        let value = match comparison {
            "<" => Expression::choose_less(a, b, yes, no),
            ">" => Expression::choose_less(b, a, yes, no),
            "<=" => Expression::choose_less(b, a, no, yes),
            _ => Expression::choose_less(a, b, no, yes),
        };
        Ok((closed(rest)?, value))
    }

    /// Reads something that is within another.
    fn deeper<'a>(&self, input: &'a str, read: impl FnOnce(&'a str) -> Parsed<'a>) -> Parsed<'a> {
        if self.depth.get() == MAX_DEPTH {
            let what =
                "there are too many parentheses and signs within one another; the maximum is";
            return wrong(input, format!("{what} {MAX_DEPTH}"));
        }
        self.depth.set(self.depth.get() + 1);
        let result = read(input);
        self.depth.set(self.depth.get() - 1);
        result
    }
}

/// A parser with white space around.
fn spaced<'a, O>(
    parser: impl Parser<&'a str, Output = O, Error = Problem>,
) -> impl Parser<&'a str, Output = O, Error = Problem> {
    delimited(multispace0, parser, multispace0)
}

/// A name: a letter, then letters, digits and underscores.
fn name(input: &str) -> Parsed<'_, &str> {
    let first = satisfy(|c| c.is_ascii_alphabetic());
    let more = many0_count(satisfy(|c| c.is_ascii_alphanumeric() || c == '_'));
    recognize(pair(first, more)).parse(input)
}

/// The text after a closing parenthesis.
fn closed(input: &str) -> std::result::Result<&str, nom::Err<Problem>> {
    match opt(spaced(char::<&str, Problem>(')'))).parse(input)? {
        (rest, Some(_)) => Ok(rest),
        (rest, None) => wrong(rest, "a parenthesis is not closed here, or an operator is missing"),
    }
}

/// A function of formulas.
#[derive(Clone, Copy)]
enum Call {
    One(fn(Expression) -> Expression),
    Two(fn(Expression, Expression) -> Expression),
}

const FUNCTIONS: [(&str, Call); 20] = [
    ("sin", Call::One(Expression::sin)),
    ("cos", Call::One(Expression::cos)),
    ("tan", Call::One(|x| x.apply(Function::Tan))),
    ("asin", Call::One(|x| x.apply(Function::Asin))),
    ("acos", Call::One(|x| x.apply(Function::Acos))),
    ("atan", Call::One(|x| x.apply(Function::Atan))),
    ("atan2", Call::Two(|y, x| y.combine(Operator::Atan2, x))),
    ("sinh", Call::One(|x| x.apply(Function::Sinh))),
    ("cosh", Call::One(|x| x.apply(Function::Cosh))),
    ("tanh", Call::One(|x| x.apply(Function::Tanh))),
    ("exp", Call::One(Expression::exp)),
    ("log", Call::One(Expression::ln)),
    ("log10", Call::One(|x| x.ln() * std::f64::consts::LOG10_E)),
    ("sqrt", Call::One(Expression::sqrt)),
    ("abs", Call::One(Expression::abs)),
    ("floor", Call::One(|x| x.apply(Function::Floor))),
    ("min", Call::Two(Expression::min)),
    ("max", Call::Two(Expression::max)),
    ("pow", Call::Two(Expression::pow)),
    ("hypot", Call::Two(Expression::hypot)),
];

fn function_named(name: &str) -> Option<Call> {
    FUNCTIONS.iter().find(|(known, _)| *known == name).map(|(_, call)| *call)
}

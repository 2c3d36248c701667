//! Packed and missing values, as netCDF4-python decodes them.

use crate::store::{ScalarType, Store, Variable};
use crate::units::Unit;
use crate::values::Values;

/// How the numbers of a variable are decoded.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Packing {
    /// Numbers that mean a missing value, as stored.
    missing: Vec<f64>,
    /// Minimum and maximum of valid numbers, as stored, unsigned if they stand for that.
    valid: [f64; 2],
    /// Added to negative numbers, of signed types that stand for unsigned ones.
    wrap: f64,
    /// `scale_factor` and `add_offset`.
    steps: Vec<Step>,
    /// Whether decoded numbers are in single precision.
    is_single: bool,
    /// Attributes that can be read in two ways, which matters for some numbers.
    doubts: Vec<Doubt>,
}

/// A step of unpacking, rounded to single precision or not.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Times(f64, bool),
    Plus(f64, bool),
}

/// An attribute that is not in the type of the variable, so that readers differ.
#[derive(Clone, Debug, PartialEq)]
struct Doubt {
    /// Which numbers are missing by the other reading.
    other: Bound,
    /// The limit of stored numbers by the reading of netCDF4-python, if it uses the attribute.
    limit: Option<f64>,
    reason: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Bound {
    /// A stored number is missing.
    Equal(f64),
    /// Unpacked numbers below are missing.
    Below(f64),
    /// Unpacked numbers above are missing.
    Above(f64),
}

/// Decoded numbers, NaN where they are missing.
pub(crate) struct Decoded {
    pub values: Values,
    /// Whether each number is missing; `None` if no number means that.
    pub missing: Option<Vec<bool>>,
}

impl Packing {
    /// Reads the attributes of a variable.
    ///
    /// # Errors
    ///
    /// If an attribute is not a number, or numbers cannot be unpacked.
    pub fn of(store: &dyn Store, variable: &Variable) -> Result<Packing, String> {
        let scalar = variable.scalar.ok_or("it has no numbers")?;
        let is_unsigned = is_unsigned(variable, scalar)?;
        let seen = if is_unsigned { scalar.unsigned() } else { scalar };
        let (steps, unpacked) =
            steps(seen, factor(variable, "scale_factor")?, factor(variable, "add_offset")?)?;
        let mut packing = Packing {
            missing: Vec::new(),
            valid: [f64::NEG_INFINITY, f64::INFINITY],
            wrap: if is_unsigned { 2_f64.powi(8 * scalar.size() as i32) } else { 0.0 },
            is_single: unpacked.fits_f32(),
            steps,
            doubts: Vec::new(),
        };
        packing.add_missing(variable, scalar, "missing_value")?;
        if !packing.add_missing(variable, scalar, "_FillValue")? && !is_unsigned {
            packing.add_default_fill(store, scalar);
        }
        packing.add_limits(variable, scalar)?;
        Ok(packing)
    }

    /// The same without limits of valid numbers, for coordinates, all numbers of which are valid.
    pub fn without_limits(mut self) -> Packing {
        self.valid = [f64::NEG_INFINITY, f64::INFINITY];
        self.doubts.retain(|doubt| matches!(doubt.other, Bound::Equal(_)));
        self
    }

    /// Adds the numbers of an attribute, and returns whether it is used: all of them must be in the type of
    /// the variable.
    fn add_missing(
        &mut self,
        variable: &Variable,
        scalar: ScalarType,
        name: &'static str,
    ) -> Result<bool, String> {
        let Some((given, numbers)) = variable.typed_numbers(name)? else { return Ok(false) };
        if name == "_FillValue" && numbers.len() != 1 {
            return Err(format!("its attribute `{name}` is not a number; correct it"));
        }
        if numbers.iter().all(|number| scalar.holds(*number)) {
            self.missing.extend(numbers);
            return Ok(true);
        }
        for number in numbers {
            let other = Bound::Equal(scalar.nearest(*number));
            let reason = other_type(name, *number, given, scalar);
            self.doubts.push(Doubt { other, limit: None, reason });
        }
        Ok(false)
    }

    /// Adds the number of those that were never written.
    fn add_default_fill(&mut self, store: &dyn Store, scalar: ScalarType) {
        let fill = scalar.default_fill();
        match store.has_default_fill(scalar) {
            Some(true) => self.missing.push(fill),
            Some(false) => {}
            None => self.doubts.push(Doubt {
                other: Bound::Equal(fill),
                limit: None,
                reason: format!(
                    "it is that of numbers of type {scalar} that were never written, and the file does not tell \
                     whether it means a missing one; add the attribute `_FillValue`"
                ),
            }),
        }
    }

    /// Adds `valid_range`, or `valid_min` and `valid_max`.
    fn add_limits(&mut self, variable: &Variable, scalar: ScalarType) -> Result<(), String> {
        let range = "valid_range";
        if let Some((given, numbers)) = variable.typed_numbers(range)? {
            let [low, high] = *numbers else {
                return Err(format!("its attribute `{range}` is not two numbers; correct it"));
            };
            let is_used = scalar.holds(low) && scalar.holds(high);
            self.add_limit((range, given), scalar, (low, Bound::Below), is_used);
            self.add_limit((range, given), scalar, (high, Bound::Above), is_used);
            if is_used {
                return Ok(());
            }
        }
        let below = Bound::Below as fn(f64) -> Bound;
        for (name, bound) in [("valid_min", below), ("valid_max", Bound::Above)] {
            match variable.typed_numbers(name)? {
                None => {}
                Some((given, &[limit])) => {
                    self.add_limit((name, given), scalar, (limit, bound), scalar.holds(limit));
                }
                Some(_) => {
                    return Err(format!("its attribute `{name}` is not a number; correct it"));
                }
            }
        }
        Ok(())
    }

    /// Adds a limit, which is one of stored numbers if it is used. A limit of another type may be one of
    /// unpacked numbers.
    fn add_limit(
        &mut self,
        (name, given): (&str, ScalarType),
        scalar: ScalarType,
        (number, bound): (f64, fn(f64) -> Bound),
        is_used: bool,
    ) {
        let (other, limit) = (bound(number), is_used.then(|| self.seen(number)));
        match (other, limit) {
            (Bound::Below(_), Some(low)) => self.valid[0] = low,
            (_, Some(high)) => self.valid[1] = high,
            _ => {}
        }
        let may_be_unpacked = !self.steps.is_empty() && given.is_float() && given != scalar;
        if !is_used || may_be_unpacked {
            let reason = other_type(name, number, given, scalar);
            self.doubts.push(Doubt { other, limit, reason });
        }
    }

    /// A number of a signed type as the unsigned one that it stands for.
    fn seen(&self, stored: f64) -> f64 {
        if stored < 0.0 { stored + self.wrap } else { stored }
    }

    /// Whether any number means a missing value.
    pub fn has_missing(&self) -> bool {
        !self.missing.is_empty() || self.valid != [f64::NEG_INFINITY, f64::INFINITY]
    }

    pub fn is_single(&self) -> bool {
        self.is_single
    }

    /// Decodes numbers, and converts them; a missing value becomes NaN. Numbers that need neither keep their
    /// bits.
    ///
    /// # Errors
    ///
    /// If a number is missing by one reading of an attribute, and not by another.
    pub fn decode(&self, values: Values, unit: Option<Unit>) -> Result<Decoded, String> {
        let unit = unit.filter(|unit| !unit.is_si());
        let is_as_stored = self.steps.is_empty() && self.doubts.is_empty() && self.wrap == 0.0;
        if !self.has_missing() && is_as_stored && unit.is_none() {
            return Ok(Decoded { values, missing: None });
        }
        let mut missing = self.has_missing().then(|| Vec::with_capacity(values.len()));
        let mut unclear = None;
        let values = values.map_to(self.is_single, |stored| {
            let (number, is_missing) = self.decode_one(stored, &mut unclear);
            if let Some(missing) = &mut missing {
                missing.push(is_missing);
            }
            match unit {
                _ if is_missing => f64::NAN,
                Some(unit) => unit.convert(number),
                None => number,
            }
        });
        match unclear {
            None => Ok(Decoded { values, missing }),
            Some((stored, reason)) => {
                Err(format!("its stored number {stored} is unclear: {reason}"))
            }
        }
    }

    /// An unpacked number, and whether it is missing. Keeps the first one of which that is unclear.
    fn decode_one<'a>(&'a self, stored: f64, unclear: &mut Option<(f64, &'a str)>) -> (f64, bool) {
        let seen = self.seen(stored);
        let number = self.steps.iter().fold(seen, |number, step| step.apply(number));
        if self.is_fill(stored) {
            return (number, true);
        }
        if unclear.is_none() {
            let found = self.doubts.iter().find(|doubt| doubt.differs(stored, seen, number));
            *unclear = found.map(|doubt| (stored, doubt.reason.as_str()));
        }
        (number, seen < self.valid[0] || seen > self.valid[1])
    }

    /// Whether a number means a missing value, as stored: of 64 bits, unsigned ones are not exact.
    fn is_fill(&self, stored: f64) -> bool {
        let is = |fill: &f64| stored == *fill || (fill.is_nan() && stored.is_nan());
        self.missing.iter().any(is)
    }
}

impl Step {
    fn apply(self, number: f64) -> f64 {
        let (number, is_single) = match self {
            Step::Times(factor, is_single) => (number * factor, is_single),
            Step::Plus(offset, is_single) => (number + offset, is_single),
        };
        if is_single { f64::from(number as f32) } else { number }
    }
}

impl Doubt {
    /// Whether the readings of the attribute differ for a number.
    fn differs(&self, stored: f64, seen: f64, unpacked: f64) -> bool {
        let (by_other, by_limit) = match self.other {
            Bound::Equal(number) => (stored == number || seen == number, false),
            Bound::Below(low) => (unpacked < low, self.limit.is_some_and(|low| seen < low)),
            Bound::Above(high) => (unpacked > high, self.limit.is_some_and(|high| seen > high)),
        };
        by_other != by_limit
    }
}

fn other_type(name: &str, number: f64, given: ScalarType, scalar: ScalarType) -> String {
    format!(
        "its attribute `{name}` has {number}, which is {given} and not {scalar} as the stored numbers, and \
         programs differ in what they do with it; write it in that type, as a stored number, or remove it \
         (with NCO: `ncatted -a {name},VARIABLE,d,, FILE`)"
    )
}

/// Whether the numbers of a signed type stand for those of the unsigned one.
fn is_unsigned(variable: &Variable, scalar: ScalarType) -> Result<bool, String> {
    if variable.attribute("_Unsigned").is_none() || scalar.unsigned() == scalar {
        return Ok(false);
    }
    match variable.text("_Unsigned") {
        // Doubles do not tell their ends apart.
        Some("true" | "True") if scalar == ScalarType::I64 => {
            Err("its attribute `_Unsigned` is not supported for 64 bits; write it as uint64".into())
        }
        Some("true" | "True") => Ok(true),
        Some("false" | "False") => Ok(false),
        _ => Err("its attribute `_Unsigned` is neither \"true\" nor \"false\"; correct it".into()),
    }
}

type Factor = Option<(ScalarType, f64)>;

/// `scale_factor` or `add_offset`.
fn factor(variable: &Variable, name: &str) -> Result<Factor, String> {
    match variable.typed_numbers(name)? {
        None => Ok(None),
        Some((_, [number])) if !number.is_finite() => {
            Err(format!("its {name} {number} is not finite; correct it"))
        }
        Some((given, [number])) => Ok(Some((given, *number))),
        Some(_) => Err(format!("its attribute `{name}` is not a number; correct it")),
    }
}

/// The steps of unpacking numbers of a type, and the type of the result, as NumPy promotes types.
fn steps(of: ScalarType, scale: Factor, offset: Factor) -> Result<(Vec<Step>, ScalarType), String> {
    let mut unpacked = Unpacked { of, range: of.range(), steps: Vec::new() };
    match (scale, offset) {
        // Only the type changes, and no number where the new one holds them all.
        (Some((to, 1.0)), Some((_, 0.0))) => match to {
            ScalarType::F64 => {}
            ScalarType::F32 if of.fits_f32() => {}
            _ => unpacked.add(to, Step::Times, 1.0)?,
        },
        (Some((by, scale)), Some((and, offset))) => {
            unpacked.add(of.promoted(by), Step::Times, scale)?;
            unpacked.add(unpacked.of.promoted(and), Step::Plus, offset)?;
        }
        (Some((by, scale)), None) if scale != 1.0 => {
            unpacked.add(of.promoted(by), Step::Times, scale)?;
        }
        (None, Some((and, offset))) if offset != 0.0 => {
            unpacked.add(of.promoted(and), Step::Plus, offset)?;
        }
        _ => {}
    }
    Ok((unpacked.steps, unpacked.of))
}

/// Numbers on their way from packed to unpacked ones.
struct Unpacked {
    of: ScalarType,
    /// Minimum and maximum of the numbers.
    range: [f64; 2],
    steps: Vec<Step>,
}

impl Unpacked {
    /// Adds a step with a result of a type, which must hold all numbers.
    fn add(
        &mut self,
        to: ScalarType,
        step: fn(f64, bool) -> Step,
        number: f64,
    ) -> Result<(), String> {
        let (step, was_float) = (step(number, to == ScalarType::F32), self.of.is_float());
        self.range = self.range.map(|end| step.apply(end));
        let holds = |end: &f64| (to.range()[0]..=to.range()[1]).contains(end);
        if !to.is_float() && (was_float || !self.range.iter().all(holds)) {
            return Err(format!(
                "its scale_factor and add_offset are whole numbers, and unpacked numbers do not all fit into \
                 {to}; write them as floating point numbers"
            ));
        }
        let changes = !matches!(step, Step::Times(1.0, false));
        self.steps.extend(changes.then_some(step));
        self.of = to;
        Ok(())
    }
}

impl Values {
    /// Replaces each value by a function of it, computed in double precision.
    fn map_to(self, is_single: bool, mut f: impl FnMut(f64) -> f64) -> Values {
        match (self, is_single) {
            (Values::F32(values), true) => {
                Values::F32(values.into_iter().map(|x| f(f64::from(x)) as f32).collect())
            }
            (values, _) => Values::F64(values.into_f64().into_iter().map(f).collect()),
        }
    }
}

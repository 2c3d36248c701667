//! Ticks of an axis, and numbers as text.

/// The ticks of an axis with their labels.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ticks {
    /// Each number with its label, which shows (number - `offset`) / 10^`exponent`.
    pub at: Vec<(f64, String)>,
    /// The common power of 10; 0 for none.
    pub exponent: i32,
    /// The common offset; 0 for none.
    pub offset: f64,
}

/// The smallest step that is 1, 2, 2.5 or 5 times a power of 10 and at least `min`, and the power
/// of 10 of its last digit.
pub(crate) fn round_step(min: f64) -> (f64, i32) {
    let power = min.log10().floor() as i32;
    let steps = [(1.0, power), (2.0, power), (2.5, power - 1), (5.0, power), (10.0, power + 1)];
    let (step, digit) = steps
        .into_iter()
        .find(|&(step, _)| scaled(step, power) >= min * (1.0 - 1e-9))
        .unwrap_or((20.0, power + 1));
    (scaled(step, power), digit)
}

/// `value` x 10^`power`. Negative powers divide, for the smaller rounding error.
fn scaled(value: f64, power: i32) -> f64 {
    if power < 0 { value / 10f64.powi(-power) } else { value * 10f64.powi(power) }
}

/// The relative position of a value in a range: 0 at the low end, 1 at the high one.
pub(crate) fn fraction(value: f64, [low, high]: [f64; 2], log: bool) -> f64 {
    if log {
        (value.ln() - low.ln()) / (high.ln() - low.ln())
    } else {
        (value - low) / (high - low)
    }
}

/// A range that is not empty: a single value is widened around its middle, and a range that is not
/// finite becomes 0 to 1.
pub(crate) fn widened([low, high]: [f64; 2]) -> [f64; 2] {
    if !(low.is_finite() && high.is_finite()) {
        return [0.0, 1.0];
    }
    let size = low.abs().max(high.abs());
    if high - low > 1e-12 * size && high - low > f64::MIN_POSITIVE * 1e6 {
        return [low, high];
    }
    let margin = if size > f64::MIN_POSITIVE * 1e9 { 0.05 * size } else { 0.5 };
    [low - margin, high + margin]
}

/// Ticks on a linear axis: at most `max_steps` + 1, and at least one if `max_steps` is 2 or more.
/// With `integers`, integers only.
///
/// The power of 10 that the labels omit is that of `size`, the largest absolute value on all axes of one
/// quantity.
pub(crate) fn linear(range: [f64; 2], max_steps: usize, integers: bool, size: f64) -> Ticks {
    let [low, high] = range;
    let (mut step, mut last_digit) = round_step((high - low) / max_steps as f64);
    if integers && step < 1.0 {
        (step, last_digit) = (1.0, 0);
    } else if integers && step == 2.5 {
        (step, last_digit) = (5.0, 0);
    }
    label_ticks(multiples(range, step, max_steps), range, last_digit, size)
}

/// Steps of degrees, from 1 on.
const DEGREES: [f64; 11] = [1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0, 90.0, 180.0];

/// Ticks of longitudes or latitudes at round degrees: `10°W`, `0°`, `7.5°N`. `directions` are the letters above and below 0.
pub(crate) fn degrees([low, high]: [f64; 2], max_steps: usize, directions: [&str; 2]) -> Ticks {
    let min = (high - low) / max_steps as f64;
    let (step, last_digit) = match DEGREES.into_iter().find(|step| *step >= min * (1.0 - 1e-9)) {
        _ if min <= 0.5 => round_step(min),
        Some(step) => (step, 0),
        None => (360.0 * (min / 360.0).ceil(), 0),
    };
    let decimals = -last_digit.min(0) as usize;
    let label = |number: f64| {
        // Longitudes of any turn from -180 to 180 degrees.
        let number = 180.0 - (180.0 - number).rem_euclid(360.0);
        let text = format!("{:.decimals$}", number.abs());
        match number {
            _ if text.bytes().all(|digit| digit == b'0' || digit == b'.') => "0°".into(),
            180.0 => "180°".into(),
            _ => format!("{text}°{}", directions[usize::from(number < 0.0)]),
        }
    };
    let numbers = multiples([low, high], step, max_steps).into_iter();
    Ticks { at: numbers.map(|number| (number, label(number))).collect(), exponent: 0, offset: 0.0 }
}

/// The multiples of a step in a range.
fn multiples([low, high]: [f64; 2], step: f64, max_steps: usize) -> Vec<f64> {
    let slack = 1e-9 * (high - low);
    let first = ((low - slack) / step).ceil();
    let count = ((high + slack) / step).floor() - first;
    (0..=count.clamp(0.0, max_steps as f64) as usize)
        .map(|i| multiple(first + i as f64, step))
        .filter(|number| (low - slack..=high + slack).contains(number))
        .collect()
}

/// A multiple of a step. The inverse of a step below 1 is an integer, so that division rounds once.
fn multiple(count: f64, step: f64) -> f64 {
    if step < 1.0 { count / (1.0 / step).round() } else { count * step }
}

/// Labels numbers down to the digit of 10^`last_digit`.
fn label_ticks(numbers: Vec<f64>, [low, high]: [f64; 2], last_digit: i32, size: f64) -> Ticks {
    let offset = offset([low, high]);
    let own = (low - offset).abs().max((high - offset).abs());
    // An axis far shorter than the others has a power of its own.
    let size = if offset == 0.0 && size < 1e3 * own { own.max(size) } else { own };
    let power = size.log10().floor() as i32;
    // Numbers from 0.001 to 999,999 are written without a power of 10.
    let exponent = if (-3..6).contains(&power) { 0 } else { power };
    let decimals = (exponent - last_digit).max(0) as usize;
    // All labels have commas, or none.
    let has_commas = exponent == 0 && own >= 1e4;
    let label = |number: f64| signed(scaled(number - offset, -exponent), decimals, has_commas);
    let at = numbers.into_iter().map(|number| (number, label(number))).collect();
    Ticks { at, exponent, offset }
}

/// The common offset of the numbers in a range that is narrow and far from 0; otherwise 0.
fn offset([low, high]: [f64; 2]) -> f64 {
    let size = low.abs().max(high.abs());
    if low * high <= 0.0 || high - low > 1e-4 * size {
        return 0.0;
    }
    let power = (high - low).log10().ceil() as i32;
    let unit = scaled(1.0, power);
    let middle = (low / unit).floor();
    if power < 0 { middle / 10f64.powi(-power) } else { middle * unit }
}

/// A number with a typographic minus sign, and none before 0.
fn signed(value: f64, decimals: usize, has_commas: bool) -> String {
    let text = format!("{value:.decimals$}");
    let grouped = |digits| grouped(digits, if has_commas { 4 } else { usize::MAX });
    match text.strip_prefix('-') {
        Some(digits) if digits.bytes().all(|digit| digit == b'0' || digit == b'.') => digits.into(),
        Some(digits) => format!("−{}", grouped(digits)),
        None => grouped(&text),
    }
}

/// Digits with commas as thousands separators, if at least `min` are before the decimal point.
fn grouped(digits: &str, min: usize) -> String {
    let (whole, rest) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    match whole.len() {
        length if length < min => digits.into(),
        _ if !whole.bytes().all(|digit| digit.is_ascii_digit()) => digits.into(),
        _ => with_commas(whole) + rest,
    }
}

/// Ticks on a logarithmic axis over a positive range: powers of 10, with 2 and 5 times these if
/// there are few, or linear ticks if the range is less than a decade.
pub(crate) fn logarithmic([low, high]: [f64; 2], max_steps: usize) -> Ticks {
    // Outside this range, powers of 10 are inexact.
    let (low, high) = (low.max(1e-300), high.min(1e300));
    if low >= high {
        return label_powers(Vec::new());
    }
    let decades = high.log10() - low.log10();
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let is_inside = |number: &f64| (low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(number);
    let ticks_of = |steps: &[f64], stride: i32| -> Vec<(f64, f64, i32)> {
        let powers = (first..=last).filter(|power| power.rem_euclid(stride) == 0);
        let all = powers.flat_map(|power| {
            steps.iter().map(move |&step| (scaled(step, power), step, power)).collect::<Vec<_>>()
        });
        all.filter(|(number, ..)| is_inside(number)).collect()
    };
    for steps in [[1.0, 2.0, 5.0].as_slice(), [1.0, 3.0].as_slice()] {
        let ticks = ticks_of(steps, 1);
        if ticks.len() >= 3 && ticks.len() <= max_steps.max(3) {
            return label_powers(ticks);
        }
    }
    if decades < 1.0 {
        return linear([low, high], max_steps, false, 0.0);
    }
    let strides = [1, 2, 3, 5, 10, 20, 50, 100];
    let fits = |stride: &i32| ticks_of(&[1.0], *stride).len() <= max_steps.max(2);
    let stride = strides.into_iter().find(fits);
    label_powers(ticks_of(&[1.0], stride.unwrap_or(200)))
}

/// Labels steps times powers of 10: as decimals if all of them are short, otherwise as powers.
fn label_powers(ticks: Vec<(f64, f64, i32)>) -> Ticks {
    let are_short = ticks.iter().all(|(.., power)| (-3..=4).contains(power));
    let label = |(number, step, power): (f64, f64, i32)| match are_short {
        true => (number, format!("{number}")),
        false if step == 1.0 => (number, format!("10{}", superscript(power))),
        false => (number, format!("{step}×10{}", superscript(power))),
    };
    Ticks { at: ticks.into_iter().map(label).collect(), exponent: 0, offset: 0.0 }
}

/// An integer in superscript digits.
fn superscript(number: i32) -> String {
    let raised = |letter: char| match letter {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => char::from_u32(0x2070 + digit.to_digit(10).unwrap_or(0)).unwrap_or(digit),
    };
    number.to_string().chars().map(raised).collect()
}

impl Ticks {
    /// The title of the axis: its name, the offset and the power of 10 that the labels omit, and
    /// the unit: `x − 4000 (10⁻³ m)`.
    pub(crate) fn title(&self, name: &str, unit: &str) -> String {
        let offset = match self.offset {
            0.0 => String::new(),
            offset => {
                let sign = if offset < 0.0 { '+' } else { '−' };
                format!(
                    "{}{sign} {}",
                    if name.is_empty() { "" } else { " " },
                    shortest(offset.abs())
                )
            }
        };
        let factor = match self.exponent {
            0 => String::new(),
            power if unit.is_empty() => format!("×10{}", superscript(power)),
            power => format!("10{} ", superscript(power)),
        };
        let name = sentence_case(name);
        match (factor.as_str(), unit) {
            ("", "") => format!("{name}{offset}"),
            _ => format!("{name}{offset} ({factor}{unit})").trim_start().into(),
        }
    }
}

/// A text with a capital first letter, unless its first word is a symbol such as `x`, or no word.
pub(crate) fn sentence_case(text: &str) -> String {
    let word = text.split([' ', ',']).next().unwrap_or("");
    let is_word =
        word.len() > 1 && word.chars().all(|letter| letter.is_alphabetic() || letter == '-');
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if is_word => first.to_uppercase().chain(letters).collect(),
        _ => text.into(),
    }
}

/// A count with commas as thousands separators.
pub(crate) fn format_count(count: usize) -> String {
    with_commas(&count.to_string())
}

/// A count with commas as thousands separators: `12,345`.
pub fn count(count: usize) -> String {
    with_commas(&count.to_string())
}

fn with_commas(digits: &str) -> String {
    let comma = |i: usize| i > 0 && (digits.len() - i).is_multiple_of(3);
    digits.chars().enumerate().fold(String::new(), |mut text, (i, digit)| {
        if comma(i) {
            text.push(',');
        }
        text.push(digit);
        text
    })
}

/// A number for running text, with up to six digits.
pub(crate) fn format_number(number: f64) -> String {
    let rounded: f64 = format!("{number:.5e}").parse().unwrap_or(number);
    let text = shortest(rounded);
    match text.strip_prefix('-') {
        Some(digits) => format!("−{}", grouped(digits, 5)),
        None => grouped(&text, 5),
    }
}

/// The shortest text that parses to the number, with a power of 10 if it is long.
fn shortest(number: f64) -> String {
    let size = number.abs();
    if size == 0.0 || !size.is_finite() || (1e-4..1e7).contains(&size) {
        return number.to_string();
    }
    let text = format!("{number:e}");
    match text.split_once('e') {
        Some((digits, power)) => {
            format!("{digits}×10{}", superscript(power.parse().unwrap_or(0)))
        }
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &Ticks) -> Vec<&str> {
        ticks.at.iter().map(|(_, label)| label.as_str()).collect()
    }

    #[test]
    fn steps_are_1_2_2_5_or_5_times_a_power_of_10() {
        for (min, step) in [(0.7, 1.0), (1.0, 1.0), (1.1, 2.0), (2.1, 2.5), (3.0, 5.0), (6.0, 10.0)]
        {
            for power in -12..=12 {
                let (found, _) = round_step(scaled(min, power));
                let expected = scaled(step, power);
                assert!(
                    (found / expected - 1.0).abs() < 1e-12,
                    "{min}e{power}: {found}, not {expected}"
                );
            }
        }
    }

    #[test]
    fn common_ranges_have_short_labels() {
        let of = |low, high, most| linear([low, high], most, false, 0.0);
        assert_eq!(labels(&of(0.0, 2.0, 4)), ["0.0", "0.5", "1.0", "1.5", "2.0"]);
        assert_eq!(labels(&of(0.0, 1.0, 4)), ["0.00", "0.25", "0.50", "0.75", "1.00"]);
        assert_eq!(labels(&of(-1.3, 1.2, 3)), ["−1", "0", "1"]);
        assert_eq!(labels(&of(0.0, 40000.0, 4)), ["0", "10,000", "20,000", "30,000", "40,000"]);
        assert_eq!(labels(&of(0.0, 12000.0, 3)), ["0", "5,000", "10,000"]);
        assert_eq!(labels(&of(0.0, 9000.0, 2)), ["0", "5000"]);
        assert_eq!(labels(&linear([0.0, 3.0], 10, true, 0.0)), ["0", "1", "2", "3"]);
        assert_eq!(of(0.0, 0.3, 3).at[2].0, 0.2);
        assert_eq!(of(0.0, 0.3, 3).at[3].0, 0.3);
    }

    #[test]
    fn tiny_and_huge_numbers_have_a_common_power() {
        let ticks = linear([0.0, 3e-9], 3, false, 0.0);
        assert_eq!(labels(&ticks), ["0", "1", "2", "3"]);
        assert_eq!(ticks.title("x", "m"), "x (10⁻⁹ m)");
        let ticks = linear([-1e7, 1e7], 4, false, 0.0);
        assert_eq!(labels(&ticks), ["−1.0", "−0.5", "0.0", "0.5", "1.0"]);
        assert_eq!(ticks.title("x", ""), "x (×10⁷)");
    }

    #[test]
    fn axes_of_one_quantity_have_a_common_power() {
        let of = |high, size| linear([0.0, high], 4, false, size);
        assert_eq!(of(2e6, 1e7).title("y", "m"), "y (10⁷ m)");
        assert_eq!(labels(&of(2e6, 1e7)), ["0.00", "0.05", "0.10", "0.15", "0.20"]);
        assert_eq!(of(2e3, 1e7).exponent, 0, "an axis far shorter than the others");
        assert_eq!(of(1e5, 0.0).at[1].1, "25,000");
    }

    #[test]
    fn words_begin_with_a_capital_and_symbols_do_not() {
        let texts =
            ["residence time", "mean-square displacement", "x", "t = 3", "trace.dt", "FTLE"];
        let expected =
            ["Residence time", "Mean-square displacement", "x", "t = 3", "trace.dt", "FTLE"];
        assert_eq!(texts.map(sentence_case), expected);
    }

    #[test]
    fn narrow_range_far_from_0_has_an_offset() {
        let ticks = linear([1e7, 1e7 + 2.0], 4, false, 0.0);
        assert_eq!(ticks.title("x", "m"), "x − 1×10⁷ (m)");
        assert_eq!(labels(&ticks), ["0.0", "0.5", "1.0", "1.5", "2.0"]);
        let ticks = linear([-4000.002, -4000.0], 4, false, 0.0);
        assert_eq!(ticks.title("x", ""), "x + 4000.01");
        assert_eq!(labels(&ticks), ["0.0080", "0.0085", "0.0090", "0.0095", "0.0100"]);
    }

    #[test]
    fn degrees_have_directions() {
        let of = |low, high, most| degrees([low, high], most, ["E", "W"]);
        assert_eq!(labels(&of(-10.0, 5.0, 4)), ["10°W", "5°W", "0°", "5°E"]);
        assert_eq!(labels(&of(350.0, 365.0, 4)), ["10°W", "5°W", "0°", "5°E"]);
        assert_eq!(labels(&of(-180.0, 180.0, 5)), ["180°", "90°W", "0°", "90°E", "180°"]);
        assert_eq!(labels(&of(7.0, 7.4, 3)), ["7.0°E", "7.2°E", "7.4°E"]);
        assert_eq!(labels(&of(-0.3, 0.3, 4)), ["0.2°W", "0°", "0.2°E"]);
        assert_eq!(labels(&of(0.0, 720.0, 3)), ["0°", "0°", "0°"]);
        assert_eq!(labels(&degrees([-90.0, 90.0], 6, ["N", "S"]))[..2], ["90°S", "60°S"]);
    }

    #[test]
    fn any_range_has_a_tick() {
        for power in -300..300 {
            for (low, high) in [(0.1, 0.4), (-0.3, -0.1), (3.3, 9.9), (-1.0, 1.0), (99.9, 101.0)] {
                let range = [low, high].map(|end| scaled(end, power));
                for max_steps in 2..12 {
                    let ticks = linear(range, max_steps, false, 0.0);
                    let count = ticks.at.len();
                    assert!(
                        (1..=max_steps + 1).contains(&count),
                        "{range:?}, {max_steps}: {ticks:?}"
                    );
                    for (at, _) in ticks.at {
                        let slack = 1e-8 * (range[1] - range[0]);
                        assert!(at >= range[0] - slack && at <= range[1] + slack);
                    }
                }
            }
        }
    }

    #[test]
    fn different_ticks_have_different_labels() {
        for range in [[1e7, 1e7 + 1.0], [5.0, 5.0 + 1e-9], [-2e-9, 1e-9], [0.0, 1e-300], [3e5, 4e5]]
        {
            let ticks = linear(range, 5, false, 0.0);
            let mut labels = labels(&ticks);
            assert!(labels.iter().all(|label| label.chars().count() <= 7), "{labels:?}");
            labels.dedup();
            assert!(labels.len() == ticks.at.len() && labels.len() > 1, "{range:?}: {ticks:?}");
        }
    }

    #[test]
    fn logarithmic_ticks_are_multiples_of_powers_of_10() {
        let of = |low, high, most| logarithmic([low, high], most);
        assert_eq!(labels(&of(0.01, 100.0, 6)), ["0.01", "0.1", "1", "10", "100"]);
        assert_eq!(labels(&of(1.0, 50.0, 8)), ["1", "2", "5", "10", "20", "50"]);
        assert_eq!(labels(&of(1e-9, 1e-3, 4)), ["10⁻⁸", "10⁻⁶", "10⁻⁴"]);
        assert_eq!(labels(&of(2.0, 3.0, 4)), ["2.00", "2.25", "2.50", "2.75", "3.00"]);
        assert_eq!(
            labels(&of(4e-7, 3e-5, 6)),
            ["5×10⁻⁷", "10⁻⁶", "2×10⁻⁶", "5×10⁻⁶", "10⁻⁵", "2×10⁻⁵"]
        );
    }

    #[test]
    fn empty_range_is_widened() {
        assert_eq!(widened([0.0, 0.0]), [-0.5, 0.5]);
        assert_eq!(widened([f64::INFINITY, f64::NEG_INFINITY]), [0.0, 1.0]);
        assert_eq!(widened([2.0, 2.0]), [1.9, 2.1]);
        assert_eq!(widened([1e-9, 2e-9]), [1e-9, 2e-9]);
    }

    #[test]
    fn numbers_and_counts_as_text() {
        assert_eq!(
            [0, 999, 1000, 12_345_678].map(format_count),
            ["0", "999", "1,000", "12,345,678"]
        );
        assert_eq!(
            [0.0, 2.5, -3.0, 1e-9, 12345678.0].map(format_number),
            ["0", "2.5", "−3", "1×10⁻⁹", "1.23457×10⁷"]
        );
        assert_eq!(format_number(0.1f64 + 0.2), "0.3");
    }
}

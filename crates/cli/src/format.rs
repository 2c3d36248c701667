//! Numbers as text.

/// A large number with an SI prefix: `12.40 M`.
pub fn with_prefix(x: f64) -> String {
    match x {
        x if x >= 1e9 => format!("{:.2} G", x / 1e9),
        x if x >= 1e6 => format!("{:.2} M", x / 1e6),
        x if x >= 1e3 => format!("{:.1} k", x / 1e3),
        x => format!("{x:.0}"),
    }
}

/// A count with its noun: `1 cell`, `2 cells`.
pub fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// The verb for a count.
pub fn is_or_are(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

/// A number rounded to six significant digits, for printing.
pub fn six_digits(x: f64) -> f64 {
    format!("{x:.5e}").parse().unwrap_or(x)
}

/// A time or another number that was computed in decimal steps: `0.3`, not `0.30000000000000004`.
pub fn twelve_digits(x: f64) -> f64 {
    format!("{x:.11e}").parse().unwrap_or(x)
}

/// A cell of a CSV table, in quotes if it needs them.
pub fn csv_cell(cell: &str) -> String {
    match cell.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}

/// A number in a CSV table; empty if it is not finite.
pub fn csv_number(x: f64) -> String {
    if x.is_finite() { x.to_string() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_no_rounding_errors() {
        let texts =
            [0.1 + 0.2, 3.0 * 0.7, 86_400.5, -0.0, 1e-7].map(|x| twelve_digits(x).to_string());
        assert_eq!(texts, ["0.3", "2.1", "86400.5", "-0", "0.0000001"]);
        assert!(twelve_digits(f64::NAN).is_nan());
    }
}

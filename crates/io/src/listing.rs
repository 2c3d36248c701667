//! What is there, in words, for messages.

/// How many things a message lists before it says how many more there are.
const MOST: usize = 12;

/// The things in a row: `a, b, c and 5 more`; `none` if there are none.
pub(crate) fn row<T: std::fmt::Display>(things: &[T]) -> String {
    if things.is_empty() {
        return "none".into();
    }
    let named: Vec<String> = things.iter().take(MOST).map(T::to_string).collect();
    match things.len().saturating_sub(MOST) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// `1 file`, `2 files`.
pub(crate) fn counted(count: usize, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {thing}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_rows_are_cut() {
        assert_eq!(row::<u8>(&[]), "none");
        assert_eq!(row(&[1, 2]), "1, 2");
        let long: Vec<usize> = (0..15).collect();
        assert_eq!(row(&long), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 3 more");
        assert_eq!((counted(1, "file"), counted(2, "file")), ("1 file".into(), "2 files".into()));
    }
}

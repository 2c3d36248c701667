//! Lists and counts in messages.

/// Maximum number of items that a message lists.
const MAX_LISTED: usize = 12;

/// The items, separated by commas: `a, b, c and 5 more`; `none` for an empty list.
pub(crate) fn list<T: std::fmt::Display>(items: &[T]) -> String {
    if items.is_empty() {
        return "none".into();
    }
    let listed: Vec<String> = items.iter().take(MAX_LISTED).map(T::to_string).collect();
    match items.len().saturating_sub(MAX_LISTED) {
        0 => listed.join(", "),
        more => format!("{} and {more} more", listed.join(", ")),
    }
}

/// A count with its noun: `1 file`, `2 files`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_abbreviated() {
        assert_eq!(list::<u8>(&[]), "none");
        assert_eq!(list(&[1, 2]), "1, 2");
        let long: Vec<usize> = (0..15).collect();
        assert_eq!(list(&long), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 3 more");
        assert_eq!((counted(1, "file"), counted(2, "file")), ("1 file".into(), "2 files".into()));
    }
}

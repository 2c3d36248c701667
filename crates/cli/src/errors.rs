//! Error messages and exit conditions.

/// Joins an error and its causes.
pub fn chain(error: &anyhow::Error) -> String {
    joined(error.chain().map(ToString::to_string))
}

/// Joins the texts of an error and its causes, leaving out a cause that the text already contains.
pub fn joined(causes: impl IntoIterator<Item = String>) -> String {
    let mut text = String::new();
    for cause in causes {
        if !text.contains(&cause) {
            let separator = if text.is_empty() { "" } else { ": " };
            text = format!("{text}{separator}{cause}");
        }
    }
    text
}

/// Whether the reader of standard output has closed it, as `head` does.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    io.is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
}

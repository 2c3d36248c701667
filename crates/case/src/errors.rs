//! Error messages and exit conditions.

/// Joins an error and its causes.
pub fn chain(error: &anyhow::Error) -> String {
    joined(error.chain().map(ToString::to_string))
}

/// What errors of the library advise, and what the same is called in a case file.
const CASE_WORDS: [(&str, &str); 29] = [
    ("open it with `Frames::Streamed`", "use `run.strategy = \"in-memory\"`"),
    ("open it with `Frames::All`", "use `run.strategy = \"streamed-frames\"`"),
    ("(`Frames::Streamed`)", "(`run.strategy = \"streamed-frames\"`)"),
    ("`Strategy::Streamed`", "`run.strategy = \"streamed\"`"),
    (
        "read only the part of a grid that the particles reach",
        "read only what the particles can reach (`field.crop = \"auto\"`)",
    ),
    ("omit the batch", "omit `run.batch`"),
    ("`Execution::memory`", "`run.memory`"),
    ("select fewer frames", "read fewer frames (`field.frames`)"),
    ("`NotFinite::Zero`", "`field.not_finite = \"zero\"`"),
    ("`NotFinite::Outside`", "`field.not_finite = \"outside\"`"),
    ("`NotFinite::Land`", "`field.not_finite = \"land\"`"),
    (
        "`OutsideTime::Hold`, `Zero` or `Periodic`",
        "`field.outside_time = \"hold\"`, `\"zero\"` or `\"periodic\"`",
    ),
    ("`OutsideTime::Hold`", "`outside_time = \"hold\"`"),
    ("(`OutsideTime`)", "(`outside_time`)"),
    ("`TimeInterpolation::Linear`", "`in_time = \"linear\"`"),
    ("`OutsideField::Zero`", "`outside = \"zero\"`"),
    ("the axes to close (`PeriodicAxis::Closed`)", "`field.periodic_axes`"),
    ("confirm with `period`", "confirm with `domain.low` and `domain.high`"),
    ("give the period if", "give `field.period` if"),
    ("`SeedsOutside::NotLocated`", "`seeds.outside = \"not-located\"`"),
    ("`Adjoint::Auto`", "`trace.engine = \"auto\"`"),
    ("(`Addend::per_particle`)", "(`[[field]]`)"),
    ("a further field with `Sum`", "a further field (`[[field]]`)"),
    ("`Span::dt`", "`trace.dt`"),
    ("`Span::t1`", "`trace.t1`"),
    ("`Span::steps`", "`trace.steps`"),
    ("`SaveAt::EverySteps`", "`save.every`"),
    ("`SaveAt::Times`", "`save.times`"),
    ("`CellVelocity::Constant`", "`field.cell_velocity = \"constant\"`"),
];

/// A text of the library in the words of a case file.
fn in_case_words(text: String) -> String {
    CASE_WORDS.iter().fold(text, |text, (library, case)| text.replace(library, case))
}

/// Joins the texts of an error and its causes, leaving out a cause that the text already contains. Advice for users
/// of the library becomes advice for users of the program.
pub fn joined(causes: impl IntoIterator<Item = String>) -> String {
    let mut text = String::new();
    for cause in causes.into_iter().map(in_case_words) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// Errors that no case leads to: they are about tensors, fields of one's own, and gradients.
    const OF_THE_LIBRARY: [&str; 13] = [
        "`Analytic::sample`",
        "`Frames::All`",
        "`FrameData::",
        "`FrameSource::",
        "`Adjoint::",
        "`Field::to_device`",
        "`Tracer::sample`",
        "`Tracer::shape`",
        "`Tracer::span`",
        "`Tracer::times`",
        "`Tracer::allow_non_finite(true)`",
        "`Surroundings::outlets`",
        "`Source::",
    ];

    /// The text of the files of a crate without comments and tests; texts over several lines are joined.
    fn code_of(folder: &Path) -> String {
        let mut all = String::new();
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                all += &code_of(&entry);
            } else if !entry.ends_with("tests.rs") {
                let text = std::fs::read_to_string(entry).unwrap();
                let code = text.split("#[cfg(test)]").next().unwrap_or_default();
                let lines = code.lines().map(str::trim).filter(|line| !line.starts_with("//"));
                all += &lines.map(|line| format!("{line}\n")).collect::<String>();
            }
        }
        all.replace("\\\n", "")
    }

    #[test]
    fn errors_of_the_library_are_said_in_words_of_the_case_file() {
        let core = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/src");
        let code = code_of(&core);
        for (library, case) in CASE_WORDS {
            assert!(code.contains(library), "no error has {library}");
            assert_eq!(in_case_words(case.into()), case);
        }
        let names: Vec<String> = code
            .lines()
            .filter(|line| line.contains('"'))
            .flat_map(|line| {
                let line = in_case_words(line.into());
                let starts = line.match_indices('`').map(|(at, _)| at).collect::<Vec<_>>();
                let names = starts.into_iter().map(|at| line[at..].chars().take(40).collect());
                names.collect::<Vec<String>>()
            })
            .filter(|name| {
                let is_type = name.chars().nth(1).is_some_and(|c| c.is_ascii_uppercase());
                let end = name[1..].find('`').map_or(name.as_str(), |end| &name[..end + 1]);
                is_type && end.contains("::")
            })
            .filter(|name| !OF_THE_LIBRARY.iter().any(|own| name.starts_with(own)))
            .collect();
        assert!(names.is_empty(), "{names:?}");
    }
}

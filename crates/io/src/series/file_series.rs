//! Files with times in JSON: `.vtm.series`, `.vtu.series` and so on, as ParaView and OpenFOAM write them.

use super::times::FrameFiles;
use crate::{Error, Result};
use serde::Deserialize;
use std::path::Path;

/// The contents of a `.series` file. Other keys, such as its version, are ignored.
#[derive(Deserialize)]
struct FileSeries {
    files: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    name: String,
    time: f64,
}

/// The frames of a series with their times, in the order of the times.
///
/// # Errors
///
/// If the file cannot be read, is not such a JSON file, is empty, or has two files with the same time.
pub(super) fn read(path: &Path) -> Result<Vec<(FrameFiles, f64)>> {
    let wrong =
        |location: String, reason: String| Error::Pvd { path: path.into(), location, reason };
    let text = std::fs::read_to_string(path).map_err(Error::system("read", path))?;
    let series: FileSeries = serde_json::from_str(&text).map_err(|error| {
        let expected = r#"{ "files": [{ "name": "u_0.vtu", "time": 0.0 }] }"#;
        wrong(
            format!("line {}", error.line()),
            format!("it is not a list of files: {expected} ({error})"),
        )
    })?;
    let mut entries = series.files;
    if entries.is_empty() {
        return Err(wrong("`files`".into(), "it lists no file; list at least one".into()));
    }
    entries.sort_by(|a, b| a.time.total_cmp(&b.time));
    if let Some([a, b]) = entries.array_windows().find(|[a, b]| a.time == b.time) {
        let reason = format!("`{}` and `{}` have the same time; list one of them", a.name, b.name);
        return Err(wrong(format!("time {}", a.time), reason));
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let frame = |entry: Entry| (folder.join(entry.name).into(), entry.time);
    Ok(entries.into_iter().map(frame).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn parse(text: &str) -> Result<Vec<(PathBuf, f64)>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("u.vtm.series");
        std::fs::write(&path, text).unwrap();
        let name = |path: PathBuf| path.strip_prefix(folder.path()).unwrap().to_path_buf();
        Ok(read(&path)?.into_iter().map(|(frame, time)| (name(frame.path), time)).collect())
    }

    #[test]
    fn files_are_sorted_by_time_and_resolved_in_the_folder() {
        let text = r#"{ "file-series-version": "1.0", "files": [
            { "name": "b/u_2.vtm", "time": 0.5 }, { "name": "u_1.vtm", "time": 0 }] }"#;
        assert_eq!(parse(text).unwrap(), [("u_1.vtm".into(), 0.0), ("b/u_2.vtm".into(), 0.5)]);
    }

    #[test]
    fn errors_name_the_file_and_the_problem() {
        let entry = r#"{ "name": "a", "time": 1 }"#;
        for (text, message) in [
            ("", "line 1: it is not a list of files"),
            ("{\n\"files\": 3 }", "line 2: it is not a list of files"),
            (r#"{ "files": [{ "name": "a" }] }"#, "missing field `time`"),
            (r#"{ "files": [] }"#, "it lists no file"),
            (&format!(r#"{{ "files": [{entry}, {entry}] }}"#), "time 1: `a` and `a` have the same"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(message) && error.contains("u.vtm.series"), "{text}: {error}");
        }
    }
}

//! Collections of files with times: `.pvd` files.

use super::times::FrameFiles;
use crate::{Error, Result};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::path::{Path, PathBuf};

/// A file of a collection with its time.
struct Entry {
    time: f64,
    path: PathBuf,
    /// The group and the part, which are the name of the block.
    part: String,
}

/// The frames of a collection with their times, in the order of the times. Entries with the same time are
/// the parts of a frame, in the order of the file.
///
/// # Errors
///
/// If the file cannot be read, is not a collection, is empty, or has an entry without a time or a file
/// twice at the same time.
pub(super) fn read(path: &Path) -> Result<Vec<(FrameFiles, f64)>> {
    let text = std::fs::read_to_string(path).map_err(Error::system("read", path))?;
    let mut entries = entries(path, &text)?;
    if entries.is_empty() {
        return Err(wrong(path, "<Collection>", "it has no <DataSet timestep=.. file=..> entry"));
    }
    entries.sort_by(|a, b| a.time.total_cmp(&b.time));
    entries.chunk_by(|a, b| a.time == b.time).map(|parts| frame(path, parts)).collect()
}

/// The frame of the entries with one time.
fn frame(pvd: &Path, entries: &[Entry]) -> Result<(FrameFiles, f64)> {
    let [first, rest @ ..] = entries else {
        return Err(wrong(pvd, "<Collection>", "it has a time without an entry"));
    };
    if rest.is_empty() {
        return Ok((first.path.clone().into(), first.time));
    }
    check_parts(pvd, entries)?;
    let parts = entries.iter().map(|entry| (entry.part.clone(), entry.path.clone()));
    Ok((FrameFiles { path: first.path.clone(), parts: parts.collect(), step: 0 }, first.time))
}

/// Checks that the entries with one time are different parts of it. A second run that appends to the file of an
/// earlier one lists parts again.
fn check_parts(pvd: &Path, entries: &[Entry]) -> Result<()> {
    for (i, entry) in entries.iter().enumerate() {
        let is_same = |before: &&Entry| before.path == entry.path || before.part == entry.part;
        let Some(before) = entries.iter().take(i).find(is_same) else { continue };
        let [first, second] = [before, entry].map(|entry| entry.path.display());
        let (what, name) =
            (if entry.part.is_empty() { "without a part" } else { "of " }, &entry.part);
        let reason = match before.path == entry.path {
            true => format!("it lists `{first}` twice; list each part of a time once"),
            false => format!(
                "it lists `{first}` and `{second}`, both {what}{name}; remove the entries of one of them, as \
                 after a second run that was appended to the file, or give each part of a time a number of its \
                 own: part=\"0\", part=\"1\" and so on"
            ),
        };
        return Err(wrong(pvd, format!("timestep {}", entry.time), reason));
    }
    Ok(())
}

/// The text of a `.pvd` file and the current position of the reader.
struct Document<'a> {
    path: &'a Path,
    text: &'a str,
    /// Bytes before the current position.
    offset: u64,
}

fn entries(path: &Path, text: &str) -> Result<Vec<Entry>> {
    let mut document = Document { path, text, offset: 0 };
    let mut reader = Reader::from_str(text);
    let mut entries = Vec::new();
    let mut is_collection = false;
    loop {
        let event = reader.read_event();
        document.offset = reader.buffer_position();
        match event.map_err(|e| document.broken(&e))? {
            Event::End(tag) if tag.name().as_ref() == "Collection" => return Ok(entries),
            Event::Eof if is_collection => {
                return Err(document.wrong("the file ends before </Collection>: it is truncated"));
            }
            Event::Eof => {
                return Err(document.wrong("it has no <Collection>, the list of the files"));
            }
            Event::Start(tag) | Event::Empty(tag) => match tag.name().as_ref() {
                "Collection" => is_collection = true,
                "DataSet" if is_collection => entries.push(document.entry(&tag)?),
                _ => {}
            },
            _ => {}
        }
    }
}

impl Document<'_> {
    fn entry(&self, tag: &BytesStart<'_>) -> Result<Entry> {
        let Some(file) = self.attribute(tag, "file")? else {
            return Err(self.wrong("a <DataSet> has no attribute `file`"));
        };
        let Some(time) = self.attribute(tag, "timestep")? else {
            let reason = format!("the <DataSet> of `{file}` has no attribute `timestep`, its time");
            return Err(self.wrong(&reason));
        };
        let number = time.trim().parse::<f64>().ok().filter(|time| time.is_finite());
        let Some(number) = number else {
            let reason = format!("the timestep `{time}` of `{file}` is not a number");
            return Err(self.wrong(&reason));
        };
        let part = self.attribute(tag, "part")?.unwrap_or_default();
        let group = self.attribute(tag, "group")?.unwrap_or_default();
        let path = self.path.parent().unwrap_or(Path::new("")).join(file);
        let names =
            [("group", group), ("part", part)].into_iter().filter(|(_, name)| !name.is_empty());
        let names: Vec<String> = names.map(|(what, name)| format!("{what} {name}")).collect();
        Ok(Entry { time: number, path, part: names.join(", ") })
    }

    fn attribute(&self, tag: &BytesStart<'_>, name: &str) -> Result<Option<String>> {
        for attribute in tag.attributes() {
            let attribute = attribute.map_err(|e| self.broken(&e))?;
            if attribute.key.as_ref() == name {
                let value = attribute.normalized_value(quick_xml::XmlVersion::Implicit1_0);
                return Ok(Some(value.map_err(|e| self.broken(&e))?.into_owned()));
            }
        }
        Ok(None)
    }

    fn broken(&self, error: &dyn std::fmt::Display) -> Error {
        self.wrong(&format!("invalid XML ({error})"))
    }

    fn wrong(&self, reason: &str) -> Error {
        let read = self.text.bytes().take(usize::try_from(self.offset).unwrap_or(usize::MAX));
        let line = 1 + read.filter(|byte| *byte == b'\n').count();
        wrong(self.path, format!("line {line}"), reason)
    }
}

fn wrong(path: &Path, location: impl Into<String>, reason: impl Into<String>) -> Error {
    Error::Pvd { path: path.into(), location: location.into(), reason: reason.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The files of each frame in the folder, and its time.
    fn parse(body: &str) -> Result<Vec<(Vec<PathBuf>, f64)>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.pvd");
        let text =
            format!("<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\">{body}</VTKFile>");
        std::fs::write(&path, text).unwrap();
        let name = |path: &PathBuf| path.strip_prefix(folder.path()).unwrap().to_path_buf();
        let of_frame = |(frame, time): (FrameFiles, f64)| {
            let parts: Vec<PathBuf> = frame.parts.iter().map(|(_, path)| name(path)).collect();
            (if parts.is_empty() { vec![name(&frame.path)] } else { parts }, time)
        };
        Ok(read(&path)?.into_iter().map(of_frame).collect())
    }

    #[test]
    fn entries_are_sorted_by_time_and_resolved_in_the_folder() {
        let files = parse(
            "<Collection><DataSet timestep=\"0.5\" part=\"0\" file=\"sub/b &amp; c.vti\"/>\
             <DataSet timestep=\"-1e-1\" group=\"\" file=\"a.vti\"></DataSet></Collection>",
        );
        let one = |name: &str| vec![PathBuf::from(name)];
        assert_eq!(files.unwrap(), [(one("a.vti"), -0.1), (one("sub/b & c.vti"), 0.5)]);
    }

    #[test]
    fn entries_with_the_same_time_are_parts_of_a_frame() {
        let entry = |time: &str, part: &str, file: &str| {
            format!("<DataSet timestep=\"{time}\" part=\"{part}\" file=\"{file}\"/>")
        };
        let (a, b) = (entry("1", "0", "a.vti"), entry("1", "1", "b.vti"));
        let body = format!("<Collection>{b}{}{a}</Collection>", entry("0", "0", "c.vti"));
        let expected = [(vec!["c.vti".into()], 0.0), (vec!["b.vti".into(), "a.vti".into()], 1.0)];
        assert_eq!(parse(&body).unwrap(), expected);
        let twice = parse(&format!("<Collection>{a}{a}</Collection>")).unwrap_err().to_string();
        assert!(
            twice.contains("timestep 1: it lists `") && twice.contains("a.vti` twice"),
            "{twice}"
        );
    }

    #[test]
    fn errors_name_the_file_and_the_problem() {
        let one = "<DataSet timestep=\"1\" part=\"0\" file=\"a.vti\"/>";
        let parts = |[a, b]: [&str; 2]| {
            let entry =
                |part, file| format!("<DataSet timestep=\"0\" {part} file=\"{file}.vti\"/>");
            format!("<Collection>{}{}</Collection>", entry(a, "a"), entry(b, "b"))
        };
        for (body, message) in [
            (parts(["part=\"0\""; 2]).as_str(), "b.vti`, both of part 0; remove"),
            (&parts(["group=\"g\""; 2]), "both of group g; remove"),
            (&parts([""; 2]), "both without a part; remove"),
            ("<Other/>", "no <Collection>"),
            ("<Collection></Collection>", "no <DataSet"),
            ("<Collection><DataSet timestep=\"1\"/></Collection>", "no attribute `file`"),
            ("<Collection><DataSet file=\"a.vti\"/></Collection>", "no attribute `timestep`"),
            ("<Collection><DataSet timestep=\"x\" file=\"a.vti\"/></Collection>", "`x` of `a.vti`"),
            ("<Collection><DataSet timestep=1 /></Collection>", "invalid XML"),
            ("<Collection", "no <Collection>"),
            ("<Collection><!-- ", "invalid XML"),
            (&format!("<Collection>{one}{one}</Collection>"), "timestep 1: it lists"),
        ] {
            let error = parse(body).unwrap_err().to_string();
            assert!(error.contains(message) && error.contains("run.pvd"), "{body}: {error}");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cut.pvd");
        std::fs::write(&path, format!("<VTKFile>\n<Collection>\n{one}\n")).unwrap();
        let cut = read(&path).unwrap_err().to_string();
        assert!(
            cut.ends_with("line 4: the file ends before </Collection>: it is truncated"),
            "{cut}"
        );
    }
}

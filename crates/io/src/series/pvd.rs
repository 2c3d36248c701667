//! Collections of files with times: `.pvd` files.

use crate::{Error, Result};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::path::{Path, PathBuf};

/// A file of a collection with its time.
struct Entry {
    time: f64,
    path: PathBuf,
    part: String,
}

/// The files of a collection with their times, in the order of the times.
///
/// # Errors
///
/// If the file cannot be read, is not a collection, is empty, or has an entry without a time or
/// several entries with the same time.
pub(super) fn read(path: &Path) -> Result<Vec<(PathBuf, f64)>> {
    let text = std::fs::read_to_string(path).map_err(Error::system("read", path))?;
    let mut entries = entries(path, &text)?;
    if entries.is_empty() {
        return Err(wrong(path, "<Collection>", "it has no <DataSet timestep=.. file=..> entry"));
    }
    entries.sort_by(|a, b| a.time.total_cmp(&b.time));
    if let Some([a, b]) = entries.array_windows().find(|[a, b]| a.time == b.time) {
        let location = format!("timestep {}", a.time);
        return Err(wrong(path, location, several_parts(a, b)));
    }
    Ok(entries.into_iter().map(|entry| (entry.path, entry.time)).collect())
}

fn several_parts(a: &Entry, b: &Entry) -> String {
    format!(
        "it has several parts, `{}` ({}) and `{}` ({}), and a frame is one file; merge the parts, or \
         list only one",
        a.path.display(),
        a.part,
        b.path.display(),
        b.part
    )
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
        Ok(Entry { time: number, path, part: format!("part `{part}`, group `{group}`") })
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

    fn parse(body: &str) -> Result<Vec<(PathBuf, f64)>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.pvd");
        let text =
            format!("<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\">{body}</VTKFile>");
        std::fs::write(&path, text).unwrap();
        let mut files = read(&path)?;
        for (path, _) in &mut files {
            *path = path.strip_prefix(folder.path()).unwrap().into();
        }
        Ok(files)
    }

    #[test]
    fn entries_are_sorted_by_time_and_resolved_in_the_folder() {
        let files = parse(
            "<Collection><DataSet timestep=\"0.5\" part=\"0\" file=\"sub/b &amp; c.vti\"/>\
             <DataSet timestep=\"-1e-1\" group=\"\" file=\"a.vti\"></DataSet></Collection>",
        );
        assert_eq!(files.unwrap(), [("a.vti".into(), -0.1), ("sub/b & c.vti".into(), 0.5)]);
    }

    #[test]
    fn errors_name_the_file_and_the_problem() {
        let one = "<DataSet timestep=\"1\" part=\"0\" file=\"a.vti\"/>";
        let two = "<DataSet timestep=\"1\" part=\"1\" file=\"b.vti\"/>";
        for (body, message) in [
            ("<Other/>", "no <Collection>"),
            ("<Collection></Collection>", "no <DataSet"),
            ("<Collection><DataSet timestep=\"1\"/></Collection>", "no attribute `file`"),
            ("<Collection><DataSet file=\"a.vti\"/></Collection>", "no attribute `timestep`"),
            ("<Collection><DataSet timestep=\"x\" file=\"a.vti\"/></Collection>", "`x` of `a.vti`"),
            ("<Collection><DataSet timestep=1 /></Collection>", "invalid XML"),
            ("<Collection", "no <Collection>"),
            ("<Collection><!-- ", "invalid XML"),
            (&format!("<Collection>{one}{two}</Collection>"), "timestep 1: it has several parts"),
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

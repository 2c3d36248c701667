//! File names, patterns and lists.

use super::numbers::{check_order, is_digit};
use super::times::FrameFiles;
use crate::listing::{counted, list};
use crate::{Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::path::{Path, PathBuf};

/// The files of a series as given by the user: a path, a pattern, a `.pvd` or `.series` file, or a list. A path
/// may be the folder of a Zarr group.
///
/// A name that contains `*`, `?` or `[` and is not the name of an existing file is a pattern, as
/// in `run/u_*.vti`. Its matches are sorted in natural order: `u_2` before `u_10`. A list keeps its
/// order.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "give a path, a pattern or a list of them, or { u = \"u_*.nc\", v = \"v_*.nc\" }"
)]
pub enum Files {
    /// One file, pattern, `.pvd` or `.series` file.
    One(PathBuf),
    /// Several files or patterns.
    List(Vec<PathBuf>),
    /// NetCDF files or Zarr groups with a component of the velocity each.
    Components(ComponentFiles),
}

/// Files with a component of the velocity each, one for one in their order, of the same times.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComponentFiles {
    /// The files of u.
    pub u: Box<Files>,
    /// The files of v.
    pub v: Box<Files>,
    /// The files of w.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub w: Option<Box<Files>>,
    /// The files of other variables, such as temperatures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t: Option<Box<Files>>,
}

impl ComponentFiles {
    /// The files of each component, with its name.
    fn all(&self) -> impl Iterator<Item = (&'static str, &Files)> {
        let others = [("w", &self.w), ("t", &self.t)];
        let others = others.into_iter().filter_map(|(name, of)| Some((name, of.as_deref()?)));
        [("u", &*self.u), ("v", &*self.v)].into_iter().chain(others)
    }

    /// The files of each component, which must be as many.
    fn paths(&self) -> Result<Vec<(&'static str, Vec<PathBuf>)>> {
        let each = self.all().map(|(name, files)| match files {
            Files::Components(_) => Err(Error::Files(format!(
                "`files.{name}` has components of its own; give a path, a pattern or a list"
            ))),
            files => Ok((name, files.paths()?)),
        });
        let each: Vec<(&str, Vec<PathBuf>)> = each.collect::<Result<_>>()?;
        let count = each[0].1.len();
        match each.iter().find(|(_, paths)| paths.len() != count) {
            None => Ok(each),
            Some((name, paths)) => Err(Error::Files(format!(
                "`files.{name}` has {} and `files.u` {}; give as many, one for one",
                counted(paths.len(), "file"),
                counted(count, "file")
            ))),
        }
    }

    /// The files of each frame file: those of all components.
    pub(super) fn frames(&self) -> Result<Vec<FrameFiles>> {
        let each = self.paths()?;
        if let Some(other) =
            each.iter().flat_map(|(_, paths)| paths).find(|path| !burntrace_cf::is_cf(path))
        {
            return Err(Error::Files(format!(
                "`{}` is neither a NetCDF file nor a Zarr group, and only these may have a component each; list the files \
                 in `files`",
                other.display()
            )));
        }
        let frame = |i: usize| FrameFiles {
            path: each[0].1[i].clone(),
            parts: each.iter().map(|(name, paths)| ((*name).into(), paths[i].clone())).collect(),
            step: 0,
        };
        Ok((0..each[0].1.len()).map(frame).collect())
    }
}

impl Files {
    /// Resolves relative names in a folder.
    pub fn within(self, folder: &Path) -> Files {
        match self {
            Files::One(path) => Files::One(folder.join(path)),
            Files::List(paths) => Files::List(paths.iter().map(|path| folder.join(path)).collect()),
            Files::Components(ComponentFiles { u, v, w, t }) => {
                let within = |files: Box<Files>| Box::new(files.within(folder));
                let [w, t] = [w, t].map(|files| files.map(within));
                Files::Components(ComponentFiles { u: within(u), v: within(v), w, t })
            }
        }
    }

    /// The names as they are given.
    fn given(&self) -> Vec<&PathBuf> {
        match self {
            Files::One(path) => vec![path],
            Files::List(paths) => paths.iter().collect(),
            Files::Components(of) => of.all().flat_map(|(_, files)| files.given()).collect(),
        }
    }

    /// Checks that the files of each pattern are in the same order whether their last numbers have decimals or not, as
    /// `u_0.5` and `u_0.25` are not.
    ///
    /// # Errors
    ///
    /// If there are files in another order.
    pub(super) fn check_order(&self) -> Result<()> {
        self.given().iter().try_for_each(|name| check_order(&expand(name)?))
    }

    /// The paths, each of an existing file; of components, all of them.
    pub(super) fn paths(&self) -> Result<Vec<PathBuf>> {
        let given = self.given();
        if given.is_empty() {
            return Err(Error::Files("the list of files is empty; name at least one".into()));
        }
        let mut paths = Vec::new();
        for name in given {
            paths.extend(expand(name)?);
        }
        Ok(paths)
    }
}

impl From<&str> for Files {
    fn from(path: &str) -> Self {
        Files::One(path.into())
    }
}

impl From<&Path> for Files {
    fn from(path: &Path) -> Self {
        Files::One(path.into())
    }
}

impl From<PathBuf> for Files {
    fn from(path: PathBuf) -> Self {
        Files::One(path)
    }
}

impl From<Vec<PathBuf>> for Files {
    fn from(paths: Vec<PathBuf>) -> Self {
        Files::List(paths)
    }
}

/// The files of a name or pattern, in natural order.
fn expand(name: &Path) -> Result<Vec<PathBuf>> {
    if is_data(name) {
        return Ok(vec![name.to_path_buf()]);
    }
    let Some(pattern) = name.to_str().filter(|name| is_pattern(name)) else {
        return Err(no_file("is called", name));
    };
    let refused = |reason: String| Error::Pattern { pattern: pattern.into(), reason };
    let mut paths = Vec::new();
    for path in glob::glob(pattern).map_err(|e| refused(e.to_string()))? {
        let path = path.map_err(|e| refused(e.to_string()))?;
        if is_data(&path) {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        return Err(no_file("matches", name));
    }
    paths.sort_by(|a, b| natural_order(&a.to_string_lossy(), &b.to_string_lossy()));
    Ok(paths)
}

/// Whether a path is a file, the folder of a Zarr group, or that of a data set in memory.
fn is_data(path: &Path) -> bool {
    path.is_file() || burntrace_cf::is_cf(path)
}

fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '['])
}

fn no_file(what: &'static str, name: &Path) -> Error {
    if name.is_dir() {
        let there = match files_in(name) {
            Some(files) if !files.is_empty() => format!("it is a folder with {}", list(&files)),
            _ => "it is a folder without files".into(),
        };
        return Error::NoFile { what, given: name.display().to_string(), there };
    }
    // The deepest folder without a wildcard.
    let is_fixed = |folder: &&Path| !is_pattern(&folder.to_string_lossy());
    let folder = name.ancestors().skip(1).find(is_fixed).unwrap_or(Path::new(""));
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let there = match files_in(folder) {
        Some(files) if files.is_empty() => {
            format!("the folder `{}` has no files", folder.display())
        }
        Some(files) => format!("the folder `{}` has {}", folder.display(), list(&files)),
        None => format!("there is no folder `{}`", folder.display()),
    };
    Error::NoFile { what, given: name.display().to_string(), there }
}

/// Names of the files in a folder, in natural order; `None` if the folder cannot be read.
fn files_in(folder: &Path) -> Option<Vec<String>> {
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    let files = entries.filter(|entry| entry.path().is_file());
    let mut names: Vec<String> =
        files.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
    names.sort_by(|a, b| natural_order(a, b));
    Some(names)
}

/// Natural order of names: runs of digits are compared as integers. A decimal point is not part of a
/// number, because of names such as `v2.0010`.
pub(crate) fn natural_order(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a, b);
    loop {
        let (x, y) = (token(&mut left), token(&mut right));
        let order = match (x.starts_with(is_digit), y.starts_with(is_digit)) {
            (true, true) => number_order(x, y),
            _ => x.cmp(y),
        };
        if order != Ordering::Equal {
            return order;
        }
        if x.is_empty() {
            return a.cmp(b);
        }
    }
}

/// Splits the leading run of digits, or of other characters, off a name.
fn token<'a>(name: &mut &'a str) -> &'a str {
    let digits = name.starts_with(is_digit);
    let end = name.find(|c| is_digit(c) != digits).unwrap_or(name.len());
    let (token, rest) = name.split_at(end);
    *name = rest;
    token
}

/// Order of two runs of digits of any length.
fn number_order(x: &str, y: &str) -> Ordering {
    let (x, y) = (x.trim_start_matches('0'), y.trim_start_matches('0'));
    x.len().cmp(&y.len()).then_with(|| x.cmp(y))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_are_ordered_as_numbers() {
        let mut names =
            ["u_10", "u_2", "u_002b", "u_1", "a", "u_02", "u_", "u_99999999999999999999999"];
        names.sort_by(|a, b| natural_order(a, b));
        let sorted =
            ["a", "u_", "u_1", "u_02", "u_2", "u_002b", "u_10", "u_99999999999999999999999"];
        assert_eq!(names, sorted);
        assert_eq!(natural_order("x", "x"), Ordering::Equal);
    }

    #[test]
    fn missing_files_are_reported_with_those_in_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["u_10.vti", "u_2.vti", "notes.txt"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let error =
            |name: &str| Files::from(folder.path().join(name)).paths().unwrap_err().to_string();
        let none = error("v_*.vti");
        assert!(none.starts_with("no file matches `"), "{none}");
        assert!(none.ends_with("has notes.txt, u_2.vti, u_10.vti"), "{none}");
        assert!(error("v_1.vti").starts_with("no file is called `"));
        assert!(error("sub/v_*.vti").contains("there is no folder `"));
        assert!(error("u_[.vti").contains("is not a file name pattern"));
        assert!(Files::List(vec![]).paths().unwrap_err().to_string().contains("empty"));
    }

    #[test]
    fn matches_are_sorted_and_lists_keep_their_order() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["u_10.vti", "u_2.vti", "u_[1].vti"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let names = |files: Files| -> Vec<String> {
            let paths = files.within(folder.path()).paths().unwrap();
            paths.iter().map(|p| p.file_name().unwrap().to_str().unwrap().into()).collect()
        };
        assert_eq!(names("u_*0.vti".into()), ["u_10.vti"]);
        assert_eq!(names("u_?*.vti".into()), ["u_2.vti", "u_10.vti", "u_[1].vti"]);
        // The name of an existing file is not a pattern.
        assert_eq!(names("u_[1].vti".into()), ["u_[1].vti"]);
        let list: Vec<PathBuf> = vec!["u_10.vti".into(), "u_2.vti".into()];
        assert_eq!(names(list.into()), ["u_10.vti", "u_2.vti"]);
    }
}

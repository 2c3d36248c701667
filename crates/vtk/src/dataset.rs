//! Opens the files of a data set.

use std::path::{Path, PathBuf};

use crate::array::ArrayInfo;
use crate::blocks::{self, BlockInfo};
use crate::error::Error;
use crate::source::Source;
use crate::sources::Sources;
use crate::structure::{BlockFile, BlockIndex, Structure};
use crate::xml::Contents;
use crate::{hdf, legacy, parallel, xml};

/// The first bytes of a legacy file, in lower case.
const LEGACY_START: &[u8] = b"# vtk datafile version";

/// A data set: its files, and everything but the values of its arrays.
#[derive(Debug)]
pub(crate) struct DataSet {
    pub(crate) sources: Sources,
    pub(crate) structure: Structure,
    /// The blocks that define the points and the cells of a mesh, in the order of its arrays; empty if
    /// the structure has them itself.
    pub(crate) members: Vec<Structure>,
    /// All blocks of a data set of several blocks.
    pub(crate) blocks: Vec<BlockInfo>,
    /// What is not used of its files, and why.
    pub(crate) notes: Vec<String>,
    /// The times of the time steps of a VTKHDF file, and the step that is open.
    pub(crate) steps: (Vec<f64>, usize),
}

impl DataSet {
    /// A data set that its structure describes completely.
    pub(crate) fn new(sources: Sources, structure: Structure) -> Self {
        let (members, blocks, notes) = (Vec::new(), Vec::new(), Vec::new());
        Self { sources, structure, members, blocks, notes, steps: (Vec::new(), 0) }
    }

    fn of_hdf(opened: hdf::AtStep, step: usize) -> Self {
        let hdf::AtStep { source, structure, times } = opened;
        let data = DataSet::new(Sources::new(source, Vec::new()), structure);
        DataSet { steps: (times, step), ..data }
    }
}

/// Opens a data set at a time step, or one of its blocks, which cannot have blocks itself. Only VTKHDF files
/// have several steps.
pub(crate) fn open(path: &Path, step: usize, is_block: bool) -> Result<DataSet, Error> {
    let source = Source::open(path)?;
    if source.start_bytes()?.starts_with(hdf::START) {
        return open_hdf(source, step, is_block);
    }
    if step > 0 {
        let context = source.context(0, "the data set");
        return Err(context.malformed("one time step", format!("a step `{step}`, from 0")));
    }
    match read_contents(&source)? {
        Contents::DataSet(structure, members) => {
            let data = DataSet::new(Sources::new(source, Vec::new()), *structure);
            Ok(DataSet { members, ..data })
        }
        Contents::Index(index) => parallel::open(source, *index),
        Contents::Blocks(_) if is_block => Err(nested_blocks(&source)),
        Contents::Blocks(index) => blocks::open(source, index, 0),
    }
}

/// Opens a VTKHDF file.
fn open_hdf(source: Source, step: usize, is_block: bool) -> Result<DataSet, Error> {
    let opened = match hdf::open(source, step)? {
        hdf::Contents::DataSet(opened) => *opened,
        hdf::Contents::Blocks(source, _) if is_block => return Err(nested_blocks(&source)),
        hdf::Contents::Blocks(source, groups) => {
            let path = source.path().to_path_buf();
            let file = |(name, group)| BlockFile { name, path: path.clone(), group: Some(group) };
            let files = groups.into_iter().map(file).collect();
            return blocks::open(source, BlockIndex { files, fields: Vec::new() }, step);
        }
    };
    if is_block && opened.times.len() > 1 {
        return Err(opened
            .source
            .context(0, "the time steps")
            .unsupported("a VTKHDF file with several time steps as a block", "open it by itself"));
    }
    Ok(DataSet::of_hdf(opened, step))
}

/// Opens a block in a group of a VTKHDF file.
pub(crate) fn open_group(path: &Path, step: usize, group: &str) -> Result<DataSet, Error> {
    Ok(DataSet::of_hdf(hdf::open_block(Source::open(path)?, step, group)?, step))
}

/// Opens a block at a time step.
pub(crate) fn open_block(block: &BlockFile, step: usize) -> Result<DataSet, Error> {
    match &block.group {
        None => open(&block.path, 0, true),
        Some(group) => open_group(&block.path, step, group),
    }
}

fn nested_blocks(source: &Source) -> Error {
    let context = source.context(0, "the elements");
    context.unsupported("a multi-block file inside another one", "list its files instead")
}

/// Reads the structure of a file, legacy or XML.
fn read_contents(source: &Source) -> Result<Contents, Error> {
    let start = source.start_bytes()?;
    if start.to_ascii_lowercase().starts_with(LEGACY_START) {
        return Ok(Contents::DataSet(Box::new(legacy::read_structure(source)?), Vec::new()));
    }
    if is_xml(&start) {
        return xml::read_contents(source);
    }
    let found = match kind(&start) {
        Some(kind) => format!("is {kind}"),
        None => format!("starts with `{}`", crate::source::shortened(&start)),
    };
    Err(Error::NotVtk { path: source.path().to_path_buf(), found })
}

/// The files that an index lists, and those that these list; none for other files. Reads indexes only.
pub(crate) fn listed_files(path: &Path, is_block: bool) -> Result<Vec<PathBuf>, Error> {
    let source = Source::open(path)?;
    if !is_xml(&source.start_bytes()?) {
        return Ok(Vec::new());
    }
    let mut files = xml::listed_files(&source)?;
    // The files of blocks can be indexes of pieces.
    if !is_block {
        let of_blocks = files.iter().map(|file| listed_files(file, true));
        let of_blocks: Vec<Vec<PathBuf>> = of_blocks.collect::<Result<_, _>>()?;
        files.extend(of_blocks.into_iter().flatten());
    }
    Ok(files)
}

/// Whether a file is an XML file by its first bytes.
fn is_xml(start: &[u8]) -> bool {
    start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start().starts_with(b"<")
}

/// The kind of a file of another format, by its first bytes.
fn kind(start: &[u8]) -> Option<&'static str> {
    const KINDS: [(&[u8], &str); 7] = [
        (b"CDF\x01", "a NetCDF file (classic)"),
        (b"CDF\x02", "a NetCDF file (64-bit offsets)"),
        (b"CDF\x05", "a NetCDF file (64-bit data)"),
        (b"\x1f\x8b", "compressed by gzip; decompress it first"),
        (b"PK\x03\x04", "a ZIP archive"),
        (
            b"version https://git-lfs",
            "a Git LFS pointer to a file that was not fetched (`git lfs pull`)",
        ),
        (b"solid ", "an STL file, as surfaces of obstacles are"),
    ];
    KINDS.iter().find(|(magic, _)| start.starts_with(magic)).map(|(_, kind)| *kind)
}

impl Structure {
    /// The structure in a list of files in which its first file has the index `number`.
    pub(crate) fn shifted(self, number: usize) -> Self {
        let all = |arrays: Vec<ArrayInfo>| -> Vec<ArrayInfo> {
            arrays.iter().map(|array| parallel::shifted(array, number)).collect()
        };
        Self {
            file: self.file + number,
            arrays: all(self.arrays),
            topology: all(self.topology),
            coordinates: all(self.coordinates),
            points: self.points.map(|points| parallel::shifted(&points, number)),
            ..self
        }
    }
}

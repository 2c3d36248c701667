//! Opens the files of a data set.

use std::path::{Path, PathBuf};

use crate::dataset::DataSet;
use crate::error::Error;
use crate::source::Source;
use crate::sources::Sources;
use crate::structure::{BlockFile, BlockIndex};
use crate::xml::Contents;
use crate::{blocks, hdf, legacy, parallel, xml};

/// The first bytes of a legacy file, in lower case.
const LEGACY_START: &[u8] = b"# vtk datafile version";

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
        Contents::Blocks(index) => open_blocks(source, index, 0),
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
            return open_blocks(source, BlockIndex { files, fields: Vec::new() }, step);
        }
    };
    if is_block && opened.times.len() > 1 {
        return Err(opened
            .source
            .context(0, "the time steps")
            .unsupported("a VTKHDF file with several time steps as a block", "open it by itself"));
    }
    Ok(at_step(opened, step))
}

/// Opens a block in a group of a VTKHDF file.
pub(crate) fn open_group(path: &Path, step: usize, group: &str) -> Result<DataSet, Error> {
    Ok(at_step(hdf::open_block(Source::open(path)?, step, group)?, step))
}

/// The data set of a VTKHDF file at a step.
fn at_step(hdf::AtStep { source, structure, times }: hdf::AtStep, step: usize) -> DataSet {
    DataSet { times, step, ..DataSet::new(Sources::new(source, Vec::new()), structure) }
}

/// Opens the blocks of an index at a time step, as one data set.
pub(crate) fn open_blocks(
    source: Source,
    index: BlockIndex,
    step: usize,
) -> Result<DataSet, Error> {
    blocks::join(source, index, step, open_block)
}

/// Opens a block at a time step.
fn open_block(block: &BlockFile, step: usize) -> Result<DataSet, Error> {
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

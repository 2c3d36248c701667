//! Opens the files of a data set.

use std::path::Path;

use crate::array::ArrayInfo;
use crate::blocks::{self, BlockInfo};
use crate::error::Error;
use crate::source::Source;
use crate::sources::Sources;
use crate::structure::Structure;
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
}

/// Opens a data set at a time step, or one of its blocks, which cannot have blocks itself. Only VTKHDF files
/// have several steps.
pub(crate) fn open(path: &Path, step: usize, is_block: bool) -> Result<DataSet, Error> {
    let source = Source::open(path)?;
    if source.start_bytes()?.starts_with(hdf::START) {
        let hdf::AtStep { source, structure, times } = hdf::open(source, step)?;
        if is_block && times.len() > 1 {
            return Err(source.context(0, "the time steps").unsupported(
                "a VTKHDF file with several time steps as a block",
                "open it by itself",
            ));
        }
        let data = DataSet::new(Sources::new(source, Vec::new()), structure);
        return Ok(DataSet { steps: (times, step), ..data });
    }
    if step > 0 {
        let context = source.context(0, "the data set");
        return Err(context.malformed("one time step", format!("a step `{step}`, from 0")));
    }
    match read_contents(&source)? {
        Contents::DataSet(structure) => {
            Ok(DataSet::new(Sources::new(source, Vec::new()), *structure))
        }
        Contents::Index(index) => parallel::open(source, *index),
        Contents::Blocks(_) if is_block => Err(source
            .context(0, "the elements")
            .unsupported("a multi-block file inside another one", "list its files instead")),
        Contents::Blocks(index) => blocks::open(source, index),
    }
}

/// Reads the structure of a file, legacy or XML.
fn read_contents(source: &Source) -> Result<Contents, Error> {
    let start = source.start_bytes()?;
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&start).trim_ascii_start();
    if start.to_ascii_lowercase().starts_with(LEGACY_START) {
        return Ok(Contents::DataSet(Box::new(legacy::read_structure(source)?)));
    }
    if text.starts_with(b"<") {
        return xml::read_contents(source);
    }
    let found = match kind(&start) {
        Some(kind) => format!("is {kind}"),
        None => format!("starts with `{}`", crate::source::shortened(&start)),
    };
    Err(Error::NotVtk { path: source.path().to_path_buf(), found })
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

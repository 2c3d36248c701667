//! Groups of an HDF5 file, their attributes and datasets.

use std::sync::Arc;

use hdf5_reader::{Dataset, Hdf5File, OpenOptions};

use super::data::HdfData;
use super::rows::{HdfRows, read_rows, scalar_of};
use crate::array::{ArrayInfo, Association, Part, Placement};
use crate::block::Block;
use crate::error::Error;
use crate::scalar::ScalarType;
use crate::source::{ErrorContext, Source};
use crate::values::Values;

/// Bytes of decoded chunks that an open file keeps.
const CHUNK_CACHE: usize = 1 << 20;

/// The name of the group with the data set.
const ROOT: &str = "VTKHDF";

/// A group.
pub(super) struct Group<'a> {
    source: &'a Source,
    group: hdf5_reader::group::Group,
    /// Its name in messages.
    element: String,
}

impl<'a> Group<'a> {
    /// The group of the data set.
    pub(super) fn root(source: &'a Source) -> Result<Self, Error> {
        let context = source.context(0, "the HDF5 file");
        let damaged = |error: String| context.malformed(error, "a valid HDF5 file");
        let storage = source.hdf_storage().map_err(|error| context.failed(error, "bytes"))?;
        // Each chunk is read once.
        let options = OpenOptions::default().with_chunk_cache_bytes(CHUNK_CACHE);
        let file = Hdf5File::from_storage_with_options(Arc::new(storage), options);
        let file = file.map_err(|error| damaged(error.to_string()))?;
        let group = file.group(ROOT).map_err(|_| {
            context.malformed("no group `VTKHDF`", "one; a NetCDF-4 file has the extension .nc")
        })?;
        Ok(Group { source, group, element: format!("the group `{ROOT}`") })
    }

    /// A group in the group, if there is one.
    pub(super) fn child(&self, name: &str) -> Option<Group<'a>> {
        let group = self.group.group(name).ok()?;
        Some(Group { source: self.source, group, element: format!("the group `{name}`") })
    }

    /// The group with a path of names, from this one on.
    pub(super) fn descendant(self, path: &str) -> Result<Group<'a>, Error> {
        let mut group = self;
        for name in path.split('/') {
            let child = group.child(name);
            group = child.ok_or_else(|| group.lacks(&format!("the group `{name}`")))?;
        }
        Ok(group)
    }

    /// The groups in the group, with their names.
    pub(super) fn children(&self) -> Result<Vec<(String, Group<'a>)>, Error> {
        let groups = self.group.groups();
        let groups =
            groups.map_err(|error| self.context().malformed(error.to_string(), "valid groups"))?;
        let named = groups.into_iter().map(|group| {
            let name = group.name().rsplit('/').next().unwrap_or_default().to_owned();
            let element = format!("the group `{name}`");
            (name, Group { source: self.source, group, element })
        });
        Ok(named.collect())
    }

    pub(super) fn has_attribute(&self, name: &str) -> bool {
        self.group.attribute(name).is_ok()
    }

    pub(super) fn context(&self) -> ErrorContext<'_> {
        self.source.context(0, &self.element)
    }

    /// An attribute that is text.
    pub(super) fn text(&self, name: &str) -> Result<String, Error> {
        let text = self.group.attribute(name).and_then(|attribute| attribute.read_string());
        let text = text.map_err(|_| self.lacks(&format!("the text attribute `{name}`")))?;
        Ok(text.trim_end_matches('\0').trim().to_owned())
    }

    /// An attribute of `N` numbers; `None` without it.
    pub(super) fn numbers<const N: usize>(&self, name: &str) -> Result<Option<[f64; N]>, Error> {
        let Ok(attribute) = self.group.attribute(name) else { return Ok(None) };
        let wrong = || self.lacks(&format!("an attribute `{name}` of `{N}` numbers"));
        macro_rules! numbers {
            ($from:ty) => {
                attribute.read_1d::<$from>().map(|all| all.into_iter().map(|x| x as f64).collect())
            };
        }
        let numbers: Result<Vec<f64>, _> = match scalar_of(&attribute.datatype) {
            Some(ScalarType::I32) => numbers!(i32),
            Some(ScalarType::U32) => numbers!(u32),
            Some(ScalarType::I64) => numbers!(i64),
            Some(ScalarType::U64) => numbers!(u64),
            Some(ScalarType::F32) => numbers!(f32),
            Some(ScalarType::F64) => numbers!(f64),
            _ => return Err(wrong()),
        };
        let numbers = numbers.ok().and_then(|numbers| <[f64; N]>::try_from(numbers).ok());
        numbers.map(Some).ok_or_else(wrong)
    }

    /// All values of a dataset; `None` without it.
    pub(super) fn values(&self, name: &str) -> Result<Option<Values>, Error> {
        let Ok(dataset) = self.group.dataset(name) else { return Ok(None) };
        let element = format!("the dataset `{name}`");
        let context = self.source.context(0, &element);
        let Some(scalar) = scalar_of(dataset.dtype()) else {
            return Err(context.malformed("data that are not numbers", "numbers"));
        };
        let rows = dataset.shape().first().copied().unwrap_or(0);
        read_rows(&dataset, context, scalar, 0, rows).map(Some)
    }

    /// The numbers of a dataset of sizes or offsets; `None` without it.
    pub(super) fn sizes(&self, name: &str) -> Result<Option<Vec<u64>>, Error> {
        let Some(values) = self.values(name)? else { return Ok(None) };
        let mut sizes = Vec::new();
        values.append_indices(&mut sizes, |size| Some(size as u64)).map_err(|(_, number)| {
            self.context()
                .malformed(format!("`{number}` in the dataset `{name}`"), "sizes from 0 on")
        })?;
        Ok(Some(sizes))
    }

    /// The numbers of a dataset that there must be.
    pub(super) fn required_sizes(&self, name: &str) -> Result<Vec<u64>, Error> {
        self.sizes(name)?.ok_or_else(|| self.lacks(&format!("the dataset `{name}`")))
    }

    /// A dataset that there must be.
    pub(super) fn dataset(&self, name: &str) -> Result<Dataset, Error> {
        self.group.dataset(name).map_err(|_| self.lacks(&format!("the dataset `{name}`")))
    }

    /// The datasets of the group.
    pub(super) fn datasets(&self) -> Result<Vec<Dataset>, Error> {
        let datasets = self.group.datasets();
        datasets.map_err(|error| self.context().malformed(error.to_string(), "valid datasets"))
    }

    /// Checks that the time steps use all rows of a dataset: each step has rows of its own, or those of another
    /// step. `offsets` is where a file says at which rows its steps start.
    pub(super) fn check_rows(
        &self,
        dataset: &Dataset,
        rows: &[[u64; 2]],
        offsets: &str,
    ) -> Result<(), Error> {
        let mut used: Vec<[u64; 2]> =
            rows.iter().copied().filter(|[_, count]| *count > 0).collect();
        used.sort_unstable();
        used.dedup();
        let all = dataset.shape().first().copied().unwrap_or(0);
        let is_next = |end: u64, [first, count]: &[u64; 2]| {
            if *first == end { first.checked_add(*count) } else { None }
        };
        if used.iter().try_fold(0, is_next) == Some(all) {
            return Ok(());
        }
        let element = format!("dataset `{}`", dataset.name().trim_start_matches('/'));
        let context = self.source.context(0, &element);
        let found = format!("`{all}` rows");
        if let [[_, count]] = rows {
            return Err(context.malformed(found, format!("`{count}`, by the sizes of its pieces")));
        }
        let ranges: Vec<String> =
            used.iter().take(3).map(|[first, n]| format!("{first}..{}", first + n)).collect();
        let more = if used.len() > 3 { ", ..." } else { "" };
        let found = format!("{found}, of which the time steps use `{}{more}`", ranges.join(", "));
        let expected = format!(
            "`{offsets}` with the first row of each step, so that the steps use all rows, each of them rows \
             of its own or all rows of another one"
        );
        Err(context.malformed(found, expected))
    }

    pub(super) fn lacks(&self, what: &str) -> Error {
        self.context().malformed("a data set without it", what)
    }

    /// An array in rows of a dataset, one part for each piece of the data set, which is the first row, the
    /// number of rows and of tuples, and the index offset of the piece.
    pub(super) fn array(
        &self,
        data: &mut HdfData,
        dataset: Dataset,
        association: Association,
        components: u64,
        pieces: &[Piece],
    ) -> Result<ArrayInfo, Error> {
        let name = dataset.name().rsplit('/').next().unwrap_or_default().to_owned();
        let element = format!("array `{name}`");
        let context = self.source.context(0, &element);
        let Some(scalar) = scalar_of(dataset.dtype()) else {
            return Err(context.malformed("data that are not numbers", "numbers"));
        };
        let index = data.push(dataset);
        let tuples = pieces.iter().try_fold(0_usize, |sum, piece| sum.checked_add(piece.tuples));
        let count = tuples.zip(usize::try_from(components).ok());
        let count = count.filter(|(tuples, components)| tuples.checked_mul(*components).is_some());
        let (tuples, components) = count.ok_or_else(|| context.out_of_memory(usize::MAX))?;
        let mut info = ArrayInfo::new(name, association, [tuples, components], scalar);
        let part = |piece: &Piece| {
            let rows = HdfRows { dataset: index, first: piece.first, rows: piece.rows };
            let placement = Placement::Append { index_offset: piece.index_offset };
            Part { file: 0, block: Block::of_hdf(rows), tuples: piece.tuples, placement }
        };
        info.parts = pieces.iter().map(part).collect();
        Ok(info)
    }
}

/// The rows of an array in one piece of the data set.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    pub(super) first: u64,
    pub(super) rows: u64,
    pub(super) tuples: usize,
    pub(super) index_offset: i64,
}

/// The product of the lengths of dimensions; `None` on overflow.
pub(super) fn product(lengths: &[u64]) -> Option<u64> {
    lengths.iter().try_fold(1_u64, |all, len| all.checked_mul(*len))
}

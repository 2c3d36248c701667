//! The relevant elements of a file, in their order.

use std::ops::Range;

use super::elements::{Elements, Item};
use super::file_format::read_binary_format;
use super::tag::Tag;
use crate::binary::BinaryFormat;
use crate::error::Error;
use crate::geometry::Kind;
use crate::source::Source;

/// The elements of a file.
pub(super) struct Document<'a> {
    /// The element `VTKFile`.
    pub(super) file: Tag<'a>,
    pub(super) kind: Kind,
    /// Whether it only lists the files of its pieces, e.g. `PUnstructuredGrid`.
    pub(super) is_index: bool,
    /// The element of the data set, e.g. `ImageData`.
    pub(super) dataset: Tag<'a>,
    pub(super) pieces: Vec<Piece<'a>>,
    pub(super) fields: Vec<RawArray<'a>>,
    pub(super) appended: Option<Appended>,
    /// The blocks of a data set of several blocks.
    pub(super) blocks: Option<Vec<RawBlock<'a>>>,
}

/// An element `DataSet`: a file of a data set of several blocks.
pub(super) struct RawBlock<'a> {
    pub(super) tag: Tag<'a>,
    /// Its name after those of the blocks that contain it, separated by `/`.
    pub(super) name: String,
    /// Its index after those of the blocks that contain it, as far as they have one.
    pub(super) indices: Vec<Option<String>>,
}

/// Elements of data sets of several blocks.
const COMPOSITES: [&str; 3] =
    ["vtkMultiBlockDataSet", "vtkPartitionedDataSet", "vtkPartitionedDataSetCollection"];

/// Elements that contain blocks.
const CONTAINERS: [&str; 3] = ["Block", "Piece", "Partitions"];

/// A piece of the data set.
pub(super) struct Piece<'a> {
    pub(super) tag: Tag<'a>,
    /// The start tags of its sections, e.g. `PointData Scalars="p"`.
    pub(super) sections: Vec<(Section, Tag<'a>)>,
    pub(super) arrays: Vec<RawArray<'a>>,
}

/// A section of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    FieldData,
    PointData,
    CellData,
    Points,
    Coordinates,
    Cells,
    Verts,
    Lines,
    Strips,
    Polys,
}

impl Section {
    /// The sections that define cells.
    pub(super) const OF_CELLS: [Self; 5] =
        [Self::Cells, Self::Verts, Self::Lines, Self::Strips, Self::Polys];

    /// The prefix that makes the names of its arrays unique.
    pub(super) fn prefix(self) -> &'static str {
        match self {
            Self::Verts => "verts/",
            Self::Lines => "lines/",
            Self::Strips => "strips/",
            Self::Polys => "polys/",
            _ => "",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "FieldData" => Self::FieldData,
            "PointData" => Self::PointData,
            "CellData" => Self::CellData,
            "Points" => Self::Points,
            "Coordinates" => Self::Coordinates,
            "Cells" => Self::Cells,
            "Verts" => Self::Verts,
            "Lines" => Self::Lines,
            "Strips" => Self::Strips,
            "Polys" => Self::Polys,
            _ => return None,
        })
    }
}

/// An element `DataArray`.
pub(super) struct RawArray<'a> {
    pub(super) section: Section,
    pub(super) tag: Tag<'a>,
    /// The range of its values, if they are inside the element.
    pub(super) text: Option<Range<u64>>,
}

impl RawArray<'_> {
    /// The name; empty if missing.
    pub(super) fn name(&self) -> &str {
        self.tag.text("Name").unwrap_or_default()
    }
}

/// The appended data.
#[derive(Debug, Clone, Copy)]
pub(super) struct Appended {
    /// Position of the byte with offset 0.
    pub(super) start: u64,
    pub(super) base64: bool,
}

/// Reads all elements before the appended data.
pub(super) fn read(source: &Source) -> Result<Document<'_>, Error> {
    let mut elements = Elements::new(source);
    let mut builder = Builder::default();
    loop {
        match elements.next()? {
            Item::End => break,
            Item::Open(tag) if tag.name == "AppendedData" => {
                builder.appended = Some(read_appended(&mut elements, &tag)?);
                break;
            }
            Item::Open(tag) => {
                let is_binary = tag.name == "DataArray" && tag.text("format") == Some("binary");
                elements.array = is_binary.then(|| builder.binary_format()).flatten();
                builder.open(tag)?;
            }
            Item::Close(name) => builder.close(&name),
            Item::Text(range) => builder.text(range)?,
        }
    }
    builder.finish(source)
}

/// Whether a file lists other files, by its first elements.
pub(super) fn is_index(source: &Source) -> Result<bool, Error> {
    let mut elements = Elements::new(source);
    let mut builder = Builder::default();
    while builder.dataset.is_none() {
        match elements.next()? {
            Item::End => return Ok(false),
            Item::Open(tag) => builder.open(tag)?,
            Item::Close(_) | Item::Text(_) => {}
        }
    }
    Ok(builder.is_index || builder.blocks.is_some())
}

fn read_appended(elements: &mut Elements<'_>, tag: &Tag<'_>) -> Result<Appended, Error> {
    let base64 = match tag.text("encoding") {
        Some("raw") => false,
        Some("base64") | None => true,
        Some(other) => return Err(tag.bad_value("encoding", other, "`raw` or `base64`")),
    };
    Ok(Appended { start: elements.start_of_appended_data(tag)?, base64 })
}

#[derive(Default)]
struct Builder<'a> {
    file: Option<Tag<'a>>,
    dataset: Option<(Kind, Tag<'a>)>,
    is_index: bool,
    pieces: Vec<Piece<'a>>,
    fields: Vec<RawArray<'a>>,
    appended: Option<Appended>,
    blocks: Option<Vec<RawBlock<'a>>>,
    /// The names and indices of the open blocks.
    open_blocks: Vec<(String, Option<String>)>,
    section: Option<Section>,
    array: Option<RawArray<'a>>,
    /// Number of open elements inside the array, e.g. `InformationKey`.
    inside_array: usize,
}

impl<'a> Builder<'a> {
    /// The format of binary arrays inside elements.
    fn binary_format(&self) -> Option<BinaryFormat> {
        read_binary_format(self.file.as_ref()?).ok()
    }

    fn open(&mut self, tag: Tag<'a>) -> Result<(), Error> {
        if self.array.is_some() {
            self.inside_array += 1;
        } else if self.file.is_none() {
            self.open_file(tag)?;
        } else if self.dataset.is_none() {
            self.open_dataset(tag)?;
        } else if self.blocks.is_some() && CONTAINERS.contains(&tag.name.as_str()) {
            self.open_blocks.push(block_name(&tag));
        } else if let (Some(blocks), "DataSet") = (&mut self.blocks, tag.name.as_str()) {
            let own = block_name(&tag);
            let path = self.open_blocks.iter().cloned().chain([own]);
            let (names, indices): (Vec<String>, Vec<_>) = path.unzip();
            blocks.push(RawBlock { tag, name: names.join("/"), indices });
        } else if tag.name == "Piece" {
            self.pieces.push(Piece { tag, sections: Vec::new(), arrays: Vec::new() });
        } else if let Some(section) = Section::from_name(&tag.name) {
            self.section = Some(section);
            if let Some(piece) = self.pieces.last_mut() {
                piece.sections.push((section, tag));
            }
        } else if let (Some(section), "DataArray") = (self.section, tag.name.as_str()) {
            self.array = Some(RawArray { section, tag, text: None });
        }
        Ok(())
    }

    fn open_file(&mut self, tag: Tag<'a>) -> Result<(), Error> {
        if tag.name != "VTKFile" {
            return Err(tag
                .context()
                .malformed(format!("the element `{}`", tag.name), "`VTKFile`"));
        }
        self.file = Some(tag);
        Ok(())
    }

    fn open_dataset(&mut self, tag: Tag<'a>) -> Result<(), Error> {
        if let Some(kind) = Kind::from_xml(&tag.name) {
            self.dataset = Some((kind, tag));
            return Ok(());
        }
        if COMPOSITES.contains(&tag.name.as_str()) {
            // Its blocks may be of any kind.
            self.dataset = Some((Kind::UnstructuredGrid, tag));
            self.blocks = Some(Vec::new());
            return Ok(());
        }
        let what = format!("the data set `{}`", tag.name);
        Err(match tag.name.strip_prefix('P').and_then(Kind::from_xml) {
            Some(kind) => {
                self.dataset = Some((kind, tag));
                self.is_index = true;
                return Ok(());
            }
            None => tag.context().unsupported(
                what,
                "convert it to ImageData, RectilinearGrid, StructuredGrid, UnstructuredGrid or PolyData",
            ),
        })
    }

    fn close(&mut self, name: &str) {
        if self.inside_array > 0 {
            self.inside_array -= 1;
        } else if let Some(array) = self.array.take() {
            match self.pieces.last_mut() {
                Some(piece) if array.section != Section::FieldData => piece.arrays.push(array),
                _ => self.fields.push(array),
            }
        } else if Section::from_name(name).is_some() {
            self.section = None;
        } else if self.blocks.is_some() && CONTAINERS.contains(&name) {
            self.open_blocks.pop();
        }
    }

    /// Records the text of an array. Other text is ignored.
    fn text(&mut self, range: Range<u64>) -> Result<(), Error> {
        match &mut self.array {
            Some(array) if self.inside_array == 0 => match array.text.replace(range) {
                None => Ok(()),
                Some(_) => {
                    Err(array.tag.context().malformed("two blocks of numbers", "a single block"))
                }
            },
            _ => Ok(()),
        }
    }

    fn finish(self, source: &'a Source) -> Result<Document<'a>, Error> {
        let context = source.context(source.len(), "the elements");
        let file = self.file.ok_or_else(|| context.truncated("the element `VTKFile`"))?;
        let (kind, dataset) =
            self.dataset.ok_or_else(|| context.truncated("the element of the data set"))?;
        if self.pieces.is_empty() && self.blocks.is_none() {
            return Err(dataset.context().malformed("no element `Piece`", "at least one"));
        }
        let Self { is_index, pieces, fields, appended, blocks, .. } = self;
        Ok(Document { file, kind, is_index, dataset, pieces, fields, appended, blocks })
    }
}

/// The name of a block, or its index if it has none, and its index.
fn block_name(tag: &Tag<'_>) -> (String, Option<String>) {
    let name = tag.text("name").filter(|name| !name.is_empty());
    let index = tag.text("index");
    (name.or(index).unwrap_or("unnamed").to_owned(), index.map(str::to_owned))
}

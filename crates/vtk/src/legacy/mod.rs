//! Legacy files: a header of three lines, then keywords, each followed by its values.

mod attributes;
mod dataset;
mod lexer;

use crate::error::Error;
use crate::geometry::Kind;
use crate::source::Source;
use crate::structure::Structure;
use attributes::Attributes;
use dataset::Dataset;
use lexer::Lexer;

/// Reads the keywords of a legacy file and skips its values.
pub(crate) fn read_structure(source: &Source) -> Result<Structure, Error> {
    let mut lexer = Lexer::open(source)?;
    let mut attributes = Attributes::default();
    let mut dataset = None;
    while let Some(keyword) = lexer.keyword()? {
        if keyword == "dataset" {
            dataset = Some(Dataset::new(read_kind(&mut lexer)?));
        } else if attributes.read(&mut lexer, &keyword)? {
            // It was the keyword of an array.
        } else if let Some(dataset) = &mut dataset {
            dataset.read(&mut lexer, &keyword)?;
        } else {
            return Err(lexer.unexpected("the file", "`DATASET` or `FIELD`"));
        }
    }
    let dataset = dataset.ok_or_else(|| lexer.context("the file").truncated("`DATASET`"))?;
    let (geometry, arrays) = dataset.finish(&lexer)?;
    attributes.check(&lexer, &geometry)?;
    Ok(Structure {
        file: 0,
        geometry,
        encoding: lexer.encoding(),
        arrays: attributes.arrays,
        topology: arrays.topology,
        coordinates: arrays.coordinates,
        points: arrays.points,
        has_old_order: lexer.version() < [5, 1],
    })
}

fn read_kind(lexer: &mut Lexer<'_>) -> Result<Kind, Error> {
    let name = lexer.word("keyword `DATASET`")?;
    Kind::from_legacy(&name.to_ascii_lowercase()).ok_or_else(|| {
        let what = format!("the data set `{name}`");
        lexer.context("keyword `DATASET`").unsupported(
            what,
            "convert it to STRUCTURED_POINTS, RECTILINEAR_GRID, STRUCTURED_GRID, UNSTRUCTURED_GRID or POLYDATA",
        )
    })
}

//! The keywords for point arrays, cell arrays and field data.

use super::lexer::Lexer;
use crate::array::{ArrayInfo, Association, Attribute};
use crate::block::Encoding;
use crate::error::Error;
use crate::geometry::Geometry;
use crate::scalar::ScalarType;

/// Number of components of a colour in a lookup table.
const COLOUR_COMPONENTS: usize = 4;

/// The name of a missing array in a `FIELD`.
const NO_ARRAY: &str = "NULL_ARRAY";

/// The arrays read so far, and the section of the next ones.
#[derive(Default)]
pub(super) struct Attributes {
    pub(super) arrays: Vec<ArrayInfo>,
    section: Option<Section>,
    /// The counts of `POINT_DATA` and `CELL_DATA`, checked when the geometry is known.
    sections: Vec<Section>,
}

#[derive(Clone, Copy)]
struct Section {
    association: Association,
    tuples: usize,
    /// Position of the count in the file.
    offset: u64,
}

impl Attributes {
    /// Reads the arguments and values of `keyword` (in lower case); `false` if it is not
    /// a keyword for arrays.
    pub(super) fn read(&mut self, lexer: &mut Lexer<'_>, keyword: &str) -> Result<bool, Error> {
        match keyword {
            "point_data" => self.start_section(lexer, Association::Point)?,
            "cell_data" => self.start_section(lexer, Association::Cell)?,
            "field" => self.read_field(lexer)?,
            "lookup_table" => skip_lookup_table(lexer)?,
            "scalars" => self.read_scalars(lexer)?,
            "color_scalars" => self.read_color_scalars(lexer)?,
            "vectors" => self.read_fixed(lexer, 3, Attribute::Vectors)?,
            "normals" => self.read_fixed(lexer, 3, Attribute::Normals)?,
            "tensors" => self.read_fixed(lexer, 9, Attribute::Tensors)?,
            "tensors6" => self.read_fixed(lexer, 6, Attribute::Tensors)?,
            "global_ids" => self.read_fixed(lexer, 1, Attribute::GlobalIds)?,
            "pedigree_ids" => self.read_fixed(lexer, 1, Attribute::PedigreeIds)?,
            "edge_flags" => self.read_fixed(lexer, 1, Attribute::EdgeFlags)?,
            "texture_coordinates" => self.read_texture_coordinates(lexer)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Checks the counts of `POINT_DATA` and `CELL_DATA`. A section without arrays may have any
    /// count, as some writers end a file with `CELL_DATA 0`.
    pub(super) fn check(&self, lexer: &Lexer<'_>, geometry: &Geometry) -> Result<(), Error> {
        for Section { association, tuples, offset } in &self.sections {
            let (keyword, expected, what) = match association {
                Association::Cell => ("keyword `CELL_DATA`", geometry.num_cells(), "cells"),
                _ => ("keyword `POINT_DATA`", geometry.num_points(), "points"),
            };
            let is_used = self.arrays.iter().any(|array| array.association == *association);
            if is_used && *tuples != expected {
                let expected = format!("`{expected}`, the number of {what}");
                return Err(lexer
                    .context(keyword)
                    .at(*offset)
                    .malformed(format!("data for `{tuples}` {what}"), expected));
            }
        }
        Ok(())
    }

    fn start_section(
        &mut self,
        lexer: &mut Lexer<'_>,
        association: Association,
    ) -> Result<(), Error> {
        let tuples = lexer.number("keyword `POINT_DATA` or `CELL_DATA`")?;
        let section = Section { association, tuples, offset: lexer.word_start() };
        self.section = Some(section);
        self.sections.push(section);
        Ok(())
    }

    fn read_scalars(&mut self, lexer: &mut Lexer<'_>) -> Result<(), Error> {
        let mut array = self.new_array(lexer)?;
        let element = array.element();
        array.attribute = Some(Attribute::Scalars);
        array.scalar = lexer.scalar_type(&element)?;
        let rest = lexer.rest_of_line(&element)?;
        if let Some(word) = rest.split_whitespace().next() {
            array.components = word.parse().map_err(|_| {
                lexer
                    .context(&element)
                    .malformed(format!("`{word}` after its type"), "a number of components")
            })?;
        }
        if lexer.next_is("lookup_table") {
            lexer.word(&element)?;
            lexer.word(&element)?;
            lexer.rest_of_line(&element)?;
        }
        self.push(lexer.array_here(array)?);
        Ok(())
    }

    /// Reads an attribute whose keyword implies the number of components.
    fn read_fixed(
        &mut self,
        lexer: &mut Lexer<'_>,
        components: usize,
        attribute: Attribute,
    ) -> Result<(), Error> {
        let mut array = self.new_array(lexer)?;
        array.attribute = Some(attribute);
        array.components = components;
        array.scalar = lexer.scalar_type(&array.element())?;
        self.push(lexer.array(array)?);
        Ok(())
    }

    fn read_texture_coordinates(&mut self, lexer: &mut Lexer<'_>) -> Result<(), Error> {
        let mut array = self.new_array(lexer)?;
        array.attribute = Some(Attribute::TextureCoordinates);
        array.components = lexer.number(&array.element())?;
        array.scalar = lexer.scalar_type(&array.element())?;
        self.push(lexer.array(array)?);
        Ok(())
    }

    /// Reads `COLOR_SCALARS`, which are bytes; in text numbers from 0 to 1.
    fn read_color_scalars(&mut self, lexer: &mut Lexer<'_>) -> Result<(), Error> {
        let mut array = self.new_array(lexer)?;
        array.attribute = Some(Attribute::Scalars);
        array.components = lexer.number(&array.element())?;
        array.scalar = ScalarType::U8;
        let mut array = lexer.array(array)?;
        if !lexer.is_binary() {
            array.parts.iter_mut().for_each(|part| part.block.encoding = Encoding::AsciiColours);
        }
        self.push(array);
        Ok(())
    }

    /// Reads the name of an array of the current section.
    fn new_array(&self, lexer: &mut Lexer<'_>) -> Result<ArrayInfo, Error> {
        let Some(Section { association, tuples, .. }) = self.section else {
            return Err(lexer.unexpected("the data set", "`POINT_DATA` or `CELL_DATA` before it"));
        };
        let name = decode_name(&lexer.word("the name of an array")?);
        Ok(ArrayInfo::new(name, association, [tuples, 1], ScalarType::F32))
    }

    /// Adds an array, unless it has no components.
    fn push(&mut self, array: ArrayInfo) {
        if array.components > 0 {
            self.arrays.push(array);
        }
    }

    fn read_field(&mut self, lexer: &mut Lexer<'_>) -> Result<(), Error> {
        lexer.word("keyword `FIELD`")?;
        let count: usize = lexer.number("keyword `FIELD`")?;
        for _ in 0..count {
            let name = lexer.field_name()?;
            if name != NO_ARRAY {
                self.read_field_array(lexer, &decode_name(&name))?;
            }
        }
        Ok(())
    }

    fn read_field_array(&mut self, lexer: &mut Lexer<'_>, name: &str) -> Result<(), Error> {
        let element = format!("array `{name}`");
        let components = lexer.number(&element)?;
        let tuples = lexer.number(&element)?;
        if let Some(section) = self.section.filter(|section| section.tuples != tuples) {
            let expected = format!("`{}`, the number of its section", section.tuples);
            return Err(lexer.unexpected(&element, &expected));
        }
        let word = lexer.word(&element)?;
        if matches!(word.to_ascii_lowercase().as_str(), "string" | "utf8_string") {
            return lexer.skip_strings(&element, tuples.saturating_mul(components));
        }
        let scalar = lexer.known_type(&element, &word)?;
        let association = self.section.map_or(Association::Field, |section| section.association);
        self.push(lexer.array(ArrayInfo::new(name, association, [tuples, components], scalar))?);
        Ok(())
    }
}

/// Skips the colours of a lookup table.
fn skip_lookup_table(lexer: &mut Lexer<'_>) -> Result<(), Error> {
    let name = lexer.word("keyword `LOOKUP_TABLE`")?;
    let colours = lexer.number("keyword `LOOKUP_TABLE`")?;
    let sizes = [colours, COLOUR_COMPONENTS];
    lexer.array(ArrayInfo::new(name, Association::Field, sizes, ScalarType::U8))?;
    Ok(())
}

/// Decodes percent-encoded bytes in names, e.g. `%20`.
fn decode_name(name: &str) -> String {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let [first, after @ ..] = rest {
        let code = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::decode_name;

    #[test]
    fn percent_encoded_names_are_decoded() {
        assert_eq!(decode_name("wall%20shear"), "wall shear");
        assert_eq!(decode_name("%C3%A9t%C3%A9"), "été");
        assert_eq!(decode_name("100%"), "100%");
        assert_eq!(decode_name("5%zz%2"), "5%zz%2");
    }
}

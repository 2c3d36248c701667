//! Writes Parquet files: tables with columns of numbers and of names, and of lists of them.
//!
//! Numbers are plain, names have a dictionary; pages are compressed with gzip. There are no missing
//! values: a missing number is NaN. <https://parquet.apache.org/docs/file-format/>

mod levels;
mod thrift;

use crate::number::bytes_of;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{Result, Write};
use thrift::Struct;

/// At both ends of a file.
const MAGIC: &[u8] = b"PAR1";

/// Codes of encodings.
const PLAIN: i32 = 0;
const RLE: i32 = 3;
const DICTIONARY: i32 = 8;

/// The code of gzip.
const GZIP: i32 = 2;

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub name: String,
    pub kind: Kind,
    /// Whether each row has a list of values.
    pub is_list: bool,
}

/// The type of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    I32,
    F32,
    F64,
    /// One of the names of the file.
    Name,
}

/// Values of a column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Values {
    I32(Vec<i32>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    /// Indices of names.
    Name(Vec<u32>),
}

impl Kind {
    /// No values of this type.
    pub fn empty(self) -> Values {
        match self {
            Kind::I32 => Values::I32(Vec::new()),
            Kind::F32 => Values::F32(Vec::new()),
            Kind::F64 => Values::F64(Vec::new()),
            Kind::Name => Values::Name(Vec::new()),
        }
    }

    /// The code of the type.
    fn code(self) -> i32 {
        match self {
            Kind::I32 => 1,
            Kind::F32 => 4,
            Kind::F64 => 5,
            Kind::Name => 6,
        }
    }
}

impl Values {
    pub fn len(&self) -> usize {
        match self {
            Values::I32(values) => values.len(),
            Values::F32(values) => values.len(),
            Values::F64(values) => values.len(),
            Values::Name(values) => values.len(),
        }
    }

    /// The bytes of the values, where indices are below the number of names.
    fn bytes(&self, names: usize) -> Vec<u8> {
        match self {
            Values::I32(values) => bytes_of(values).into_owned(),
            Values::F32(values) => bytes_of(values).into_owned(),
            Values::F64(values) => bytes_of(values).into_owned(),
            Values::Name(values) => {
                let width = levels::width(names.saturating_sub(1));
                [vec![width as u8], levels::encode(values, width)].concat()
            }
        }
    }
}

/// A file that is being written, group of rows by group of rows.
pub(crate) struct ParquetWriter<W> {
    out: W,
    columns: Vec<Column>,
    /// The names in the columns of names.
    names: Vec<String>,
    /// Bytes written so far.
    position: usize,
    rows: usize,
    groups: Vec<Struct>,
}

/// The pages of a column in a group of rows.
#[derive(Default)]
struct Pages {
    /// Positions of the dictionary and of the values in the file.
    dictionary: Option<usize>,
    data: usize,
    uncompressed: usize,
    compressed: usize,
}

impl<W: Write> ParquetWriter<W> {
    /// Starts a file. All columns of names have these names.
    pub fn new(mut out: W, columns: Vec<Column>, names: Vec<String>) -> Result<Self> {
        out.write_all(MAGIC)?;
        let (position, rows, groups) = (MAGIC.len(), 0, Vec::new());
        Ok(ParquetWriter { out, columns, names, position, rows, groups })
    }

    /// Writes a group of rows: the values of each column, and the lengths of the lists of each row,
    /// none of which is empty. All columns with lists have lists of the same lengths.
    pub fn write(&mut self, values: &[Values], rows: usize, lengths: &[usize]) -> Result<()> {
        let levels = repetition_levels(lengths);
        let mut chunks = Vec::new();
        let mut total = 0;
        for (column, values) in self.columns.clone().iter().zip(values) {
            let pages = self.write_pages(column, values, &levels)?;
            total += pages.uncompressed;
            chunks.push(chunk(column, values.len(), &pages));
        }
        let group = Struct::default().structs(1, chunks).i64(2, total as i64).i64(3, rows as i64);
        self.groups.push(group);
        self.rows += rows;
        Ok(())
    }

    fn write_pages(&mut self, column: &Column, values: &Values, levels: &[u8]) -> Result<Pages> {
        let mut pages = Pages::default();
        let mut encoding = PLAIN;
        if column.kind == Kind::Name {
            let text =
                |name: &String| [&(name.len() as u32).to_le_bytes(), name.as_bytes()].concat();
            let body: Vec<u8> = self.names.iter().flat_map(text).collect();
            let of_page = Struct::default().i32(1, self.names.len() as i32).i32(2, PLAIN);
            pages.dictionary = Some(self.position);
            self.page((2, 7, of_page), &body, &mut pages)?;
            encoding = DICTIONARY;
        }
        let levels: &[u8] = if column.is_list { levels } else { &[] };
        let body = [levels, &values.bytes(self.names.len())].concat();
        let of_page = Struct::default().i32(1, values.len() as i32).i32(2, encoding);
        let of_page = of_page.i32(3, RLE).i32(4, RLE);
        pages.data = self.position;
        self.page((0, 5, of_page), &body, &mut pages)?;
        Ok(pages)
    }

    /// Writes a page: its type, the field of its description, and this description.
    fn page(
        &mut self,
        (code, field, of_page): (i32, u8, Struct),
        body: &[u8],
        pages: &mut Pages,
    ) -> Result<()> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(body)?;
        let compressed = encoder.finish()?;
        let header = Struct::default().i32(1, code).i32(2, body.len() as i32);
        let header = header.i32(3, compressed.len() as i32).nested(field, of_page).bytes();
        self.out.write_all(&header)?;
        self.out.write_all(&compressed)?;
        pages.uncompressed += header.len() + body.len();
        pages.compressed += header.len() + compressed.len();
        self.position += header.len() + compressed.len();
        Ok(())
    }

    /// Completes the file, with notes: their keys and values. Returns the number of rows.
    pub fn finish(mut self, notes: &[(&str, &str)]) -> Result<usize> {
        let notes: Vec<Struct> = notes
            .iter()
            .map(|(key, value)| Struct::default().text(1, key).text(2, value))
            .collect();
        let footer = Struct::default().i32(1, 1).structs(2, schema(&self.columns));
        let footer = footer.i64(3, self.rows as i64).structs(4, self.groups).structs(5, notes);
        let footer = footer.text(6, concat!("burntrace ", env!("CARGO_PKG_VERSION"))).bytes();
        self.out.write_all(&footer)?;
        self.out.write_all(&(footer.len() as u32).to_le_bytes())?;
        self.out.write_all(MAGIC)?;
        self.out.flush()?;
        Ok(self.rows)
    }
}

/// The levels of lists of these lengths: where a list starts, and that no item is missing. Each with
/// its number of bytes.
fn repetition_levels(lengths: &[usize]) -> Vec<u8> {
    let items = lengths.iter().sum::<usize>();
    let starts = lengths.iter().flat_map(|length| (0..*length).map(|item| u32::from(item > 0)));
    let starts = levels::encode(&starts.collect::<Vec<_>>(), 1);
    let defined = levels::encode(&vec![1; items], 1);
    let sized = |bytes: Vec<u8>| [(bytes.len() as u32).to_le_bytes().to_vec(), bytes].concat();
    [sized(starts), sized(defined)].concat()
}

/// The description of the pages of a column.
fn chunk(column: &Column, values: usize, pages: &Pages) -> Struct {
    let path: &[&str] = match column.is_list {
        true => &[&column.name, "list", "element"],
        false => &[&column.name],
    };
    let encodings: &[i32] =
        if pages.dictionary.is_some() { &[PLAIN, RLE, DICTIONARY] } else { &[PLAIN, RLE] };
    let of = Struct::default().i32(1, column.kind.code()).i32s(2, encodings).texts(3, path);
    let of = of.i32(4, GZIP).i64(5, values as i64).i64(6, pages.uncompressed as i64);
    let of = of.i64(7, pages.compressed as i64).i64(9, pages.data as i64);
    let of = match pages.dictionary {
        Some(position) => of.i64(11, position as i64),
        None => of,
    };
    let start = pages.dictionary.unwrap_or(pages.data);
    Struct::default().i64(2, start as i64).nested(3, of)
}

/// The schema: the row, then each column.
fn schema(columns: &[Column]) -> Vec<Struct> {
    const REQUIRED: i32 = 0;
    const REPEATED: i32 = 2;
    let leaf = |name: &str, kind: Kind| {
        let leaf = Struct::default().i32(1, kind.code()).i32(3, REQUIRED).text(4, name);
        match kind {
            // Text in UTF-8, in the older and in the newer way to say so.
            Kind::Name => {
                let text = Struct::default().nested(1, Struct::default());
                leaf.i32(6, 0).nested(10, text)
            }
            _ => leaf,
        }
    };
    let mut all = vec![Struct::default().text(4, "row").i32(5, columns.len() as i32)];
    for Column { name, kind, is_list } in columns {
        if *is_list {
            let of_list = Struct::default().nested(3, Struct::default());
            let list = Struct::default().i32(3, REQUIRED).text(4, name).i32(5, 1);
            all.push(list.i32(6, 3).nested(10, of_list));
            all.push(Struct::default().i32(3, REPEATED).text(4, "list").i32(5, 1));
            all.push(leaf("element", *kind));
        } else {
            all.push(leaf(name, *kind));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    /// A value of the compact protocol.
    #[derive(Debug, Clone)]
    enum Found {
        Number(i64),
        Text(String),
        List(Vec<Found>),
        Fields(Vec<(u8, Found)>),
    }

    impl Found {
        fn field(&self, number: u8) -> &Found {
            let Found::Fields(fields) = self else { panic!("{self:?}") };
            &fields.iter().find(|(field, _)| *field == number).unwrap().1
        }

        fn number(&self) -> i64 {
            let Found::Number(number) = self else { panic!("{self:?}") };
            *number
        }

        fn text(&self) -> &str {
            let Found::Text(text) = self else { panic!("{self:?}") };
            text
        }

        fn items(&self) -> &[Found] {
            let Found::List(items) = self else { panic!("{self:?}") };
            items
        }
    }

    fn unsigned(bytes: &mut &[u8]) -> u64 {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = bytes[0];
            *bytes = &bytes[1..];
            number |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                return number;
            }
        }
    }

    fn read(bytes: &mut &[u8], kind: u8) -> Found {
        let mut take = |count: usize| {
            let (head, tail) = bytes.split_at(count);
            *bytes = tail;
            head
        };
        match kind {
            5 | 6 => {
                let number = unsigned(bytes);
                Found::Number((number >> 1) as i64 ^ -((number & 1) as i64))
            }
            8 => {
                let length = unsigned(bytes) as usize;
                let (text, rest) = bytes.split_at(length);
                *bytes = rest;
                Found::Text(String::from_utf8(text.to_vec()).unwrap())
            }
            9 => {
                let head = take(1)[0];
                let count = if head >> 4 == 15 { unsigned(bytes) } else { u64::from(head >> 4) };
                Found::List((0..count).map(|_| read(bytes, head & 15)).collect())
            }
            12 => {
                let (mut fields, mut number) = (Vec::new(), 0);
                loop {
                    let head = bytes[0];
                    *bytes = &bytes[1..];
                    if head == 0 {
                        return Found::Fields(fields);
                    }
                    number += head >> 4;
                    fields.push((number, read(bytes, head & 15)));
                }
            }
            other => panic!("type {other}"),
        }
    }

    fn footer(file: &[u8]) -> Found {
        assert!(file.starts_with(MAGIC) && file.ends_with(MAGIC));
        let end = file.len() - 8;
        let length = u32::from_le_bytes(file[end..end + 4].try_into().unwrap()) as usize;
        let mut bytes = &file[end - length..end];
        let footer = read(&mut bytes, 12);
        assert!(bytes.is_empty());
        footer
    }

    /// The description of the page at a position, and its content.
    fn page(file: &[u8], position: &Found) -> (Found, Vec<u8>) {
        let mut bytes = &file[position.number() as usize..];
        let header = read(&mut bytes, 12);
        let compressed = &bytes[..header.field(3).number() as usize];
        let mut body = Vec::new();
        flate2::read::GzDecoder::new(compressed).read_to_end(&mut body).unwrap();
        assert_eq!(body.len() as i64, header.field(2).number());
        (header, body)
    }

    fn column(name: &str, kind: Kind, is_list: bool) -> Column {
        Column { name: name.into(), kind, is_list }
    }

    #[test]
    fn pages_are_where_the_footer_says_and_have_the_values() {
        let columns = vec![column("n", Kind::I32, false), column("s", Kind::Name, false)];
        let names = vec!["waiting".to_string(), "active".to_string()];
        let mut file = Vec::new();
        let mut writer = ParquetWriter::new(&mut file, columns, names).unwrap();
        for first in [0, 3] {
            let values = [Values::I32(vec![first, -1, 7]), Values::Name(vec![1, 0, 1])];
            writer.write(&values, 3, &[]).unwrap();
        }
        assert_eq!(writer.finish(&[("length_unit", "mm")]).unwrap(), 6);
        let footer = footer(&file);
        assert_eq!(footer.field(3).number(), 6);
        let note = &footer.field(5).items()[0];
        assert_eq!((note.field(1).text(), note.field(2).text()), ("length_unit", "mm"));
        let groups = footer.field(4).items();
        for (group, first) in groups.iter().zip([0_i32, 3]) {
            assert_eq!(group.field(3).number(), 3);
            let [n, s] = [0, 1].map(|i| group.field(1).items()[i].field(3).clone());
            let (_, body) = page(&file, n.field(9));
            let expected = [first, -1, 7].map(i32::to_le_bytes).concat();
            assert_eq!(body, expected);
            let (_, body) = page(&file, s.field(11));
            assert_eq!(body, b"\x07\0\0\0waiting\x06\0\0\0active");
            let (header, body) = page(&file, s.field(9));
            assert_eq!(header.field(5).field(2).number(), i64::from(DICTIONARY));
            assert_eq!(body, [1, 3, 0b101]);
        }
    }

    #[test]
    fn lists_have_levels_before_their_values() {
        let mut file = Vec::new();
        let columns = vec![column("p", Kind::I32, false), column("x", Kind::F32, true)];
        let mut writer = ParquetWriter::new(&mut file, columns, Vec::new()).unwrap();
        let values = [Values::I32(vec![4, 9]), Values::F32(vec![0.5, 1.5, 2.5])];
        writer.write(&values, 2, &[2, 1]).unwrap();
        writer.finish(&[]).unwrap();
        let footer = footer(&file);
        let names: Vec<&str> =
            footer.field(2).items().iter().map(|element| element.field(4).text()).collect();
        assert_eq!(names, ["row", "p", "x", "list", "element"]);
        let chunk = footer.field(4).items()[0].field(1).items()[1].field(3).clone();
        assert_eq!(chunk.field(5).number(), 3);
        let (_, body) = page(&file, chunk.field(9));
        // Repetition 0, 1, 0 and definition 1, 1, 1, each with its length.
        let levels = [2, 0, 0, 0, 3, 0b010, 2, 0, 0, 0, 3, 0b111];
        assert_eq!(
            body,
            [&levels[..], &[0.5_f32, 1.5, 2.5].map(f32::to_le_bytes).concat()].concat()
        );
    }
}

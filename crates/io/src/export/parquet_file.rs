//! Parquet files with columns of numbers and names, and of lists of them.
//!
//! Numbers are plain, names have a dictionary, pages are compressed with gzip. Each column has
//! statistics (minimum and maximum), by row group and by page. A missing number is NaN.

use super::column::{Column, Kind, Values};
use parquet::basic::{Compression, GzipLevel, LogicalType, Repetition, Type as PhysicalType};
use parquet::column::writer::ColumnWriterImpl;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type, TypePtr};
use std::io::{self, Write};
use std::sync::Arc;

type Result<T> = std::result::Result<T, ParquetError>;

/// The program in the metadata, in the form that readers expect: `NAME version VERSION`.
const CREATED_BY: &str = concat!("burntrace version ", env!("CARGO_PKG_VERSION"));

/// A Parquet file that is written one row group at a time.
pub(super) struct ParquetWriter<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: Vec<Column>,
    /// The values of the columns of names, by index.
    names: Vec<ByteArray>,
    rows: usize,
}

/// Levels of the items of non-empty lists.
struct Levels {
    /// 1: the item exists.
    definition: Vec<i16>,
    /// 0 at the first item of a list, 1 at the others.
    repetition: Vec<i16>,
}

impl<W: Write + Send> ParquetWriter<W> {
    /// Starts a file. `names` are those of all columns of names.
    pub fn new(out: W, columns: &[Column], names: &[String]) -> io::Result<Self> {
        let start =
            || SerializedFileWriter::new(out, schema(columns)?, properties(columns)?.into());
        Ok(ParquetWriter {
            file: start().map_err(io_error)?,
            columns: columns.to_vec(),
            names: names.iter().map(|name| name.as_str().into()).collect(),
            rows: 0,
        })
    }

    /// Writes a row group: the values of each column, and the lengths of the lists of each row,
    /// none of which is empty. All columns with lists have lists of the same lengths.
    pub fn write(&mut self, values: &[Values], rows: usize, lengths: &[usize]) -> io::Result<()> {
        self.write_group(values, &Levels::new(lengths)).map_err(io_error)?;
        self.rows += rows;
        Ok(())
    }

    fn write_group(&mut self, values: &[Values], levels: &Levels) -> Result<()> {
        let mut group = self.file.next_row_group()?;
        for (column, values) in self.columns.iter().zip(values) {
            let Some(mut writer) = group.next_column()? else { break };
            let levels = column.is_list.then_some(levels);
            write_column(&mut writer, values, &self.names, levels)?;
            writer.close()?;
        }
        group.close().map(|_| ())
    }

    /// Completes the file, with keys and values of its metadata. Returns the number of rows.
    pub fn finish(mut self, metadata: &[(&str, &str)]) -> io::Result<usize> {
        for &(key, value) in metadata {
            self.file.append_key_value_metadata(KeyValue::new(key.into(), value.to_string()));
        }
        self.file.finish().map_err(io_error)?;
        Ok(self.rows)
    }
}

impl Levels {
    fn new(lengths: &[usize]) -> Levels {
        let items = lengths.iter().flat_map(|length| 0..*length);
        let repetition: Vec<i16> = items.map(|item| i16::from(item > 0)).collect();
        Levels { definition: vec![1; repetition.len()], repetition }
    }
}

fn write_column(
    writer: &mut SerializedColumnWriter,
    values: &Values,
    names: &[ByteArray],
    levels: Option<&Levels>,
) -> Result<()> {
    match values {
        Values::I32(values) => write_values::<Int32Type>(writer.typed(), values, levels),
        Values::F32(values) => write_values::<FloatType>(writer.typed(), values, levels),
        Values::F64(values) => write_values::<DoubleType>(writer.typed(), values, levels),
        Values::Name(values) => {
            let values = values.iter().map(|&index| names[index as usize].clone());
            write_values::<ByteArrayType>(writer.typed(), &values.collect::<Vec<_>>(), levels)
        }
    }
}

fn write_values<T: DataType>(
    writer: &mut ColumnWriterImpl<T>,
    values: &[T::T],
    levels: Option<&Levels>,
) -> Result<()> {
    let definition = levels.map(|levels| levels.definition.as_slice());
    let repetition = levels.map(|levels| levels.repetition.as_slice());
    writer.write_batch(values, definition, repetition).map(|_| ())
}

fn properties(columns: &[Column]) -> Result<WriterProperties> {
    let properties = WriterProperties::builder()
        .set_created_by(CREATED_BY.into())
        .set_compression(Compression::GZIP(GzipLevel::try_new(1)?))
        .set_dictionary_enabled(false);
    let names = columns.iter().filter(|column| column.kind == Kind::Name);
    let properties = names.fold(properties, |properties, column| {
        properties.set_column_dictionary_enabled(path(column), true)
    });
    Ok(properties.build())
}

/// The path of the values of a column in the schema.
fn path(column: &Column) -> ColumnPath {
    let below: &[&str] = if column.is_list { &["list", "element"] } else { &[] };
    let names = std::iter::once(column.name.as_str()).chain(below.iter().copied());
    ColumnPath::new(names.map(String::from).collect())
}

/// The schema: a group with all columns.
fn schema(columns: &[Column]) -> Result<TypePtr> {
    let fields = columns.iter().map(|column| match column.is_list {
        true => list(&column.name, column.kind),
        false => value(&column.name, column.kind),
    });
    let fields = fields.collect::<Result<Vec<TypePtr>>>()?;
    Type::group_type_builder("row").with_fields(fields).build().map(Arc::new)
}

fn value(name: &str, kind: Kind) -> Result<TypePtr> {
    let (physical, logical) = match kind {
        Kind::I32 => (PhysicalType::INT32, None),
        Kind::F32 => (PhysicalType::FLOAT, None),
        Kind::F64 => (PhysicalType::DOUBLE, None),
        Kind::Name => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
    };
    let value = Type::primitive_type_builder(name, physical).with_logical_type(logical);
    value.with_repetition(Repetition::REQUIRED).build().map(Arc::new)
}

/// A list in the three levels of the specification:
/// <https://github.com/apache/parquet-format/blob/master/LogicalTypes.md#lists>
fn list(name: &str, kind: Kind) -> Result<TypePtr> {
    let items = Type::group_type_builder("list")
        .with_repetition(Repetition::REPEATED)
        .with_fields(vec![value("element", kind)?]);
    let list = Type::group_type_builder(name)
        .with_repetition(Repetition::REQUIRED)
        .with_logical_type(Some(LogicalType::List))
        .with_fields(vec![Arc::new(items.build()?)]);
    list.build().map(Arc::new)
}

/// The error of the file system, if that is the cause; it tells if the disk is full.
fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::metadata::RowGroupMetaData;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;
    use std::fs::File;

    fn column(name: &str, kind: Kind, is_list: bool) -> Column {
        Column { name: name.into(), kind, is_list }
    }

    /// Writes a file of several row groups, and opens it with the reader of the crate.
    fn reader(
        columns: &[Column],
        groups: &[(Vec<Values>, usize, &[usize])],
    ) -> SerializedFileReader<File> {
        let names = ["waiting", "active"].map(String::from);
        let mut file = tempfile::tempfile().unwrap();
        let mut writer = ParquetWriter::new(&mut file, columns, &names).unwrap();
        for (values, rows, lengths) in groups {
            writer.write(values, *rows, lengths).unwrap();
        }
        let rows: usize = groups.iter().map(|(_, rows, _)| rows).sum();
        assert_eq!(writer.finish(&[("length_unit", "mm"), ("time_unit", "s")]).unwrap(), rows);
        SerializedFileReader::new(file).unwrap()
    }

    /// The values of a column, row by row.
    fn fields(reader: &SerializedFileReader<File>, name: &str) -> Vec<Field> {
        let rows = reader.get_row_iter(None).unwrap();
        let field = |row: &parquet::record::Row| {
            row.get_column_iter().find(|(column, _)| *column == name).unwrap().1.clone()
        };
        rows.map(|row| field(&row.unwrap())).collect()
    }

    #[test]
    fn row_groups_keep_values_and_metadata() {
        let columns = [
            column("n", Kind::I32, false),
            column("p & q", Kind::F64, false),
            column("s", Kind::Name, false),
        ];
        let group = |first, statuses: &[u32]| {
            let numbers = Values::F64(vec![0.5, f64::NAN, -1.0]);
            let values =
                vec![Values::I32(vec![first, -1, 7]), numbers, Values::Name(statuses.into())];
            (values, 3, [].as_slice())
        };
        let reader = reader(&columns, &[group(0, &[1, 0, 1]), group(3, &[1, 1, 1])]);
        assert_eq!(fields(&reader, "n"), [0, -1, 7, 3, -1, 7].map(Field::Int));
        let statuses = ["active", "waiting", "active", "active", "active", "active"];
        assert_eq!(fields(&reader, "s"), statuses.map(|name| Field::Str(name.into())));
        let numbers = fields(&reader, "p & q");
        assert!(
            matches!(numbers[..3], [Field::Double(0.5), Field::Double(nan), Field::Double(-1.0)] if nan.is_nan())
        );
        let metadata = reader.metadata().file_metadata();
        assert_eq!((metadata.num_rows(), reader.num_row_groups()), (6, 2));
        let pairs = metadata.key_value_metadata().unwrap().iter();
        let pairs: Vec<_> = pairs.map(|pair| (&pair.key[..], pair.value.as_deref())).collect();
        assert_eq!(pairs, [("length_unit", Some("mm")), ("time_unit", Some("s"))]);
    }

    #[test]
    fn columns_have_statistics_and_names_have_a_dictionary() {
        let columns = [
            column("n", Kind::I32, false),
            column("x", Kind::F32, true),
            column("s", Kind::Name, true),
        ];
        let x = Values::F32(vec![0.5, f32::NAN, 2.5]);
        let group = (vec![Values::I32(vec![4, 9]), x, Values::Name(vec![1, 1, 0])], 2, [2, 1]);
        let reader = reader(&columns, &[(group.0, group.1, &group.2)]);
        let group: &RowGroupMetaData = reader.metadata().row_group(0);
        let bounds = |column: usize| {
            let found = group.column(column).statistics().unwrap();
            [found.min_bytes_opt().unwrap(), found.max_bytes_opt().unwrap()]
        };
        assert_eq!(bounds(0), [4_i32, 9].map(i32::to_le_bytes));
        assert_eq!(bounds(1), [0.5_f32, 2.5].map(f32::to_le_bytes));
        assert_eq!(bounds(2), [b"active".as_slice(), b"waiting"]);
        let has_dictionary = |column| group.column(column).dictionary_page_offset().is_some();
        assert_eq!([0, 1, 2].map(has_dictionary), [false, false, true]);
    }

    #[test]
    fn lists_keep_their_lengths_and_the_standard_schema() {
        let columns = [column("p", Kind::I32, false), column("x", Kind::F32, true)];
        let values = vec![Values::I32(vec![4, 9]), Values::F32(vec![0.5, 1.5, 2.5])];
        let reader = reader(&columns, &[(values, 2, &[2, 1])]);
        let lengths: Vec<String> = fields(&reader, "x").iter().map(Field::to_string).collect();
        assert_eq!(lengths, ["[0.5, 1.5]", "[2.5]"]);
        let schema = reader.metadata().file_metadata().schema_descr();
        let paths: Vec<String> = schema.columns().iter().map(|c| c.path().string()).collect();
        assert_eq!(paths, ["p", "x.list.element"]);
        let levels =
            |i: usize| (schema.column(i).max_def_level(), schema.column(i).max_rep_level());
        assert_eq!([levels(0), levels(1)], [(0, 0), (1, 1)]);
    }

    #[test]
    fn errors_of_the_file_system_keep_their_kind() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let columns = [column("n", Kind::I32, false)];
        let writer = ParquetWriter::new(Full, &columns, &[]).unwrap();
        let error = writer.finish(&[]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
}

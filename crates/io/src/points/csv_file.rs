//! Seeds from comma-separated values.

use super::{SeedPoints, is_time};
use crate::listing::list;
use crate::tracks::TimeOrigin;
use crate::{Error, Result};
use csv::{ReaderBuilder, StringRecord, Trim};
use std::path::Path;

/// The columns of x, y, z and time, and others.
struct Columns {
    position: [Option<usize>; 3],
    time: Option<usize>,
    others: Vec<usize>,
}

pub(super) fn read(path: &Path, origin: Option<&TimeOrigin>, names: &[&str]) -> Result<SeedPoints> {
    let text = std::fs::read_to_string(path).map_err(Error::system("read", path))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .comment(Some(b'#'))
        .trim(Trim::All)
        .from_reader(text.as_bytes());
    let mut columns = None;
    let mut seeds = SeedPoints { columns: vec![Vec::new(); names.len()], ..SeedPoints::default() };
    let mut times = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|e| wrong(path, line_of(e.position(), text), e.to_string()))?;
        let wrong = |reason| wrong(path, line_of(record.position(), text), reason);
        let columns = match &columns {
            Some(columns) => columns,
            None if is_header(&record) => {
                columns = Some(Columns::named(&record, names).map_err(wrong)?);
                continue;
            }
            None => columns.insert(Columns::in_order(record.len(), names).map_err(wrong)?),
        };
        let number =
            |column: Option<usize>| column.map_or(Ok(0.0), |column| number(&record, column));
        let [x, y, z] = columns.position.map(number);
        seeds.position.push([x.map_err(wrong)?, y.map_err(wrong)?, z.map_err(wrong)?]);
        if let Some(column) = columns.time {
            times.push(time(&record, column, origin).map_err(wrong)?);
        }
        for (numbers, column) in seeds.columns.iter_mut().zip(&columns.others) {
            numbers.push(number(Some(*column)).map_err(wrong)?);
        }
    }
    if seeds.position.is_empty() {
        return Err(wrong(path, 1, "the file has no points; write a line `x,y,z` for each".into()));
    }
    seeds.time = (!times.is_empty()).then_some(times);
    Ok(seeds)
}

/// Whether a line is a header: it has no number.
fn is_header(record: &StringRecord) -> bool {
    !record.iter().any(|field| field.parse::<f64>().is_ok())
}

impl Columns {
    fn named(header: &StringRecord, names: &[&str]) -> std::result::Result<Columns, String> {
        let find = |names: [&str; 3]| {
            header
                .iter()
                .position(|field| names.iter().any(|name| field.eq_ignore_ascii_case(name)))
        };
        let x = find(["x", "Points:0", "Points_0"]);
        let y = find(["y", "Points:1", "Points_1"]);
        let z = find(["z", "Points:2", "Points_2"]);
        let fields: Vec<&str> = header.iter().collect();
        if x.is_none() || y.is_none() {
            return Err(format!(
                "the header has no columns `x` and `y`, but {}; name them `x,y,z` or `x,y,z,time`",
                list(&fields)
            ));
        }
        let other = |name: &&str| {
            let alike = || fields.iter().position(|field| field.eq_ignore_ascii_case(name));
            let found = fields.iter().position(|field| field == name).or_else(alike);
            found.ok_or_else(|| format!("the header has no column `{name}`, but {}", list(&fields)))
        };
        let others = names.iter().map(other).collect::<std::result::Result<_, _>>()?;
        Ok(Columns { position: [x, y, z], time: header.iter().position(is_time), others })
    }

    fn in_order(count: usize, names: &[&str]) -> std::result::Result<Columns, String> {
        if let Some(name) = names.first() {
            return Err(format!(
                "the file has no header that names the column `{name}`; write one, such as `x,y,z,{name}`"
            ));
        }
        let z = (count > 2).then_some(2);
        match count {
            2..=4 => Ok(Columns {
                position: [Some(0), Some(1), z],
                time: (count == 4).then_some(3),
                others: Vec::new(),
            }),
            _ => Err(format!(
                "the file has no header, and its first line has {count} columns; give x,y or x,y,z \
                 or x,y,z,time, separated by commas"
            )),
        }
    }
}

fn number(record: &StringRecord, column: usize) -> std::result::Result<f64, String> {
    let Some(field) = record.get(column) else {
        return Err(format!(
            "the line has {} columns, column {} is missing",
            record.len(),
            column + 1
        ));
    };
    match field.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err(format!("`{field}` in column {} is not a finite number", column + 1)),
    }
}

/// A time, as a number or a date.
fn time(
    record: &StringRecord,
    column: usize,
    origin: Option<&TimeOrigin>,
) -> std::result::Result<f64, String> {
    let text = record.get(column).unwrap_or_default();
    if text.parse::<f64>().is_ok() || text.matches('-').count() < 2 {
        return number(record, column);
    }
    let no_dates = || "the field has no dates; write a number".to_string();
    let time = origin.ok_or_else(no_dates).and_then(|origin| origin.time_of(text));
    time.map_err(|reason| format!("`{text}` in column {}: {reason}", column + 1))
}

/// Line number of a record. `position` is the end of the previous record; empty lines and comments
/// before the record are skipped.
fn line_of(position: Option<&csv::Position>, text: &str) -> u64 {
    let Some(position) = position else { return 1 };
    let rest = usize::try_from(position.byte()).ok().and_then(|byte| text.get(byte..));
    let lines = rest.unwrap_or_default().lines();
    let between = lines.take_while(|line| line.is_empty() || line.starts_with('#'));
    position.line() + between.count() as u64
}

fn wrong(path: &Path, line: u64, reason: String) -> Error {
    Error::Points { path: path.into(), location: format!("line {line}"), reason }
}

#[cfg(test)]
mod tests {
    use super::super::read_points;
    use super::*;

    fn parse(text: &str) -> Result<SeedPoints> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("seeds.csv");
        std::fs::write(&path, text).unwrap();
        read_points(path)
    }

    fn seeds<const N: usize>(position: [[f64; 3]; N], time: Option<[f64; N]>) -> SeedPoints {
        let time = time.map(Vec::from);
        SeedPoints { position: position.into(), time, columns: Vec::new() }
    }

    #[test]
    fn columns_are_found_by_name_or_position() {
        assert_eq!(parse("1,2\n3, 4\n").unwrap(), seeds([[1.0, 2.0, 0.0], [3.0, 4.0, 0.0]], None));
        assert_eq!(parse("# seeds\n\n1e-1,2,3").unwrap(), seeds([[0.1, 2.0, 3.0]], None));
        assert_eq!(parse("1,2,3,4").unwrap(), seeds([[1.0, 2.0, 3.0]], Some([4.0])));
        let named = parse("id,Time,Z,\"Y\",X\n7,4,3,2,1\n").unwrap();
        assert_eq!(named, seeds([[1.0, 2.0, 3.0]], Some([4.0])));
        let exported =
            parse("\"p\",\"Points:0\",\"Points:1\",\"Points:2\"\r\n9,1,2,3\r\n").unwrap();
        assert_eq!(exported, seeds([[1.0, 2.0, 3.0]], None));
        assert_eq!(parse("\u{feff}x,y\n1,2").unwrap(), seeds([[1.0, 2.0, 0.0]], None));
    }

    #[test]
    fn further_columns_are_found_by_their_names() {
        let read = |text: &str, names: &[&str]| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("seeds.csv");
            std::fs::write(&path, text).unwrap();
            super::super::read_seeds(path, None, names)
        };
        let text = "x,y,D,d,label\n1,2,3,4,a\n5,6,7,8,b\n";
        let found = read(text, &["d", "D", "X"]).unwrap();
        assert_eq!(found.columns, [[4.0, 8.0], [3.0, 7.0], [1.0, 5.0]]);
        assert_eq!(found.position, [[1.0, 2.0, 0.0], [5.0, 6.0, 0.0]]);
        for (text, names, message) in [
            (text, &["rho"], "line 1: the header has no column `rho`, but x, y, D, d, label"),
            (text, &["label"], "line 2: `a` in column 5"),
            ("1,2,3\n", &["d"], "line 1: the file has no header that names the column `d`"),
        ] {
            let error = read(text, names).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn errors_name_the_line() {
        for (text, message) in [
            ("", "no points"),
            ("x,y,z\n", "no points"),
            ("x,y\n1,2\n\n1,b\n", "line 4: `b` in column 2"),
            ("1,2\n# c\r\n\r\n#d\n1,b\n", "line 5: `b`"),
            ("1,2,3\n1,2\n", "line 2: the line has 2 columns, column 3"),
            ("1,2,nan\n", "line 1: `nan` in column 3"),
            ("a,b\n1,2\n", "line 1: the header has no columns `x` and `y`, but a, b"),
            ("1\n", "line 1: the file has no header, and its first line has 1 columns"),
            ("1,2,3,4,5\n", "has 5 columns"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(message) && error.contains("seeds.csv"), "{text:?}: {error}");
        }
        let date = parse("1,2,3,2024-02-01\n").unwrap_err().to_string();
        assert!(date.contains("`2024-02-01` in column 4: the field has no dates"), "{date}");
        let missing = read_points("no/such.csv").unwrap_err().to_string();
        assert!(missing.starts_with("cannot read `no/such.csv`"), "{missing}");
    }
}

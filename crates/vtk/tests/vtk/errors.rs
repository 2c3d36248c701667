use super::common::folder;
use burntrace_vtk::{Error, open};

/// The first error of opening a file with this text and reading all its arrays.
fn error_of(text: impl AsRef<[u8]>) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.vtk");
    std::fs::write(&path, text).unwrap();
    let read = || -> Result<(), Error> {
        let file = open(&path)?;
        file.arrays().iter().try_for_each(|array| file.read(array).map(|_| ()))
    };
    let message = read().unwrap_err().to_string();
    message.replace(path.to_str().unwrap(), "FILE")
}

fn legacy(body: &str) -> String {
    error_of(format!("# vtk DataFile Version 3.0\nt\nASCII\nDATASET STRUCTURED_POINTS\n{body}"))
}

fn fixture(name: &str) -> String {
    std::fs::read_to_string(folder().join(name)).unwrap()
}

#[test]
fn files_of_other_formats_are_refused() {
    assert_eq!(
        error_of("solid cube\n"),
        "`FILE` is an STL file, as surfaces of obstacles are, expected `# vtk DataFile Version` or `<VTKFile`; \
         pass a legacy .vtk or a .vti, .vtr, .vts, .vtu, .vtp, .pvti, .pvtr, .pvts, .pvtu, .pvtp or .vtm file"
    );
    assert!(
        error_of("<html><body/></html>").contains("found the element `html`, expected `VTKFile`")
    );
    let missing = open("/no/such/file.vti").unwrap_err().to_string();
    assert!(missing.starts_with("cannot open `/no/such/file.vti`: "), "{missing}");
    assert!(open(folder()).is_err());
}

#[test]
fn legacy_errors_name_line_and_array() {
    assert_eq!(
        legacy("DIMENSIONS 2 1 1\nPOINT_DATA 2\nSCALARS p float\nLOOKUP_TABLE default\n1 oops\n"),
        "`FILE`, line 9 (byte 128), array `p`: found `1` numbers, expected `2`"
    );
    assert_eq!(
        legacy("DIMENSIONS 2 1 1\nPOINT_DATA 2\nSCALARS p int\n1 2.5\n"),
        "`FILE`, line 8 (byte 107), array `p`: found `2.5`, expected a number of type Int32"
    );
    assert_eq!(
        legacy("DIMENSIONS 2 1 1\nPOINT_DATA 3\nSCALARS p int\n1 2 3"),
        "`FILE`, line 6 (byte 89), keyword `POINT_DATA`: found data for `3` points, \
         expected `2`, the number of points"
    );
    assert_eq!(
        legacy("DIMENSIONS 2 x 1\n"),
        "`FILE`, line 5 (byte 74), keyword `DIMENSIONS`: found `x`, expected a valid number"
    );
    assert!(
        legacy("DIMENSIONS 2 1 1\nSCALARS p float\n")
            .contains("expected `POINT_DATA` or `CELL_DATA` before it")
    );
    assert!(
        legacy("DIMENSIONS 2 1 1\nPOINT_DATA 2\nSCALARS p float\n1\n")
            .contains("expected `2` numbers, found `1`")
    );
    assert!(legacy("SPACING 1 1 1\n").contains("expected `DIMENSIONS`; the file was cut off"));
    assert!(
        legacy("DIMENSIONS 2 1 1\nPOINT_DATA 2\nVECTORS v quaternion\n")
            .contains("the type `quaternion` cannot be read")
    );
    let table = error_of("# vtk DataFile Version 3.0\nt\nASCII\nDATASET TABLE\n");
    assert!(table.contains("the data set `TABLE` cannot be read; convert it to"), "{table}");
}

#[test]
fn xml_errors_name_the_element() {
    let other = fixture("base64-zlib.vti").replace("vtkZLibDataCompressor", "vtkBlosc");
    assert_eq!(
        error_of(other),
        "`FILE`, line 1 (byte 0), element `VTKFile`: data compressed by `vtkBlosc` cannot be read; \
         write the file with vtkZLibDataCompressor, vtkLZ4DataCompressor, vtkLZMADataCompressor or no \
         compressor"
    );
    let lzma = fixture("base64-zlib.vti").replace("vtkZLibDataCompressor", "vtkLZMADataCompressor");
    assert!(error_of(lzma).contains("found a broken LZMA block (number 0"));
    let table = "<VTKFile type='PTable'><PTable/></VTKFile>";
    assert!(error_of(table).contains("element `PTable`: the data set `PTable` cannot be read"));
    let longer = fixture("ascii.vti").replace("22.25 28.25", "22.25 22.25 28.25");
    assert!(
        error_of(longer)
            .contains("array `p`: found `44.5` after `24` numbers, expected the end of the array")
    );
    let other = fixture("ascii.vtr").replace("\"Int32\"", "\"Int23\"");
    assert!(
        error_of(other).contains("element `DataArray` with the name `id`: found `type=\"Int23\"`")
    );
    let broken = fixture("base64.vti").replace("</PointData>", "</PointDat>");
    assert!(error_of(broken).contains("found broken XML"));
}

#[test]
fn broken_data_is_located() {
    let swapped = fixture("base64-zlib.vti").replace("=eJx", "=eJz");
    assert!(error_of(swapped).contains("found a broken zlib block (number 0"));
    let sign = fixture("base64.vti").replacen("AAAA", "AA*A", 1);
    assert!(error_of(sign).contains("found `*` in base64 text"));
    let bytes = std::fs::read(folder().join("raw.vti")).unwrap();
    let cut = error_of(&bytes[..bytes.len() - 60]);
    assert!(cut.contains("the data ends (the file has "), "{cut}");
    let smaller = fixture("ascii.vti").replace("0 3 0 2 0 1", "0 3 0 1 0 1");
    assert!(error_of(smaller).contains("expected the end of the array"));
}

#[test]
fn mismatched_pieces_are_refused() {
    let gap = fixture("two-pieces.vti").replace("Extent=\"1 3 0 2 0 1\"", "Extent=\"3 5 0 2 0 1\"");
    let gap = error_of(gap);
    assert!(
        gap.contains("found pieces with `30` nodes for the extent `[0, 5, 0, 2, 0, 1]`"),
        "{gap}"
    );
    let text = fixture("two-pieces.vtr");
    let renamed =
        text.rfind("Name=\"id\"").map(|at| text[..at].to_owned() + "Name=\"di\"" + &text[at + 9..]);
    assert!(error_of(renamed.unwrap()).contains(
        "found a piece without an array, expected one like that of the first piece: `id`"
    ));
}

use super::common::{array, folder, points, values};
use burntrace_vtk::{Association, Attribute, Geometry, ScalarType, Values, VtkFile, open};

fn hand(name: &str) -> VtkFile {
    open(folder().join(name)).unwrap()
}

#[test]
fn old_file_with_blank_lines_and_special_numbers_is_read() {
    let file = hand("hand-old.vtk");
    let Geometry::Image { extent, origin, spacing, .. } = *file.geometry() else { panic!() };
    assert_eq!((extent, origin), ([0, 2, 0, 1, 0, 0], [0.0, 1.0, -1.0]));
    assert_eq!(spacing, [0.5, 2.0, 1.0]);
    assert_eq!(file.time_value().unwrap(), Some(0.25));
    let pressure = values(&file, "pressure");
    assert_eq!(pressure[0], 11047.0);
    assert_eq!(pressure[1], f64::from(1e-3_f32));
    assert!(pressure[2].is_nan() && pressure[4].is_nan());
    assert_eq!((pressure[3], pressure[5]), (f64::NEG_INFINITY, 0.5));
    assert_eq!(array(&file, "wall shear").components, 3);
    let expected: Vec<f64> = (1..=18).map(f64::from).collect();
    assert_eq!(values(&file, "wall shear"), expected);
}

#[test]
fn all_legacy_keywords_for_arrays_are_read() {
    let file = hand("hand-sections.vtk");
    assert_eq!(file.time_value().unwrap(), Some(12.0));
    assert_eq!(file.coordinates().unwrap(), [vec![0.0, 1.0], vec![0.0, 2.0], vec![5.0]]);
    let listed: Vec<_> =
        file.arrays().iter().map(|a| (a.name.as_str(), a.components, a.tuples)).collect();
    let expected = [
        ("TimeValue", 1, 1),
        ("material", 2, 1),
        ("mask", 1, 4),
        ("paint", 3, 4),
        ("n", 3, 4),
        ("st", 2, 4),
        ("stress", 9, 4),
        ("strain", 6, 4),
        ("gid", 1, 4),
        ("pid", 1, 4),
        ("long one", 1, 4),
        ("short", 1, 4),
    ];
    assert_eq!(listed, expected);
    let read = |name| file.read(array(&file, name)).unwrap().values;
    assert_eq!(read("material"), Values::U8(vec![7, 8]));
    assert_eq!(array(&file, "material").association, Association::Cell);
    assert_eq!(array(&file, "mask").scalar, ScalarType::Bit);
    assert_eq!(read("mask"), Values::U8(vec![1, 0, 0, 1]));
    // As in VTK, the number 1 of a colour is the byte 255.
    assert_eq!(values(&file, "paint")[9..], [255.0; 3]);
    assert_eq!(values(&file, "stress")[35], 10.0);
    assert_eq!(values(&file, "strain")[23], 7.0);
    assert_eq!(read("gid"), Values::I32(vec![10, 11, 12, 13]));
    assert_eq!(read("pid"), Values::I64(vec![20, 21, 22, 23]));
    assert_eq!(read("long one"), Values::I64(vec![-1, -2, -3, 9_007_199_254_740_993]));
    assert_eq!(read("short"), Values::U16(vec![1, 2, 3, 65535]));
    let attribute = |name| array(&file, name).attribute;
    assert_eq!(attribute("st"), Some(Attribute::TextureCoordinates));
    assert_eq!(attribute("pid"), Some(Attribute::PedigreeIds));
    assert_eq!(attribute("short"), None);
}

/// A binary file with the encodings specific to binary files: packed bits, strings with their
/// lengths, colours as bytes.
fn binary_sections() -> Vec<u8> {
    let mut file =
        b"# vtk DataFile Version 3.0\ntitle\nBINARY\nDATASET STRUCTURED_POINTS\n".to_vec();
    file.extend(b"DIMENSIONS 10 1 1\nSPACING 1 1 1\nORIGIN 0 0 0\nFIELD FieldData 2\n");
    file.extend(b"labels 1 3 string\n\xc2no\xc0\x80\x03yes\ntime 1 1 float \r\n");
    file.extend(1.5_f32.to_be_bytes());
    file.extend(b"\nPOINT_DATA 10\nSCALARS mask bit\nLOOKUP_TABLE default\n\xa0\x40\n");
    file.extend(b"COLOR_SCALARS paint 1\n0123456789\n");
    file.extend(b"SCALARS short short 1\n");
    file.extend((-5..5).flat_map(|n: i16| n.to_be_bytes()));
    file.extend(
        b"LOOKUP_TABLE table 1\n\xff\xff\xff\xff\nMETADATA\nINFORMATION 0\n\nVECTORS v float\n",
    );
    file.extend((0_u8..30).flat_map(|n| f32::from(n).to_be_bytes()));
    file
}

#[test]
fn all_binary_legacy_encodings_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("binary.vtk");
    std::fs::write(&path, binary_sections()).unwrap();
    let file = open(path).unwrap();
    assert_eq!(file.time_value().unwrap(), Some(1.5));
    let read = |name| file.read(array(&file, name)).unwrap().values;
    assert_eq!(read("mask"), Values::U8(vec![1, 0, 1, 0, 0, 0, 0, 0, 0, 1]));
    assert_eq!(read("paint"), Values::U8(b"0123456789".to_vec()));
    assert_eq!(read("short"), Values::I16((-5..5).collect()));
    assert_eq!(values(&file, "v"), (0..30).map(f64::from).collect::<Vec<_>>());
}

#[test]
fn quotes_entities_and_information_keys_are_read() {
    let file = hand("hand-quotes.vtu");
    assert_eq!(*file.geometry(), Geometry::Unstructured { points: 3, cells: 1 });
    assert_eq!(file.time_value().unwrap(), Some(3.5));
    let read = |name| file.read(array(&file, name)).unwrap().values;
    assert_eq!(read("a < b"), Values::I16(vec![1, -2, 3]));
    assert_eq!(array(&file, "a < b").attribute, Some(Attribute::Scalars));
    assert_eq!(read("wall \"shear\" é"), Values::F32(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    assert_eq!(read("one stream"), Values::U8(vec![1, 2, 3]));
    assert_eq!(read("mask"), Values::U8(vec![1, 0, 1]));
    assert_eq!(points(&file), [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
    assert_eq!(file.topology().len(), 3);
}

#[test]
fn piece_of_an_image_has_its_own_coordinates() {
    let file = hand("hand-part.vti");
    assert_eq!(file.geometry().dims(), Some([3, 2, 1]));
    assert_eq!(file.coordinates().unwrap(), [vec![2.0, 2.5, 3.0], vec![6.0, 6.5], vec![3.0]]);
    assert_eq!(values(&file, "n"), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(file.read(array(&file, "c")).unwrap().values, Values::U64(vec![7, u64::MAX]));
}

#[test]
fn axes_of_a_rotated_image_are_sorted() {
    // Turned by a quarter: its first axis is along y, its second along -x.
    let axes = hand("hand-rotated.vti").coordinates().unwrap();
    assert_eq!(axes, [vec![0.0, -1.0], vec![0.0, 1.0], vec![0.0]]);
}

#[test]
fn empty_data_set_is_read() {
    let file = hand("hand-empty.vtu");
    assert_eq!((file.geometry().num_points(), file.geometry().num_cells()), (0, 0));
    assert_eq!(values(&file, "p"), []);
    assert_eq!(values(&file, "q"), []);
    assert!(file.points().unwrap().values.is_empty());
    assert_eq!(file.topology().len(), 3);
    assert_eq!(file.time_value().unwrap(), None);
}

/// Bytes as base64 text.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |part: &[u8]| {
        let bits = (0..3).fold(0, |bits, i| bits << 8 | u32::from(*part.get(i).unwrap_or(&0)));
        let character = |i: usize| match i > part.len() {
            true => '=',
            false => char::from(ALPHABET[(bits >> (18 - 6 * i) & 63) as usize]),
        };
        (0..4).map(character).collect::<String>()
    };
    bytes.chunks(3).map(group).collect()
}

/// An image with two long arrays inside their elements, from the text of the first one.
fn long_arrays(first: &str, count: usize) -> String {
    let second: Vec<u8> = (0..count).flat_map(|i| (-(i as f32)).to_le_bytes()).collect();
    let size = base64(&(second.len() as u32).to_le_bytes());
    let extent = format!("0 {} 0 0 0 0", count - 1);
    let array = |name: &str, text: &str| {
        format!(
            "<DataArray type=\"Float32\" Name=\"{name}\" format=\"binary\">\n  {text}\n</DataArray>"
        )
    };
    format!(
        "<VTKFile type=\"ImageData\" byte_order=\"LittleEndian\"><ImageData WholeExtent=\"{extent}\">\
         <Piece Extent=\"{extent}\"><PointData>{}{}</PointData></Piece></ImageData></VTKFile>",
        array("a", first),
        array("b", &(size + &base64(&second)))
    )
}

#[test]
fn long_binary_arrays_are_skipped_by_their_size() {
    let count = 70_001;
    let data: Vec<u8> = (0..count).flat_map(|i| (i as f32).to_le_bytes()).collect();
    let size = |bytes: usize| (bytes as u32).to_le_bytes();
    let streams = base64(&size(data.len())) + &base64(&data);
    let wrapped: Vec<&str> =
        streams.as_bytes().chunks(76).map(|line| str::from_utf8(line).unwrap()).collect();
    let folder = tempfile::tempdir().unwrap();
    let open = |text: &str| {
        let path = folder.path().join("long.vti");
        std::fs::write(&path, long_arrays(text, count)).unwrap();
        open(path).unwrap()
    };
    let ends = |file: &VtkFile, name: &str| {
        let all = values(file, name);
        (all.len(), all[1], all[count - 1])
    };
    let one = base64(&[&size(data.len())[..], &data].concat());
    for text in [&streams, &one, &wrapped.join("\n")] {
        let file = open(text);
        assert_eq!(ends(&file, "a"), (count, 1.0, count as f64 - 1.0));
        assert_eq!(ends(&file, "b"), (count, -1.0, 1.0 - count as f64));
    }
    // What is skipped is not read.
    let mut broken = streams.clone();
    broken.replace_range(200_000..200_001, "<");
    let file = open(&broken);
    assert_eq!(ends(&file, "b").0, count);
    assert!(file.read(array(&file, "a")).unwrap_err().to_string().contains("`<` in base64 text"));
    // A wrong size misleads nobody.
    for wrong in [data.len() - 40_000, data.len() + 100_000, 400_000_000] {
        let file = open(&(base64(&size(wrong)) + &base64(&data)));
        assert_eq!(ends(&file, "b").0, count, "{wrong}");
        let error = file.read(array(&file, "a")).unwrap_err().to_string();
        assert!(error.contains("`a`"), "{wrong}: {error}");
    }
}

//! Files of other programs, compared with the values that VTK reads. The files are large and not part of
use super::common::{array, values};
use super::requirements::flow_data;
use burntrace_vtk::{Geometry, ScalarType, VtkFile, open};

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-6 * expected.abs().max(1e-9)
}

/// Checks the count, the first, middle and last value, and the sum.
fn check(numbers: &[f64], expected: (usize, [f64; 3], f64), what: &str) {
    let (len, samples, sum) = expected;
    assert_eq!(numbers.len(), len, "{what}");
    for (index, sample) in [0, len / 2, len - 1].into_iter().zip(samples) {
        assert!(
            close(numbers[index], sample),
            "{what}: {} at {index}, expected {sample}",
            numbers[index]
        );
    }
    let found: f64 = numbers.iter().sum();
    assert!(close(found, sum), "{what}: sum {found}, expected {sum}");
}

fn check_array(file: &VtkFile, name: &str, expected: (usize, [f64; 3], f64)) {
    check(&values(file, name), expected, name);
}

#[test]
fn carotid_matches_vtk() {
    let Some(path) = flow_data("carotid.vtk") else {
        return;
    };
    let file = open(path).unwrap();
    assert_eq!(file.encoding(), "legacy, binary");
    assert_eq!((file.geometry().num_points(), file.geometry().num_cells()), (167_580, 158_400));
    let [x, y, z] = file.coordinates().unwrap();
    assert_eq!((x[0], x[75], y[0], y[48], z[0], z[44]), (100.0, 175.0, 80.0, 128.0, 1.0, 45.0));
    check_array(&file, "scalars", (167_580, [57.0, 162.0, 128.0], 16_598_647.0));
    check_array(
        &file,
        "vectors",
        (502_740, [-0.004378, -0.000645, -0.008544], 3_773.269_574_761_450_7),
    );
}

#[test]
fn kitchen_matches_vtk() {
    let Some(path) = flow_data("kitchen.vtk") else {
        return;
    };
    let file = open(path).unwrap();
    assert_eq!(
        *file.geometry(),
        Geometry::Structured { dims: [28, 24, 17], extent: [0, 27, 0, 23, 0, 16] }
    );
    let points = file.points().unwrap().values.into_f64();
    check(&points, (34_272, [0.01, points[17_136], 2.5], 88_438.999_630_663_54), "points");
    check_array(
        &file,
        "velocity",
        (34_272, [-0.006_288_06, -0.000_386_417_1, 0.0], -302.497_340_030_186_1),
    );
    check_array(&file, "h1", (11_424, [20_014.0, 21_141.14, 20_193.12], 233_019_352.293_975_17));
    assert_eq!(array(&file, "hpor").scalar, ScalarType::Bit);
    check_array(&file, "hpor", (11_424, [1.0; 3], 11_112.0));
    assert_eq!(file.arrays().len(), 20);
}

#[test]
fn can_matches_vtk() {
    let Some(path) = flow_data("can.vtu") else {
        return;
    };
    let file = open(path).unwrap();
    assert_eq!(*file.geometry(), Geometry::Unstructured { points: 6_724, cells: 4_800 });
    check_array(
        &file,
        "VEL",
        (20_172, [-2_945.484_863_28, -2_784.692_382_812_5, 0.0], -34_522_923.256_238_98),
    );
    check_array(
        &file,
        "EQPS",
        (
            4_800,
            [0.926_153, 1.504_291_415_214_538_6, 0.066_919_349_133_968_35],
            3_725.017_448_337_748_6,
        ),
    );
    check_array(&file, "KE", (44, [2_959_999.75, 2_194_718.0, 1_467_643.625], 97_501_788.25));
    check_array(&file, "QA_Records", (792, [70.0, 71.0, 0.0], 8_950.0));
    let connectivity = file.topology().iter().find(|array| array.name == "connectivity").unwrap();
    let connectivity = file.read(connectivity).unwrap().values.into_f64();
    assert_eq!((connectivity.len(), connectivity.iter().sum::<f64>()), (38_400, 123_690_053.0));
    assert!(
        file.arrays().iter().all(|array| array.name != "Title"),
        "arrays of strings are excluded"
    );
}

#[test]
fn blood_vessels_match_vtk() {
    let expected = [
        (11_047, 8_892, 390_809_452.0, 3_809.959_655_672_312, -584.018_643_895_824_9),
        (14_341, 11_579, 662_748_172.0, 4_027.848_785_668_611_5, -740.407_308_224_112_1),
        (14_251, 11_757, 672_358_542.0, 3_588.398_195_385_933, -1_860.953_923_098_956_7),
        (9_184, 7_125, 258_501_244.0, 1_801.162_185_072_898_9, -1_223.127_640_116_486_9),
    ];
    for (index, (points, cells, indices, density, velocity)) in expected.into_iter().enumerate() {
        let Some(path) = flow_data(&format!("blood_vessels/T0000000500/00{index}.vtu")) else {
            return;
        };
        let file = open(path).unwrap();
        assert_eq!(*file.geometry(), Geometry::Unstructured { points, cells });
        assert_eq!(file.encoding(), "XML, base64");
        let sum = |numbers: Vec<f64>| numbers.iter().sum::<f64>();
        assert_eq!(sum(file.read(&file.topology()[0]).unwrap().values.into_f64()), indices);
        assert!(close(sum(values(&file, "density")), density));
        assert!(close(sum(values(&file, "velocity")), velocity));
        assert_eq!(file.points().unwrap().values.len(), 3 * points);
    }
}

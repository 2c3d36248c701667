//! Runs in blocks of a field that is larger than their memory.

use super::program::{assert_refused, burntrace, text};
use super::resume::{assert_same, folder_with, succeed, summary};
use std::path::Path;

/// The nodes of an image along each axis: its frame needs 55 MB on the device.
const NODES: usize = 150;

const CASE: &str = "[field]\nfiles = \"u.vti\"\n\
    [seeds]\nkind = \"uniform\"\ncount = 3000\nlow = [0.4, 0.2, -0.1]\nhigh = [0.6, 0.4, 0.1]\n\
    [trace]\nt1 = 1.5\nsteps = 150\n[save]\nevery = 50\n\
    [run]\ndevice = \"flex\"\nout = \"blocks\"\nstrategy = \"blocks\"\n";

/// Writes an image with a velocity that turns around the z axis and goes up and down.
fn write_image(folder: &Path) {
    let last = NODES - 1;
    let spacing = 2.0 / last as f64;
    let head = format!(
        "<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\"><ImageData \
         WholeExtent=\"0 {last} 0 {last} 0 {last}\" Origin=\"-1 -1 -1\" Spacing=\"{spacing} {spacing} {spacing}\">\
         <Piece Extent=\"0 {last} 0 {last} 0 {last}\"><PointData><DataArray type=\"Float32\" Name=\"U\" \
         NumberOfComponents=\"3\" format=\"appended\" offset=\"0\"/></PointData></Piece></ImageData>\
         <AppendedData encoding=\"raw\">_"
    );
    let at = |i: usize| (i as f64 * spacing - 1.0) as f32;
    let mut bytes = head.into_bytes();
    bytes.extend((12 * NODES.pow(3) as u64).to_le_bytes());
    for k in 0..NODES {
        for (j, i) in (0..NODES).flat_map(|j| (0..NODES).map(move |i| (j, i))) {
            let velocity = [-at(j), at(i), 0.2 * (5.0 * at(i)).sin() - 0.1 * at(k)];
            velocity.iter().for_each(|u| bytes.extend(u.to_le_bytes()));
        }
    }
    bytes.extend(b"</AppendedData></VTKFile>");
    std::fs::write(folder.join("u.vti"), bytes).unwrap();
}

#[test]
fn field_larger_than_memory_is_traced_in_blocks() {
    let folder = folder_with(CASE);
    let path = folder.path();
    write_image(path);
    let run = ["run", "case.toml", "--quiet"];
    succeed(path, &[&run[..], &["--set", "run.strategy=in-memory", "--out", "whole"]].concat());
    // What the program itself needs varies, so that the size of blocks does.
    succeed(path, &[&run[..], &["--set", "run.memory=100MiB"]].concat());
    assert_same(path, ["whole", "blocks"]);
    let summary = summary(path, "blocks");
    assert_eq!(summary["strategy"], "blocks");
    let read = summary["bytes"]["read"].as_u64().unwrap();
    assert!(read < 12 * NODES.pow(3) as u64, "{read} bytes were read");

    let plan = |more: &[&str]| burntrace(path, &[&["plan", "case.toml"], more].concat());
    let printed = text(&plan(&["--set", "run.memory=100MiB"]).stdout);
    for part in ["blocks  ", "block ahead", "blocks of at most", "needed at a time"] {
        assert!(printed.contains(part), "`{part}` is not in: {printed}");
    }
    let refused = |set: &str, words: &[&str]| {
        assert_refused(
            &burntrace(path, &[&run[..], &["--out", "x", "--set", set]].concat()),
            2,
            words,
        );
    };
    refused("save.velocity=true", &["`blocks` cannot be combined with velocities"]);
    refused("boundary.x=[\"periodic\",\"periodic\"]", &["its x axis is periodic", "blocks"]);
    refused("field.interpolation=\"nearest\"", &["parts of a grid"]);
    refused("run.memory=1MiB", &["bytes", "raise `run.memory`"]);
}

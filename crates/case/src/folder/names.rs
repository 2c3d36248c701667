//! Names of the files of a run.

use super::{DOMAIN, LAND, STATE};

/// Subfolders of a run, and of the commands that evaluate it: all files with these names in them,
/// where `#` is a number, and with these extensions, are theirs.
pub const FOLDERS: [(&str, &[&str], &[&str]); 9] = [
    ("clouds", &["clouds", "cloud_#"], &["pvd", "vtp"]),
    ("pictures", &PICTURES, &["png", "svg", "pdf"]),
    ("density", &["density_#"], &["vti", "png", "csv"]),
    ("ftle", &["ftle_#"], &["vti", "png"]),
    ("gates", &["gates", "within", "connectivity", "crossings", "first_passages"], &["csv", "png"]),
    ("pairs", &["dispersion", "exponents", "pair_distances"], &["csv", "png"]),
    ("residence", &["residence", "residence_time", "visits"], &["vti", "png"]),
    ("skill", &["skill", "separations"], &["csv"]),
    ("spectrum", &["autocorrelation", "spectrum"], &["csv", "png"]),
];

/// Names of pictures.
const PICTURES: [&str; 13] = [
    "tracks",
    "tracks-xy",
    "tracks-xz",
    "tracks-yz",
    "tracks-3d",
    "density",
    "particles",
    "ends",
    "end_positions",
    "streaklines",
    "first_passages",
    "dispersion",
    "residence",
];

/// Files of a run, and of the commands that evaluate it.
pub const FILES: [&str; 19] = [
    "case.toml",
    STATE,
    DOMAIN,
    LAND,
    "summary.json",
    "log.txt",
    "tracks.vtp",
    "tracks.parquet",
    "tracks.csv",
    "tracks.geojson",
    "tracks.fgb",
    "tracks.safetensors",
    "report.md",
    "report.html",
    "report.json",
    "particles.csv",
    "page.html",
    "tracks.gif",
    "tracks.mp4",
];

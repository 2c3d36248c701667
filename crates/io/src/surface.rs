//! Triangle surfaces from STL and VTK files.

use crate::{Error, Result};
use burntrace_core::{ClosedSurface, SurfaceError};
use std::{collections::HashMap, io::Cursor, path::Path};

/// Points and triangles, in the units of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Triangles {
    /// Coordinates of points; STL files repeat them for each triangle.
    pub points: Vec<[f64; 3]>,
    /// Three indices of points for each triangle.
    pub triangles: Vec<[usize; 3]>,
}

impl Triangles {
    /// Multiplies each point by `scale`, then adds `shift`.
    #[must_use]
    pub fn moved(mut self, scale: f64, shift: [f64; 3]) -> Self {
        for point in &mut self.points {
            *point = [0, 1, 2].map(|d| point[d] * scale + shift[d]);
        }
        self
    }

    /// Merges points that are at most a distance from an earlier one, and drops triangles with two corners at
    /// the same point. Also returns the numbers of merged points and of dropped triangles; points that are equal to
    /// others do not count.
    #[must_use]
    pub fn welded(self, distance: f64) -> (Self, [usize; 2]) {
        let Triangles { points, triangles } = self;
        let mut cells: HashMap<[i64; 3], Vec<usize>> = HashMap::new();
        let cell = |point: [f64; 3]| point.map(|x| (x / distance).floor() as i64);
        let (mut kept, mut merged) = (Vec::new(), 0);
        let mut place = |point: [f64; 3]| {
            let square = |other: &usize| {
                let other: [f64; 3] = kept[*other];
                (0..3).map(|d| (other[d] - point[d]).powi(2)).sum::<f64>()
            };
            let own = cell(point);
            let shifts = (0..27).map(|i| [i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1]);
            let near = shifts.map(|shift| [0, 1, 2].map(|d| own[d].saturating_add(shift[d])));
            let near = near.filter_map(|cell| cells.get(&cell)).flatten();
            let nearest = near.min_by(|a, b| square(a).total_cmp(&square(b))).copied();
            if let Some(found) = nearest.filter(|found| square(found) <= distance * distance) {
                merged += usize::from(kept[found] != point);
                return found;
            }
            kept.push(point);
            cells.entry(own).or_default().push(kept.len() - 1);
            kept.len() - 1
        };
        let places: Vec<usize> = points.into_iter().map(&mut place).collect();
        let all = triangles.into_iter().map(|triangle| triangle.map(|corner| places[corner]));
        let is_flat = |[a, b, c]: [usize; 3]| a == b || b == c || c == a;
        let (flat, triangles): (Vec<_>, Vec<_>) = all.partition(|triangle| is_flat(*triangle));
        (Triangles { points: kept, triangles }, [merged, flat.len()])
    }

    /// The closed surface of the triangles.
    ///
    /// # Errors
    ///
    /// As [`ClosedSurface::new`].
    pub fn closed(&self) -> std::result::Result<ClosedSurface, SurfaceError> {
        ClosedSurface::new(&self.points, &self.triangles)
    }
}

/// Reads a closed triangle surface from a file: STL if its name ends in `.stl`, else the poly data of
/// a VTK file (`.vtp`, `.vtk`).
///
/// # Errors
///
/// If the file cannot be read, has no triangles, or its surface is not closed.
pub fn read_surface(path: impl AsRef<Path>) -> Result<ClosedSurface> {
    let path = path.as_ref();
    read_triangles(path)?.closed().map_err(|error| wrong(path, error))
}

/// Reads triangles from a file, as [`read_surface`] does.
///
/// STL: ASCII or binary; several solids in one file are combined, and normals are ignored. VTK:
/// triangle strips, and polygons, which are divided into triangles around their first corner.
///
/// # Errors
///
/// If the file cannot be read, or has no triangles.
pub fn read_triangles(path: impl AsRef<Path>) -> Result<Triangles> {
    let path = path.as_ref();
    let extension = path.extension().unwrap_or_default();
    let triangles = match extension.eq_ignore_ascii_case("stl") {
        true => read_stl(path)?,
        false => read_faces(path)?,
    };
    match triangles.triangles.is_empty() {
        true => Err(wrong(path, SurfaceError::Empty)),
        false => Ok(triangles),
    }
}

fn wrong(path: &Path, reason: impl std::fmt::Display) -> Error {
    Error::Surface { path: path.into(), reason: reason.to_string() }
}

/// Bytes of a binary STL file before the triangles, and of each triangle.
const BINARY_START: usize = 84;
const BINARY_TRIANGLE: usize = 50;

fn read_stl(path: &Path) -> Result<Triangles> {
    let bytes = std::fs::read(path).map_err(Error::system("read", path))?;
    let bytes = if is_binary(&bytes) {
        // Some programs write a header that starts with `solid`, as ASCII files do.
        [&[b' '; 80], &bytes[80..]].concat()
    } else if bytes.trim_ascii_start().starts_with(b"solid") {
        one_solid(&bytes).ok_or_else(|| {
            wrong(
                path,
                "it neither ends with `endsolid` nor has the length of a binary STL file; it may \
                 be truncated",
            )
        })?
    } else {
        return Err(wrong(
            path,
            "it is not an STL file: it neither starts with `solid` nor has the length of a binary \
             STL file",
        ));
    };
    let mut cursor = Cursor::new(bytes);
    let read = |error: std::io::Error| wrong(path, error);
    let reader = stl_io::create_stl_reader(&mut cursor).map_err(read)?;
    let mut found = Triangles::default();
    for triangle in reader {
        let first = found.points.len();
        let corners = triangle.map_err(read)?.vertices;
        found.points.extend(corners.map(|corner| corner.0.map(f64::from)));
        found.triangles.push([first, first + 1, first + 2]);
    }
    Ok(found)
}

/// Whether the length of a file fits the number of triangles of a binary header.
fn is_binary(bytes: &[u8]) -> bool {
    let count = bytes.get(80..BINARY_START).and_then(|count| count.try_into().ok());
    let count = count.map(|count| u32::from_le_bytes(count) as usize);
    count.is_some_and(|count| bytes.len() == BINARY_START + BINARY_TRIANGLE * count)
}

/// All solids of an ASCII file as a single unnamed one; `None` if the file is truncated.
fn one_solid(bytes: &[u8]) -> Option<Vec<u8>> {
    let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
    let ends = |line: &[u8]| line.starts_with(b"endsolid");
    if !lines.last().is_some_and(|line| ends(line)) {
        return None;
    }
    let inner = lines.into_iter().filter(|line| !line.starts_with(b"solid") && !ends(line));
    let mut all = b"solid \n".to_vec();
    for line in inner {
        all.extend_from_slice(line);
        all.push(b'\n');
    }
    all.extend_from_slice(b"endsolid\n");
    Some(all)
}

/// The VTK type of triangle strips.
const STRIP: u8 = 6;

fn read_faces(path: &Path) -> Result<Triangles> {
    let file = burntrace_vtk::open(path)?;
    let faces = file.faces()?;
    let points = file.points()?.values.into_f64().as_chunks().0.to_vec();
    let mut triangles = Vec::with_capacity(faces.len());
    for (kind, corners) in faces.iter() {
        let indices = |corners: [u32; 3]| corners.map(|corner| corner as usize);
        if kind == STRIP {
            // Every second triangle of a strip has the opposite orientation.
            let windows = corners.array_windows().enumerate();
            triangles.extend(windows.map(|(i, &[a, b, c])| match i % 2 {
                0 => indices([a, b, c]),
                _ => indices([b, a, c]),
            }));
        } else if let [first, rest @ ..] = corners {
            triangles.extend(rest.array_windows().map(|&[b, c]| indices([*first, b, c])));
        }
    }
    Ok(Triangles { points, triangles })
}

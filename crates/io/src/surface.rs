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

/// Maximum number of times that flat triangles are dropped: a corner may be on several of them.
const MAX_PASSES: usize = 16;

impl Triangles {
    /// Multiplies each point by `scale`, then adds `shift`.
    #[must_use]
    pub fn moved(mut self, scale: f64, shift: [f64; 3]) -> Self {
        for point in &mut self.points {
            *point = [0, 1, 2].map(|d| point[d] * scale + shift[d]);
        }
        self
    }

    /// Merges points that are at most a distance from an earlier one, and drops triangles that are flatter: those with
    /// two corners at the same point, and those with a corner on the opposite edge, at which the triangle beyond the
    /// edge is divided. Also returns the numbers of merged points, without those that are equal to others, and of
    /// dropped triangles.
    #[must_use]
    pub fn welded(self, distance: f64) -> (Self, [usize; 2]) {
        let (mut welded, [merged, collapsed]) = self.with_merged_points(distance);
        let needles = welded.drop_needles(distance);
        (welded, [merged, collapsed + needles])
    }

    /// Drops triangles with a corner on the opposite edge, and returns their number.
    fn drop_needles(&mut self, distance: f64) -> usize {
        let mut dropped = self.drop_pairs(distance);
        for _ in 0..MAX_PASSES {
            let of_edges = self.of_edges();
            let mut is_changed = vec![false; self.triangles.len()];
            let before = dropped;
            for needle in 0..self.triangles.len() {
                let Some((middle, [a, c])) = self.needle(needle, distance) else { continue };
                let others = &of_edges[&[a.min(c), a.max(c)]];
                let Some(&other) = others.iter().find(|other| **other != needle) else { continue };
                if others.len() != 2 || is_changed[needle] || is_changed[other] {
                    continue;
                }
                (is_changed[needle], is_changed[other]) = (true, true);
                dropped += 1;
                let mut corners = self.triangles[other];
                while corners[2] == a || corners[2] == c {
                    corners.rotate_left(1);
                }
                let [from, to, top] = corners;
                self.triangles[needle] = [from, middle, top];
                self.triangles[other] = [middle, to, top];
            }
            if dropped == before {
                break;
            }
        }
        dropped
    }

    /// The triangles at each edge, by its two points.
    fn of_edges(&self) -> HashMap<[usize; 2], Vec<usize>> {
        let mut of_edges: HashMap<[usize; 2], Vec<usize>> = HashMap::new();
        for (triangle, [a, b, c]) in self.triangles.iter().enumerate() {
            for (a, b) in [(a, b), (b, c), (c, a)] {
                of_edges.entry([*a.min(b), *a.max(b)]).or_default().push(triangle);
            }
        }
        of_edges
    }

    /// Drops pairs of flat triangles with the same corners, and returns the number of triangles.
    fn drop_pairs(&mut self, distance: f64) -> usize {
        let mut of_corners: HashMap<[usize; 3], Vec<usize>> = HashMap::new();
        for needle in 0..self.triangles.len() {
            if self.needle(needle, distance).is_some() {
                let mut corners = self.triangles[needle];
                corners.sort_unstable();
                of_corners.entry(corners).or_default().push(needle);
            }
        }
        let mut is_kept = vec![true; self.triangles.len()];
        for pair in of_corners.values().flat_map(|needles| needles.as_chunks::<2>().0) {
            pair.iter().for_each(|needle| is_kept[*needle] = false);
        }
        let before = self.triangles.len();
        let mut kept = is_kept.into_iter();
        self.triangles.retain(|_| kept.next().unwrap_or(true));
        before - self.triangles.len()
    }

    /// The corner of a triangle that is on the opposite edge, and the ends of this edge.
    fn needle(&self, triangle: usize, distance: f64) -> Option<(usize, [usize; 2])> {
        let [a, b, c] = self.triangles[triangle];
        let along = |a: usize, b: usize| [0, 1, 2].map(|d| self.points[b][d] - self.points[a][d]);
        let dot = |u: [f64; 3], v: [f64; 3]| (0..3).map(|d| u[d] * v[d]).sum::<f64>();
        [(b, [a, c]), (c, [a, b]), (a, [b, c])].into_iter().find(|(middle, [from, to])| {
            let (edge, side) = (along(*from, *to), along(*from, *middle));
            let part = dot(edge, side) / dot(edge, edge);
            let height = [0, 1, 2].map(|d| side[d] - part * edge[d]);
            part > 0.0 && part < 1.0 && dot(height, height) <= distance * distance
        })
    }

    /// Merges points that are at most a distance from an earlier one, and drops triangles with two corners at
    /// the same point, and returns the numbers of both.
    fn with_merged_points(self, distance: f64) -> (Self, [usize; 2]) {
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

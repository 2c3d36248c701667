//! The faces of polyhedra, in the two layouts of XML files, and in legacy files.

use super::cell_array::{CellArray, check_count};
use super::explicit::{read_legacy, types};
use super::indices::IndexArray;
use super::polyhedron::{POLYHEDRON, faces_in, is_face, wrong_faces};
use crate::array::ArrayInfo;
use crate::error::Error;
use crate::geometry::Geometry;
use crate::pieces::stored_values;
use crate::source::ErrorContext;
use crate::sources::Sources;
use crate::structure::Structure;

/// The faces of the polyhedra among cells.
#[derive(Debug, Default)]
pub(crate) struct Polyhedra {
    /// The start of the faces of each polyhedron in the list of faces, followed by the end of the last.
    of_cells: Vec<u32>,
    /// The start of each face in the list of points, followed by the end of the last.
    of_faces: Vec<u32>,
    points: Vec<u32>,
}

impl Polyhedra {
    /// Polyhedra with these faces.
    #[cfg(test)]
    pub(crate) fn of(cells: &[Vec<Vec<u32>>]) -> Self {
        let mut polyhedra = Self::default();
        for faces in cells {
            polyhedra.open();
            faces.iter().for_each(|face| polyhedra.push(face.iter().copied()));
        }
        polyhedra
    }

    /// The faces of a polyhedron: the points around each of them.
    pub(crate) fn faces(&self, polyhedron: usize) -> impl Iterator<Item = &[u32]> {
        let bounds = self.of_cells.get(polyhedron..polyhedron + 2).unwrap_or(&[0, 0]);
        let range = bounds.first().copied().unwrap_or(0)..bounds.last().copied().unwrap_or(0);
        range.filter_map(|face| {
            let bounds = self.of_faces.get(face as usize..face as usize + 2)?;
            self.points.get(*bounds.first()? as usize..*bounds.last()? as usize)
        })
    }

    /// Appends the polyhedra of another block, whose points start at `first_point`.
    pub(crate) fn append(&mut self, other: &Self, first_point: u32) {
        for polyhedron in 0..other.of_cells.len().saturating_sub(1) {
            self.open();
            for face in other.faces(polyhedron) {
                self.push(face.iter().map(|point| point + first_point));
            }
        }
    }

    /// Starts a polyhedron, whose faces are pushed next.
    fn open(&mut self) {
        if self.of_cells.is_empty() {
            (self.of_cells, self.of_faces) = (vec![0], vec![0]);
        }
        self.of_cells.push(self.of_cells.last().copied().unwrap_or(0));
    }

    /// Appends a polyhedron with these faces.
    fn add(&mut self, faces: Vec<&[u32]>) {
        self.open();
        faces.into_iter().for_each(|face| self.push(face.iter().copied()));
    }

    fn push(&mut self, face: impl Iterator<Item = u32>) {
        self.points.extend(face);
        self.of_faces.push(self.points.len() as u32);
        if let Some(end) = self.of_cells.last_mut() {
            *end += 1;
        }
    }
}

/// Reads the faces of the polyhedra among the cells of all blocks.
pub(crate) fn read_polyhedra(sources: &Sources, blocks: &[Structure]) -> Result<Polyhedra, Error> {
    let (mut all, mut first_point) = (Polyhedra::default(), 0_usize);
    for block in blocks {
        if matches!(block.geometry, Geometry::Unstructured { .. }) {
            let own = read_block(sources, block)?;
            all.append(&own, first_point as u32);
        }
        first_point = first_point.saturating_add(block.geometry.num_points());
    }
    Ok(all)
}

/// Reads the faces of the polyhedra of an unstructured grid. Its cells and those before have been read, so
/// that there are fewer than 2^32 points.
fn read_block(sources: &Sources, structure: &Structure) -> Result<Polyhedra, Error> {
    let types = types(sources, structure)?;
    let which = types.iter().enumerate().filter(|(_, kind)| **kind == POLYHEDRON);
    let which: Vec<usize> = which.map(|(cell, _)| cell).collect();
    if which.is_empty() {
        return Ok(Polyhedra::default());
    }
    let points = structure.geometry.num_points();
    if let Some(raw) = read_legacy(sources, structure)? {
        let context = sources.of_structure(structure).context(0, "the cells");
        return of_legacy(&raw, points, context);
    }
    if !structure.has_faces() {
        // Polyhedra without faces, which are refused when they are divided.
        let mut polyhedra = Polyhedra::default();
        which.iter().for_each(|_| polyhedra.open());
        return Ok(polyhedra);
    }
    let reader = Reader { sources, structure, points };
    match structure.topology.iter().any(|array| array.name == "faces") {
        true => reader.read_streams(&which, types.len()),
        false => reader.read_lists(&which, types.len()),
    }
}

/// Reads the faces of polyhedra.
struct Reader<'a> {
    sources: &'a Sources,
    structure: &'a Structure,
    points: usize,
}

impl Reader<'_> {
    fn find(&self, name: &str) -> Result<&ArrayInfo, Error> {
        let found = self.structure.topology.iter().find(|array| array.name == name);
        let found = found.filter(|array| array.parts.len() == 1);
        let context = self.sources.of_structure(self.structure).context(0, "the cells");
        found.ok_or_else(|| {
            let what = format!("polyhedra without the array `{name}`");
            context.malformed(what, "the faces of polyhedra, as VTK writes")
        })
    }

    /// Reads the indices of an array.
    fn indices(&self, name: &str) -> Result<Vec<u32>, Error> {
        let info = self.find(name)?;
        check_count(self.sources.of_structure(self.structure), info.tuples, "corners of faces")?;
        let mut numbers = Vec::new();
        let array = IndexArray::new(self.sources, info)?;
        array.read(0, &mut numbers, |number| u32::try_from(number).ok(), "an index")?;
        Ok(numbers)
    }

    /// Reads the ends of the polyhedra in an array, one for each of `count` cells; those of other cells
    /// may be negative.
    fn ends(&self, name: &str, count: usize) -> Result<Vec<f64>, Error> {
        let info = self.find(name)?;
        IndexArray::new(self.sources, info)?.expect_count(count)?;
        let part = info.parts.first().into_iter();
        let element = info.element();
        let read = part.map(|part| {
            let context = self.sources.of(part).context(part.block.start, &element);
            stored_values(context, info, part)
        });
        Ok(read.collect::<Result<Vec<_>, _>>()?.pop().map(|v| v.into_f64()).unwrap_or_default())
    }

    /// Reads the layout before VTK 9.4: for each polyhedron its number of faces, then for each face its
    /// number of points and the points.
    fn read_streams(&self, which: &[usize], cells: usize) -> Result<Polyhedra, Error> {
        let (numbers, ends) = (self.indices("faces")?, self.ends("faceoffsets", cells)?);
        let context = self.sources.of_structure(self.structure).context(0, "array `faces`");
        let (mut polyhedra, mut start) = (Polyhedra::default(), 0);
        for cell in which {
            let end = ends.get(*cell).copied().unwrap_or(-1.0) as usize;
            let stream = numbers.get(start..end).unwrap_or_default();
            let faces = faces_in(stream, self.points);
            polyhedra.add(faces.ok_or_else(|| wrong_faces(context, *cell, self.points))?);
            start = end;
        }
        Ok(polyhedra)
    }

    /// Reads the layout since VTK 9.4: lists of faces, and of the faces of each polyhedron.
    fn read_lists(&self, which: &[usize], cells: usize) -> Result<Polyhedra, Error> {
        let (points, of_faces) =
            (self.indices("face_connectivity")?, self.indices("face_offsets")?);
        let faces = self.indices("polyhedron_to_faces")?;
        let ends = self.ends("polyhedron_offsets", cells)?;
        let element = "array `polyhedron_to_faces`";
        let context = self.sources.of_structure(self.structure).context(0, element);
        let face = |index: u32| -> Option<&[u32]> {
            let start = match (index as usize).checked_sub(1) {
                Some(before) => *of_faces.get(before)? as usize,
                None => 0,
            };
            points.get(start..*of_faces.get(index as usize)? as usize)
        };
        let mut polyhedra = Polyhedra::default();
        for cell in which {
            let start = cell.checked_sub(1).and_then(|before| ends.get(before)).copied();
            let range =
                start.unwrap_or(0.0) as usize..ends.get(*cell).copied().unwrap_or(0.0) as usize;
            let own = faces.get(range).unwrap_or_default();
            // A small file must not ask for much memory by repeating faces.
            let limit = points.len().saturating_mul(2);
            let own = own.iter().map(|index| face(*index));
            self.read_list(own, limit, &mut polyhedra)
                .ok_or_else(|| wrong_faces(context, *cell, self.points))?;
        }
        Ok(polyhedra)
    }

    fn read_list<'f>(
        &self,
        faces: impl ExactSizeIterator<Item = Option<&'f [u32]>>,
        limit: usize,
        polyhedra: &mut Polyhedra,
    ) -> Option<()> {
        let count = faces.len();
        polyhedra.open();
        for face in faces {
            let face = face.filter(|face| is_face(face, self.points))?;
            polyhedra.push(face.iter().copied());
            if polyhedra.points.len() > limit {
                return None;
            }
        }
        (count >= 4).then_some(())
    }
}

/// The polyhedra among the cells of a legacy file as they are stored.
fn of_legacy(
    raw: &CellArray,
    points: usize,
    context: ErrorContext<'_>,
) -> Result<Polyhedra, Error> {
    let mut polyhedra = Polyhedra::default();
    for (cell, (_, stream)) in raw.iter().enumerate().filter(|(_, (kind, _))| *kind == POLYHEDRON) {
        let faces = faces_in(stream, points);
        polyhedra.add(faces.ok_or_else(|| wrong_faces(context, cell, points))?);
    }
    Ok(polyhedra)
}

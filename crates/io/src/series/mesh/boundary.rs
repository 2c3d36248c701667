//! Cells on the boundary of a mesh, which files name by blocks and arrays.

use super::cells::FileCells;
use crate::listing::list;
use crate::points::positions;
use crate::series::{ghosts::Ghosts, options::NamedFaces, velocity::Association};
use crate::{Error, Result};
use burntrace_core::mesh::BoundaryCells;
use burntrace_vtk::{ArrayInfo, BlockInfo, ScalarType, VtkFile, cell_dimension};
use std::collections::{BTreeSet, HashMap};

/// Maximum number of values of an array that are listed as patches.
const MAX_VALUES: usize = 256;

/// All cells that a file has on the boundary of its mesh.
#[derive(Debug, Default)]
pub(super) struct FileBoundary {
    cells: BoundaryCells,
    parts: Vec<BoundaryPart>,
}

/// The cells of a block, or of the file itself.
#[derive(Debug)]
struct BoundaryPart {
    /// The name of the block, with those that contain it; `None` for the file itself.
    block: Option<String>,
    /// Its arrays with one component.
    arrays: Vec<BoundaryArray>,
    first: usize,
    count: usize,
}

/// An array of cells on the boundary.
#[derive(Debug)]
struct BoundaryArray {
    name: String,
    has_integers: bool,
    /// A value for each cell, if they are needed.
    values: Option<Vec<f64>>,
}

/// The arrays whose values are needed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Needed<'a> {
    /// Those of integers, whose values are listed.
    Integers,
    /// Those that these faces name.
    By(&'a [NamedFaces]),
}

impl Needed<'_> {
    fn includes(self, name: &str, has_integers: bool) -> bool {
        match self {
            Needed::Integers => has_integers,
            Needed::By(faces) => faces
                .iter()
                .any(|named| matches!(named, NamedFaces::Array { array, .. } if array == name)),
        }
    }
}

impl FileBoundary {
    /// Reads the boundary of a mesh from its file and its blocks of the next lower dimension; `points` are
    /// those of the cells. Reads the values of `needed` arrays only.
    pub fn read(
        file: &VtkFile,
        mesh: &FileCells,
        points: &[[f64; 3]],
        needed: Needed<'_>,
    ) -> Result<Self> {
        let mut boundary = FileBoundary::default();
        boundary.cells.offsets.push(0);
        boundary.add((file, None), points, mesh.on_boundary(), needed)?;
        let is_on_boundary = |block: &&BlockInfo| {
            block.points > 0 && block.dimension + 1 == mesh.dimension() && !block.is_used
        };
        for block in file.blocks().iter().filter(is_on_boundary) {
            boundary.add_block(block, needed)?;
        }
        Ok(boundary)
    }

    fn add_block(&mut self, block: &BlockInfo, needed: Needed<'_>) -> Result<()> {
        let file = burntrace_vtk::open_block(block)?;
        let points = positions(&file)?;
        let (cells, first) = file.boundary_cells(block.dimension)?;
        let ghosts = Ghosts::read(&file)?;
        let numbered = cells.iter().zip(first..).map(|((kind, points), i)| (i, kind, points));
        let on_boundary = numbered.filter(|(index, kind, points)| {
            cell_dimension(*kind) == block.dimension && !ghosts.hide(*index, points)
        });
        self.add((&file, Some(block.name.clone())), &points, on_boundary, needed)
    }

    /// Adds cells of a file with these points: the index of each in the cell arrays, its VTK type and its
    /// points.
    fn add<'a>(
        &mut self,
        (file, block): (&VtkFile, Option<String>),
        points: &[[f64; 3]],
        cells: impl Iterator<Item = (usize, u8, &'a [u32])>,
        needed: Needed<'_>,
    ) -> Result<()> {
        let first = self.cells.offsets.len() - 1;
        let (mut indices, mut numbers) = (Vec::new(), HashMap::new());
        for (index, kind, of_cell) in cells {
            for part in parts(kind, of_cell) {
                for point in part {
                    let number = *numbers.entry(*point).or_insert_with(|| {
                        self.cells.points.extend(points.get(*point as usize));
                        self.cells.points.len() as u32 - 1
                    });
                    self.cells.connectivity.push(number);
                }
                self.cells.offsets.push(self.cells.connectivity.len() as u32);
                indices.push(index);
            }
        }
        if indices.is_empty() && block.is_none() {
            return Ok(());
        }
        let mut arrays = Vec::new();
        for array in file.arrays().iter().filter(|array| is_candidate(array)) {
            let has_integers = !matches!(array.scalar, ScalarType::F32 | ScalarType::F64);
            let mut values = None;
            if needed.includes(&array.name, has_integers) {
                let all = file.read(array)?.values.into_f64();
                let own = indices.iter().filter_map(|index| all.get(*index).copied());
                values = Some(own.collect());
            }
            arrays.push(BoundaryArray { name: array.name.clone(), has_integers, values });
        }
        let count = indices.len();
        self.parts.push(BoundaryPart { block, arrays, first, count });
        Ok(())
    }

    /// The boundary with the groups of these faces, in their order, and the names of the blocks with cells of
    /// them. The arrays that they name have been read.
    ///
    /// # Errors
    ///
    /// If the file has no such block, array or value; the message lists those that it has.
    pub fn select(
        mut self,
        file: &VtkFile,
        faces: &[NamedFaces],
    ) -> Result<(BoundaryCells, BTreeSet<String>)> {
        for named in faces {
            let name = named.to_string();
            if self.cells.groups.iter().any(|(known, _)| *known == name) {
                continue;
            }
            let cells = match named {
                NamedFaces::Block { block } => self.of_block(file, block)?,
                NamedFaces::Array { array, value } => self.of_value(file, array, *value)?,
            };
            self.cells.groups.push((name, cells));
        }
        let used = self.used_blocks();
        Ok((self.cells, used))
    }

    /// The names of the blocks with cells of the groups.
    fn used_blocks(&self) -> BTreeSet<String> {
        let mut is_used = vec![false; self.parts.len()];
        for cell in self.cells.groups.iter().flat_map(|(_, cells)| cells) {
            // Parts without cells have the first cell of the next one.
            let after = self.parts.partition_point(|part| part.first <= *cell as usize);
            is_used[after - 1] = true;
        }
        let used = self.parts.iter().zip(is_used).filter(|(_, is_used)| *is_used);
        used.filter_map(|(part, _)| part.block.clone()).collect()
    }

    /// The faces that a file names: those of its blocks, and those of the values of integer arrays.
    pub fn named(&self) -> Vec<NamedFaces> {
        let blocks = self.blocks().into_iter().map(|block| NamedFaces::Block { block });
        let arrays = self.arrays(true).into_iter().flat_map(|array| {
            let values = self.values(&array).filter(|values| values.len() <= MAX_VALUES);
            let values = values.unwrap_or_default().into_iter();
            values.map(move |value| NamedFaces::Array { array: array.clone(), value })
        });
        blocks.chain(arrays).collect()
    }

    fn blocks(&self) -> BTreeSet<String> {
        self.parts.iter().filter_map(|part| part.block.clone()).collect()
    }

    /// The names of the arrays with one component, or only of those of integers.
    fn arrays(&self, of_integers: bool) -> BTreeSet<String> {
        let all = self.parts.iter().flat_map(|part| &part.arrays);
        let wanted = all.filter(|array| array.has_integers || !of_integers);
        wanted.map(|array| array.name.clone()).collect()
    }

    /// The different values of an array that has been read, if all are whole numbers.
    fn values(&self, array: &str) -> Option<BTreeSet<i64>> {
        let all = self.parts.iter().flat_map(|part| &part.arrays);
        let values =
            all.filter(|found| found.name == array).filter_map(|found| found.values.as_ref());
        values.flatten().map(|value| whole(*value)).collect()
    }

    /// The cells of a block.
    fn of_block(&self, file: &VtkFile, given: &str) -> Result<Vec<u32>> {
        let names = self.blocks();
        let matching: Vec<&String> = match names.get(given) {
            Some(name) => vec![name],
            None => names.iter().filter(|name| is_name(given, name)).collect(),
        };
        let [name] = matching[..] else {
            return Err(Error::mesh(file, self.wrong_block(file, given, &matching)));
        };
        let parts = self.parts.iter().filter(|part| part.block.as_ref() == Some(name));
        let cells = parts.flat_map(|part| part.first..part.first + part.count);
        Ok(cells.map(|cell| cell as u32).collect())
    }

    fn wrong_block(&self, file: &VtkFile, given: &str, matching: &[&String]) -> String {
        if !matching.is_empty() {
            return format!(
                "several of its blocks end in `{given}`: {}; give the whole name",
                list(&quoted(matching.iter()))
            );
        }
        let is_it = |block: &&BlockInfo| is_name(given, &block.name);
        let names = quoted(self.blocks().iter());
        match file.blocks().iter().find(is_it) {
            Some(block) => format!(
                "its block `{}` is no part of the boundary: {}; those of the boundary are {}",
                block.name,
                if block.points == 0 {
                    "it is empty".into()
                } else {
                    format!("its cells have dimension {}", block.dimension)
                },
                list(&names)
            ),
            None if names.is_empty() => format!(
                "a patch names its block `{given}`, but it has no blocks of boundary faces; select the \
                 faces by an `array` or by a box"
            ),
            None => format!(
                "it has no block `{given}`; its blocks of boundary faces are {}",
                list(&names)
            ),
        }
    }

    /// The cells with a value in an array.
    fn of_value(&self, file: &VtkFile, array: &str, value: i64) -> Result<Vec<u32>> {
        let mut cells = Vec::new();
        for part in &self.parts {
            let found = part.arrays.iter().find(|found| found.name == array);
            let Some(values) = found.and_then(|found| found.values.as_ref()) else { continue };
            let has_it = values.iter().zip(part.first..).filter(|(of, _)| **of == value as f64);
            cells.extend(has_it.map(|(_, cell)| cell as u32));
        }
        if !cells.is_empty() {
            return Ok(cells);
        }
        Err(Error::mesh(file, self.wrong_value(file, array, value)))
    }

    fn wrong_value(&self, file: &VtkFile, array: &str, value: i64) -> String {
        let arrays = quoted(self.arrays(false).iter());
        if self.parts.is_empty() {
            return format!(
                "a patch selects faces by the array `{array}`, but it has no cells on the boundary of \
                 the mesh: neither cells of the next lower dimension nor blocks of them"
            );
        }
        let is_given = |found: &&ArrayInfo| found.name == array;
        if !self.arrays(false).contains(array) {
            let other = match file.arrays().iter().find(is_given) {
                Some(found) if found.components > 1 => {
                    format!(" with one component (it has {})", found.components)
                }
                _ => String::new(),
            };
            return format!(
                "its cells on the boundary have no cell array `{array}`{other}; they have {}",
                list(&arrays)
            );
        }
        match self.values(array) {
            Some(values) => format!(
                "no cell on its boundary has the value {value} in the array `{array}`, which has {}",
                list(&values.into_iter().collect::<Vec<_>>())
            ),
            None => format!(
                "no cell on its boundary has the value {value} in the array `{array}`, whose values are \
                 not whole numbers"
            ),
        }
    }
}

/// The parts of a cell that can be faces: the segments of a polyline, the triangles of a strip.
fn parts(kind: u8, points: &[u32]) -> impl Iterator<Item = &[u32]> {
    let size = match kind {
        4 => 2,
        6 => 3,
        _ => points.len(),
    };
    points.windows(size.max(1))
}

/// Whether an array can name faces: a number for each cell, and no flag of ghosts.
fn is_candidate(array: &ArrayInfo) -> bool {
    Association::of(array) == Some(Association::Cell)
        && array.components == 1
        && !array.name.starts_with("vtkGhost")
}

/// Whether a name is that of a block, or the last part of it.
fn is_name(given: &str, block: &str) -> bool {
    block == given || block.rsplit('/').next() == Some(given)
}

fn whole(value: f64) -> Option<i64> {
    (value.fract() == 0.0 && value.abs() < 2_f64.powi(53)).then_some(value as i64)
}

fn quoted<'a>(names: impl Iterator<Item = impl AsRef<str> + 'a>) -> Vec<String> {
    names.map(|name| format!("`{}`", name.as_ref())).collect()
}

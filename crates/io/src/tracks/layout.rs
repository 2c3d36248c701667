//! The arrays of a store and their Zarr metadata.

use super::chunk_grid::ChunkGrid;
use crate::{Error, Result};
use burntrace_cf::ScalarType;
pub(super) use burntrace_cf::zarr::METADATA;
use burntrace_cf::zarr::{self, KEYS};
use burntrace_core::{FieldArray, Precision};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Name of the coordinate that labels the components of vectors.
pub(super) const COMPONENT: &str = "component";

/// The dimensions of an array, without the components of a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dims {
    /// One item per save.
    Saves,
    /// One item per save and particle.
    SavesParticles,
    /// One item per particle.
    Particles,
    /// One item per particle instance.
    Instances,
    /// One item per crossing of a gate.
    Crossings,
}

/// The type of the values of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueType {
    /// Floats in the precision of the run.
    Float,
    /// Floats in the precision of the run that are sampled along the tracks.
    Sampled,
    /// Floats in the precision that positions need.
    Position,
    F64,
    I32,
    I64,
    U8,
}

/// An array of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ArraySpec {
    pub name: Cow<'static, str>,
    pub dims: Dims,
    /// Numbers in an item: 1, 3 for a vector, 9 for a tensor.
    pub width: usize,
    pub value_type: ValueType,
}

/// Numbers of saves, particles, particle instances and crossings of gates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counts {
    pub saves: usize,
    pub particles: usize,
    pub instances: usize,
    pub crossings: usize,
}

/// How the numbers of a store are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Encoding {
    /// Precision of the run.
    pub run: Precision,
    /// Precision of positions.
    pub positions: Precision,
    /// Whether arrays over saves and particles are compressed.
    pub compressed: bool,
}

/// Defines arrays, each by its name, its dimensions, the numbers in an item and the type of its values.
macro_rules! arrays {
    ($($array:ident: $name:literal, $dims:ident, $width:literal, $value_type:ident;)*) => {
        $(pub(super) static $array: ArraySpec = ArraySpec {
            name: Cow::Borrowed($name),
            dims: Dims::$dims,
            width: $width,
            value_type: ValueType::$value_type,
        };)*

        /// All arrays that a store may have.
        pub(super) static ALL: [&ArraySpec; [$($name),*].len()] = [$(&$array),*];
    };
}
arrays! {
    TIME: "time", Saves, 1, F64;
    POSITION: "position", SavesParticles, 3, Position;
    STATUS: "status", SavesParticles, 1, U8;
    IMAGE: "image", SavesParticles, 3, I32;
    VELOCITY: "velocity", SavesParticles, 3, Float;
    GENERATION: "generation", SavesParticles, 1, I32;
    RELEASE_POSITION: "release_position", Particles, 3, Position;
    END_STATUS: "end_status", Particles, 1, U8;
    END_TIME: "end_time", Particles, 1, F64;
    RELEASE_TIME: "release_time", Particles, 1, F64;
    END_GENERATION: "end_generation", Particles, 1, I32;
    MESH_CELL: "mesh_cell", Particles, 1, I64;
    MESH_FACE: "mesh_face", Particles, 1, I32;
    OBSTACLE: "obstacle", Particles, 1, I32;
    PATCH: "patch", Particles, 1, I32;
    CONDITION: "condition", Particles, 1, I32;
    INSTANCE_SLOT: "instance_slot", Instances, 1, I32;
    INSTANCE_GENERATION: "instance_generation", Instances, 1, I32;
    INSTANCE_STATUS: "instance_status", Instances, 1, U8;
    INSTANCE_RELEASE_TIME: "instance_release_time", Instances, 1, F64;
    INSTANCE_END_TIME: "instance_end_time", Instances, 1, F64;
    INSTANCE_RELEASE_POSITION: "instance_release_position", Instances, 3, F64;
    INSTANCE_END_POSITION: "instance_end_position", Instances, 3, F64;
    CROSSING_GATE: "crossing_gate", Crossings, 1, I32;
    CROSSING_SLOT: "crossing_slot", Crossings, 1, I32;
    CROSSING_GENERATION: "crossing_generation", Crossings, 1, I32;
    CROSSING_DIRECTION: "crossing_direction", Crossings, 1, I32;
    CROSSING_TIME: "crossing_time", Crossings, 1, F64;
    CROSSING_POSITION: "crossing_position", Crossings, 3, F64;
}

impl Dims {
    /// Whether it is a table of which the number of rows is not known in advance.
    pub fn is_table(self) -> bool {
        matches!(self, Dims::Instances | Dims::Crossings)
    }
}

impl ArraySpec {
    /// An array that is sampled along the tracks.
    pub fn sampled(array: &FieldArray) -> ArraySpec {
        ArraySpec {
            name: Cow::Owned(array.name.clone()),
            dims: Dims::SavesParticles,
            width: array.components,
            value_type: ValueType::Sampled,
        }
    }

    /// Name of the dimension of the components of an item; `None` for numbers. Dimensions of one name
    /// have the same length in all arrays.
    fn component_dimension(&self) -> Option<Cow<'static, str>> {
        match self.width {
            1 => None,
            3 => Some(Cow::Borrowed(COMPONENT)),
            width => Some(Cow::Owned(format!("component_{width}"))),
        }
    }

    /// Names of the dimensions.
    pub fn dimensions(&self) -> Vec<String> {
        let names: &[&str] = match self.dims {
            Dims::Saves => &["time"],
            Dims::SavesParticles => &["time", "particle"],
            Dims::Particles => &["particle"],
            Dims::Instances => &["instance"],
            Dims::Crossings => &["crossing"],
        };
        let component = self.component_dimension().map(Cow::into_owned);
        names.iter().map(|name| (*name).into()).chain(component).collect()
    }

    /// The array's shape.
    pub fn shape(&self, counts: Counts) -> Vec<usize> {
        let mut shape = match self.dims {
            Dims::Saves => vec![counts.saves],
            Dims::SavesParticles => vec![counts.saves, counts.particles],
            Dims::Particles => vec![counts.particles],
            Dims::Instances => vec![counts.instances],
            Dims::Crossings => vec![counts.crossings],
        };
        shape.extend((self.width > 1).then_some(self.width));
        shape
    }

    /// The chunks in which it is written, from the planned counts.
    pub fn grid(&self, planned: Counts) -> ChunkGrid {
        match self.dims {
            Dims::Saves => ChunkGrid::of_list(Some(planned.saves)),
            Dims::SavesParticles => ChunkGrid::of_saves(planned.particles, planned.saves),
            Dims::Particles => ChunkGrid::of_particles(planned.particles),
            Dims::Instances | Dims::Crossings => ChunkGrid::of_list(None),
        }
    }

    /// The type of its numbers.
    pub fn scalar(&self, encoding: Encoding) -> ScalarType {
        let float = |precision| match precision {
            Precision::F32 => ScalarType::F32,
            Precision::F64 => ScalarType::F64,
        };
        match self.value_type {
            ValueType::Float | ValueType::Sampled => float(encoding.run),
            ValueType::Position => float(encoding.positions),
            ValueType::F64 => ScalarType::F64,
            ValueType::I32 => ScalarType::I32,
            ValueType::I64 => ScalarType::I64,
            ValueType::U8 => ScalarType::U8,
        }
    }

    /// Bytes of an item.
    pub fn item_bytes(&self, encoding: Encoding) -> usize {
        self.width * self.scalar(encoding).size()
    }

    /// Whether its chunks are compressed.
    pub fn is_compressed(&self, encoding: Encoding) -> bool {
        encoding.compressed && self.dims == Dims::SavesParticles
    }

    /// File name of a chunk.
    pub fn chunk_name(&self, grid: &ChunkGrid, chunk: usize) -> String {
        let [down, across] = grid.index(chunk);
        let mut index = match self.dims {
            Dims::SavesParticles => vec![down, across],
            Dims::Saves | Dims::Instances | Dims::Crossings => vec![down],
            Dims::Particles => vec![across],
        };
        index.extend((self.width > 1).then_some(0));
        KEYS.name(&index)
    }

    /// The chunk that a file name belongs to, if any.
    pub fn chunk_number(&self, grid: &ChunkGrid, name: &str) -> Option<usize> {
        let index = KEYS.chunk(name)?;
        let chunk = match (self.dims, &index[..]) {
            (Dims::SavesParticles, [down, across, ..]) => {
                down.checked_mul(grid.chunks_across())?.checked_add(*across)?
            }
            (_, [first, ..]) => *first,
            (_, []) => return None,
        };
        let is_chunk = grid.chunks_across() > 0 && self.chunk_name(grid, chunk) == name;
        is_chunk.then_some(chunk)
    }

    /// The Zarr metadata of the array, with these attributes.
    pub fn metadata(
        &self,
        encoding: Encoding,
        counts: Counts,
        grid: &ChunkGrid,
        attributes: Value,
    ) -> Value {
        let vector = (self.width > 1).then_some(self.width);
        let chunk: Vec<usize> = match self.dims {
            Dims::SavesParticles => vec![grid.chunk_rows, grid.chunk_columns],
            Dims::Saves | Dims::Instances | Dims::Crossings => vec![grid.chunk_rows],
            Dims::Particles => vec![grid.chunk_columns],
        };
        let chunk: Vec<usize> = chunk.into_iter().chain(vector).collect();
        let names = self.dimensions();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let (scalar, shape) = (self.scalar(encoding), self.shape(counts));
        let mut metadata = zarr::array(&scalar.to_string(), &shape, &chunk, &names, attributes);
        if self.is_compressed(encoding) {
            zarr::add_blosc(&mut metadata, scalar.size());
        }
        metadata
    }

    /// The chunks of the array, from the metadata found in `path`. The metadata must match this array;
    /// the shape may differ while the store is incomplete.
    ///
    /// # Errors
    ///
    /// If an entry differs; the message names the first one.
    pub fn grid_of(
        &self,
        path: &Path,
        found: &Value,
        (encoding, counts): (Encoding, Counts),
        is_complete: bool,
    ) -> Result<ChunkGrid> {
        let chunk = &found["chunk_grid"]["configuration"]["chunk_shape"];
        let length = |axis: usize| {
            chunk[axis].as_u64().and_then(|n| n.try_into().ok()).filter(|n| *n > 0).unwrap_or(1)
        };
        let planned = self.grid(counts);
        let grid = match self.dims {
            Dims::SavesParticles => {
                ChunkGrid { chunk_rows: length(0), chunk_columns: length(1), ..planned }
            }
            Dims::Particles => ChunkGrid { chunk_columns: length(0), ..planned },
            Dims::Saves | Dims::Instances | Dims::Crossings => {
                ChunkGrid { chunk_rows: length(0), ..planned }
            }
        };
        let expected = self.metadata(encoding, counts, &grid, json!({}));
        let entries = expected.as_object().into_iter().flatten();
        let is_compared = |key: &str| key != "attributes" && (key != "shape" || is_complete);
        let mut differing =
            entries.filter(|(key, value)| is_compared(key) && found[key.as_str()] != **value);
        match differing.next() {
            None => Ok(grid),
            Some((key, value)) => Err(Error::Store {
                path: path.into(),
                found: format!("found `{key}`: {}", found[key.as_str()]),
                expected: format!("{value}, according to the {METADATA} of the group"),
            }),
        }
    }

    /// The folder of the array in a store.
    pub fn folder(&self, store: &Path) -> PathBuf {
        store.join(&*self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNTS: Counts = Counts { saves: 7, particles: 3, instances: 2, crossings: 2 };

    #[test]
    fn chunk_names_convert_to_numbers_and_back() {
        let grid = ChunkGrid { columns: 3, chunk_rows: 1, chunk_columns: 2 };
        assert_eq!(POSITION.chunk_name(&grid, 5), "c.2.1.0");
        assert_eq!(POSITION.chunk_number(&grid, "c.2.1.0"), Some(5));
        assert_eq!(STATUS.chunk_number(&grid, "c.2.1"), Some(5));
        assert_eq!(END_STATUS.chunk_number(&grid, "c.1"), Some(1));
        assert_eq!(INSTANCE_END_POSITION.chunk_name(&ChunkGrid::of_list(None), 4), "c.4.0");
        for name in ["zarr.json", "c.2.1", "c.2.2.0", "c.02.1.0", "c.x.0.0", "c.2.1.0.part"] {
            assert_eq!(POSITION.chunk_number(&grid, name), None, "{name}");
        }
    }

    #[test]
    fn metadata_are_read_back_and_differing_ones_refused() {
        let path = Path::new("position/zarr.json");
        let both = |precision| Encoding { run: precision, positions: precision, compressed: false };
        for spec in ALL {
            let grid = spec.grid(COUNTS);
            let metadata = spec.metadata(both(Precision::F32), COUNTS, &grid, json!({}));
            let of = (both(Precision::F32), COUNTS);
            assert_eq!(spec.grid_of(path, &metadata, of, true).unwrap(), grid);
        }
        let grid = ChunkGrid { columns: 3, chunk_rows: 2, chunk_columns: 2 };
        let mut metadata = POSITION.metadata(both(Precision::F64), COUNTS, &grid, json!({}));
        let refused = |metadata: &Value| {
            POSITION
                .grid_of(path, metadata, (both(Precision::F64), COUNTS), true)
                .unwrap_err()
                .to_string()
        };
        let other = refused(&POSITION.metadata(both(Precision::F32), COUNTS, &grid, json!({})));
        assert!(other.contains("found `data_type`: \"float32\", expected \"float64\""), "{other}");
        let far = Encoding { run: Precision::F32, positions: Precision::F64, compressed: false };
        let types = [&POSITION, &VELOCITY].map(|spec| spec.scalar(far));
        assert_eq!(types, [ScalarType::F64, ScalarType::F32]);
        metadata["codecs"] = json!([{ "name": "zstd" }]);
        assert!(refused(&metadata).contains("found `codecs`: [{\"name\":\"zstd\"}], expected"));
        assert!(refused(&json!([1])).contains("expected"));
    }
}

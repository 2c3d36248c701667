//! Which arrays a store has, and how Zarr describes them.

use super::grid::Grid;
use crate::{Error, Result};
use burntrace_core::{Precision, Status};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Name of the file that describes an array or a group.
pub(super) const METADATA: &str = "zarr.json";

/// What an array has an item for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Over {
    /// Each save.
    Saves,
    /// Each particle at each save.
    Both,
    /// Each particle.
    Particles,
    /// Each row of the table of lives.
    Lives,
}

/// The type of an array's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// That of the run's precision.
    Real,
    F64,
    I32,
    I64,
    U8,
}

/// An array of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spec {
    pub name: &'static str,
    pub over: Over,
    /// Numbers in an item: 1, or 3 for vectors.
    pub width: usize,
    pub kind: Kind,
}

/// How many saves, particles and lives there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counts {
    pub saves: usize,
    pub particles: usize,
    pub lives: usize,
}

const fn spec(name: &'static str, over: Over, width: usize, kind: Kind) -> Spec {
    Spec { name, over, width, kind }
}

pub(super) const TIME: Spec = spec("time", Over::Saves, 1, Kind::F64);
pub(super) const POSITION: Spec = spec("position", Over::Both, 3, Kind::Real);
pub(super) const STATUS: Spec = spec("status", Over::Both, 1, Kind::U8);
pub(super) const IMAGE: Spec = spec("image", Over::Both, 3, Kind::I32);
pub(super) const VELOCITY: Spec = spec("velocity", Over::Both, 3, Kind::Real);
pub(super) const GENERATION: Spec = spec("generation", Over::Both, 1, Kind::I32);
pub(super) const END_STATUS: Spec = spec("end_status", Over::Particles, 1, Kind::U8);
pub(super) const END_TIME: Spec = spec("end_time", Over::Particles, 1, Kind::F64);
pub(super) const RELEASE_TIME: Spec = spec("release_time", Over::Particles, 1, Kind::F64);
pub(super) const END_GENERATION: Spec = spec("end_generation", Over::Particles, 1, Kind::I32);
pub(super) const MESH_CELL: Spec = spec("mesh_cell", Over::Particles, 1, Kind::I64);
pub(super) const MESH_FACE: Spec = spec("mesh_face", Over::Particles, 1, Kind::I32);
pub(super) const OBSTACLE: Spec = spec("obstacle", Over::Particles, 1, Kind::I32);
pub(super) const LIFE_SLOT: Spec = spec("life_slot", Over::Lives, 1, Kind::I32);
pub(super) const LIFE_GENERATION: Spec = spec("life_generation", Over::Lives, 1, Kind::I32);
pub(super) const LIFE_STATUS: Spec = spec("life_status", Over::Lives, 1, Kind::U8);
pub(super) const LIFE_RELEASE_TIME: Spec = spec("life_release_time", Over::Lives, 1, Kind::F64);
pub(super) const LIFE_END_TIME: Spec = spec("life_end_time", Over::Lives, 1, Kind::F64);
pub(super) const LIFE_RELEASE_PLACE: Spec = spec("life_release_place", Over::Lives, 3, Kind::F64);
pub(super) const LIFE_END_PLACE: Spec = spec("life_end_place", Over::Lives, 3, Kind::F64);

/// All arrays that a store may have.
pub(super) const ALL: [Spec; 20] = [
    TIME,
    POSITION,
    STATUS,
    IMAGE,
    VELOCITY,
    GENERATION,
    END_STATUS,
    END_TIME,
    RELEASE_TIME,
    END_GENERATION,
    MESH_CELL,
    MESH_FACE,
    OBSTACLE,
    LIFE_SLOT,
    LIFE_GENERATION,
    LIFE_STATUS,
    LIFE_RELEASE_TIME,
    LIFE_END_TIME,
    LIFE_RELEASE_PLACE,
    LIFE_END_PLACE,
];

/// What Zarr wants to know of an array: its type, its shape, that of a chunk, and the names of its
/// dimensions.
pub(super) fn metadata(data_type: &str, shape: &[usize], chunk: &[usize], names: &[&str]) -> Value {
    let fill = if data_type.starts_with("float") { json!("NaN") } else { json!(0) };
    let codec = match data_type {
        "uint8" => json!({ "name": "bytes" }),
        _ => json!({ "name": "bytes", "configuration": { "endian": "little" } }),
    };
    json!({
        "zarr_format": 3,
        "node_type": "array",
        "shape": shape,
        "data_type": data_type,
        "chunk_grid": { "name": "regular", "configuration": { "chunk_shape": chunk } },
        "chunk_key_encoding": { "name": "default", "configuration": { "separator": "." } },
        "fill_value": fill,
        "codecs": [codec],
        "dimension_names": names,
    })
}

impl Spec {
    /// The array's shape.
    pub fn shape(&self, counts: Counts) -> Vec<usize> {
        let mut shape = match self.over {
            Over::Saves => vec![counts.saves],
            Over::Both => vec![counts.saves, counts.particles],
            Over::Particles => vec![counts.particles],
            Over::Lives => vec![counts.lives],
        };
        shape.extend((self.width > 1).then_some(self.width));
        shape
    }

    /// How it is cut into chunks when it is written; the counts are those that are planned.
    pub fn grid(&self, planned: Counts) -> Grid {
        match self.over {
            Over::Saves => Grid::of_list(Some(planned.saves)),
            Over::Both => Grid::of_saves(planned.particles, planned.saves),
            Over::Particles => Grid::of_particles(planned.particles),
            Over::Lives => Grid::of_list(None),
        }
    }

    /// The type of its numbers, as Zarr calls it.
    pub fn data_type(&self, precision: Precision) -> &'static str {
        match (self.kind, precision) {
            (Kind::Real, Precision::F32) => "float32",
            (Kind::Real, Precision::F64) | (Kind::F64, _) => "float64",
            (Kind::I32, _) => "int32",
            (Kind::I64, _) => "int64",
            (Kind::U8, _) => "uint8",
        }
    }

    /// Name of the file of a chunk.
    pub fn chunk_name(&self, grid: &Grid, chunk: usize) -> String {
        let [down, across] = grid.index(chunk);
        let vector = if self.width > 1 { ".0" } else { "" };
        match self.over {
            Over::Both => format!("c.{down}.{across}{vector}"),
            Over::Saves | Over::Lives => format!("c.{down}{vector}"),
            Over::Particles => format!("c.{across}{vector}"),
        }
    }

    /// The chunk that a file has, if it is one.
    pub fn chunk_number(&self, grid: &Grid, name: &str) -> Option<usize> {
        let mut parts = name.strip_prefix("c.")?.split('.').map(str::parse::<usize>);
        let first = parts.next()?.ok()?;
        let chunk = match self.over {
            Over::Both => first.checked_mul(grid.across())?.checked_add(parts.next()?.ok()?)?,
            _ => first,
        };
        let is_it = grid.across() > 0 && self.chunk_name(grid, chunk) == name;
        is_it.then_some(chunk)
    }

    /// What Zarr wants to know of the array.
    pub fn metadata(&self, precision: Precision, counts: Counts, grid: &Grid) -> Value {
        let vector = (self.width > 1).then_some(self.width);
        let (chunk, names): (Vec<usize>, &[&str]) = match self.over {
            Over::Both => (vec![grid.rows_each, grid.columns_each], &["time", "particle"]),
            Over::Saves => (vec![grid.rows_each], &["time"]),
            Over::Lives => (vec![grid.rows_each], &["life"]),
            Over::Particles => (vec![grid.columns_each], &["particle"]),
        };
        let chunk: Vec<usize> = chunk.into_iter().chain(vector).collect();
        let names: Vec<&str> = names.iter().copied().chain(vector.map(|_| "component")).collect();
        let data_type = self.data_type(precision);
        let mut metadata = metadata(data_type, &self.shape(counts), &chunk, &names);
        if self.kind == Kind::U8 {
            metadata["attributes"] = flags();
        }
        metadata
    }

    /// How an array is cut into chunks by its metadata, which must be those of this array; but for
    /// its length, as long as that is not known.
    ///
    /// # Errors
    ///
    /// If they are not: the first entry that differs.
    pub fn grid_of(
        &self,
        path: &Path,
        found: &Value,
        (precision, counts): (Precision, Counts),
        is_complete: bool,
    ) -> Result<Grid> {
        let chunk = &found["chunk_grid"]["configuration"]["chunk_shape"];
        let length = |axis: usize| {
            chunk[axis].as_u64().and_then(|n| n.try_into().ok()).filter(|n| *n > 0).unwrap_or(1)
        };
        let planned = self.grid(counts);
        let grid = match self.over {
            Over::Both => Grid { rows_each: length(0), columns_each: length(1), ..planned },
            Over::Particles => Grid { columns_each: length(0), ..planned },
            Over::Saves | Over::Lives => Grid { rows_each: length(0), ..planned },
        };
        let expected = self.metadata(precision, counts, &grid);
        let entries = expected.as_object().into_iter().flatten();
        let counts = |key: &str| key != "attributes" && (key != "shape" || is_complete);
        let mut differing =
            entries.filter(|(key, value)| counts(key) && found[key.as_str()] != **value);
        match differing.next() {
            None => Ok(grid),
            Some((key, value)) => Err(Error::Store {
                path: path.into(),
                found: format!("found `{key}`: {}", found[key.as_str()]),
                expected: format!("{value}, as the group's {METADATA} and this format have it"),
            }),
        }
    }

    /// The folder of the array in a store.
    pub fn folder(&self, store: &Path) -> PathBuf {
        store.join(self.name)
    }
}

/// The status codes, in the way of the CF conventions.
fn flags() -> Value {
    let codes: Vec<i32> = Status::ALL.iter().map(|status| status.code()).collect();
    let names = Status::ALL.iter().map(|status| status.to_string().replace(' ', "_"));
    let names: Vec<String> = names.collect();
    json!({ "flag_values": codes, "flag_meanings": names.join(" ") })
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNTS: Counts = Counts { saves: 7, particles: 3, lives: 2 };

    #[test]
    fn chunks_have_names_and_names_chunks() {
        let grid = Grid { columns: 3, rows_each: 1, columns_each: 2 };
        assert_eq!(POSITION.chunk_name(&grid, 5), "c.2.1.0");
        assert_eq!(POSITION.chunk_number(&grid, "c.2.1.0"), Some(5));
        assert_eq!(STATUS.chunk_number(&grid, "c.2.1"), Some(5));
        assert_eq!(END_STATUS.chunk_number(&grid, "c.1"), Some(1));
        assert_eq!(LIFE_END_PLACE.chunk_name(&Grid::of_list(None), 4), "c.4.0");
        for name in ["zarr.json", "c.2.1", "c.2.2.0", "c.02.1.0", "c.x.0.0", "c.2.1.0.part"] {
            assert_eq!(POSITION.chunk_number(&grid, name), None, "{name}");
        }
    }

    #[test]
    fn metadata_are_read_back_and_others_refused() {
        let path = Path::new("position/zarr.json");
        for spec in ALL {
            let grid = spec.grid(COUNTS);
            let metadata = spec.metadata(Precision::F32, COUNTS, &grid);
            let of = (Precision::F32, COUNTS);
            assert_eq!(spec.grid_of(path, &metadata, of, true).unwrap(), grid);
        }
        let grid = Grid { columns: 3, rows_each: 2, columns_each: 2 };
        let mut metadata = POSITION.metadata(Precision::F64, COUNTS, &grid);
        let refused = |metadata: &Value| {
            POSITION
                .grid_of(path, metadata, (Precision::F64, COUNTS), true)
                .unwrap_err()
                .to_string()
        };
        let other = refused(&POSITION.metadata(Precision::F32, COUNTS, &grid));
        assert!(other.contains("found `data_type`: \"float32\", expected \"float64\""), "{other}");
        metadata["codecs"] = json!([{ "name": "zstd" }]);
        assert!(refused(&metadata).contains("found `codecs`: [{\"name\":\"zstd\"}], expected"));
        assert!(refused(&json!([1])).contains("expected"));
    }
}

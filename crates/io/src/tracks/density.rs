//! Densities, stored beside the tracks they are computed from.

use super::layout::METADATA;
use super::names::DENSITY;
use super::reader::Tracks;
use crate::disk::{write_content, write_text_beside};
use crate::number::bytes_of;
use crate::{Error, Image, Result};
use burntrace_cf::zarr::{self, KEYS, read_json};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The axes of an image, the slowest first: the order of [`Image::arrays`].
const AXES: [usize; 3] = [2, 1, 0];

impl Tracks {
    /// Stores the first array of an image as the `density` at a save: in an array
    /// `[saves, nz, ny, nx]`, NaN at saves without a density, with the coordinates `density_x`,
    /// `density_y` and `density_z`. Existing densities on another grid are removed. Returns `false`,
    /// and stores nothing, if the axes of the image are not x, y and z, or if the run has not ended:
    /// the number of its saves is not known then.
    ///
    /// # Errors
    ///
    /// If the save or the array does not exist, or a file cannot be written.
    pub fn put_density(&self, save: usize, image: &Image) -> Result<bool> {
        if save >= self.num_saves() {
            return Err(Error::Index { what: "save", index: save, count: self.num_saves() });
        }
        let Some((_, values)) = image.arrays.first() else {
            return Err(Error::Index { what: "array", index: 0, count: 0 });
        };
        if image.directions.is_some() || !self.is_complete() {
            return Ok(false);
        }
        let names = AXES.map(|d| format!("density_{}", ["x", "y", "z"][d]));
        let counts = AXES.map(|d| image.counts[d]);
        let shape = [&[self.num_saves()], &counts[..]].concat();
        let chunk = [&[1], &counts[..]].concat();
        let dims: Vec<&str> =
            ["time"].into_iter().chain(names.iter().map(String::as_str)).collect();
        let folder = self.folder().join("density");
        let cf = self.manifest().cf();
        let mut attributes = json!({ "long_name": "density of the particles" });
        if !image.unit.is_empty() {
            attributes["units"] = image.unit.as_str().into();
        }
        let (is_new, mut has_changed) =
            describe(&folder, &zarr::array("float64", &shape, &chunk, &dims, attributes))?;
        for (name, d) in names.iter().zip(AXES) {
            let (n, origin, step) = (image.counts[d], image.origin[d], image.spacing[d]);
            let coordinates: Vec<f64> = (0..n).map(|i| origin + i as f64 * step).collect();
            let of_axis = self.folder().join(name);
            let attributes = cf.of_node_axis(['x', 'y', 'z'][d]);
            let described = zarr::array("float64", &[n], &[n], &[name.as_str()], attributes);
            has_changed |= describe(&of_axis, &described)?.1;
            let chunk = of_axis.join(KEYS.name(&[0]));
            let existing = std::fs::read(&chunk).ok();
            if existing.is_some_and(|existing| existing != *bytes_of(&coordinates)) && !is_new {
                remove_chunks(&folder)?;
            }
            write_content(&chunk, bytes_of(&coordinates))?;
        }
        write_content(&self.density_chunk(save), bytes_of(values))?;
        if has_changed {
            self.manifest().add_densities(self.folder())?;
        }
        Ok(true)
    }

    /// The saves that have a density.
    pub fn density_saves(&self) -> Vec<usize> {
        (0..self.num_saves()).filter(|save| self.density_chunk(*save).is_file()).collect()
    }

    fn density_chunk(&self, save: usize) -> PathBuf {
        self.folder().join("density").join(KEYS.name(&[save, 0, 0, 0]))
    }

    /// The density at a save, as [`put_density`](Tracks::put_density) stored it.
    ///
    /// # Errors
    ///
    /// If the save has no density, or a file cannot be read or is damaged.
    pub fn density(&self, save: usize) -> Result<Image> {
        let axes =
            [0, 1, 2].map(|d| read(&self.folder().join(DENSITY[d + 1]).join(KEYS.name(&[0]))));
        let [x, y, z] = axes;
        let axes = [x?, y?, z?];
        let path = self.density_chunk(save);
        let values = read(&path)?;
        let counts = axes.each_ref().map(Vec::len);
        let nodes: usize = counts.iter().product();
        if nodes == 0 || values.len() != nodes {
            return Err(Error::Store {
                path,
                found: format!("{} values at {nodes} nodes", values.len()),
                expected: "one for each; compute it again with `burntrace density`".into(),
            });
        }
        let step = |along: &Vec<f64>| match along[..] {
            [first, .., last] => (last - first) / (along.len() - 1) as f64,
            _ => 0.0,
        };
        let attributes = read_json(&self.folder().join("density").join(METADATA))?;
        Ok(Image {
            counts,
            origin: axes.each_ref().map(|along| along[0]),
            spacing: axes.each_ref().map(step),
            arrays: vec![("density".into(), values)],
            unit: attributes["attributes"]["units"].as_str().unwrap_or_default().into(),
            ..Image::default()
        })
    }
}

/// The numbers in a file.
fn read(path: &Path) -> Result<Vec<f64>> {
    let bytes = std::fs::read(path).map_err(Error::system("read", path))?;
    let numbers = bytes.as_chunks::<8>().0;
    Ok(numbers.iter().map(|number| f64::from_le_bytes(*number)).collect())
}

/// Writes the metadata of an array, and removes its chunks if the existing metadata differ in more than
/// attributes. Returns whether the array is new, and whether its metadata have changed.
fn describe(folder: &Path, metadata: &Value) -> Result<(bool, bool)> {
    let path = folder.join(METADATA);
    let existing = read_json(&path).unwrap_or_default();
    if existing == *metadata {
        return Ok((false, false));
    }
    let without_attributes = |metadata: &Value| {
        let mut metadata = metadata.clone();
        metadata.as_object_mut().map(|entries| entries.remove("attributes"));
        metadata
    };
    let is_new = without_attributes(&existing) != without_attributes(metadata);
    if is_new {
        std::fs::create_dir_all(folder).map_err(Error::system("create", folder))?;
        remove_chunks(folder)?;
    }
    write_text_beside(&path, zarr::text(metadata))?;
    Ok((is_new, true))
}

/// Removes the chunks of an array.
fn remove_chunks(folder: &Path) -> Result<()> {
    let failed = |e| Error::system("read", folder)(e);
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.file_name().is_some_and(|name| name != METADATA) {
            std::fs::remove_file(&path).map_err(Error::system("remove", &path))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TrackWriter;
    use burntrace_core::{Ends, Precision, SavePlan, TrackSink};

    fn store(folder: &Path) -> Tracks {
        let plan = SavePlan {
            particles: 0,
            reuses_slots: false,
            saves: 0,
            precision: Precision::F64,
            positions: Precision::F64,
            velocity: false,
            periods: [0.0; 3],
            arrays: Vec::new(),
            gates: Vec::new(),
        };
        let mut writer = TrackWriter::new(folder);
        writer.begin(&plan).unwrap();
        writer.end(&Ends::default()).unwrap();
        Tracks::open(folder).unwrap()
    }

    #[test]
    fn a_density_at_a_missing_save_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let tracks = store(&folder.path().join("tracks"));
        let image = Image { arrays: vec![("density".into(), vec![])], ..Image::default() };
        let error = tracks.put_density(0, &image).unwrap_err().to_string();
        assert!(error.contains("save 0"), "{error}");
    }

    #[test]
    fn densities_on_another_grid_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("density");
        let of = |n: usize, attributes: Value| {
            zarr::array("float64", &[2, n], &[1, n], &["time", "density_x"], attributes)
        };
        let first = of(3, json!({}));
        assert_eq!(describe(&path, &first).unwrap(), (true, true));
        write_content(&path.join("c.0.0"), bytes_of(&[1.0, 2.0, 3.0])).unwrap();
        assert_eq!(describe(&path, &first).unwrap(), (false, false));
        // Other attributes change no number.
        assert_eq!(describe(&path, &of(3, json!({ "axis": "X" }))).unwrap(), (false, true));
        assert!(path.join("c.0.0").exists());
        assert_eq!(describe(&path, &of(4, json!({}))).unwrap(), (true, true));
        assert!(!path.join("c.0.0").exists());
    }
}

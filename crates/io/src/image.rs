//! Values on a regular grid as image data (`.vti`), for ParaView and VTK.

use crate::disk::write_atomic;
use crate::{Error, Result};
use std::io::Write;
use std::path::Path;

/// A regular grid in three dimensions, with values at its nodes or in its cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Image {
    /// Nodes along x, y and z; 1 along an axis without extent.
    pub counts: [usize; 3],
    /// The first node, with minimum coordinates along the axes, in the data's unit of length.
    pub origin: [f64; 3],
    /// Distances between nodes along the axes; 0 along an axis without extent is written as 1.
    pub spacing: [f64; 3],
    /// Unit vectors along the axes, if these are not x, y and z, as for an oblique slice.
    pub directions: Option<[[f64; 3]; 3]>,
    /// Point arrays: a name, and one value for each node, x varying fastest.
    pub arrays: Vec<(String, Vec<f64>)>,
    /// Cell arrays: a name, and one value for each cell between nodes, x varying fastest. Along an axis with one node there is one cell, which
    /// is flat.
    pub cells: Vec<(String, Vec<f64>)>,
    /// Field data: a name and one value, e.g. a time or an integral.
    pub facts: Vec<(String, f64)>,
    /// Unit of the arrays; empty if unknown. Image data have none.
    pub unit: String,
}

/// Writes image data with binary f64 arrays.
///
/// # Errors
///
/// If an array does not have one value for each node, or for each cell, or the file cannot be written.
pub fn write_image(image: &Image, path: impl AsRef<Path>) -> Result<()> {
    let path = path.as_ref();
    let nodes: usize = image.counts.iter().product();
    let cells: usize = image.counts.iter().map(|count| count.saturating_sub(1).max(1)).product();
    for (arrays, count, what) in [(&image.arrays, nodes, "nodes"), (&image.cells, cells, "cells")] {
        if let Some((name, values)) = arrays.iter().find(|(_, values)| values.len() != count) {
            let reason = format!("`{name}` has {} numbers for {count} {what}", values.len());
            return Err(Error::WriteVtk { path: path.into(), reason });
        }
    }
    let head = head(image);
    write_atomic(path, None, |out| {
        out.write_all(head.as_bytes())?;
        for (_, values) in image.arrays.iter().chain(&image.cells) {
            out.write_all(&(8 * values.len() as u64).to_le_bytes())?;
            values.iter().try_for_each(|value| out.write_all(&value.to_le_bytes()))?;
        }
        out.write_all(b"\n  </AppendedData>\n</VTKFile>\n")
    })
}

/// The XML before the binary data.
fn head(image: &Image) -> String {
    let text =
        |numbers: &[f64]| numbers.iter().map(|x| format!("{x:?}")).collect::<Vec<_>>().join(" ");
    let extent: Vec<String> =
        image.counts.iter().map(|&count| format!("0 {}", count.max(1) - 1)).collect();
    let extent = extent.join(" ");
    let spacing = image.spacing.map(|step| if step > 0.0 { step } else { 1.0 });
    // In VTK the axes are the columns of a matrix.
    let direction = image.directions.map_or_else(String::new, |axes| {
        let rows: Vec<f64> = (0..3).flat_map(|row| axes.map(|axis| axis[row])).collect();
        format!(" Direction=\"{}\"", text(&rows))
    });
    let facts: String = image.facts.iter().map(|(name, value)| fact(name, *value)).collect();
    let mut offset = 0;
    let mut described = |arrays: &[(String, Vec<f64>)]| -> String {
        arrays.iter().map(|(name, values)| array(name, values.len(), &mut offset)).collect()
    };
    let (arrays, cells) = (described(&image.arrays), described(&image.cells));
    let cells = match image.cells.is_empty() {
        true => String::new(),
        false => format!("      <CellData>\n{cells}      </CellData>\n"),
    };
    format!(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" version=\"1.0\" \
         byte_order=\"LittleEndian\" header_type=\"UInt64\">\n  <ImageData \
         WholeExtent=\"{extent}\" Origin=\"{}\" Spacing=\"{}\"{direction}>\n    \
         <FieldData>\n{facts}    </FieldData>\n    <Piece Extent=\"{extent}\">\n      \
         <PointData>\n{arrays}      </PointData>\n{cells}    </Piece>\n  </ImageData>\n  <AppendedData \
         encoding=\"raw\">\n_",
        text(&image.origin),
        text(&spacing),
    )
}

fn fact(name: &str, value: f64) -> String {
    format!(
        "      <DataArray type=\"Float64\" Name=\"{}\" NumberOfTuples=\"1\" format=\"ascii\">{value:?}\
         </DataArray>\n",
        escaped(name)
    )
}

/// An array of this many values, at the next offset in the binary data.
fn array(name: &str, values: usize, offset: &mut usize) -> String {
    let at = *offset;
    *offset += 8 + 8 * values;
    format!(
        "        <DataArray type=\"Float64\" Name=\"{}\" format=\"appended\" offset=\"{at}\"/>\n",
        escaped(name)
    )
}

fn escaped(name: &str) -> String {
    quick_xml::escape::escape(name).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_arrays_are_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("density.vti");
        let values: Vec<f64> = (0..24).map(|i| f64::from(i) / 7.0).collect();
        let image = Image {
            counts: [4, 3, 2],
            origin: [-1.5, 1e7 + 0.1, 0.25],
            spacing: [0.1, 0.2, 0.3],
            directions: None,
            arrays: vec![("a < b".into(), values.clone()), ("density".into(), values.clone())],
            cells: vec![("visits".into(), vec![3.0, 0.0, 1.5, 2.5, 7.0, f64::INFINITY])],
            facts: vec![("integral".into(), 0.999)],
            unit: String::new(),
        };
        write_image(&image, &path).unwrap();
        let file = burntrace_vtk::open(&path).unwrap();
        for (name, values) in image.arrays.iter().chain(&image.cells) {
            let found = file.arrays().iter().find(|array| array.name == *name).unwrap();
            let burntrace_vtk::Values::F64(read) = file.read(found).unwrap().values else {
                panic!("{name} is not f64")
            };
            assert_eq!(values, &read);
        }
        let [x, y, z] = file.coordinates().unwrap();
        assert_eq!((x.len(), y.len(), z.len()), (4, 3, 2));
        assert_eq!(y[0], 1e7 + 0.1);
    }

    #[test]
    fn an_array_of_the_wrong_size_is_refused() {
        let image = Image {
            counts: [2, 1, 1],
            arrays: vec![("density".into(), vec![1.0])],
            ..Image::default()
        };
        let error = write_image(&image, "nowhere.vti").unwrap_err().to_string();
        assert!(error.contains("`density` has 1 numbers for 2 nodes"), "{error}");
        let cells = vec![("visits".into(), vec![1.0; 2])];
        let image = Image { counts: [4, 1, 1], cells, ..Image::default() };
        let error = write_image(&image, "nowhere.vti").unwrap_err().to_string();
        assert!(error.contains("`visits` has 2 numbers for 3 cells"), "{error}");
    }
}

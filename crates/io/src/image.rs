//! Values on a regular grid as image data (`.vti`), for ParaView and VTK.

use crate::disk::write_atomic;
use crate::{Error, Result};
use std::io::Write;
use std::path::Path;

/// A regular grid in three dimensions, with values at its nodes.
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
    /// Field data: a name and one value, e.g. a time or an integral.
    pub facts: Vec<(String, f64)>,
    /// Unit of the arrays; empty if unknown. Image data have none.
    pub unit: String,
}

/// Writes image data with binary f64 arrays.
///
/// # Errors
///
/// If an array does not have one value for each node, or the file cannot be written.
pub fn write_image(image: &Image, path: impl AsRef<Path>) -> Result<()> {
    let path = path.as_ref();
    let nodes: usize = image.counts.iter().product();
    if let Some((name, values)) = image.arrays.iter().find(|(_, values)| values.len() != nodes) {
        let reason = format!("`{name}` has {} numbers for {nodes} nodes", values.len());
        return Err(Error::WriteVtk { path: path.into(), reason });
    }
    let head = head(image);
    write_atomic(path, None, |out| {
        out.write_all(head.as_bytes())?;
        for (_, values) in &image.arrays {
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
    let arrays: String = image.arrays.iter().enumerate().map(array).collect();
    format!(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" version=\"1.0\" \
         byte_order=\"LittleEndian\" header_type=\"UInt64\">\n  <ImageData \
         WholeExtent=\"{extent}\" Origin=\"{}\" Spacing=\"{}\"{direction}>\n    \
         <FieldData>\n{facts}    </FieldData>\n    <Piece Extent=\"{extent}\">\n      \
         <PointData>\n{arrays}      </PointData>\n    </Piece>\n  </ImageData>\n  <AppendedData \
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

fn array((index, (name, values)): (usize, &(String, Vec<f64>))) -> String {
    let offset = index * (8 + 8 * values.len());
    format!(
        "        <DataArray type=\"Float64\" Name=\"{}\" format=\"appended\" offset=\"{offset}\"/>\n",
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
            facts: vec![("integral".into(), 0.999)],
            unit: String::new(),
        };
        write_image(&image, &path).unwrap();
        let file = burntrace_vtk::open(&path).unwrap();
        for (name, values) in &image.arrays {
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
    }
}

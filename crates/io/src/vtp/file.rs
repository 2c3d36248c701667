//! Poly data files.

use crate::disk::{write_atomic, write_content};
use crate::{Error, Result};
use burntrace_core::{FieldArray, Floats};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use vtkio::IOBuffer;
use vtkio::model::{Attribute, ByteOrder, DataArray, DataSet, PolyDataPiece, Version, Vtk};
use vtkio::xml::VTKFile;

/// A floating-point array for vtkio.
pub(super) fn buffer(floats: Floats) -> IOBuffer {
    match floats {
        Floats::F32(all) => IOBuffer::F32(all),
        Floats::F64(all) => IOBuffer::F64(all),
    }
}

/// Numbers of particles.
pub(super) fn ids(particles: &[usize]) -> IOBuffer {
    IOBuffer::U32(particles.iter().map(|&particle| particle as u32).collect())
}

pub(super) fn scalars(name: &str, values: IOBuffer) -> DataArray {
    DataArray::scalars(name, 1).with_buf(values)
}

pub(super) fn vectors(name: &str, values: IOBuffer) -> DataArray {
    DataArray::vectors(name).with_buf(values)
}

/// An array that was sampled along the tracks.
pub(super) fn sampled(array: &FieldArray, values: Floats) -> DataArray {
    let array = match array.components {
        3 => DataArray::vectors(&array.name),
        components => DataArray::new(&array.name, components as u32),
    };
    array.with_buf(buffer(values))
}

/// Checks that 32-bit indices suffice for the points; vtkio panics otherwise.
pub(super) fn count_of(path: &Path, points: usize) -> Result<u32> {
    u32::try_from(points).map_err(|_| Error::WriteVtk {
        path: path.into(),
        reason: format!(
            "{points} points are more than 32-bit indices can number (4294967295); store fewer saves"
        ),
    })
}

/// Writes poly data with binary arrays.
pub(super) fn write(path: &Path, piece: PolyDataPiece) -> Result<()> {
    if piece.num_points() == 0 {
        return write_content(path, empty(&piece));
    }
    let vtk = Vtk {
        version: Version::new_xml(1, 0),
        title: String::new(),
        byte_order: ByteOrder::LittleEndian,
        data: DataSet::inline(piece),
        file_path: None,
    };
    let refused =
        |e: vtkio::xml::Error| Error::WriteVtk { path: path.into(), reason: e.to_string() };
    let file = VTKFile::try_from(vtk).map_err(refused)?;
    write_atomic(path, None, |out| {
        let mut out = FullWriter { out, failure: None };
        let written = file.write(&mut out);
        match out.failure {
            Some(failure) => Err(failure),
            None => written.map_err(std::io::Error::other),
        }
    })
}

/// The text of poly data without points. VTK requires the number of points, and vtkio omits it if it
/// is 0.
fn empty(piece: &PolyDataPiece) -> String {
    let array = |attribute: &Attribute| match attribute {
        Attribute::DataArray(array) => format!(
            "<DataArray type=\"Float32\" Name=\"{}\" NumberOfComponents=\"{}\" format=\"ascii\"/>",
            quick_xml::escape::escape(&array.name),
            array.num_comp()
        ),
        Attribute::Field { .. } => String::new(),
    };
    let arrays: String = piece.data.point.iter().map(array).collect();
    format!(
        "<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\"><PolyData>\
         <Piece NumberOfPoints=\"0\" NumberOfVerts=\"0\" NumberOfLines=\"0\" \
         NumberOfStrips=\"0\" NumberOfPolys=\"0\"><PointData>{arrays}</PointData><Points>\
         <DataArray type=\"Float32\" NumberOfComponents=\"3\" format=\"ascii\"/></Points>\
         </Piece></PolyData></VTKFile>\n"
    )
}

/// Writes complete buffers and keeps the first error: vtkio ignores partial writes and drops the
/// cause of an error.
struct FullWriter<'a> {
    out: &'a mut BufWriter<File>,
    failure: Option<std::io::Error>,
}

impl Write for FullWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if let Err(e) = self.out.write_all(bytes) {
            let kind = e.kind();
            self.failure.get_or_insert(e);
            return Err(kind.into());
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

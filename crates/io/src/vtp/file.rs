//! Poly data in a file.

use crate::disk::write_whole;
use crate::{Error, Result};
use burntrace_core::Floats;
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

/// Makes sure that 32 bits can number so many points: vtkio panics where they cannot.
pub(super) fn count_of(path: &Path, points: usize) -> Result<u32> {
    u32::try_from(points).map_err(|_| Error::WriteVtk {
        path: path.into(),
        reason: format!(
            "{points} points are more than it can number (4294967295); store fewer saves"
        ),
    })
}

/// Writes poly data, with its numbers in binary.
pub(super) fn write(path: &Path, piece: PolyDataPiece) -> Result<()> {
    if piece.num_points() == 0 {
        let text = empty(&piece);
        return write_whole(path, None, |out| out.write_all(text.as_bytes()));
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
    write_whole(path, None, |out| {
        let mut out = Whole { out, failure: None };
        let written = file.write(&mut out);
        match out.failure {
            Some(failure) => Err(failure),
            None => written.map_err(std::io::Error::other),
        }
    })
}

/// Poly data without points. VTK reads no file that does not say how many points it has, and vtkio
/// leaves out a number that is 0.
fn empty(piece: &PolyDataPiece) -> String {
    let array = |attribute: &Attribute| match attribute {
        Attribute::DataArray(array) => format!(
            "<DataArray type=\"Float32\" Name=\"{}\" NumberOfComponents=\"{}\" format=\"ascii\"/>",
            array.name,
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

/// vtkio does not look at how much of a text was written, and its errors forget their cause: this
/// writes all of it and keeps the first failure.
struct Whole<'a> {
    out: &'a mut BufWriter<File>,
    failure: Option<std::io::Error>,
}

impl Write for Whole<'_> {
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

//! One cloud of points for each save.

use super::file::{Reals, count_of, ids, scalars, vectors, write, write_whole};
use crate::tracks::Tracks;
use crate::{Error, Result};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use vtkio::model::{Attribute, Attributes, PolyDataPiece, VertexNumbers};

/// Writes the particles of each save as a cloud of vertices: `cloud_00000.vtp` and so on in a
/// folder, and `clouds.pvd`, which gives them their times. Returns the path of the latter.
///
/// Particles that wait for their release are left out. The points have `status` (codes of
/// [`Status`](burntrace_core::Status)), `particle` and, where it was stored, `velocity`.
///
/// # Errors
///
/// If the store cannot be read, or a file cannot be written.
pub fn write_clouds(store: &Tracks, folder: impl AsRef<Path>) -> Result<PathBuf> {
    let folder = folder.as_ref();
    std::fs::create_dir_all(folder).map_err(Error::system("create", folder))?;
    let mut pvd = String::from(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" \
         byte_order=\"LittleEndian\">\n<Collection>\n",
    );
    for (save, time) in store.times().iter().enumerate() {
        let name = format!("cloud_{save:05}.vtp");
        write(&folder.join(&name), cloud(store, save, folder)?)?;
        // Writing to a string does not fail.
        let _ = writeln!(pvd, "<DataSet timestep=\"{time:?}\" part=\"0\" file=\"{name}\"/>");
    }
    pvd.push_str("</Collection>\n</VTKFile>\n");
    let path = folder.join("clouds.pvd");
    write_whole(&path, |file| std::io::Write::write_all(file, pvd.as_bytes()))?;
    Ok(path)
}

fn cloud(store: &Tracks, save: usize, folder: &Path) -> Result<PolyDataPiece> {
    count_of(folder, store.num_particles())?;
    let (position, status) = (store.position(save)?, store.status(save)?);
    let is_there = |p: &usize| {
        status[*p] != burntrace_core::Status::Waiting && position[*p].iter().all(|x| x.is_finite())
    };
    let there: Vec<usize> = (0..store.num_particles()).filter(is_there).collect();
    let gather = |all: &[[f64; 3]]| {
        let mut reals = Reals::zeros(store.precision(), there.len());
        there.iter().enumerate().for_each(|(point, &p)| reals.set(point, all[p]));
        reals
    };
    let codes: Vec<u8> = there.iter().map(|&p| status[p].code() as u8).collect();
    let mut point = vec![
        Attribute::DataArray(scalars("status", codes.into())),
        Attribute::DataArray(scalars("particle", ids(&there))),
    ];
    if let Some(velocity) = store.velocity(save)? {
        point.push(Attribute::DataArray(vectors("velocity", gather(&velocity).into())));
    }
    let count = there.len() as u64;
    Ok(PolyDataPiece {
        points: gather(&position).into(),
        verts: Some(VertexNumbers::XML {
            connectivity: (0..count).collect(),
            offsets: (1..=count).collect(),
        }),
        data: Attributes { point, cell: Vec::new() },
        ..Default::default()
    })
}

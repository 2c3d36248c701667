//! One cloud of points for each save.

use super::file::{buffer, count_of, ids, scalars, vectors, write};
use crate::disk::write_whole;
use crate::tracks::{Clock, ParticleState, SavedStates, Tracks};
use crate::{Error, Result};
use burntrace_core::Floats;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use vtkio::model::{Attribute, Attributes, PolyDataPiece, VertexNumbers};

/// Writes the particles of each save as a cloud of vertices: `cloud_00000.vtp` and so on in a
/// folder, and `clouds.pvd`, which gives them their times. Returns the path of the latter.
///
/// Particles that wait for their release are left out, and so are empty slots. The points have
/// `status` (codes of [`Status`](burntrace_core::Status)), `particle` and, where it was stored,
/// `velocity`.
///
/// Where slots are used again, `particle` is the slot, and the points have `generation`, the number
/// of lives that the slot has had before, and `age`, the time from the release until the save, or
/// until the end if that came before. 8 to 16 bytes of memory are needed for each life then.
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
    let clock = Clock::of(store)?;
    for (save, time) in store.times().iter().enumerate() {
        let name = format!("cloud_{save:05}.vtp");
        write(&folder.join(&name), cloud(store, save, &clock, folder)?)?;
        // Writing to a string does not fail.
        let _ = writeln!(pvd, "<DataSet timestep=\"{time:?}\" part=\"0\" file=\"{name}\"/>");
    }
    pvd.push_str("</Collection>\n</VTKFile>\n");
    let path = folder.join("clouds.pvd");
    write_whole(&path, Some(pvd.len() as u64), |file| {
        std::io::Write::write_all(file, pvd.as_bytes())
    })?;
    Ok(path)
}

fn cloud(store: &Tracks, save: usize, clock: &Clock, folder: &Path) -> Result<PolyDataPiece> {
    let n = store.num_particles();
    count_of(folder, n)?;
    let moments = SavedStates::read(store, save)?;
    let there: Vec<ParticleState> =
        (0..n).map(|p| moments.of(p)).filter(ParticleState::is_there).collect();
    let gather = |all: &[[f64; 3]]| {
        let mut floats = Floats::zeros(store.precision(), 3 * there.len());
        there
            .iter()
            .enumerate()
            .for_each(|(point, moment)| floats.set_vector(point, all[moment.slot]));
        floats
    };
    let codes: Vec<u8> = there.iter().map(|moment| moment.status.code() as u8).collect();
    let slots: Vec<usize> = there.iter().map(|moment| moment.slot).collect();
    let mut point = vec![scalars("status", codes.into()), scalars("particle", ids(&slots))];
    if clock.has_lives() {
        let generations: Vec<i32> = there.iter().map(|moment| moment.generation).collect();
        let ages: Vec<f64> = there.iter().map(|moment| clock.age(moment)).collect();
        point.push(scalars("generation", generations.into()));
        point.push(scalars("age", ages.into()));
    }
    if let Some(velocity) = store.velocity(save)? {
        point.push(vectors("velocity", buffer(gather(&velocity))));
    }
    let point = point.into_iter().map(Attribute::DataArray).collect();
    let count = there.len() as u64;
    Ok(PolyDataPiece {
        points: buffer(gather(&moments.position)),
        verts: Some(VertexNumbers::XML {
            connectivity: (0..count).collect(),
            offsets: (1..=count).collect(),
        }),
        data: Attributes { point, cell: Vec::new() },
        ..Default::default()
    })
}

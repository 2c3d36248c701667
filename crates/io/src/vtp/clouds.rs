//! Saves as point clouds.

use super::file::{buffer, count_of, ids, sampled, scalars, vectors, write};
use crate::disk::write_content;
use crate::tracks::{ParticleState, ParticleTimes, SavedStates, Tracks};
use crate::{Error, Result};
use burntrace_core::Floats;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use vtkio::model::{Attribute, Attributes, PolyDataPiece, VertexNumbers};

/// Writes the particles of each save as a cloud of vertices: `cloud_00000.vtp` and so on in a
/// folder, and `clouds.pvd` with their times. Returns the path of `clouds.pvd`.
///
/// Particles that wait for their release and empty slots are omitted. Points have the arrays
/// `status` (codes of [`Status`](burntrace_core::Status)), `particle` and, if it is stored,
/// `velocity`, and the arrays sampled along the tracks under their names.
///
/// If slots are re-used, `particle` is the slot, and points have `generation`, the number of earlier
/// particle instances in the slot, and `age`, the time from the release to the save, or to the end
/// if it is earlier. This needs 8 to 16 bytes of memory for each particle instance.
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
    let times = ParticleTimes::read(store)?;
    for (save, time) in store.times().iter().enumerate() {
        let name = format!("cloud_{save:05}.vtp");
        write(&folder.join(&name), cloud(store, save, &times, folder)?)?;
        // Writing to a string does not fail.
        let _ = writeln!(pvd, "<DataSet timestep=\"{time:?}\" part=\"0\" file=\"{name}\"/>");
    }
    pvd.push_str("</Collection>\n</VTKFile>\n");
    let path = folder.join("clouds.pvd");
    write_content(&path, pvd)?;
    Ok(path)
}

fn cloud(
    store: &Tracks,
    save: usize,
    times: &ParticleTimes,
    folder: &Path,
) -> Result<PolyDataPiece> {
    let n = store.num_particles();
    count_of(folder, n)?;
    let states = SavedStates::read(store, save)?;
    let present: Vec<ParticleState> =
        (0..n).map(|p| states.state(p)).filter(ParticleState::is_present).collect();
    let gather = |all: &[[f64; 3]], precision| {
        let mut floats = Floats::zeros(precision, 3 * present.len());
        present
            .iter()
            .enumerate()
            .for_each(|(point, state)| floats.set_vector(point, all[state.slot]));
        floats
    };
    let codes: Vec<u8> = present.iter().map(|state| state.status.code() as u8).collect();
    let slots: Vec<usize> = present.iter().map(|state| state.slot).collect();
    let mut point = vec![scalars("status", codes.into()), scalars("particle", ids(&slots))];
    if times.reuses_slots() {
        let generations: Vec<i32> = present.iter().map(|state| state.generation).collect();
        let ages: Vec<f64> = present.iter().map(|state| times.age(state)).collect();
        point.push(scalars("generation", generations.into()));
        point.push(scalars("age", ages.into()));
    }
    if let Some(velocity) = store.velocity(save)? {
        point.push(vectors("velocity", buffer(gather(&velocity, store.precision()))));
    }
    for array in store.arrays() {
        let (all, width) = (store.sampled(&array, save, 0..n)?, array.components);
        let rows = present.iter().flat_map(|state| width * state.slot..width * (state.slot + 1));
        let values = Floats::from_f64(store.precision(), rows.map(|i| all.get(i)));
        point.push(sampled(&array, values));
    }
    let point = point.into_iter().map(Attribute::DataArray).collect();
    let count = present.len() as u64;
    Ok(PolyDataPiece {
        points: buffer(gather(&states.position, store.position_precision())),
        verts: Some(VertexNumbers::XML {
            connectivity: (0..count).collect(),
            offsets: (1..=count).collect(),
        }),
        data: Attributes { point, cell: Vec::new() },
        ..Default::default()
    })
}

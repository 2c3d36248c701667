//! Where seeds are: in the domain, in which cell of a mesh.

use super::Tracer;
use crate::{Domain, Error, Field, Result, Seeds, device, field::measured_from};
use burn::tensor::Tensor;

/// For each seed, the number of its mesh cell plus 1, or 0 for a field without a mesh; `None` for
/// seeds outside the domain or the mesh.
pub(super) fn cells(seeds: &Seeds, domain: &Domain, field: &dyn Field) -> Result<Vec<Option<i32>>> {
    let found = mesh_cells(seeds, field)?;
    let of_seed = |(i, p): (usize, &[f64; 3])| {
        let cell = found.as_ref().map_or(-1, |found| found[i]);
        let is_inside = domain.contains(*p) && (found.is_none() || cell >= 0);
        is_inside.then_some(cell + 1)
    };
    Ok(seeds.positions().iter().enumerate().map(of_seed).collect())
}

/// The cell of each seed, or -1 outside the mesh; `None` for a field without a mesh.
fn mesh_cells(seeds: &Seeds, field: &dyn Field) -> Result<Option<Vec<i32>>> {
    let (Some(mesh), Some(sampled)) = (field.mesh(), field.sampled()) else { return Ok(None) };
    if seeds.is_empty() {
        return Ok(Some(Vec::new()));
    }
    if field.device().is_autodiff() {
        let cell = |p: &[f64; 3]| mesh.locate(*p).map_or(-1, |found| found.cell as i32);
        return Ok(Some(seeds.positions().iter().map(cell).collect()));
    }
    let measured = measured_from(sampled.origin, seeds.positions());
    let position = field.precision().data(measured.into_flattened(), [seeds.len(), 3]);
    let beside = (&device::plain(&field.device()), field.precision().dtype());
    let position = Tensor::<2>::from_data(position, beside);
    let failed = |error: &dyn std::fmt::Debug| Error::Execution(format!("{error:?}"));
    let cells = burntrace_kernels::locate(position, &sampled.tensors).try_into_data();
    let cells = cells.map_err(|error| failed(&error))?.convert::<i32>();
    Ok(Some(cells.try_into_vec::<i32>().map_err(|error| failed(&error))?))
}

/// Refuses seeds that were not located: outside the domain, which may be unlimited, or of what is in it, the field.
pub(super) fn check_inside(
    tracer: &Tracer,
    seeds: &Seeds,
    cells: &[Option<i32>],
    inner: &'static str,
) -> Result<()> {
    let (domain, field) = (tracer.domain_box(), tracer.field.domain());
    let positions = seeds.positions();
    let Some(first) = cells.iter().position(Option::is_none) else {
        return Ok(());
    };
    let known = |ends: [f64; 3], of_field: [f64; 3]| {
        [0, 1, 2].map(|d| if ends[d].is_finite() { ends[d] } else { of_field[d] })
    };
    let what = if domain.contains(positions[first]) { inner } else { "domain" };
    Err(Error::SeedsOutside {
        what,
        outside: cells.iter().filter(|cell| cell.is_none()).count(),
        count: positions.len(),
        first,
        position: positions[first],
        low: known(domain.low, field.low),
        high: known(domain.high, field.high),
    })
}

//! Choice of the velocity among the arrays of a VTK file.

use super::velocity::{Association, VelocityInfo, VelocityName, twice, with_name};
use crate::listing::list;
use burntrace_vtk::{ArrayInfo, Attribute, Kind, ScalarType};

/// Finds the velocity among arrays of a file.
pub(super) fn find(
    arrays: &[ArrayInfo],
    name: &VelocityName,
    prefer: Option<Association>,
) -> std::result::Result<VelocityInfo, String> {
    match name {
        VelocityName::Auto => only_vector(arrays, prefer),
        VelocityName::Array(name) => {
            associated(arrays, std::slice::from_ref(name), prefer, |n| n == 2 || n == 3)
        }
        VelocityName::Components(names) => associated(arrays, names, prefer, |n| n == 1),
        VelocityName::Plane(names) => associated(arrays, names, prefer, |n| n == 1),
        VelocityName::None => Err("its velocity is not read".into()),
    }
}

fn only_vector(
    arrays: &[ArrayInfo],
    prefer: Option<Association>,
) -> std::result::Result<VelocityInfo, String> {
    let is_float = |array: &ArrayInfo| matches!(array.scalar, ScalarType::F32 | ScalarType::F64);
    let is_direction = |array: &ArrayInfo| {
        matches!(array.attribute, Some(Attribute::Normals | Attribute::TextureCoordinates))
    };
    for (float, components) in [(true, 3), (true, 2), (false, 3), (false, 2)] {
        let found: Vec<VelocityInfo> = arrays
            .iter()
            .filter(|a| a.components == components && is_float(a) == float && !is_direction(a))
            .filter_map(|a| {
                let association = Association::of(a)?;
                Some(VelocityInfo::new(vec![a.name.clone()], association))
            })
            .collect();
        match found.as_slice() {
            [] => {}
            [only] => return Ok(only.clone()),
            [a, b] if a == b => return Err(twice(&a.arrays[0], a.association)),
            [a, b] if a.arrays == b.arrays => return preferred(&found, prefer),
            several => {
                return Err(format!(
                    "it has several vectors, {}; name the one that is the velocity",
                    list(several)
                ));
            }
        }
    }
    Err("it has no vector; name the array that is the velocity, or two or three arrays with its components".into())
}

/// Finds the arrays with these names, all at the points or all in the cells.
fn associated(
    arrays: &[ArrayInfo],
    names: &[String],
    prefer: Option<Association>,
    fits: impl Fn(usize) -> bool,
) -> std::result::Result<VelocityInfo, String> {
    let on = |association: Association| -> Option<Vec<&ArrayInfo>> {
        names.iter().map(|name| with_name(arrays, name, association)).collect()
    };
    let mut found = Vec::new();
    let mut unfit = None;
    for association in [Association::Point, Association::Cell] {
        let Some(infos) = on(association) else { continue };
        match infos.iter().find(|info| !fits(info.components)) {
            Some(info) => unfit = Some(wrong_components(info, names.len() > 1)),
            None => found.push(VelocityInfo::new(names.to_vec(), association)),
        }
    }
    match (found.as_slice(), unfit) {
        ([only], _) => Ok(only.clone()),
        ([], Some(unfit)) => Err(unfit),
        ([], None) if names.len() == 1 => Err(format!("it has no array `{}`", names[0])),
        ([], None) => Err(format!(
            "it has no arrays `{}` that are all at the points, or all in the cells",
            names.join("`, `")
        )),
        _ => preferred(&found, prefer),
    }
}

fn preferred(
    found: &[VelocityInfo],
    prefer: Option<Association>,
) -> std::result::Result<VelocityInfo, String> {
    let chosen = found.iter().find(|info| Some(info.association) == prefer);
    chosen.cloned().ok_or_else(|| {
        format!(
            "`{}` is both a point and a cell array; set `prefer = \"point\"` or `\"cell\"`",
            found[0].arrays.join("`, `")
        )
    })
}

/// Why a field on points cannot use a velocity in cells.
pub(super) fn in_cells(kind: Kind, velocity: &VelocityInfo) -> String {
    let within = match kind {
        Kind::ImageData | Kind::RectilinearGrid => "set `field.interpolation = \"grid\"`, or ",
        Kind::StructuredGrid | Kind::UnstructuredGrid => {
            "set `field.interpolation = \"mesh\"`, or "
        }
        Kind::PolyData => "",
    };
    format!(
        "its velocity `{}` is in the cells, and a field on points needs it at the points; {within}\
         convert it (in ParaView: Cell Data to Point Data)",
        velocity.arrays.join("`, `")
    )
}

/// Why an array cannot be a velocity, or a component of one.
pub(super) fn wrong_components(array: &ArrayInfo, is_component: bool) -> String {
    let needs = if is_component { "an array of u, v or w has 1" } else { "a velocity has 3, or 2" };
    let plural = if array.components == 1 { "" } else { "s" };
    format!("`{}` has {} component{plural}, {needs}", array.name, array.components)
}

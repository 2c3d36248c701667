//! Reads arrays and joins their parts.

use crate::array::{ArrayInfo, Part, Placement};
use crate::error::Error;
use crate::merge::{duplicates, join};
use crate::source::ErrorContext;
use crate::sources::Sources;
use crate::structure::Structure;
use crate::values::Values;

/// Names of the arrays that mark duplicates, and whether their numbers are levels, not flags.
pub(crate) const GHOSTS: [(&str, bool); 2] = [("vtkGhostType", false), ("vtkGhostLevels", true)];

/// Reads all values of an array of a data set.
pub(crate) fn read_values(
    sources: &Sources,
    structure: &Structure,
    info: &ArrayInfo,
) -> Result<Values, Error> {
    let element = info.element();
    let context = sources.main().context(0, &element);
    let mut parts = Vec::new();
    for part in &info.parts {
        let context = sources.of(part).context(part.block.start, &element);
        parts.push((part, context, read_part(context, info, part)?));
    }
    match parts.len() {
        1 => Ok(parts.pop().map_or(Values::empty(info.scalar), |(.., values)| values)),
        _ => join(context, info, parts, &masks(sources, structure, info)?),
    }
}

/// Reads all values of an array that all blocks of a data set have.
pub(crate) fn read_members(
    sources: &Sources,
    members: &[Structure],
    info: &ArrayInfo,
) -> Result<Values, Error> {
    let element = info.element();
    let mut all = Values::empty(info.scalar);
    for member in members {
        let context = sources.of_structure(member).context(0, &element);
        let own = member
            .arrays
            .iter()
            .find(|own| own.name == info.name && own.association == info.association);
        let own =
            own.ok_or_else(|| context.malformed("a block without this array", "one in each"))?;
        let values = read_values(sources, member, own)?;
        all.try_reserve(values.len()).map_err(|_| context.out_of_memory(values.len()))?;
        let (before, count) = (all.len(), values.len());
        all.resize(before + count);
        all.copy_run(before, &values, 0, count)
            .ok_or_else(|| context.malformed("another type", info.scalar.to_string()))?;
    }
    Ok(all)
}

/// Which tuples of each part are duplicates; empty if none can be.
fn masks(
    sources: &Sources,
    structure: &Structure,
    info: &ArrayInfo,
) -> Result<Vec<Vec<bool>>, Error> {
    let is_in_box = |part: &Part| matches!(part.placement, Placement::Box(_));
    if !info.parts.iter().all(is_in_box) {
        return Ok(Vec::new());
    }
    let find = |(name, are_levels)| {
        let mut arrays = structure.arrays.iter();
        let found = arrays.find(|array| {
            array.name == name && array.association == info.association && array.components == 1
        });
        found.map(|array| (array, are_levels))
    };
    let Some((array, are_levels)) = GHOSTS.into_iter().find_map(find) else {
        return Ok(Vec::new());
    };
    let element = array.element();
    let mask = |part: &Part| {
        let context = sources.of(part).context(part.block.start, &element);
        Ok(duplicates(&stored_values(context, array, part)?, are_levels))
    };
    array.parts.iter().map(mask).collect()
}

/// Reads the values of a part as stored, without the index offset.
pub(crate) fn stored_values(
    context: ErrorContext<'_>,
    info: &ArrayInfo,
    part: &Part,
) -> Result<Values, Error> {
    let count = part
        .tuples
        .checked_mul(info.components)
        .ok_or_else(|| context.out_of_memory(usize::MAX))?;
    part.block.decode(context, info.scalar, count)
}

fn read_part(context: ErrorContext<'_>, info: &ArrayInfo, part: &Part) -> Result<Values, Error> {
    let mut values = stored_values(context, info, part)?;
    if let Placement::Append { index_offset: offset @ 1.. } = part.placement {
        values.offset_by(offset).ok_or_else(|| {
            context.malformed(
                format!("an index that overflows {}", info.scalar),
                format!("a type that can hold `+{offset}`"),
            )
        })?;
    }
    Ok(values)
}

//! Reads an array and joins its parts.

use crate::array::{ArrayInfo, GridBox, Part, Placement};
use crate::error::Error;
use crate::source::{Sources, Spot};
use crate::values::Values;

/// Reads all numbers of an array.
pub(crate) fn read_values(sources: &Sources, info: &ArrayInfo) -> Result<Values, Error> {
    let element = info.element();
    let spot = sources.main().spot(0, &element);
    let mut parts = Vec::new();
    for part in &info.parts {
        let spot = sources.of(part).spot(part.block.start, &element);
        parts.push((part, read_part(spot, info, part)?));
    }
    match parts.len() {
        1 => Ok(parts.pop().map_or(Values::empty(info.scalar), |(_, values)| values)),
        _ => join(spot, info, &parts),
    }
}

/// Reads the numbers of a part as they stand in the file, indices not yet moved.
pub(crate) fn stored_values(
    spot: Spot<'_>,
    info: &ArrayInfo,
    part: &Part,
) -> Result<Values, Error> {
    let count =
        part.tuples.checked_mul(info.components).ok_or_else(|| spot.out_of_memory(usize::MAX))?;
    part.block.decode(spot, info.scalar, count)
}

fn read_part(spot: Spot<'_>, info: &ArrayInfo, part: &Part) -> Result<Values, Error> {
    let mut values = stored_values(spot, info, part)?;
    if let Placement::Append { index_offset: offset @ 1.. } = part.placement {
        values.offset_by(offset).ok_or_else(|| {
            spot.malformed(
                format!("an index that overflows {}", info.scalar),
                format!("room for `+{offset}`"),
            )
        })?;
    }
    Ok(values)
}

fn join(spot: Spot<'_>, info: &ArrayInfo, parts: &[(&Part, Values)]) -> Result<Values, Error> {
    let count = info.tuples.saturating_mul(info.components);
    let mut whole = Values::empty(info.scalar);
    whole.try_reserve(count).map_err(|_| spot.out_of_memory(count))?;
    whole.resize(count);
    let mut filled = vec![false; info.tuples];
    let mut next = 0;
    for (part, values) in parts {
        let target = match part.placement {
            Placement::Box(target) => target,
            Placement::Append { .. } => {
                let target = GridBox {
                    start: [next, 0, 0],
                    size: [part.tuples, 1, 1],
                    whole: [info.tuples, 1, 1],
                };
                next += part.tuples;
                target
            }
        };
        place(&mut whole, &mut filled, values, info.components, target).ok_or_else(|| {
            spot.malformed("a piece that lies outside", "pieces inside the data set")
        })?;
    }
    match filled.iter().position(|done| !done) {
        None => Ok(whole),
        Some(tuple) => {
            let found = format!("no piece that holds tuple `{tuple}`");
            Err(spot.malformed(found, "pieces that cover the data set"))
        }
    }
}

/// Copies the tuples of a part row by row.
fn place(
    whole: &mut Values,
    filled: &mut [bool],
    part: &Values,
    components: usize,
    target: GridBox,
) -> Option<()> {
    let [start_x, start_y, start_z] = target.start;
    let [row, rows, layers] = target.size;
    let [whole_x, whole_y, _] = target.whole;
    for line in 0..rows * layers {
        let (y, z) = (start_y + line % rows, start_z + line / rows);
        let first = (z * whole_y + y) * whole_x + start_x;
        whole.copy_run(first * components, part, line * row * components, row * components)?;
        filled.get_mut(first..first + row)?.fill(true);
    }
    Some(())
}

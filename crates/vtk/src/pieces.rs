//! Reads arrays and joins their parts.

use crate::array::{ArrayInfo, GridBox, Part, Placement};
use crate::error::Error;
use crate::source::ErrorContext;
use crate::sources::Sources;
use crate::values::Values;

/// Reads all values of an array.
pub(crate) fn read_values(sources: &Sources, info: &ArrayInfo) -> Result<Values, Error> {
    let element = info.element();
    let context = sources.main().context(0, &element);
    let mut parts = Vec::new();
    for part in &info.parts {
        let context = sources.of(part).context(part.block.start, &element);
        parts.push((part, read_part(context, info, part)?));
    }
    match parts.len() {
        1 => Ok(parts.pop().map_or(Values::empty(info.scalar), |(_, values)| values)),
        _ => join(context, info, &parts),
    }
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

fn join(
    context: ErrorContext<'_>,
    info: &ArrayInfo,
    parts: &[(&Part, Values)],
) -> Result<Values, Error> {
    let count = info.tuples.saturating_mul(info.components);
    let mut joined = Values::empty(info.scalar);
    joined.try_reserve(count).map_err(|_| context.out_of_memory(count))?;
    joined.resize(count);
    let mut filled = vec![false; info.tuples];
    let mut next = 0;
    for (part, values) in parts {
        let target = match part.placement {
            Placement::Box(target) => target,
            Placement::Append { .. } => {
                let target = GridBox {
                    start: [next, 0, 0],
                    size: [part.tuples, 1, 1],
                    grid_size: [info.tuples, 1, 1],
                };
                next += part.tuples;
                target
            }
        };
        copy_box(&mut joined, &mut filled, values, info.components, target)
            .ok_or_else(|| context.malformed("a piece outside the data set", "pieces inside it"))?;
    }
    match filled.iter().position(|done| !done) {
        None => Ok(joined),
        Some(tuple) => {
            let found = format!("no piece with tuple `{tuple}`");
            Err(context.malformed(found, "pieces that cover the data set"))
        }
    }
}

/// Copies the tuples of a part into a box of the joined array; `None` if it is out of bounds.
fn copy_box(
    joined: &mut Values,
    filled: &mut [bool],
    part: &Values,
    components: usize,
    target: GridBox,
) -> Option<()> {
    let [start_x, start_y, start_z] = target.start;
    let [row, rows, layers] = target.size;
    let [size_x, size_y, _] = target.grid_size;
    for line in 0..rows * layers {
        let (y, z) = (start_y + line % rows, start_z + line / rows);
        let first = (z * size_y + y) * size_x + start_x;
        joined.copy_run(first * components, part, line * row * components, row * components)?;
        filled.get_mut(first..first + row)?.fill(true);
    }
    Some(())
}

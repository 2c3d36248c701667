//! Data sets of several blocks in one file.

use super::group::Group;
use crate::error::Error;

/// A block: its name, and the path of its group.
pub(crate) type HdfBlock = (String, String);

/// Maximum number of groups around a block.
const MAX_DEPTH: usize = 16;

/// Maximum number of groups of all blocks.
const MAX_GROUPS: usize = 100_000;

/// The blocks of a `PartitionedDataSetCollection`, in the order of their indices.
pub(super) fn of_collection(root: &Group<'_>) -> Result<Vec<HdfBlock>, Error> {
    let mut found = Vec::new();
    for (name, group) in root.children()? {
        if group.has_attribute("Type") {
            let index = group.numbers::<1>("Index")?.unwrap_or([f64::INFINITY]);
            found.push((index, (name.clone(), name)));
        }
    }
    found.sort_by(|([a], _), ([b], _)| a.total_cmp(b));
    some(root, found.into_iter().map(|(_, block)| block).collect())
}

/// The blocks of a `MultiBlockDataSet`, to which its `Assembly` links.
pub(super) fn of_assembly(root: &Group<'_>) -> Result<Vec<HdfBlock>, Error> {
    let lacks = || root.lacks("the group `Assembly`");
    let assembly = root.child("Assembly").ok_or_else(lacks)?;
    let mut found = Vec::new();
    let mut open = vec![(String::new(), 0, assembly)];
    let mut groups = 0;
    while let Some((name, depth, group)) = open.pop() {
        groups += 1;
        if depth > MAX_DEPTH || groups > MAX_GROUPS {
            let found = "an `Assembly` of too many groups";
            let expected = format!("at most `{MAX_GROUPS}`, and `{MAX_DEPTH}` in one another");
            return Err(root.context().malformed(found, expected));
        }
        if depth > 0 && group.has_attribute("Type") {
            let path = format!("Assembly/{name}");
            found.push((name, path));
            continue;
        }
        // Popped in reverse.
        for (child, group) in group.children()?.into_iter().rev() {
            let name = if depth == 0 { child } else { format!("{name}/{child}") };
            open.push((name, depth + 1, group));
        }
    }
    some(root, found)
}

fn some(root: &Group<'_>, blocks: Vec<HdfBlock>) -> Result<Vec<HdfBlock>, Error> {
    if blocks.is_empty() {
        let expected = "at least one in the file itself, not in others that it links to";
        return Err(root.context().malformed("no block", expected));
    }
    Ok(blocks)
}

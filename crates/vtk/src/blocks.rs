//! Data sets of several blocks: the blocks of the highest dimension as one data set.

use crate::array::{ArrayInfo, Association, Part, Placement};
use crate::block::Block;
use crate::cells;
use crate::dataset::{BlockInfo, DataSet};
use crate::error::Error;
use crate::geometry::Geometry;
use crate::grids;
use crate::join::{Piece, join_pieces};
use crate::pieces::GHOSTS;
use crate::source::Source;
use crate::sources::Sources;
use crate::structure::{BlockFile, BlockIndex, Structure};

/// Maximum number of values that are implied by the size of the files, per byte.
const MAX_VALUES_PER_BYTE: u64 = 1032;

/// A block, with its data set if it may be used: those of lower dimension are closed again.
struct Opened {
    info: BlockInfo,
    data: Option<DataSet>,
}

/// Joins the blocks of the highest dimension, which `open` opens one after the other at a time step.
pub(crate) fn join(
    source: Source,
    index: BlockIndex,
    step: usize,
    open: impl Fn(&BlockFile, usize) -> Result<DataSet, Error>,
) -> Result<DataSet, Error> {
    let mut opened: Vec<Opened> = Vec::new();
    let mut highest = None;
    let mut times = Vec::new();
    for block in index.files {
        let data = open(&block, step)?;
        add_times(&mut times, &block, &data)?;
        let info = describe((block, step), &data)?;
        if info.points > 0 {
            highest = highest.max(Some(info.dimension));
        }
        let may_be_used = info.points > 0 && Some(info.dimension) == highest;
        opened.push(Opened { info, data: may_be_used.then_some(data) });
    }
    for Opened { info, .. } in &mut opened {
        info.is_used = info.points > 0 && Some(info.dimension) == highest;
        info.note = skipped(info, highest);
    }
    let mut notes: Vec<String> =
        opened.iter().filter_map(|block| block.info.note.clone()).collect();
    let blocks = opened.iter().map(|block| block.info.clone()).collect();
    let (mut files, mut names, mut members) = (Vec::new(), Vec::new(), Vec::new());
    for Opened { info, data } in opened {
        let Some(data) = data.filter(|_| info.is_used) else { continue };
        let number = files.len() + 1;
        let DataSet { sources, structure, members: of_block, .. } = data;
        files.extend(sources.into_files());
        let own = if of_block.is_empty() { vec![structure] } else { of_block };
        names.extend(own.iter().map(|_| info.name.clone()));
        members.extend(own.into_iter().map(|own| own.shifted(number)));
    }
    if step >= times.len().max(1) {
        let found = format!("`{}` time steps", times.len());
        let context = source.context(0, "the blocks");
        return Err(context.malformed(found, format!("a step `{step}`, from 0")));
    }
    let sources = Sources::new(source, files);
    let (structure, members) = combine(&sources, members, index.fields, (&names, &mut notes))?;
    Ok(DataSet { members, blocks, notes, times, step, ..DataSet::new(sources, structure) })
}

/// Adds the times of a block, which are those of all blocks that have some.
fn add_times(times: &mut Vec<f64>, block: &BlockFile, data: &DataSet) -> Result<(), Error> {
    let own = &data.times;
    if times.is_empty() {
        times.clone_from(own);
    }
    if own.is_empty() || own == times {
        return Ok(());
    }
    let context = data.sources.main().context(0, "the time steps");
    let found = format!("other times in the block `{}`", block.name);
    Err(context.malformed(found, "the same times in all blocks"))
}

/// Describes a block, which is not used so far.
fn describe((block, step): (BlockFile, usize), data: &DataSet) -> Result<BlockInfo, Error> {
    let geometry = &data.structure.geometry;
    Ok(BlockInfo {
        name: block.name,
        path: block.path,
        kind: geometry.kind(),
        dimension: dimension(data)?,
        points: geometry.num_points(),
        cells: geometry.num_cells(),
        is_used: false,
        note: None,
        group: block.group.map(|group| (group, step)),
    })
}

/// The note for a block that is not used.
fn skipped(block: &BlockInfo, highest: Option<usize>) -> Option<String> {
    let BlockInfo { name, kind, dimension, points, is_used, .. } = block;
    if *is_used {
        return None;
    }
    let why = match (highest, *points) {
        (Some(_), 0) => "it is empty".to_owned(),
        (Some(highest), _) => {
            let is_below = dimension + 1 == highest;
            let hint = if is_below { "; patches can name its faces" } else { "" };
            format!("its cells have dimension {dimension}, those of other blocks {highest}{hint}")
        }
        (None, _) => return None,
    };
    Some(format!("the block `{name}` ({kind}) is not used: {why}"))
}

/// The highest dimension of the cells of a data set.
fn dimension(data: &DataSet) -> Result<usize, Error> {
    Ok(match &data.structure.geometry {
        Geometry::PolyData { strips, polys, .. } if strips + polys > 0 => 2,
        Geometry::PolyData { lines, .. } => usize::from(*lines > 0),
        Geometry::Unstructured { cells: 0, .. } => 0,
        Geometry::Unstructured { .. } => cells::highest_dimension(&data.sources, &data.structure)?,
        grid => grid.dims().unwrap_or_default().into_iter().filter(|nodes| *nodes > 1).count(),
    })
}

/// The data set that blocks form, and the structures that define its points and cells, if it does not.
fn combine(
    sources: &Sources,
    members: Vec<Structure>,
    fields: Vec<ArrayInfo>,
    (names, notes): (&[String], &mut Vec<String>),
) -> Result<(Structure, Vec<Structure>), Error> {
    let [first, ..] = members.as_slice() else {
        let context = sources.main().context(0, "the blocks");
        return Err(context.malformed("no block with points", "at least one"));
    };
    let encoding = format!("{}, in {} blocks", first.encoding, members.len());
    // The arrays have the final indices of their files already.
    let piece = |structure: &Structure| Piece {
        number: 0,
        source: sources.of_structure(structure),
        structure: structure.clone(),
    };
    let mut pieces: Vec<Piece<'_>> = members.iter().map(piece).collect();
    match grids::of_blocks(&mut pieces) {
        _ if members.len() == 1 => {}
        Some(Ok(geometry)) => {
            let structure = join_pieces(geometry, encoding, fields, &pieces)?;
            return Ok((structure, Vec::new()));
        }
        Some(Err(reason)) => notes.push(format!(
            "the blocks do not form one grid ({reason}); they are read as an unstructured grid"
        )),
        None => {}
    }
    mesh(sources, members, (encoding, fields), (names, notes))
}

/// The unstructured grid with the points and cells of all blocks; a single block as it is.
fn mesh(
    sources: &Sources,
    mut members: Vec<Structure>,
    (encoding, mut arrays): (String, Vec<ArrayInfo>),
    (names, notes): (&[String], &mut Vec<String>),
) -> Result<(Structure, Vec<Structure>), Error> {
    let is_field = |array: &ArrayInfo| array.association == Association::Field;
    if members.len() == 1
        && let Some(mut only) = members.pop()
    {
        arrays.retain(|field| !only.arrays.iter().any(|array| same(array, field)));
        only.arrays.extend(arrays);
        return Ok((only, Vec::new()));
    }
    keep_common_arrays(sources, &mut members, names, notes)?;
    let geometry = sum(sources, &members)?;
    for array in members.first().map_or(&[][..], |first| &first.arrays) {
        let tuples = match array.association {
            Association::Point => geometry.num_points(),
            Association::Cell => geometry.num_cells(),
            _ => array.tuples,
        };
        let parts = if is_field(array) { array.parts.clone() } else { Vec::new() };
        if !arrays.iter().any(|known| same(known, array)) {
            arrays.push(ArrayInfo { tuples, parts, ..array.clone() });
        }
    }
    Ok((Structure::new(geometry, encoding, arrays), members))
}

/// The unstructured grid of all blocks.
fn sum(sources: &Sources, members: &[Structure]) -> Result<Geometry, Error> {
    let add = |count: fn(&Geometry) -> usize| {
        let mut counts = members.iter().map(|member| count(&member.geometry));
        let sum = counts.try_fold(0_usize, |sum, count| sum.checked_add(count));
        sum.ok_or_else(|| sources.main().context(0, "the blocks").out_of_memory(usize::MAX))
    };
    Ok(Geometry::Unstructured {
        points: add(Geometry::num_points)?,
        cells: add(Geometry::num_cells)?,
    })
}

/// Leaves out the arrays that not all blocks have, with a note. Arrays of ghosts are 0 in blocks
/// without them.
fn keep_common_arrays(
    sources: &Sources,
    members: &mut [Structure],
    names: &[String],
    notes: &mut Vec<String>,
) -> Result<(), Error> {
    add_ghosts(sources, members)?;
    let mut all: Vec<ArrayInfo> = Vec::new();
    for array in members.iter().flat_map(|member| &member.arrays) {
        if array.association != Association::Field && !all.iter().any(|known| same(known, array)) {
            all.push(array.clone());
        }
    }
    for array in all {
        let has = |member: &Structure| {
            let kind = |array: &ArrayInfo| (array.scalar, array.components);
            member.arrays.iter().any(|own| same(own, &array) && kind(own) == kind(&array))
        };
        let mut blocks = members.iter().zip(names);
        let Some((_, name)) = blocks.find(|(member, _)| !has(member)) else { continue };
        notes.push(format!(
            "the array `{}` is not used: the block `{name}` has none of {} x {}",
            array.name, array.components, array.scalar
        ));
        for member in &mut *members {
            member.arrays.retain(|own| !same(own, &array));
        }
    }
    Ok(())
}

/// Whether two arrays have the same name and association.
fn same(a: &ArrayInfo, b: &ArrayInfo) -> bool {
    a.name == b.name && a.association == b.association
}

/// Adds arrays of ghosts, all 0, to the blocks that have none.
fn add_ghosts(sources: &Sources, members: &mut [Structure]) -> Result<(), Error> {
    for (on, (name, _)) in [Association::Point, Association::Cell]
        .into_iter()
        .flat_map(|on| GHOSTS.into_iter().map(move |ghosts| (on, ghosts)))
    {
        let is_it = |array: &&ArrayInfo| array.name == name && array.association == on;
        let template = members.iter().flat_map(|member| &member.arrays).find(is_it).cloned();
        let Some(template) = template else { continue };
        for member in &mut *members {
            if !member.arrays.iter().any(|array| is_it(&array)) {
                member.arrays.push(zeros(sources, member, &template)?);
            }
        }
    }
    Ok(())
}

/// An array of a block like another one, but with zeros.
fn zeros(sources: &Sources, block: &Structure, like: &ArrayInfo) -> Result<ArrayInfo, Error> {
    let tuples = match like.association {
        Association::Point => block.geometry.num_points(),
        _ => block.geometry.num_cells(),
    };
    let source = sources.of_structure(block);
    if tuples as u64 > sources.total_len().saturating_mul(MAX_VALUES_PER_BYTE) {
        return Err(source
            .context(0, "the data set")
            .truncated(format!("data for `{tuples}` values")));
    }
    let placement = Placement::Append { index_offset: 0 };
    let part = Part { file: block.file, block: Block::zeros(), tuples, placement };
    Ok(ArrayInfo { tuples, parts: vec![part], ..like.clone() })
}

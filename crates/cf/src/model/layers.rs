//! The layers of a C-grid, which are between the levels of `w`.

use super::Files;
use super::agrid::level_coordinate;
use super::dims::Dims;
use super::levels::Levels;
use crate::axis::UnitCheck;
use crate::store::{Span, Variable};
use crate::{Error, Result};

/// Layers of cells, and the levels between them.
pub(super) struct Layers {
    /// The first layer.
    pub first: usize,
    pub count: usize,
    /// The level at the beginning of the first layer.
    pub edge: usize,
}

impl Layers {
    pub fn edges(&self) -> Span {
        Span::range(self.edge, self.count + 1)
    }

    pub fn crop(&mut self, edges: Span) {
        self.first += edges.start;
        self.edge += edges.start;
        self.count = edges.count - 1;
    }
}

/// The layers of a variable: each is between two levels.
pub(super) fn layers(
    files: Files,
    u: &Dims,
    (coordinate, edges): (&Variable, &Levels),
    units: &mut UnitCheck,
) -> Result<Layers> {
    /// A depth at which heights are compared.
    const DEPTH: f64 = 1000.0;
    let fail = |reason: String| Error::variable(files.own.path(), &u.variable.name, reason);
    let count = u.size()[0];
    let own = level_coordinate(files, u, None).ok().filter(|(_, own)| own.name != coordinate.name);
    let mut unused = UnitCheck::default();
    let middles = own.map(|own| Levels::read(files, own, &mut unused)).transpose()?;
    let between = |layer: usize, edge: usize| {
        let ends = [edges.height(edge, DEPTH), edges.height(edge + 1, DEPTH)];
        let is_in = |levels: &Levels| {
            let z = levels.height(layer, DEPTH);
            ends[0].min(ends[1]) <= z && z <= ends[0].max(ends[1])
        };
        middles.as_ref().is_none_or(is_in)
    };
    let all = 0..edges.len().saturating_sub(1);
    let edge = all.clone().find(|edge| between(0, *edge)).ok_or_else(|| {
        fail(format!("its first level is between no two of the {} levels `{}`; name the levels of w by `corners.z`", edges.len(), coordinate.name))
    })?;
    let found =
        (0..count).take_while(|k| all.contains(&(edge + k)) && between(*k, edge + k)).count();
    match found {
        _ if found == count => {}
        _ if edge + found == all.end => units.notes.push(format!(
            "`{}` has {count} layers, and `{}` the levels of {found}: the others are left out",
            u.variable.name, coordinate.name
        )),
        _ => {
            return Err(fail(format!(
                "its level {found} is not between two neighbours of the levels `{}`; read layers without gaps, and name the \
                 levels of w by `corners.z`",
                coordinate.name
            )));
        }
    }
    Ok(Layers { first: 0, count: found, edge })
}

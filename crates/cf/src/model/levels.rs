//! Levels: heights of an axis, or those that follow the bottom.
//!
//! Formulas: CF conventions 1.11, appendix D, with a surface at z = 0: heights are those of the sea at rest.

use super::Files;
use super::dims::Dims;
use crate::axis::{self, UnitCheck};
use crate::layout::{dimensionless, formula_term};
use crate::packing::Packing;
use crate::store::{Span, Store, Variable};
use crate::units::Quantity;
use crate::{Error, Result};
use std::path::PathBuf;

/// The heights of the levels of a grid.
#[derive(Clone, Debug)]
pub(super) enum Levels {
    /// The same everywhere, in metres upward.
    Axis(Vec<f64>),
    /// z = a + b * depth of the bottom, of a terrain-following level above it.
    Linear(Vec<[f64; 2]>),
    /// z = depth * (c * s + depth * b) / (c + depth): `ocean_s_coordinate_g2` with its `depth_c`.
    Stretched { critical: f64, s: Vec<[f64; 2]> },
}

impl Levels {
    /// Number of levels.
    pub fn len(&self) -> usize {
        match self {
            Levels::Axis(heights) => heights.len(),
            Levels::Linear(levels) => levels.len(),
            Levels::Stretched { s, .. } => s.len(),
        }
    }

    /// Whether they follow the bottom.
    pub fn follow_bottom(&self) -> bool {
        !matches!(self, Levels::Axis(_))
    }

    /// The height of a level where the bottom is at a depth.
    pub fn height(&self, level: usize, depth: f64) -> f64 {
        match self {
            Levels::Axis(heights) => heights[level],
            Levels::Linear(levels) => levels[level][0] + levels[level][1] * depth,
            Levels::Stretched { critical, s } => {
                let [s, stretched] = s[level];
                depth * (critical * s + depth * stretched) / (critical + depth)
            }
        }
    }

    /// The change of the height of a level with the depth of the bottom.
    pub fn by_depth(&self, level: usize, depth: f64) -> f64 {
        match self {
            Levels::Axis(_) => 0.0,
            Levels::Linear(levels) => levels[level][1],
            Levels::Stretched { critical, s } => {
                let [s, stretched] = s[level];
                let sum = critical + depth;
                let of = critical * critical * s + depth * (2.0 * critical + depth) * stretched;
                of / (sum * sum)
            }
        }
    }

    /// The heights of the highest level and of that below it, where the bottom is at a depth.
    pub fn top(&self, depth: f64) -> [f64; 2] {
        let last = self.len() - 1;
        let at = |level: usize| self.height(level, depth);
        if at(0) > at(last) { [at(0), at(1)] } else { [at(last), at(last - 1)] }
    }

    /// Whether the highest level is less than another one below the surface z = 0, where the bottom is at a depth.
    pub fn reach_surface(&self, depth: f64) -> bool {
        let [top, below] = self.top(depth);
        (0.0..top - below).contains(&-top)
    }

    /// Adds the surface as a level, before the others or after them.
    pub fn add_surface(&mut self, is_first: bool) {
        fn add<T>(levels: &mut Vec<T>, is_first: bool, surface: T) {
            levels.insert(if is_first { 0 } else { levels.len() }, surface);
        }
        match self {
            Levels::Axis(heights) => add(heights, is_first, 0.0),
            Levels::Linear(levels) | Levels::Stretched { s: levels, .. } => {
                add(levels, is_first, [0.0; 2]);
            }
        }
    }

    /// A range of the levels.
    pub fn part(&self, of: Span) -> Levels {
        let range = of.start..of.start + of.count;
        match self {
            Levels::Axis(heights) => Levels::Axis(heights[range].to_vec()),
            Levels::Linear(levels) => Levels::Linear(levels[range].to_vec()),
            Levels::Stretched { critical, s } => {
                Levels::Stretched { critical: *critical, s: s[range].to_vec() }
            }
        }
    }

    /// Reads the levels of a coordinate variable.
    ///
    /// # Errors
    ///
    /// If it is neither a length nor one of the coordinates of CF that follow the bottom of a sea, or a term of
    /// their formulas is missing.
    pub fn read(
        files: Files,
        coordinate: (&dyn Store, &Variable),
        units: &mut UnitCheck,
    ) -> Result<Levels> {
        let (store, variable) = coordinate;
        let terms = Terms::of(files, coordinate);
        let Some(standard) = terms.kind() else {
            return Ok(Levels::Axis(axis::nodes(store, variable, 2, units)?));
        };
        let levels = terms.levels(&standard)?;
        units.convert(format!(
            "`{}` is {standard}: z is computed from the depth of the bottom, with the surface at z = 0, as in the sea at rest",
            variable.name
        ));
        Ok(levels)
    }
}

/// The names of the levels of ROMS.
const OF_ROMS: [&str; 4] = ["s_rho", "s_w", "sc_r", "sc_w"];

/// Whether a coordinate follows the bottom.
pub(super) fn is_of_bottom(coordinate: &Variable) -> bool {
    dimensionless(coordinate).is_some() || OF_ROMS.contains(&coordinate.name.as_str())
}

/// The terms of the formula of a coordinate.
struct Terms<'a> {
    files: Files<'a>,
    store: &'a dyn Store,
    coordinate: &'a Variable,
}

impl<'a> Terms<'a> {
    fn of(files: Files<'a>, (store, coordinate): (&'a dyn Store, &'a Variable)) -> Self {
        Terms { files, store, coordinate }
    }

    fn fail(&self, reason: impl Into<String>) -> Error {
        Error::variable(self.store.path(), &self.coordinate.name, reason)
    }

    /// The standard name of the coordinate, or that of ROMS by `Vtransform`; `None` of one that is a length.
    fn kind(&self) -> Option<String> {
        if let Some(standard) = dimensionless(self.coordinate) {
            return Some(standard.trim_end_matches("_at_w_location").into());
        }
        let is_of_roms = OF_ROMS.contains(&self.coordinate.name.as_str());
        let transform = || self.scalar(&["Vtransform"]).ok().map(|x| x.round() as i64);
        is_of_roms.then(|| match transform() {
            Some(1) => "ocean_s_coordinate_g1".into(),
            _ => "ocean_s_coordinate_g2".into(),
        })
    }

    /// The variable of a term, by `formula_terms` or by usual names.
    fn term(&self, term: &str, usual: &[&str]) -> Result<(&'a dyn Store, &'a Variable)> {
        let named = formula_term(self.coordinate, term);
        let names: Vec<&str> = named.into_iter().chain(usual.iter().copied()).collect();
        let missing = || {
            self.fail(format!(
                "its heights need its term `{term}`, a variable {} of this file, or of that of `corners.files`, which is \
                 missing; add it",
                names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ")
            ))
        };
        self.files.find(&names).ok_or_else(missing)
    }

    fn scalar(&self, names: &[&str]) -> Result<f64> {
        let (store, variable) = self.term(names[0], &names[1..])?;
        let values = values(store, variable)?;
        values.first().copied().filter(|value| value.is_finite()).ok_or_else(|| {
            Error::variable(store.path(), &variable.name, "it is not a number; correct it")
        })
    }

    fn levels(&self, standard: &str) -> Result<Levels> {
        let own = || values(self.store, self.coordinate);
        let stretching = |s: &[f64]| -> Result<Vec<f64>> {
            let is_of_w =
                self.coordinate.name.ends_with("_w") || self.coordinate.name.ends_with("w_level");
            let usual: &[&str] = if is_of_w { &["Cs_w"] } else { &["Cs_r", "Cs_rho"] };
            let (store, variable) = self.term("C", usual)?;
            let c = values(store, variable)?;
            match c.len() == s.len() {
                true => Ok(c),
                false => Err(self.fail(format!(
                    "it has {} levels, and its term `{}` {}; correct it",
                    s.len(),
                    variable.name,
                    c.len()
                ))),
            }
        };
        let critical = || self.scalar(&["depth_c", "hc"]);
        match standard {
            "ocean_sigma_coordinate" => {
                Ok(Levels::Linear(own()?.into_iter().map(|s| [0.0, s]).collect()))
            }
            "ocean_s_coordinate" => {
                let (s, c) = (own()?, critical()?);
                let (a, b) = (self.scalar(&["a"])?, self.scalar(&["b"])?);
                let half = (0.5 * a).tanh();
                let stretched = |s: f64| {
                    (1.0 - b) * (a * s).sinh() / a.sinh()
                        + b * ((a * (s + 0.5)).tanh() / (2.0 * half) - 0.5)
                };
                let level = |s: f64| [c * (s - stretched(s)), stretched(s)];
                Ok(Levels::Linear(s.into_iter().map(level).collect()))
            }
            "ocean_s_coordinate_g1" => {
                let (s, c) = (own()?, critical()?);
                let stretched = stretching(&s)?;
                let levels = s.into_iter().zip(stretched);
                Ok(Levels::Linear(levels.map(|(s, b)| [c * (s - b), b]).collect()))
            }
            "ocean_s_coordinate_g2" => {
                let (s, critical) = (own()?, critical()?);
                let stretched = stretching(&s)?;
                let s = s.into_iter().zip(stretched).map(|(s, b)| [s, b]).collect();
                Ok(Levels::Stretched { critical, s })
            }
            other => Err(self.fail(format!(
                "it is `{other}`; known are ocean_sigma_coordinate, ocean_s_coordinate, ocean_s_coordinate_g1 and \
                 ocean_s_coordinate_g2: interpolate the variables to heights first"
            ))),
        }
    }
}

/// The height of the surface with which levels move, a variable of the file of the velocity that is at the right places; `None`
/// if there is none.
pub(super) fn elevation(
    files: Files,
    coordinate: (&dyn Store, &Variable),
    is_there: impl Fn(&Dims) -> bool,
    units: &mut UnitCheck,
) -> Result<Option<Dims>> {
    let terms = Terms::of(files, coordinate);
    let named = terms.term("eta", &["zeta"]).ok();
    let Some(variable) = named.and_then(|(_, variable)| files.own.find(&variable.name)) else {
        return Ok(None);
    };
    let dims = Dims::of(files.own, variable)?;
    let problem = match terms.kind().as_deref() {
        Some("ocean_s_coordinate") => "levels of ocean_s_coordinate move in another way",
        _ if dims.size()[0] > 1 || !is_there(&dims) => {
            "it is at other places or times than the velocity"
        }
        _ => {
            units.unit(files.own, variable, Quantity::Length)?;
            return Ok(Some(dims));
        }
    };
    units.notes.push(format!("`{}` is not used, and levels do not move: {problem}", variable.name));
    Ok(None)
}

/// The depth of the bottom at points of rows and columns, in metres.
pub(super) struct Depths {
    name: String,
    path: PathBuf,
    size: [usize; 2],
    values: Vec<f64>,
}

/// Reads the depth of the bottom, a term of a coordinate.
pub(super) fn depths(
    files: Files,
    coordinate: (&dyn Store, &Variable),
    units: &mut UnitCheck,
) -> Result<Depths> {
    let (store, variable) = Terms::of(files, coordinate).term("depth", &["h"])?;
    units.unit(store, variable, Quantity::Length)?;
    let dims = Dims::of(store, variable)?;
    let [_, rows, columns] = dims.size();
    let of = [Span::one(0), Span::all(rows), Span::all(columns)];
    let values = dims.read(store, of, Some(Quantity::Length))?.values.into_f64();
    let (name, path) = (variable.name.clone(), store.path().into());
    Ok(Depths { name, path, size: [rows, columns], values })
}

impl Depths {
    /// The depths in a part of a grid, which has this size.
    pub fn at(&self, size: [usize; 2], [rows, columns]: [Span; 2]) -> Result<Vec<f64>> {
        if size != self.size {
            return Err(self.fail(format!(
                "it is on {:?} rows and columns, and the velocity on {size:?}; give the depth at its points",
                self.size
            )));
        }
        let row = |j: usize| {
            let first = (rows.start + j) * self.size[1] + columns.start;
            self.values[first..first + columns.count].iter().copied()
        };
        let depths: Vec<f64> = (0..rows.count).flat_map(row).collect();
        match depths.iter().all(|depth| depth.is_finite()) {
            true => Ok(depths),
            false => Err(self.fail(MISSING)),
        }
    }

    /// The means of the depths in the cells around corners, where they are known; `first` is the row and the column of the
    /// cell after the first corner.
    pub fn at_corners(&self, first: [usize; 2], [rows, columns]: [usize; 2]) -> Result<Vec<f64>> {
        let [height, width] = self.size;
        if first[0] + rows > height + 1 || first[1] + columns > width + 1 {
            return Err(self.fail(format!(
                "it has {height} x {width} rows and columns, fewer than the cells between {rows} x {columns} corners; give \
                 that of all cells"
            )));
        }
        let mean = |corner: usize| {
            let at = [first[0] + corner / columns, first[1] + corner % columns];
            let [below, left] = at.map(|cell| cell.saturating_sub(1));
            let around = (below..height.min(at[0] + 1))
                .flat_map(|row| self.values[row * width..][left..width.min(at[1] + 1)].iter());
            let known = around.filter(|depth| depth.is_finite());
            known.clone().sum::<f64>() / known.count() as f64
        };
        let depths: Vec<f64> = (0..rows * columns).map(mean).collect();
        match depths.iter().all(|depth| depth.is_finite()) {
            true => Ok(depths),
            false => Err(self.fail(MISSING)),
        }
    }

    fn fail(&self, reason: impl Into<String>) -> Error {
        Error::variable(&self.path, &self.name, reason)
    }
}

const MISSING: &str = "it is missing at some points, and the heights of levels need it at all, on land, too; give a file that \
                       has it there, as in `corners = { files = \"grid.nc\" }`";

/// The numbers of a coordinate, of which none is missing, whatever its limits of valid numbers are.
fn values(store: &dyn Store, variable: &Variable) -> Result<Vec<f64>> {
    let fail = |reason: String| Error::variable(store.path(), &variable.name, reason);
    let packing = Packing::of(store, variable).map_err(fail)?.without_limits();
    let decoded = packing.decode(store.read_all(variable)?, None).map_err(fail)?;
    Ok(decoded.values.into_f64())
}

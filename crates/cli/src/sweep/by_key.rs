//! Pictures of a sweep: quantities at the last common save against the varied keys.

use super::{
    axis::KeyAxis,
    ensemble::{ALL_ENDS, Ensemble, QUANTITIES},
    evaluation::Evaluation,
    key_map,
};
use crate::format::twelve_digits;
use burntrace::{analysis::ensemble::Spread, curves::capitalized};
use burntrace_plot::{Axis, Curves, Raster};
use std::collections::BTreeSet;

/// A picture against keys.
pub enum Plot {
    Curves(Curves),
    Map(Raster),
}

/// A picture with its file name and caption.
pub struct KeyFigure {
    pub name: String,
    pub plot: Plot,
    pub caption: String,
}

/// A quantity of each ensemble at its last save.
pub struct Quantity {
    /// As in `ensembles.csv`.
    pub name: String,
    pub unit: String,
    /// `None` where a set of runs does not have it.
    pub values: Vec<Option<Spread>>,
}

impl Quantity {
    /// Whether it has different values in the ensembles, or in the runs of one.
    fn varies(&self) -> bool {
        let known = || self.values.iter().flatten();
        let means = known().filter_map(|spread| spread.mean);
        let [low, high] = means
            .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| [low.min(x), high.max(x)]);
        high > low || self.has_spread()
    }

    /// The quantities with which it is in one picture, and its name there.
    fn group(&self) -> (&str, String) {
        let trunk = trunk(&self.name);
        match is_count(&self.name) && self.name != "active" {
            true => ("ends", self.name.clone()),
            false if trunk == self.name => (trunk, String::new()),
            false => (trunk, self.name[self.name.len() - 1..].into()),
        }
    }

    /// Whether it differs from run to run.
    pub fn has_spread(&self) -> bool {
        self.values.iter().flatten().any(|spread| spread.deviation.is_some_and(|sd| sd > 0.0))
    }
}

/// The pictures against the varied keys; and why there are none, if keys are varied.
pub fn figures(evaluation: &Evaluation) -> (Vec<KeyFigure>, Option<String>) {
    let ensembles = &evaluation.ensembles;
    let definition = &evaluation.sweep.definition;
    let keys: Vec<KeyAxis> = definition.vary.iter().filter_map(KeyAxis::of).collect();
    let quantities = quantities(evaluation);
    let context = Context { ensembles, at: at(evaluation) };
    let alone = |key| (context.curves(&quantities, key, None), None);
    match &keys[..] {
        _ if ensembles.len() < 2 => (Vec::new(), None),
        [] => (Vec::new(), None),
        [key] => alone(key),
        // All keys change together.
        [first, ..] if definition.zip => {
            alone(keys.iter().find(|key| key.is_numeric()).unwrap_or(first))
        }
        [a, b] => {
            let has_room = |quantity: &Quantity| !quantity.name.starts_with("variance");
            let shown: Vec<Quantity> = quantities.into_iter().filter(has_room).collect();
            let figures = match (a.is_numeric(), b.is_numeric()) {
                (true, true) => context.maps(&shown, [a, b]),
                (true, false) => context.curves(&shown, a, Some(b)),
                _ => context.curves(&shown, b, Some(a)),
            };
            let reason = "variances of positions against two keys; `ensembles.csv` has them";
            (figures, Some(reason.into()))
        }
        _ => {
            let reason = format!(
                "quantities against {} varied keys: pictures are of one or two; `ensembles.csv` has the numbers",
                keys.len()
            );
            (Vec::new(), Some(reason))
        }
    }
}

/// When the quantities are taken.
fn at(evaluation: &Evaluation) -> String {
    let last = |ensemble: &Ensemble| ensemble.times.last().copied();
    let times: BTreeSet<u64> =
        evaluation.ensembles.iter().filter_map(last).map(f64::to_bits).collect();
    match times.first() {
        Some(time) if times.len() == 1 => {
            let unit = &evaluation.sweep.runs[0].case.units.time;
            format!("at t = {} {unit}", twelve_digits(f64::from_bits(*time))).trim_end().into()
        }
        _ => "at the last save of each set of runs".into(),
    }
}

/// The quantities that vary, at the last save: the ends by status last.
fn quantities(evaluation: &Evaluation) -> Vec<Quantity> {
    let ensembles = &evaluation.ensembles;
    let of_save = QUANTITIES.iter().enumerate().map(|(i, (name, power))| Quantity {
        name: name.to_string(),
        unit: evaluation.unit(*power),
        values: ensembles.iter().map(|of| of.quantities[i].spread.last().copied()).collect(),
    });
    // Those that have ended in any way are among the ends.
    let of_save = of_save.filter(|quantity| quantity.name != "ended");
    let statuses: BTreeSet<&str> =
        ensembles.iter().flat_map(|of| of.exits.iter().map(|end| end.status.as_str())).collect();
    let ended = |status: &str| Quantity {
        name: status.into(),
        unit: String::new(),
        values: ensembles.iter().map(|of| of.ended(status)).collect(),
    };
    let single = statuses.iter().filter(|status| **status != ALL_ENDS);
    // One cause of all ends is the same as any.
    let skips_all = single.clone().count() == 1;
    let all = statuses.contains(ALL_ENDS).then_some(&ALL_ENDS).filter(|_| !skips_all);
    let ends = single.chain(all).map(|status| ended(status));
    of_save.chain(ends).filter(Quantity::varies).collect()
}

/// What all pictures need.
struct Context<'a> {
    ensembles: &'a [Ensemble],
    /// When the quantities are taken.
    at: String,
}

impl Context<'_> {
    /// Quantities against a key: with components and causes of ends together or, with another key, each with a curve for each value of that.
    fn curves(&self, of: &[Quantity], key: &KeyAxis, other: Option<&KeyAxis>) -> Vec<KeyFigure> {
        let Some(other) = other else {
            let groups = of.chunk_by(|a, b| a.group().0 == b.group().0);
            let figure = |group: &[Quantity]| {
                let one =
                    |of: &Quantity| Series::new(of.group().1, self.points(of, key, |_| true), key);
                let series = group.iter().map(one).collect();
                self.figure((group[0].group().0, &group[0].unit), series, (key, String::new()))
            };
            return groups.map(figure).collect();
        };
        let figure = |of: &Quantity| {
            let with = |value: &String| {
                let is_shown = |ensemble: &Ensemble| ensemble.value_of(&other.name) == Some(value);
                let name = format!("{} = {}", other.name, other.shown(value));
                Series::new(name, self.points(of, key, is_shown), key)
            };
            let series = other.values.iter().map(with).collect();
            self.figure((&of.name, &of.unit), series, (key, format!(" and {}", other.name)))
        };
        of.iter().map(figure).collect()
    }

    fn figure(
        &self,
        (name, unit): (&str, &str),
        series: Vec<Series>,
        (key, and): (&KeyAxis, String),
    ) -> KeyFigure {
        let title = title(name);
        let bands: Vec<_> = series.iter().map(|of| of.bands.clone()).enumerate().collect();
        let bands: Vec<_> = bands.into_iter().filter(|(_, band)| !band.is_empty()).collect();
        let spread = match bands.is_empty() {
            true => "",
            false => ": mean over runs, with a standard deviation from run to run to both sides",
        };
        let against = format!("{}{and}", key.description());
        let caption = format!("{} {} against {against}{spread}.", capitalized(&title), self.at);
        let value = if is_count(name) { "particles".into() } else { title.clone() };
        let curves = Curves {
            axes: [key.axis(), Axis { name: value, unit: unit.into(), range: [0.0; 2] }],
            log: [key.is_log(), false],
            bands,
            series: series.into_iter().map(|of| (of.name, of.points)).collect(),
            title: format!("{title} {}", self.at),
        };
        KeyFigure { name: file_name(name, ""), plot: Plot::Curves(curves), caption }
    }

    /// The coordinate of the key and the spread of each ensemble that is of interest.
    fn points(
        &self,
        of: &Quantity,
        key: &KeyAxis,
        is_shown: impl Fn(&Ensemble) -> bool,
    ) -> Vec<(f64, Spread)> {
        let all = self.ensembles.iter().zip(&of.values).filter(|(ensemble, _)| is_shown(ensemble));
        let point = |(ensemble, spread): (&Ensemble, &Option<Spread>)| {
            Some((key.coordinate(ensemble.value_of(&key.name)?)?, (*spread)?))
        };
        let mut points: Vec<(f64, Spread)> = all.filter_map(point).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points
    }

    /// Maps of each quantity over two keys, and of its standard deviation from run to run.
    fn maps(&self, quantities: &[Quantity], keys: [&KeyAxis; 2]) -> Vec<KeyFigure> {
        let both = |of: &Quantity| {
            let spread = of.has_spread().then(|| self.map(of, keys, true));
            [Some(self.map(of, keys, false)), spread].into_iter().flatten().collect::<Vec<_>>()
        };
        quantities.iter().flat_map(both).collect()
    }

    fn map(&self, of: &Quantity, keys: [&KeyAxis; 2], is_spread: bool) -> KeyFigure {
        let value = |spread: &Spread| if is_spread { spread.deviation } else { spread.mean };
        let cells = self.ensembles.iter().zip(&of.values).filter_map(|(ensemble, spread)| {
            let [x, y] = keys.map(|key| key.coordinate(ensemble.value_of(&key.name)?));
            Some(([x?, y?], spread.as_ref().and_then(value)?))
        });
        let title = title(&of.name);
        let (ending, what) = match (is_spread, of.has_spread()) {
            (true, _) => ("_spread", format!("standard deviation from run to run of the {title}")),
            (_, true) => ("", format!("mean over runs of the {title}")),
            _ => ("", title.clone()),
        };
        let over = format!("{} and {}", keys[0].name, keys[1].name);
        let caption =
            format!("{} {} over {over}; grey: no finished run.", capitalized(&what), self.at);
        let raster = Raster {
            title: what,
            name: if is_count(&of.name) { "particles".into() } else { title },
            unit: of.unit.clone(),
            ..key_map::raster(keys, &cells.collect::<Vec<_>>())
        };
        KeyFigure { name: file_name(&of.name, ending), plot: Plot::Map(raster), caption }
    }
}

/// A curve with its band.
struct Series {
    name: String,
    points: Vec<[f64; 2]>,
    bands: Vec<[f64; 3]>,
}

impl Series {
    fn new(name: String, values: Vec<(f64, Spread)>, key: &KeyAxis) -> Series {
        let (mut points, mut bands) = (Vec::new(), Vec::new());
        for (x, spread) in values {
            let Some(mean) = spread.mean else { continue };
            points.push([x, mean]);
            if let Some(deviation) = spread.deviation {
                bands.push([x, mean - deviation, mean + deviation]);
            }
            // Words are not joined by lines.
            if !key.is_numeric() {
                points.push([f64::NAN; 2]);
                bands.push([f64::NAN; 3]);
            }
        }
        if bands.iter().all(|band| band[0].is_nan()) {
            bands.clear();
        }
        Series { name, points, bands }
    }
}

/// Whether a quantity is a number of particles: no other one of those at saves.
fn is_count(name: &str) -> bool {
    let is_other = |of: &&str| *of != "active" && (*of == name || trunk(of) == name);
    !QUANTITIES.map(|(of_save, _)| of_save).iter().any(is_other)
}

/// The name of a quantity without its axis.
fn trunk(name: &str) -> &str {
    match name.rsplit_once('_') {
        Some(("mean", "x" | "y" | "z")) => "mean_position",
        Some((trunk, "x" | "y" | "z")) => trunk,
        _ => name,
    }
}

/// A quantity in words.
fn title(name: &str) -> String {
    match name {
        "active" => "number of active particles".into(),
        "ends" => "number of ended particles".into(),
        ALL_ENDS => "number of particles that ended in any way".into(),
        "variance" => "variance of positions".into(),
        name if is_count(name) => format!("number of particles with the end {name}"),
        name => name.replace('_', " "),
    }
}

fn file_name(quantity: &str, ending: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = quantity.chars().map(plain).collect();
    format!("by_key_{name}{ending}")
}

#[cfg(test)]
mod tests {
    use super::super::{ensemble::QuantitySpread, vary::Vary};
    use super::*;

    /// The values of keys, and those of a quantity.
    type Set<'a> = (&'a [(&'a str, &'a str)], &'a [f64]);

    /// Sets of runs with these values of keys, in which a quantity has these values.
    fn ensembles(of: &[Set]) -> (Vec<Ensemble>, Quantity) {
        let pair = |(key, value): &(&str, &str)| (key.to_string(), value.to_string());
        let ensemble = |keys: &&[(&str, &str)]| Ensemble {
            values: keys.iter().map(pair).collect(),
            runs: vec![0],
            times: vec![0.0],
            quantities: Vec::<QuantitySpread>::new(),
            exits: Vec::new(),
        };
        let values = of.iter().map(|(_, values)| Some(Spread::of(values, 0.95)));
        let quantity =
            Quantity { name: "mean_speed".into(), unit: "m/s".into(), values: values.collect() };
        (of.iter().map(|(keys, _)| ensemble(keys)).collect(), quantity)
    }

    fn key(text: &str) -> KeyAxis {
        KeyAxis::of(&Vary::parse(text).unwrap()).unwrap()
    }

    #[test]
    fn a_curve_has_the_means_by_key_and_its_band_a_deviation_to_both_sides() {
        let (ensembles, quantity) =
            ensembles(&[(&[("a.b", "2")], &[5.0, 7.0]), (&[("a.b", "1")], &[3.0])]);
        let context = Context { ensembles: &ensembles, at: "at t = 4 s".into() };
        let made = context.curves(&[quantity], &key("a.b=2,1"), None);
        let Plot::Curves(curves) = &made[0].plot else { panic!("a map") };
        assert_eq!(curves.series[0].1, [[1.0, 3.0], [2.0, 6.0]]);
        let deviation = 2f64.sqrt();
        assert_eq!(curves.bands, [(0, vec![[2.0, 6.0 - deviation, 6.0 + deviation]])]);
        assert_eq!(made[0].name, "by_key_mean_speed");
        let caption = "Mean speed at t = 4 s against a.b: mean over runs, with a standard deviation from run to run \
                       to both sides.";
        assert_eq!((made[0].caption.as_str(), made.len()), (caption, 1));
    }

    #[test]
    fn values_of_a_second_key_have_curves_and_words_are_not_joined() {
        let (ensembles, quantity) = ensembles(&[
            (&[("a.b", "1"), ("c.d", "rk4")], &[1.0]),
            (&[("a.b", "2"), ("c.d", "rk4")], &[2.0]),
            (&[("a.b", "2"), ("c.d", "euler")], &[3.0]),
        ]);
        let context = Context { ensembles: &ensembles, at: String::new() };
        let keys = [key("a.b=1,2"), key("c.d=rk4,euler")];
        let made = context.curves(&[quantity], &keys[0], Some(&keys[1]));
        let Plot::Curves(curves) = &made[0].plot else { panic!("a map") };
        let expected = [
            ("c.d = rk4".to_string(), vec![[1.0, 1.0], [2.0, 2.0]]),
            ("c.d = euler".to_string(), vec![[2.0, 3.0]]),
        ];
        assert_eq!((&curves.series[..], curves.bands.len()), (&expected[..], 0));
        let points =
            |key: &KeyAxis| Series::new(String::new(), vec![(1.0, Spread::of(&[4.0], 0.95))], key);
        assert_eq!([points(&keys[0]).points.len(), points(&keys[1]).points.len()], [1, 2]);
    }

    #[test]
    fn a_map_has_the_means_and_another_one_the_deviations() {
        let (ensembles, quantity) = ensembles(&[
            (&[("a.b", "1"), ("c.d", "5")], &[1.0, 3.0]),
            (&[("a.b", "2"), ("c.d", "6")], &[4.0, 4.0]),
        ]);
        let context = Context { ensembles: &ensembles, at: "at t = 4".into() };
        let keys = [key("a.b=1,2"), key("c.d=5,6")];
        let made = context.maps(&[quantity], [&keys[0], &keys[1]]);
        let values = made.iter().map(|figure| match &figure.plot {
            Plot::Map(raster) => raster.values.clone(),
            Plot::Curves(_) => panic!("no map"),
        });
        let values: Vec<Vec<f32>> = values.collect();
        assert_eq!([values[0][0], values[0][3], values[1][3]], [2.0, 4.0, 0.0]);
        assert!((values[1][0] - 2f32.sqrt()).abs() < 1e-6 && values[0][1].is_nan(), "{values:?}");
        let captions = made.iter().map(|figure| figure.caption.as_str()).collect::<Vec<_>>();
        assert_eq!(
            captions[0],
            "Mean over runs of the mean speed at t = 4 over a.b and c.d; grey: no finished run."
        );
        assert!(captions[1].starts_with("Standard deviation from run to run of the mean speed at"));
    }

    #[test]
    fn counts_and_quantities_have_their_names() {
        assert_eq!(title("exited x-high"), "number of particles with the end exited x-high");
        assert_eq!([title("mean_x"), title("mean_position")], ["mean x", "mean position"]);
        assert!(is_count("active") && is_count("ends") && is_count(ALL_ENDS));
        assert!(!is_count("mean_x") && !is_count("variance") && !is_count("mean_speed"));
        assert_eq!(file_name("exited x-high", "_spread"), "by_key_exited_x_high_spread");
    }
}

//! Further fields of a case, whose velocities are added to that of the first one at its nodes.

use super::{
    description::{FieldDescription, FieldOrigin},
    field::{self, named},
    flow, geometry,
    input::{FieldFiles, FieldInput, TracedInput},
    interpolation,
    sampled::SharedClock,
};
use crate::{
    file::{self, Case, FieldSource, GivenCrop, Misuse, PerParticle},
    format::six_digits,
};
use anyhow::Result;
use burn::tensor::Device;
use burntrace_core::{
    Addend, Analytic, Difference, Domain, Field, FieldOptions, Frames, Precision,
};
use burntrace_io as io;
use serde_json::{Value, json};

/// Frames of a further field on the host: the two around a time, and those that are read ahead.
const HELD: Frames = Frames::Streamed(4);

/// A further field.
#[derive(Clone)]
pub struct AddedField {
    /// Its key in the case, `field[1]`.
    pub key: String,
    pub description: FieldDescription,
    /// The description as JSON, with what is made of the field.
    pub json: Value,
    /// What the interpolation between the nodes of the first field changes.
    pub note: String,
}

/// Refuses keys of further fields in the first one, and the other way round.
pub fn check(case: &Case) -> Result<()> {
    let first = &case.field;
    let fail = |text: String| Err(Misuse::error(text));
    let of_others = [
        ("factor", first.factor.is_some()),
        ("rotate", first.rotate.is_some()),
        ("outside", first.outside.is_some()),
    ];
    let name = if first.added.is_empty() { "field" } else { "field[0]" };
    if let Some((key, _)) = of_others.into_iter().find(|(_, is_given)| *is_given) {
        return fail(format!(
            "{name}.{key} is for further fields, which are added to the first one; give each field as [[field]], the first \
             one without {key}"
        ));
    }
    if !first.added.is_empty() && first.crop == Some(GivenCrop::Auto) {
        return fail(
            "field[0].crop is \"auto\", which is for a single field; give a box, such as { low = [0, 0, 0], high = [1, 1, 1] }, \
             or omit it"
                .into(),
        );
    }
    for (i, field) in (1..).zip(&first.added) {
        let of_first = [
            ("crop = \"auto\"", field.crop == Some(GivenCrop::Auto)),
            ("periodic_axes", !field.periodic_axes.is_empty()),
            ("diffusivity", field.options.diffusivity.is_some()),
            ("radius", field.radius.is_some()),
        ];
        if let Some((key, _)) = of_first.into_iter().find(|(_, is_given)| *is_given) {
            return fail(format!(
                "field[{i}] has {key}, which is for the first field only; omit it"
            ));
        }
    }
    check_columns(case)
}

/// Refuses columns of the seeds as factors of more than one field, and beside sources.
fn check_columns(case: &Case) -> Result<()> {
    let Some((i, column)) = case.field.windage() else { return Ok(()) };
    let others = (1..).zip(&case.field.added).skip(i);
    let is_column = |field: &file::Field| matches!(field.factor, Some(PerParticle::Column(_)));
    if let Some((other, _)) = others.into_iter().find(|(_, field)| is_column(field)) {
        return Err(Misuse::error(format!(
            "field[{i}].factor and field[{other}].factor are columns of the seeds, and one further field can have a factor for each particle; give the other one a number"
        )));
    }
    if !case.source.is_empty() {
        return Err(Misuse::error(format!(
            "field[{i}].factor is the column `{column}` of the seeds, which the particles of a [[source]] do not have; give a number"
        )));
    }
    Ok(())
}

/// Adds the further fields of a case to the first one, `traced`, and describes them. `measures` whether the first field's nodes
/// are compared with theirs, for which frames are read.
pub fn add(
    case: &Case,
    (traced, origin): (TracedInput, &FieldOrigin),
    clock: &mut SharedClock,
    measures: bool,
) -> Result<(TracedInput, Vec<AddedField>)> {
    if case.field.added.is_empty() {
        return Ok((traced, Vec::new()));
    }
    let TracedInput::Frames(input) = traced else {
        return Err(Misuse::error(
            "field[0] is a formula, and further fields are added at the nodes of the first field, which it has none of; give \
             field[0].sample = { nodes = [nx, ny, nz] }, or files",
        ));
    };
    let (mut fields, mut addends, mut opened) = (Vec::new(), Vec::new(), Vec::new());
    for (i, field) in case.field.added.iter().enumerate() {
        let further = Further { case, field, key: format!("field[{}]", i + 1) };
        let (loaded, is_sea, description) =
            further.open(origin.series(), clock).map_err(|error| further.named(error))?;
        let addend = Addend { extends_up: is_sea, ..further.addend() };
        fields.push((loaded, addend));
        addends.push((addend, field.factor.clone()));
        opened.push((further.key, description));
    }
    let options = field::options(case, Frames::All, origin.series());
    let (input, differences) = input.plus(fields, &options, measures).map_err(Misuse::of)?;
    let described = |((i, (key, description)), addend)| {
        let difference = differences.get(i);
        AddedField::new((key, description), addend, (difference, origin.series()))
    };
    let added = opened.into_iter().enumerate().zip(addends).map(described);
    Ok((TracedInput::Frames(input), added.collect::<Result<_>>()?))
}

/// A further field of a case.
struct Further<'a> {
    case: &'a Case,
    field: &'a file::Field,
    key: String,
}

impl Further<'_> {
    fn addend(&self) -> Addend {
        let file::Field { rotate, outside, .. } = *self.field;
        let (factor, per_particle) = match self.field.factor {
            None => (1.0, false),
            Some(PerParticle::Number(factor)) => (factor, false),
            Some(PerParticle::Column(_)) => (1.0, true),
        };
        Addend {
            factor,
            per_particle,
            rotate: rotate.unwrap_or(0.0),
            outside: outside.unwrap_or_default(),
            extends_up: false,
        }
    }

    /// An error of a case with this field alone.
    fn named(&self, error: anyhow::Error) -> anyhow::Error {
        match error.is::<Misuse>() {
            true => Misuse::error(format!("{}: {error}", self.key)),
            false => error,
        }
    }

    /// Loads the field on the host, whether it is a sea up to the surface, and its description. `first` are the files of the first
    /// field.
    fn open(
        &self,
        first: Option<&io::SeriesInfo>,
        clock: &mut SharedClock,
    ) -> Result<(Box<dyn Field>, bool, FieldDescription)> {
        let (domain, run) = (self.case.domain.clone(), self.case.run.clone());
        let own = Case { domain, run, ..Case::new(self.field.clone()) };
        interpolation::check(&own)?;
        field::check_keys(&own)?;
        let (input, origin) = match &self.field.source {
            FieldSource::Files { files } => {
                let (input, info) = self.open_files((&own, files.clone()), first, clock)?;
                (input, field::origin(info, &own))
            }
            FieldSource::Flow { flow, sample: Some(sample) } => flow::sampled(&own, flow, sample)?,
            FieldSource::Flow { flow, sample: None } => return formula(flow),
            FieldSource::Own(_) => {
                return Err(Misuse::error(
                    "a field of a program is not added to another one; give files, or a flow",
                ));
            }
        };
        let series = origin.series();
        let options = field::options(&own, HELD, series);
        let options = FieldOptions { precision: Precision::F64, ..options };
        let loaded = input.load(&Device::flex(), &options);
        let (counts, loaded) = loaded.map_err(|error| named(error, origin.files()))?;
        let is_sea = series.is_some_and(|series| series.reaches_surface);
        Ok((loaded, is_sea, FieldDescription { origin, counts: Some(counts) }))
    }

    fn open_files(
        &self,
        (own, files): (&Case, io::Files),
        first: Option<&io::SeriesInfo>,
        clock: &mut SharedClock,
    ) -> Result<(FieldInput, io::SeriesInfo)> {
        let options = io::SeriesOptions {
            clock: clock.clock.clone(),
            longitudes: first.and_then(|of| of.axes.first()).map(|axis| [axis.low, axis.high]),
            ..field::series_options(own)
        };
        let interpolation = self.field.interpolation.clone();
        let files = FieldFiles { files, options, interpolation };
        let (input, info) = files.open_added()?;
        geometry::check_sampled(first, ("files", &info))?;
        geometry::check_land(own, &info)?;
        clock.add(&info)?;
        Ok((input, info))
    }
}

/// A formula that is evaluated at the nodes of the first field.
fn formula(given: &file::GivenFlow) -> Result<(Box<dyn Field>, bool, FieldDescription)> {
    let flow = flow::named(given)?;
    if !flow.formula().is_steady() {
        return Err(Misuse::error(
            "the formula depends on time, and a further field is linear between frames; give it frames, such as sample = \
             { nodes = [nx, ny, nz], start = 0.0, stop = 86400.0, frames = 25 }",
        ));
    }
    let field = Analytic::new(flow, &Device::flex(), Precision::F64);
    let field = field.with_domain(Domain::unbounded());
    let origin = FieldOrigin::Flow { name: given.to_string(), sampled: false };
    Ok((Box::new(field), false, FieldDescription { origin, counts: None }))
}

impl AddedField {
    fn new(
        (key, description): (String, FieldDescription),
        (addend, factor): (Addend, Option<PerParticle>),
        (difference, first): (Option<&Difference>, Option<&io::SeriesInfo>),
    ) -> Result<Self> {
        let mut json = description.json()?;
        (json["factor"], json["rotate"]) = (addend.factor.into(), addend.rotate.into());
        if let Some(PerParticle::Column(name)) = factor {
            json["factor"] = name.into();
        }
        let mut note = String::new();
        if let Some(difference) = difference {
            let Difference { velocity, position, time, positions, frames, outside } = *difference;
            json["difference"] = json!({
                "velocity": velocity, "position": position, "time": time, "positions": positions,
                "frames": frames, "outside": outside,
            });
            note = in_words((difference, addend.per_particle), first);
        }
        Ok(AddedField { key, description, json, note })
    }
}

/// What the interpolation between the nodes of the first field changes.
fn in_words(
    (difference, is_per_particle): (&Difference, bool),
    first: Option<&io::SeriesInfo>,
) -> String {
    let Difference { positions, frames, outside, .. } = *difference;
    let [velocity, time] = [difference.velocity, difference.time].map(six_digits);
    let [x, y, z] = difference.position.map(six_digits);
    let is_in_metres =
        first.is_some_and(|first| super::has_units(first) || first.geometry.is_in_degrees());
    let unit = if is_in_metres { " m/s" } else { "" };
    let date = first.and_then(|first| first.time_origin.as_ref()?.date_of(difference.time));
    let date = date.map_or(String::new(), |date| format!(" ({date})"));
    let factor = if is_per_particle { "a factor of 1" } else { "the factor" };
    let mut text = match positions {
        0 => "none of its nodes is inside the first field, so that what the interpolation between the nodes of that field \
              changes is not known"
            .into(),
        _ => format!(
            "interpolated between the nodes of the first field, its velocity differs by up to {velocity}{unit} (with \
             {factor}) at (x, y, z) = ({x}, {y}, {z}), t = {time}{date}; {positions} positions in {frames} frames were compared"
        ),
    };
    if outside > 0 {
        text +=
            &format!("; it is outside {outside} nodes of the first field, where nothing is added");
    }
    text
}

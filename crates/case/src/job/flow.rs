//! The fields of a case that are formulas.

use super::{
    description::FieldOrigin,
    domain_within,
    input::{FieldInput, TracedInput},
};
use crate::file::{Case, GivenFlow, Misuse, OwnFormula, Sample};
use anyhow::Result;
use burntrace_core::{Analytic, Domain, Flow, Formula, Precision, device::OpenDevice};

/// Opens the formula of a case, or samples it onto a grid.
pub(super) fn open(
    case: &Case,
    given: &GivenFlow,
    sample: Option<&Sample>,
) -> Result<(TracedInput, FieldOrigin)> {
    if let Some(sample) = sample {
        let (input, origin) = sampled(case, given, sample)?;
        return Ok((TracedInput::Frames(input), origin));
    }
    let (flow, domain) = flow_of(case, given)?;
    let origin = FieldOrigin::Flow { name: given.to_string(), sampled: false };
    Ok((TracedInput::Formula(flow, domain), origin))
}

/// Samples a formula onto a grid.
pub(super) fn sampled(
    case: &Case,
    given: &GivenFlow,
    sample: &Sample,
) -> Result<(FieldInput, FieldOrigin)> {
    let (flow, domain) = flow_of(case, given)?;
    let frames = Analytic::sample(flow, domain, sample.nodes, frame_times(sample)?);
    let input = FieldInput::Grid(Box::new(frames.map_err(Misuse::of)?));
    Ok((input, FieldOrigin::Flow { name: given.to_string(), sampled: true }))
}

/// A flow, and its domain in a case.
fn flow_of(case: &Case, given: &GivenFlow) -> Result<(Flow, Domain)> {
    if matches!(given, GivenFlow::Formula(_))
        && (case.domain.low.is_none() || case.domain.high.is_none())
    {
        return Err(Misuse::error(
            "`field.flow` is a formula, which has no domain of its own; give [domain] with low and high, for \
             example low = [-1, -1, 0] and high = [1, 1, 0] (equal numbers on an axis without motion)",
        ));
    }
    let flow = named(given)?;
    let domain = domain_within(case, flow.domain())?;
    Ok((flow, domain))
}

/// The flow of a name or of formulas.
pub(super) fn named(given: &GivenFlow) -> Result<Flow> {
    match given {
        GivenFlow::Named(name) => Flow::named(name).ok_or_else(|| {
            Misuse::error(format!(
                "`field.flow` is {name:?}, which is not a built-in flow; give one of {}, or formulas, such as {{ u \
                 = \"-y\", v = \"x\" }}",
                Flow::NAMES.join(", ")
            ))
        }),
        GivenFlow::Formula(formula) => own(formula).map(Flow::Formula),
    }
}

fn own(given: &OwnFormula) -> Result<Formula> {
    let OwnFormula { u, v, w, constants } = given;
    let constants: Vec<(&str, String)> =
        constants.iter().map(|(name, value)| (name.as_str(), value.to_string())).collect();
    let constants: Vec<(&str, &str)> =
        constants.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let [u, v, w] = [u, v, w].map(ToString::to_string);
    Formula::parse([&u, &v, &w], &constants)
        .map_err(|error| Misuse::error(format!("field.flow: {error}")))
}

/// Refuses formulas in double precision on devices with shaders: Vulkan defines sine and cosine in
/// single precision only, and drivers may give wrong results without an error.
pub(super) fn check_functions(device: &OpenDevice, precision: Precision) -> Result<()> {
    let is_shader = ["vulkan", "wgpu"].iter().any(|kind| device.name.starts_with(kind));
    if is_shader && precision == Precision::F64 {
        return Err(Misuse::error(format!(
            "the device `{}` has no sine and cosine in f64; sample the flow onto a grid \
             (field.sample), or use precision f32 or the device flex",
            device.name
        )));
    }
    Ok(())
}

/// Maximum number of frames of a sampled flow.
const MAX_FRAMES: usize = 10_000_000;

/// Evenly spaced times of a sampled flow.
fn frame_times(sample: &Sample) -> Result<Vec<f64>> {
    let is_span = sample.stop > sample.start;
    if !(1..=MAX_FRAMES).contains(&sample.frames) || (sample.frames > 1 && !is_span) {
        return Err(Misuse::error(format!(
            "[field.sample] has {} frames from {} to {}; give 1 frame, or up to {MAX_FRAMES} and stop > \
             start",
            sample.frames, sample.start, sample.stop
        )));
    }
    let interval = (sample.stop - sample.start) / (sample.frames.max(2) - 1) as f64;
    Ok((0..sample.frames).map(|i| sample.start + i as f64 * interval).collect())
}

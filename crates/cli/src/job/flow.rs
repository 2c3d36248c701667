//! The fields of a case that are formulas.

use super::{description::FieldOrigin, domain, field::TracedInput, input::FieldInput};
use crate::case::{self, Case, FlowField, Misuse};
use anyhow::Result;
use burntrace::{Analytic, Domain, Flow, FlowFrames, device::OpenDevice};

/// Opens the formula of a case, or samples it onto a grid.
pub(super) fn open(case: &Case, given: &FlowField) -> Result<(TracedInput, FieldOrigin)> {
    let (flow, domain) = flow_of(case, &given.flow)?;
    let origin = FieldOrigin::Flow { name: given.flow.clone(), sampled: given.sample.is_some() };
    let input = match &given.sample {
        Some(sample) => {
            TracedInput::Frames(FieldInput::Grid(Box::new(flow_frames(flow, domain, sample)?)))
        }
        None => TracedInput::Formula(flow, domain),
    };
    Ok((input, origin))
}

/// A flow by its name, and its domain in a case.
fn flow_of(case: &Case, name: &str) -> Result<(Flow, Domain)> {
    let flow = Flow::named(name).ok_or_else(|| {
        Misuse::error(format!(
            "`field.flow` is {name:?}, which is not a built-in flow; give one of {}",
            Flow::NAMES.join(", ")
        ))
    })?;
    let domain = domain(case, flow.domain())?;
    Ok((flow, domain))
}

fn flow_frames(flow: Flow, domain: Domain, sample: &case::Sample) -> Result<FlowFrames> {
    Analytic::sample(flow, domain, sample.nodes, frame_times(sample)?).map_err(Misuse::of)
}

/// Refuses formulas in double precision on devices with shaders: Vulkan defines sine and cosine in
/// single precision only, and drivers may give wrong results without an error.
pub(super) fn check_functions(device: &OpenDevice, precision: case::Precision) -> Result<()> {
    let is_shader = ["vulkan", "wgpu"].iter().any(|kind| device.name.starts_with(kind));
    if is_shader && precision == case::Precision::F64 {
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
fn frame_times(sample: &case::Sample) -> Result<Vec<f64>> {
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

//! The arrays of a page, each in its own element, as base64 text of compressed bytes.

use super::codec::{Packed, deflate, pack, pack_values};
use super::content::Page;
use super::header::{Quantizers, values_quantizer};
use super::quantize::Quantizer;
use base64::{Engine, prelude::BASE64_STANDARD};

/// Appends all arrays.
pub(super) fn push(html: &mut String, page: &Page, quantizers: &Quantizers) {
    push_numbers(html, &page.trajectories.particles);
    push_particles(html, page, quantizers);
    for (number, slice) in page.slices.iter().enumerate() {
        let values = slice.all_values();
        let quantizer = values_quantizer(&values, 16);
        let packed = pack_values(&values, slice.raster.counts[0], quantizer);
        push_packed(html, &format!("slice-{number}"), &packed);
    }
    let trajectories = &page.trajectories;
    for (number, surface) in trajectories.surfaces.iter().enumerate() {
        let corners = surface.triangles.iter().flatten().copied();
        push_corners(html, &format!("surface-{number}"), corners);
    }
    if trajectories.land.is_some() {
        let numbers = trajectories.rectangles_of_land().into_iter().flatten().flatten();
        push_bytes(html, "land", numbers.flat_map(|x| (x as f32).to_le_bytes()));
    }
    let lines = trajectories.lines();
    if !lines.is_empty() {
        push_corners(html, "outline", lines.into_iter().flatten());
    }
}

/// Appends the arrays with a code for each position or particle.
pub(super) fn push_particles(html: &mut String, page: &Page, quantizers: &Quantizers) {
    let trajectories = &page.trajectories;
    let row = trajectories.particles.len();
    for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
        let quantizer = quantizers.position[axis];
        push_packed(html, name, &pack(&coordinates(page, axis, quantizer), row, quantizer.bits()));
    }
    push_packed(html, "flags", &pack(&flags(page), row, 16));
    for (number, attribute) in trajectories.attributes.iter().enumerate() {
        let packed = pack_values(&attribute.values, row, quantizers.attributes[number]);
        push_packed(html, &format!("attribute-{number}"), &packed);
    }
    if let Some(sources) = &page.sources {
        push_packed(html, "sources", &pack(&sources.codes, row, 16));
    }
}

/// Numbers of particles, as differences.
fn push_numbers(html: &mut String, numbers: &[u32]) {
    let before = std::iter::once(0).chain(numbers.iter().copied());
    let changes = numbers.iter().zip(before).map(|(number, before)| number.wrapping_sub(before));
    push_bytes(html, "particles", changes.flat_map(u32::to_le_bytes));
}

/// Positions as 32-bit floats.
fn push_corners(html: &mut String, id: &str, corners: impl Iterator<Item = [f64; 3]>) {
    push_bytes(html, id, corners.flatten().flat_map(|x| (x as f32).to_le_bytes()));
}

fn push_packed(html: &mut String, id: &str, packed: &Packed) {
    let Packed { bits, row, weights: [a, b, c, d], bytes } = packed;
    let data =
        format!(" data-bits=\"{bits}\" data-row=\"{row}\" data-predictor=\"{a},{b},{c},{d}\"");
    push_element(html, id, &data, bytes);
}

fn push_bytes(html: &mut String, id: &str, bytes: impl Iterator<Item = u8>) {
    push_element(html, id, "", &deflate(&bytes.collect::<Vec<u8>>()));
}

fn push_element(html: &mut String, id: &str, data: &str, bytes: &[u8]) {
    let text = BASE64_STANDARD.encode(bytes);
    *html +=
        &format!("<script type=\"application/octet-stream\" id=\"{id}\"{data}>{text}</script>\n");
}

/// The codes of a coordinate. Where there is no particle, the code of the position before it in its column, or else of the
/// first one, since repeated codes take no bytes; flags say that it is not there.
fn coordinates(page: &Page, axis: usize, quantizer: Quantizer) -> Vec<u16> {
    let positions = &page.trajectories.position;
    let row = page.trajectories.particles.len();
    let code = |position: &[f64; 3]| is_finite(position).then(|| quantizer.code(position[axis]));
    let mut last: Vec<u16> =
        (0..row).map(|i| positions[i..].iter().step_by(row).find_map(code).unwrap_or(0)).collect();
    let held = |(at, position): (usize, &[f64; 3])| {
        let last = &mut last[at % row];
        *last = code(position).unwrap_or(*last);
        *last
    };
    positions.iter().enumerate().map(held).collect()
}

/// Flags of each position. Bit 0: joined to the previous save; bit 1: active; bit 2: the position exists. The high byte is
/// the status.
fn flags(page: &Page) -> Vec<u16> {
    let trajectories = &page.trajectories;
    let flags = |(index, position): (usize, &[f64; 3])| {
        let exists = is_finite(position);
        // A line needs a position at the previous save.
        let before = index
            .checked_sub(trajectories.particles.len())
            .map(|before| trajectories.position[before]);
        let joined =
            trajectories.joined[index] && exists && before.is_some_and(|from| is_finite(&from));
        let active = trajectories.active[index] && exists;
        let status = page.statuses.as_ref().map_or(0, |statuses| u16::from(statuses.codes[index]));
        u16::from(joined) | u16::from(active) << 1 | u16::from(exists) << 2 | status << 8
    };
    trajectories.position.iter().enumerate().map(flags).collect()
}

fn is_finite(position: &[f64; 3]) -> bool {
    position.iter().all(|coordinate| coordinate.is_finite())
}

//! The header of a page: everything but the arrays, as JSON.

use super::codec::pack_values;
use super::content::{Page, Section, Slice};
use super::fit::strided;
use super::quantize::Quantizer;
use crate::color::{ColorMap, Rgb};
use crate::{Attribute, Axis, Histogram, Trajectories};
use serde::Serialize;

/// The header.
#[derive(Serialize)]
pub(super) struct Header<'a> {
    particles: usize,
    times: &'a [f64],
    /// Dates of the saves; empty if times have no dates.
    dates: &'a [String],
    domain: [[f64; 3]; 2],
    axes: Option<&'a [[String; 2]; 3]>,
    length_unit: &'a str,
    time_unit: &'a str,
    /// The quantization of x, y and z.
    position: [Quantizer; 3],
    attributes: Vec<AttributeHeader<'a>>,
    statuses: Option<&'a [String]>,
    sources: Option<&'a [String]>,
    slices: Vec<SliceHeader<'a>>,
    sections: Vec<SectionHeader<'a>>,
    histograms: Vec<HistogramHeader<'a>>,
    surfaces: Vec<SurfaceHeader>,
    /// Whether there are lines of a flat boundary.
    outline: bool,
    /// Whether there are rectangles of land, at the top of the domain.
    land: bool,
    /// Seconds until the page is loaded again.
    reload: Option<f64>,
    maps: Vec<(&'static str, Vec<Rgb>)>,
}

#[derive(Serialize)]
struct AttributeHeader<'a> {
    name: &'a str,
    unit: &'a str,
    scale: Quantizer,
    /// Whether all values are integers, which are not interpolated.
    integers: bool,
}

#[derive(Serialize)]
struct AxisHeader<'a> {
    name: &'a str,
    unit: &'a str,
    range: [f64; 2],
}

#[derive(Serialize)]
struct SliceHeader<'a> {
    title: &'a str,
    name: &'a str,
    unit: &'a str,
    scale: Quantizer,
    counts: [usize; 2],
    axes: [AxisHeader<'a>; 2],
    normal_axis: usize,
    position: f64,
    times: &'a [f64],
}

#[derive(Serialize)]
struct SurfaceHeader {
    wall: bool,
}

#[derive(Serialize)]
struct SectionHeader<'a> {
    title: &'a str,
    rows: &'a [(String, String)],
}

#[derive(Serialize)]
struct HistogramHeader<'a> {
    title: &'a str,
    axis: AxisHeader<'a>,
    edges: &'a [f64],
    log: bool,
    series: &'a [(String, Vec<u64>)],
}

impl<'a> Header<'a> {
    pub(super) fn of(page: &'a Page, quantizers: &Quantizers) -> Header<'a> {
        let trajectories = &page.trajectories;
        Header {
            particles: trajectories.particles.len(),
            times: &trajectories.times,
            dates: &trajectories.dates,
            domain: trajectories.domain,
            axes: trajectories.axes.as_ref(),
            length_unit: &trajectories.length_unit,
            time_unit: &trajectories.time_unit,
            position: quantizers.position,
            attributes: attributes(trajectories, quantizers),
            statuses: page.statuses.as_ref().map(|statuses| &statuses.names[..]),
            sources: page.sources.as_ref().map(|sources| &sources.names[..]),
            slices: page.slices.iter().map(slice).collect(),
            sections: page.sections.iter().map(section).collect(),
            histograms: page.histograms.iter().map(histogram).collect(),
            surfaces: surfaces(trajectories),
            outline: !trajectories.lines().is_empty(),
            land: trajectories.land.is_some(),
            reload: page.reload,
            maps: maps(),
        }
    }
}

fn surfaces(trajectories: &Trajectories) -> Vec<SurfaceHeader> {
    trajectories.surfaces.iter().map(|surface| SurfaceHeader { wall: surface.is_wall }).collect()
}

/// The quantization of positions and attributes.
pub(super) struct Quantizers {
    /// Of x, y and z.
    pub(super) position: [Quantizer; 3],
    pub(super) attributes: Vec<Quantizer>,
}

impl Quantizers {
    /// In the precision of the page.
    pub(super) fn of(page: &Page) -> Quantizers {
        let trajectories = &page.trajectories;
        let positions = &trajectories.position;
        let position = [0, 1, 2].map(|axis| {
            let coordinates = positions.iter().map(|position| position[axis]);
            Quantizer::of(coordinates, page.precision.position)
        });
        let row = trajectories.particles.len();
        let quantizer = |attribute: &Attribute| {
            let bits = value_bits(&attribute.values, row, page.precision.value);
            values_quantizer(&attribute.values, bits)
        };
        Quantizers { position, attributes: trajectories.attributes.iter().map(quantizer).collect() }
    }
}

/// Maximum number of particles to find out how well values compress.
const COMPRESSED: usize = 200;

/// The number of bits of values: 16 if they take less than an eighth of a byte each, otherwise those given.
fn value_bits(values: &[f32], row: usize, bits: u32) -> u32 {
    let stride = row.div_ceil(COMPRESSED).max(1);
    let some = strided(values, row, stride);
    let packed = || pack_values(&some, row.div_ceil(stride), values_quantizer(&some, 16));
    if bits == 16 || packed().bytes.len() < some.len() / 8 { 16 } else { bits }
}

/// The quantization of the values of an attribute or a slice.
pub(super) fn values_quantizer(values: &[f32], bits: u32) -> Quantizer {
    Quantizer::of(values.iter().copied().map(f64::from), bits)
}

fn attributes<'a>(
    trajectories: &'a Trajectories,
    quantizers: &Quantizers,
) -> Vec<AttributeHeader<'a>> {
    let header = |(attribute, &scale): (&'a Attribute, &Quantizer)| AttributeHeader {
        name: &attribute.name,
        unit: &attribute.unit,
        scale,
        integers: {
            let mut finite = attribute.values.iter().filter(|value| value.is_finite()).peekable();
            finite.peek().is_some()
                && finite.all(|value| value.fract() == 0.0)
                && attribute.name == "seed"
        },
    };
    trajectories.attributes.iter().zip(&quantizers.attributes).map(header).collect()
}

fn axis(axis: &Axis) -> AxisHeader<'_> {
    AxisHeader { name: &axis.name, unit: &axis.unit, range: axis.range }
}

fn slice(slice: &Slice) -> SliceHeader<'_> {
    let raster = &slice.raster;
    SliceHeader {
        title: &raster.title,
        name: &raster.name,
        unit: &raster.unit,
        scale: values_quantizer(&slice.all_values(), 16),
        times: &slice.times,
        counts: raster.counts,
        axes: [axis(&raster.axes[0]), axis(&raster.axes[1])],
        normal_axis: slice.normal_axis,
        position: slice.position,
    }
}

fn section(section: &Section) -> SectionHeader<'_> {
    SectionHeader { title: &section.title, rows: &section.rows }
}

fn histogram(histogram: &Histogram) -> HistogramHeader<'_> {
    HistogramHeader {
        title: &histogram.title,
        axis: axis(&histogram.axis),
        edges: &histogram.edges,
        log: histogram.log,
        series: &histogram.series,
    }
}

/// The colour maps: names and [`STOPS`] evenly spaced colours of each. The first one is the
/// default. Diverging maps are excluded, since the page truncates and reverses maps for contrast.
fn maps() -> Vec<(&'static str, Vec<Rgb>)> {
    let stops = |map: ColorMap| (0..STOPS).map(move |i| map.at(i as f64 / (STOPS - 1) as f64));
    let maps = ColorMap::ALL.into_iter().filter(|map| !map.is_diverging());
    maps.map(|map| (map.name(), stops(map).collect())).collect()
}

/// The number of colours of a map; the page interpolates linearly between them.
const STOPS: usize = 33;

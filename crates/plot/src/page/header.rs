//! What the program of the page reads first: all but the long lists of numbers.

use super::encode::Scale;
use super::{Page, Section, Slice};
use crate::color::{ColorMap, Rgb};
use crate::{Attribute, Axis, Histogram, Trajectories};
use serde::Serialize;

/// All of it, as JSON.
#[derive(Serialize)]
pub(super) struct Header<'a> {
    particles: usize,
    times: &'a [f64],
    domain: [[f64; 3]; 2],
    length_unit: &'a str,
    time_unit: &'a str,
    /// How the codes of x, y and z become coordinates.
    position: [Scale; 3],
    attributes: Vec<AttributeHead<'a>>,
    statuses: Option<&'a [String]>,
    slices: Vec<SliceHead<'a>>,
    sections: Vec<SectionHead<'a>>,
    histograms: Vec<HistogramHead<'a>>,
    maps: Vec<(&'static str, Vec<Rgb>)>,
}

#[derive(Serialize)]
struct AttributeHead<'a> {
    name: &'a str,
    unit: &'a str,
    scale: Scale,
}

#[derive(Serialize)]
struct AxisHead<'a> {
    name: &'a str,
    unit: &'a str,
    range: [f64; 2],
}

#[derive(Serialize)]
struct SliceHead<'a> {
    title: &'a str,
    name: &'a str,
    unit: &'a str,
    scale: Scale,
    counts: [usize; 2],
    axes: [AxisHead<'a>; 2],
    normal_axis: usize,
    position: f64,
}

#[derive(Serialize)]
struct SectionHead<'a> {
    title: &'a str,
    rows: &'a [(String, String)],
}

#[derive(Serialize)]
struct HistogramHead<'a> {
    title: &'a str,
    axis: AxisHead<'a>,
    edges: &'a [f64],
    series: &'a [(String, Vec<u64>)],
}

impl<'a> Header<'a> {
    pub(super) fn of(page: &'a Page) -> Header<'a> {
        let ways = &page.ways;
        Header {
            particles: ways.particles.len(),
            times: &ways.times,
            domain: ways.domain,
            length_unit: &ways.length_unit,
            time_unit: &ways.time_unit,
            position: position_scales(ways),
            attributes: attributes(ways),
            statuses: page.statuses.as_ref().map(|statuses| &statuses.names[..]),
            slices: page.slices.iter().map(slice).collect(),
            sections: page.sections.iter().map(section).collect(),
            histograms: page.histograms.iter().map(histogram).collect(),
            maps: maps(),
        }
    }
}

/// How coordinates are kept.
pub(super) fn position_scales(ways: &Trajectories) -> [Scale; 3] {
    [0, 1, 2].map(|axis| Scale::of(ways.position.iter().map(|position| position[axis])))
}

/// How the values of an attribute are kept.
pub(super) fn values_scale(values: &[f32]) -> Scale {
    Scale::of(values.iter().copied())
}

fn attributes<'a>(ways: &'a Trajectories) -> Vec<AttributeHead<'a>> {
    let head = |attribute: &'a Attribute| AttributeHead {
        name: &attribute.name,
        unit: &attribute.unit,
        scale: values_scale(&attribute.values),
    };
    ways.attributes.iter().map(head).collect()
}

fn axis(axis: &Axis) -> AxisHead<'_> {
    AxisHead { name: &axis.name, unit: &axis.unit, range: axis.range }
}

fn slice(slice: &Slice) -> SliceHead<'_> {
    let raster = &slice.raster;
    SliceHead {
        title: &raster.title,
        name: &raster.name,
        unit: &raster.unit,
        scale: values_scale(&raster.values),
        counts: raster.counts,
        axes: [axis(&raster.axes[0]), axis(&raster.axes[1])],
        normal_axis: slice.normal_axis,
        position: slice.position,
    }
}

fn section(section: &Section) -> SectionHead<'_> {
    SectionHead { title: &section.title, rows: &section.rows }
}

fn histogram(histogram: &Histogram) -> HistogramHead<'_> {
    HistogramHead {
        title: &histogram.title,
        axis: axis(&histogram.axis),
        edges: &histogram.edges,
        series: &histogram.series,
    }
}

/// Names of the colour maps, and [`STOPS`] colours of each, evenly spaced. The first one is what is
/// shown first. The page shortens and turns maps round for the sake of contrast, which a diverging
/// one would not survive.
fn maps() -> Vec<(&'static str, Vec<Rgb>)> {
    let stops = |map: ColorMap| (0..STOPS).map(move |i| map.at(i as f64 / (STOPS - 1) as f64));
    let maps = ColorMap::ALL.into_iter().filter(|map| !map.is_diverging());
    maps.map(|map| (map.name(), stops(map).collect())).collect()
}

/// Colours of a map that the page is given; between them it is linear.
const STOPS: usize = 33;

//! Synthetic runs.

use burntrace_plot::page::{Page, Section, Slice, Statuses};
use burntrace_plot::{Attribute, Axis, Histogram, Raster, Trajectories};
use std::f64::consts::TAU;

/// Particles on helices in a box of 2 x 2 x 1; a third of them ends at half of the time.
pub fn helices(particles: usize, saves: usize) -> Page {
    let trajectories =
        trajectories(particles, saves, [[-1.0, -1.0, 0.0], [1.0, 1.0, 1.0]], |i, time| {
            let radius = 0.15 + 0.8 * golden(i);
            let angle = TAU * (golden(7 * i + 3) + 0.5 * time / (0.3 + radius));
            [radius * angle.cos(), radius * angle.sin(), golden(3 * i + 1) * 0.3 + 0.06 * time]
        });
    let mut page = Page { title: "Helices".into(), trajectories, ..Page::default() };
    end_some(&mut page);
    page.slices = vec![density(2, 0.5), density(0, 0.0)];
    page.sections = vec![
        section(
            "Run",
            &[("device", "flex"), ("precision", "f32"), ("steps", "1,000"), ("seconds", "0.42")],
        ),
        section(
            "Particles",
            &[("released", "3,000"), ("active", "2,000"), ("exited x-high", "1,000")],
        ),
    ];
    page.histograms = vec![residence()];
    page
}

/// Particles in the plane z = 0, around the centre of the box.
pub fn flat(particles: usize, saves: usize) -> Page {
    let trajectories =
        trajectories(particles, saves, [[0.0, 0.0, 0.0], [4.0, 1.0, 0.0]], |i, time| {
            let angle = TAU * golden(i) + time * (1.0 - golden(3 * i));
            let radius = 0.05 + 0.43 * golden(2 * i + 1);
            [2.0 + 3.6 * radius * angle.cos(), 0.5 + radius * angle.sin(), 0.0]
        });
    Page { title: "Flat".into(), trajectories, ..Page::default() }
}

/// One particle that crosses the unit cube through its centre.
pub fn one() -> Page {
    let trajectories =
        trajectories(1, 11, [[0.0; 3], [1.0; 3]], |_, time| [0.05 + 0.09 * time, 0.5, 0.5]);
    Page { title: "One".into(), trajectories, ..Page::default() }
}

/// Particles along a periodic channel of 1000 x 50 x 10 m, far from the origin.
pub fn channel(particles: usize, saves: usize) -> Page {
    let [low, high] = [[500_000.0, 5_200_000.0, -10.0], [501_000.0, 5_200_050.0, 0.0]];
    let mut trajectories = trajectories(particles, saves, [low, high], |i, time| {
        let [y, z] = [golden(3 * i), golden(5 * i + 1)];
        let along = 1000.0 * golden(i) + 900.0 * time / 10.0 * 4.0 * y * (1.0 - y);
        [low[0] + along % 1000.0, low[1] + 50.0 * y, low[2] + 10.0 * z]
    });
    for at in particles..trajectories.position.len() {
        trajectories.joined[at] &=
            trajectories.position[at][0] >= trajectories.position[at - particles][0];
    }
    // The speed of the flow, without the jumps through the periodic face.
    let speed =
        |&[_, y, _]: &[f64; 3]| (90.0 * (1.0 - ((y - 5_200_025.0) / 25.0).powi(2)).max(0.0)) as f32;
    trajectories.attributes[0].values = trajectories.position.iter().map(speed).collect();
    let title = "Dispersion of fine sediment in the lower channel at spring tide, 2026-03-21";
    Page { title: title.into(), trajectories, ..Page::default() }
}

/// Trajectories at times from 0 to 10, with the attributes speed and age.
fn trajectories(
    particles: usize,
    saves: usize,
    domain: [[f64; 3]; 2],
    position: impl Fn(usize, f64) -> [f64; 3],
) -> Trajectories {
    let times: Vec<f64> = (0..saves).map(|s| 10.0 * s as f64 / (saves.max(2) - 1) as f64).collect();
    let each = || times.iter().flat_map(|&time| (0..particles).map(move |i| (i, time)));
    let speed = each().map(|(i, time)| {
        let [a, b] = [position(i, time), position(i, time + 0.01)];
        ((0..3).map(|k| (b[k] - a[k]).powi(2)).sum::<f64>().sqrt() / 0.01) as f32
    });
    let attribute = |name: &str, unit: &str, values| Attribute {
        name: name.into(),
        unit: unit.into(),
        values,
        ..Attribute::default()
    };
    Trajectories {
        particles: (0..particles as u32).collect(),
        position: each().map(|(i, time)| position(i, time)).collect(),
        joined: each().map(|(_, time)| time > 0.0).collect(),
        active: vec![true; particles * saves],
        attributes: vec![
            attribute("speed", "m/s", speed.collect()),
            attribute("age", "s", each().map(|(_, time)| time as f32).collect()),
        ],
        domain,
        length_unit: "m".into(),
        time_unit: "s".into(),
        run_size: [particles, saves],
        times,
        ..Trajectories::default()
    }
}

/// Ends every third particle at half of the time.
fn end_some(page: &mut Page) {
    let (columns, saves) = (page.trajectories.particles.len(), page.trajectories.times.len());
    let mut status = vec![0; columns * saves];
    for save in saves.div_ceil(2)..saves {
        for i in (0..columns).step_by(3) {
            let at = save * columns + i;
            page.trajectories.position[at] = page.trajectories.position[at - columns];
            page.trajectories.joined[at] = false;
            page.trajectories.active[at] = false;
            status[at] = 1;
        }
    }
    let names = vec!["active".into(), "exited x-high".into()];
    page.statuses = Some(Statuses { names, codes: status });
}

fn density(normal_axis: usize, position: f64) -> Slice {
    let domain = [[-1.0, 1.0], [-1.0, 1.0], [0.0, 1.0]];
    let [a, b] = [[1, 2], [0, 2], [0, 1]][normal_axis];
    let counts = [48, 32];
    let axis =
        |k: usize| Axis { name: ["x", "y", "z"][k].into(), unit: "m".into(), range: domain[k] };
    let value = |i: usize, j: usize| {
        let [u, v] = [i as f64 / 47.0 - 0.5, j as f64 / 31.0 - 0.5];
        (100.0 * (-8.0 * (u * u + 2.0 * v * v)).exp()) as f32
    };
    let values = (0..32).flat_map(|j| (0..48).map(move |i| value(i, j))).collect();
    let title = format!("density at {} = {position} m", ["x", "y", "z"][normal_axis]);
    let axes = [axis(a), axis(b)];
    let raster = Raster {
        axes,
        counts,
        values,
        name: "density".into(),
        unit: "1/m³".into(),
        title,
        ..Raster::default()
    };
    Slice { raster, normal_axis, position, ..Slice::default() }
}

fn residence() -> Histogram {
    let counts = |top: f64| (0..20).map(|k| (top * (-f64::from(k) / 6.0).exp()) as u64).collect();
    Histogram {
        axis: Axis { name: "residence time".into(), unit: "s".into(), range: [0.0, 10.0] },
        edges: (0..=20).map(|k| 0.5 * f64::from(k)).collect(),
        series: vec![("exited x-high".into(), counts(220.0)), ("stuck".into(), counts(80.0))],
        title: "Residence times".into(),
        ..Histogram::default()
    }
}

fn section(title: &str, rows: &[(&str, &str)]) -> Section {
    let rows = rows.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    Section { title: title.into(), rows }
}

/// A low-discrepancy sequence of numbers from 0 to 1.
fn golden(i: usize) -> f64 {
    (i as f64 * 0.618_033_988_749_895).fract()
}

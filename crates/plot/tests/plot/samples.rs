//! Sample data of the tests.

use burntrace_plot::{Attribute, Axis, Curves, Histogram, Raster, Trajectories};

/// Trajectories `position(seed, time)` at `times`, with the attributes speed, age and seed.
pub fn trajectories(
    particles: usize,
    times: &[f64],
    domain: [[f64; 3]; 2],
    position: impl Fn(f64, f64) -> [f64; 3],
) -> Trajectories {
    let mut trajectories = Trajectories {
        times: times.to_vec(),
        particles: (0..particles as u32).collect(),
        domain,
        length_unit: "m".into(),
        time_unit: "s".into(),
        run_size: [particles, times.len()],
        ..Trajectories::default()
    };
    let [mut speed, mut age, mut seed] = [const { Vec::new() }; 3];
    for (save, &time) in times.iter().enumerate() {
        for particle in 0..particles {
            let part = (particle as f64 + 0.5) / particles as f64;
            let (at, next) = (position(part, time), position(part, time + 1e-4));
            let squared: f64 = (0..3).map(|i| (next[i] - at[i]).powi(2)).sum();
            trajectories.position.push(at);
            trajectories.joined.push(save > 0);
            trajectories.active.push(true);
            speed.push((squared.sqrt() / 1e-4) as f32);
            age.push((time - times[0]) as f32);
            seed.push((4 * particle / particles) as f32);
        }
    }
    let attribute = |name: &str, unit: &str, values| Attribute {
        name: name.into(),
        unit: unit.into(),
        values,
        ..Attribute::default()
    };
    trajectories.attributes = vec![
        attribute("speed", "m/s", speed),
        attribute("age", "s", age),
        attribute("seed", "", seed),
    ];
    trajectories
}

/// `count` evenly spaced times from 0 to `end`.
pub fn times(count: usize, end: f64) -> Vec<f64> {
    (0..count).map(|i| end * i as f64 / (count - 1).max(1) as f64).collect()
}

/// A pseudo-random number from 0 to 1.
pub fn scatter(part: f64, salt: f64) -> f64 {
    ((part * 12.9898 + salt * 78.233).sin() * 43758.5453).rem_euclid(1.0)
}

/// Particles in two eddies of a box of 2 x 1.
pub fn gyres(particles: usize, saves: usize) -> Trajectories {
    trajectories(particles, &times(saves, 10.0), [[0.0; 3], [2.0, 1.0, 0.0]], |part, time| {
        let side = if scatter(part, 1.0) < 0.5 { 0.0 } else { 1.0 };
        let radius = 0.05 + 0.4 * scatter(part, 2.0);
        let turn = scatter(part, 3.0) * 6.3 + (1.0 - 2.0 * side) * time * (0.9 - radius);
        [0.5 + side + radius * turn.cos() * 1.05, 0.5 + radius * turn.sin(), 0.0]
    })
}

/// Particles on rising helices in a box of 2 x 1 x 1.5.
pub fn screws(particles: usize, saves: usize) -> Trajectories {
    trajectories(particles, &times(saves, 10.0), [[0.0; 3], [2.0, 1.0, 1.5]], |part, time| {
        let radius = 0.1 + 0.35 * scatter(part, 2.0);
        let turn = scatter(part, 3.0) * 6.3 + time * (0.8 - radius);
        let z = 1.5 * (0.05 + 0.09 * time * (0.4 + 0.6 * scatter(part, 4.0)));
        [1.0 + 2.0 * radius * turn.cos(), 0.5 + radius * turn.sin(), z]
    })
}

/// Particles that cross a box from `low` to `high` on wavy paths.
pub fn across(particles: usize, low: [f64; 3], high: [f64; 3]) -> Trajectories {
    trajectories(particles, &times(41, 1.0), [low, high], |part, time| {
        let y = (0.1 + 0.8 * part) * (1.0 - 0.1 * (12.0 * time).sin());
        let parts = [time.clamp(0.0, 1.0), y, 0.5 + 0.3 * (9.0 * time + part).sin()];
        [0, 1, 2].map(|i| low[i] + (high[i] - low[i]) * parts[i])
    })
}

/// A field with maxima, minima and a corner of missing values.
pub fn hills(columns: usize, rows: usize) -> Raster {
    let value = |i: usize, j: usize| {
        let (x, y) = (i as f64 / (columns - 1) as f64, j as f64 / (rows - 1) as f64);
        let hill = |a: f64, b: f64| (-30.0 * ((x - a).powi(2) + (y - b).powi(2))).exp();
        let some =
            hill(0.3, 0.4) - 0.6 * hill(0.7, 0.6) + 0.1 * (20.0 * x).sin() * (13.0 * y).cos();
        if x + y > 1.75 { f32::NAN } else { some as f32 }
    };
    let axis = |name: &str, high| Axis { name: name.into(), unit: "m".into(), range: [0.0, high] };
    Raster {
        axes: [axis("x", 2.0), axis("y", 1.0)],
        counts: [columns, rows],
        values: (0..rows)
            .flat_map(|j| (0..columns).map(move |i| (i, j)))
            .map(|(i, j)| value(i, j))
            .collect(),
        name: "density".into(),
        unit: "1/m²".into(),
        title: "density at t = 10, z = 0.5".into(),
        ..Raster::default()
    }
}

/// Residence times, with three causes of ending.
pub fn residence() -> Histogram {
    let edges: Vec<f64> = (0..=40).map(|i| f64::from(i) * 0.25).collect();
    let counts = |middle: f64, width: f64, most: f64| -> Vec<u64> {
        let value = |i: i32| most * (-((f64::from(i) * 0.25 - middle) / width).powi(2)).exp();
        (0..40).map(|i| value(i) as u64).collect()
    };
    Histogram {
        axis: Axis { name: "residence time".into(), unit: "s".into(), range: [0.0, 10.0] },
        edges,
        series: vec![
            ("left through the outlet".into(), counts(3.0, 1.0, 400.0)),
            ("stuck to a wall".into(), counts(5.0, 2.5, 130.0)),
            ("at the end of the run".into(), counts(10.0, 0.3, 900.0)),
        ],
        title: "Residence times".into(),
        ..Histogram::default()
    }
}

/// Mean square displacements, on logarithmic axes.
pub fn spread() -> Curves {
    let axis =
        |name: &str, unit: &str| Axis { name: name.into(), unit: unit.into(), range: [0.0; 2] };
    let curve = |factor: f64, power: f64| -> Vec<[f64; 2]> {
        (0..60).map(|i| 0.01 * 1.15f64.powi(i)).map(|t| [t, factor * t.powf(power)]).collect()
    };
    Curves {
        axes: [axis("time", "s"), axis("mean square displacement", "m²")],
        log: [true; 2],
        series: vec![
            ("x".into(), curve(1e-3, 1.0)),
            ("y".into(), curve(3e-4, 1.6)),
            ("z".into(), curve(1e-5, 2.0)),
        ],
        bands: Vec::new(),
        title: "Mean square displacement".into(),
    }
}

//! Find the diffusivity and the settling velocity of smoke from the positions of its particles, with standard
//! errors, by gradients with respect to both.
//!
//! `cargo run --release --example calibrate [FOLDER]`: the folder of the picture, `results` by default.

mod adam;

use adam::Parameter;
use burntrace::burn::tensor::{Device, Tensor};
use burntrace::plot::picture::{self, Style, View};
use burntrace::plot::{Attribute, Trajectories};
use burntrace::{Error, FieldOptions, GridField, RandomWalk, SaveAt, Seeds, Span, Tracer, Tracks};

/// Diffusivity in m²/s and settling velocity in m/s: those of the observed particles, and the first guess.
const TRUTH: [f64; 2] = [1.0, 0.5];
const GUESS: [f64; 2] = [0.25, 0.1];
/// Release position in m, and number of particles.
const RELEASE: [f64; 3] = [10.0, 0.0, 80.0];
const PARTICLES: usize = 400;
/// Travel time, time step and interval of observations in s.
const TIME: f64 = 60.0;
const DT: f64 = 2.0;
const OBSERVED_EVERY: f64 = 10.0;
/// Number of calibrations, each with other random numbers and other particles of the observed ones.
const MEMBERS: u64 = 12;
/// Iterations of a calibration, and the step of the first one.
const ITERATIONS: usize = 40;
const RATE: f64 = 0.12;

/// Wind over flat ground, which grows with height.
fn wind(device: &Device) -> Result<GridField, Error> {
    let axis = |low: f64, high: f64, cells: i32| {
        (0..=cells).map(|i| low + (high - low) * f64::from(i) / f64::from(cells)).collect()
    };
    let axes = [axis(-100.0, 900.0, 10), axis(-150.0, 150.0, 3), axis(-50.0, 200.0, 25)];
    let speed = |z: f64| 2.0 + 0.04 * z;
    let options = FieldOptions::default();
    GridField::from_fn(axes, vec![0.0], device, &options, |[_, _, z], _| [speed(z), 0.0, 0.0])
}

/// Tracks of the smoke with a diffusivity `[1]` and a settling velocity `[1]`.
fn trace(
    field: &GridField,
    diffusivity: Tensor<1>,
    settling: Tensor<1>,
    seed: u64,
) -> Result<Tracks, Error> {
    let still = settling.zeros_like();
    let drift = Tensor::cat(vec![still.clone(), still, settling.neg()], 0);
    Tracer::new(field)
        .drift(drift)
        .random_walk(RandomWalk::per_axis(diffusivity.expand([3]), seed))
        .span(Span { t1: Some(TIME), dt: Some(DT), ..Span::default() })
        .save(SaveAt::EveryTime(OBSERVED_EVERY))
        .trace(&Seeds::list(vec![RELEASE; PARTICLES])?)
}

/// Mean and standard deviation of the positions at each observation `[saves, 1, 3]`.
fn moments(positions: Tensor<3>) -> [Tensor<3>; 2] {
    let saves = positions.dims()[0];
    // The first save is the release.
    let (variance, mean) = positions.narrow(0, 1, saves - 1).var_mean(1);
    [mean, variance.sqrt()]
}

/// The difference of two clouds: of their means and standard deviations, in standard deviations.
fn difference(computed: Tensor<3>, observed: Tensor<3>) -> Tensor<1> {
    let [mean, deviation] = moments(computed);
    let [observed_mean, observed_deviation] = moments(observed);
    let shift = (mean - observed_mean) / observed_deviation.clone();
    let growth = deviation / observed_deviation - 1.0;
    shift.square().mean() + growth.square().mean()
}

/// A calibration. Its random numbers are the same in each iteration, so that the loss is smooth.
fn calibrate(field: &GridField, observed: Tensor<3>, member: u64) -> Result<[f64; 2], Error> {
    let device = Device::flex().autodiff();
    let parameter = |value: f64| Parameter::new(Tensor::<1>::from_floats([value], &device));
    // The logarithm, since a diffusivity is positive.
    let (mut log, mut settling) = (parameter(GUESS[0].ln()), parameter(GUESS[1]));
    for iteration in 0..ITERATIONS {
        let tracks = trace(field, log.value().exp(), settling.value(), member)?;
        let gradients = difference(tracks.positions(), observed.clone()).backward();
        let rate = RATE * (1.0 - iteration as f64 / ITERATIONS as f64);
        log.update(&gradients, rate);
        settling.update(&gradients, rate);
    }
    Ok([log.value().exp().into_scalar(), settling.value().into_scalar()])
}

/// As many of the observed particles, drawn with replacement (the bootstrap).
fn resampled(observed: &Tensor<3>, member: u64) -> Result<Tensor<3>, Error> {
    let draws = Seeds::uniform([0.0; 3], [PARTICLES as f64, 0.0, 0.0], PARTICLES, member)?;
    let chosen: Vec<i32> = draws.positions().iter().map(|[x, ..]| *x as i32).collect();
    let chosen = Tensor::from_data(chosen.as_slice(), &observed.device());
    Ok(observed.clone().select(1, chosen))
}

/// Mean and standard deviation of numbers.
fn statistics(numbers: &[f64]) -> [f64; 2] {
    let count = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    let squares: f64 = numbers.iter().map(|x| (x - mean).powi(2)).sum();
    [mean, (squares / (count - 1.0)).sqrt()]
}

/// Draws the observed and the computed particles from the side.
fn draw(clouds: [&Tracks; 2], path: &std::path::Path) -> Result<(), burntrace::plot::Error> {
    let shown = 40;
    let parts = clouds.map(|tracks| tracks.positions().inner().narrow(1, 0, shown));
    let positions = Tensor::cat(parts.to_vec(), 1);
    let [saves, particles, _] = positions.dims();
    let numbers: Vec<f64> = positions.into_data().iter::<f64>().collect();
    let is_computed = (0..particles).map(|i| if i < shown { 0.0 } else { 1.0 });
    let cloud = Attribute {
        name: "cloud".into(),
        unit: String::new(),
        values: (0..saves).flat_map(|_| is_computed.clone()).collect(),
        categories: ["observed", "computed"].map(String::from).into(),
    };
    let trajectories = Trajectories {
        times: (0..saves).map(|k| OBSERVED_EVERY * k as f64).collect(),
        particles: (0..particles as u32).collect(),
        // x and z become the axes of the picture.
        position: numbers.as_chunks().0.iter().map(|[x, _, z]| [*x, *z, 0.0]).collect(),
        joined: (0..saves).flat_map(|k| (0..particles).map(move |_| k > 0)).collect(),
        active: vec![true; saves * particles],
        attributes: vec![cloud],
        domain: [[0.0, 0.0, 0.0], [400.0, 120.0, 0.0]],
        run_size: [particles, saves],
        ..Trajectories::default()
    };
    let title = Some("Smoke from the side: x to the right, z up".into());
    let style = Style { title, ..Style::default() };
    picture::tracks(&trajectories, &View::default(), &style)?.write_png(path)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "results".into());
    let device = Device::flex();
    let field = wind(&device)?;
    let number = |value: f64| Tensor::<1>::from_floats([value], &device);
    let truth = trace(&field, number(TRUTH[0]), number(TRUTH[1]), 1000)?;
    let observed = truth.positions();

    let members = (0..MEMBERS).map(|member| {
        let found = calibrate(&field, resampled(&observed, member)?, member)?;
        println!(
            "member {member:>2}: diffusivity {:.3} m²/s, settling {:.4} m/s",
            found[0], found[1]
        );
        Ok(found)
    });
    let members: Vec<[f64; 2]> = members.collect::<Result<_, Error>>()?;
    let [diffusivity, settling] =
        [0, 1].map(|k| statistics(&members.iter().map(|found| found[k]).collect::<Vec<_>>()));

    let computed = trace(&field, number(diffusivity[0]), number(settling[0]), 0)?;
    let path = std::path::Path::new(&folder).join("calibrate.png");
    std::fs::create_dir_all(&folder)?;
    draw([&truth, &computed], &path)?;
    println!("{}", path.display());
    for (name, [found, error], truth) in
        [("diffusivity", diffusivity, TRUTH[0]), ("settling velocity", settling, TRUTH[1])]
    {
        println!("{name}: {found:.4} with a standard error of {error:.4}; the truth is {truth}");
        if (found - truth).abs() > 3.0 * error || error > 0.15 * truth {
            return Err(format!("the {name} is not found").into());
        }
    }
    Ok(())
}

//! What a case asks for, checked and made: the field, the seeds, the tracer's settings.

use crate::case::{self, Case, Misuse, SeedKind};
use anyhow::Result;
use burntrace::{
    Analytic, Domain, Field, FieldOptions, Flow, FrameSource, GridField, GridSource, OutsideTime,
    SaveAt, Seeds, Span, Tracer, burn::tensor::Device, device::Usable, io,
};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A field with what is known of its making.
pub struct LoadedField {
    pub field: Box<dyn Field>,
    /// What the field is, for the summary.
    pub description: serde_json::Value,
    /// Seconds spent in reading files, or in evaluating the flow at the nodes.
    pub read_seconds: f64,
    /// Seconds spent in arranging the field and putting it on the device.
    pub upload_seconds: f64,
}

/// Makes the field of a case on a device. Relative file names start at `base`.
pub fn field(case: &Case, base: &Path, device: &Usable) -> Result<LoadedField> {
    match (&case.field.files, &case.field.flow) {
        (Some(files), None) => {
            let mut series = series(&case.field, files, base)?;
            let info = serde_json::to_value(series.info())?;
            load(&mut series, case, &device.device, info)
        }
        (None, Some(name)) => flow_field(case, name, device),
        (Some(_), Some(_)) => {
            Err(Misuse::error("the case has both field.files and field.flow; keep one of them"))
        }
        (None, None) => Err(Misuse::error("the case has no field; give field.files or field.flow")),
    }
}

fn flow_field(case: &Case, name: &str, device: &Usable) -> Result<LoadedField> {
    let flow = Flow::named(name).ok_or_else(|| {
        Misuse::error(format!("there is no flow `{name}`; there are {}", Flow::NAMES.join(", ")))
    })?;
    let domain = domain(case, flow.domain())?;
    let description = serde_json::json!({ "flow": name, "sampled": case.field.sample.is_some() });
    let Some(sample) = &case.field.sample else {
        check_functions(device, case.run.precision)?;
        let precision = case.run.precision.into();
        let field = Analytic::new(flow, &device.device, precision).with_domain(domain);
        return Ok(LoadedField {
            field: Box::new(field),
            description,
            read_seconds: 0.0,
            upload_seconds: 0.0,
        });
    };
    let mut frames =
        Analytic::sample(flow, domain, sample.nodes, frame_times(sample)?).map_err(Misuse::of)?;
    load(&mut frames, case, &device.device, description)
}

/// Refuses formulas in double precision where their sines would be wrong: Vulkan's shaders have
/// them in single precision only, and a driver need not say so.
fn check_functions(device: &Usable, precision: case::Precision) -> Result<()> {
    let is_shader = ["vulkan", "wgpu"].iter().any(|kind| device.name.starts_with(kind));
    if is_shader && precision == case::Precision::F64 {
        return Err(Misuse::error(format!(
            "`{}` has no sine and cosine in f64; sample the flow onto a grid (field.sample), \
             or use f32, or the device flex",
            device.name
        )));
    }
    Ok(())
}

/// Evenly spaced times of a sampled flow.
fn frame_times(sample: &case::Sample) -> Result<Vec<f64>> {
    let is_span = sample.stop > sample.start;
    if sample.frames == 0 || (sample.frames > 1 && !is_span) {
        return Err(Misuse::error(format!(
            "field.sample has {} frames from {} to {}; more than one needs stop > start",
            sample.frames, sample.start, sample.stop
        )));
    }
    let gap = (sample.stop - sample.start) / (sample.frames.max(2) - 1) as f64;
    Ok((0..sample.frames).map(|i| sample.start + i as f64 * gap).collect())
}

/// The series of files that a case names.
fn series(field: &case::Field, files: &io::Files, base: &Path) -> Result<io::Series> {
    let options = io::SeriesOptions {
        time: io::TimeOptions {
            times: field.times.clone(),
            file_dt: field.file_dt,
            ignore_file_times: field.ignore_file_times,
        },
        frames: field.frames.unwrap_or_default(),
        velocity: field.velocity.clone().unwrap_or_default(),
        prefer: field.prefer,
    };
    io::Series::open(files.clone().within(base), &options).map_err(Misuse::of)
}

/// Reads a source onto the device.
fn load(
    source: &mut dyn GridSource,
    case: &Case,
    device: &Device,
    description: serde_json::Value,
) -> Result<LoadedField> {
    let begin = Instant::now();
    let mut timed = Timed { source, seconds: 0.0 };
    let field = GridField::load(&mut timed, device, &grid_options(case)?)
        .map_err(|error| with_file(error, &description))?;
    let read_seconds = timed.seconds;
    let mut description = description;
    description["nodes"] = field.nodes().to_vec().into();
    description["bytes"] = field.bytes().into();
    Ok(LoadedField {
        field: Box::new(field),
        description,
        read_seconds,
        upload_seconds: begin.elapsed().as_secs_f64() - read_seconds,
    })
}

/// The error of a frame, with the name of its file.
fn with_file(error: burntrace::Error, description: &serde_json::Value) -> anyhow::Error {
    use burntrace::Error::{FrameSize, NotFinite};
    let file = match &error {
        NotFinite { frame, .. } | FrameSize { frame, .. } => description["files"][*frame].as_str(),
        _ => None,
    };
    match file {
        Some(file) => Misuse::error(format!("{file}: {error}")),
        None => Misuse::of(error),
    }
}

fn grid_options(case: &Case) -> Result<FieldOptions> {
    let field = &case.field;
    if field.period.is_some() && field.outside_time != case::OutsideTime::Periodic {
        return Err(Misuse::error("field.period goes with field.outside_time = \"periodic\""));
    }
    Ok(FieldOptions {
        precision: case.run.precision.into(),
        outside_time: match field.outside_time {
            case::OutsideTime::Error => OutsideTime::Error,
            case::OutsideTime::Hold => OutsideTime::Hold,
            case::OutsideTime::Zero => OutsideTime::Zero,
            case::OutsideTime::Periodic => OutsideTime::Periodic { period: field.period },
        },
        in_time: field.in_time.into(),
        not_finite: field.not_finite.into(),
        memory: Some(available_memory()),
    })
}

/// Bytes of memory that this machine has to spare.
fn available_memory() -> u64 {
    let mut system = sysinfo::System::new();
    system.refresh_memory();
    let limit = system.cgroup_limits().map_or(u64::MAX, |limits| limits.free_memory);
    system.available_memory().min(limit)
}

/// A source that is timed.
struct Timed<'a> {
    source: &'a mut dyn GridSource,
    seconds: f64,
}

impl GridSource for Timed<'_> {
    fn axes(&self) -> &[Vec<f64>; 3] {
        self.source.axes()
    }

    fn placement(&self) -> burntrace::Placement {
        self.source.placement()
    }
}

impl FrameSource for Timed<'_> {
    fn times(&self) -> &[f64] {
        self.source.times()
    }

    fn read(
        &mut self,
        frame: usize,
    ) -> std::result::Result<burntrace::Velocity, Box<dyn std::error::Error + Send + Sync>> {
        let begin = Instant::now();
        let velocity = self.source.read(frame);
        self.seconds += begin.elapsed().as_secs_f64();
        velocity
    }
}

/// The box of a case: its own corners where it gives them, else the field's.
pub fn domain(case: &Case, field: Domain) -> Result<Domain> {
    let low = case.domain.low.unwrap_or(field.low);
    let high = case.domain.high.unwrap_or(field.high);
    Domain::new(low, high).map_err(Misuse::of)
}

/// The tracer of a case.
pub fn tracer<'a>(case: &Case, field: &'a dyn Field, device: &str) -> Result<Tracer<'a>> {
    use burntrace::Face;
    let faces = [case.boundary.x, case.boundary.y, case.boundary.z];
    let trace = &case.trace;
    let mut tracer = Tracer::new(field)
        .scheme(trace.scheme.into())
        .domain(domain(case, field.domain())?)
        .span(Span { t0: trace.t0, t1: trace.t1, dt: trace.dt, steps: trace.steps })
        .save(save_at(&case.save)?)
        .save_velocity(case.save.velocity)
        .stagnant_speed(trace.stagnant_speed)
        .seeds_outside(case.seeds.outside.into())
        .device_name(device);
    for (face, condition) in Face::ALL.into_iter().zip(faces.into_iter().flatten()) {
        tracer = tracer.face(face, condition.into());
    }
    match Option::from(trace.path) {
        Some(path) => Ok(tracer.path(path)),
        None => Ok(tracer),
    }
}

fn save_at(save: &case::Save) -> Result<SaveAt> {
    match (save.every, save.every_time, &save.times) {
        (None, None, None) => Ok(SaveAt::End),
        (Some(steps), None, None) => Ok(SaveAt::EverySteps(steps)),
        (None, Some(time), None) => Ok(SaveAt::EveryTime(time)),
        (None, None, Some(times)) => Ok(SaveAt::Times(times.clone())),
        _ => Err(Misuse::error("save has several of every, every_time and times; keep one")),
    }
}

/// The seeds of a case, in a domain.
pub fn seeds(seeds: &case::Seeds, domain: Domain, base: &Path) -> Result<Seeds> {
    check_keys(seeds)?;
    let made = make(seeds, domain, base)?.map_err(Misuse::of)?;
    match seeds.release {
        Some(time) => made.release_at(time).map_err(Misuse::of),
        None => Ok(made),
    }
}

fn make(s: &case::Seeds, domain: Domain, base: &Path) -> Result<burntrace::Result<Seeds>> {
    let low = s.low.unwrap_or(domain.low);
    let high = s.high.unwrap_or(domain.high);
    let seed = s.seed.unwrap_or(1);
    let count = || need(s.count, "count");
    let counts = || need(s.counts.clone(), "counts");
    let centre = || need(s.centre, "centre");
    let radius = || need(s.radius, "radius");
    Ok(match s.kind {
        SeedKind::Grid => {
            let placement = s.placement.unwrap_or_default().into();
            Seeds::grid(low, high, exactly(counts()?)?, placement)
        }
        SeedKind::Uniform => Seeds::uniform(low, high, count()?, seed),
        SeedKind::Sobol => Seeds::sobol(low, high, count()?),
        SeedKind::Gaussian => {
            Seeds::gaussian(centre()?, need(s.deviation, "deviation")?, count()?, seed)
        }
        SeedKind::Line => Seeds::line(need(s.from, "from")?, need(s.to, "to")?, count()?),
        SeedKind::Plane => {
            let origin = need(s.origin, "origin")?;
            let edges = (need(s.edge1, "edge1")?, need(s.edge2, "edge2")?);
            Seeds::plane(origin, edges.0, edges.1, exactly(counts()?)?)
        }
        SeedKind::Disc => Seeds::disc(centre()?, need(s.normal, "normal")?, radius()?, count()?),
        SeedKind::Sphere => Seeds::sphere(centre()?, radius()?, count()?),
        SeedKind::Ball => Seeds::ball(centre()?, radius()?, count()?, seed),
        SeedKind::List => Seeds::list(need(s.points.clone(), "points")?),
        SeedKind::File => from_file(&base.join(need(s.path.clone(), "path")?))?,
    })
}

/// Seeds from a CSV or VTK file, with release times where it has them.
fn from_file(path: &PathBuf) -> Result<burntrace::Result<Seeds>> {
    let points = io::read_points(path).map_err(Misuse::of)?;
    let seeds = Seeds::list(points.position);
    Ok(match points.time {
        Some(times) => seeds.and_then(|seeds| seeds.with_release(times)),
        None => seeds,
    })
}

fn need<T>(value: Option<T>, key: &str) -> Result<T> {
    value.ok_or_else(|| Misuse::error(format!("seeds of this kind need the key seeds.{key}")))
}

fn exactly<const N: usize>(counts: Vec<usize>) -> Result<[usize; N]> {
    counts.try_into().map_err(|counts: Vec<_>| {
        Misuse::error(format!("seeds.counts has {} numbers, not {N}", counts.len()))
    })
}

/// Refuses keys that a kind of seeds does not use: they would be a misunderstanding.
fn check_keys(seeds: &case::Seeds) -> Result<()> {
    let used: &[&str] = match seeds.kind {
        SeedKind::Grid => &["counts", "placement", "low", "high"],
        SeedKind::Uniform => &["count", "seed", "low", "high"],
        SeedKind::Sobol => &["count", "low", "high"],
        SeedKind::Gaussian => &["centre", "deviation", "count", "seed"],
        SeedKind::Line => &["from", "to", "count"],
        SeedKind::Plane => &["origin", "edge1", "edge2", "counts"],
        SeedKind::Disc => &["centre", "normal", "radius", "count"],
        SeedKind::Sphere => &["centre", "radius", "count"],
        SeedKind::Ball => &["centre", "radius", "count", "seed"],
        SeedKind::List => &["points"],
        SeedKind::File => &["path"],
    };
    let table = toml::Table::try_from(seeds)?;
    let always = ["kind", "release", "outside"];
    let stray =
        table.keys().find(|key| !always.contains(&key.as_str()) && !used.contains(&key.as_str()));
    match stray {
        Some(key) => Err(Misuse::error(format!(
            "seeds of kind `{}` do not use the key seeds.{key}; they use {}",
            table["kind"].as_str().unwrap_or_default(),
            used.join(", ")
        ))),
        None => Ok(()),
    }
}

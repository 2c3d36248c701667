//! Cases whose tracks stay in memory.

use crate::{
    Error,
    console::{self, Console, Silent},
    file::{Case, Misuse, Run, Save, Trace},
    job::{self, LoadedField},
    run::{self, IoStats, devices},
};
use burn::tensor::{Device, Tensor};
use burntrace_core::{
    Control, Observer, Prepared, Progress, SavePlan, Seeds, Summary, TrackSink, Tracks,
    device::OpenDevice,
};
use burntrace_io::{SeriesInfo, tracks::Units};
use std::ops::Range;

/// The field of a case on a device, for runs whose tracks stay in memory.
///
/// ```
/// # use burntrace_case::{file::Case, console::Silent};
/// # use burntrace_core::Tracks;
/// # fn main() -> Result<(), burntrace_case::Error> {
/// let case = Case::from_toml("field.flow = 'abc'\nseeds = { kind = 'uniform', count = 10 }\ntrace = { dt = 0.1, steps = 5 }")?;
/// let field = case.load(&Silent::default())?;
/// for steps in [5, 10] {
///     let mut tracks = Tracks::default();
///     let case = case.clone().with(&format!("trace.steps={steps}"))?;
///     let summary = field.trace_into(&case, &mut tracks, &Silent::default())?;
///     assert_eq!(summary.steps, steps);
/// }
/// # Ok(())
/// # }
/// ```
pub struct DeviceField {
    loaded: LoadedField,
    device: OpenDevice,
    /// What its loading depends on.
    keys: Case,
}

impl Case {
    /// Loads the field onto the device of the case.
    ///
    /// # Errors
    ///
    /// If the case, its files or its device are invalid.
    pub fn load(&self, console: &dyn Console) -> Result<DeviceField, Error> {
        let device = self.open_device(console)?;
        let loaded = job::field(self, &device, console)?;
        Ok(DeviceField { keys: self.field_keys(), loaded, device })
    }

    /// A case with those of its keys that the field on its device depends on. Cases for which they are equal can share a field.
    pub fn field_keys(&self) -> Case {
        let Case { field, domain, boundary, patch, motion, trace, units, save, run, .. } = self;
        Case {
            domain: domain.clone(),
            boundary: *boundary,
            patch: patch.clone(),
            // It may need arrays of the field.
            motion: motion.clone(),
            // The field may have a diffusivity that follows from its velocity.
            walk: job::mixing(self).and_then(|_| self.walk.clone()),
            units: units.clone(),
            // Conditions may need arrays, too.
            trace: Trace { stop_when: trace.stop_when.clone(), ..Trace::default() },
            save: Save { fields: save.fields.clone(), ..Save::default() },
            run: Run { device: run.device.clone(), precision: run.precision, ..Run::default() },
            ..Case::new(field.clone())
        }
    }

    /// Opens the device of the case, and starts its threads.
    ///
    /// # Errors
    ///
    /// If there is no such device, there are several, or the number of threads is another one than before in this process.
    pub fn open_device(&self, console: &dyn Console) -> Result<OpenDevice, Error> {
        run::start_threads(self.run.threads)?;
        Ok(console.open_device(&devices::only_name(&self.run.device, "a run in memory")?)?)
    }

    /// Checks what can be checked without the field, as a run does before it loads it.
    ///
    /// # Errors
    ///
    /// If sections exclude each other, or need another one.
    pub fn check(&self) -> Result<(), Error> {
        Ok(job::check(self)?)
    }

    /// Runs the case, and keeps the tracks in memory. No file is written.
    ///
    /// ```
    /// # use burntrace_case::file::Case;
    /// # fn main() -> Result<(), burntrace_case::Error> {
    /// let case = Case::from_toml("field.flow = 'abc'\nseeds = { kind = 'uniform', count = 10 }\ntrace = { dt = 0.1, steps = 5 }")?;
    /// let (tracks, summary) = case.trace()?;
    /// assert_eq!((tracks.positions().dims(), summary.released), ([1, 10, 3], 10));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Case::run`], but for its folder.
    pub fn trace(&self) -> Result<(Tracks, Summary), Error> {
        self.check()?;
        let (mut tracks, console) = (Tracks::default(), Silent::default());
        let summary = self.load(&console)?.trace_into(self, &mut tracks, &console)?;
        Ok((tracks, summary))
    }
}

impl DeviceField {
    /// Whether another case would load the same field, and hold the same frames of it.
    pub fn suits(&self, case: &Case) -> bool {
        self.keys == case.field_keys() && self.loaded.suits(case, &self.device)
    }

    /// The field with its description.
    pub(crate) fn loaded(&self) -> &LoadedField {
        &self.loaded
    }

    /// The device.
    pub fn device(&self) -> &OpenDevice {
        &self.device
    }

    /// What is known about the field, as in `summary.json`.
    pub fn description(&self) -> &serde_json::Value {
        &self.loaded.json
    }

    /// The units of the tracks of a case.
    pub fn units(&self, case: &Case) -> Units {
        job::units(case, self.loaded.description.series())
    }

    /// Runs a case in the field into a sink. The console shows notes and progress, and may stop the run, whose summary says so.
    ///
    /// # Errors
    ///
    /// If the case is invalid, or the run fails.
    pub fn trace_into(
        &self,
        case: &Case,
        sink: &mut dyn TrackSink,
        console: &dyn Console,
    ) -> Result<Summary, Error> {
        self.trace_piece(case, None, sink, console)
    }

    /// As [`trace_into`](Self::trace_into), for some of the slots only, which have the bits of the whole run.
    ///
    /// # Errors
    ///
    /// As [`trace_into`](Self::trace_into), and if there are no such slots.
    pub fn trace_piece(
        &self,
        case: &Case,
        slots: Option<Range<usize>>,
        sink: &mut dyn TrackSink,
        console: &dyn Console,
    ) -> Result<Summary, Error> {
        Ok(self.trace(case, slots, sink, console)?)
    }

    fn trace(
        &self,
        case: &Case,
        slots: Option<Range<usize>>,
        sink: &mut dyn TrackSink,
        console: &dyn Console,
    ) -> anyhow::Result<Summary> {
        job::check(case)?;
        let DeviceField { loaded, device, .. } = self;
        let (seeds, mut about_seeds) = job::seeds(case, job::domain(case, loaded)?, loaded)?;
        let tracer = job::tracer(case, (loaded, &seeds), &device.name, console)?;
        let whole = tracer.prepare(&seeds).map_err(|error| loaded.misuse(error))?;
        let prepared = match slots {
            Some(slots) => whole.piece(slots).map_err(Misuse::of)?,
            None => whole,
        };
        about_seeds.extend(prepared.slow_steps());
        self.warn(case, about_seeds, console)?;
        observed(prepared, sink, (loaded, console))
    }

    /// Shows the warnings of a run.
    fn warn(&self, case: &Case, more: Vec<String>, console: &dyn Console) -> anyhow::Result<()> {
        let warnings = run::warnings(case, &self.loaded, console)?;
        console::warn(console, &[warnings, more].concat());
        Ok(())
    }

    /// Runs a case in the field, on a device that tracks gradients: those of the positions by what is asked for.
    ///
    /// # Errors
    ///
    /// As [`trace_into`](Self::trace_into), if the case has nothing of that kind, and if features of it have no gradients.
    pub fn trace_tracked(
        &self,
        case: &Case,
        by: &[GradientBy],
        console: &dyn Console,
    ) -> Result<TrackedRun, Error> {
        Ok(self.tracked(case, by, console)?)
    }

    fn tracked(
        &self,
        case: &Case,
        by: &[GradientBy],
        console: &dyn Console,
    ) -> anyhow::Result<TrackedRun> {
        job::check(case)?;
        let (device, precision) = (self.device.device.clone().autodiff(), case.run.precision);
        let own = OpenDevice { device: device.clone(), ..self.device.clone() };
        let mut loaded = self.loaded.on_device(&own)?;
        let mut leaves = Leaves::default();
        if by.contains(&GradientBy::Values) {
            leaves.values = Some(track_values(&mut loaded, &device)?);
        }
        let (mut seeds, about_seeds) = job::seeds(case, job::domain(case, &loaded)?, &loaded)?;
        if by.contains(&GradientBy::Seeds) {
            let (tracked, leaf) = seeds.tracked(&device, precision).map_err(Misuse::of)?;
            (seeds, leaves.seeds) = (tracked, Some(leaf));
        }
        let mut motion = job::motion(case, &seeds)?;
        if by.contains(&GradientBy::Drift) {
            let (tracked, leaf) = motion.with_tracked_drift(&device, precision);
            (motion, leaves.drift) = (tracked, Some(leaf));
        }
        if by.contains(&GradientBy::Diffusivity) {
            let none = || Misuse::error("the case has no diffusivity: give walk.diffusivity");
            let (tracked, leaf) =
                motion.with_tracked_diffusivity(&device, precision).ok_or_else(none)?;
            (motion, leaves.diffusivity) = (tracked, Some(leaf));
        }
        let tracer = job::tracer(case, (&loaded, &seeds), &own.name, console)?.motion(motion);
        let prepared = tracer.prepare(&seeds).map_err(|error| loaded.misuse(error))?;
        self.warn(case, about_seeds, console)?;
        let plan = prepared.save_plan();
        let mut tracks = Tracks::default();
        let summary = observed(prepared, &mut tracks, (&loaded, console))?;
        Ok(TrackedRun { tracks, summary, plan, seeds, leaves })
    }
}

/// Makes the velocities of a field on a device a leaf that is tracked, and returns it.
fn track_values(loaded: &mut LoadedField, device: &Device) -> anyhow::Result<Tensor<3>> {
    let is_renumbered = |series: &SeriesInfo| series.is_cf() && loaded.field.mesh().is_some();
    if loaded.description.series().is_some_and(is_renumbered) {
        return Err(Misuse::error(
            "the values of a mesh of NetCDF or Zarr are in another order than in the file, so that there are no gradients by them: \
             give the mesh as arrays or as a VTK file",
        ));
    }
    let none = || {
        Misuse::error(
            "the field is a formula, which has no values: give it a grid (`field.sample`)",
        )
    };
    let values = loaded.field.values().ok_or_else(none)?.map_err(Misuse::of)?;
    let kept = (device, values.dtype());
    let values = Tensor::<3>::from_data(values.into_data(), kept).require_grad();
    let field = loaded.field.with_values(values.clone()).ok_or_else(none)?;
    loaded.field = field.map_err(Misuse::of)?;
    Ok(values)
}

/// Runs into a sink. A console shows the progress, and may stop the run.
fn observed(
    prepared: Prepared,
    sink: &mut dyn TrackSink,
    (loaded, console): (&LoadedField, &dyn Console),
) -> anyhow::Result<Summary> {
    let interrupts = console.interrupts(None)?;
    console.begin_steps(loaded.time_origin());
    let mut observer = |progress: Progress| {
        console.progress(progress, &IoStats::default);
        if interrupts.code().is_some() { Control::Cancel } else { Control::Continue }
    };
    let run = prepared.run_observed(sink, &mut observer as &mut dyn Observer);
    console.end_steps();
    run.map_err(|error| run::failed(loaded, error))
}

/// A quantity by which positions are differentiated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GradientBy {
    /// The positions of the seeds.
    Seeds,
    /// The velocities of the field, at all nodes and frames.
    Values,
    /// The drift.
    Drift,
    /// The diffusivities of a random walk, or the factors of the field's diffusivity.
    Diffusivity,
}

/// Leaf tensors of a run with gradients, of those that were asked for.
#[derive(Clone, Debug, Default)]
pub struct Leaves {
    /// Positions of the seeds `[n, 3]`.
    pub seeds: Option<Tensor<2>>,
    /// Velocities `[frames, values, 3]` in the order of the files, x fastest on a grid.
    pub values: Option<Tensor<3>>,
    /// Drift `[3]`.
    pub drift: Option<Tensor<1>>,
    /// Diffusivities `[3]`.
    pub diffusivity: Option<Tensor<1>>,
}

/// A run on a device that tracks gradients.
#[derive(Clone, Debug)]
pub struct TrackedRun {
    /// The tracks, in the graph of the leaves.
    pub tracks: Tracks,
    /// The summary of the run.
    pub summary: Summary,
    /// The plan of the saves.
    pub plan: SavePlan,
    /// The seeds.
    pub seeds: Seeds,
    /// What the positions can be differentiated by.
    pub leaves: Leaves,
}

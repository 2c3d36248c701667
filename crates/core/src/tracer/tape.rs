//! The backward pass of the tensor engine in segments: the forward run keeps the states between them, and the
//! backward pass takes them again, the last one first, with a graph that is dropped before the next. The graph of the last
//! segment is that of the forward run.

use super::{
    Tracer,
    gradients::GraphRoom,
    prepared::Prepared,
    reinjection::{End, Reinjection},
    run::Run,
    segments::{KeptEnd, KeptGraph, Segment, Tape},
    stepper::Stepper,
};
use crate::{Error, Result, Seeds, Tracks, schedule::Chunk};
use burn::tensor::{DType, Gradients, Tensor};
use burntrace_kernels::{GradientSum, Particles};

/// A run in segments, before its backward pass.
struct Recorded<'a> {
    tape: Tape,
    stepper: Stepper<'a>,
    /// The drift with the diffusivity, in its graph.
    motion: Tensor<1>,
}

/// Traces several runs, and returns a loss on all of their tracks with its gradients by all leaf tensors: as
/// [`Tracer::value_and_grad`], for example of the windows of observed tracks (multiple shooting).
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burntrace_core::{Domain, FieldFn, Precision, Seeds, Span, Tracer, value_and_grad};
///
/// # fn main() -> Result<(), burntrace_core::Error> {
/// let device = Device::flex().autodiff();
/// let speed = Tensor::<2>::ones([1, 3], &device).require_grad();
/// let velocity = |position: Tensor<2>, _time: f64| position.zeros_like() + speed.clone();
/// let field = FieldFn::new(Domain::unbounded(), &device, Precision::F32, velocity);
/// let window = |start: f64| {
///     let span = Span { t0: Some(start), t1: Some(start + 1.0), steps: Some(20), ..Span::default() };
///     Tracer::new(&field).span(span)
/// };
/// let (tracers, seeds) = ([window(0.0), window(1.0)], Seeds::list(vec![[0.0; 3]])?);
/// let runs = [(&tracers[0], &seeds), (&tracers[1], &seeds)];
/// let (_, gradients) =
///     value_and_grad(&runs, |tracks| tracks[0].positions().sum() + tracks[1].positions().sum())?;
/// # let by_speed: Vec<f64> = speed.grad(&gradients).unwrap().into_data().iter::<f64>().collect();
/// # assert!((by_speed[2] - 2.0).abs() < 1e-5, "{by_speed:?}");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// As [`Tracer::value_and_grad`], and [`Error::Adjoint`] if the fields are on different devices or have different
/// precisions.
///
/// # Panics
///
/// As [`Tracer::value_and_grad`].
pub fn value_and_grad(
    runs: &[(&Tracer, &Seeds)],
    loss: impl FnOnce(&[Tracks]) -> Tensor<1>,
) -> Result<(Tensor<1>, Gradients)> {
    check_alike(runs)?;
    let (tracks, recorded) = Recorded::run_all(runs, true)?;
    let loss = loss(&tracks);
    drop(tracks);
    check_tracked(&loss)?;
    let value = loss.clone().inner();
    let Some(first) = recorded.first() else { return Ok((value, loss.backward())) };
    let sum = GradientSum::default();
    let mut root = zero(&first.motion);
    sum.add(loss);
    for run in recorded {
        root = run.backward(&sum, root)?;
    }
    Ok((value, sum.finish(root)))
}

/// Traces several runs, and returns a loss on all of their tracks, as [`value_and_grad`] does, without its gradients: for
/// several runs what [`Tracer::evaluate`] is for one.
///
/// # Errors
///
/// As [`Tracer::trace`], and [`Error::Adjoint`] if the fields are on different devices or have different precisions.
pub fn evaluate(
    runs: &[(&Tracer, &Seeds)],
    loss: impl FnOnce(&[Tracks]) -> Tensor<1>,
) -> Result<Tensor<1>> {
    check_alike(runs)?;
    let (tracks, recorded) = Recorded::run_all(runs, false)?;
    let loss = loss(&tracks);
    let last = |tracks: &Tracks| Some(tracks.saves().last()?.position.clone().sum());
    let ends: Vec<_> = tracks.iter().filter_map(last).collect();
    drop((tracks, recorded));
    let value = loss.clone().inner();
    free_graphs(ends.into_iter().chain([loss]));
    Ok(value)
}

/// Refuses a loss without a graph.
fn check_tracked(loss: &Tensor<1>) -> Result<()> {
    match loss.is_tracked() {
        true => Ok(()),
        false => Err(Error::Adjoint(
            "the loss depends on no tensor that requires gradients; call `require_grad` on one"
                .into(),
        )),
    }
}

/// Refuses runs whose gradients cannot be summed.
fn check_alike(runs: &[(&Tracer, &Seeds)]) -> Result<()> {
    let kind = |tracer: &Tracer| (tracer.field.device(), tracer.field.precision());
    match runs.windows(2).all(|pair| kind(pair[0].0) == kind(pair[1].0)) {
        true => Ok(()),
        false => Err(Error::Adjoint(
            "the fields are on different devices or have different precisions; use the same for all".into(),
        )),
    }
}

impl Run<'_> {
    /// As [`launch`](Run::launch); with a tape the particles have no graph, and their start is recorded.
    pub fn recorded_launch(
        &mut self,
        (first_slot, mut particles): (usize, Particles),
        chunk: &Chunk,
        following: Option<&Reinjection>,
        ends: &mut Vec<End>,
    ) -> Result<Particles> {
        let Some(tape) = self.tape.take() else {
            return self.launch((first_slot, particles), chunk, following, ends);
        };
        let origin = particles.position.clone();
        tape.origin.get_or_insert(origin);
        if chunk.first_step >= tape.keeps_from {
            let particles =
                self.kept_launch(tape, (first_slot, particles), chunk, following, ends)?;
            self.tape = Some(tape);
            return Ok(particles);
        }
        particles.position = particles.position.detach();
        particles.fraction = particles.fraction.detach();
        let mut segment = Segment {
            particles: particles.clone(),
            chunk: chunk.clone(),
            following: following.cloned(),
            end: particles.position.clone(),
            saved: None,
            fraction: None,
        };
        // What frees a graph takes more than in proportion to its nodes.
        for step in 0..chunk.steps() {
            let part = chunk.part(step..step + 1, false);
            let following = following.map(|following| following.during(&part));
            particles = self.launch((first_slot, particles), &part, following.as_ref(), ends)?;
            particles = without_graph(particles);
        }
        segment.end = particles.position.clone();
        if chunk.save.is_some() {
            particles.position = leaf(particles.position);
            segment.saved = Some(particles.position.clone());
        }
        particles.fraction = leaf(particles.fraction);
        segment.fraction = Some(particles.fraction.clone());
        tape.segments.push(segment);
        self.tape = Some(tape);
        Ok(particles)
    }
}

impl Run<'_> {
    /// As [`launch`](Run::launch) of a step of which the tape keeps the graph.
    fn kept_launch(
        &mut self,
        tape: &mut Tape,
        (first_slot, mut particles): (usize, Particles),
        chunk: &Chunk,
        following: Option<&Reinjection>,
        ends: &mut Vec<End>,
    ) -> Result<Particles> {
        let kept = tape.kept.get_or_insert_with(|| KeptGraph {
            start: (leaf(particles.position.clone()), leaf(particles.fraction.clone())),
            ends: Vec::new(),
        });
        // What the run has are leaves for the save.
        let before = kept.ends.last().map_or(&kept.start, |end| &end.reached);
        (particles.position, particles.fraction) = before.clone();
        let mut particles = self.launch((first_slot, particles), chunk, following, ends)?;
        let reached = (particles.position.clone(), particles.fraction.clone());
        particles.position = leaf(particles.position);
        particles.fraction = leaf(particles.fraction);
        let saved = chunk.save.is_some().then(|| particles.position.clone());
        kept.ends.push(KeptEnd { reached, saved, fraction: particles.fraction.clone() });
        Ok(particles)
    }
}

impl KeptGraph {
    /// Takes the graph backward: adds the gradients by leaves to a sum, which has those by the saves, and returns those by
    /// the positions and fractions at the start.
    fn backward(self, sum: &GradientSum) -> (Option<Tensor<2>>, Option<Tensor<1>>) {
        let KeptGraph { start, ends } = self;
        let mut weighted = None;
        for KeptEnd { reached: (position, fraction), saved, fraction: of_times } in &ends {
            let by_position = saved.as_ref().and_then(|saved| sum.remove(saved));
            let by_position = by_position.map(|by_end| (position.clone() * by_end).sum());
            let by_fraction = sum.remove(of_times);
            let by_fraction = by_fraction.map(|by_end| (fraction.clone() * by_end).sum());
            weighted = total(weighted, total(by_position, by_fraction));
        }
        match weighted {
            Some(weighted) => sum.add(weighted),
            None => {
                let last = ends.into_iter().next_back().map(|end| end.reached);
                free_graphs(
                    last.into_iter()
                        .flat_map(|(position, fraction)| [position.sum(), fraction.sum()]),
                );
            }
        }
        (sum.remove(&start.0), sum.remove(&start.1))
    }
}

impl<'a> Recorded<'a> {
    /// The tracks of all runs; those in segments are recorded, for a backward pass with the graphs of last segments if
    /// `keeps_graphs` is set.
    fn run_all(
        runs: &[(&'a Tracer<'a>, &'a Seeds)],
        keeps_graphs: bool,
    ) -> Result<(Vec<Tracks>, Vec<Self>)> {
        let (mut tracks, mut recorded) = (Vec::with_capacity(runs.len()), Vec::new());
        let mut room = if keeps_graphs { GraphRoom::of(runs.len()) } else { GraphRoom::None };
        for (tracer, seeds) in runs {
            let prepared = tracer.prepare_for(seeds, true)?;
            tracks.push(match prepared.is_in_segments() {
                true => {
                    let keeps_from = room.keeps_from(&prepared);
                    Recorded::run(prepared, keeps_from, &mut recorded)?
                }
                false => prepared.run()?,
            });
        }
        Ok((tracks, recorded))
    }

    /// Runs in segments, adds the run to others, and returns its tracks. The graph of the steps after `keeps_from` is kept.
    fn run(mut prepared: Prepared<'a>, keeps_from: u64, all: &mut Vec<Self>) -> Result<Tracks> {
        let mut stepper = prepared.second_stepper()?;
        let motion = stepper.geometry.motion.clone();
        if motion.is_tracked() {
            // Its graph may be consumed only once.
            stepper.geometry.motion = leaf(motion.clone());
            prepared.set_motion(&stepper.geometry.motion);
        }
        let (mut tape, mut tracks) = (Tape { keeps_from, ..Tape::default() }, Tracks::default());
        let summary = prepared.run_recorded(&mut tracks, &mut tape)?;
        all.push(Recorded { tape, stepper, motion });
        Ok(tracks.with_summary(summary))
    }

    /// Takes the segments again, the last one first, and adds the gradients by leaves to a sum, which has those
    /// by the saves. Adds to `root` what remains: the seeds and the motion, weighted with their gradients.
    fn backward(self, sum: &GradientSum, mut root: Tensor<1>) -> Result<Tensor<1>> {
        let Recorded { mut tape, stepper, motion } = self;
        let (mut gradient, mut by_fraction) = match tape.kept.take() {
            Some(kept) => kept.backward(sum),
            None => (None, None),
        };
        while let Some(segment) = tape.segments.pop() {
            let Segment { particles, chunk, following, end, saved, fraction } = segment;
            let by_save = saved.and_then(|saved| sum.remove(&saved));
            gradient = total(gradient, by_save);
            let by_end_times = fraction.and_then(|fraction| sum.remove(&fraction));
            by_fraction = total(by_fraction, by_end_times);
            if chunk.steps() == 0 || (gradient.is_none() && by_fraction.is_none()) {
                continue;
            }
            let from = particles.position.clone();
            let (start, fraction) = (leaf(particles.position), leaf(particles.fraction));
            let particles =
                Particles { position: start.clone(), fraction: fraction.clone(), ..particles };
            let (particles, _) = stepper.advance((0, particles), &chunk, following.as_ref())?;
            check_same(&from, [end, particles.position.clone().detach()])?;
            let of_positions = gradient.map(|by_end| (particles.position * by_end).sum());
            let of_fractions = by_fraction.map(|by_end| (particles.fraction * by_end).sum());
            if let Some(weighted) = total(of_positions, of_fractions) {
                sum.add(weighted);
            }
            (gradient, by_fraction) = (sum.remove(&start), sum.remove(&fraction));
        }
        if let (Some(origin), Some(by_origin)) = (tape.origin, gradient) {
            root = root + (origin * by_origin).sum();
        }
        // Without a graph of its own it has no gradients to remove.
        if motion.is_tracked()
            && let Some(by_motion) = sum.remove(&stepper.geometry.motion)
        {
            root = root + (motion * by_motion).sum();
        }
        Ok(root)
    }
}

/// Refuses a segment that ends elsewhere the second time. Sums in another order, as on cards, may differ by rounding.
fn check_same(start: &Tensor<2>, [end, again]: [Tensor<2>; 2]) -> Result<()> {
    // Slots of sources are empty before their first particle.
    let largest = |by: Tensor<2>| {
        let size = by.inner().abs();
        let is_nan = size.clone().is_nan();
        size.mask_fill(is_nan, 0.0).max().into_scalar::<f64>()
    };
    let rounding = match end.dtype() {
        DType::F64 => f64::EPSILON,
        _ => f64::from(f32::EPSILON),
    };
    let [moved, off] = [start, &again].map(|from| largest(end.clone() - from.clone()));
    match off <= rounding.sqrt() * moved + 64.0 * rounding * largest(end) {
        true => Ok(()),
        false => Err(Error::Adjoint(format!(
            "the steps before a save ended {off:e} elsewhere when they were taken again for the gradients, which are not \
             those of the tracks then; field and operation must return the same values both times: draw random numbers \
             before the run, or use `Adjoint::Graph`"
        ))),
    }
}

/// A leaf that requires gradients.
fn leaf<const D: usize>(values: Tensor<D>) -> Tensor<D> {
    values.detach().autodiff().require_grad()
}

/// A leaf with the number 0.
fn zero<const D: usize>(beside: &Tensor<D>) -> Tensor<1> {
    leaf(Tensor::zeros([1], (&beside.device(), beside.dtype())))
}

fn total<const D: usize>(a: Option<Tensor<D>>, b: Option<Tensor<D>>) -> Option<Tensor<D>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (a, b) => a.or(b),
    }
}

/// Particles without their graph, which is freed.
fn without_graph(particles: Particles) -> Particles {
    let Particles { position, fraction, .. } = particles;
    let plain = (position.clone().detach(), fraction.clone().detach());
    free_graphs([position.sum(), fraction.sum()]);
    Particles { position: plain.0, fraction: plain.1, ..particles }
}

/// Frees the graphs of tensors of one element. Burn keeps the nodes of a graph, even if no tensor refers to them, until
/// a backward pass in the same graph: here one from a leaf that was joined to it.
fn free_graphs(ends: impl IntoIterator<Item = Tensor<1>>) {
    let tracked = ends.into_iter().filter(|end| end.is_tracked());
    // A loss may have another precision than the tracks.
    if let Some(end) = tracked.reduce(|sum, end| sum.clone() + end.cast(sum.dtype())) {
        let anchor = zero(&end);
        drop(end + anchor.clone());
        drop((anchor * 2.0).backward());
    }
}

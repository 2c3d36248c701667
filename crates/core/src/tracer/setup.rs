//! From settings to what runs: the checks, the engine and the stepper of a run.

use super::{
    Tracer, adapt,
    arrays::{Sampler, check_known},
    boundary::boundary,
    factors,
    gates::Gates,
    hook, inertia, inflow, located, obstacles, sampled_at, settling,
    slots::{self, Slots},
    start,
    stepper::{Release, Stepper},
    tallies, turbulence, walk,
};
use crate::{
    BoundaryCondition, Engine, Error, Field, OutletAt, PerAxis, Result, SaveAt, Scheme, Seeds,
    SeedsOutside,
    combinations::{self, Feature},
    device,
    schedule::{Chunk, Schedule},
};
use burn::tensor::TensorData;
use burntrace_kernels::FieldShape;
use std::time::Instant;

impl Tracer<'_> {
    /// The re-used slots, if there are any.
    pub(super) fn slots(&self, seeds: &Seeds, schedule: &Schedule) -> Result<Option<Slots>> {
        if !self.reuses_slots() {
            return match seeds.is_empty() {
                true => Err(Error::Seeds("there are no seeds and no source; give either".into())),
                false => Ok(None),
            };
        }
        Slots::new(self, seeds, schedule).map(Some)
    }

    /// The number of the mesh cell of each seed, as returned by [`start::cells`]; `None` for seeds
    /// outside the domain or the mesh, or inside an obstacle.
    pub(super) fn locate(&self, seeds: &Seeds) -> Result<Vec<Option<i32>>> {
        let mut cells = located::cells(seeds, &self.domain_box(), self.field)?;
        let allows = obstacles::allowed(self)?;
        for (cell, position) in cells.iter_mut().zip(seeds.positions()) {
            *cell = cell.filter(|_| allows(position));
        }
        if self.surroundings.seeds_outside == SeedsOutside::Error {
            let on_mesh = self.field.mesh().is_some();
            let inner = match self.surroundings.obstacles.is_empty() {
                _ if on_mesh => "mesh",
                true => "water, that is, the cells of nodes with a velocity,",
                false => "allowed side of the obstacles",
            };
            located::check_inside(self, seeds, &cells, inner)?;
        }
        Ok(cells)
    }

    /// Compiles the kernels of a run on its device and returns the seconds spent. A later run of up
    /// to `particles` particles compiles nothing.
    ///
    /// # Errors
    ///
    /// As [`prepare`](Tracer::prepare), except for errors of the seeds.
    pub fn warm_up(&self, particles: usize) -> Result<f64> {
        let start = Instant::now();
        let stepper = self.stepper(self.choose_engine(None)?, Vec::new(), &[])?;
        let schedule = self.schedule()?;
        let span = schedule.span;
        let chunk = Chunk { first_step: 0, times: vec![span.t0, span.t0], save: None };
        let slots = self.reuses_slots().then(slots::nothing_follows);
        let particles = self.execution.batch.map_or(particles, |batch| batch.min(particles));
        let idle = start::idle(particles.max(1), self, (stepper.engine, &stepper.tallies));
        let (idle, _) = stepper.advance_tallied((0, idle), &chunk, slots.as_ref())?;
        let values = Sampler::new(self, &schedule)?.sample(&stepper, (0, &idle), span.t0)?;
        for values in [values.velocity, values.arrays].into_iter().flatten() {
            done(values.try_into_data())?;
        }
        done(idle.position.clone().try_into_data())?;
        done(idle.image().try_into_data())?;
        done(idle.status().try_into_data())?;
        Ok(start.elapsed().as_secs_f64())
    }

    /// Builds the stepper for the given later releases and positions of inlets.
    pub(super) fn stepper<'s>(
        &'s self,
        engine: Engine,
        releases: Vec<Release>,
        inlets: &[[f64; 3]],
    ) -> Result<Stepper<'s>> {
        let (boundary, obstacles) = (boundary(self)?, obstacles::measured(self)?);
        let speed = self.surroundings.stagnant_speed;
        if !(speed.is_finite() && speed >= 0.0) {
            return Err(Error::StagnantSpeed(speed));
        }
        let (drift, walk) = (walk::drift(self)?, walk::walk(self)?);
        let gates = Gates::of(self)?;
        let shapes = (&obstacles[..], &gates.shapes[..]);
        let mut geometry = obstacles::geometry(self, inlets, shapes);
        geometry.motion = walk::motion(self, drift, walk.as_ref());
        let stepper = Stepper {
            field: self.field,
            engine,
            scheme: self.solver.scheme,
            surroundings: settling::surroundings(self.field),
            clips: sampled_at::clips(self, engine),
            boundary,
            geometry,
            obstacles: obstacles.into(),
            tracks_shapes: !self.shapes.is_empty(),
            gates,
            tallies: tallies::of(self)?,
            stagnant_speed: speed,
            adaptive: adapt::adaptive(self)?,
            drifts: drift != [0.0; 3] || walk::is_tracked(self),
            drift,
            walk,
            inertia: inertia::inertial(self)?,
            factors: factors::factors(self)?,
            turbulence: turbulence::turbulent(self)?,
            hook: hook::hook(self),
            releases,
            span: None,
            tracks_releases: false,
            batch: None,
        };
        stepper.check_tallies(self.reuses_slots())?;
        Ok(stepper)
    }

    pub(super) fn schedule(&self) -> Result<Schedule> {
        let span = adapt::with_default_steps(self)?.resolve(self.field.span())?;
        if let Some(sampled) = self.field.sampled() {
            sampled.time.check_step(span.dt)?;
        }
        check_known(self.field, &span)?;
        adapt::check_max_step(self, span.dt)?;
        Schedule::new(span, self.save.at.clone())
    }

    /// The engine of a run of seeds, if its features can be combined; without seeds, of one that they do not make track gradients.
    pub(super) fn choose_engine(&self, seeds: Option<&Seeds>) -> Result<Engine> {
        let tracks_times = seeds.is_some_and(|seeds| self.has_tracked_times(seeds));
        let is_tracked = seeds.is_some_and(|seeds| self.has_tracked_input(seeds))
            || self.field.device().is_autodiff();
        let requested = self.requested_engine(is_tracked)?;
        let has_tracked_factors = is_tracked && self.motion.factors.is_some();
        let is_fused = self.field.sampled().is_some()
            && !self.has_card_gradients(is_tracked)
            && !self.has_inertia_in_tensors(is_tracked)
            && !has_tracked_factors;
        let engine = requested.unwrap_or(if is_fused { Engine::Fused } else { Engine::Tensor });
        let has = |feature| match feature {
            Feature::FusedEngine => requested == Some(Engine::Fused),
            Feature::TensorSteps => engine == Engine::Tensor,
            Feature::Gradients => is_tracked,
            Feature::TrackedTimes => tracks_times,
            Feature::CardGradients => self.has_card_gradients(is_tracked),
            Feature::TrackedFactors => has_tracked_factors,
            Feature::InertiaInTensors => self.has_inertia_in_tensors(is_tracked),
            _ => self.has(feature),
        };
        combinations::check(has, |feature| self.given(feature))?;
        Ok(engine)
    }

    /// What was given of a feature, for the error of a run that may not have it.
    fn given(&self, feature: Feature) -> Option<String> {
        let names = || self.surroundings.patches.iter().map(|patch| format!("`{}`", patch.name()));
        match feature {
            Feature::OtherScheme | Feature::NotRk4 => {
                Some(format!("`{}`", self.solver.scheme.name()))
            }
            Feature::Patches => Some(names().collect::<Vec<_>>().join(", ")),
            _ => None,
        }
    }

    /// Whether gradients go through re-used slots on a graphics card.
    fn has_card_gradients(&self, is_tracked: bool) -> bool {
        is_tracked && self.reuses_slots() && device::compiles_kernels(&self.field.device())
    }

    /// Whether particles with inertia take steps that the fused engine does not have.
    fn has_inertia_in_tensors(&self, is_tracked: bool) -> bool {
        let is_compiled = device::compiles_kernels(&self.field.device());
        self.motion.inertia.is_some() && (is_tracked || is_compiled || self.each_step.is_some())
    }

    /// Whether a run has a feature that follows from its settings.
    pub(super) fn has(&self, feature: Feature) -> bool {
        let (field, surroundings) = (self.field, &self.surroundings);
        let has_outlet = |at| surroundings.outlets.iter().any(|outlet| outlet.at == at);
        match feature {
            Feature::Inertia => self.motion.inertia.is_some(),
            Feature::Factors => self.motion.factors.is_some(),
            Feature::NoFactors => self.motion.factors.is_none(),
            Feature::SecondVelocity => has_second(field),
            Feature::OneVelocity => !has_second(field),
            Feature::Backward => self.schedule().is_ok_and(|schedule| schedule.span.dt < 0.0),
            Feature::Drift => self.motion.drift != PerAxis::default(),
            Feature::NotRk4 => {
                let of_tolerance = self.solver.tolerance.is_some();
                let scheme = self.solver.scheme;
                scheme != Scheme::Rk4 && !(of_tolerance && scheme == Scheme::DormandPrince)
            }
            Feature::Tolerance => self.solver.tolerance.is_some(),
            Feature::OtherScheme => self.solver.scheme != Scheme::DormandPrince,
            Feature::Walk => self.motion.walk.is_some(),
            Feature::FieldWalk => self.motion.walk.as_ref().is_some_and(|walk| walk.varies),
            Feature::NoDiffusivity => !field.has_diffusivity(),
            Feature::MeshOutlet => has_outlet(OutletAt::Mesh),
            Feature::ObstacleOutlet => has_outlet(OutletAt::Obstacles),
            Feature::Patches => !surroundings.patches.is_empty(),
            Feature::NoMesh => field.mesh().is_none(),
            Feature::NoExit => {
                surroundings.obstacles.iter().all(|o| o.surface != BoundaryCondition::Exit)
            }
            Feature::ReusedSlots => self.reuses_slots(),
            Feature::Hook => self.each_step.is_some(),
            Feature::FlowMapGradient => self.save.flow_map_gradient,
            Feature::Tallies => !self.save.tallies.is_empty() || !surroundings.stop_when.is_empty(),
            Feature::Conditions => !surroundings.stop_when.is_empty(),
            Feature::OwnField => field.sampled().is_none(),
            Feature::TrackedInlets => inflow::is_tracked(self),
            Feature::TrackedShapes => !self.shapes.is_empty(),
            Feature::Sphere => field.sampled().is_some_and(|sampled| sampled.radius().is_some()),
            Feature::Obstacles => !surroundings.obstacles.is_empty(),
            Feature::Formula => {
                let shape = field.sampled().map(|sampled| sampled.tensors.shape);
                matches!(shape, Some(FieldShape::Formula(_)))
            }
            Feature::SeveralFields => field.sampled().is_some_and(|of| of.fields() > 1),
            Feature::MoreThanPositions => self.samples_field(),
            Feature::TimedSaves => !matches!(self.save.at, SaveAt::End | SaveAt::EverySteps(_)),
            Feature::Gates => !self.save.gates.is_empty(),
            Feature::Batches => self.execution.batch.is_some(),
            Feature::LevelDrift => !matches!(self.motion.drift, PerAxis::Numbers([0.0, 0.0, _])),
            _ => false,
        }
    }
}

/// Whether a field has a second velocity, which particles scale.
fn has_second(field: &dyn Field) -> bool {
    field.sampled().is_some_and(|sampled| sampled.lanes.scaled_group().is_some())
}

/// Converts an error of a device.
fn done<E: std::fmt::Debug>(data: std::result::Result<TensorData, E>) -> Result<()> {
    data.map(drop).map_err(|error| Error::Execution(format!("{error:?}")))
}

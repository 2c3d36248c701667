//! Running totals over the trajectory of one particle, updated at each save.

use burntrace_core::Status;

/// The state of a slot at a save.
pub(super) struct Observation {
    /// Unwrapped position.
    pub position: [f64; 3],
    pub status: Status,
    pub velocity: Option<[f64; 3]>,
    pub generation: u32,
}

/// The stage of the particle in a slot, as far as saves have shown it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum Stage {
    /// No save has shown it.
    #[default]
    Unknown,
    /// Its release position is known.
    Placed,
    /// A save found it released.
    Released,
}

/// The trajectory of the particle in a slot, as sampled by the saves.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlotTrajectory {
    /// Start of the displacement.
    pub origin: [f64; 3],
    /// Position at the last save.
    pub last: [f64; 3],
    /// Path length.
    pub length: f64,
    pub speed_sum: f64,
    pub speed_max: f64,
    /// Number of speeds in the sum.
    pub speeds: u32,
    pub generation: u32,
    pub status: Status,
    /// Whether the end of this particle instance has been reported.
    pub is_reported: bool,
    stage: Stage,
}

impl Default for SlotTrajectory {
    fn default() -> Self {
        SlotTrajectory {
            origin: [0.0; 3],
            last: [0.0; 3],
            length: 0.0,
            speed_sum: 0.0,
            speed_max: 0.0,
            speeds: 0,
            generation: 0,
            status: Status::Waiting,
            is_reported: false,
            stage: Stage::Unknown,
        }
    }
}

impl SlotTrajectory {
    /// The trajectory of the first particle in a slot, which will be released at a position.
    pub fn placed(position: [f64; 3]) -> Self {
        SlotTrajectory {
            origin: position,
            last: position,
            stage: Stage::Placed,
            ..SlotTrajectory::default()
        }
    }

    /// Whether a save has found the particle released.
    pub fn is_released(&self) -> bool {
        self.stage == Stage::Released
    }

    /// Displacement from the origin to the last position.
    pub fn displacement(&self) -> [f64; 3] {
        difference(self.last, self.origin)
    }

    /// Whether an observation shows another particle instance, while the end of this one has not been
    /// reported yet.
    pub fn is_replaced_by(&self, observed: &Observation) -> bool {
        let is_unreported = self.is_released() && !self.is_reported;
        is_unreported
            && (observed.generation != self.generation || observed.status == Status::Waiting)
    }

    /// Updates the trajectory with an observation, `dt` after the previous one. Returns the speed of the
    /// particle, if defined.
    pub fn update(&mut self, observed: &Observation, dt: f64) -> Option<f64> {
        let is_placed = observed.position.iter().all(|x| x.is_finite());
        if observed.status == Status::Waiting {
            let stage = if is_placed { Stage::Placed } else { Stage::Unknown };
            *self = SlotTrajectory::starting(observed, stage);
            return None;
        }
        if !is_placed {
            self.status = observed.status;
            return None;
        }
        if self.stage == Stage::Unknown || observed.generation != self.generation {
            *self = SlotTrajectory::starting(observed, Stage::Released);
            return self.add_speed(observed, None);
        }
        let leg = length(difference(observed.position, self.last));
        let was_active = self.is_released() && self.status == Status::Active;
        self.length += leg;
        self.last = observed.position;
        self.status = observed.status;
        self.stage = Stage::Released;
        self.add_speed(observed, (was_active && dt > 0.0).then(|| leg / dt))
    }

    fn starting(observed: &Observation, stage: Stage) -> Self {
        SlotTrajectory {
            origin: observed.position,
            last: observed.position,
            generation: observed.generation,
            status: observed.status,
            stage,
            ..SlotTrajectory::default()
        }
    }

    /// Adds the speed of an active particle: from its velocity if saved, otherwise over the last leg.
    fn add_speed(&mut self, observed: &Observation, of_leg: Option<f64>) -> Option<f64> {
        let speed = observed.velocity.map(length).or(of_leg);
        let speed = speed.filter(|v| observed.status == Status::Active && v.is_finite())?;
        self.speed_sum += speed;
        self.speed_max = self.speed_max.max(speed);
        self.speeds += 1;
        Some(speed)
    }
}

pub(super) fn difference(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|d| a[d] - b[d])
}

pub(super) fn length([x, y, z]: [f64; 3]) -> f64 {
    x.hypot(y).hypot(z)
}

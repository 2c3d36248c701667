//! The way of one particle, as far as saves have met it.

use burntrace_core::Status;

/// What a save says about a slot.
pub(super) struct Seen {
    /// As if a periodic box went on for ever.
    pub place: [f64; 3],
    pub status: Status,
    pub velocity: Option<[f64; 3]>,
    pub generation: u32,
}

/// How far the particle in a slot is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum Stage {
    /// Not at all.
    #[default]
    Unknown,
    /// It waits at its place.
    Placed,
    /// It was met after its release.
    Released,
}

/// The way of the particle that is in a slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    /// Where it began.
    pub origin: [f64; 3],
    /// Where it was at the last save.
    pub last: [f64; 3],
    pub length: f64,
    pub speed_sum: f64,
    pub speed_max: f64,
    pub speeds: u32,
    pub generation: u32,
    pub status: Status,
    /// Whether its life has been told as a whole.
    pub is_told: bool,
    stage: Stage,
}

impl Default for Way {
    fn default() -> Self {
        Way {
            origin: [0.0; 3],
            last: [0.0; 3],
            length: 0.0,
            speed_sum: 0.0,
            speed_max: 0.0,
            speeds: 0,
            generation: 0,
            status: Status::Waiting,
            is_told: false,
            stage: Stage::Unknown,
        }
    }
}

impl Way {
    /// Whether a save has met it after its release.
    pub fn is_released(&self) -> bool {
        self.stage == Stage::Released
    }

    /// The way so far, as a vector.
    pub fn displacement(&self) -> [f64; 3] {
        difference(self.last, self.origin)
    }

    /// Whether this save is about another particle than those before, whose life is still to be told.
    pub fn is_left_by(&self, seen: &Seen) -> bool {
        let is_untold = self.is_released() && !self.is_told;
        is_untold && (seen.generation != self.generation || seen.status == Status::Waiting)
    }

    /// Goes on to what a save says, which is `dt` after the last one; gives the speed of the
    /// particle, if it has one.
    pub fn follow(&mut self, seen: &Seen, dt: f64) -> Option<f64> {
        let is_placed = seen.place.iter().all(|x| x.is_finite());
        if seen.status == Status::Waiting {
            let stage = if is_placed { Stage::Placed } else { Stage::Unknown };
            *self = Way::at(seen, stage);
            return None;
        }
        if !is_placed {
            self.status = seen.status;
            return None;
        }
        if self.stage == Stage::Unknown || seen.generation != self.generation {
            *self = Way::at(seen, Stage::Released);
            return self.speed(seen, None);
        }
        let leg = length(difference(seen.place, self.last));
        let was_active = self.is_released() && self.status == Status::Active;
        self.length += leg;
        self.last = seen.place;
        self.status = seen.status;
        self.stage = Stage::Released;
        self.speed(seen, (was_active && dt > 0.0).then(|| leg / dt))
    }

    fn at(seen: &Seen, stage: Stage) -> Self {
        let (place, status) = (seen.place, seen.status);
        let generation = seen.generation;
        Way { origin: place, last: place, generation, status, stage, ..Way::default() }
    }

    /// Takes note of the speed: that of the velocity, or else the one that is given.
    fn speed(&mut self, seen: &Seen, of_leg: Option<f64>) -> Option<f64> {
        let speed = seen.velocity.map(length).or(of_leg);
        let speed = speed.filter(|v| seen.status == Status::Active && v.is_finite())?;
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

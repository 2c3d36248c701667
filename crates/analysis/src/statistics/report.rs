//! Statistics from a recording.

use super::ends::{EndTally, Outcome};
use super::recording::Recording;
use super::{GroupStatistics, Groups, Options, TrackStatistics, rows};
use burntrace_core::Status;
use rayon::prelude::*;

impl Recording {
    pub fn report(&self, options: &Options) -> TrackStatistics {
        let has_rows = options.has_rows(self.plan.reuses_slots);
        let particles = match self.plan.reuses_slots {
            true => self.rows.clone(),
            false if has_rows => {
                let (ends, context) = (self.ends.as_ref(), self.row_context());
                let trajectories = self.trajectories.par_iter().enumerate();
                let row = |(slot, trajectory)| rows::of_slot(slot, trajectory, ends, &context);
                trajectories.map(row).collect()
            }
            false => Vec::new(),
        };
        let tally = self.current_tally(options);
        let mut slots = vec![0; options.count_groups()];
        for slot in 0..self.trajectories.len() {
            let group = options.group_of(slot);
            if group != Groups::NONE {
                slots[group as usize] += 1;
            }
        }
        let groups = slots.iter().enumerate();
        let group = |(number, slots): (usize, &u64)| {
            self.group(&tally, Some(number as u32), *slots, options)
        };
        TrackStatistics {
            times: self.times.clone(),
            slots: self.trajectories.len(),
            reuses_slots: self.plan.reuses_slots,
            complete: self.ends.is_some(),
            speed_from: self.speed_from(),
            counted: options.counted,
            all: self.group(&tally, None, self.trajectories.len() as u64, options),
            groups: groups.map(group).collect(),
            particles,
        }
    }

    /// The tally of all particles, including those whose ends have not been reported.
    fn current_tally(&self, options: &Options) -> EndTally {
        let mut tally = self.tally.clone();
        if self.ends.is_none() {
            let all = self.trajectories.iter().enumerate();
            for (slot, particle) in all.filter(|(_, particle)| !particle.is_reported) {
                let (group, status) = (options.group_of(slot), particle.status);
                let outcome = Outcome { group, status, times: None, mass: self.mass(slot) };
                tally.add(outcome, &self.times, options);
            }
        }
        tally
    }

    fn group(
        &self,
        tally: &EndTally,
        group: Option<u32>,
        slots: u64,
        options: &Options,
    ) -> GroupStatistics {
        let tally = tally.of_group(group, options);
        let is_timed = self.ends.is_some() || self.plan.reuses_slots;
        GroupStatistics {
            slots,
            released: tally.count(Status::is_released),
            active: tally.count(|status| status == Status::Active),
            ended: tally.count(Status::has_ended),
            waiting: tally.count(|status| status == Status::Waiting),
            not_located: tally.count(|status| status == Status::NotLocated),
            saves: self.saves[group.map_or(0, |group| group as usize + 1)].clone(),
            ends: tally.ends(is_timed.then_some(&self.times), options),
            residence: tally.residence(options),
        }
    }
}

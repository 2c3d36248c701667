//! What is made of a recording.

use super::ends::{Book, End};
use super::recording::Recording;
use super::{GroupStatistics, Groups, Options, SpeedFrom, TrackStatistics, rows};
use burntrace_core::Status;
use rayon::prelude::*;

impl Recording {
    pub fn speed_from(&self) -> SpeedFrom {
        if self.plan.velocity { SpeedFrom::Velocities } else { SpeedFrom::Displacements }
    }

    pub fn report(&self, options: &Options) -> TrackStatistics {
        let has_rows = options.has_rows(self.plan.reuses_slots);
        let particles = match self.plan.reuses_slots {
            true => self.rows.clone(),
            false if has_rows => {
                (0..self.ways.len()).into_par_iter().map(|slot| rows::of_slot(slot, self)).collect()
            }
            false => Vec::new(),
        };
        let book = self.closed_book(options);
        let mut slots = vec![0; options.count_groups()];
        for slot in 0..self.ways.len() {
            let group = options.group_of(slot);
            if group != Groups::NONE {
                slots[group as usize] += 1;
            }
        }
        let groups = slots.iter().enumerate();
        let group = |(number, slots): (usize, &u64)| {
            self.group(&book, Some(number as u32), *slots, options)
        };
        TrackStatistics {
            times: self.times.clone(),
            slots: self.ways.len(),
            lives: self.plan.reuses_slots,
            complete: self.ends.is_some(),
            speed_from: self.speed_from(),
            counted: options.counted,
            all: self.group(&book, None, self.ways.len() as u64, options),
            groups: groups.map(group).collect(),
            particles,
        }
    }

    /// The book of ends, which at the last save is about all particles.
    fn closed_book(&self, options: &Options) -> Book {
        let mut book = self.book.clone();
        if self.ends.is_none() {
            // What saves say of those whose ends were not told.
            for (slot, way) in self.ways.iter().enumerate().filter(|(_, way)| !way.is_told) {
                let end = End { group: options.group_of(slot), status: way.status, times: None };
                book.add(end, &self.times, options);
            }
        }
        book
    }

    fn group(
        &self,
        book: &Book,
        group: Option<u32>,
        slots: u64,
        options: &Options,
    ) -> GroupStatistics {
        let page = book.page(group, options);
        let is_timed = self.ends.is_some() || self.plan.reuses_slots;
        GroupStatistics {
            slots,
            released: page.count(|status| status != Status::Waiting),
            active: page.count(|status| status == Status::Active),
            ended: page.count(Status::has_ended),
            waiting: page.count(|status| status == Status::Waiting),
            saves: self.saves[group.map_or(0, |group| group as usize + 1)].clone(),
            ends: page.ends(is_timed.then_some(&self.times), options),
            residence: page.residence(options),
        }
    }
}

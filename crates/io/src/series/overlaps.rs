//! Files whose times overlap.

use super::times::{FrameFiles, SameTimes};
use crate::listing::counted;

type Frame = (FrameFiles, f64);

/// The frames of a file, and its first and last time.
struct OneFile {
    frames: Vec<Frame>,
    times: [f64; 2],
}

/// Removes the frames of one of two files at the times that both have, if `same` tells which, and notes it.
/// Otherwise notes files whose times are mixed.
pub(super) fn resolve(
    frames: Vec<Frame>,
    same: Option<SameTimes>,
    notes: &mut Vec<String>,
) -> Vec<Frame> {
    let mut files = by_file(frames);
    let mut end = f64::NEG_INFINITY;
    for later in 0..files.len() {
        let times = files[later].times;
        let starts_after_all = times[0] > end;
        end = end.max(times[1]);
        if starts_after_all {
            continue;
        }
        let (before, after) = files.split_at_mut(later);
        for earlier in before.iter_mut().filter(|earlier| overlap(earlier.times, times)) {
            let (used, left_out) = match same {
                Some(SameTimes::First) => (earlier, &mut after[0]),
                Some(SameTimes::Last) => (&mut after[0], earlier),
                None => {
                    // One example is enough.
                    notes.extend(mixed(earlier, &after[0]).filter(|_| notes.is_empty()));
                    continue;
                }
            };
            notes.extend(left_out.leave_out(used));
        }
    }
    files.into_iter().flat_map(|file| file.frames).collect()
}

/// The frames of each file, in the order of their first times.
fn by_file(frames: Vec<Frame>) -> Vec<OneFile> {
    let mut files: Vec<OneFile> = Vec::new();
    for (frame, time) in frames {
        match files.last_mut().filter(|file| file.frames[0].0.path == frame.path) {
            Some(file) => {
                file.times = [file.times[0].min(time), file.times[1].max(time)];
                file.frames.push((frame, time));
            }
            None => files.push(OneFile { frames: vec![(frame, time)], times: [time; 2] }),
        }
    }
    files.sort_by(|a, b| a.times[0].total_cmp(&b.times[0]));
    files
}

fn overlap([start, end]: [f64; 2], [other_start, other_end]: [f64; 2]) -> bool {
    start <= other_end && other_start <= end
}

/// A note on files of which each has times between those of the other, without a common one.
fn mixed(a: &OneFile, b: &OneFile) -> Option<String> {
    let has_common = a.frames.iter().any(|(_, t)| b.frames.iter().any(|(_, other)| t == other));
    let is_apart = a.times == b.times || a.frames.is_empty() || b.frames.is_empty();
    (!has_common && !is_apart).then(|| {
        let [first, second] = [a, b].map(|file| file.frames[0].0.path.display());
        format!(
            "the times of `{first}` and `{second}` overlap, and the frames of both are used; with `same_times = \
             \"first\"` or `\"last\"`, only those of the file that starts first or last are"
        )
    })
}

impl OneFile {
    /// Removes the frames at the times of another file, and returns a note.
    fn leave_out(&mut self, used: &OneFile) -> Option<String> {
        let path = self.frames.first()?.0.path.clone();
        let count = self.frames.len();
        let [start, end] = used.times;
        self.frames.retain(|(_, time)| !(start..=end).contains(time));
        let removed = count - self.frames.len();
        let other = used.frames.first()?.0.path.display();
        let removed = (removed > 0).then(|| counted(removed, "frame"))?;
        Some(format!("{removed} of `{}` not used: `{other}` has those times", path.display()))
    }
}

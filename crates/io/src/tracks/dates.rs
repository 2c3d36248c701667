//! Dates of times.

use burntrace_cf::Calendar;

/// The date of time 0, of times in seconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeOrigin {
    /// The date and time, as in `2000-01-01T06:00:00`.
    pub date: String,
    /// The calendar by its name in CF, such as `standard` or `noleap`.
    pub calendar: String,
}

impl TimeOrigin {
    /// The date of a time, as `2024-02-01 12:00`, with seconds where they are not 0. `None` if there is none.
    pub fn date_of(&self, time: f64) -> Option<String> {
        let date = Calendar::named(&self.calendar).ok()?.date_after(&self.date, time)?;
        let date = date.replace('T', " ");
        Some(date.strip_suffix(":00").map(String::from).unwrap_or(date))
    }

    /// The dates of the first and the last of some times.
    pub fn range(&self, times: &[f64]) -> Option<[String; 2]> {
        Some([self.date_of(*times.first()?)?, self.date_of(*times.last()?)?])
    }

    /// The time of a date, such as `2024-02-01` or `2024-02-01T12:00`.
    ///
    /// # Errors
    ///
    /// If the calendar has no such date.
    pub fn time_of(&self, date: &str) -> Result<f64, String> {
        let calendar = Calendar::named(&self.calendar)?;
        calendar.seconds_between(&self.date, date).ok_or_else(|| {
            format!(
                "the calendar {} has no such date; write dates of it, as \"2024-02-01\" or \"2024-02-01T12:00\"",
                self.calendar
            )
        })
    }

    /// Whether the calendar is that of today.
    pub(super) fn is_gregorian(&self) -> bool {
        ["standard", "proleptic_gregorian"].contains(&&*self.calendar)
    }
}

/// For example `seconds since 2000-01-01T06:00:00 (calendar noleap)`.
impl std::fmt::Display for TimeOrigin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "seconds since {} (calendar {})", self.date, self.calendar)
    }
}

impl serde::Serialize for TimeOrigin {
    fn serialize<S: serde::Serializer>(
        &self,
        serializer: S,
    ) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates_and_back() {
        let origin = TimeOrigin { date: "2000-02-28T06:00:00".into(), calendar: "noleap".into() };
        for (time, date) in [
            (0.0, "2000-02-28 06:00"),
            (86_400.0, "2000-03-01 06:00"),
            (30.5, "2000-02-28 06:00:30.5"),
        ] {
            assert_eq!(origin.date_of(time).as_deref(), Some(date));
            assert_eq!(origin.time_of(date), Ok(time));
        }
        assert_eq!(origin.date_of(f64::NAN), None);
        let message = origin.time_of("2000-02-29").unwrap_err();
        assert!(message.contains("calendar noleap has no such date"), "{message}");
    }
}

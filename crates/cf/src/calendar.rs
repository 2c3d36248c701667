//! Times in the calendars of CF, as days and seconds from a reference date.

use crate::units::Quantity;

/// A calendar of the CF conventions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calendar {
    /// `standard` or `gregorian`: Julian before 15 October 1582, then Gregorian.
    Standard,
    /// `proleptic_gregorian`.
    ProlepticGregorian,
    /// `julian`.
    Julian,
    /// `noleap` or `365_day`.
    NoLeap,
    /// `all_leap` or `366_day`.
    AllLeap,
    /// `360_day`: twelve months of thirty days.
    Days360,
}

/// The first day of the Gregorian calendar.
const GREGORIAN: [i64; 3] = [1582, 10, 15];

impl Calendar {
    /// The calendar with a name of CF.
    ///
    /// # Errors
    ///
    /// If the name is not known.
    pub fn named(name: &str) -> Result<Calendar, String> {
        Ok(match name.to_ascii_lowercase().as_str() {
            "standard" | "gregorian" => Calendar::Standard,
            "proleptic_gregorian" | "gregorian_proleptic" => Calendar::ProlepticGregorian,
            "julian" => Calendar::Julian,
            "noleap" | "365_day" => Calendar::NoLeap,
            "all_leap" | "366_day" => Calendar::AllLeap,
            "360_day" => Calendar::Days360,
            _ => {
                return Err(format!(
                    "its calendar `{name}` is not known; known are standard (gregorian), \
                     proleptic_gregorian, julian, noleap (365_day), all_leap (366_day) and 360_day"
                ));
            }
        })
    }

    /// Its name in CF.
    pub fn name(self) -> &'static str {
        match self {
            Calendar::Standard => "standard",
            Calendar::ProlepticGregorian => "proleptic_gregorian",
            Calendar::Julian => "julian",
            Calendar::NoLeap => "noleap",
            Calendar::AllLeap => "all_leap",
            Calendar::Days360 => "360_day",
        }
    }

    /// Whether a day has the same number in both: the rules of `standard` differ from `proleptic_gregorian` in the
    /// names of days only.
    pub(crate) fn counts_days_as(self, other: Calendar) -> bool {
        let gregorian = [Calendar::Standard, Calendar::ProlepticGregorian];
        self == other || [self, other].iter().all(|calendar| gregorian.contains(calendar))
    }

    /// Days from the first day of year 0 to the first day of a year.
    fn days_before_year(self, year: i64) -> i64 {
        let leaps = |every: i64| (year - 1).div_euclid(every) + 1;
        match self {
            Calendar::Days360 => 360 * year,
            Calendar::NoLeap => 365 * year,
            Calendar::AllLeap => 366 * year,
            Calendar::Julian => 365 * year + leaps(4),
            // The rules of a standard date are Julian or Gregorian.
            Calendar::ProlepticGregorian | Calendar::Standard => {
                365 * year + leaps(4) - leaps(100) + leaps(400)
            }
        }
    }

    fn is_leap(self, year: i64) -> bool {
        let multiple = |of: i64| year.rem_euclid(of) == 0;
        match self {
            Calendar::Days360 | Calendar::NoLeap => false,
            Calendar::AllLeap => true,
            Calendar::Julian => multiple(4),
            Calendar::ProlepticGregorian | Calendar::Standard => {
                multiple(4) && (!multiple(100) || multiple(400))
            }
        }
    }

    fn days_of_month(self, year: i64, month: i64) -> i64 {
        match month {
            _ if self == Calendar::Days360 => 30,
            2 => 28 + i64::from(self.is_leap(year)),
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        }
    }

    /// The calendar without a change of rules that holds on a date.
    fn at(self, date: [i64; 3]) -> Calendar {
        match self {
            Calendar::Standard if date < GREGORIAN => Calendar::Julian,
            Calendar::Standard => Calendar::ProlepticGregorian,
            other => other,
        }
    }

    /// The number of a day; `None` if there is no such day. Numbers of one calendar are comparable.
    fn day(self, [year, month, day]: [i64; 3]) -> Option<i64> {
        let rules = self.at([year, month, day]);
        let is_skipped = self == Calendar::Standard
            && rules == Calendar::Julian
            && [year, month, day] > [1582, 10, 4];
        let exists = (1..=12).contains(&month)
            && (1..=rules.days_of_month(year, month)).contains(&day)
            && year.abs() < 1_000_000
            && !is_skipped;
        let months: i64 = (1..month).map(|month| rules.days_of_month(year, month)).sum();
        // 1 January of year 0 in the Julian calendar is two days before that in the Gregorian one.
        let shift = if self == Calendar::Standard && rules == Calendar::Julian { -2 } else { 0 };
        exists.then(|| rules.days_before_year(year) + months + day - 1 + shift)
    }

    /// The date and time a number of seconds after the start of 1970, as in `2000-01-01T06:00:00`; `None` if it is
    /// a hundred million years away.
    pub fn date_since_1970(self, seconds: f64) -> Option<String> {
        self.date_and_time(self.day([1970, 1, 1])?, seconds)
    }

    /// The date and time a number of seconds after a date, as in `2000-01-01T06:00:00`; `None` if this is no date of the
    /// calendar.
    pub fn date_after(self, date: &str, seconds: f64) -> Option<String> {
        let (day, start) = date_time(date, self)?;
        self.date_and_time(day, start + seconds)
    }

    /// Seconds from a date to another; `None` if one of them is no date of the calendar.
    pub fn seconds_between(self, from: &str, to: &str) -> Option<f64> {
        let [(from, start), (to, end)] = [date_time(from, self)?, date_time(to, self)?];
        Some((to - from) as f64 * 86_400.0 + (end - start))
    }

    /// The date and time a number of seconds after the start of a day, to microseconds.
    fn date_and_time(self, day: i64, seconds: f64) -> Option<String> {
        let (mut days, mut rest) = ((seconds / 86_400.0).floor(), seconds.rem_euclid(86_400.0));
        rest = (rest * 1e6).round() / 1e6;
        if rest >= 86_400.0 {
            (days, rest) = (days + 1.0, 0.0);
        }
        if days.is_nan() || days.abs() >= 3.6e10 {
            return None;
        }
        let [year, month, day] = self.date(day + days as i64);
        let (hour, minute) = ((rest / 3600.0).floor(), (rest % 3600.0 / 60.0).floor());
        let second = format!("{:09.6}", rest - 3600.0 * hour - 60.0 * minute);
        let second = second.trim_end_matches('0').trim_end_matches('.');
        Some(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second}"))
    }

    /// The date of the day with a number.
    fn date(self, number: i64) -> [i64; 3] {
        let gregorian = Calendar::ProlepticGregorian.day(GREGORIAN).unwrap_or_default();
        let (rules, number) = match self {
            Calendar::Standard if number < gregorian => (Calendar::Julian, number + 2),
            Calendar::Standard => (Calendar::ProlepticGregorian, number),
            other => (other, number),
        };
        // A year that is not too late, whatever the lengths of years.
        let mut year = number.div_euclid(366).min(number.div_euclid(360));
        while rules.days_before_year(year + 1) <= number {
            let missing = number - rules.days_before_year(year + 1);
            year += 1 + missing.div_euclid(366);
        }
        let mut day = number - rules.days_before_year(year);
        let mut month = 1;
        while day >= rules.days_of_month(year, month) {
            day -= rules.days_of_month(year, month);
            month += 1;
        }
        [year, month, day + 1]
    }
}

/// A unit of time with a reference date, such as `days since 2000-01-01`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reference {
    calendar: Calendar,
    unit: crate::units::Unit,
    /// Number of the day.
    day: i64,
    /// Seconds since the start of the day, in the zone UTC.
    seconds: f64,
}

impl Reference {
    /// Reads the attributes `units` and `calendar` of a time.
    pub fn parse(units: &str, calendar: Option<&str>) -> Result<Reference, String> {
        let calendar = calendar.map_or(Ok(Calendar::Standard), Calendar::named)?;
        let lower = units.to_ascii_lowercase();
        let since = lower.find(" since ").ok_or_else(|| format!("its units are `{units}`"))?;
        let (unit, date) = (units[..since].trim(), units[since + 7..].trim());
        if ["month", "months", "year", "years", "common_year", "common_years"].contains(&unit) {
            return Err(format!(
                "its units `{units}` count {unit}, which differ in length; write days or seconds"
            ));
        }
        let unit = Quantity::Time.unit(unit)?;
        let (day, seconds) = date_time(date, calendar).ok_or_else(|| {
            format!(
                "its units `{units}` have no date of the calendar {}; write for example `seconds since \
                 2000-01-01 00:00:00`",
                calendar.name()
            )
        })?;
        Ok(Reference { calendar, unit, day, seconds })
    }

    pub fn calendar(&self) -> Calendar {
        self.calendar
    }

    /// Whether values are in seconds.
    pub fn is_in_seconds(&self) -> bool {
        self.unit.is_si()
    }

    /// Seconds from the value `first` of the reference `origin` to a value of this one. Whole days between
    /// the references are exact.
    pub fn seconds_from(&self, value: f64, origin: &Reference, first: f64) -> f64 {
        if self == origin {
            return self.unit.convert(value - first);
        }
        let days = (self.day - origin.day) as f64 * 86_400.0;
        let within = self.seconds - origin.seconds;
        days + within + (self.unit.convert(value) - origin.unit.convert(first))
    }

    /// The date and time of a value, as in `2000-01-01T06:00:00`.
    pub fn date_of(&self, value: f64) -> String {
        let seconds = self.seconds + self.unit.convert(value);
        let date = self.calendar.date_and_time(self.day, seconds);
        date.unwrap_or_else(|| format!("{value} units after day {} of the calendar", self.day))
    }
}

/// The day and the seconds of a date with an optional time and zone.
fn date_time(text: &str, calendar: Calendar) -> Option<(i64, f64)> {
    let (date, time) = match text.find(['T', 't', ' ']) {
        Some(at) => (&text[..at], text[at + 1..].trim()),
        None => (text, ""),
    };
    // A sign before the year.
    let (sign, digits) = match date.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, date.strip_prefix('+').unwrap_or(date)),
    };
    let mut parts = digits.split('-').map(|part| part.parse::<u32>().ok().map(i64::from));
    let date =
        [sign * parts.next()??, parts.next().unwrap_or(Some(1))?, parts.next().unwrap_or(Some(1))?];
    if parts.next().is_some() {
        return None;
    }
    let (time, zone) = zone(time)?;
    let seconds = if time.is_empty() { 0.0 } else { clock(time, [24.0, 60.0, 61.0])? };
    Some((calendar.day(date)?, seconds - zone))
}

/// Splits the zone off a time, and returns its seconds ahead of UTC.
fn zone(time: &str) -> Option<(&str, f64)> {
    for name in ["UTC", "utc", "GMT", "Z", "z"] {
        if let Some(time) = time.strip_suffix(name) {
            return Some((time.trim(), 0.0));
        }
    }
    let Some(at) = time.rfind(['+', '-', ' ']) else { return Some((time, 0.0)) };
    let (clock_time, zone) = (time[..at].trim(), time[at..].trim());
    let (sign, digits) = match zone.strip_prefix('-') {
        Some(digits) => (-1.0, digits),
        None => (1.0, zone.strip_prefix('+').unwrap_or(zone)),
    };
    let seconds = match digits.len() {
        4 if digits.is_ascii() && !digits.contains(':') => {
            clock(&format!("{}:{}", &digits[..2], &digits[2..]), [24.0, 60.0, 60.0])?
        }
        _ => clock(digits, [24.0, 60.0, 60.0])?,
    };
    Some((clock_time, sign * seconds))
}

/// Seconds of `hours`, `hours:minutes` or `hours:minutes:seconds`, each below its limit.
fn clock(text: &str, limits: [f64; 3]) -> Option<f64> {
    let mut seconds = 0.0;
    let mut parts = text.split(':');
    for (limit, weight) in limits.into_iter().zip([3600.0, 60.0, 1.0]) {
        let Some(part) = parts.next() else { break };
        let is_number = part.starts_with(|c: char| c.is_ascii_digit());
        let number: f64 = part.parse().ok().filter(|_| is_number)?;
        if number >= limit {
            return None;
        }
        seconds += weight * number;
    }
    parts.next().is_none().then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(units: &str, calendar: &str) -> Reference {
        Reference::parse(units, Some(calendar)).unwrap()
    }

    /// Days between two dates.
    fn between(calendar: &str, first: &str, second: &str) -> f64 {
        let [first, second] =
            [first, second].map(|date| reference(&format!("days since {date}"), calendar));
        second.seconds_from(0.0, &first, 0.0) / 86_400.0
    }

    /// The numbers are those of cftime: `date2num(second) - date2num(first)`.
    #[test]
    fn days_between_dates_follow_the_calendar() {
        assert_eq!(between("standard", "2000-02-28", "2000-03-01"), 2.0);
        assert_eq!(between("standard", "1582-10-04", "1582-10-15"), 1.0);
        assert_eq!(between("proleptic_gregorian", "1582-10-04", "1582-10-15"), 11.0);
        assert_eq!(between("standard", "0001-01-01", "2000-01-01"), 730_121.0);
        assert_eq!(between("proleptic_gregorian", "0001-01-01", "2000-01-01"), 730_119.0);
        assert_eq!(between("julian", "1900-02-28", "1900-03-01"), 2.0);
        assert_eq!(between("noleap", "2000-01-01", "2004-01-01"), 1460.0);
        assert_eq!(between("366_day", "2001-01-01", "2002-01-01"), 366.0);
        assert_eq!(between("360_day", "2000-01-30", "2000-03-01"), 31.0);
    }

    #[test]
    fn seconds_since_1970_are_dates() {
        for (days, date) in [
            (0.0, "1970-01-01"),
            (11_016.0, "2000-02-29"),
            (11_017.0, "2000-03-01"),
            (20_818.0, "2026-12-31"),
            (20_819.0, "2027-01-01"),
        ] {
            let found = Calendar::ProlepticGregorian.date_since_1970(86_400.0 * days + 3661.0);
            assert_eq!(found, Some(format!("{date}T01:01:01")));
        }
        assert_eq!(Calendar::Standard.date_since_1970(f64::INFINITY), None);
    }

    /// `cftime.date2num` of one date: 100 days from 2000-01-01.
    #[test]
    fn days_of_standard_and_proleptic_gregorian_are_the_same() {
        let old = reference("days since 0001-01-01", "standard");
        let new = reference("days since 2000-01-01", "proleptic_gregorian");
        assert_eq!(old.seconds_from(730_221.0, &new, 0.0), 100.0 * 86_400.0);
        assert!(Calendar::Standard.counts_days_as(Calendar::ProlepticGregorian));
        assert!(!Calendar::Standard.counts_days_as(Calendar::NoLeap));
    }

    #[test]
    fn every_day_has_one_date() {
        for calendar in
            ["standard", "proleptic_gregorian", "julian", "noleap", "all_leap", "360_day"]
        {
            let calendar = Calendar::named(calendar).unwrap();
            for start in [-800_000, -1000, 577_000, 730_000] {
                for number in start..start + 1500 {
                    assert_eq!(calendar.day(calendar.date(number)), Some(number), "{calendar:?}");
                }
            }
        }
    }

    #[test]
    fn dates_have_times_and_zones() {
        let start = reference("seconds since 2000-01-01", "standard");
        let seconds = |date: &str| {
            reference(&format!("seconds since {date}"), "standard").seconds_from(0.0, &start, 0.0)
        };
        assert_eq!(seconds("2000-01-01T06:30:15.5Z"), 23_415.5);
        assert_eq!(seconds("2000-1-2 00:00:00.0"), 86_400.0);
        assert_eq!(seconds("2000-01-01 12:00 -06:00"), 64_800.0);
        assert_eq!(seconds("2000-01-01 12:00:00+0100"), 39_600.0);
        assert_eq!(seconds("2000-01-01 12 UTC"), 43_200.0);
        assert_eq!(seconds("2000"), 0.0);
    }

    #[test]
    fn the_first_time_is_a_date() {
        let hours = reference("hours since 1999-12-31 23:00:00", "standard");
        assert_eq!(hours.date_of(1.0), "2000-01-01T00:00:00");
        assert_eq!(hours.date_of(0.25), "1999-12-31T23:15:00");
        let days = reference("days since 2000-02-28", "noleap");
        assert_eq!(days.date_of(1.5), "2000-03-01T12:00:00");
        assert_eq!(days.seconds_from(2.5, &days, 0.5), 172_800.0);
    }

    #[test]
    fn dates_are_seconds_from_another_one_and_back() {
        for (calendar, to, seconds) in [
            (Calendar::Standard, "2000-03-01", 2.0 * 86_400.0 - 21_600.0),
            (Calendar::NoLeap, "2000-03-01T00:00:00", 86_400.0 - 21_600.0),
            (Calendar::Days360, "2000-02-30T06:00:00.25", 2.0 * 86_400.0 + 0.25),
            (Calendar::Standard, "2000-02-27 06:00Z", -86_400.0),
        ] {
            let origin = "2000-02-28T06:00:00";
            assert_eq!(calendar.seconds_between(origin, to), Some(seconds), "{to}");
            let date = calendar.date_after(origin, seconds).unwrap();
            assert_eq!(calendar.seconds_between(to, &date), Some(0.0), "{date}");
        }
        assert_eq!(Calendar::NoLeap.seconds_between("2000-01-01", "2000-02-29"), None);
        assert_eq!(Calendar::Standard.date_after("2000-01-01", f64::NAN), None);
    }

    #[test]
    fn what_is_no_date_is_refused() {
        let error = |units: &str, calendar| Reference::parse(units, Some(calendar)).unwrap_err();
        assert!(error("months since 2000-01-01", "standard").contains("differ in length"));
        assert!(error("days since 2000-02-30", "standard").contains("no date"));
        assert!(error("days since 1582-10-10", "standard").contains("no date"));
        assert!(error("days since 2001-02-29", "noleap").contains("no date"));
        assert!(error("days since yesterday", "standard").contains("2000-01-01"));
        assert!(error("days since 2000-01-01 25:00", "standard").contains("no date"));
        assert!(error("days since 2000-01-01", "lunar").contains("360_day"));
        assert!(error("metres since 2000-01-01", "standard").contains("`metres`"));
    }
}

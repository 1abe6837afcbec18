//! Dates of `-z` as curl understands them: words for the weekday, the month and the zone, numbers for the day, the year and the time,
//! in any order. What curl does not understand (`2026-01-02`) is none here either.

/// A date as in `Sun, 06 Nov 1994 08:49:37 GMT`; none if curl would not send it.
pub(super) fn of(text: &str) -> Option<String> {
    let mut date = Date::default();
    let mut rest = text;
    let mut parts = 0;
    while let Some(at) = rest.find(|char: char| char.is_ascii_alphanumeric()) {
        let sign = rest[..at].chars().next_back();
        rest = &rest[at..];
        let is_word = rest.starts_with(|char: char| char.is_ascii_alphabetic());
        let end = rest.find(|char: char| !is_of(char, is_word)).unwrap_or(rest.len());
        let part = &rest[..end];
        rest = &rest[end..];
        parts += 1;
        let is_known = if is_word { date.word(part) } else { date.number(part, sign) };
        if !is_known || parts > 6 {
            return None;
        }
    }
    date.written()
}

/// Whether a character goes on with a word, or with a number or a time.
fn is_of(char: char, is_word: bool) -> bool {
    if is_word { char.is_ascii_alphabetic() } else { char.is_ascii_digit() || char == ':' }
}

/// What of a date was read.
#[derive(Default)]
struct Date {
    weekday: Option<usize>,
    month: Option<u32>,
    day: Option<u32>,
    year: Option<u32>,
    time_s: Option<i64>,
    /// East of Greenwich, in seconds.
    zone_s: Option<i64>,
    /// The next number is a year: a day was read, or one was no day.
    year_is_next: bool,
}

impl Date {
    fn word(&mut self, word: &str) -> bool {
        let place = |names: &[&str]| names.iter().position(|name| word.eq_ignore_ascii_case(name));
        let weekday = place(&WEEKDAYS).or_else(|| place(&WEEKDAYS_WHOLE));
        if let Some(weekday) = weekday.filter(|_| self.weekday.is_none()) {
            self.weekday = Some(weekday);
            return true;
        }
        if let Some(month) = place(&MONTHS).filter(|_| self.month.is_none()) {
            self.month = u32::try_from(month + 1).ok();
            return true;
        }
        let zone = ZONES.iter().find(|(name, _)| word.eq_ignore_ascii_case(name));
        let is_zone = self.zone_s.is_none() && zone.is_some();
        self.zone_s = self.zone_s.or(zone.map(|(_, hours)| hours * 3600));
        is_zone
    }

    /// A number behind `sign`.
    fn number(&mut self, text: &str, sign: Option<char>) -> bool {
        if text.contains(':') {
            self.time_s = time(text).filter(|_| self.time_s.is_none());
            return self.time_s.is_some();
        }
        let Ok(number) = text.parse::<u32>() else { return false };
        let is_zone = matches!(sign, Some('+' | '-')) && text.len() == 4 && number <= 1400;
        if is_zone && self.zone_s.is_none() {
            let seconds = i64::from(number / 100 * 60 + number % 100) * 60;
            self.zone_s = Some(if sign == Some('-') { -seconds } else { seconds });
            return true;
        }
        let is_whole = text.len() == 8 && (self.year, self.month, self.day) == (None, None, None);
        if is_whole {
            (self.year, self.month) = (Some(number / 10_000), Some(number / 100 % 100));
            self.day = Some(number % 100);
            return true;
        }
        self.day_or_year(number)
    }

    fn day_or_year(&mut self, number: u32) -> bool {
        if !self.year_is_next && self.day.is_none() {
            self.year_is_next = true;
            if (1..=31).contains(&number) {
                self.day = Some(number);
                return true;
            }
        }
        if !self.year_is_next || self.year.is_some() {
            return false;
        }
        self.year = Some(match number {
            0..=70 => number + 2000,
            71..=99 => number + 1900,
            _ => number,
        });
        self.year_is_next = self.day.is_some();
        true
    }

    fn written(&self) -> Option<String> {
        let (year, month, day) = (self.year?, self.month?, self.day?);
        let is_date = (1..=12).contains(&month) && (1..=31).contains(&day) && year > 1582;
        let seconds = self.time_s.unwrap_or(0) - self.zone_s.unwrap_or(0);
        is_date.then(|| written(days(year, month, day) * 86_400 + seconds))
    }
}

/// `10:20:30`, `10:20`, in seconds.
fn time(text: &str) -> Option<i64> {
    let parts: Vec<&str> = text.split(':').collect();
    let [hour, minute, rest @ ..] = parts.as_slice() else { return None };
    let number = |text: &str, max: i64| {
        let number = text.parse::<i64>().ok().filter(|_| text.len() <= 2);
        number.filter(|number| *number <= max)
    };
    let second = match rest {
        [] => 0,
        [second] => number(second, 60)?,
        _ => return None,
    };
    Some(number(hour, 23)? * 3600 + number(minute, 59)? * 60 + second)
}

/// Days from 1970 to a date.
fn days(year: u32, month: u32, day: u32) -> i64 {
    stdx::days_since_1970(year.into(), month.into(), day.into())
}

/// Seconds since 1970 as HTTP has them.
fn written(seconds: i64) -> String {
    let (day, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let weekday = WEEKDAYS[(day + 3).rem_euclid(7) as usize];
    // The year whose first of March is the last before the day.
    let mut year = u32::try_from(1970 + day / 366).unwrap_or(1970);
    while days(year + 1, 1, 1) <= day {
        year += 1;
    }
    let month = (1..=12).rev().find(|month| days(year, *month, 1) <= day).unwrap_or(1);
    let date = day - days(year, month, 1) + 1;
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let month = MONTHS[month as usize - 1];
    format!("{weekday}, {date:02} {month} {year} {hour:02}:{minute:02}:{second:02} GMT")
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const WEEKDAYS_WHOLE: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
/// Zones, in hours east of Greenwich.
const ZONES: [(&str, i64); 18] = [
    ("GMT", 0),
    ("UT", 0),
    ("UTC", 0),
    ("Z", 0),
    ("WET", 0),
    ("BST", 1),
    ("CET", 1),
    ("MET", 1),
    ("CEST", 2),
    ("EET", 2),
    ("EST", -5),
    ("EDT", -4),
    ("CST", -6),
    ("CDT", -5),
    ("MST", -7),
    ("MDT", -6),
    ("PST", -8),
    ("PDT", -7),
];

#[cfg(test)]
mod tests {
    #[test]
    fn dates_become_those_of_http() {
        for (text, expect) in [
            ("20261128", Some("Sat, 28 Nov 2026 00:00:00 GMT")),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some("Sun, 06 Nov 1994 08:49:37 GMT")),
            ("Sunday, 06-Nov-94 08:49:37 GMT", Some("Sun, 06 Nov 1994 08:49:37 GMT")),
            ("Sun Nov  6 08:49:37 1994", Some("Sun, 06 Nov 1994 08:49:37 GMT")),
            ("1 Jul 2025", Some("Tue, 01 Jul 2025 00:00:00 GMT")),
            ("29 Feb 2024 12:00 +0200", Some("Thu, 29 Feb 2024 10:00:00 GMT")),
            ("31 Dec 2025 23:30:00 EST", Some("Thu, 01 Jan 2026 04:30:00 GMT")),
            ("file.html", None),
            ("2026-11-28", None),
            ("2026-11-28T01:02:03Z", None),
            ("July 1 2025", None),
            ("20261301", None),
            ("1 Jul 2025 25:00", None),
        ] {
            assert_eq!(super::of(text).as_deref(), expect, "{text}");
        }
    }
}

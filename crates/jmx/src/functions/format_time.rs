//! `__time` and `__timeShift`: moments in the letters of Java's formats, in UTC.

use crate::arguments::Arguments;
use crate::scope::Scope;

const DAY_MS: i64 = 86_400_000;

pub(super) fn time(call: &Arguments, scope: &mut dyn Scope) -> String {
    let format = call.text(0);
    let now = scope.unix_ms();
    let text = match format.as_str() {
        "" => now.to_string(),
        "YMD" => formatted("yyyyMMdd", now),
        "HMS" => formatted("HHmmss", now),
        "YMDHMS" => formatted("yyyyMMdd-HHmmss", now),
        "USER1" | "USER2" => String::new(),
        format => match format.strip_prefix('/').and_then(|by| by.parse::<i64>().ok()) {
            Some(by) if by > 0 => (now / by).to_string(),
            _ => formatted(format, now),
        },
    };
    call.stored(scope, 1, text)
}

/// `${__timeShift(format,date,shift,locale,variable)}`, of now: a date to begin with is not read.
pub(super) fn time_shift(call: &Arguments, scope: &mut dyn Scope) -> String {
    let format = call.text(0);
    let shift = call.text(2);
    let at = scope.unix_ms().saturating_add(duration_ms(shift.trim()));
    let text = if format.is_empty() { at.to_string() } else { formatted(&format, at) };
    call.stored(scope, 4, text)
}

/// ISO 8601's durations, `P1DT2H`, `-PT5M`, in milliseconds; 0 of what is none.
fn duration_ms(text: &str) -> i64 {
    let (sign, text) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let Some(text) = text.strip_prefix(['P', 'p']) else { return 0 };
    let mut sum = 0.0;
    let mut number = String::new();
    for letter in text.chars() {
        let unit = match letter.to_ascii_uppercase() {
            'T' => continue,
            'D' => DAY_MS as f64,
            'H' => 3_600_000.0,
            'M' => 60_000.0,
            'S' => 1_000.0,
            _ => {
                number.push(letter);
                continue;
            }
        };
        sum += number.parse::<f64>().unwrap_or(0.0) * unit;
        number.clear();
    }
    sign * sum as i64
}

/// A moment in the letters of Java's `DateTimeFormatter`, which are also those of its `SimpleDateFormat`.
fn formatted(format: &str, unix_ms: i64) -> String {
    let date = Date::of(unix_ms);
    let mut text = String::new();
    let letters: Vec<char> = format.chars().collect();
    let mut at = 0;
    while at < letters.len() {
        let letter = letters[at];
        if letter == '\'' {
            let end = letters[at + 1..].iter().position(|other| *other == '\'');
            let end = end.map_or(letters.len(), |end| at + 1 + end);
            match end == at + 1 {
                true => text.push('\''),
                false => text.extend(&letters[at + 1..end]),
            }
            at = end + 1;
            continue;
        }
        let count = letters[at..].iter().take_while(|other| **other == letter).count();
        text.push_str(&date.field(letter, count));
        at += count;
    }
    text
}

/// A moment as a calendar has it.
struct Date {
    year: i64,
    month: i64,
    day: i64,
    ms: i64,
    weekday: i64,
    day_of_year: i64,
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] =
    ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];

impl Date {
    /// By Howard Hinnant's algorithm `civil_from_days`: years begin in March, eras have 400 of them.
    fn of(unix_ms: i64) -> Self {
        let days = unix_ms.div_euclid(DAY_MS);
        let shifted = days + 719_468;
        let era = shifted.div_euclid(146_097);
        let day_of_era = shifted.rem_euclid(146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let from_march = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month = (5 * from_march + 2) / 153;
        let day = from_march - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        let leap = i64::from(year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
        let before = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334][month as usize - 1];
        let day_of_year = before + day + if month > 2 { leap } else { 0 };
        let (ms, weekday) = (unix_ms.rem_euclid(DAY_MS), days.rem_euclid(7));
        Self { year, month, day, ms, weekday, day_of_year }
    }

    /// The value of so many of a letter.
    fn field(&self, letter: char, count: usize) -> String {
        let padded = |value: i64| format!("{value:0count$}");
        let hour = self.ms / 3_600_000;
        let name = |name: &str| if count < 4 { name[..3].to_owned() } else { name.to_owned() };
        match letter {
            'y' | 'u' | 'Y' if count == 2 => format!("{:02}", self.year % 100),
            'y' | 'u' | 'Y' => padded(self.year),
            'M' | 'L' if count > 2 => name(MONTHS[self.month as usize - 1]),
            'M' | 'L' => padded(self.month),
            'd' => padded(self.day),
            'D' => padded(self.day_of_year),
            'E' => name(DAYS[self.weekday as usize]),
            'a' => if hour < 12 { "AM" } else { "PM" }.to_owned(),
            'H' => padded(hour),
            'k' => padded(if hour == 0 { 24 } else { hour }),
            'h' => padded(if hour % 12 == 0 { 12 } else { hour % 12 }),
            'K' => padded(hour % 12),
            'm' => padded(self.ms / 60_000 % 60),
            's' => padded(self.ms / 1_000 % 60),
            'S' => padded(self.ms % 1_000),
            'z' => "UTC".to_owned(),
            'Z' => "+0000".to_owned(),
            'X' => "Z".to_owned(),
            other => other.to_string().repeat(count),
        }
    }
}

//! Calendars, zones and formats of dates.

use std::sync::Arc;

use super::arguments::Arguments;
use super::instant;
use crate::date::{self, Date};
use crate::script::run::{Machine, Outcome, throw};
use crate::script::value::{Instant, InstantKind, Object, Value, lock};

/// The fields of `Calendar`, by their numbers.
const FIELDS: [(&str, i32); 14] = [
    ("YEAR", 1),
    ("MONTH", 2),
    ("WEEK_OF_YEAR", 3),
    ("DATE", 5),
    ("DAY_OF_MONTH", 5),
    ("DAY_OF_YEAR", 6),
    ("DAY_OF_WEEK", 7),
    ("AM_PM", 9),
    ("HOUR", 10),
    ("HOUR_OF_DAY", 11),
    ("MINUTE", 12),
    ("SECOND", 13),
    ("MILLISECOND", 14),
    ("JANUARY", 0),
];

/// The number of a field, of a month or of a day.
pub(super) fn field_number(name: &str) -> Option<i32> {
    const MONTHS: [&str; 12] = [
        "JANUARY",
        "FEBRUARY",
        "MARCH",
        "APRIL",
        "MAY",
        "JUNE",
        "JULY",
        "AUGUST",
        "SEPTEMBER",
        "OCTOBER",
        "NOVEMBER",
        "DECEMBER",
    ];
    const DAYS: [&str; 7] =
        ["SUNDAY", "MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY"];
    let field = FIELDS.iter().find(|(known, _)| *known == name).map(|(_, number)| *number);
    let month = || MONTHS.iter().position(|month| *month == name).map(|at| at as i32);
    let day = || DAYS.iter().position(|day| *day == name).map(|at| at as i32 + 1);
    field.or_else(month).or_else(day)
}

/// A calendar of now.
pub(super) fn now(machine: &mut Machine<'_>) -> Value {
    let (unix_ms, offset_s) = instant::now(machine);
    instant::new(InstantKind::Calendar, unix_ms, offset_s)
}

pub(super) fn statics(
    machine: &mut Machine<'_>,
    class: &str,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    let zone = |name: &str| Value::object(Object::Zone(Arc::from(name)));
    Ok(Some(match (class, name) {
        ("Calendar", "getInstance") => match call.get(0) {
            Value::Object(object) if matches!(*object, Object::Zone(_)) => {
                let (unix_ms, _) = instant::now(machine);
                let offset_s = offset_of(machine, &call.text(0), unix_ms)?;
                instant::new(InstantKind::Calendar, unix_ms, offset_s)
            }
            _ => now(machine),
        },
        ("TimeZone", "getTimeZone") => zone(&call.text(0)),
        ("ZoneId" | "ZoneOffset", "of") => zone(&call.text(0)),
        ("ZoneOffset", "ofHours") => zone(&format!("GMT{:+03}:00", call.long(0).clamp(-18, 18))),
        ("ZoneId", "systemDefault") | ("TimeZone", "getDefault") => zone(""),
        _ => return Ok(None),
    }))
}

/// By how many seconds a zone is ahead of UTC at a moment.
pub(super) fn offset_of(machine: &mut Machine<'_>, zone: &str, unix_ms: i64) -> Outcome<i32> {
    let plain = zone.trim_start_matches("UTC").trim_start_matches("GMT");
    if zone.is_empty() {
        return Ok(machine.context.scope().utc_offset_s(unix_ms));
    }
    if plain.is_empty() || matches!(plain, "Z" | "Etc/UTC" | "Etc/GMT") {
        return Ok(0);
    }
    if let Some(offset_s) = written_offset(plain) {
        return Ok(offset_s);
    }
    let found = machine.context.zone_offset_s(zone, unix_ms);
    found.ok_or_else(|| throw("DateTimeException", format!("Unknown time-zone ID: {zone}")))
}

/// `+2`, `+02:00`, `-0530`, in seconds.
fn written_offset(text: &str) -> Option<i32> {
    let sign = match text.chars().next()? {
        '+' => 1,
        '-' => -1,
        _ => return None,
    };
    let digits: String = text[1..].chars().filter(|letter| *letter != ':').collect();
    let number: i32 = digits.parse().ok()?;
    let (hours, minutes) =
        if digits.len() > 2 { (number / 100, number % 100) } else { (number, 0) };
    (hours <= 18 && minutes < 60).then_some(sign * (hours * 3_600 + minutes * 60))
}

/// The formats of ISO 8601 that a kind is read in.
pub(super) fn iso_formats(kind: InstantKind) -> Vec<String> {
    let times = ["'T'HH:mm:ss.SSS", "'T'HH:mm:ss", "'T'HH:mm"];
    let of = |suffix: &str| times.iter().map(|time| format!("yyyy-MM-dd{time}{suffix}")).collect();
    match kind {
        InstantKind::LocalDate | InstantKind::Date => vec!["yyyy-MM-dd".to_owned()],
        InstantKind::LocalTime => times.iter().map(|time| time[3..].to_owned()).collect(),
        InstantKind::LocalDateTime => of(""),
        _ => of("XXX"),
    }
}

/// The parts of a moment in its zone.
fn parts(found: &Instant) -> Date {
    let local_ms = found.unix_ms.saturating_add(i64::from(found.offset_s) * 1_000);
    Date::of(local_ms, found.offset_s)
}

/// A part of a moment: `getYear`, `getHour`.
pub(super) fn part(found: &Instant, name: &str) -> Option<Value> {
    const DAYS: [&str; 7] =
        ["THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY", "MONDAY", "TUESDAY", "WEDNESDAY"];
    let date = parts(found);
    let is_old = matches!(found.kind, InstantKind::Date);
    Some(Value::whole(match name {
        // `Date` counts years from 1900 and months from 0.
        "getYear" if is_old => date.year - 1_900,
        "getMonth" if is_old => date.month - 1,
        "getDay" if is_old => (date.weekday + 4) % 7,
        "getYear" => date.year,
        "getMonthValue" => date.month,
        "getDate" | "getDayOfMonth" => date.day,
        "getDayOfYear" => date.day_of_year,
        "getHours" | "getHour" => date.ms / 3_600_000,
        "getMinutes" | "getMinute" => date.ms / 60_000 % 60,
        "getSeconds" | "getSecond" => date.ms / 1_000 % 60,
        "getNano" => date.ms % 1_000 * 1_000_000,
        "getDayOfWeek" => return Some(DAYS[date.weekday as usize % 7].into()),
        "getMonth" => {
            return Some(date::format("MMMM", found.unix_ms, found.offset_s).to_uppercase().into());
        }
        _ => return None,
    }))
}

/// A moment so many months later; a day that the month does not have is its last one.
pub(super) fn moved_months(found: &Instant, months: i64) -> i64 {
    let date = parts(found);
    let count =
        (date.year * 12 + date.month - 1).saturating_add(months.clamp(-1_000_000, 1_000_000));
    let (year, month) = (count.div_euclid(12), count.rem_euclid(12) + 1);
    let next = stdx::days_since_1970(year + i64::from(month == 12), month % 12 + 1, 1);
    let last = next - stdx::days_since_1970(year, month, 1);
    let days = stdx::days_since_1970(year, month, date.day.min(last));
    days * date::DAY_MS + date.ms - i64::from(found.offset_s) * 1_000
}

/// A method of a calendar: `add`, `set`, `get`.
pub(super) fn method(
    object: &Object,
    found: &Instant,
    name: &str,
    call: Arguments<'_>,
) -> Option<Value> {
    let Object::Instant(place) = object else { return None };
    if found.kind != InstantKind::Calendar {
        return None;
    }
    let unix_ms = match (name, call.len()) {
        ("get", 1) => return calendar_part(&parts(found), call.long(0)),
        ("add" | "roll", 2) => added(found, call.long(0), call.long(1))?,
        ("set", 2) => added(
            found,
            call.long(0),
            call.long(1) - calendar_part(&parts(found), call.long(0))?.as_long()?,
        )?,
        ("set", 3..) => {
            let part = |at: usize| call.long(at).clamp(-100_000, 100_000);
            let days = stdx::days_since_1970(part(0), part(1).clamp(0, 11) + 1, part(2));
            let time = part(3) * 3_600_000 + part(4) * 60_000 + part(5) * 1_000;
            days * date::DAY_MS + time - i64::from(found.offset_s) * 1_000
        }
        _ => return None,
    };
    lock(place).unix_ms = unix_ms;
    Some(Value::Null)
}

fn calendar_part(date: &Date, field: i64) -> Option<Value> {
    let hour = date.ms / 3_600_000;
    Some(Value::whole(match field {
        1 => date.year,
        2 => date.month - 1,
        3 => (date.day_of_year + 6) / 7,
        5 => date.day,
        6 => date.day_of_year,
        7 => (date.weekday + 4) % 7 + 1,
        9 => hour / 12,
        10 => hour % 12,
        11 => hour,
        12 => date.ms / 60_000 % 60,
        13 => date.ms / 1_000 % 60,
        14 => date.ms % 1_000,
        _ => return None,
    }))
}

fn added(found: &Instant, field: i64, amount: i64) -> Option<i64> {
    let unit = match field {
        1 => return Some(moved_months(found, amount.checked_mul(12)?)),
        2 => return Some(moved_months(found, amount)),
        3 => 7 * date::DAY_MS,
        5..=7 => date::DAY_MS,
        9 => date::DAY_MS / 2,
        10 | 11 => 3_600_000,
        12 => 60_000,
        13 => 1_000,
        14 => 1,
        _ => return None,
    };
    found.unix_ms.checked_add(amount.checked_mul(unit)?)
}

/// A moment in a format.
pub(super) fn written(
    machine: &mut Machine<'_>,
    found: &Instant,
    format: &Value,
) -> Outcome<Value> {
    let (pattern, zone) = match format {
        Value::Object(object) => match &**object {
            Object::DateFormat(pattern, zone) => (pattern.clone(), lock(zone).clone()),
            _ => (format.to_string(), None),
        },
        other => (other.to_string(), None),
    };
    let offset_s = match zone {
        Some(zone) => offset_of(machine, &zone, found.unix_ms)?,
        None => found.offset_s,
    };
    machine.text(date::format(&pattern, found.unix_ms, offset_s))
}

/// A method of `SimpleDateFormat` and `DateTimeFormatter`.
pub(super) fn format_method(
    machine: &mut Machine<'_>,
    object: &Object,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    let Object::DateFormat(pattern, zone) = object else { return Ok(None) };
    let own_zone = lock(zone).clone();
    Ok(Some(match (name, call.len()) {
        ("setTimeZone", 1) => {
            *lock(zone) = Some(Arc::from(call.text(0)));
            Value::Null
        }
        ("withZone", 1) => {
            let zone = Some(Arc::from(call.text(0)));
            Value::object(Object::DateFormat(pattern.clone(), zone.into()))
        }
        ("setLenient" | "withLocale", _) => Value::Null,
        ("toPattern", 0) => pattern.as_str().into(),
        ("format", 1) => {
            let Some((unix_ms, mut offset_s)) = instant::of_value(&call.get(0)) else {
                return Err(throw(
                    "IllegalArgumentException",
                    "Cannot format given Object as a Date",
                ));
            };
            if call.get(0).is_number() {
                offset_s = machine.context.scope().utc_offset_s(unix_ms);
            }
            if let Some(zone) = own_zone {
                offset_s = offset_of(machine, &zone, unix_ms)?;
            }
            machine.text(date::format(pattern, unix_ms, offset_s))?
        }
        ("parse", 1) => {
            let (now_ms, local_s) = instant::now(machine);
            let offset_s = match own_zone {
                Some(zone) => offset_of(machine, &zone, now_ms)?,
                None => local_s,
            };
            let read = date::parse(pattern, &call.text(0), (now_ms, offset_s));
            let missing =
                || throw("ParseException", format!("Unparseable date: \"{}\"", call.text(0)));
            instant::new(InstantKind::Date, read.ok_or_else(missing)?, local_s)
        }
        _ => return Ok(None),
    }))
}

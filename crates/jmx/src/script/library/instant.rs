//! Dates and times: `Date`, `Instant`, `LocalDate` and their kin. Local ones are kept as if their zone were UTC.

use std::sync::Arc;

use super::arguments::Arguments;
use super::calendar;
use crate::date;
use crate::script::run::{Machine, Outcome, throw};
use crate::script::value::{Instant, InstantKind, Object, Value, lock};

/// A moment of a kind.
pub(super) fn new(kind: InstantKind, unix_ms: i64, offset_s: i32) -> Value {
    Value::object(Object::Instant(Instant { kind, unix_ms, offset_s }.into()))
}

/// A moment as milliseconds since 1970, and the seconds that its zone is ahead.
pub(super) fn of_value(value: &Value) -> Option<(i64, i32)> {
    match value {
        Value::Object(object) => object.instant().map(|found| (found.unix_ms, found.offset_s)),
        other => other.as_long().map(|unix_ms| (unix_ms, 0)),
    }
}

/// Now, with the local zone.
pub(super) fn now(machine: &mut Machine<'_>) -> (i64, i32) {
    let scope = machine.context.scope();
    let unix_ms = scope.unix_ms();
    (unix_ms, scope.utc_offset_s(unix_ms))
}

/// `new Date()`, `new Date(ms)`.
pub(super) fn new_date(machine: &mut Machine<'_>, call: Arguments<'_>) -> Outcome<Value> {
    let (now_ms, _) = now(machine);
    let unix_ms = match (call.len(), call.get(0)) {
        (0, _) => now_ms,
        (1, Value::Text(text)) => {
            let read = date::parse("yyyy-MM-dd", &text, (now_ms, 0));
            read.ok_or_else(|| throw("IllegalArgumentException", text.to_string()))?
        }
        (1, value) => of_value(&value).map_or(0, |(unix_ms, _)| unix_ms),
        // A year from 1900, a month from 0.
        _ => {
            let days = stdx::days_since_1970(
                call.long(0).clamp(-100_000, 100_000) + 1_900,
                call.long(1).clamp(0, 11) + 1,
                call.long(2),
            );
            days * date::DAY_MS + call.long(3) * 3_600_000 + call.long(4) * 60_000
        }
    };
    let offset_s = machine.context.scope().utc_offset_s(unix_ms);
    Ok(new(InstantKind::Date, unix_ms, offset_s))
}

/// The milliseconds of a unit of time.
pub(super) fn unit_ms(unit: &str) -> Option<i64> {
    Some(match unit.trim_end_matches('S') {
        "MILLI" | "MILLISECOND" => 1,
        "SECOND" => 1_000,
        "MINUTE" => 60_000,
        "HOUR" => 3_600_000,
        "DAY" => date::DAY_MS,
        "WEEK" => 7 * date::DAY_MS,
        _ => return None,
    })
}

/// The milliseconds of a unit that is an argument.
fn unit_of(call: Arguments<'_>, at: usize) -> Option<i64> {
    match call.get(at) {
        Value::Object(object) => match &*object {
            Object::Duration(ms) => Some(*ms),
            _ => None,
        },
        other => unit_ms(&other.to_string()),
    }
}

/// A moment that is so many days later.
pub(crate) fn moved_days(value: &Value, days: i64) -> Outcome<Value> {
    let Value::Object(object) = value else { return Ok(Value::Null) };
    let Some(found) = object.instant() else { return Ok(Value::Null) };
    Ok(new(
        found.kind,
        found.unix_ms.saturating_add(days.saturating_mul(date::DAY_MS)),
        found.offset_s,
    ))
}

fn kind_of(class: &str) -> Option<InstantKind> {
    Some(match class {
        "LocalDate" => InstantKind::LocalDate,
        "LocalDateTime" => InstantKind::LocalDateTime,
        "LocalTime" => InstantKind::LocalTime,
        "Instant" => InstantKind::Instant,
        "ZonedDateTime" | "OffsetDateTime" => InstantKind::Zoned,
        "Date" => InstantKind::Date,
        _ => return None,
    })
}

fn is_local(kind: InstantKind) -> bool {
    matches!(kind, InstantKind::LocalDate | InstantKind::LocalDateTime | InstantKind::LocalTime)
}

/// A moment as a kind has it: local ones by the clock on the wall.
fn as_kind(kind: InstantKind, (unix_ms, offset_s): (i64, i32)) -> Value {
    if !is_local(kind) {
        return new(kind, unix_ms, offset_s);
    }
    let local = unix_ms.saturating_add(i64::from(offset_s) * 1_000);
    let local = match kind {
        InstantKind::LocalDate => local - local.rem_euclid(date::DAY_MS),
        InstantKind::LocalTime => local.rem_euclid(date::DAY_MS),
        _ => local,
    };
    new(kind, local, 0)
}

pub(super) fn statics(
    machine: &mut Machine<'_>,
    class: &str,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    if class == "Duration" {
        return Ok(duration_static(name, call));
    }
    if class == "DateTimeFormatter" {
        let pattern = (name == "ofPattern").then(|| call.text(0));
        return Ok(pattern.map(|pattern| Value::object(Object::DateFormat(pattern, None.into()))));
    }
    if class == "ChronoUnit" {
        return Ok(None);
    }
    let Some(kind) = kind_of(class) else { return Ok(None) };
    Ok(Some(match (name, call.len()) {
        ("now", _) => {
            let (unix_ms, local_s) = now(machine);
            let offset_s = match (call.len(), kind) {
                (_, InstantKind::Instant) => 0,
                (0, _) => local_s,
                _ => calendar::offset_of(machine, &call.text(0), unix_ms)?,
            };
            as_kind(kind, (unix_ms, offset_s))
        }
        ("of", 2..) => new(kind, of_parts(kind, call), 0),
        ("parse", 1 | 2) => parsed(machine, kind, call)?,
        ("ofEpochMilli", 1) => new(kind, call.long(0), 0),
        ("ofEpochSecond", _) => new(kind, call.long(0).saturating_mul(1_000), 0),
        ("ofEpochDay", 1) => new(kind, call.long(0).saturating_mul(date::DAY_MS), 0),
        ("ofInstant", 2) => {
            let (unix_ms, _) = of_value(&call.get(0)).unwrap_or_default();
            let offset_s = calendar::offset_of(machine, &call.text(1), unix_ms)?;
            as_kind(kind, (unix_ms, offset_s))
        }
        ("from", 1) => as_kind(kind, of_value(&call.get(0)).unwrap_or_default()),
        _ => return Ok(None),
    }))
}

/// The milliseconds of a year, a month and so on; of a time its hours and so on.
fn of_parts(kind: InstantKind, call: Arguments<'_>) -> i64 {
    let part = |at: usize| call.long(at).clamp(-1_000_000, 1_000_000);
    let time =
        |from: usize| part(from) * 3_600_000 + part(from + 1) * 60_000 + part(from + 2) * 1_000;
    match kind {
        InstantKind::LocalTime => time(0),
        _ => stdx::days_since_1970(part(0), part(1).clamp(1, 12), part(2)) * date::DAY_MS + time(3),
    }
}

/// A moment that a text is, in a format or in that of ISO 8601.
fn parsed(machine: &mut Machine<'_>, kind: InstantKind, call: Arguments<'_>) -> Outcome<Value> {
    // Groovy's `Date.parse` has the format before the text.
    let (text, format) = match (kind, call.len()) {
        (_, 1) => (call.text(0), Value::Null),
        (InstantKind::Date, _) => (call.text(1), call.get(0)),
        _ => (call.text(0), call.get(1)),
    };
    let (now_ms, local_s) = now(machine);
    let offset_s = if kind == InstantKind::Date { local_s } else { 0 };
    let formats = match &format {
        Value::Null => calendar::iso_formats(kind),
        Value::Object(object) => match &**object {
            Object::DateFormat(pattern, _) => vec![pattern.clone()],
            _ => Vec::new(),
        },
        other => vec![other.to_string()],
    };
    let found = formats.iter().find_map(|format| date::parse(format, &text, (now_ms, offset_s)));
    let unix_ms = found.ok_or_else(|| {
        throw("DateTimeParseException", format!("Text '{text}' could not be parsed"))
    })?;
    Ok(new(kind, unix_ms, offset_s))
}

/// A constant of the classes of time.
pub(super) fn constant(class: &str, name: &str) -> Option<Value> {
    let format = |pattern: &str| Value::object(Object::DateFormat(pattern.to_owned(), None.into()));
    Some(match (class, name) {
        ("DateTimeFormatter", "ISO_LOCAL_DATE" | "ISO_DATE") => format("yyyy-MM-dd"),
        ("DateTimeFormatter", "ISO_LOCAL_TIME" | "ISO_TIME") => format("HH:mm:ss.SSS"),
        ("DateTimeFormatter", "ISO_LOCAL_DATE_TIME" | "ISO_DATE_TIME") => {
            format("yyyy-MM-dd'T'HH:mm:ss.SSS")
        }
        ("DateTimeFormatter", "ISO_INSTANT") => format("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'"),
        ("DateTimeFormatter", "ISO_OFFSET_DATE_TIME") => format("yyyy-MM-dd'T'HH:mm:ss.SSSXXX"),
        ("DateTimeFormatter", "BASIC_ISO_DATE") => format("yyyyMMdd"),
        ("ZoneOffset", "UTC") => Value::object(Object::Zone(Arc::from("UTC"))),
        ("Instant", "EPOCH") => new(InstantKind::Instant, 0, 0),
        ("Duration", "ZERO") => Value::object(Object::Duration(0)),
        _ => return None,
    })
}

/// A method of a moment.
pub(super) fn method(
    machine: &mut Machine<'_>,
    object: &Object,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    let Some(found) = object.instant() else { return Ok(None) };
    if let Some(value) = calendar::method(object, &found, name, call) {
        return Ok(Some(value));
    }
    if let Some(value) = moved(&found, name, call) {
        return Ok(Some(value));
    }
    if let Some(value) = calendar::part(&found, name) {
        return Ok(Some(value));
    }
    let other = || of_value(&call.get(0)).unwrap_or_default().0;
    let (at, offset_s) = (found.unix_ms, found.offset_s);
    Ok(Some(match (name, call.len()) {
        ("getTime", 0) if found.kind == InstantKind::Calendar => {
            new(InstantKind::Date, at, offset_s)
        }
        ("getTime" | "getTimeInMillis" | "toEpochMilli", 0) => Value::Long(at),
        ("getEpochSecond" | "toEpochSecond", _) => Value::Long(at.div_euclid(1_000)),
        ("toEpochDay", 0) => Value::Long(at.div_euclid(date::DAY_MS)),
        ("before" | "isBefore", 1) => (at < other()).into(),
        ("after" | "isAfter", 1) => (at > other()).into(),
        ("isEqual", 1) => (at == other()).into(),
        ("setTime" | "setTimeInMillis", 1) => {
            if let Object::Instant(instant) = object {
                lock(instant).unix_ms = other();
            }
            Value::Null
        }
        ("format", 1) => calendar::written(machine, &found, &call.get(0))?,
        ("format", 2) => {
            let offset_s = calendar::offset_of(machine, &call.text(1), at)?;
            machine.text(date::format(&call.text(0), at, offset_s))?
        }
        ("toInstant", _) => new(InstantKind::Instant, at, 0),
        ("toLocalDate", 0) => as_kind(InstantKind::LocalDate, (at, offset_s)),
        ("toLocalDateTime", 0) => as_kind(InstantKind::LocalDateTime, (at, offset_s)),
        ("toLocalTime", 0) => as_kind(InstantKind::LocalTime, (at, offset_s)),
        ("atStartOfDay", 0) => new(InstantKind::LocalDateTime, at, 0),
        ("atZone" | "atOffset" | "withZoneSameInstant", 1) => {
            let ahead_s = calendar::offset_of(machine, &call.text(0), at)?;
            let utc = if is_local(found.kind) { at - i64::from(ahead_s) * 1_000 } else { at };
            new(InstantKind::Zoned, utc, ahead_s)
        }
        ("truncatedTo", 1) => {
            let unit = unit_of(call, 0).unwrap_or(1).max(1);
            new(found.kind, at - at.rem_euclid(unit), offset_s)
        }
        ("until", 2) => Value::Long((other() - at) / unit_of(call, 1).unwrap_or(1).max(1)),
        ("clone", 0) => new(found.kind, at, offset_s),
        _ => return Ok(None),
    }))
}

/// `plusDays(1)`, `minusHours(2)`, `plus(3, ChronoUnit.DAYS)`: the moment so much later.
fn moved(found: &Instant, name: &str, call: Arguments<'_>) -> Option<Value> {
    let (rest, sign) = match name.strip_prefix("plus") {
        Some(rest) => (rest, 1),
        None => (name.strip_prefix("minus")?, -1),
    };
    let amount = call.long(0).checked_mul(sign)?;
    let unit = match (rest, call.len()) {
        ("", 2) => match unit_of(call, 1) {
            Some(unit) => {
                let unix_ms = found.unix_ms.checked_add(amount.checked_mul(unit)?)?;
                return Some(new(found.kind, unix_ms, found.offset_s));
            }
            None => call.text(1),
        },
        ("", _) => match call.get(0) {
            Value::Object(object) => match &*object {
                Object::Duration(ms) => {
                    return Some(new(found.kind, found.unix_ms + ms * sign, found.offset_s));
                }
                _ => return None,
            },
            _ => "DAYS".to_owned(),
        },
        (rest, _) => rest.to_uppercase(),
    };
    let unix_ms = match &*unit {
        "MONTHS" => calendar::moved_months(found, amount),
        "YEARS" => calendar::moved_months(found, amount.checked_mul(12)?),
        unit => found.unix_ms.checked_add(amount.checked_mul(unit_ms(unit)?)?)?,
    };
    Some(new(found.kind, unix_ms, found.offset_s))
}

fn duration_static(name: &str, call: Arguments<'_>) -> Option<Value> {
    let ms = match name {
        "between" => of_value(&call.get(1))?.0 - of_value(&call.get(0))?.0,
        "parse" => date::duration_ms(&call.text(0))?,
        _ => {
            let unit = name.strip_prefix("of")?.to_uppercase();
            call.long(0).checked_mul(unit_ms(&unit)?)?
        }
    };
    Some(Value::object(Object::Duration(ms)))
}

/// A method of a duration, or of a unit of time.
pub(super) fn duration_method(
    machine: &mut Machine<'_>,
    ms: i64,
    name: &str,
    call: Arguments<'_>,
) -> Outcome<Option<Value>> {
    let scaled = call.long(0).saturating_mul(ms);
    let in_unit = |rest: &str| unit_ms(&rest.to_uppercase().replace("PART", ""));
    Ok(Some(match (name, call.len()) {
        // `TimeUnit.SECONDS.sleep(1)`, `TimeUnit.SECONDS.toMillis(1)`.
        ("sleep", 1) => {
            machine.context.sleep(u64::try_from(scaled).unwrap_or(0));
            Value::Null
        }
        // `ChronoUnit.DAYS.between(a, b)`.
        ("between", 2) => {
            let at = |at: usize| of_value(&call.get(at)).map_or(0, |(unix_ms, _)| unix_ms);
            Value::Long((at(1) - at(0)) / ms.max(1))
        }
        ("getSeconds" | "toSeconds", 0) => Value::Long(ms / 1_000),
        ("plus", 1) => match call.get(0) {
            Value::Object(object) => match &*object {
                Object::Duration(other) => Value::object(Object::Duration(ms + other)),
                _ => return Ok(None),
            },
            _ => return Ok(None),
        },
        (name, count) => {
            let Some(unit) = name.strip_prefix("to").and_then(in_unit) else { return Ok(None) };
            Value::Long(if count == 1 { scaled } else { ms } / unit)
        }
    }))
}

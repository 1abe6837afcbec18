//! Functions of moments: `__time`, `__timeShift`, `__RandomDate`, `__dateTimeConvert`.

use crate::arguments::Arguments;
use crate::date::{self, DAY_MS};
use crate::functions::numbers::between;
use crate::scope::Scope;
use crate::thrown::Thrown;

/// A moment in a format, in the time of the place.
fn local(format: &str, unix_ms: i64, scope: &dyn Scope) -> String {
    date::format(format, unix_ms, scope.utc_offset_s(unix_ms))
}

/// A moment that is read; what it leaves out is of today's year.
fn read(format: &str, text: &str, scope: &dyn Scope) -> Option<i64> {
    let now = scope.unix_ms();
    date::parse(format, text, (now, scope.utc_offset_s(now)))
}

pub(super) fn time(call: &Arguments, scope: &mut dyn Scope) -> Result<String, Thrown> {
    let written = call.text(0);
    let now = scope.unix_ms();
    let named = ["YMD", "HMS", "YMDHMS", "USER1", "USER2"].contains(&&*written);
    let text = match written.as_str() {
        "" => now.to_string(),
        // Properties give these another format.
        name if named => {
            let default = match name {
                "YMD" => "yyyyMMdd",
                "HMS" => "HHmmss",
                "YMDHMS" => "yyyyMMdd-HHmmss",
                _ => "",
            };
            let property = scope.property(&format!("time.{name}"));
            local(&property.unwrap_or_else(|| default.to_owned()), now, scope)
        }
        format => match format.strip_prefix('/').and_then(|by| by.parse::<i64>().ok()) {
            Some(by) if by > 0 => (now / by).to_string(),
            _ if !date::is_format(format) => {
                return Err(Thrown::argument(format!("Unable to parse date format {format}")));
            }
            _ => local(format, now, scope),
        },
    };
    Ok(call.stored(scope, 1, text))
}

/// `${__timeShift(format,date,shift,locale,variable)}`; of four arguments the last names the variable.
pub(super) fn time_shift(call: &Arguments, scope: &mut dyn Scope) -> String {
    let format = call.text(0).trim().to_owned();
    if !date::is_format(&format) {
        scope.log("ERROR", &format!("Format date pattern '{format}' is invalid"));
        return String::new();
    }
    let date = call.text(1);
    let shift = call.text(2);
    let begin = match (date.trim(), format.as_str()) {
        ("", _) => None,
        (date, "") => date.parse().ok(),
        (date, format) => read(format, date, scope),
    };
    let begin = begin.unwrap_or_else(|| scope.unix_ms());
    let at = begin.saturating_add(date::duration_ms(shift.trim()).unwrap_or(0));
    let text = if format.is_empty() { at.to_string() } else { local(&format, at, scope) };
    let variable = if call.values.len() > 4 { 4 } else { 3 };
    call.stored(scope, variable, text)
}

/// `${__RandomDate(format,from,to,locale,variable)}`: a day from the first on, before the second.
pub(super) fn random_date(call: &Arguments, scope: &mut dyn Scope) -> String {
    let format = call.text(0).trim().to_owned();
    let format = if format.is_empty() { "yyyy-MM-dd".to_owned() } else { format };
    let day = |text: String, scope: &dyn Scope| {
        let moment = match text.trim() {
            "" => Some(scope.unix_ms()),
            text => read(&format, text, scope),
        }?;
        let offset_ms = i64::from(scope.utc_offset_s(moment)) * 1_000;
        Some((moment + offset_ms).div_euclid(DAY_MS))
    };
    let (from, to) = (day(call.text(1), scope).unwrap_or(0), day(call.text(2), scope).unwrap_or(0));
    if to <= from {
        scope.log("ERROR", &format!("End Date '{}' must be after the start", call.text(2)));
        return String::new();
    }
    let day = between(scope, from, to - 1);
    let text = date::format(&format, day * DAY_MS, 0);
    call.stored(scope, 4, text)
}

/// `${__dateTimeConvert(text,from,to,variable)}`; without a format the text is in milliseconds.
pub(super) fn convert(call: &Arguments, scope: &mut dyn Scope) -> String {
    let (text, from, to) = (call.text(0), call.text(1), call.text(2));
    let moment = match from.is_empty() {
        true => text.parse().ok(),
        false => read(&from, &text, scope),
    };
    let Some(moment) = moment else {
        scope.log("ERROR", &format!("Error while converting '{text}' from '{from}' to '{to}'"));
        return String::new();
    };
    let text = local(&to, moment, scope);
    call.stored(scope, 3, text)
}

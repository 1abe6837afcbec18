//! Dates of `-z` as HTTP writes them: of HTTP itself, and of ISO 8601 in UTC.

/// A date as in `Sun, 06 Nov 1994 08:49:37 GMT`; none if it is of another form.
pub(super) fn of(text: &str) -> Option<String> {
    let text = text.trim();
    let is_http = text.ends_with(" GMT") && text.get(3..5) == Some(", ") && text.len() == 29;
    if is_http { Some(text.to_owned()) } else { of_iso(text) }
}

/// `2026-01-02`, `2026-01-02 03:04:05`, `2026-01-02T03:04:05Z`.
fn of_iso(text: &str) -> Option<String> {
    let (date, time) = text.split_once(['T', ' ']).unwrap_or((text, "00:00:00"));
    let mut parts = date.splitn(3, '-').map(str::parse::<u32>);
    let (year, month, day) = (parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?);
    let time = time.trim_end_matches('Z').trim_end_matches(" GMT").trim_end_matches(" UTC");
    let is_time = time.len() == 8
        && time.char_indices().all(|(at, char)| match at {
            2 | 5 => char == ':',
            _ => char.is_ascii_digit(),
        });
    let is_date = (1..=12).contains(&month) && (1..=31).contains(&day) && year > 1000;
    if !is_time || !is_date {
        return None;
    }
    let month_name = MONTHS[month as usize - 1];
    let weekday = WEEKDAYS[weekday(year, month, day)];
    Some(format!("{weekday}, {day:02} {month_name} {year} {time} GMT"))
}

/// Sakamoto's rule; Sunday is 0.
fn weekday(year: u32, month: u32, day: u32) -> usize {
    const SHIFTS: [u32; 12] = [0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4];
    let year = if month < 3 { year - 1 } else { year };
    let sum = year + year / 4 - year / 100 + year / 400 + SHIFTS[month as usize - 1] + day;
    sum as usize % 7
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const WEEKDAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

#[cfg(test)]
mod tests {
    #[test]
    fn dates_become_those_of_http() {
        for (text, expect) in [
            ("2026-11-28", Some("Sat, 28 Nov 2026 00:00:00 GMT")),
            ("2024-02-29T12:00:01Z", Some("Thu, 29 Feb 2024 12:00:01 GMT")),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some("Sun, 06 Nov 1994 08:49:37 GMT")),
            ("file.html", None),
            ("2026-13-01", None),
        ] {
            assert_eq!(super::of(text).as_deref(), expect, "{text}");
        }
    }
}

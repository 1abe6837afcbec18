//! Times of HARs: ISO 8601 with any number of digits and any time zone.

use stdx::days_since_1970;

/// The milliseconds since 1970 of `2026-11-27T04:10:09.723Z`, `…+02:00`; none if it is no such time.
pub(super) fn milliseconds(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = bytes.get(from..to)?;
        digits
            .iter()
            .all(u8::is_ascii_digit)
            .then(|| digits.iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')))
    };
    let separators = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if separators.iter().any(|(at, char)| bytes.get(*at) != Some(char)) {
        return None;
    }
    let day = days_since_1970(number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let second = number(11, 13)? * 3600 + number(14, 16)? * 60 + number(17, 19)?;
    let mut at = 19;
    let mut fraction = 0;
    if bytes.get(at) == Some(&b'.') {
        let digits = bytes[at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        for place in 0..3 {
            let digit = if place < digits { i64::from(bytes[at + 1 + place] - b'0') } else { 0 };
            fraction = fraction * 10 + digit;
        }
        at += 1 + digits;
    }
    let offset_s = match bytes.get(at) {
        Some(sign @ (b'+' | b'-')) => {
            let minutes = if bytes.get(at + 3) == Some(&b':') { at + 4 } else { at + 3 };
            let offset = number(at + 1, at + 3)? * 3600 + number(minutes, minutes + 2)? * 60;
            if *sign == b'+' { offset } else { -offset }
        }
        _ => 0,
    };
    Some((day * 86_400 + second - offset_s) * 1000 + fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_all_writers_are_read() {
        for (text, expect) in [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("2026-11-27T04:10:09.723Z", Some(1_795_752_609_723)),
            ("2026-11-27T06:10:09.7230000+02:00", Some(1_795_752_609_723)),
            ("2026-11-27T04:10:09.7+0000", Some(1_795_752_609_700)),
            ("2024-02-29T23:59:59Z", Some(1_709_251_199_000)),
            ("yesterday", None),
            ("", None),
        ] {
            assert_eq!(milliseconds(text), expect, "{text}");
        }
    }
}

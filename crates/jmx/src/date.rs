//! Moments in the letters of Java's formats, `yyyy-MM-dd'T'HH:mm:ss.SSSX`: written and read.

/// Milliseconds of a day.
pub(crate) const DAY_MS: i64 = 86_400_000;

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

/// A moment in a format of Java's `SimpleDateFormat`, so many seconds ahead of UTC.
#[must_use]
pub fn format(format: &str, unix_ms: i64, offset_s: i32) -> String {
    let date = Date::of(unix_ms.saturating_add(i64::from(offset_s) * 1_000), offset_s);
    let pieces = pieces(format).into_iter().map(|piece| match piece {
        Piece::Literal(text) => text,
        Piece::Field(letter, count) => date.field(letter, count),
    });
    pieces.collect()
}

/// A part of a format.
#[derive(Debug, PartialEq)]
enum Piece {
    Literal(String),
    /// A letter, and how often it stands there.
    Field(char, usize),
}

/// Letters of a format at most: none that a plan means has as many.
const LETTERS_MAX: usize = 1_000;

/// The parts of a format; of one that is too long, those of its beginning.
/// Whether Java's `DateTimeFormatter` takes a text for a pattern: all of its letters mean something, and quotes have an end.
pub(crate) fn is_format(format: &str) -> bool {
    const LETTERS: &str = "GuyDMLdQqYwWEecFahKkHmsSAnNVvzOXxZpB";
    let mut is_quoted = false;
    let is_known = format.chars().all(|letter| {
        is_quoted ^= letter == '\'';
        is_quoted
            || match letter {
                '#' | '{' | '}' => false,
                letter => !letter.is_ascii_alphabetic() || LETTERS.contains(letter),
            }
    });
    is_known && !is_quoted
}

fn pieces(format: &str) -> Vec<Piece> {
    let letters: Vec<char> = format.chars().take(LETTERS_MAX).collect();
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < letters.len() {
        let letter = letters[at];
        if letter == '\'' {
            let end = letters[at + 1..].iter().position(|other| *other == '\'');
            let end = end.map_or(letters.len(), |end| at + 1 + end);
            let text: String = letters[at + 1..end].iter().collect();
            pieces.push(Piece::Literal(if text.is_empty() { "'".to_owned() } else { text }));
            at = end + 1;
            continue;
        }
        let count = letters[at..].iter().take_while(|other| **other == letter).count();
        pieces.push(match letter.is_ascii_alphabetic() {
            true => Piece::Field(letter, count),
            false => Piece::Literal(letter.to_string().repeat(count)),
        });
        at += count;
    }
    pieces
}

/// A moment as a calendar has it.
pub(crate) struct Date {
    pub(crate) year: i64,
    pub(crate) month: i64,
    pub(crate) day: i64,
    /// Milliseconds of the day.
    pub(crate) ms: i64,
    /// From 0, a Thursday.
    pub(crate) weekday: i64,
    pub(crate) day_of_year: i64,
    offset_s: i32,
}

impl Date {
    /// Of milliseconds since 1970 by the local clock, which is so many seconds ahead of UTC.
    pub(crate) fn of(local_ms: i64, offset_s: i32) -> Self {
        let days = local_ms.div_euclid(DAY_MS);
        let (year, month, day) = stdx::date_of_day(days);
        let day_of_year = days - stdx::days_since_1970(year, 1, 1) + 1;
        let (ms, weekday) = (local_ms.rem_euclid(DAY_MS), days.rem_euclid(7));
        Self { year, month, day, ms, weekday, day_of_year, offset_s }
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
            // Monday is the first.
            'e' | 'c' => ((self.weekday + 3) % 7 + 1).to_string(),
            'a' => if hour < 12 { "AM" } else { "PM" }.to_owned(),
            'H' => padded(hour),
            'k' => padded(if hour == 0 { 24 } else { hour }),
            'h' => padded(if hour % 12 == 0 { 12 } else { hour % 12 }),
            'K' => padded(hour % 12),
            'm' => padded(self.ms / 60_000 % 60),
            's' => padded(self.ms / 1_000 % 60),
            'S' => fraction(self.ms % 1_000, count),
            'n' => padded(self.ms % 1_000 * 1_000_000),
            'z' | 'V' if self.offset_s == 0 => "UTC".to_owned(),
            'z' | 'V' => format!("GMT{}", offset(self.offset_s, ":")),
            'X' if self.offset_s == 0 => "Z".to_owned(),
            'X' | 'x' if count == 3 => offset(self.offset_s, ":"),
            'X' | 'x' if count == 1 && self.offset_s % 3_600 == 0 => {
                offset(self.offset_s, "")[..3].to_owned()
            }
            'Z' | 'X' | 'x' => offset(self.offset_s, ""),
            'G' => "AD".to_owned(),
            other => other.to_string().repeat(count),
        }
    }
}

/// So many digits of a second's fraction.
fn fraction(ms: i64, count: usize) -> String {
    let digits = format!("{ms:03}");
    match count {
        1..=3 => digits[..count].to_owned(),
        _ => digits + &"0".repeat(count.min(9) - 3),
    }
}

fn offset(offset_s: i32, colon: &str) -> String {
    let sign = if offset_s < 0 { '-' } else { '+' };
    let minutes = offset_s.unsigned_abs() / 60;
    format!("{sign}{:02}{colon}{:02}", minutes / 60, minutes % 60)
}

/// Reads a moment; what the format leaves out is the first of the year `now` is in, at midnight, at `offset_s` from UTC.
/// `None` where the text is not in the format.
pub(crate) fn parse(format: &str, text: &str, now: (i64, i32)) -> Option<i64> {
    let (now_ms, mut offset_s) = now;
    let today = Date::of(now_ms.saturating_add(i64::from(offset_s) * 1_000), offset_s);
    let (mut year, mut month, mut day) = (today.year, 1, 1);
    let (mut ms, mut is_afternoon) = (0, None);
    let mut rest = text;
    let all = pieces(format);
    for (at, piece) in all.iter().enumerate() {
        let (letter, count) = match piece {
            Piece::Literal(literal) => {
                rest = rest.strip_prefix(literal.as_str())?;
                continue;
            }
            Piece::Field(letter, count) => (*letter, *count),
        };
        // Digits that follow one another without a sign between are counted.
        let is_tight = matches!(all.get(at + 1), Some(Piece::Field(..)));
        let mut number = |letters_max: usize| {
            let max = if is_tight { count } else { letters_max };
            let digits = rest.bytes().take(max).take_while(u8::is_ascii_digit).count();
            let value: i64 = rest[..digits].parse().ok()?;
            rest = &rest[digits..];
            Some((value, digits))
        };
        match letter {
            'y' | 'u' if count == 2 => year = 2_000 + number(2)?.0,
            'y' | 'u' => year = number(9)?.0,
            'M' | 'L' if count > 2 => {
                let found = (1..).zip(MONTHS).find_map(|(number, name)| {
                    let name = if count == 3 { &name[..3] } else { name };
                    Some((number, strip_word(rest, name)?))
                });
                (month, rest) = found?;
            }
            'M' | 'L' => month = number(2)?.0,
            'd' => day = number(2)?.0,
            'E' => {
                let left = DAYS.iter().find_map(|name| {
                    strip_word(rest, name).or_else(|| strip_word(rest, &name[..3]))
                });
                rest = left?;
            }
            'H' | 'k' => ms += number(2)?.0 % 24 * 3_600_000,
            'h' | 'K' => ms += number(2)?.0 % 12 * 3_600_000,
            'm' => ms += number(2)?.0 * 60_000,
            's' => ms += number(2)?.0 * 1_000,
            'S' => {
                let (value, digits) = number(9)?;
                ms += (value as f64 / 10_f64.powi(digits as i32) * 1_000.0).round() as i64;
            }
            'a' => {
                let left = strip_word(rest, "AM").map(|left| (false, left));
                let (afternoon, left) =
                    left.or_else(|| strip_word(rest, "PM").map(|left| (true, left)))?;
                (is_afternoon, rest) = (Some(afternoon), left);
            }
            'Z' | 'X' | 'x' | 'z' => (offset_s, rest) = parse_offset(rest)?,
            _ => return None,
        }
    }
    let is_date = (1..=12).contains(&month) && (1..=31).contains(&day) && ms < DAY_MS;
    if !rest.is_empty() || !is_date {
        return None;
    }
    ms += if is_afternoon == Some(true) { DAY_MS / 2 } else { 0 };
    let local_ms = stdx::days_since_1970(year, month, day).checked_mul(DAY_MS)?.checked_add(ms)?;
    Some(local_ms - i64::from(offset_s) * 1_000)
}

/// What follows a word, whatever the size of its letters.
fn strip_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let begin = text.get(..word.len())?;
    begin.eq_ignore_ascii_case(word).then(|| &text[word.len()..])
}

/// `Z`, `UTC`, `+01`, `+0100`, `+01:00`: in seconds, and what follows.
fn parse_offset(text: &str) -> Option<(i32, &str)> {
    for word in ["UTC", "GMT", "Z"] {
        if let Some(left) = text.strip_prefix(word) {
            return Some((0, left));
        }
    }
    let sign = match text.chars().next()? {
        '+' => 1,
        '-' => -1,
        _ => return None,
    };
    let hours: i32 = text.get(1..3)?.parse().ok()?;
    let left = &text[3..];
    let left = left.strip_prefix(':').unwrap_or(left);
    let minutes = left.get(..2).and_then(|digits| digits.parse::<i32>().ok());
    let left = if minutes.is_some() { &left[2..] } else { left };
    Some((sign * (hours * 3_600 + minutes.unwrap_or(0) * 60), left))
}

/// ISO 8601's durations as Java reads them, `P1DT2H`, `-PT5M`, `PT-1.5S`, in milliseconds; `None` of what is none.
pub(crate) fn duration_ms(text: &str) -> Option<i64> {
    let (sign, text) = text.strip_prefix('-').map_or((1.0, text), |rest| (-1.0, rest));
    let text = text.strip_prefix(['P', 'p'])?;
    let (mut sum, mut number) = (0.0, String::new());
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
        sum += number.parse::<f64>().ok()? * unit;
        number.clear();
    }
    (number.is_empty() && !text.is_empty()).then_some((sign * sum) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2023-11-14 22:13:20.123 UTC, a Tuesday.
    const MOMENT: i64 = 1_700_000_000_123;

    #[test]
    fn moments_are_written() {
        for (written, offset_s, expect) in [
            ("yyyy-MM-dd'T'HH:mm:ss.SSSX", 0, "2023-11-14T22:13:20.123Z"),
            ("yyyy-MM-dd'T'HH:mm:ssXXX", 7_200, "2023-11-15T00:13:20+02:00"),
            ("EEE, d MMM yy hh:mm a Z", -19_800, "Tue, 14 Nov 23 04:43 PM -0530"),
            ("EEEE MMMM D e 'o''clock'", 0, "Tuesday November 318 2 oclock"),
            ("dd/MM/yyyy S SS SSSSSS", 0, "14/11/2023 1 12 123000"),
        ] {
            assert_eq!(format(written, MOMENT, offset_s), expect, "{written}");
        }
    }

    #[test]
    fn moments_are_read() {
        for (written, text, expect) in [
            ("yyyy-MM-dd'T'HH:mm:ss.SSSX", "2023-11-14T22:13:20.123Z", Some(MOMENT)),
            ("yyyyMMddHHmmss", "20231114221320", Some(MOMENT - 123)),
            ("yyyy-MM-dd", "2023-11-14", Some(1_699_920_000_000)),
            ("dd MMM yyyy HH:mm", "14 nov 2023 22:13", Some(MOMENT - 20_123)),
            ("MM/dd/yy hh:mm a", "11/14/23 10:13 PM", Some(MOMENT - 20_123)),
            ("yyyy-MM-dd HH:mm:ss Z", "2023-11-15 00:13:20 +0200", Some(MOMENT - 123)),
            ("yyyy-MM-dd", "2023-13-14", None),
            ("yyyy-MM-dd", "14.11.2023", None),
            ("yyyy", "2023x", None),
            ("HH:mm", "00:00", Some(1_672_531_200_000)),
        ] {
            assert_eq!(parse(written, text, (MOMENT, 0)), expect, "{written}");
        }
        assert_eq!(
            parse("yyyy-MM-dd HH", "2023-11-15 00", (MOMENT, 3_600)),
            Some(1_700_002_800_000)
        );
    }

    /// A number can be padded to 65,535 digits; beyond that the standard library panics.
    #[test]
    fn long_formats_are_cut() {
        for letter in
            ["y", "M", "d", "D", "H", "k", "h", "K", "m", "s", "S", "n", "G", "'", " ", "y-"]
        {
            for count in [1_001, 70_000, 1_000_000] {
                let written = format(&letter.repeat(count), MOMENT, 0);
                assert!(written.len() <= 5 * LETTERS_MAX, "{letter} {count}: {}", written.len());
            }
            let year = format!("{:0>1000}", 2023);
            assert_eq!(format(&"y".repeat(70_000), MOMENT, 0), year);
            parse(&letter.repeat(70_000), "2023", (MOMENT, 0));
        }
    }

    #[test]
    fn durations_have_signs() {
        for (text, expect) in [
            ("P1DT2H", Some(93_600_000)),
            ("-PT5M", Some(-300_000)),
            ("PT-1.5S", Some(-1_500)),
            ("P", None),
            ("5M", None),
            ("P1X", None),
        ] {
            assert_eq!(duration_ms(text), expect, "{text}");
        }
    }
}

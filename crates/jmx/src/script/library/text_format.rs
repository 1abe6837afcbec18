//! `String.format`: Java's letters of formats.

use super::instant;
use super::text::TEXT_MAX;
use crate::date;
use crate::script::run::{Outcome, throw};
use crate::script::value::Value;

/// Places that a field may be wide.
const WIDTH_MAX: usize = 10_000;

/// A field of a format.
#[derive(Default)]
struct Field {
    flags: String,
    width: usize,
    precision: Option<usize>,
    letter: char,
}

/// Writes values by a format.
pub(super) fn format(written: &str, values: &[Value]) -> Outcome<String> {
    let mut text = String::new();
    let mut letters = written.chars().peekable();
    let mut next = 0;
    while let Some(letter) = letters.next() {
        if text.len() > TEXT_MAX {
            return Err(throw("OutOfMemoryError", "the text is too long"));
        }
        if letter != '%' {
            text.push(letter);
            continue;
        }
        let (field, number) = field(&mut letters);
        match field.letter {
            '%' => text.push('%'),
            'n' => text.push('\n'),
            _ => {
                let at = number.map_or(next, |number| number.saturating_sub(1));
                next += usize::from(number.is_none());
                let missing = || {
                    throw(
                        "MissingFormatArgumentException",
                        format!("Format specifier '%{}'", field.letter),
                    )
                };
                let value = values.get(at).ok_or_else(missing)?;
                let is_date = matches!(field.letter, 't' | 'T');
                let unit = if is_date { letters.next() } else { None };
                text.push_str(&written_field(&field, value, unit)?);
            }
        }
    }
    Ok(text)
}

/// A field, and the number of its value where it names one.
fn field(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> (Field, Option<usize>) {
    let (mut field, mut number) = (Field::default(), None);
    let mut digits = String::new();
    let mut in_precision = false;
    for letter in letters.by_ref() {
        match letter {
            '$' => number = std::mem::take(&mut digits).parse().ok(),
            '0' if digits.is_empty() && !in_precision => field.flags.push('0'),
            '0'..='9' => digits.push(letter),
            '.' => {
                field.width = std::mem::take(&mut digits).parse().unwrap_or(0);
                in_precision = true;
            }
            '-' | '+' | ' ' | ',' | '(' | '#' => field.flags.push(letter),
            letter => {
                field.letter = letter;
                break;
            }
        }
    }
    match in_precision {
        true => field.precision = digits.parse().ok(),
        false => field.width = digits.parse().unwrap_or(0),
    }
    field.width = field.width.min(WIDTH_MAX);
    (field, number)
}

fn written_field(field: &Field, value: &Value, unit: Option<char>) -> Outcome<String> {
    let wrong = || {
        let class = super::full_name(value.class());
        throw("IllegalFormatConversionException", format!("{} != {class}", field.letter))
    };
    let text = match field.letter {
        's' | 'S' => {
            let text = value.to_string();
            let max = field.precision.unwrap_or(usize::MAX);
            text.chars().take(max).collect()
        }
        'd' if matches!(value, Value::Double(_)) => return Err(wrong()),
        'd' => signed(field, grouped(field, value.as_long().ok_or_else(wrong)?.to_string())),
        'f' => {
            let number = value.as_double().ok_or_else(wrong)?;
            let precision = field.precision.unwrap_or(6).min(WIDTH_MAX);
            let text = match value.as_decimal().and_then(|d| d.rounded(precision as u32)) {
                Some(decimal) => decimal.to_string(),
                None => format!("{number:.precision$}"),
            };
            signed(field, grouped(field, text))
        }
        'e' | 'E' => signed(field, exponential(field, value.as_double().ok_or_else(wrong)?)),
        'x' | 'X' => hex(value).ok_or_else(wrong)?,
        'o' => format!("{:o}", value.as_long().ok_or_else(wrong)?),
        'b' | 'B' => value.is_true().to_string(),
        'c' => value.to_string(),
        't' | 'T' => moment(value, unit.unwrap_or('s')).ok_or_else(wrong)?,
        other => {
            return Err(throw(
                "UnknownFormatConversionException",
                format!("Conversion = '{other}'"),
            ));
        }
    };
    let text = if field.letter.is_uppercase() { text.to_uppercase() } else { text };
    Ok(padded(field, &text))
}

/// A number with an exponent, whose sign and two digits Java always writes.
fn exponential(field: &Field, number: f64) -> String {
    let precision = field.precision.unwrap_or(6).min(WIDTH_MAX);
    let text = format!("{number:.precision$e}");
    let Some((digits, exponent)) = text.split_once('e') else { return text };
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |rest| ('-', rest));
    format!("{digits}e{sign}{exponent:0>2}")
}

fn hex(value: &Value) -> Option<String> {
    match value {
        Value::Int(number) => Some(format!("{number:x}")),
        other => other.as_long().map(|number| format!("{number:x}")),
    }
}

fn signed(field: &Field, text: String) -> String {
    match (field.flags.contains('+'), text.starts_with('-')) {
        (true, false) => format!("+{text}"),
        _ => text,
    }
}

/// Digits in groups of three, where the field has a comma.
fn grouped(field: &Field, text: String) -> String {
    if !field.flags.contains(',') {
        return text;
    }
    let (number, fraction) = match text.find('.') {
        Some(at) => text.split_at(at),
        None => (text.as_str(), ""),
    };
    let (sign, digits) = number.strip_prefix('-').map_or(("", number), |digits| ("-", digits));
    let mut groups = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            groups.push(',');
        }
        groups.push(digit);
    }
    format!("{sign}{groups}{fraction}")
}

fn padded(field: &Field, text: &str) -> String {
    let missing = field.width.saturating_sub(text.chars().count());
    if field.flags.contains('-') {
        return text.to_owned() + &" ".repeat(missing);
    }
    if field.flags.contains('0') {
        let (sign, digits) = match text.strip_prefix(['-', '+']) {
            Some(digits) => text.split_at(text.len() - digits.len()),
            None => ("", text),
        };
        return format!("{sign}{}{digits}", "0".repeat(missing));
    }
    " ".repeat(missing) + text
}

/// A part of a moment: `%tY`.
fn moment(value: &Value, unit: char) -> Option<String> {
    let (unix_ms, offset_s) = instant::of_value(value)?;
    let format = match unit {
        'Y' => "yyyy",
        'y' => "yy",
        'm' => "MM",
        'd' => "dd",
        'e' => "d",
        'H' => "HH",
        'I' => "hh",
        'M' => "mm",
        'S' => "ss",
        'L' => "SSS",
        'p' => "a",
        'B' => "MMMM",
        'b' => "MMM",
        'A' => "EEEE",
        'a' => "EEE",
        'F' => "yyyy-MM-dd",
        'T' => "HH:mm:ss",
        'R' => "HH:mm",
        'D' => "MM/dd/yy",
        'j' => "DDD",
        's' => return Some((unix_ms / 1_000).to_string()),
        'Q' => return Some(unix_ms.to_string()),
        _ => return None,
    };
    Some(date::format(format, unix_ms, offset_s))
}

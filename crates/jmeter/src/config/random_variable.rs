//! Random variables: a number in a variable, by chance, anew with each round.

use jmx::Scope as _;

use crate::plan::node::Part;
use crate::random::Random;
use crate::thread::scope::Thread;

/// Sets a random variable.
pub(crate) fn draw(part: &Part, thread: &mut Thread) {
    let name = thread.property_text(&part.element, "variableName");
    let mut number = |name: &str, absent: i64| {
        thread.property_text(&part.element, name).trim().parse().unwrap_or(absent)
    };
    let (min, max) = (number("minimumValue", 0), number("maximumValue", 0));
    let seed = number("randomSeed", 0) as u64;
    let numbers = thread.world.plan.seed;
    let random = thread.randoms.entry(part.number).or_insert_with(|| match seed {
        0 => Random::new(numbers, part.number as u64 ^ thread.number << 20),
        seed => Random::new(seed, 0),
    });
    let range = max.saturating_sub(min).max(0) as u64;
    let value = min.saturating_add((random.next() % range.saturating_add(1).max(1)) as i64);
    let format = thread.property_text(&part.element, "outputFormat");
    let text = if format.is_empty() { value.to_string() } else { pattern(&format, value) };
    thread.set_variable(&name, text);
}

/// A number by a pattern of Java's `DecimalFormat`: text around, `0` for digits that are always there, and `,` for groups.
pub(crate) fn pattern(format: &str, value: i64) -> String {
    let is_place = |letter: char| matches!(letter, '0' | '#' | ',' | '.');
    let from = format.find(is_place).unwrap_or(format.len());
    let end = format[from..].find(|letter| !is_place(letter)).map_or(format.len(), |at| from + at);
    let whole = format[from..end].split('.').next().unwrap_or_default();
    let zeros = whole.chars().filter(|letter| *letter == '0').count();
    let digits = value.unsigned_abs().to_string();
    let mut digits = format!("{}{digits}", "0".repeat(zeros.saturating_sub(digits.len()).min(64)));
    if let Some(comma) = whole.rfind(',') {
        digits = grouped(&digits, whole.len() - comma - 1);
    }
    let sign = if value < 0 { "-" } else { "" };
    let plain = |text: &str| text.replace('\'', "");
    format!("{sign}{}{digits}{}", plain(&format[..from]), plain(&format[end..]))
}

fn grouped(digits: &str, size: usize) -> String {
    let parts = digits.as_bytes().rchunks(size.max(1)).rev();
    parts.map(|part| String::from_utf8_lossy(part)).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_format_numbers() {
        for (format, value, expect) in [
            ("000", 7, "007"),
            ("user_0000", 12, "user_0012"),
            ("#,##0", 1_234_567, "1,234,567"),
            ("'n'0'x'", -3, "-n3x"),
            ("0", 42, "42"),
            ("abc", 5, "abc5"),
        ] {
            assert_eq!(pattern(format, value), expect, "{format}");
        }
    }
}

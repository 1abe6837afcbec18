//! Counts: their greatest common divisor, and how people read them: `1 run`, `2 runs`, `3 tries`. Regular English plurals alone.

/// The noun as it stands after so many: `run` after 1, `runs` after any other number.
#[must_use]
pub fn plural(count: u64, noun: &str) -> String {
    if count == 1 {
        return noun.to_owned();
    }
    let sibilant = ["s", "x", "z", "ch", "sh"].iter().any(|end| noun.ends_with(end));
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
        _ if sibilant => format!("{noun}es"),
        _ => format!("{noun}s"),
    }
}

/// The number and its noun: `1 run`, `12 runs`.
#[must_use]
pub fn counted(count: u64, noun: &str) -> String {
    format!("{count} {}", plural(count, noun))
}

/// The greatest common divisor of two numbers, by Euclid's algorithm; that of 0 and a number is the number.
#[must_use]
pub const fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// `is` after 1, `are` after any other number.
#[must_use]
pub const fn are(count: u64) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

/// `was` after 1, `were` after any other number.
#[must_use]
pub const fn were(count: u64) -> &'static str {
    if count == 1 { "was" } else { "were" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisors_are_the_greatest() {
        let pairs = [(0, 0), (0, 7), (12, 18), (17, 5), (u64::MAX, u64::MAX)];
        let found = pairs.map(|(a, b)| greatest_common_divisor(a, b));
        assert_eq!(found, [0, 7, 6, 1, u64::MAX]);
    }

    #[test]
    fn nouns_follow_their_numbers() {
        let cases = [
            (0, "run", "0 runs"),
            (1, "run", "1 run"),
            (2, "run", "2 runs"),
            (1, "process", "1 process"),
            (3, "process", "3 processes"),
            (2, "batch", "2 batches"),
            (2, "query", "2 queries"),
            (2, "day", "2 days"),
            (1, "request under way", "1 request under way"),
        ];
        for (count, noun, text) in cases {
            assert_eq!(counted(count, noun), text);
        }
        assert_eq!([0, 1, 2].map(are), ["are", "is", "are"]);
        assert_eq!([0, 1, 2].map(were), ["were", "was", "were"]);
    }
}

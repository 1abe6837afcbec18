//! The shell's `{1..5}` in a word that is not quoted. Lists with commas are left to curl, which has them too.

/// How many words one may become.
const WORDS_MAX: u64 = 1000;

/// How long a word with ranges may be, in bytes: brackets without an end are searched for from each of them.
const WORD_BYTES_MAX: usize = 4 << 10;

/// How many digits the numbers of a range may have.
const DIGITS_MAX: usize = 20;

/// How many ranges a word may have.
const RANGES_MAX: usize = 8;

/// The words that one with ranges stands for; itself without any.
pub(super) fn expand(word: &str) -> Vec<String> {
    let is_deep = word.len() > WORD_BYTES_MAX || word.matches("..").count() > RANGES_MAX;
    let found = if is_deep { None } else { first_range(word) };
    let Some((before, items, after)) = found else {
        return vec![word.to_owned()];
    };
    let rest = expand(after);
    let all =
        items.iter().flat_map(|item| rest.iter().map(move |rest| format!("{before}{item}{rest}")));
    all.take(WORDS_MAX as usize).collect()
}

fn first_range(word: &str) -> Option<(&str, Vec<String>, &str)> {
    for (at, _) in word.match_indices('{') {
        let (inner, after) = word[at + 1..].split_once('}')?;
        if let Some(items) = range(inner) {
            return Some((&word[..at], items, after));
        }
    }
    None
}

/// `1..5`, `01..10`, `9..1`, `a..e`, each with `..STEP`.
fn range(inner: &str) -> Option<Vec<String>> {
    let (first, rest) = inner.split_once("..")?;
    let (last, step) = rest.split_once("..").unwrap_or((rest, "1"));
    let step = step.parse::<i64>().ok()?.unsigned_abs().max(1);
    let letter = |text: &str| match text.as_bytes() {
        [byte] if byte.is_ascii_alphabetic() => Some(i64::from(*byte)),
        _ => None,
    };
    if let (Some(first), Some(last)) = (letter(first), letter(last)) {
        let letters = numbers(first, last, step);
        return Some(
            letters
                .filter_map(|n| u8::try_from(n).ok())
                .map(|n| char::from(n).to_string())
                .collect(),
        );
    }
    if first.len().max(last.len()) > DIGITS_MAX {
        return None;
    }
    let is_padded = |text: &str| text.trim_start_matches('-').starts_with('0') && text.len() > 1;
    let width = if is_padded(first) || is_padded(last) { first.len().max(last.len()) } else { 0 };
    let (first, last): (i64, i64) = (first.parse().ok()?, last.parse().ok()?);
    Some(numbers(first, last, step).map(|number| format!("{number:0width$}")).collect())
}

fn numbers(first: i64, last: i64, step: u64) -> impl Iterator<Item = i64> {
    let count = (first.abs_diff(last) / step).min(WORDS_MAX);
    (0..=count).map(move |n| {
        let offset = i64::try_from(n * step).unwrap_or(0);
        if last < first { first - offset } else { first + offset }
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn ranges_become_words() {
        for (word, expect) in [
            ("f{1..3}", "f1 f2 f3"),
            ("{08..10}.x", "08.x 09.x 10.x"),
            ("{3..1}", "3 2 1"),
            ("{a..c}", "a b c"),
            ("{1..7..3}", "1 4 7"),
            ("{1..2}{a..b}", "1a 1b 2a 2b"),
            ("{a,b}", "{a,b}"),
            ("{\"a\":1}", "{\"a\":1}"),
        ] {
            assert_eq!(super::expand(word).join(" "), expect, "{word}");
        }
        assert!(super::expand("{1..9999}{1..9999}").len() <= 1000);
        let long = format!("{{{}1..2}}", "0".repeat(70_000));
        let padded = format!("{{{}1..2}}", "0".repeat(30));
        for word in [long, padded, "{".repeat(100_000) + "1..2}"] {
            assert_eq!(super::expand(&word).len(), 1);
        }
    }
}

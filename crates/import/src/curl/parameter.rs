//! What the shell does with a variable in `${NAME…}`: prefixes and suffixes off, parts, letters' case, replacements. A value that is
//! known only when the script runs is not changed.

use crate::limits::WORD_MAX;

/// What `${NAME…}` makes of a literal value; none where it is not carried out.
pub(super) fn changed(value: &str, change: &str) -> Option<String> {
    let pattern = |text: &str| text.trim_matches(['"', '\'']).to_owned();
    let rules: [(&str, &dyn Fn(&str) -> Option<String>); 13] = [
        (":+", &|rest| Some(if value.is_empty() { String::new() } else { pattern(rest) })),
        (":?", &|_| Some(value.to_owned())),
        ("?", &|_| Some(value.to_owned())),
        (":=", &|rest| Some(if value.is_empty() { pattern(rest) } else { value.to_owned() })),
        (":", &|rest| part(value, rest)),
        ("%%", &|rest| without_end(value, &pattern(rest), Length::Longest)),
        ("%", &|rest| without_end(value, &pattern(rest), Length::Shortest)),
        ("##", &|rest| without_start(value, &pattern(rest), Length::Longest)),
        ("#", &|rest| without_start(value, &pattern(rest), Length::Shortest)),
        ("^^", &|_| Some(value.to_uppercase())),
        (",,", &|_| Some(value.to_lowercase())),
        ("//", &|rest| replaced(value, rest, usize::MAX)),
        ("/", &|rest| replaced(value, rest, 1)),
    ];
    let (mark, rule) = rules.iter().find(|(mark, _)| change.starts_with(mark))?;
    rule(&change[mark.len()..])
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Length {
    Longest,
    Shortest,
}

/// `${NAME:offset:length}`.
fn part(value: &str, rest: &str) -> Option<String> {
    let (offset, length) = rest.split_once(':').map_or((rest, None), |(a, b)| (a, Some(b)));
    let count = value.chars().count();
    let place = |text: &str, from: usize| -> Option<usize> {
        let number: i64 = text.trim().parse().ok()?;
        let end = i64::try_from(count).ok()?;
        let base = if number < 0 { end } else { i64::try_from(from).ok()? };
        let at = base.checked_add(number)?;
        usize::try_from(at).ok()
    };
    let start = place(offset, 0)?;
    let end = length.map_or(Some(count), |length| place(length, start))?;
    Some(value.chars().take(end).skip(start).collect())
}

fn replaced(value: &str, rest: &str, times: usize) -> Option<String> {
    let (from, to) = rest.split_once('/').unwrap_or((rest, ""));
    let is_plain = !from.is_empty() && !from.contains(['*', '?', '[', '#', '%', '\\']);
    let count = if is_plain { value.matches(from).take(times).count() } else { 0 };
    let grows = count.saturating_mul(to.len());
    (is_plain && grows <= WORD_MAX).then(|| value.replacen(from, to, times))
}

fn without_end(value: &str, pattern: &str, length: Length) -> Option<String> {
    let chars: Vec<char> = value.chars().collect();
    let fits = ends_that_match(&pattern.chars().collect::<Vec<_>>(), &chars)?;
    let start = match length {
        Length::Longest => fits.iter().position(|fits| *fits),
        Length::Shortest => fits.iter().rposition(|fits| *fits),
    };
    Some(chars[..start.unwrap_or(chars.len())].iter().collect())
}

/// The same from the start: the text and the pattern backwards.
fn without_start(value: &str, pattern: &str, length: Length) -> Option<String> {
    let backwards = |text: &str| text.chars().rev().collect::<String>();
    let rest = without_end(&backwards(value), &backwards(pattern), length)?;
    Some(backwards(&rest))
}

/// From which places on the rest of a text is as a pattern of `*` and `?` has it; none where the search would take too long. All
/// places are found together, from the end of the pattern on.
fn ends_that_match(pattern: &[char], text: &[char]) -> Option<Vec<bool>> {
    if pattern.len().saturating_mul(text.len()) > STEPS_MAX {
        return None;
    }
    let mut fits = vec![false; text.len() + 1];
    fits[text.len()] = true;
    for want in pattern.iter().rev() {
        if *want == '*' {
            for at in (0..text.len()).rev() {
                fits[at] |= fits[at + 1];
            }
            continue;
        }
        for at in 0..text.len() {
            fits[at] = fits[at + 1] && (*want == '?' || *want == text[at]);
        }
        fits[text.len()] = false;
    }
    Some(fits)
}

/// How many pairs of a pattern's letter and a value's are compared at most.
const STEPS_MAX: usize = 1 << 24;

#[cfg(test)]
mod tests {
    #[test]
    fn values_change_as_bash_changes_them() {
        for (value, change, expect) in [
            ("42.json", "%.json", "42"),
            ("a.b.c", "%.*", "a.b"),
            ("a.b.c", "%%.*", "a"),
            ("a.b.c", "#*.", "b.c"),
            ("a.b.c", "##*.", "c"),
            ("abc", "^^", "ABC"),
            ("ABC", ",,", "abc"),
            ("abcdef", ":0:2", "ab"),
            ("abcdef", ": -2", "ef"),
            ("abcdef", ":2:-1", "cde"),
            ("abc", ":+x", "x"),
            ("a b a", "//a/c", "c b c"),
            ("a b a", "/a/c", "c b a"),
            ("abc", ":?unset", "abc"),
            ("abab", "%a?", "ab"),
            ("a/b/c", "##*/", "c"),
            ("a/b/c", "#*/", "b/c"),
            ("aXbXc", "%%X*c", "a"),
            ("abc", "%x", "abc"),
            ("abc", "%*", "abc"),
            ("abc", "%%*", ""),
            ("\u{fc}\u{e4}", "#?", "\u{e4}"),
        ] {
            assert_eq!(super::changed(value, change).as_deref(), Some(expect), "{value} {change}");
        }
        assert_eq!(super::changed("abc", "@Q"), None);
        assert_eq!(super::changed("abc", ":1:9223372036854775807"), None);
    }

    #[test]
    fn a_change_that_takes_too_long_or_becomes_too_long_is_not_carried_out() {
        let long = "ab".repeat(500_000);
        assert_eq!(super::changed(&long, "%%x*").as_deref(), Some(long.as_str()));
        assert_eq!(super::changed(&long, &format!("%%{}", "a*".repeat(100))), None);
        assert_eq!(super::changed(&long, &format!("//a/{long}")), None);
    }
}

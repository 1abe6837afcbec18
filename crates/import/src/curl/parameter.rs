//! What the shell does with a variable in `${NAME…}`: prefixes and suffixes off, parts, letters' case, replacements. A value that is
//! known only when the script runs is not changed.

/// What `${NAME…}` makes of a literal value; none where it is not carried out.
pub(super) fn changed(value: &str, change: &str) -> Option<String> {
    let pattern = |text: &str| text.trim_matches(['"', '\'']).to_owned();
    let rules: [(&str, &dyn Fn(&str) -> Option<String>); 13] = [
        (":+", &|rest| Some(if value.is_empty() { String::new() } else { pattern(rest) })),
        (":?", &|_| Some(value.to_owned())),
        ("?", &|_| Some(value.to_owned())),
        (":=", &|rest| Some(if value.is_empty() { pattern(rest) } else { value.to_owned() })),
        (":", &|rest| part(value, rest)),
        ("%%", &|rest| Some(without_end(value, &pattern(rest), Length::Longest))),
        ("%", &|rest| Some(without_end(value, &pattern(rest), Length::Shortest))),
        ("##", &|rest| Some(without_start(value, &pattern(rest), Length::Longest))),
        ("#", &|rest| Some(without_start(value, &pattern(rest), Length::Shortest))),
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
        let at = if number < 0 { end + number } else { i64::try_from(from).ok()? + number };
        usize::try_from(at).ok()
    };
    let start = place(offset, 0)?;
    let end = length.map_or(Some(count), |length| place(length, start))?;
    Some(value.chars().take(end).skip(start).collect())
}

fn replaced(value: &str, rest: &str, times: usize) -> Option<String> {
    let (from, to) = rest.split_once('/').unwrap_or((rest, ""));
    let is_plain = !from.is_empty() && !from.contains(['*', '?', '[', '#', '%', '\\']);
    is_plain.then(|| value.replacen(from, to, times))
}

fn without_end(value: &str, pattern: &str, length: Length) -> String {
    let mut starts: Vec<usize> = value.char_indices().map(|(at, _)| at).collect();
    starts.push(value.len());
    if length == Length::Shortest {
        starts.reverse();
    }
    let start = starts.into_iter().find(|at| matches_all(pattern, &value[*at..]));
    value[..start.unwrap_or(value.len())].to_owned()
}

fn without_start(value: &str, pattern: &str, length: Length) -> String {
    let mut ends: Vec<usize> = value.char_indices().map(|(at, _)| at).collect();
    ends.push(value.len());
    if length == Length::Longest {
        ends.reverse();
    }
    let end = ends.into_iter().find(|at| matches_all(pattern, &value[..*at]));
    value[end.unwrap_or(0)..].to_owned()
}

/// Whether a text is as a pattern of `*` and `?` has it.
fn matches_all(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t, mut star) = (0, 0, None);
    while t < text.len() {
        if pattern.get(p) == Some(&'*') {
            star = Some((p, t));
            p += 1;
        } else if pattern.get(p).is_some_and(|char| *char == '?' || *char == text[t]) {
            (p, t) = (p + 1, t + 1);
        } else if let Some((at, from)) = star {
            (p, t) = (at + 1, from + 1);
            star = Some((at, from + 1));
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|char| *char == '*')
}

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
        ] {
            assert_eq!(super::changed(value, change).as_deref(), Some(expect), "{value} {change}");
        }
        assert_eq!(super::changed("abc", "@Q"), None);
    }
}

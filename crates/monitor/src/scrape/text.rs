//! Prometheus' text format 0.0.4, taken apart. Source: "Exposition formats", prometheus.io. OpenMetrics' additions (exemplars,
//! `# EOF`) are passed over.

/// Series of one answer.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Series {
    /// Each as `name{labels}`, as the text has it.
    pub(super) values: Vec<(String, f64)>,
    /// Lines that are no series.
    pub(super) lines_wrong: u64,
    /// Series beyond the limit.
    pub(super) left_out: u64,
}

/// Series of one response at most.
pub(super) const SERIES_MAX: usize = 4096;
/// Bytes of a series' name with its labels.
const NAME_MAX: usize = 1024;

/// Parses a response's body. Malformed lines are counted.
pub(super) fn parse(text: &str) -> Series {
    let mut series = Series::default();
    for line in text.lines() {
        let line = line.trim_matches([' ', '\t', '\r']);
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match sample(line) {
            None => series.lines_wrong += 1,
            Some(_) if series.values.len() >= SERIES_MAX => series.left_out += 1,
            Some((name, value)) => series.values.push((name, value)),
        }
    }
    series
}

/// `name value [timestamp]` or `name{label="value",…} value [timestamp]`, then perhaps ` # …`.
fn sample(line: &str) -> Option<(String, f64)> {
    let name_len = line.find(|c: char| !is_name(c)).unwrap_or(line.len());
    let (name, rest) = line.split_at(name_len);
    let name = Some(name).filter(|name| !name.is_empty() && !name.starts_with(is_digit))?;
    let rest = rest.trim_start_matches([' ', '\t']);
    let (labels, rest) = match rest.starts_with('{') {
        true => rest.split_at(labels_len(rest)?),
        false => ("", rest),
    };
    let mut words = rest.split_ascii_whitespace();
    let value = number(words.next()?)?;
    match words.next() {
        Some(word) if word != "#" => drop(number(word)?),
        _ => {}
    }
    let labels = if labels == "{}" { "" } else { labels };
    Some(format!("{name}{labels}")).filter(|series| series.len() <= NAME_MAX).zip(Some(value))
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == ':'
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

/// The length of the labels, with both braces. A value is in quotes, in which a backslash escapes the next character.
fn labels_len(text: &str) -> Option<usize> {
    let (mut is_quoted, mut is_hidden) = (false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if is_hidden => is_hidden = false,
            '\\' if is_quoted => is_hidden = true,
            '"' => is_quoted = !is_quoted,
            '}' if !is_quoted => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// A number as Go's ParseFloat reads it: `+Inf`, `-Inf` and `NaN` too. Rust reads the same words.
fn number(word: &str) -> Option<f64> {
    word.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// From the documentation of the format.
    const EXAMPLE: &str = r#"# HELP http_requests_total The total number of HTTP requests.
# TYPE http_requests_total counter
http_requests_total{method="post",code="200"} 1027 1395066363000
http_requests_total{method="post",code="400"}    3 1395066363000

# Escaping in label values:
msdos_file_access_time_seconds{path="C:\\DIR\\FILE.TXT",error="Cannot find file:\n\"FILE.TXT\""} 1.458255915e9

# Minimalistic line:
metric_without_timestamp_and_labels 12.47

# A weird metric from before the epoch:
something_weird{problem="division by zero"} +Inf -3982045

# A histogram, which has a pretty complex representation in the text format:
http_request_duration_seconds_bucket{le="+Inf"} 144320
http_request_duration_seconds_sum 53423
"#;

    #[test]
    fn the_example() {
        let series = parse(EXAMPLE);
        let names: Vec<&str> = series.values.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!((names.len(), series.lines_wrong), (7, 0));
        assert_eq!(names[0], r#"http_requests_total{method="post",code="200"}"#);
        assert!(names[2].ends_with(r#"error="Cannot find file:\n\"FILE.TXT\""}"#));
        let values: Vec<f64> = series.values.iter().map(|(_, value)| *value).collect();
        let expected = [1027.0, 3.0, 1.458255915e9, 12.47, f64::INFINITY, 144_320.0, 53_423.0];
        assert_eq!(values, expected);
    }

    #[test]
    fn lines_of_any_kind() {
        let cases = [
            ("a 1", Some(("a", 1.0))),
            ("  a:b_c\t{} -2e3\r", Some(("a:b_c", -2000.0))),
            (r#"a {x="}"} 1"#, Some((r#"a{x="}"}"#, 1.0))),
            (r#"a{x="1",} 0.5"#, Some((r#"a{x="1",}"#, 0.5))),
            (r#"a_bucket{le="1"} 5 # {id="x"} 0.67 1.5"#, Some((r#"a_bucket{le="1"}"#, 5.0))),
            ("a", None),
            ("a x", None),
            ("a 1 x", None),
            (r#"a{x="1" 5"#, None),
            (r#"a{x="1\"} 5"#, None),
            ("1a 5", None),
            ("<html>", None),
            ("{} 5", None),
        ];
        for (line, expected) in cases {
            let found = sample(line.trim());
            let found = found.as_ref().map(|(name, value)| (name.as_str(), *value));
            assert_eq!(found, expected, "{line}");
        }
        assert!(sample("a NaN").unwrap().1.is_nan());
        assert_eq!(sample(&format!("{} 1", "x".repeat(NAME_MAX + 1))), None);
    }

    #[test]
    fn too_many_are_counted() {
        let text: String = (0..SERIES_MAX + 7).map(|n| format!("s{{n=\"{n}\"}} {n}\n")).collect();
        let series = parse(&text);
        assert_eq!((series.values.len(), series.left_out), (SERIES_MAX, 7));
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_harm(text in "(a|[0-9]|[{}\"\\\\,= #\n]|\\PC){0,80}") {
            parse(&text);
        }
    }
}

//! The checks of a summary: those of one name are merged across groups, as k6 shows them.

use std::collections::HashMap;
use std::fmt::Write as _;

use metrics::tally::{Check, Value};

use super::figures::{percent, seconds, trimmed};
use super::input::K6Input;
use crate::escape::terminal_lines;

/// The counts of the checks of one name.
pub(super) struct CheckCounts<'a> {
    pub(super) name: &'a str,
    pub(super) passes: u64,
    pub(super) fails: u64,
}

/// The checks, those of one name together, in the order of their first samples.
pub(super) fn by_name(checks: &[Check]) -> Vec<CheckCounts<'_>> {
    let mut places = HashMap::new();
    let mut all: Vec<CheckCounts<'_>> = Vec::new();
    for check in checks {
        let at = *places.entry(check.name.as_str()).or_insert(all.len());
        if at == all.len() {
            all.push(CheckCounts { name: &check.name, passes: 0, fails: 0 });
        }
        all[at].passes += check.passes;
        all[at].fails += check.fails;
    }
    all
}

/// Writes how many checks held, and each of them.
pub(super) fn checks(text: &mut String, input: &K6Input<'_>, indent: &str) {
    let (passes, total) = match input.tally.value("checks") {
        Some(Value::Rate { passes, total }) => (*passes, *total),
        _ => (0, 0),
    };
    let fails = total - passes;
    if total == 0 {
        // A threshold may still speak of them.
        if input.names("checks") {
            write!(
                text,
                "\n{indent}checks_total.......: 0     0/s\n{indent}checks_succeeded...: 0.00% 0 out of 0\n{indent}checks_failed......: 0.00% 0 out of 0\n\n"
            )
            .ok();
        }
        return;
    }
    let percents = [passes, fails].map(|count| percent(count as f64 / total as f64));
    let rate = trimmed(total as f64 / seconds(input.elapsed), 6);
    let width = percents.iter().map(String::len).max().unwrap_or(0).max(total.to_string().len());
    let [passed, failed] = percents;
    write!(
        text,
        "\n{indent}checks_total.......: {total:<width$} {rate}/s\n{indent}checks_succeeded...: {passed:<width$} {passes} out of {total}\n{indent}checks_failed......: {failed:<width$} {fails} out of {total}\n\n",
    )
    .ok();
    for CheckCounts { name, passes, fails } in by_name(&input.tally.checks) {
        writeln!(text, "{indent}{} {}", mark(fails == 0, input.colored), terminal_lines(name)).ok();
        if fails > 0 {
            let share = 100 * passes / (passes + fails);
            writeln!(text, "{indent}  ↳  {share}% — ✓ {passes} / ✗ {fails}").ok();
        }
    }
}

/// A mark in its colour.
pub(super) fn mark(holds: bool, colored: bool) -> &'static str {
    match (holds, colored) {
        (true, false) => "✓",
        (false, false) => "✗",
        (true, true) => "\x1b[32m✓\x1b[0m",
        (false, true) => "\x1b[31m✗\x1b[0m",
    }
}

#[cfg(test)]
mod tests {
    use metrics::tally::{MetricId, Tally};
    use stdx::Nanos;

    use super::*;

    #[test]
    fn checks_of_one_name_are_one_line() {
        let mut tally = Tally::default();
        for (group, name, passed) in
            [("::a", "s", true), ("::a::c", "s", true), ("::b", "t", true), ("::b", "s", false)]
        {
            tally.check(group, name, passed);
            tally.add(MetricId::CHECKS, f64::from(u8::from(passed)), &());
        }
        let input = K6Input {
            tally: &tally,
            elapsed: Nanos::from_secs(1),
            trend_stats: &[],
            thresholds: &[],
            named: &[],
            time_unit: None,
            colored: false,
            grouped: true,
            parts: None,
        };
        let mut text = String::new();
        checks(&mut text, &input, "");
        let expect = "checks_failed......: 25.00% 1 out of 4\n\n✗ s\n  ↳  66% — ✓ 2 / ✗ 1\n✓ t\n";
        assert!(text.ends_with(expect), "{text}");
    }
}

//! The summary as k6 printed it before its version 1.

use std::fmt::Write as _;

use super::checks::mark;
use super::input::K6Input;
use super::text::{column_widths, lines, outcomes_of};
use crate::escape::terminal_lines;

/// The legacy summary: groups with their checks, then all metrics in the order of their names.
#[must_use]
pub fn legacy(input: &K6Input<'_>) -> String {
    let mut text = "\n".to_owned();
    group(&mut text, input, "", "     ");
    if !input.tally.checks.is_empty() {
        text.push('\n');
    }
    let lines = lines(input, &[]);
    let name_width = lines.iter().map(|line| line.name.chars().count());
    let name_width = name_width.max().unwrap_or(0) + 3;
    let widths = column_widths(&lines);
    for line in &lines {
        let name = line.name.trim_start();
        let whole = match name.strip_prefix("{ ").and_then(|rest| rest.strip_suffix(" }")) {
            Some(selector) => format!("{}{{{selector}}}", line.metric),
            None => line.metric.clone(),
        };
        let mut outcome = outcomes_of(input, &whole).peekable();
        let sign = match outcome.peek() {
            None => " ",
            Some(_) => mark(outcome.all(|outcome| outcome.holds), input.colored),
        };
        let indent = if name.starts_with('{') { "     " } else { "   " };
        let pad = if name.starts_with('{') { name_width - 2 } else { name_width };
        let dots = ".".repeat(pad.saturating_sub(name.chars().count()));
        writeln!(text, "{indent}{sign} {name}{dots}: {}", line.cells(&widths, input.colored)).ok();
    }
    text.push('\n');
    text
}

/// The checks of a group, then the groups in it.
fn group(text: &mut String, input: &K6Input<'_>, path: &str, indent: &str) {
    for check in input.tally.checks.iter().filter(|check| check.group == path) {
        let (passes, fails) = (check.passes, check.fails);
        let name = terminal_lines(&check.name);
        writeln!(text, "{indent}{} {name}", mark(fails == 0, input.colored)).ok();
        if fails > 0 {
            let share = 100 * passes / (passes + fails);
            writeln!(text, "{indent} ↳  {share}% — ✓ {passes} / ✗ {fails}").ok();
        }
    }
    for inner in &input.tally.groups {
        let Some((outer, name)) = inner.rsplit_once("::") else { continue };
        let has_checks = input.tally.checks.iter().any(|check| check.group.starts_with(inner));
        if outer == path && has_checks {
            write!(text, "\n{indent}█ {}\n\n", terminal_lines(name)).ok();
            group(text, input, inner, &format!("{indent}  "));
        }
    }
}

#[cfg(test)]
mod tests {
    use metrics::tally::Tally;
    use stdx::Nanos;

    use super::*;

    #[test]
    fn the_dots_of_a_submetric_end_where_all_do() {
        let mut tally = Tally::default();
        tally.declare_sub("vus", "scenario:default");
        let input = K6Input {
            tally: &tally,
            elapsed: Nanos::from_secs(1),
            trend_stats: &[],
            thresholds: &[],
            named: &["vus{scenario:default}".to_owned()],
            time_unit: None,
            colored: false,
            grouped: true,
            parts: None,
        };
        let text = legacy(&input);
        for line in ["     vus......................: 0", "       { scenario:default }...: 0"] {
            assert!(text.contains(line), "{line}: {text}");
        }
    }
}

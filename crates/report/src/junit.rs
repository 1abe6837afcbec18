//! The report as JUnit XML, which build servers read: one suite, one case for the verdict, one for each gate, and each threshold and
//! check of a script, and without those one for the success ratio and one for the server's result. The metrics of a script are
//! properties of the suite.

use std::fmt::Write as _;

use crate::conclusion::Conclusion;
use crate::number::counted;
use crate::test_case::JunitCase;
use crate::{Input, assertions, escape, script_metrics};

/// Error texts named in a failure.
const ERRORS_SHOWN: usize = 20;

/// The report as one JUnit test suite. A case fails where the verdict is `INVALID`, where a gate or a threshold is crossed, where
/// a gate cannot be decided, and where a check failed. Without gates, thresholds and checks, which say themselves what success is,
/// one more fails where not every hit succeeded, and one where the server was overloaded, paused or failed.
#[must_use]
pub fn junit(input: &Input<'_>) -> String {
    let mut out = String::new();
    write_to(&mut out, input).expect("writing to a String cannot fail");
    out
}

fn write_to(out: &mut String, input: &Input<'_>) -> std::fmt::Result {
    let summary = input.summary;
    let name = escape::xml(if input.title.is_empty() { "brunt" } else { input.title });
    let valid = input.verdict.is_valid();
    let cases: Vec<_> = input.assertions.iter().filter_map(assertions::case).collect();
    let judges = cases.is_empty();
    let all_well = summary.successes == summary.requests && summary.requests > 0 || !judges;
    let conclusion = Conclusion::of(input);
    let is_bad = judges && conclusion.is_bad();
    let crossed = cases.iter().filter(|case| case.failure.is_some()).count();
    let failures = usize::from(!valid) + usize::from(!all_well) + usize::from(is_bad) + crossed;
    let time = summary.duration().saturating_add(summary.wait()).as_secs_f64();
    writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    let tests = 1 + 2 * usize::from(judges) + cases.len();
    let counts = format!(r#"tests="{tests}" failures="{failures}" errors="0" skipped="0""#);
    writeln!(out, r#"<testsuites {counts} time="{time:.3}">"#)?;
    writeln!(out, r#"  <testsuite name="{name}" {counts} time="{time:.3}">"#)?;
    properties(out, input)?;
    let reasons: Vec<String> = input.verdict.reasons.iter().map(ToString::to_string).collect();
    let verdict = (!valid).then(|| (input.verdict.to_string(), reasons.join("\n")));
    case(out, &name, "verdict", verdict)?;
    let ratio = summary.success_ratio() * 100.0;
    let message = format!("{ratio:.2}% of {} succeeded", counted(summary.requests, "request"));
    let success = (!all_well).then(|| (message, errors(input)));
    if judges {
        case(out, &name, "success", success)?;
        let server = is_bad.then(|| (conclusion.first().to_owned(), conclusion.text()));
        case(out, &name, "server", server)?;
    }
    cases.iter().try_for_each(|one| write_case(out, &name, one))?;
    out.push_str("  </testsuite>\n</testsuites>\n");
    Ok(())
}

/// Which requests these are, if not all, and the metrics of a script.
fn properties(out: &mut String, input: &Input<'_>) -> std::fmt::Result {
    let part = Some(("selected".to_owned(), input.selected.to_owned()));
    let part = part.filter(|(_, selected)| !selected.is_empty());
    let all: Vec<_> =
        part.into_iter().chain(script_metrics::properties(input.assertions)).collect();
    if all.is_empty() {
        return Ok(());
    }
    writeln!(out, "    <properties>")?;
    for (name, value) in all {
        let (name, value) = (escape::xml(&name), escape::xml(&value));
        writeln!(out, r#"      <property name="{name}" value="{value}"/>"#)?;
    }
    writeln!(out, "    </properties>")
}

/// A document of one suite with these cases.
pub(crate) fn suite_of(suite: &str, cases: &[JunitCase]) -> String {
    let mut out = String::new();
    write_cases(&mut out, &escape::xml(suite), cases).expect("writing to a String cannot fail");
    out
}

fn write_cases(out: &mut String, suite: &str, cases: &[JunitCase]) -> std::fmt::Result {
    let failures = cases.iter().filter(|case| case.failure.is_some()).count();
    let tests = cases.len();
    let counts = format!(r#"tests="{tests}" failures="{failures}" errors="0" skipped="0""#);
    writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(out, "<testsuites {counts}>")?;
    writeln!(out, r#"  <testsuite name="{suite}" {counts}>"#)?;
    cases.iter().try_for_each(|one| write_case(out, suite, one))?;
    out.push_str("  </testsuite>\n</testsuites>\n");
    Ok(())
}

/// Writes a case with its figure.
fn write_case(out: &mut String, suite: &str, one: &JunitCase) -> std::fmt::Result {
    let name = escape::xml(&one.name);
    match &one.failure {
        Some(message) => {
            case(out, suite, &name, Some((message.clone(), format!("{}: {message}", one.name))))
        }
        None if one.figure.is_empty() => case(out, suite, &name, None),
        None => {
            let figure = escape::xml(&one.figure);
            writeln!(out, r#"    <testcase classname="{suite}" name="{name}">"#)?;
            writeln!(out, "      <system-out>{figure}</system-out>")?;
            writeln!(out, "    </testcase>")
        }
    }
}

/// One case; `failure` is its message and its details.
fn case(
    out: &mut String,
    suite: &str,
    name: &str,
    failure: Option<(String, String)>,
) -> std::fmt::Result {
    let Some((message, details)) = failure else {
        return writeln!(out, r#"    <testcase classname="{suite}" name="{name}"/>"#);
    };
    let (message, details) = (escape::xml(&message), escape::xml(&details));
    writeln!(out, r#"    <testcase classname="{suite}" name="{name}">"#)?;
    writeln!(out, r#"      <failure message="{message}">{details}</failure>"#)?;
    writeln!(out, "    </testcase>")
}

fn errors(input: &Input<'_>) -> String {
    let lines = input.summary.errors().iter().take(ERRORS_SHOWN);
    lines.map(|(text, count)| format!("{count} x {text}")).collect::<Vec<_>>().join("\n")
}

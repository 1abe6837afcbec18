//! The verdict of a run as text: the reasons, and what a user can do about each. It judges nothing: `metrics::Verdict` does.

use std::fmt::Write as _;

use metrics::Verdict;

use crate::escape;

/// What else is to be known of a VALID measurement, as JSON.
pub(crate) fn json_remark(verdict: &Verdict) -> String {
    verdict.remark().map_or("null".to_owned(), |remark| escape::json(&remark))
}

/// The last lines of a text report: the verdict, and a line for each remedy.
pub(crate) fn text(verdict: &Verdict) -> String {
    let mut out = format!("{}\n", escape::terminal(&verdict.to_string()));
    for remedy in verdict.remedies() {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "Remedy: {remedy}.");
    }
    out
}

/// The remedies as one JSON list.
pub(crate) fn json_remedies(verdict: &Verdict) -> String {
    crate::object::json_list(verdict.remedies().into_iter().map(escape::json))
}

#[cfg(test)]
mod tests {
    use metrics::Reason;

    use super::*;

    #[test]
    fn a_remedy_stands_once_below_the_reasons() {
        assert_eq!(text(&Verdict::default()), "VALID\n");
        let reasons = vec![
            Reason::Ports { connections: 3 },
            Reason::Ports { connections: 1 },
            Reason::Lost("the file ends in the middle of a row".to_owned()),
        ];
        let verdict = Verdict { reasons, ..Verdict::default() };
        assert_eq!(
            text(&verdict),
            "INVALID: no local port was left for 3 connections; no local port was left for 1 connection; \
             the file ends in the middle of a row\n\
             Remedy: keep connections open, or send from several addresses (-laddr).\n"
        );
    }
}

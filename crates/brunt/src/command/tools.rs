//! The other load testers whose command lines brunt reads: one row each.

use cli::ToolSpec;

use crate::dialect::{k6, vegeta};
use crate::tools::ab::command_line as ab;
use crate::tools::command_line as tools;

/// Every tool, by name. Vegeta has a flag of its own for results.
pub(super) const TOOLS: &[ToolSpec] = &[
    ToolSpec {
        name: "ab",
        summary: "Speak ApacheBench's command line, word for word.",
        help: Some(ab::help),
        run: |args, results, _| ab::run(args, results).into(),
        validate: |args, _| ab::validate(args),
    },
    ToolSpec {
        name: "hey",
        summary: "Speak hey's command line, and report as it does.",
        help: Some(|| tools::help("hey")),
        run: |args, results, _| tools::run("hey", args, results),
        validate: |args, _| tools::validate("hey", args),
    },
    ToolSpec {
        name: "k6",
        summary: "Speak k6's command line: run, inspect, archive, new, status, stop, pause, resume, scale.",
        help: None,
        run: |args, _, registry| k6::run(args, registry).into(),
        validate: k6::validate,
    },
    ToolSpec {
        name: "oha",
        summary: "Speak oha's command line; the report is brunt's.",
        help: Some(|| tools::help("oha")),
        run: |args, results, _| tools::run("oha", args, results),
        validate: |args, _| tools::validate("oha", args),
    },
    ToolSpec {
        name: "perfer",
        summary: "Speak perfer's command line (1.2, 1.3, 1.5), and report as it does.",
        help: Some(|| tools::help("perfer")),
        run: |args, results, _| tools::run("perfer", args, results),
        validate: |args, _| tools::validate("perfer", args),
    },
    ToolSpec {
        name: "vegeta",
        summary: "Speak Vegeta's command line, word for word.",
        help: Some(vegeta::help),
        run: |args, _, registry| vegeta::run(args, registry).into(),
        validate: vegeta::validate,
    },
    ToolSpec {
        name: "wrk",
        summary: "Speak wrk's command line, and report as it does.",
        help: Some(|| tools::help("wrk")),
        run: |args, results, _| tools::run("wrk", args, results),
        validate: |args, _| tools::validate("wrk", args),
    },
    ToolSpec {
        name: "wrk2",
        summary: "Speak wrk2's command line, and report as it does.",
        help: Some(|| tools::help("wrk2")),
        run: |args, results, _| tools::run("wrk2", args, results),
        validate: |args, _| tools::validate("wrk2", args),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_has_a_row() {
        let own = |name: &&str| matches!(*name, "ab" | "k6" | "vegeta");
        let shared: Vec<&str> =
            TOOLS.iter().map(|tool| tool.name).filter(|name| !own(name)).collect();
        assert_eq!(crate::tools::names(), shared);
    }

    #[test]
    fn tools_stand_by_name() {
        assert!(TOOLS.is_sorted_by_key(|tool| tool.name));
    }
}

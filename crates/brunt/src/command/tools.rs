//! The other load testers whose command lines brunt reads: one row each.

use cli::ToolSpec;
use tools::{HEY, OHA, PERFER, WRK, WRK2, ab, ghz};

use crate::dialect::{k6, vegeta};
use crate::load::jmeter;

/// Every tool, by name. Vegeta has a flag of its own for results.
pub(super) const TOOLS: &[ToolSpec] = &[
    ToolSpec {
        name: "ab",
        summary: "Speak ApacheBench's command line, with its messages and exit codes.",
        help: ab::help,
        run: |args, results, _| ab::run(args, results).into(),
        validate: |args, _| ab::validate(args),
    },
    ToolSpec {
        name: "ghz",
        summary: "Speak ghz's command line, with its reports: summary, JSON, CSV, Prometheus.",
        help: ghz::help,
        run: |args, results, _| ghz::run(args, results),
        validate: |args, _| ghz::validate(args),
    },
    ToolSpec {
        name: HEY.name,
        summary: "Speak hey's command line, and print its report.",
        help: || tools::help(&HEY),
        run: |args, results, _| tools::run(&HEY, args, results),
        validate: |args, _| tools::validate(&HEY, args),
    },
    ToolSpec {
        name: "jmeter",
        summary: "Speak JMeter's command line: run plans (.jmx), with its results, lines and exit codes.",
        help: jmeter::help,
        run: |args, _, _| jmeter::run(args),
        validate: |args, _| jmeter::validate(args),
    },
    ToolSpec {
        name: "k6",
        summary: "Speak k6's command line: run, inspect, archive, new, status, stop, pause, resume, scale.",
        help: k6::help,
        run: |args, _, registry| k6::run(args, registry).into(),
        validate: k6::validate,
    },
    ToolSpec {
        name: OHA.name,
        summary: "Speak oha's command line; the report is brunt's.",
        help: || tools::help(&OHA),
        run: |args, results, _| tools::run(&OHA, args, results),
        validate: |args, _| tools::validate(&OHA, args),
    },
    ToolSpec {
        name: PERFER.name,
        summary: "Speak perfer's command line (1.2, 1.3, 1.5), and report as it does.",
        help: || tools::help(&PERFER),
        run: |args, results, _| tools::run(&PERFER, args, results),
        validate: |args, _| tools::validate(&PERFER, args),
    },
    ToolSpec {
        name: "vegeta",
        summary: "Speak Vegeta's command line, with its messages and exit codes.",
        help: vegeta::help,
        run: |args, _, registry| vegeta::run(args, registry).into(),
        validate: vegeta::validate,
    },
    ToolSpec {
        name: WRK.name,
        summary: "Speak wrk's command line, and print its report.",
        help: || tools::help(&WRK),
        run: |args, results, _| tools::run(&WRK, args, results),
        validate: |args, _| tools::validate(&WRK, args),
    },
    ToolSpec {
        name: WRK2.name,
        summary: "Speak wrk2's command line, and print its report.",
        help: || tools::help(&WRK2),
        run: |args, results, _| tools::run(&WRK2, args, results),
        validate: |args, _| tools::validate(&WRK2, args),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_has_a_row() {
        let own = |name: &&str| matches!(*name, "ab" | "ghz" | "jmeter" | "k6" | "vegeta");
        let shared: Vec<&str> =
            TOOLS.iter().map(|tool| tool.name).filter(|name| !own(name)).collect();
        assert_eq!(tools::LOAD_TOOLS.map(|tool| tool.name), shared[..]);
    }

    #[test]
    fn tools_stand_by_name() {
        assert!(TOOLS.is_sorted_by_key(|tool| tool.name));
    }
}

//! The commands: one row each; help, man page and completions are made from the same rows.

pub(super) mod features;
mod load;
mod machines;
mod results;
mod scripts;

use cli::{CommandSpec, Registry, rows_of};
use lab::CommandLines;

use super::tools::TOOLS;
use super::{completions, demo, help, man, study};
use crate::dialect::dispatch;
use crate::flags;

/// Every command and every tool of this binary.
pub(crate) const REGISTRY: Registry =
    Registry { commands: COMMANDS, old_names: &[("scheduler", "jitter")], tools: TOOLS };

/// What a study takes from the command lines that it runs.
pub(super) fn command_lines() -> CommandLines {
    CommandLines {
        tools: TOOLS.iter().map(|tool| tool.name).collect(),
        validate: |args| dispatch::validate(&args, &REGISTRY),
    }
}

/// Every command, in the order of the help.
const COMMANDS: &[CommandSpec] = &[
    CommandSpec {
        name: "demo",
        summary: "Show brunt's reports in half a minute, with a server of its own.",
        operands: "",
        about: "Starts a server with six single-threaded workers of 60 ms each, attacks it below and above its capacity, \
                prints both reports and writes brunt-demo.html.",
        examples: &[("brunt demo", "watch a server saturate")],
        rows: || rows_of(flags::serve::DEMO),
        run: demo::run,
        validate: None,
    },
    load::ATTACK,
    load::BENCH,
    load::GRPC,
    load::SEEK,
    load::CABLE,
    scripts::RUN,
    scripts::INSPECT,
    scripts::ARCHIVE,
    scripts::LINT,
    scripts::VENDOR,
    scripts::NEW,
    results::REPORT,
    results::PLOT,
    results::COMPARE,
    results::RUNS,
    results::UI,
    CommandSpec {
        name: "study",
        summary: "Run variants with their servers under workloads, interleaved, and report which is better.",
        operands: "run FILE | new [FILE]",
        about: study::ABOUT,
        examples: &[
            ("brunt study new", "write study.toml, which runs as it is"),
            (
                "brunt study run study.toml -quick -out results",
                "its short form: half a minute, to see that everything works",
            ),
            (
                "brunt study run study.toml -only=puma,nginx -out results",
                "two of its variants; the same command continues after Ctrl-C",
            ),
        ],
        rows: || rows_of(flags::study::STUDY),
        run: |invocation| study::run(invocation, &command_lines()),
        validate: None,
    },
    results::FIT,
    results::ENCODE,
    results::DUMP,
    machines::SERVE,
    machines::WATCH,
    machines::FLEET,
    machines::AGENT,
    scripts::IMPORT,
    scripts::RECORD,
    machines::JITTER,
    CommandSpec {
        name: "completions",
        summary: "Print completions for bash, zsh or fish.",
        operands: "bash|zsh|fish",
        about: "",
        examples: &[(
            "brunt completions bash > /etc/bash_completion.d/brunt",
            "for all users of this machine",
        )],
        rows: Vec::new,
        run: |invocation| completions::run(invocation, &REGISTRY),
        validate: None,
    },
    CommandSpec {
        name: "man",
        summary: "Print the man page.",
        operands: "",
        about: "",
        examples: &[("brunt man | man -l -", "read it")],
        rows: Vec::new,
        run: |invocation| man::run(invocation, &REGISTRY),
        validate: None,
    },
    CommandSpec {
        name: "help",
        summary: "Print help: for one command, or an overview.",
        operands: "[COMMAND | load]",
        about: "",
        examples: &[],
        rows: Vec::new,
        run: |invocation| help::run(invocation, &REGISTRY),
        validate: None,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        for command in COMMANDS {
            let rows = command.native_rows();
            let mut names: Vec<&str> =
                rows.iter().flat_map(|row| row.aliases.iter().copied().chain([row.name])).collect();
            let all = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), all, "{}", command.name);
        }
    }

    #[test]
    fn old_names_lead_to_commands() {
        for (old, now) in REGISTRY.old_names {
            assert!(REGISTRY.names().all(|name| name != *old), "{old}");
            assert_eq!(REGISTRY.command(old).map(|command| command.name), Some(*now));
        }
    }

    #[test]
    fn docs_are_sentences() {
        for row in COMMANDS.iter().flat_map(CommandSpec::native_rows) {
            assert!(row.docs.ends_with(['.', ')']), "-{}: {}", row.name, row.docs);
            assert!(row.docs.len() < 110, "-{}: {}", row.name, row.docs);
        }
    }
}

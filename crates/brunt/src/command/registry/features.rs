//! `brunt help load`: what the commands with load have besides their load, as a table, and why a place in it is empty. The table
//! is made of the commands' own flags; the reasons alone stand here.

use cli::Registry;

/// The commands with load, in the order of the table.
const COMMANDS: [&str; 7] = ["attack", "bench", "grpc", "seek", "run", "cable", "study"];

/// What a command with load may have: the flag, and the words for it.
const FEATURES: [(&str, &str); 18] = [
    ("json", "the report as JSON"),
    ("progress", "progress on the terminal"),
    ("q", "neither progress nor report"),
    ("tui", "the whole terminal"),
    ("web", "the live page"),
    ("prometheus-addr", "live metrics for Prometheus"),
    ("report", "the report as files"),
    ("output", "results in a file"),
    ("to", "the format of the results"),
    ("max-body", "bodies in the results"),
    ("keep-headers", "headers in the results"),
    ("save", "kept in the store"),
    ("fail-on", "gates"),
    ("fail-on-invalid", "INVALID fails"),
    ("abort-when", "ended early"),
    ("watch", "the server beside it"),
    ("fleet", "many machines"),
    ("conn-max-age", "connections replaced"),
];

/// Flags that have the name of a feature and are something else.
const NAMESAKES: [(&str, &str); 1] = [("to", "seek")];

/// Why a command lacks a flag.
const ABSENT: [(&str, &str, &str); 31] = [
    ("json", "run", "k6's -summary-export and handleSummary write JSON; -report=FILE.json is ours"),
    ("progress", "run", "k6's progress is shown unless -q is given"),
    ("progress", "study", "a line a run is always printed"),
    (
        "q",
        "seek",
        "the answer is what it is for; -progress=false leaves the lines of its steps out",
    ),
    ("q", "study", "the answer is what it is for"),
    ("tui", "study", "its runs are short; the live page shows them all"),
    ("prometheus-addr", "study", "its runs are short, and compared in its own report"),
    ("report", "study", "-out=DIR has the report in every form"),
    ("output", "seek", "-state=FILE keeps its steps; a step's requests are not kept"),
    ("output", "run", "k6's -out=FILE (also -o) takes its place"),
    ("to", "seek", "a step's requests are not kept; its -to is the highest load"),
    ("to", "run", "the ending of -out=FILE decides"),
    ("to", "study", "its results are brunt's own format"),
    ("max-body", "seek", "a step's requests are not kept"),
    ("max-body", "run", "scripts see bodies; results count them"),
    ("max-body", "cable", "a message is looked at, not kept"),
    ("max-body", "study", "its attack may say it"),
    ("keep-headers", "seek", "a step's requests are not kept"),
    ("keep-headers", "run", "scripts see headers"),
    ("keep-headers", "cable", "a message has none"),
    ("keep-headers", "study", "its attack may say it"),
    (
        "fail-on",
        "seek",
        "its -objective is the condition of every step, and an answer that is missing is exit code 1",
    ),
    ("fail-on", "study", "its file says what is expected of each variant"),
    ("abort-when", "seek", "a step that misses its objective ends by itself"),
    ("abort-when", "run", "thresholds with abortOnFail end a script"),
    ("abort-when", "study", "-max-time bounds it, and -until-sure ends it early"),
    ("watch", "study", "its file says what is watched"),
    ("fleet", "study", "its servers run on this machine, and so does its load"),
    ("conn-max-age", "run", "options of a script say it: noConnectionReuse, noVUConnectionReuse"),
    ("conn-max-age", "cable", "a WebSocket stays as long as its user"),
    ("conn-max-age", "study", "its attack may say it"),
];

/// The table, for a terminal, and the reasons below it.
pub(in crate::command) fn table(registry: &Registry) -> String {
    let mut text = format!("Commands with load, and what they have beside it:\n\n{:<48}", "");
    COMMANDS.iter().for_each(|name| text.push_str(&format!(" {name:<6}")));
    text.truncate(text.trim_end().len());
    for (flag, words) in FEATURES {
        let head = format!("-{flag}");
        text.push_str(&format!("\n  {head:<17} {words:<28}"));
        for name in COMMANDS {
            let mark = if has(registry, name, flag) { "yes" } else { "-" };
            text.push_str(&format!(" {mark:<6}"));
        }
        text.truncate(text.trim_end().len());
    }
    text.push_str("\n\nWhy a command lacks one:\n\n");
    for (flag, name, reason) in ABSENT {
        let head = format!("{name} -{flag}");
        text.push_str(&format!("  {head:<22} {reason}\n"));
    }
    text.trim_end().to_owned()
}

/// Whether a command has a flag of this name, or one that is also called so.
fn has(registry: &Registry, command: &str, flag: &str) -> bool {
    let rows = registry.command(command).map(|command| command.native_rows()).unwrap_or_default();
    let is_namesake = NAMESAKES.contains(&(flag, command));
    !is_namesake && rows.iter().any(|row| row.name == flag || row.aliases.contains(&flag))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::command::REGISTRY;
    use crate::load::flags::{DisplayFlags, ResultsFlags, display, results};

    #[test]
    fn a_command_has_a_feature_or_a_reason() {
        for (flag, _) in FEATURES {
            for name in COMMANDS {
                let reasons = ABSENT.iter().filter(|(of, at, _)| (*of, *at) == (flag, name));
                let expect = usize::from(!has(&REGISTRY, name, flag));
                assert_eq!(reasons.count(), expect, "-{flag} of {name}");
            }
        }
        for (flag, ..) in ABSENT {
            assert!(FEATURES.iter().any(|(known, _)| *known == flag), "-{flag}");
        }
    }

    #[test]
    fn every_display_and_output_is_a_feature() {
        let shown = cli::rows_of(&display::shown::<Flags>());
        let fails = cli::rows_of(&display::fails::<Flags>());
        let contents = cli::rows_of(&results::contents::<Flags>());
        let all = [shown, fails, contents].concat();
        let names: BTreeSet<&str> = all.iter().map(|row| row.name).collect();
        for name in names {
            assert!(FEATURES.iter().any(|(known, _)| *known == name), "-{name}");
        }
    }

    #[derive(Default)]
    struct Flags {
        display: DisplayFlags,
        results: ResultsFlags,
    }

    crate::load::flags::holds!(Flags: display: DisplayFlags, results: ResultsFlags);

    #[test]
    fn commands_that_send_load_are_in_the_table() {
        for command in REGISTRY.commands.iter().filter(|command| command.validate.is_some()) {
            assert!(COMMANDS.contains(&command.name), "{}", command.name);
        }
    }
}

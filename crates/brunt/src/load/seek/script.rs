//! The script that a search runs in place of targets: which operand is one, and which flags it takes.

use cli::{CommandError, ParsedArgs, usage_error};
use k6::ScriptSource;
use stdx::mix_all;

use super::flags::{Arrivals, Raised, SeekFlags};
use crate::load::flags::client::EngineFlags;
use crate::load::flags::{ClientFlags, HttpFlags, TargetFlags};

/// The endings of scripts and of their archives.
const ENDINGS: [&str; 7] = [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tar"];

/// The script that a command line names; `None` where it names targets.
///
/// # Errors
/// Flags of targets go with a script, or flags of a script with targets.
pub(super) fn script_of(
    args: &ParsedArgs<SeekFlags>,
) -> Result<Option<ScriptSource>, CommandError> {
    let flags = &args.flags;
    let Some(path) = args.operands.iter().find(|operand| is_script(operand)) else {
        return without_script(flags).map(|()| None);
    };
    if args.operands.len() > 1 {
        return Err(usage_error(format!("a search runs one script, and {path} is not alone")));
    }
    check(flags)?;
    Ok(Some(ScriptSource {
        path: path.clone(),
        env: flags.env.clone(),
        cpus: args.global.cpus,
        scenario: flags.scenario.clone(),
    }))
}

/// Whether an operand is a script: a file with its ending, and no URL.
fn is_script(operand: &str) -> bool {
    let is_url = operand.contains("://");
    !is_url && ENDINGS.iter().any(|ending| operand.to_ascii_lowercase().ends_with(ending))
}

/// Refuses what only a script has.
fn without_script(flags: &SeekFlags) -> Result<(), CommandError> {
    let given = [
        ("-by=vus", flags.by == Raised::Vus),
        ("-e", !flags.env.is_empty()),
        ("-scenario", flags.scenario.is_some()),
    ];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        Some((flag, _)) => {
            Err(usage_error(format!("{flag} needs a script (brunt seek {flag} script.js)")))
        }
        None => Ok(()),
    }
}

/// Refuses what a script says itself, or cannot do.
fn check(flags: &SeekFlags) -> Result<(), CommandError> {
    let seed = flags.client.engine.seed;
    let client =
        ClientFlags { engine: EngineFlags { seed, ..Default::default() }, ..Default::default() };
    let is_told = flags.target != TargetFlags::default()
        || flags.http != HttpFlags::default()
        || flags.client != client;
    let refused = [
        (
            is_told,
            "the flags of targets, HTTP, connections and TLS are not for a script, whose requests and options say it",
        ),
        (
            flags.by == Raised::Connections,
            "-by=connections is not for a script (give -by=vus for its virtual users)",
        ),
        (
            flags.arrivals == Some(Arrivals::Poisson),
            "-arrivals=poisson: a script's iterations begin evenly spaced",
        ),
        (flags.fleet != Default::default(), "a search of a script does not run on a fleet yet"),
    ];
    match refused.into_iter().find(|(is_wrong, _)| *is_wrong) {
        Some((_, text)) => Err(usage_error(text)),
        None => Ok(()),
    }
}

/// What makes a search of another script another search: a changed module or file of data is another script, too.
pub(super) fn identity(script: &ScriptSource, files: Option<u64>) -> [(&'static str, String); 4] {
    let env = script.env.iter().flat_map(|(name, value)| [name, value]);
    let env = env.fold(0, |seed, text| mix_all(seed, text.as_bytes()));
    [
        ("script", script.path.clone()),
        ("contents of the script and its files", format!("{:016x}", files.unwrap_or_default())),
        ("scenario", script.scenario.clone().unwrap_or_default()),
        ("variables", format!("{env:016x}")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::seek::config::tests::resolved;

    #[test]
    fn scripts_are_told_from_targets() {
        for (operand, expect) in [
            ("a.js", true),
            ("load/Test.TS", true),
            ("a.tar", true),
            ("http://h/app.js", false),
            ("localhost:3000", false),
        ] {
            assert_eq!(is_script(operand), expect, "{operand}");
        }
    }

    #[test]
    fn flags_go_with_what_has_them() {
        for (line, refused) in [
            ("a.js", false),
            ("-by=vus -e A=b -scenario=s -seed=4 -from=2 a.js", false),
            ("-by=connections a.js", true),
            ("-arrivals=poisson a.js", true),
            ("-timeout=3s a.js", true),
            ("-insecure a.js", true),
            ("-header=A:b a.js", true),
            ("a.js b.js", true),
            ("-by=vus http://h/", true),
            ("-e A=b http://h/", true),
            ("-scenario=s http://h/", true),
        ] {
            assert_eq!(resolved(line).is_err(), refused, "{line}");
        }
        assert_eq!(resolved("a.js").map(|config| config.search.from).ok(), Some(1.0));
    }
}

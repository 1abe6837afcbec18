//! What a command line most likely means that names no command, or gives `attack` the flags of a closed loop: the first guesses of
//! people who know another tool. A guess is said on standard error, and a misspelt command is none.

use cli::{FlagError, Invocation, nearest};

use crate::command::Registry;

/// The flags of a closed loop in other tools: so many requests, so many users.
const OF_USERS: [&str; 4] = ["n", "c", "users", "requests"];
/// What an attack has that is given none of these flags: it ends, and prints its report.
const DEFAULTS: [(&[&str], &str); 2] =
    [(&["duration"], "-duration=10s"), (&["output", "o"], "-output=none")];

/// A command line in place of the one that was typed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Guess {
    /// What is said of it.
    pub(super) notice: String,
    /// The command and what follows.
    pub(super) words: Vec<String>,
}

impl Guess {
    /// What a command line without a command means: an attack on its URL, or a bench where it says how many requests or users.
    /// `None` where it names a command, or nothing that is one stands before the URL.
    pub(super) fn without_command(args: &[String], registry: &Registry) -> Option<Self> {
        let url = args.iter().position(|arg| is_url(arg))?;
        let is_word = |at: &usize| flag_name(&args[*at]).is_none();
        // A word may be the value of the flag before it, but no command, however it is spelt.
        let is_value = |at: usize| {
            let follows_flag = at > 0 && flag_name(&args[at - 1]).is_some();
            follows_flag && nearest(&args[at], registry.names()).is_none()
        };
        let names_command =
            args.iter().any(|arg| registry.names().any(|name| name == arg) || asks_for_help(arg));
        if names_command || !(0..url).filter(is_word).all(is_value) {
            return None;
        }
        let mut words: Vec<String> = Vec::new();
        if has_flag(args, &OF_USERS) {
            words.push("bench".to_owned());
        } else {
            words.push("attack".to_owned());
            let missing = DEFAULTS.iter().filter(|(names, _)| !has_flag(args, names));
            words.extend(missing.map(|(_, flag)| (*flag).to_owned()));
        }
        let notice = format!("brunt: no command is given, so this is brunt {}", words.join(" "));
        words.extend_from_slice(args);
        Some(Self { notice, words })
    }

    /// A bench in place of an attack with this unknown flag, where its other flags are those of a bench too.
    pub(super) fn of_attack(
        error: &FlagError,
        invocation: &Invocation,
        registry: &Registry,
    ) -> Option<Self> {
        let flag = flag_of_users(error)?;
        (registry.command("bench")?.validate?)(invocation).ok()?;
        let notice = format!("brunt attack: -{flag} is of a closed loop, so this is brunt bench");
        let words = [&["bench".to_owned()], &invocation.args[..]].concat();
        Some(Self { notice, words })
    }
}

/// What to give instead of an unknown flag of `attack` that is one of `bench`.
pub(super) fn hint(error: &FlagError) -> Option<String> {
    let flag = flag_of_users(error)?;
    Some(format!(
        "unknown flag -{flag} (it is of a closed loop, without a rate: brunt bench -n 100 -c 10 URL)"
    ))
}

fn flag_of_users(error: &FlagError) -> Option<&str> {
    match error {
        FlagError::Unknown { name, .. } => Some(name).filter(|name| OF_USERS.contains(&&***name)),
        _ => None,
    }
    .map(String::as_str)
}

/// A URL that requests can be sent to.
fn is_url(arg: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| {
        arg.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    })
}

/// The name of a flag, without its dashes and its value; `None` for another word.
fn flag_name(arg: &str) -> Option<&str> {
    let body = arg.strip_prefix('-').filter(|body| !body.is_empty())?;
    body.strip_prefix('-').unwrap_or(body).split('=').next()
}

fn has_flag(args: &[String], names: &[&str]) -> bool {
    args.iter().filter_map(|arg| flag_name(arg)).any(|name| names.contains(&name))
}

fn asks_for_help(arg: &str) -> bool {
    flag_name(arg).is_some_and(|name| ["h", "help", "version"].contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::REGISTRY;

    fn words(line: &str) -> Option<String> {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Guess::without_command(&args, &REGISTRY).map(|guess| guess.words.join(" "))
    }

    #[test]
    fn a_url_alone_is_attacked_and_users_are_a_bench() {
        let attack = "attack -duration=10s -output=none";
        let cases = [
            ("http://h/", format!("{attack} http://h/")),
            ("HTTPS://h/ -rate 5", format!("{attack} HTTPS://h/ -rate 5")),
            ("-cpus 2 -rate=5 http://h/", format!("{attack} -cpus 2 -rate=5 http://h/")),
            ("http://h/ --duration 5s", "attack -output=none http://h/ --duration 5s".to_owned()),
            ("-o=x.arrow http://h/", "attack -duration=10s -o=x.arrow http://h/".to_owned()),
            ("-n 100 -c 10 http://h/", "bench -n 100 -c 10 http://h/".to_owned()),
            ("http://h/ --users=10", "bench http://h/ --users=10".to_owned()),
        ];
        for (line, expect) in cases {
            assert_eq!(words(line), Some(expect), "{line}");
        }
    }

    #[test]
    fn nothing_is_guessed_of_a_command_however_it_is_spelt() {
        let lines = [
            "attack http://h/",
            "-cpus 2 bench http://h/",
            "hey http://h/",
            "atack http://h/",
            "-n 100 bensh http://h/",
            "nonsense http://h/",
            "http://h/ -help",
            "-version http://h/",
            "localhost:8080",
            "-n 100",
            "",
        ];
        for line in lines {
            assert_eq!(words(line), None, "{line}");
        }
    }

    #[test]
    fn an_attack_of_users_is_a_bench_where_the_rest_allows_it() {
        let unknown = |name: &str| FlagError::Unknown { name: name.to_owned(), suggestion: None };
        let guess = |flag: &str, line: &str| {
            let invocation = Invocation {
                dialect: cli::Dialect::Native,
                global: cli::GlobalFlags::default(),
                args: line.split_whitespace().map(str::to_owned).collect(),
            };
            Guess::of_attack(&unknown(flag), &invocation, &REGISTRY)
                .map(|guess| guess.words.join(" "))
        };
        let line = "-n 100 -users 10 -duration 5s http://h/";
        assert_eq!(guess("n", line), Some(format!("bench {line}")));
        assert_eq!(guess("n", "-n 100 -rate 5 http://h/"), None, "a rate is of no bench");
        assert_eq!(guess("n", "-n 100"), None, "standard input has the targets of an attack");
        assert_eq!(guess("rat", "-rat 5 http://h/"), None);
        assert!(hint(&unknown("n")).is_some_and(|text| text.contains("brunt bench -n 100")));
        assert_eq!(hint(&unknown("rat")), None);
    }
}

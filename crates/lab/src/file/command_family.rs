//! `CommandFamily`: the command of a workload, and the arguments that a study adds: the file of its results, and the warm-up.

use std::path::Path;

use cli::nearest;
use stdx::Nanos;

/// Commands with the same flags for the file of their results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandFamily {
    /// `-output=F`.
    Attack,
    /// The same, with a warm-up of its own.
    Bench,
    /// `-output=F`, and its report as JSON besides.
    Cable,
    /// No results; its JSON holds what it found.
    Seek,
    /// `-o F`, after this number of words.
    Script(usize),
    /// `vegeta attack`: `-output=F`.
    Vegeta,
    /// The command line of another tool: `--results=F`.
    Tool,
}

/// The commands a workload may be.
const OWN: [(&str, CommandFamily); 5] = [
    ("attack", CommandFamily::Attack),
    ("bench", CommandFamily::Bench),
    ("cable", CommandFamily::Cable),
    ("seek", CommandFamily::Seek),
    ("run", CommandFamily::Script(1)),
];

/// Flags that name the file of the results, which the study chooses.
const OUTPUT_FLAGS: [&str; 4] = ["output", "o", "out", "results"];

impl CommandFamily {
    /// The family of a command line; `tools` are the other tools whose command lines brunt reads.
    ///
    /// # Errors
    /// The command does not generate load, or names the file of its results; in words.
    pub(crate) fn of(words: &[String], tools: &[&str]) -> Result<Self, String> {
        let first = words.first().map_or("", String::as_str);
        let second = words.get(1).map_or("", String::as_str);
        let own = OWN.iter().find(|(name, _)| *name == first).map(|(_, family)| *family);
        let family = match (own, first, second) {
            (Some(family), ..) => family,
            (None, "k6", "run") => Self::Script(2),
            (None, "vegeta", "attack") => Self::Vegeta,
            (None, "k6" | "vegeta", _) => {
                return Err(format!("\"{first} {second}\" does not generate load"));
            }
            (None, tool, _) if tools.contains(&tool) => Self::Tool,
            _ => {
                let known = OWN.iter().map(|(name, _)| *name);
                let known = known.chain(tools.iter().copied());
                let near = nearest(first, known);
                let hint = near.map_or(String::new(), |near| format!(" (did you mean {near}?)"));
                let first = first.escape_debug();
                return Err(format!("\"{first}\" is no command of brunt that offers load{hint}"));
            }
        };
        match words.iter().skip(1).find(|word| family.is_output_flag(word)) {
            Some(word) => Err(format!("{word}: where results go is the study's to say")),
            None => Ok(family),
        }
    }

    /// The word is a flag that names the file of the results. Other tools have their own meanings of `-o`.
    fn is_output_flag(self, word: &str) -> bool {
        let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-'));
        let name = name.map(|name| name.split_once('=').map_or(name, |(name, _)| name));
        name.is_some_and(|name| match self {
            Self::Tool => name == "results" && word.starts_with("--"),
            _ => OUTPUT_FLAGS.contains(&name),
        })
    }

    /// It writes results, which `brunt compare` reads.
    #[must_use]
    pub(crate) fn has_results(self) -> bool {
        self != Self::Seek
    }

    /// It prints JSON with figures of its own.
    #[must_use]
    pub(crate) fn prints_json(self) -> bool {
        matches!(self, Self::Cable | Self::Seek)
    }

    /// The arguments of a measurement with its results in this file, and with this warm-up if the command has one.
    #[must_use]
    pub(crate) fn measured(self, words: &[String], results: &Path, warm_up: Nanos) -> Vec<String> {
        let file = results.display();
        match self {
            Self::Attack => inserted(words, 1, &[format!("-output={file}")]),
            Self::Bench if warm_up > Nanos::ZERO && self.takes_warm_up(words) => {
                inserted(words, 1, &[format!("-output={file}"), format!("-warmup={warm_up}")])
            }
            Self::Bench => inserted(words, 1, &[format!("-output={file}")]),
            Self::Cable => inserted(words, 1, &[format!("-output={file}"), "-json".to_owned()]),
            Self::Seek => inserted(words, 1, &["-json".to_owned()]),
            Self::Script(at) => inserted(words, at, &["-o".to_owned(), file.to_string()]),
            Self::Vegeta => inserted(words, 2, &[format!("-output={file}")]),
            Self::Tool => inserted(words, 1, &[format!("--results={file}")]),
        }
    }

    /// The command warms up by itself.
    #[must_use]
    pub(crate) fn takes_warm_up(self, words: &[String]) -> bool {
        let own = |word: &String| word.trim_start_matches('-').starts_with("warmup");
        self == Self::Bench && !words.iter().any(own)
    }

    /// The arguments that offer the same load without results; `None` if the command warms up by itself.
    #[must_use]
    pub(crate) fn thrown_away(self, words: &[String]) -> Option<Vec<String>> {
        match self {
            Self::Bench | Self::Seek => None,
            Self::Attack => Some(inserted(words, 1, &["-output=none".to_owned()])),
            Self::Vegeta => Some(inserted(words, 2, &["-output=/dev/null".to_owned()])),
            Self::Cable | Self::Script(_) | Self::Tool => Some(words.to_vec()),
        }
    }
}

fn inserted(words: &[String], at: usize, more: &[String]) -> Vec<String> {
    let (before, after) = words.split_at(at.min(words.len()));
    [before, more, after].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOLS: [&str; 4] = ["ab", "hey", "vegeta", "wrk"];

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn every_command_names_the_file_of_its_results() {
        let cases = [
            ("attack -rate=5", "attack -output=f -rate=5"),
            ("bench -c 2 URL", "bench -output=f -warmup=2s -c 2 URL"),
            ("bench -warmup 1s URL", "bench -output=f -warmup 1s URL"),
            ("cable echo URL", "cable -output=f -json echo URL"),
            ("seek URL", "seek -json URL"),
            ("run s.js", "run -o f s.js"),
            ("k6 run s.js", "k6 run -o f s.js"),
            ("vegeta attack -rate=5", "vegeta attack -output=f -rate=5"),
            ("ab -n 5 URL", "ab --results=f -n 5 URL"),
            ("hey -o csv URL", "hey --results=f -o csv URL"),
        ];
        for (line, expected) in cases {
            let line = words(line);
            let family = CommandFamily::of(&line, &TOOLS).unwrap();
            let made = family.measured(&line, Path::new("f"), Nanos::from_secs(2));
            assert_eq!(made.join(" "), expected);
        }
    }

    #[test]
    fn commands_without_load_are_refused() {
        let cases = [
            ("atack -rate=5", "did you mean attack?"),
            ("report x", "offers load"),
            ("vegeta report", "does not generate load"),
            ("attack -output=x", "-output=x: where results go"),
            ("run --out json s.js", "--out: where results go"),
            ("wrk --results x", "--results: where results go"),
            ("", "is no command"),
        ];
        for (line, expected) in cases {
            let wrong = CommandFamily::of(&words(line), &TOOLS).unwrap_err();
            assert!(wrong.contains(expected), "{line}: {wrong}");
        }
    }

    #[test]
    fn warm_ups_have_no_results() {
        let thrown = |line: &str| {
            let line = words(line);
            CommandFamily::of(&line, &TOOLS)
                .unwrap()
                .thrown_away(&line)
                .map(|words| words.join(" "))
        };
        assert_eq!(thrown("attack -rate=5").as_deref(), Some("attack -output=none -rate=5"));
        assert_eq!(thrown("ab -n 5 URL").as_deref(), Some("ab -n 5 URL"));
        assert_eq!((thrown("bench URL"), thrown("seek URL")), (None, None));
    }
}

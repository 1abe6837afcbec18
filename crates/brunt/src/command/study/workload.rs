//! What a workload's command is, and the words it is run with: where its results go, and what is offered as a warm-up.

use std::path::Path;

use cli::nearest;
use stdx::Nanos;

/// Commands that are alike in how they are told where results go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// `-output=F`.
    Attack,
    /// The same, with a warm-up of its own.
    Bench,
    /// `-output=F`, and its report as JSON besides.
    Cable,
    /// No results: its JSON is what it found.
    Seek,
    /// `-o F`; the words before it number so many.
    Script(usize),
    /// `vegeta attack`: `-output=F`.
    Vegeta,
    /// Another tool's line: `--results=F`.
    Peer,
}

/// The commands a workload may be.
const OWN: [(&str, Family); 5] = [
    ("attack", Family::Attack),
    ("bench", Family::Bench),
    ("cable", Family::Cable),
    ("seek", Family::Seek),
    ("run", Family::Script(1)),
];

/// Flags that say where results go: those are the study's to give.
const PLACES: [&str; 4] = ["output", "o", "out", "results"];

impl Family {
    /// The family of a command line, or what is wrong with it.
    pub(super) fn of(words: &[String], tools: &[&str]) -> Result<Self, String> {
        let first = words.first().map_or("", String::as_str);
        let second = words.get(1).map_or("", String::as_str);
        let own = OWN.iter().find(|(name, _)| *name == first).map(|(_, family)| *family);
        let family = match (own, first, second) {
            (Some(family), ..) => family,
            (None, "k6", "run") => Self::Script(2),
            (None, "vegeta", "attack") => Self::Vegeta,
            (None, "k6" | "vegeta", _) => {
                return Err(format!("\"{first} {second}\" offers no load"));
            }
            (None, tool, _) if tools.contains(&tool) => Self::Peer,
            _ => {
                let known = OWN.iter().map(|(name, _)| *name);
                let known = known.chain(tools.iter().copied());
                let meant = nearest(first, known);
                let meant = meant.map_or(String::new(), |one| format!(" (did you mean {one}?)"));
                let first = first.escape_debug();
                return Err(format!("\"{first}\" is no command of brunt that offers load{meant}"));
            }
        };
        match words.iter().skip(1).find(|word| family.is_place(word)) {
            Some(word) => Err(format!("{word}: where results go is the study's to say")),
            None => Ok(family),
        }
    }

    /// This word says where results go. Other tools have their own meanings of `-o`.
    fn is_place(self, word: &str) -> bool {
        let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-'));
        let name = name.map(|name| name.split_once('=').map_or(name, |(name, _)| name));
        name.is_some_and(|name| match self {
            Self::Peer => name == "results" && word.starts_with("--"),
            _ => PLACES.contains(&name),
        })
    }

    /// It writes results, which `brunt compare` reads.
    #[must_use]
    pub(super) fn has_results(self) -> bool {
        self != Self::Seek
    }

    /// What it prints is JSON with figures of its own.
    #[must_use]
    pub(super) fn prints_json(self) -> bool {
        matches!(self, Self::Cable | Self::Seek)
    }

    /// The words that measure, with results there. `warm_up` is taken in where the command knows one.
    #[must_use]
    pub(super) fn measured(self, words: &[String], results: &Path, warm_up: Nanos) -> Vec<String> {
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
            Self::Peer => inserted(words, 1, &[format!("--results={file}")]),
        }
    }

    /// The command itself begins with a warm-up.
    #[must_use]
    pub(super) fn takes_warm_up(self, words: &[String]) -> bool {
        let own = |word: &String| word.trim_start_matches('-').starts_with("warmup");
        self == Self::Bench && !words.iter().any(own)
    }

    /// The words that offer the same and keep nothing; `None` where the command warms up by itself.
    #[must_use]
    pub(super) fn thrown_away(self, words: &[String]) -> Option<Vec<String>> {
        match self {
            Self::Bench | Self::Seek => None,
            Self::Attack => Some(inserted(words, 1, &["-output=none".to_owned()])),
            Self::Vegeta => Some(inserted(words, 2, &["-output=/dev/null".to_owned()])),
            Self::Cable | Self::Script(_) | Self::Peer => Some(words.to_vec()),
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

    const TOOLS: [&str; 4] = ["ab", "hey", "wrk", "wrk2"];

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn every_command_is_told_where_results_go() {
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
            let family = Family::of(&line, &TOOLS).unwrap();
            let made = family.measured(&line, Path::new("f"), Nanos::from_secs(2));
            assert_eq!(made.join(" "), expected);
        }
    }

    #[test]
    fn what_is_no_load_is_said() {
        let cases = [
            ("atack -rate=5", "did you mean attack?"),
            ("report x", "offers load"),
            ("vegeta report", "offers no load"),
            ("attack -output=x", "-output=x: where results go"),
            ("run --out json s.js", "--out: where results go"),
            ("wrk --results x", "--results: where results go"),
            ("", "is no command"),
        ];
        for (line, expected) in cases {
            let wrong = Family::of(&words(line), &TOOLS).unwrap_err();
            assert!(wrong.contains(expected), "{line}: {wrong}");
        }
    }

    #[test]
    fn warm_ups_keep_nothing() {
        let thrown = |line: &str| {
            let line = words(line);
            Family::of(&line, &TOOLS).unwrap().thrown_away(&line).map(|words| words.join(" "))
        };
        assert_eq!(thrown("attack -rate=5").as_deref(), Some("attack -output=none -rate=5"));
        assert_eq!(thrown("ab -n 5 URL").as_deref(), Some("ab -n 5 URL"));
        assert_eq!((thrown("bench URL"), thrown("seek URL")), (None, None));
    }
}

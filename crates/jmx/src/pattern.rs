//! `Pattern`: regular expressions of plans. Plans are written for Oro's dialect of Perl 5; their steps are bounded here.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use fancy_regex::{Regex, RegexBuilder};

use crate::ending;

/// A regular expression.
#[derive(Debug)]
pub(crate) struct Pattern {
    found: Regex,
    whole: Regex,
}

/// A part of a text that a pattern matches, and what its groups do; the first is all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Match {
    pub(crate) groups: Vec<Option<String>>,
}

/// Why a pattern is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub(crate) struct PatternError {
    reason: String,
}

/// Steps back in one match at most: what goes on for longer does not match.
const STEPS_MAX: usize = 500_000;
/// Matches of one text are looked for so long at most: each may take all those steps.
const MATCHING_MAX: Duration = Duration::from_secs(1);
/// Bytes of a compiled pattern at most.
const SIZE_MAX: usize = 8 << 20;
/// Patterns that a thread keeps at most, and about how many bytes of them, and no more than a 16th of what the process may take; then
/// it begins anew.
const KEPT_MAX: usize = 500;
const KEPT_BYTES_MAX: usize = 64 << 20;
/// Bytes of a compiled letter, about: classes of letters have hundreds of ranges.
const LETTER_BYTES: usize = 256;

/// The patterns of a thread, and about how many bytes they take.
type KnownPatterns = (HashMap<String, Result<Rc<Pattern>, PatternError>>, usize);

thread_local! {
    static KEPT: RefCell<KnownPatterns> = RefCell::default();
}

impl Pattern {
    /// A pattern, compiled once for each thread.
    pub(crate) fn of(written: &str) -> Result<Rc<Self>, PatternError> {
        KEPT.with_borrow_mut(|(kept, bytes)| {
            if let Some(pattern) = kept.get(written) {
                return pattern.clone();
            }
            *bytes = bytes.saturating_add(size(written));
            if kept.len() >= KEPT_MAX || *bytes > stdx::within_memory(KEPT_BYTES_MAX, 16) {
                kept.clear();
                *bytes = size(written);
            }
            let pattern = Self::compile(written).map(Rc::new);
            kept.insert(written.to_owned(), pattern.clone());
            pattern
        })
    }

    fn compile(written: &str) -> Result<Self, PatternError> {
        let translated = translate(written);
        let build = |pattern: &str| {
            RegexBuilder::new(pattern)
                .backtrack_limit(STEPS_MAX)
                .delegate_size_limit(SIZE_MAX)
                .build()
                .map_err(|error| PatternError { reason: reason(&error, written) })
        };
        let found = build(&translated)?;
        let whole = build(&format!("\\A(?:{translated})\\z"))?;
        Ok(Self { found, whole })
    }

    /// Whether it matches somewhere.
    pub(crate) fn is_found(&self, text: &str) -> bool {
        self.found.is_match(text).unwrap_or(false)
    }

    /// Whether it matches all of a text.
    pub(crate) fn is_whole(&self, text: &str) -> bool {
        self.whole.is_match(text).unwrap_or(false)
    }

    /// What it matches, one after another, so many at most.
    pub(crate) fn matches(&self, text: &str, max: usize) -> Vec<Match> {
        let (mut matches, began, mut bytes) = (Vec::new(), Instant::now(), 0);
        for captures in self.found.captures_iter(text).take(max) {
            let Ok(captures) = captures else { break };
            if ending::is_over() || began.elapsed() > MATCHING_MAX {
                break;
            }
            let lengths = captures.iter().flatten().map(|group| group.as_str().len());
            bytes += lengths.sum::<usize>();
            if bytes > GROUP_BYTES_MAX {
                break;
            }
            let groups =
                captures.iter().map(|group| group.map(|group| group.as_str().to_owned())).collect();
            matches.push(Match { groups });
        }
        matches
    }
}

/// Bytes of all groups of a text's matches at most: a group may be the rest of the text at each place.
const GROUP_BYTES_MAX: usize = 256 << 20;

/// About how many bytes a pattern takes that is compiled twice: what `{1000}` repeats is there as often.
fn size(written: &str) -> usize {
    let repeated = |rest: &str| {
        let counts = rest.split(['}', ',']).take(2).filter_map(|count| count.parse().ok());
        counts.max().unwrap_or(1_usize).max(1)
    };
    let times = written.split('{').skip(1).map(repeated).fold(1, usize::saturating_mul);
    written.len().saturating_mul(times).saturating_mul(2 * LETTER_BYTES).min(2 * SIZE_MAX)
}

/// Whether a regular expression matches all of a text; a broken one matches nothing.
#[must_use]
pub fn matches_whole(pattern: &str, text: &str) -> bool {
    Pattern::of(pattern).is_ok_and(|pattern| pattern.is_whole(text))
}

/// Oro's words for the faults that occur, and the compiler's for others.
fn reason(error: &fancy_regex::Error, written: &str) -> String {
    let opened = written.matches('(').count();
    if opened != written.matches(')').count() {
        return "Unmatched parentheses.".to_owned();
    }
    error.to_string()
}

/// A pattern in the letters of the library: what stands for itself in Oro's dialect does so there.
fn translate(written: &str) -> String {
    let letters: Vec<char> = written.chars().collect();
    let is_multiline = has_flag(written, 'm');
    let mut translated = String::with_capacity(written.len() + 16);
    let mut at = 0;
    while at < letters.len() {
        match letters[at] {
            '\\' => {
                escape(letters.get(at + 1).copied(), &mut translated);
                at += 1;
            }
            '[' => at = class(&letters, at, &mut translated),
            '$' if !is_multiline => translated.push_str("(?=\\n?\\z)"),
            '{' if !is_repetition(&letters[at + 1..]) => translated.push_str("\\{"),
            '{' => {
                let end = letters[at..].iter().position(|letter| *letter == '}').unwrap_or(0);
                translated.extend(&letters[at..=at + end]);
                at += end;
            }
            '}' => translated.push_str("\\}"),
            other => translated.push(other),
        }
        at += 1;
    }
    translated
}

/// Whether a flag is switched on somewhere: `(?im)`.
fn has_flag(written: &str, flag: char) -> bool {
    written.split("(?").skip(1).any(|rest| {
        let flags = rest.split(|letter: char| !letter.is_ascii_lowercase()).next();
        flags.is_some_and(|flags| flags.contains(flag))
    })
}

fn escape(letter: Option<char>, translated: &mut String) {
    match letter {
        Some(plain @ ('<' | '>')) => translated.push(plain),
        // Letters that have no meaning in Perl 5 stand for themselves.
        Some(plain @ ('h' | 'i' | 'j' | 'k' | 'l' | 'm' | 'o' | 'q' | 'y' | 'g' | 'H' | 'I')) => {
            translated.push(plain);
        }
        Some('"') => translated.push('"'),
        Some(other) if !other.is_ascii() => translated.push(other),
        Some(other) => translated.extend(['\\', other]),
        None => translated.push('\\'),
    }
}

/// Whether `{` has begun `{2}`, `{2,}` or `{2,4}`.
fn is_repetition(rest: &[char]) -> bool {
    let Some(end) = rest.iter().position(|letter| *letter == '}') else { return false };
    let inner = &rest[..end];
    inner.first().is_some_and(char::is_ascii_digit)
        && inner.iter().all(|letter| letter.is_ascii_digit() || *letter == ',')
        && inner.iter().filter(|letter| **letter == ',').count() <= 1
}

/// A class of letters, `[...]`; where it has ended. Brackets and operators of sets in it stand for themselves.
fn class(letters: &[char], begin: usize, translated: &mut String) -> usize {
    let mut at = begin + 1;
    translated.push('[');
    if letters.get(at) == Some(&'^') {
        translated.push('^');
        at += 1;
    }
    if letters.get(at) == Some(&']') {
        translated.push_str("\\]");
        at += 1;
    }
    while at < letters.len() {
        match (letters[at], letters.get(at + 1)) {
            (']', _) => {
                translated.push(']');
                return at;
            }
            ('\\', Some(letter)) => {
                escape(Some(*letter), translated);
                at += 1;
            }
            ('[', Some(':')) => {
                let end = letters[at..].windows(2).position(|pair| pair == [':', ']']);
                match end.filter(|end| *end > 1) {
                    Some(end) => {
                        translated.extend(&letters[at..=at + end + 1]);
                        at += end + 1;
                    }
                    None => translated.push_str("\\["),
                }
            }
            (special @ ('[' | '&' | '~'), _) => translated.extend(['\\', special]),
            ('-', Some('-')) => translated.push_str("\\-"),
            (other, _) => translated.push(other),
        }
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn first(pattern: &str, text: &str) -> Vec<String> {
        let found = Pattern::of(pattern).expect("a pattern").matches(text, 1);
        let groups = found.into_iter().next().map(|found| found.groups).unwrap_or_default();
        groups.into_iter().map(Option::unwrap_or_default).collect()
    }

    #[test]
    fn letters_of_plans_stand_for_themselves() {
        for (pattern, text, expect) in [
            (r#"{"id":(\d+)}"#, r#"x {"id":12} y"#, "12"),
            (r#""a\":\"(.+?)\""#, r#"{"a":"b"}"#, "b"),
            (r"\<b\>(.*?)\</b\>", "<b>x</b>", "x"),
            ("([^[]+)", "ab[c", "ab"),
            ("([a&&b]+)", "a&b", "a&b"),
            ("(x{2})", "axxx", "xx"),
            ("([[:alpha:]]+)", "1ab", "ab"),
            (r"(\w+)\s\1", "go go", "go"),
            ("(?<=a)(b)", "ab", "b"),
            ("(last)$", "last\n", "last"),
            ("(?i)(SE\\w+)", "second", "second"),
            ("(?s)(a.b)", "a\nb", "a\nb"),
            ("(\\w+) x", "üñ x", "üñ"),
        ] {
            assert_eq!(first(pattern, text).get(1).map(String::as_str), Some(expect), "{pattern}");
        }
        assert!(first("^b$", "a\nb\nc").is_empty());
        assert_eq!(first("(?m)^b$", "a\nb\nc"), ["b"]);
    }

    /// Patterns that a script makes anew each time were kept by their number alone, 8 MiB each.
    #[test]
    fn issue_42_kept_patterns_are_bounded_by_their_size() {
        assert_eq!((size("ab"), size("a{10}")), (1_024, 5 * 10 * 512));
        assert_eq!(size("(\\w{1000}){1000}"), 2 * SIZE_MAX);
        for number in 0..40 {
            Pattern::of(&format!("a{number}b{{2,900}}c{{3}}")).expect("a pattern");
            KEPT.with_borrow(|(kept, bytes)| {
                assert!(*bytes <= KEPT_BYTES_MAX && !kept.is_empty(), "{bytes}");
            });
        }
        KEPT.with_borrow(|(kept, _)| assert!(kept.len() < 40, "{}", kept.len()));
    }

    #[test]
    fn whole_texts_match_by_any_alternative() {
        let pattern = Pattern::of("a|ab").expect("a pattern");
        assert!(pattern.is_whole("ab") && !pattern.is_whole("abc") && pattern.is_found("xabc"));
    }

    #[test]
    fn endless_patterns_end_and_broken_ones_have_reasons() {
        let text = "a".repeat(5_000);
        assert!(!Pattern::of("(a*)*\\1b").expect("a pattern").is_found(&text));
        let error = Pattern::of("(a").expect_err("broken");
        assert_eq!(error.to_string(), "Unmatched parentheses.");
    }
}

//! `RepeatedWarnings`: of warnings with the same words a few are written each second, and of the others their number: a script that
//! asks a blocked host in an endless loop would write 100,000 lines a second.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use script::LogFields;

/// Warnings of the same words that are written in a second.
const SHOWN_MAX: u64 = 10;
/// Different words that are counted, at most. Others are counted together.
const KINDS_MAX: usize = 256;
const PERIOD: Duration = Duration::from_secs(1);

/// How often warnings of the same words came.
#[derive(Debug, Default)]
pub(super) struct RepeatedWarnings(Mutex<HashMap<String, Repeated>>);

#[derive(Debug)]
struct Repeated {
    /// When the second began in which they are counted.
    since: Instant,
    came: u64,
}

/// Warnings that were not written.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unwritten {
    /// The words that they have in common.
    pub(super) words: String,
    pub(super) count: u64,
}

/// What is to be done with a warning.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Decision {
    pub(super) is_written: bool,
    /// Those before it that were not.
    pub(super) before: Option<Unwritten>,
}

impl RepeatedWarnings {
    /// Takes a warning in, and says whether it is to be written.
    pub(super) fn note(&self, text: &str, fields: LogFields<'_>, now: Instant) -> Decision {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut words = words(text, fields);
        if all.len() >= KINDS_MAX && !all.contains_key(&words) {
            words.clear();
        }
        let known = all.entry(words.clone()).or_insert(Repeated { since: now, came: 0 });
        let mut before = None;
        if now.saturating_duration_since(known.since) >= PERIOD {
            before = known.unwritten(&words);
            *known = Repeated { since: now, came: 0 };
        }
        known.came += 1;
        Decision { is_written: known.came <= SHOWN_MAX, before }
    }

    /// All that were not written, by their words, once.
    pub(super) fn take(&self) -> Vec<Unwritten> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut list: Vec<_> =
            all.drain().filter_map(|(words, known)| known.unwritten(&words)).collect();
        list.sort_by(|a, b| a.words.cmp(&b.words));
        list
    }
}

impl Repeated {
    fn unwritten(&self, words: &str) -> Option<Unwritten> {
        let count = self.came.saturating_sub(SHOWN_MAX);
        (count > 0).then(|| Unwritten { words: words.to_owned(), count })
    }
}

/// The words of a warning: without the URL, which may be another each time (`Get "URL": reason`).
fn words(text: &str, fields: LogFields<'_>) -> String {
    let error = fields.iter().find(|(name, _)| *name == "error").map(|(_, value)| *value);
    match error {
        Some(error) => {
            let reason = error.rsplit_once("\": ").map_or(error, |(_, reason)| reason);
            format!("{text}: {reason}")
        }
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_warnings_some_are_written_and_the_rest_counted() {
        let warnings = RepeatedWarnings::default();
        let began = Instant::now();
        let note = |number: u64, at: Instant| {
            let error = format!("Get \"http://h/{number}\": hostname is blocked");
            warnings.note("Request Failed", &[("error", &error)], at)
        };
        let written = (0..1000).filter(|number| note(*number, began).is_written).count();
        assert_eq!(written as u64, SHOWN_MAX);
        let count = 1000 - SHOWN_MAX;
        let words = "Request Failed: hostname is blocked".to_owned();
        let before = Some(Unwritten { words: words.clone(), count });
        assert_eq!(note(0, began + PERIOD), Decision { is_written: true, before });
        (0..SHOWN_MAX).for_each(|number| drop(note(number, began + PERIOD)));
        assert_eq!(warnings.take(), [Unwritten { words, count: 1 }]);
        assert_eq!(warnings.take(), []);
    }

    #[test]
    fn other_words_are_counted_apart_and_bounded() {
        let (warnings, now) = (RepeatedWarnings::default(), Instant::now());
        for number in 0..1000 {
            warnings.note(&format!("warning {number}"), &[], now);
        }
        assert_eq!(warnings.take().len(), 1, "those beyond the bound are counted together");
    }
}

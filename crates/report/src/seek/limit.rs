//! `LimitAtLoad`: what limits the server in one step of a search, as that step's own conclusion has it.

use crate::Input;
use crate::conclusion::{Conclusion, Kind, remedy_of};

/// What limits the server, seen in a step at one load.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitAtLoad {
    /// The step's load: hits per second, or connections.
    pub load: f64,
    /// Whether the step missed the objective. One that met it shows only what is nearest to its limit.
    pub missed: bool,
    sentences: Vec<(Kind, String)>,
}

impl LimitAtLoad {
    /// Of a step that has this report; `None` where nothing that was watched shows one.
    #[must_use]
    pub fn of(load: f64, missed: bool, step: &Input<'_>) -> Option<Self> {
        let conclusion = Conclusion::of(step);
        let of_kind = |kind| conclusion.text_of(kind).map(|text| (kind, text.to_owned()));
        // Advice without its reason is none; to search for the limit, which a run's advice ends with, is what was just done.
        let bottleneck = of_kind(Kind::Bottleneck)?;
        let advice = remedy_of(step).filter(|_| missed).map(|text| (Kind::Advice, text));
        Some(Self {
            load,
            missed,
            sentences: [Some(bottleneck), advice].into_iter().flatten().collect(),
        })
    }

    /// Whether this shows more of the limit than `other` does: the lowest load that missed the objective is nearest to the
    /// limit, and where none did, the highest is.
    #[must_use]
    pub fn is_nearer_than(&self, other: &Self) -> bool {
        match (self.missed, other.missed) {
            (true, true) => self.load < other.load,
            (false, false) => self.load > other.load,
            (missed, _) => missed,
        }
    }

    /// The kinds and texts of a search's sentences; `load` is the step's in words.
    pub(super) fn sentences(&self, load: &str) -> Vec<(&'static str, String)> {
        let place = match self.missed {
            true => "the lowest load that missed the objective",
            false => "the highest load that was tried",
        };
        let sentence = |(kind, text): &(Kind, String)| {
            let seen = match kind {
                Kind::Bottleneck => format!("{text} This was seen at {load}, {place}."),
                _ => text.clone(),
            };
            (kind.name(), seen)
        };
        self.sentences.iter().map(sentence).collect()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A bottleneck with its advice.
    pub(in super::super) fn limit(load: f64, missed: bool) -> LimitAtLoad {
        let sentences = [(Kind::Bottleneck, "Bottleneck: the CPU."), (Kind::Advice, "Next: more.")];
        let sentences = sentences.map(|(kind, text)| (kind, text.to_owned())).to_vec();
        LimitAtLoad { load, missed, sentences }
    }

    #[test]
    fn the_lowest_load_that_missed_is_nearest() {
        let near = |load, missed, other, other_missed| {
            limit(load, missed).is_nearer_than(&limit(other, other_missed))
        };
        assert!(near(80.0, true, 160.0, true) && !near(160.0, true, 80.0, true));
        assert!(near(80.0, false, 40.0, false) && !near(40.0, false, 80.0, false));
        assert!(near(160.0, true, 80.0, false) && !near(80.0, false, 160.0, true));
    }

    #[test]
    fn the_sentences_name_the_load() {
        let texts = limit(80.0, true).sentences("80/s").into_iter().map(|(_, text)| text);
        let expect = [
            "Bottleneck: the CPU. This was seen at 80/s, the lowest load that missed the objective.",
            "Next: more.",
        ];
        assert_eq!(texts.collect::<Vec<_>>(), expect);
    }
}

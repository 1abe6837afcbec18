//! `-fail-on`: which limits a comparison crosses, and where its runs do not decide it.

use study::contrast::{Limit, LimitVerdict, RUNS_MIN};

use super::{Contrasts, Row, by};

impl Contrasts {
    /// What crossed its limit, or may have, or cannot be compared with it, one sentence each.
    #[must_use]
    pub fn broken(&self) -> Vec<(LimitVerdict, String)> {
        let of_row = |row: &Row| {
            let broken =
                row.verdicts.iter().filter(|(_, verdict)| *verdict != LimitVerdict::Within);
            let broken =
                broken.map(|(limit, verdict)| (*verdict, self.sentence(row, limit, *verdict)));
            broken.collect::<Vec<_>>()
        };
        let mut broken: Vec<_> = self.rows.iter().flat_map(of_row).collect();
        broken.extend(self.not_compared().map(|text| (LimitVerdict::Undecided, text)));
        broken
    }

    pub(super) fn sentence(&self, row: &Row, limit: &Limit, verdict: LimitVerdict) -> String {
        let change = row.change(limit.measure);
        let (name, by) = (limit.measure.name(), by(limit.measure, change.change));
        let changed = format!("-fail-on {limit}: {name} of {} changed by {by}", row.label);
        match verdict {
            LimitVerdict::Exceeded | LimitVerdict::Within => changed,
            LimitVerdict::Undecided => {
                let make = self.make_after_colon(row, RUNS_MIN);
                format!("{changed}, and fewer than {RUNS_MIN} runs of each decide nothing{make}")
            }
            LimitVerdict::Unclear => {
                let chance = format!("{changed}, which these runs do not tell from chance");
                let more = |runs: &usize| *runs > row.found.runs.0.max(row.found.runs.1);
                match row.needed().map(|needed| needed.runs).filter(more) {
                    Some(runs) => {
                        let make = self.make_after_colon(row, runs);
                        format!("{chance}; about {runs} runs of each do{make}")
                    }
                    None => format!("{chance}: make more runs of each"),
                }
            }
        }
    }

    /// Why a limit does not apply to a variant: it or the variant that it is compared with has no requests.
    pub(super) fn not_compared(&self) -> impl Iterator<Item = String> {
        let empty = self.variants.iter().filter(|one| one.runs.is_empty());
        let sentence = |one: &super::Variant| {
            format!(
                "-fail-on: there are no requests of {}, so nothing can be said of it: give {RUNS_MIN} runs of each, or more",
                one.label
            )
        };
        empty.filter(|_| !self.limits.is_empty()).map(sentence)
    }

    /// The limits that are kept, as far as these runs can show: they do not exclude a change beyond them.
    pub(super) fn not_excluded(&self) -> Vec<String> {
        let of_row = |row: &Row| {
            let within =
                row.verdicts.iter().filter(|(_, verdict)| *verdict == LimitVerdict::Within);
            let sentence = |(limit, _): &(Limit, LimitVerdict)| {
                let (low, high) = row.change(limit.measure).interval?;
                limit.is_crossed_within((low, high)).then(|| {
                    format!(
                        "-fail-on {limit} holds as far as these runs show: the change of {} may be from {} to {}.",
                        row.label,
                        by(limit.measure, low),
                        by(limit.measure, high)
                    )
                })
            };
            within.filter_map(sentence).collect::<Vec<_>>()
        };
        self.rows.iter().flat_map(of_row).collect()
    }
}

//! What must be known to believe the findings of a comparison, one sentence each, the gravest first.

use stdx::{are, list_and, plural, were};
use study::contrast::{Doubt, Measure, RUNS_MIN, Unequal, What};

use super::findings::in_words;
use super::{Blind, Contrasts, Row, Variant, VariantRun, value};
use crate::number::{counted, number};

impl Contrasts {
    /// The sentences.
    pub(super) fn cautions(&self) -> Vec<String> {
        let part = Some(&self.selected).filter(|selected| !selected.is_empty());
        let part = part.map(|selected| format!("only requests with {selected} are compared."));
        let mut cautions: Vec<String> = part.into_iter().collect();
        cautions.extend(self.rows.iter().flat_map(|row| self.unequal(row)));
        cautions.extend(self.rows.iter().flat_map(apart));
        cautions.extend(self.variants.iter().filter_map(invalid));
        cautions.extend(self.variants.iter().flat_map(outliers));
        cautions.extend(self.never_decided());
        cautions.extend(self.not_excluded());
        cautions.extend(self.rows.iter().filter_map(|row| self.one_after_the_other(row)));
        cautions.extend(self.variants.iter().flat_map(gaps));
        cautions.extend(self.without_figures());
        if self.rows.len() > 1 {
            cautions.push(format!(
                "intervals are widened for {} with the first variant.",
                counted(self.rows.len() as u64, "comparison")
            ));
        }
        if !self.rows.is_empty() {
            cautions.push(self.method());
        }
        cautions
    }

    fn unequal(&self, row: &Row) -> Vec<String> {
        let first = &self.variants[0].label;
        let sentence = |one: &Unequal| match one {
            Unequal::OpenAndClosed => format!(
                "not like for like: of {first} and {} one has users who wait for their answers and the other a rate.",
                row.label
            ),
            Unequal::Figure(what, a, b) => format!(
                "not like for like: {first} has {} and {} has {}.",
                amount(*a, *what),
                row.label,
                number(*b)
            ),
        };
        row.unequal.iter().map(sentence).collect()
    }

    /// The runs were not interleaved.
    pub(super) fn is_one_after_the_other(&self, row: &Row) -> bool {
        let first = &self.variants[0];
        let other = self.variants.iter().find(|variant| variant.label == row.label);
        let begin = |of: &Variant| of.runs.iter().map(|run| run.span.0).min();
        let end = |of: &Variant| of.runs.iter().map(|run| run.span.1).max();
        let before = |a: &Variant, b: &Variant| end(a) < begin(b);
        other.is_some_and(|other| {
            let repeated = first.runs.len() > 1 && other.runs.len() > 1;
            repeated && (before(first, other) || before(other, first))
        })
    }

    fn one_after_the_other(&self, row: &Row) -> Option<String> {
        self.is_one_after_the_other(row).then(|| {
            format!(
                "all runs of {} lie before or after all runs of {}: a machine that changes over time looks like a difference. \
                 Interleave them.",
                row.label,
                self.first_label()
            )
        })
    }

    /// Variants that could not be compared, and a first that leaves nothing to compare the others with.
    fn without_figures(&self) -> Vec<String> {
        let empty = self.variants.iter().enumerate().filter(|(_, one)| one.runs.is_empty());
        let sentence = |(at, Variant { label, .. }): (usize, &Variant)| match at {
            0 => format!("nothing is compared with {label}: there are no requests of it."),
            _ => format!("{label} is not compared: there are no requests."),
        };
        empty.map(sentence).collect()
    }

    fn method(&self) -> String {
        format!(
            "one run is one value, and {} is judged first. Changes of less than {}% ({} points of errors) count as the same. In 95 of 100 comparisons all \
             intervals hold the true change.",
            self.rules.primary.map_or("the median", in_words),
            percent(self.rules.effect_min),
            percent(self.rules.errors_min)
        )
    }
}

/// What may be all that differs.
fn apart(row: &Row) -> Vec<String> {
    let doubts = row.apart.iter().filter(|one| one.is_doubt);
    doubts.map(|one| format!("not like for like: {}.", one.words)).collect()
}

/// A share in percent, as it was typed.
fn percent(share: f64) -> f64 {
    (share * 1e8).round() / 1e6
}

/// Invalid runs whose reasons are listed; the rest is counted.
const REASONS_MAX: usize = 3;

/// Runs that their generator made invalid.
fn invalid(variant: &Variant) -> Option<String> {
    let invalid = variant.runs.iter().filter(|run| !run.invalid.is_empty());
    let reason = |run: &VariantRun| format!("{} ({})", run.invalid.join("; "), run.name);
    let reasons: Vec<String> = invalid.map(reason).collect();
    let count = reasons.len() as u64;
    let more = reasons.len().saturating_sub(REASONS_MAX);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    (count > 0).then(|| {
        format!(
            "{count} of {} of {} {} INVALID: {}{more}.{}",
            counted(variant.runs.len() as u64, "run"),
            variant.label,
            are(count),
            reasons[..reasons.len().min(REASONS_MAX)].join("; "),
            what_counts(variant),
        )
    })
}

/// Which figures of INVALID runs count. Of runs whose reasons are not known by figure nothing is said.
fn what_counts(variant: &Variant) -> String {
    let names = |doubt: Doubt| {
        let is_doubted = |measure: &&Measure| {
            let mut runs = variant.runs.iter();
            runs.any(|run| run.figures.doubts.contains(&(**measure, doubt)))
        };
        let names: Vec<&str> = Measure::ALL.iter().filter(is_doubted).map(|of| of.name()).collect();
        (!names.is_empty()).then(|| list_and(&names))
    };
    let out = names(Doubt::Invalid)
        .map(|names| format!(" What the generator spoilt of {names} does not count."));
    let needed = names(Doubt::InvalidButNeeded).map(|names| {
        format!(" What it spoilt of {names} counts, since fewer than {RUNS_MIN} runs are good.")
    });
    out.into_iter().chain(needed).collect()
}

/// Runs that stand out, one sentence each.
fn outliers(variant: &Variant) -> Vec<String> {
    let of = |run: &VariantRun| {
        let doubts = run.figures.doubts.iter().filter(|(_, doubt)| *doubt == Doubt::Outlier);
        let figures: Vec<String> = doubts
            .map(|(of, _)| format!("{} {}", of.name(), value(*of, of.of(&run.figures))))
            .collect();
        (!figures.is_empty()).then(|| {
            let figures: Vec<&str> = figures.iter().map(String::as_str).collect();
            format!(
                "run {} of {} stands out and does not count in {}: its figures lie far from those of all other runs.",
                run.name,
                variant.label,
                list_and(&figures)
            )
        })
    };
    variant.runs.iter().filter_map(of).collect()
}

/// What is missing of a variant.
fn gaps(variant: &Variant) -> Vec<String> {
    let (label, count) = (&variant.label, variant.runs.len());
    let blind = variant.runs.iter().filter(|run| run.blind == Blind::Unrecorded).count();
    let mut gaps = Vec::new();
    if variant.empty > 0 {
        let (empty, all) = (variant.empty, count + variant.empty);
        let (all, were) = (counted(all as u64, "run"), were(empty as u64));
        gaps.push(format!("{empty} of {all} of {label} had no request and {were} left out."));
    }
    if variant.left_out > 0 {
        let left_out = variant.left_out as u64;
        let (runs, were) = (counted(left_out, "further run"), were(left_out));
        gaps.push(format!("{runs} of {label} {were} left out."));
    }
    if blind > 0 {
        gaps.push(format!(
            "{blind} of {} of {label} {} without a record of the load generator: what it was asked for is guessed.",
            counted(count as u64, "run"),
            are(blind as u64)
        ));
    }
    gaps
}

/// A figure of the load with its unit: `1 user`, `2.5 requests/s`.
fn amount(value: f64, what: What) -> String {
    let (noun, after) = match what {
        What::Users => ("user", ""),
        What::Rate => ("request", "/s asked for"),
        What::Begun => ("request", "/s"),
        What::InFlight => ("request", " under way"),
        What::Connections => ("connection", ""),
        What::Workers => ("worker thread", ""),
        What::Processes => ("generator process", ""),
        What::Seconds => ("second", " a run"),
    };
    let one = value == 1.0;
    format!("{} {}{after}", number(value), plural(if one { 1 } else { 2 }, noun))
}

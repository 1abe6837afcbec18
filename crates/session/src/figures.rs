//! `RunFigures`: the figures of a run that reports are made from.

use std::borrow::Cow;

use metrics::tally::Assertion;
use metrics::{
    Attacked, AttackedTargets, Batch, By, FailureKind, Generator, Groups, Phases, Sample, Summary,
    TargetRows, TargetTable, Timeline, Traffic, Verdict,
};

use stdx::Nanos;

use crate::error::ObserverError;
use crate::observer::Observer;

/// Sums up a run's rows.
#[derive(Debug)]
pub struct RunFigures {
    /// Counts and times.
    pub summary: Summary,
    /// The same over time.
    pub timeline: Timeline,
    /// Requests under way, and how sends were spaced.
    pub traffic: Traffic,
    /// What requests spent their time on, where that was asked for.
    pub phases: Option<Phases>,
    /// Requests that count in no figure ([`OnCutOff::LeftOut`]); the results have them.
    pub left_out: u64,
    groups: Option<(Groups, TargetTable)>,
    /// What was attacked, by this table, and rows by target.
    attacked: Option<(Attacked, TargetTable)>,
    by_target: TargetRows,
    on_cut_off: OnCutOff,
}

/// Whether requests that a stop cut off are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnCutOff {
    /// They are rows like any other; the report separates them.
    Counted,
    /// They count in no figure, only in [`RunFigures::left_out`]: they were ended on purpose, and did not fail.
    LeftOut,
    /// The same, but that one which had waited for a second, and longer than any answer of the run took, was not about to be
    /// answered: it counts as failed, unless its answer had begun.
    ByWait,
}

impl RunFigures {
    /// No rows yet.
    #[must_use]
    pub fn new(on_cut_off: OnCutOff) -> Self {
        Self {
            summary: Summary::new(),
            timeline: Timeline::new(),
            traffic: Traffic::new(),
            phases: None,
            left_out: 0,
            groups: None,
            attacked: None,
            by_target: TargetRows::default(),
            on_cut_off,
        }
    }

    /// Of a run on a single worker.
    #[must_use]
    pub fn of_one_worker(self) -> Self {
        Self { traffic: Traffic::of_one_worker(), ..self }
    }

    /// Also sums up what requests spent their time on.
    #[must_use]
    pub fn with_phases(self) -> Self {
        Self { phases: Some(Phases::new()), ..self }
    }

    /// Also sums up the rows of each of these targets, and of others that are read or made while the run goes on.
    #[must_use]
    pub fn of_targets(self, labels: TargetTable) -> Self {
        Self { attacked: Some((Attacked::default(), labels)), ..self }
    }

    /// Also sums up the rows of each connection.
    #[must_use]
    pub fn by_connection(self, labels: TargetTable) -> Self {
        Self { groups: Some((Groups::new(By::Connection), labels)), ..self }
    }

    /// Of a script, whose requests have names or URLs of its own, without the rows of requests that its end cut off before they had waited long.
    #[must_use]
    pub fn of_script() -> Self {
        Self::new(OnCutOff::ByWait).of_targets(TargetTable::default())
    }

    /// The verdict on the figures so far.
    #[must_use]
    pub fn verdict(&self, generator: &Generator) -> Verdict {
        Verdict::new(&self.summary, Some(generator), &[])
    }

    /// What was attacked; `None` where no target is known.
    #[must_use]
    pub fn attacked(&self) -> Option<AttackedTargets> {
        self.attacked.as_ref().and_then(|(attacked, labels)| attacked.targets(labels))
    }

    /// What a report is made from, with the results of the run's gates.
    #[must_use]
    pub fn input<'a>(
        &'a self,
        title: &'a str,
        (generator, verdict): (&'a Generator, &'a Verdict),
        assertions: &'a [Assertion],
    ) -> report::Input<'a> {
        report::Input {
            title,
            summary: &self.summary,
            verdict,
            generator: Some(generator),
            losses: &[],
            groups: self.groups.as_ref().map(|(groups, _)| groups),
            by_target: self.by_target.groups(),
            attacked: None,
            timeline: Some(&self.timeline),
            traffic: Some(&self.traffic),
            buckets: None,
            server: None,
            selected: "",
            parts: &[],
            assertions,
        }
    }
}

impl Observer for RunFigures {
    fn rows(&mut self, batch: &Batch) -> Result<(), ObserverError> {
        let counted = match self.on_cut_off {
            OnCutOff::LeftOut => without_stopped(batch, |_| false),
            OnCutOff::ByWait => {
                let patience = patience(batch).max(self.summary.response.max());
                without_stopped(batch, |waited| waited > patience)
            }
            OnCutOff::Counted => Cow::Borrowed(batch),
        };
        self.left_out += (batch.samples.len() - counted.samples.len()) as u64;
        if let Some((_, labels)) = &self.attacked {
            self.by_target.add(&counted, labels, &self.summary);
        }
        self.summary.add(&counted);
        self.timeline.add(&counted);
        self.traffic.add(&counted);
        if let Some((groups, labels)) = &mut self.groups {
            groups.add(&counted, labels);
        }
        if let Some((attacked, labels)) = &mut self.attacked {
            attacked.add(&counted, labels);
        }
        if let Some(phases) = &mut self.phases {
            phases.add(&counted);
        }
        Ok(())
    }
}

/// So long a request must have waited for its answer to count as failed where the run's end cut it off.
const HOPELESS: Nanos = Nanos::SECOND;

/// How long the answers of these rows took at most, but [`HOPELESS`] at least.
fn patience(batch: &Batch) -> Nanos {
    let answered = batch.samples.iter().filter(|sample| !is_stopped(sample));
    answered.map(waited).max().unwrap_or_default().max(HOPELESS)
}

fn is_stopped(sample: &Sample) -> bool {
    sample.failure == FailureKind::Stopped
}

fn waited(sample: &Sample) -> Nanos {
    sample.done.saturating_sub(sample.intended)
}

/// The rows of requests that a stop did not cut off, or that count all the same after they had waited for so long.
fn without_stopped(batch: &Batch, counts: impl Fn(Nanos) -> bool) -> Cow<'_, Batch> {
    if !batch.samples.iter().any(is_stopped) {
        return Cow::Borrowed(batch);
    }
    let mut rest = batch.clone();
    let had_begun = |sample: &Sample| sample.first_byte < sample.done;
    rest.samples
        .retain(|sample| !is_stopped(sample) || (counts(waited(sample)) && !had_begun(sample)));
    Cow::Owned(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(waited_ms: u64, failure: FailureKind) -> Sample {
        let done = Nanos(waited_ms * 1_000_000);
        Sample { done, first_byte: done, failure, ..Sample::default() }
    }

    /// A server that answers some users never was VALID and without errors: their requests were in no figure.
    #[test]
    fn what_waited_in_vain_until_the_end_has_failed() {
        let counted = |rows: Vec<Sample>| {
            let mut figures = RunFigures::of_script();
            figures.rows(&Batch { samples: rows, ..Batch::default() }).expect("they are counted");
            (figures.summary.requests, figures.left_out)
        };
        let stopped = |waited_ms| row(waited_ms, FailureKind::Stopped);
        let answered = |waited_ms| row(waited_ms, FailureKind::None);
        assert_eq!(counted(vec![stopped(3000), stopped(900)]), (1, 1));
        assert_eq!(counted(vec![answered(50), stopped(3000)]), (2, 0));
        assert_eq!(counted(vec![answered(4000), stopped(3000)]), (1, 1), "the site is slow");
        let flowing = Sample { first_byte: Nanos(1), ..stopped(3000) };
        assert_eq!(counted(vec![answered(50), flowing]), (1, 1), "its answer had begun");
    }
}

//! `RunFigures`: the figures of a run that reports are made from.

use std::borrow::Cow;

use metrics::tally::Assertion;
use metrics::{
    Attacked, AttackedTargets, Batch, By, FailureKind, Generator, Groups, Phases, Sample, Summary,
    TargetRows, TargetTable, Timeline, Traffic, Verdict,
};

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

    /// Of a script, whose requests have names or URLs of its own, without the rows of requests that its end cut off.
    #[must_use]
    pub fn of_script() -> Self {
        Self::new(OnCutOff::LeftOut).of_targets(TargetTable::default())
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
            OnCutOff::LeftOut => without_stopped(batch),
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

/// The rows of requests that a stop did not cut off.
fn without_stopped(batch: &Batch) -> Cow<'_, Batch> {
    let stopped = |sample: &Sample| sample.failure == FailureKind::Stopped;
    if !batch.samples.iter().any(stopped) {
        return Cow::Borrowed(batch);
    }
    let mut rest = batch.clone();
    rest.samples.retain(|sample| !stopped(sample));
    Cow::Owned(rest)
}

//! `State`: what the view shows: the run so far, its last seconds, and what the keys chose.

use std::collections::VecDeque;

use metrics::{Batch, Groups, Snapshot, Summary, TargetTable, Verdict};
use stdx::Nanos;

use crate::labels::grouping;

/// Seconds that the chart of the rate has at most.
pub(super) const SECONDS_MAX: usize = 600;

/// What happened in a second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Second {
    /// Requests that fell due, per second; 0 where the load has no rate.
    pub(super) due: f64,
    /// Requests that ended, per second.
    pub(super) ended: f64,
    /// Those that did not succeed, per second.
    pub(super) failed: f64,
}

/// Of what the response times are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Span {
    #[default]
    Run,
    LastSecond,
}

/// By which column the targets are sorted, the largest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sort {
    #[default]
    Requests,
    P99,
    Failed,
}

impl Sort {
    pub(super) const fn next(self) -> Self {
        match self {
            Self::Requests => Self::P99,
            Self::P99 => Self::Failed,
            Self::Failed => Self::Requests,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::P99 => "p99",
            Self::Failed => "failed",
        }
    }
}

/// What the view shows.
pub(super) struct State {
    pub(super) name: String,
    pub(super) duration: Option<Nanos>,
    pub(super) elapsed: Nanos,
    pub(super) total: Snapshot,
    pub(super) recent: Snapshot,
    pub(super) seconds: VecDeque<Second>,
    pub(super) groups: Groups,
    pub(super) summary: Summary,
    labels: TargetTable,
    planned: u64,
    pub(super) span: Span,
    pub(super) sort: Sort,
    pub(super) shows_keys: bool,
    pub(super) is_ending: bool,
}

impl State {
    pub(super) fn new(name: String, duration: Option<Nanos>, labels: TargetTable) -> Self {
        Self {
            name,
            duration,
            elapsed: Nanos::ZERO,
            total: Snapshot::new(),
            recent: Snapshot::new(),
            seconds: VecDeque::new(),
            groups: Groups::new(grouping(&labels)),
            summary: Summary::new(),
            labels,
            planned: 0,
            span: Span::default(),
            sort: Sort::default(),
            shows_keys: false,
            is_ending: false,
        }
    }

    pub(super) fn add_rows(&mut self, batch: &Batch) {
        self.groups.add(batch, &self.labels);
        self.summary.add(batch);
    }

    pub(super) fn add_second(&mut self, snapshot: &Snapshot) {
        let took = snapshot.to.saturating_sub(snapshot.from).as_secs_f64();
        let rate = |count: u64| if took > 0.0 { count as f64 / took } else { 0.0 };
        let planned = snapshot.generator.planned;
        self.seconds.push_back(Second {
            due: rate(planned.saturating_sub(self.planned)),
            ended: rate(snapshot.hits()),
            failed: rate(snapshot.hits().saturating_sub(snapshot.successes)),
        });
        if self.seconds.len() > SECONDS_MAX {
            self.seconds.pop_front();
        }
        self.planned = planned;
        // Both are states and not counts.
        self.total.in_flight = 0;
        self.total.generator.clear();
        self.total.merge(snapshot);
        self.recent = snapshot.clone();
    }

    /// The verdict so far.
    pub(super) fn verdict(&self) -> Verdict {
        let mut generator = self.total.generator.clone();
        // A run that goes on was not cut off.
        generator.finished = true;
        Verdict::new(&self.summary, Some(&generator), &[])
    }

    /// The response times that are shown.
    pub(super) fn response(&self) -> &metrics::Histogram {
        match self.span {
            Span::Run => &self.total.response,
            Span::LastSecond => &self.recent.response,
        }
    }

    /// Does what a key stands for; gives whether the run is to stop.
    pub(super) fn press(&mut self, key: u8) -> bool {
        match key {
            b'q' => return true,
            b's' => self.sort = self.sort.next(),
            b'p' => {
                self.span = match self.span {
                    Span::Run => Span::LastSecond,
                    Span::LastSecond => Span::Run,
                };
            }
            b'?' | b'h' => self.shows_keys = !self.shows_keys,
            _ => {}
        }
        false
    }
}

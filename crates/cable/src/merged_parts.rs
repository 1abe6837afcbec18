//! `MergedParts`: one report of a test that several machines shared, from their records, and a row for each message of a broadcast.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use stdx::Nanos;
use workload::{CustomFailure, CustomOutcome, CustomSample};

use crate::cable_report::{CableReport, MessageReport};
use crate::part_record::{PartEnd, PartRecord, ReceivedMessage, SentMessage};
use crate::plan::CablePlan;

/// The most of any count of one machine: those of all machines come to less than 2^64.
const COUNT_MAX: u64 = 1 << 50;
/// Workers of one machine at most, one for each of its cores: each message keeps a set of those that had it.
const WORKERS_MAX: u16 = 1 << 10;

/// The parts of a test, as far as they are known.
#[derive(Debug)]
pub struct MergedParts {
    /// How many machines share the test.
    machines: usize,
    planned: u64,
    timeout: Nanos,
    line: Arc<str>,
    parts: BTreeMap<u16, Part>,
    /// Messages of which not all is known.
    open: BTreeMap<u32, Message>,
    /// Rows of messages that are closed, each with the machine that sent it.
    rows: Vec<(u16, CustomSample)>,
    report: CableReport,
    is_finished: bool,
}

/// What one machine said.
#[derive(Debug, Default)]
struct Part {
    workers: u16,
    end: Option<Box<PartEnd>>,
}

/// A message of which not all is known.
#[derive(Debug, Default)]
struct Message {
    /// Who sent it.
    sent: Option<(u16, SentMessage)>,
    expected: u64,
    delivered: u64,
    cut: u64,
    last: Nanos,
    /// The workers, by machine, that said what their users had.
    workers: BTreeSet<(u16, u16)>,
}

impl MergedParts {
    /// Nothing is known yet of a test that so many machines share.
    #[must_use]
    pub fn new(plan: &CablePlan, machines: usize) -> Self {
        Self {
            machines,
            planned: plan.messages_planned(),
            timeout: plan.timeout,
            line: plan.line().into(),
            parts: BTreeMap::new(),
            open: BTreeMap::new(),
            rows: Vec::new(),
            report: CableReport::default(),
            is_finished: false,
        }
    }

    /// Takes a machine's record. What no machine can say is left out.
    pub fn take(&mut self, machine: u16, record: PartRecord) {
        let PartRecord { workers, sent, received, end } = record;
        let part = self.parts.entry(machine).or_default();
        part.workers = workers;
        if let Some(end) = end.filter(|end| end.report.is_possible()) {
            part.end.get_or_insert(end);
        }
        let is_planned = |number: u32| (1..=self.planned).contains(&u64::from(number));
        for message in sent.into_iter().filter(|message| is_planned(message.number)) {
            self.open.entry(message.number).or_default().sent.get_or_insert((machine, message));
        }
        let mut changed = Vec::new();
        let is_possible = |received: &ReceivedMessage| {
            received.worker < WORKERS_MAX && is_planned(received.number)
        };
        for received in received.into_iter().filter(is_possible) {
            changed.push(received.number);
            self.open.entry(received.number).or_default().add(machine, received);
        }
        let is_known = self.parts.len() == self.machines;
        let workers: usize = self.parts.values().map(|part| usize::from(part.workers)).sum();
        for number in changed.into_iter().filter(|_| is_known) {
            let is_whole =
                |message: &Message| message.sent.is_some() && message.workers.len() == workers;
            if self.open.get(&number).is_some_and(is_whole) {
                self.close(number);
            }
        }
    }

    /// No record follows: the messages that are open are closed by what is known of them.
    pub fn finish(&mut self) {
        if std::mem::replace(&mut self.is_finished, true) {
            return;
        }
        for number in self.open.keys().copied().collect::<Vec<_>>() {
            self.close(number);
        }
        let sent = self.report.complete_messages + self.report.lossy_messages();
        for part in self.parts.values_mut() {
            let Some(end) = part.end.take() else { continue };
            let open_most = self.report.open_most.saturating_add(end.report.open_most);
            self.report.merge(&end.report);
            self.report.open_most = open_most;
            for worker in end.workers {
                self.report.subscribers.add(worker.subscribers, (worker.seen, sent), worker.users);
            }
        }
    }

    /// The rows of messages that were closed since the last call, each with the machine that sent it.
    pub fn take_rows(&mut self) -> Vec<(u16, CustomSample)> {
        std::mem::take(&mut self.rows)
    }

    /// What all saw, once it is finished.
    #[must_use]
    pub fn report(&self) -> &CableReport {
        &self.report
    }

    fn close(&mut self, number: u32) {
        let Some(mut message) = self.open.remove(&number) else { return };
        let Some((machine, sent)) = message.sent else {
            // Its sender was lost before it could say more.
            return self.report.note("messages of a machine that was lost");
        };
        self.add_who_had_nothing(&mut message, sent.sent);
        let Message { expected, delivered, cut, last, .. } = message;
        let lost = expected.saturating_sub(delivered).saturating_sub(cut);
        let sums = &mut self.report.deliveries;
        sums.expected = sums.expected.saturating_add(expected);
        sums.delivered = sums.delivered.saturating_add(delivered);
        sums.cut = sums.cut.saturating_add(cut);
        sums.lost = sums.lost.saturating_add(lost);
        if lost == 0 {
            self.report.complete_messages += 1;
            self.report.complete.record(last);
        }
        let count = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        self.report.keep(MessageReport {
            number,
            sent: sent.sent,
            expected: count(expected),
            delivered: count(delivered),
            lost: count(lost),
            last,
        });
        let text = || format!("{lost} of {expected} deliveries lost").into();
        let waited = if lost > 0 { self.timeout } else { last };
        self.rows.push((
            machine,
            CustomSample {
                line: Arc::clone(&self.line),
                due: sent.due,
                sent: sent.sent,
                done: sent.sent.saturating_add(waited),
                bytes_out: u64::from(sent.bytes),
                bytes_in: 0,
                outcome: CustomOutcome::Message,
                error: Arc::from(""),
                failure: (lost > 0).then(|| (CustomFailure::Timeout, text())),
                serial: 0,
            },
        ));
    }

    /// Workers that never heard of a message owed it to all of their users that were there; those that stayed have lost it.
    fn add_who_had_nothing(&self, message: &mut Message, sent: Nanos) {
        let from = sent.saturating_sub(crate::users::SUBSCRIBED_FOR);
        for (machine, part) in &self.parts {
            let workers = part.end.iter().flat_map(|end| &end.workers);
            for worker in workers {
                if message.workers.contains(&(*machine, worker.worker)) {
                    continue;
                }
                let expected = worker.present_within(from, sent);
                let stayed = worker.present_within(from, sent.saturating_add(self.timeout));
                message.expected += u64::from(expected);
                message.cut += u64::from(expected.saturating_sub(stayed));
            }
        }
    }
}

impl Message {
    /// Adds what a worker's users had; the first word of a worker counts.
    fn add(&mut self, machine: u16, received: ReceivedMessage) {
        let ReceivedMessage { worker, expected, delivered, cut, last, .. } = received;
        let is_possible = u64::from(delivered) + u64::from(cut) <= u64::from(expected);
        if !is_possible || !self.workers.insert((machine, worker)) {
            return;
        }
        self.expected += u64::from(expected);
        self.delivered += u64::from(delivered);
        self.cut += u64::from(cut);
        self.last = self.last.at_least(last);
    }
}

impl CableReport {
    /// Counts that can be added up over all machines; larger ones are false.
    fn is_possible(&self) -> bool {
        let counts = [
            self.attempts,
            self.refused,
            self.opened,
            self.subscribed,
            self.turned_away,
            self.unconfirmed,
            self.dropped,
            self.backoffs,
            self.sent,
            self.not_sent,
            self.answered,
            self.unanswered,
            self.cut,
            self.overheard,
            self.unknown,
            self.complete_messages,
            self.messages_more,
            self.evicted,
            self.pings,
            self.silences,
            self.deliveries.expected,
            self.deliveries.delivered,
            self.deliveries.lost,
            self.deliveries.cut,
            self.deliveries.duplicated,
            self.deliveries.out_of_order,
            self.deliveries.late,
            self.deliveries.early,
        ];
        let times = [
            &self.ready,
            &self.recovered,
            &self.round_trip,
            &self.fan_out,
            &self.complete,
            &self.ping_gap,
        ];
        let rounds = self.rounds.len() <= crate::HERD_ROUNDS_MAX as usize + 1;
        counts.into_iter().all(|count| count < COUNT_MAX)
            && times.into_iter().all(|times| times.count() < COUNT_MAX)
            && self.backed_off.0 < COUNT_MAX * 1_000
            && self.rounds.iter().all(|round| round.is_possible(COUNT_MAX))
            && rounds
            && self.problems.values().all(|times| *times < COUNT_MAX)
    }
}

#[cfg(test)]
mod tests {
    use wire::cable::{Codec, Dialect, Format};

    use super::*;
    use crate::Pattern;
    use crate::cable_report::Subscribers;
    use crate::part_record::WorkerEnd;
    use crate::template::Template;

    const S: u64 = 1_000_000_000;

    fn plan() -> CablePlan {
        CablePlan {
            url: "ws://h/cable".to_owned(),
            http_url: "http://h/cable".to_owned(),
            pattern: Pattern::Broadcast { speakers: 1, every: Nanos(S) },
            users: 30,
            ramp: Nanos::ZERO,
            duration: Nanos(3 * S),
            identifier: Template::new("{}"),
            data: Template::new("{}"),
            codec: Codec { format: Format::Json, dialect: Dialect::Base },
            headers: Vec::new(),
            timeout: Nanos(S),
            jitter: Nanos::ZERO,
            backs_off: true,
            seed: 1,
            part: None,
        }
    }

    fn sent(number: u32) -> SentMessage {
        let at = Nanos(u64::from(number) * S);
        SentMessage { number, due: at, sent: at + Nanos(9), bytes: 7 }
    }

    fn received(number: u32, worker: u16, delivered: u32) -> ReceivedMessage {
        let last = Nanos((u64::from(worker) + 1) * 1_000);
        ReceivedMessage { number, worker, expected: 10, delivered, cut: 0, last }
    }

    fn end(workers: &[(u16, u64)]) -> Option<Box<PartEnd>> {
        let workers = workers.iter().map(|(worker, seen)| WorkerEnd {
            worker: *worker,
            seen: *seen,
            subscribers: Subscribers { all: if *seen > 0 { 10 } else { 0 }, some: 0, none: 0 },
            users: 10,
            present: vec![(Nanos(1), 10)],
        });
        let report = CableReport { sent: 2, open_most: 10, ..CableReport::default() };
        Some(Box::new(PartEnd { report, workers: workers.collect() }))
    }

    /// Issue 42: a machine that names 65,535 workers for each message filled the coordinator's memory.
    #[test]
    fn workers_that_no_machine_has_are_left_out() {
        let mut merged = MergedParts::new(&plan(), 1);
        let received =
            [0, WORKERS_MAX - 1, WORKERS_MAX, u16::MAX].map(|worker| received(1, worker, 10));
        let record =
            PartRecord { workers: u16::MAX, received: received.into(), ..PartRecord::default() };
        merged.take(0, record);
        assert_eq!(merged.open[&1].workers.len(), 2);
    }

    #[test]
    fn a_message_is_whole_once_all_workers_have_said_what_they_had() {
        let mut merged = MergedParts::new(&plan(), 2);
        let first = PartRecord {
            workers: 1,
            sent: vec![sent(1)],
            received: vec![received(1, 0, 10)],
            end: None,
        };
        merged.take(1, first);
        assert!(merged.take_rows().is_empty(), "the other machine has said nothing");
        let received = vec![received(1, 0, 10), received(1, 1, 9)];
        merged.take(2, PartRecord { workers: 2, received, ..PartRecord::default() });
        let [(machine, row)] = &merged.take_rows()[..] else { panic!("one row") };
        let (_, text) = row.failure.as_ref().expect("one is lost");
        assert_eq!((*machine, &**text), (1, "1 of 30 deliveries lost"));
        assert_eq!(row.done, row.sent + Nanos(S), "it was waited for");
        merged.finish();
        let report = merged.report();
        assert_eq!((report.deliveries.expected, report.deliveries.delivered), (30, 29));
        assert_eq!((report.messages.len(), report.complete_messages), (1, 0), "each once");
    }

    #[test]
    fn a_worker_that_had_nothing_was_owed_it_all_the_same() {
        let mut merged = MergedParts::new(&plan(), 2);
        let record = PartRecord {
            workers: 1,
            sent: vec![sent(1), sent(2)],
            received: vec![received(1, 0, 10), received(2, 0, 10)],
            end: end(&[(0, 2)]),
        };
        merged.take(1, record);
        let none = PartRecord { workers: 2, end: end(&[(0, 0), (1, 1)]), ..PartRecord::default() };
        let one = vec![received(1, 1, 10)];
        merged.take(2, PartRecord { received: one, ..none });
        merged.finish();
        let report = merged.report();
        let sums = report.deliveries;
        assert_eq!((sums.expected, sums.delivered, sums.lost), (60, 30, 30));
        assert_eq!((report.open_most, report.sent, report.complete_messages), (20, 4, 0));
        assert_eq!(report.subscribers, Subscribers { all: 10, some: 10, none: 10 });
        assert_eq!(merged.take_rows().len(), 2);
    }

    #[test]
    fn times_in_any_order_are_no_harm() {
        let mut merged = MergedParts::new(&plan(), 1);
        let mut end = end(&[(0, 0)]).expect("one");
        end.workers[0].present =
            [9, 1, 5, 0, 7].into_iter().map(|at| (Nanos(at * S / 4), at as u32)).collect();
        merged.take(
            1,
            PartRecord { workers: 1, sent: vec![sent(1)], end: Some(end), ..PartRecord::default() },
        );
        merged.finish();
        let sums = merged.report().deliveries;
        assert!(sums.expected >= sums.delivered + sums.cut, "{sums:?}");
    }

    #[test]
    fn false_records_change_nothing() {
        let mut merged = MergedParts::new(&plan(), 1);
        let spoil: [fn(&mut CableReport); 3] = [
            |report| report.messages_more = u64::MAX,
            |report| report.deliveries.lost = u64::MAX,
            |report| report.complete.record_n(Nanos(5), COUNT_MAX),
        ];
        for spoil in spoil {
            let mut end = end(&[(0, 0)]).expect("one");
            spoil(&mut end.report);
            assert!(!end.report.is_possible());
        }
        let mut false_end = end(&[(0, 0)]).expect("one");
        false_end.report.pings = u64::MAX;
        let record = PartRecord {
            workers: 1,
            sent: vec![sent(0), sent(9)],
            received: vec![received(1, 0, 11), received(77, 0, 10)],
            end: Some(false_end),
        };
        merged.take(1, record);
        merged.finish();
        let report = merged.report();
        assert_eq!((report.deliveries.expected, report.pings, report.sent), (0, 0, 0));
        assert_eq!(report.problems.values().sum::<u64>(), 1, "a message without a sender");
    }
}

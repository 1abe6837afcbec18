//! The conclusion of a test of Action Cable: how many users were connected, what became of messages, what to do next.

mod certainty;

use cable::{CablePlan, CableReport, Pattern};
use metrics::{Histogram, Verdict};
use stdx::list_and;

use self::certainty::{is_certain, pause};
use super::sentence::{Kind, Sentence};
use super::server_result::ServerResult;
use super::words::{share, time};
use crate::number::{counted, grouped};

/// A quantile is stated where so many times lie beyond it, as in the conclusions of other runs.
const BEYOND_MIN: f64 = 5.0;

/// How the server came out of the test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CableOutcome {
    /// No user was ever subscribed.
    Unanswered,
    /// The measurement is INVALID, and nothing went wrong that stands all the same.
    Unjudged,
    /// Some users were never connected.
    TurnedAway,
    /// Messages did not come, or came too late.
    Lost,
    /// It ended connections that were to stay open.
    Dropped,
    /// It sent no pings for longer than a client waits.
    Silent,
    /// It did nothing for a while.
    Paused,
    KeptUp,
}

/// The conclusion of a test of Action Cable.
pub(crate) struct CableConclusion {
    sentences: Vec<Sentence>,
    outcome: CableOutcome,
}

impl CableConclusion {
    /// Draws it from all that the report is made from.
    pub(crate) fn of(plan: &CablePlan, seen: &CableReport, verdict: &Verdict) -> Self {
        let outcome = outcome(plan, seen, verdict);
        let invalid = outcome == CableOutcome::Unjudged;
        let sentences = [
            invalid.then(super::sureness::invalid_sentence),
            Some(users(plan, seen)),
            messages(plan, seen),
            losses(plan, seen),
            paused(plan, seen, verdict),
            doubt(verdict, outcome),
            advice((plan, seen), verdict, outcome),
        ];
        Self { sentences: sentences.into_iter().flatten().collect(), outcome }
    }

    /// The sentences as texts.
    pub(crate) fn texts(&self) -> Vec<String> {
        self.sentences.iter().map(|sentence| sentence.text.clone()).collect()
    }

    /// The sentences, a line each.
    pub(crate) fn text(&self) -> String {
        super::lines(&self.sentences)
    }

    /// The line of the server's result, which stands beside the verdict on the measurement.
    pub(crate) fn server_line(&self) -> String {
        format!("Server: {}\n", self.outcome.result())
    }

    /// The same for lists of runs.
    pub(crate) fn server_result(&self) -> ServerResult {
        ServerResult::new(self.outcome.name(), self.outcome.result())
    }

    /// The sentences as a JSON list.
    pub(crate) fn json(&self) -> String {
        super::json_sentences(&self.sentences)
    }

    /// The outcome's name in JSON.
    pub(crate) fn outcome_name(&self) -> &'static str {
        self.outcome.name()
    }
}

impl CableOutcome {
    const fn name(self) -> &'static str {
        match self {
            Self::Unanswered => "unanswered",
            Self::Unjudged => "unjudged",
            Self::TurnedAway => "turned away",
            Self::Lost => "lost messages",
            Self::Dropped => "dropped connections",
            Self::Silent => "sent no pings",
            Self::Paused => "paused",
            Self::KeptUp => "kept up",
        }
    }

    const fn result(self) -> &'static str {
        match self {
            Self::Unanswered => "FAILED, no user was subscribed",
            Self::Unjudged => "not judged, since the measurement is INVALID",
            Self::TurnedAway => "TURNED USERS AWAY",
            Self::Lost => "LOST MESSAGES",
            Self::Dropped => "DROPPED CONNECTIONS",
            Self::Silent => "SENT NO PINGS",
            Self::Paused => "PAUSED, messages waited many times the median",
            Self::KeptUp => "kept up",
        }
    }
}

fn outcome(plan: &CablePlan, seen: &CableReport, verdict: &Verdict) -> CableOutcome {
    match fault(plan, seen, verdict) {
        _ if seen.subscribed == 0 => CableOutcome::Unanswered,
        Some(fault) if is_certain(plan, verdict) => fault,
        None if verdict.is_valid() => CableOutcome::KeptUp,
        _ => CableOutcome::Unjudged,
    }
}

/// What went wrong.
fn fault(plan: &CablePlan, seen: &CableReport, verdict: &Verdict) -> Option<CableOutcome> {
    let is_herd = matches!(plan.pattern, Pattern::Herd { .. });
    let is_lost = seen.unanswered + seen.deliveries.lost > 0 || unheard(plan, seen).is_some();
    match () {
        () if up(plan, seen) < plan.users => Some(CableOutcome::TurnedAway),
        () if is_lost => Some(CableOutcome::Lost),
        () if seen.dropped > 0 && !is_herd => Some(CableOutcome::Dropped),
        () if seen.silences > 0 => Some(CableOutcome::Silent),
        () if pause(plan, seen, verdict).is_some() => Some(CableOutcome::Paused),
        () => None,
    }
}

/// What to look at where no message came to anyone, though nothing else is wrong: the channel does something else.
fn unheard(plan: &CablePlan, seen: &CableReport) -> Option<&'static str> {
    let sums = &seen.deliveries;
    match plan.pattern {
        Pattern::Echo { .. } if seen.sent > 0 && seen.answered == 0 => Some(
            "see whether the channel answers this action (-perform), since no message came back",
        ),
        Pattern::Broadcast { .. } if sums.expected > 0 && sums.delivered == 0 => Some(
            "see whether the channel broadcasts what this action sends (-perform), since no message was delivered",
        ),
        _ => None,
    }
}

/// Users that were connected at once, at most; of a herd those of the worst round.
fn up(plan: &CablePlan, seen: &CableReport) -> u32 {
    let rounds =
        seen.rounds.iter().map(|round| u32::try_from(round.subscribed).unwrap_or(u32::MAX));
    let least = rounds.min().filter(|_| matches!(plan.pattern, Pattern::Herd { .. }));
    least.unwrap_or(seen.open_most)
}

/// `All 500 users were connected, 99% of them within 120ms.`
fn users(plan: &CablePlan, seen: &CableReport) -> Sentence {
    let (all, up) = (plan.users, up(plan, seen));
    let who = match (seen.subscribed, up < all) {
        (0, _) => format!("None of {} was subscribed", counted(all.into(), "user")),
        (_, true) => {
            format!(
                "{} of {} were connected at once",
                grouped(up.into()),
                counted(all.into(), "user")
            )
        }
        (_, false) if all == 1 => "The user was connected".to_owned(),
        (_, false) => format!("All {} users were connected", grouped(all.into())),
    };
    let within = match (plan.pattern, seen.rounds.as_slice()) {
        (Pattern::Herd { .. }, [first, cuts @ ..]) if first.ready.count() > 0 => herd(first, cuts),
        _ => within(&seen.ready),
    };
    let text = if within.is_empty() { format!("{who}.") } else { format!("{who}, {within}.") };
    let figures = vec![
        ("users", f64::from(all)),
        ("connected", f64::from(up)),
        ("ready_p50", seen.ready.quantile(0.5).0 as f64),
        ("ready_max", seen.ready.max().0 as f64),
    ];
    Sentence { kind: Kind::Throughput, text, figures }
}

/// `the last of them 2.3s after the start, and 4.1s after the slowest of 3 cuts`.
fn herd(first: &cable::RoundReport, cuts: &[cable::RoundReport]) -> String {
    let start = format!("the last of them {} after the start", time(first.ready.max()));
    let Some(slowest) = cuts.iter().map(|round| round.ready.max()).max() else { return start };
    let of = match cuts.len() {
        1 => "the cut".to_owned(),
        n => format!("the slowest of {n} cuts"),
    };
    format!("{start}, and {} after {of}", time(slowest))
}

/// `half of them within 3ms and 99% within 20ms`, as far as the times carry it.
fn within(times: &Histogram) -> String {
    let count = times.count() as f64;
    let most = match times.count() {
        0 => return String::new(),
        1 => return format!("in {}", time(times.max())),
        _ if count * 0.01 >= BEYOND_MIN => format!("99% within {}", time(times.quantile(0.99))),
        _ => format!("all within {}", time(times.max())),
    };
    format!("half of them within {} and {most}", time(times.quantile(0.5)))
}

/// What became of messages.
fn messages(plan: &CablePlan, seen: &CableReport) -> Option<Sentence> {
    let (text, times) = match plan.pattern {
        Pattern::Echo { .. } if seen.sent > 0 => (echo(seen), &seen.round_trip),
        Pattern::Broadcast { .. } if seen.deliveries.expected > 0 => {
            (broadcast(seen), &seen.complete)
        }
        _ => return None,
    };
    let figures = vec![
        ("sent", seen.sent as f64),
        ("p50", times.quantile(0.5).0 as f64),
        ("p99", times.quantile(0.99).0 as f64),
        ("max", times.max().0 as f64),
    ];
    Some(Sentence { kind: Kind::Latency, text, figures })
}

fn echo(seen: &CableReport) -> String {
    let sent = counted(seen.sent, "message");
    let back = part(seen.answered, seen.sent);
    match within(&seen.round_trip) {
        times if times.is_empty() => format!("Of {sent} none came back."),
        times => format!("Of {sent} {back} came back, {times}."),
    }
}

fn broadcast(seen: &CableReport) -> String {
    let sums = &seen.deliveries;
    let made = part(sums.delivered, sums.expected);
    let (sent, expected) = (counted(seen.sent, "broadcast"), counted(sums.expected, "delivery"));
    let last = match seen.complete.count() {
        0 => String::new(),
        _ => {
            let [half, most] = [seen.complete.quantile(0.5), seen.complete.max()].map(time);
            format!("; the last subscriber had a message after {half} (median), {most} at most")
        }
    };
    format!("Of {expected} of {sent} {made} were made{last}.")
}

fn part(some: u64, all: u64) -> String {
    if some == all { "all".to_owned() } else { share(some as f64 / all.max(1) as f64) }
}

/// What went wrong, in counts.
fn losses(plan: &CablePlan, seen: &CableReport) -> Option<Sentence> {
    let is_herd = matches!(plan.pattern, Pattern::Herd { .. });
    let counts = [
        (seen.turned_away, "user was turned away", "users were turned away", "turned_away"),
        (seen.unanswered, "message was lost", "messages were lost", "unanswered"),
        (seen.deliveries.lost, "delivery was lost", "deliveries were lost", "lost"),
        (seen.not_sent, "message was not sent", "messages were not sent", "not_sent"),
        (
            if is_herd { 0 } else { seen.dropped },
            "connection was dropped",
            "connections were dropped",
            "dropped",
        ),
        (seen.deliveries.duplicated, "message came twice", "messages came twice", "duplicated"),
        (seen.silences, "time no ping came for 6s", "times no ping came for 6s", "silences"),
    ];
    let found = counts.iter().filter(|(count, ..)| *count > 0);
    let words: Vec<String> = found
        .clone()
        .map(|(n, one, many, _)| format!("{} {}", grouped(*n), if *n == 1 { one } else { many }))
        .collect();
    let figures = found.map(|(count, .., name)| (*name, *count as f64)).collect();
    let parted = if is_parted(seen) { parted(seen) } else { String::new() };
    let text = format!("{}{parted}.", list_and(&words));
    (!words.is_empty()).then_some(Sentence { kind: Kind::Errors, text, figures })
}

/// That the server stood still.
fn paused(plan: &CablePlan, seen: &CableReport, verdict: &Verdict) -> Option<Sentence> {
    let longest = pause(plan, seen, verdict)?;
    let text = format!(
        "Messages waited up to {}, many times the median: the server, or a part of it, stood still.",
        time(longest)
    );
    let figures = vec![("waited_max", longest.0 as f64)];
    Some(Sentence { kind: Kind::Caution, text, figures })
}

/// What is wrong with the measurement, where what went wrong stands all the same.
fn doubt(verdict: &Verdict, outcome: CableOutcome) -> Option<Sentence> {
    use CableOutcome::{Unanswered, Unjudged};
    if verdict.is_valid() || matches!(outcome, Unanswered | Unjudged) {
        return None;
    }
    let reasons: Vec<String> = verdict.reasons.iter().map(ToString::to_string).collect();
    let reasons = reasons.join("; ");
    let text =
        format!("Not all figures are good: {reasons}; the server's result stands all the same.");
    Some(Sentence { kind: Kind::Confidence, text, figures: Vec::new() })
}

/// Whether messages reached one part of the subscribers and never the others, as where the processes of a server do not share
/// them. A server with too many users loses now these and now those.
fn is_parted(seen: &CableReport) -> bool {
    let (sums, who) = (&seen.deliveries, &seen.subscribers);
    if sums.lost == 0 || sums.late > 0 || seen.dropped > 0 {
        return false;
    }
    let mut reached: Vec<u32> = seen.messages.iter().map(|one| one.delivered).collect();
    reached.sort_unstable();
    reached.dedup();
    let expected = seen.messages.first().map_or(0, |one| one.expected);
    let is_alike = seen.messages.iter().all(|one| one.expected == expected);
    // Several users speak: each message reaches those of the speaker's process, and the parts make up the whole.
    let parts_are_all = match reached[..] {
        [] | [0] => false,
        [one] => one < expected && expected.is_multiple_of(one),
        _ => reached[0] > 0 && reached.iter().sum::<u32>() == expected,
    };
    (who.some == 0 && who.all > 0 && who.none > 0) || (is_alike && parts_are_all)
}

/// `: 10 subscribers had every message and 10 had none, …`.
fn parted(seen: &CableReport) -> String {
    const WHY: &str = "so that processes of the server do not share messages";
    let who = &seen.subscribers;
    match who.some {
        0 => format!(
            ": {} had every message and {} had none, {WHY}",
            counted(who.all, "subscriber"),
            grouped(who.none)
        ),
        _ => format!(": each message reached one part of the subscribers, {WHY}"),
    }
}

fn advice(
    (plan, seen): (&CablePlan, &CableReport),
    verdict: &Verdict,
    outcome: CableOutcome,
) -> Option<Sentence> {
    const LIMITS: &str = "look at the server's log and at its limits (open files, connections of its database and of its pub/sub)";
    let next = match outcome {
        CableOutcome::Unanswered => {
            "check the address, the channel (-channel) and what the server demands (-header, -cookies); the problems stand below"
        }
        CableOutcome::Unjudged => verdict.remedies().first().copied()?,
        CableOutcome::TurnedAway | CableOutcome::Dropped => LIMITS,
        CableOutcome::Lost if unheard(plan, seen).is_some() => unheard(plan, seen)?,
        CableOutcome::Lost if is_parted(seen) => {
            "give the server's processes an adapter that they share (config/cable.yml: redis or postgresql, not async)"
        }
        CableOutcome::Lost => {
            "watch the server (-watch -watch-port=PORT), and find the number of users from which on messages are lost (-users)"
        }
        CableOutcome::Silent => {
            "look at what holds the server's heartbeat (its CPU, its event loop)"
        }
        CableOutcome::Paused => {
            "look at what the server did then (its log, a garbage collection, a job, a lock)"
        }
        CableOutcome::KeptUp => "raise -users until messages come too late or are lost",
    };
    Some(Sentence { kind: Kind::Advice, text: format!("Next: {next}."), figures: Vec::new() })
}

#[cfg(test)]
mod tests {
    use cable::{RoundReport, Template};
    use metrics::Reason;
    use stdx::Nanos;
    use wire::cable::{Codec, Dialect, Format};

    use super::*;

    fn plan(pattern: Pattern) -> CablePlan {
        CablePlan {
            url: "ws://h/cable".to_owned(),
            http_url: "http://h/cable".to_owned(),
            pattern,
            users: 1_000,
            ramp: Nanos::ZERO,
            duration: Nanos::SECOND,
            identifier: Template::new("{}"),
            data: Template::new("{}"),
            codec: Codec { format: Format::Json, dialect: Dialect::Base },
            headers: Vec::new(),
            timeout: Nanos::SECOND,
            jitter: Nanos::ZERO,
            backs_off: true,
            seed: 7,
            part: None,
        }
    }

    fn times(ms: impl IntoIterator<Item = u64>) -> Histogram {
        let mut times = Histogram::new();
        ms.into_iter().for_each(|ms| times.record(Nanos::from_millis(ms)));
        times
    }

    fn up() -> CableReport {
        CableReport {
            subscribed: 1_000,
            open_most: 1_000,
            ready: times((1..=1_000).map(|at| at / 10)),
            ..CableReport::default()
        }
    }

    fn conclude(
        pattern: Pattern,
        outcome: &CableReport,
        verdict: &Verdict,
    ) -> (Vec<String>, String) {
        let conclusion = CableConclusion::of(&plan(pattern), outcome, verdict);
        let lines = conclusion.text().lines().map(str::to_owned).collect();
        (lines, conclusion.server_line())
    }

    const ECHO: Pattern = Pattern::Echo { every: None };

    #[test]
    fn a_good_echo_says_how_many_and_how_fast() {
        let outcome = CableReport {
            sent: 2_000,
            answered: 2_000,
            round_trip: times((0..2_000).map(|at| 1 + at / 100)),
            ..up()
        };
        let (lines, server) = conclude(ECHO, &outcome, &Verdict::default());
        assert_eq!(
            lines,
            [
                "All 1,000 users were connected, half of them within 50ms and 99% within 99ms.",
                "Of 2,000 messages all came back, half of them within 10ms and 99% within 20ms.",
                "Next: raise -users until messages come too late or are lost.",
            ]
        );
        assert_eq!(server, "Server: kept up\n");
    }

    #[test]
    fn a_broadcast_says_when_the_last_had_it_and_what_was_lost() {
        let mut outcome = CableReport { sent: 20, complete: times([30, 40, 50]), ..up() };
        (outcome.deliveries.expected, outcome.deliveries.delivered) = (20_000, 19_990);
        (outcome.deliveries.lost, outcome.dropped) = (10, 1);
        let pattern = Pattern::Broadcast { speakers: 1, every: Nanos::SECOND };
        let (lines, server) = conclude(pattern, &outcome, &Verdict::default());
        assert_eq!(
            lines[1],
            "Of 20,000 deliveries of 20 broadcasts more than 99.9% were made; the last subscriber had a message after 40ms \
             (median), 50ms at most."
        );
        assert_eq!(lines[2], "10 deliveries were lost and 1 connection was dropped.");
        assert_eq!(server, "Server: LOST MESSAGES\n");
    }

    #[test]
    fn processes_that_share_no_messages_are_named_and_not_the_users() {
        let message = |delivered| cable::MessageReport {
            number: 1,
            sent: Nanos::ZERO,
            expected: 20,
            delivered,
            lost: 20 - delivered,
            last: Nanos::ZERO,
        };
        let seen = |delivered: &[u32], [all, some, none]: [u64; 3]| {
            let mut seen = CableReport { sent: 20, ..up() };
            seen.messages = delivered.iter().map(|one| message(*one)).collect();
            let missed = delivered.iter().map(|one| u64::from(20 - one)).sum();
            (seen.deliveries.expected, seen.deliveries.lost) = (20 * seen.sent, missed);
            seen.deliveries.delivered = delivered.iter().map(|one| u64::from(*one)).sum();
            (seen.subscribers.all, seen.subscribers.some, seen.subscribers.none) =
                (all, some, none);
            seen
        };
        let pattern = Pattern::Broadcast { speakers: 1, every: Nanos::SECOND };
        let text = |seen: &CableReport| conclude(pattern, seen, &Verdict::default()).0.join("\n");
        let one_speaker = text(&seen(&[10, 10], [10, 0, 10]));
        assert!(
            one_speaker.contains(
                "\n20 deliveries were lost: 10 subscribers had every message and 10 had none, so that processes of the server do \
                 not share messages.\n"
            ),
            "{one_speaker}"
        );
        let advice = "config/cable.yml: redis or postgresql, not async";
        assert!(one_speaker.contains(advice) && !one_speaker.contains("-users"), "{one_speaker}");
        for parted in [&[7, 13, 7][..], &[10, 10, 10], &[5, 5]] {
            let several = text(&seen(parted, [0, 20, 0]));
            assert!(several.contains(advice), "{several}");
        }
        for random in [&[19, 12, 17][..], &[20, 19]] {
            let overloaded = text(&seen(random, [0, 20, 0]));
            assert!(overloaded.contains("-users") && !overloaded.contains("async"), "{overloaded}");
        }
    }

    #[test]
    fn a_herd_says_when_all_were_back() {
        let round = |last: u64| RoundReport {
            subscribed: 1_000,
            ready: times([1, last]),
            ..RoundReport::default()
        };
        let outcome = CableReport {
            rounds: vec![round(2_300), round(4_100), round(900)],
            dropped: 9,
            ..up()
        };
        let herd = Pattern::Herd { cuts: 2, give_up: Nanos::SECOND };
        let (lines, server) = conclude(herd, &outcome, &Verdict::default());
        assert_eq!(
            lines[0],
            "All 1,000 users were connected, the last of them 2.3s after the start, and 4.1s after the slowest of 2 cuts."
        );
        assert_eq!(server, "Server: kept up\n", "a herd is cut off on purpose");
    }

    #[test]
    fn users_that_were_never_connected_and_bad_measurements_come_first() {
        let none = CableReport::default();
        let (lines, server) = conclude(Pattern::Idle, &none, &Verdict::default());
        assert_eq!(lines[0], "None of 1,000 users was subscribed.");
        assert!(
            lines[1].starts_with("Next: check the address, the channel (-channel)"),
            "{lines:?}"
        );
        assert_eq!(server, "Server: FAILED, no user was subscribed\n");
        let some = CableReport { open_most: 912, turned_away: 88, ..up() };
        let (lines, server) = conclude(Pattern::Idle, &some, &Verdict::default());
        assert!(
            lines[0].starts_with("912 of 1,000 users were connected at once, half"),
            "{lines:?}"
        );
        assert_eq!(lines[1], "88 users were turned away.");
        assert_eq!(server, "Server: TURNED USERS AWAY\n");
        let invalid =
            Verdict { reasons: vec![Reason::Ports { connections: 3 }], ..Verdict::default() };
        let (lines, server) = conclude(Pattern::Idle, &some, &invalid);
        assert!(lines[0].starts_with("Do not judge the server by this run"), "{lines:?}");
        assert!(server.contains("not judged"), "{server}");
    }

    fn late(longest: Nanos) -> Verdict {
        let reasons = vec![Reason::Stalls { times: 1, longest }];
        Verdict { reasons, ..Verdict::default() }
    }

    /// 19 of 1,000 deliveries were lost, and the server was "not judged" for 10 ms of lateness.
    #[test]
    fn issue_39_losses_stand_beside_a_generator_that_was_late() {
        let mut seen = CableReport { sent: 50, complete: times(vec![8; 50]), ..up() };
        (seen.deliveries.expected, seen.deliveries.delivered, seen.deliveries.lost) =
            (1_000, 981, 19);
        let pattern = Pattern::Broadcast { speakers: 1, every: Nanos::SECOND };
        let (lines, server) = conclude(pattern, &seen, &late(Nanos::from_millis(200)));
        assert_eq!(server, "Server: LOST MESSAGES\n");
        assert_eq!(lines[2], "19 deliveries were lost.");
        assert!(lines[3].starts_with("Not all figures are good: the generator stood still 1 time"));
        assert!(lines[3].ends_with("the server's result stands all the same."), "{lines:?}");
        // Longer than a quarter of the timeout of 1 s the generator may have missed them itself.
        let (lines, server) = conclude(pattern, &seen, &late(Nanos::from_millis(300)));
        assert!(lines[0].starts_with("Do not judge"), "{lines:?}");
        assert!(server.contains("not judged"), "{server}");
        // What did not go wrong may have been spared by a load that was lower.
        seen.deliveries.lost = 0;
        let (_, server) = conclude(pattern, &seen, &late(Nanos::from_millis(200)));
        assert!(server.contains("not judged"), "{server}");
    }

    #[test]
    fn issue_39_a_server_that_stood_still_is_named() {
        let slow = |count: usize, ms| {
            let round_trip = times([vec![8; 2_000], vec![ms; count]].concat());
            CableReport { sent: 2_000, answered: 2_000, round_trip, ..up() }
        };
        let plain = Verdict::default();
        for verdict in [&plain, &late(Nanos::from_millis(150))] {
            let (lines, server) = conclude(ECHO, &slow(20, 4_000), verdict);
            assert!(lines[2].starts_with("Messages waited up to 4s, many times"), "{lines:?}");
            assert!(server.starts_with("Server: PAUSED"), "{server}");
        }
        let kept_up = "Server: kept up\n";
        assert_eq!(conclude(ECHO, &slow(1, 4_000), &plain).1, kept_up, "one straggler");
        assert_eq!(conclude(ECHO, &slow(20, 900), &plain).1, kept_up);
        let own = conclude(ECHO, &slow(20, 4_000), &late(Nanos::from_millis(3_900))).1;
        assert!(own.contains("not judged"), "{own}");
    }

    #[test]
    fn issue_39_a_channel_that_answers_nothing_is_not_overloaded() {
        let advice = |pattern, seen: &CableReport| {
            let (lines, server) = conclude(pattern, seen, &Verdict::default());
            assert_eq!(server, "Server: LOST MESSAGES\n");
            lines.last().cloned().unwrap_or_default()
        };
        let echo = CableReport { sent: 300, unanswered: 300, ..up() };
        assert!(advice(ECHO, &echo).contains("answers this action (-perform)"));
        let one = CableReport { answered: 1, unanswered: 299, round_trip: times([8]), ..echo };
        assert!(advice(ECHO, &one).contains("find the number of users"));
        let mut seen = CableReport { sent: 3, ..up() };
        (seen.deliveries.expected, seen.deliveries.lost) = (3_000, 3_000);
        let pattern = Pattern::Broadcast { speakers: 1, every: Nanos::SECOND };
        assert!(advice(pattern, &seen).contains("broadcasts what this action sends (-perform)"));
    }
}

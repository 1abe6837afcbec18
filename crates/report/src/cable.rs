//! A test of Action Cable, for people and programs: the conclusion, what users and messages came to, and the verdict last.

use std::fmt::Write as _;

use cable::{CablePlan, CableReport, MessageReport, Pattern, RoundReport};
use metrics::tally::Assertion;
use metrics::{Generator, Histogram, Verdict};

use crate::conclusion::{CableConclusion, ServerResult, markdown_texts};
use crate::json::{self};
use crate::junit::suite_of;
use crate::number::{duration, grouped};
use crate::object::{Object, json_list};
use crate::test_case::JunitCase;
use crate::text::{LATENCIES, generator_lines, latencies, line};
use crate::{assertions, escape, fleet, judgement, number::number, provenance};

/// A test of Action Cable and its results.
#[derive(Clone, Copy, Debug)]
pub struct CableInput<'a> {
    /// What was tested.
    pub plan: &'a CablePlan,
    /// What was seen.
    pub outcome: &'a CableReport,
    /// What the generator saw of itself.
    pub generator: &'a Generator,
    /// May the figures be believed?
    pub verdict: &'a Verdict,
    /// The memory of our sockets, where the system reports it.
    pub memory: Option<CableMemory>,
    /// The results of gates over the messages; may be empty.
    pub assertions: &'a [Assertion],
}

/// What our own process held in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CableMemory {
    /// Before the first socket, in bytes.
    pub before_bytes: u64,
    /// With so many sockets open, in bytes.
    pub bytes: u64,
    /// The sockets; not 0.
    pub open: u32,
}

impl CableMemory {
    /// Bytes that a socket costs, the run's own share included.
    fn bytes_per_socket(&self) -> u64 {
        self.bytes.saturating_sub(self.before_bytes) / u64::from(self.open.max(1))
    }
}

/// Messages that are shown one by one in the text, those with the most losses.
const WORST: usize = 5;
/// With fewer sockets their share says nothing: what a run needs once would be most of it.
const EACH_FROM: u32 = 1_000;
/// Rounds that are shown one by one in the text.
const ROUNDS_SHOWN: usize = 20;

/// What the test shows, a sentence each.
#[must_use]
pub fn conclusion(input: &CableInput<'_>) -> Vec<String> {
    CableConclusion::of(input.plan, input.outcome, input.verdict).texts()
}

/// The server's result in a few words.
#[must_use]
pub fn server_result(input: &CableInput<'_>) -> ServerResult {
    CableConclusion::of(input.plan, input.outcome, input.verdict).server_result()
}

/// As JUnit's XML: the verdict, messages that were lost or never answered, and each gate.
#[must_use]
pub fn junit(input: &CableInput<'_>) -> String {
    let CableReport { unanswered, deliveries, subscribed, .. } = input.outcome;
    let verdict = (!input.verdict.is_valid()).then(|| input.verdict.to_string());
    let failed = |count: u64, what: &str| (count > 0).then(|| format!("{} {what}", grouped(count)));
    let refused = (*subscribed == 0).then(|| "no user was subscribed".to_owned());
    let users = format!("{} subscribed", grouped(*subscribed));
    let mut cases = vec![
        JunitCase::new("verdict", String::new(), verdict),
        JunitCase::new("users are subscribed", users, refused),
        JunitCase::new("no delivery is lost", String::new(), failed(deliveries.lost, "lost")),
        JunitCase::new(
            "every message is answered",
            String::new(),
            failed(*unanswered, "not answered"),
        ),
    ];
    cases.extend(input.assertions.iter().filter_map(assertions::case));
    suite_of("brunt cable", &cases)
}

/// The conclusion and the report in Markdown.
#[must_use]
pub fn markdown(input: &CableInput<'_>) -> String {
    let list = markdown_texts(&conclusion(input));
    let failed = assertions::failed_markdown(input.assertions);
    let (name, text) = (input.plan.pattern.name(), text(input));
    format!("{failed}### Action Cable: {name}\n\n{list}\n```\n{text}```\n")
}

/// The report as text.
#[must_use]
pub fn text(input: &CableInput<'_>) -> String {
    let conclusion = CableConclusion::of(input.plan, input.outcome, input.verdict);
    let mut out = conclusion.text() + &provenance::text_of(input.assertions) + "\n";
    let (plan, outcome) = (input.plan, input.outcome);
    let (name, codec) = (plan.pattern.name(), plan.codec.subprotocol());
    let url = escape::terminal(&plan.url);
    line(&mut out, "Cable", "[pattern, url, protocol]", format_args!("{name}, {url}, {codec}"));
    let identifier = escape::terminal(&plan.identifier.text(1));
    line(&mut out, "", "[subscribed to, user 1]", format_args!("{identifier}"));
    users(&mut out, plan, outcome);
    match plan.pattern {
        Pattern::Echo { .. } => echo(&mut out, outcome),
        Pattern::Broadcast { .. } => broadcast(&mut out, outcome),
        Pattern::Herd { .. } => herd(&mut out, outcome),
        Pattern::Idle => {}
    }
    pings(&mut out, outcome);
    if let Some(memory) = input.memory {
        let each = match memory.open {
            ..EACH_FROM => String::new(),
            _ => format!(", {} each", kib(memory.bytes_per_socket())),
        };
        let (before, most) = (kib(memory.before_bytes), kib(memory.bytes));
        let open = grouped(u64::from(memory.open));
        let values = format_args!("{open}, {before}, {most}{each}");
        line(&mut out, "Memory", "[sockets, ours before, then]", values);
    }
    generator_lines(&mut out, input.generator);
    problems(&mut out, outcome);
    out.push_str(&fleet::text(input.assertions));
    out.push_str(&assertions::text(input.assertions));
    let (server, measurement) = (conclusion.server_line(), judgement::text(input.verdict));
    let _ = write!(out, "\n{server}Measurement: {measurement}");
    out
}

fn users(out: &mut String, plan: &CablePlan, outcome: &CableReport) {
    let CableReport { attempts, opened, refused, subscribed, unconfirmed, dropped, .. } = outcome;
    let (planned, most, away) = (plan.users, outcome.open_most, outcome.turned_away);
    line(out, "Users", "[asked for, open, turned away]", format_args!("{planned}, {most}, {away}"));
    let values = format_args!("{attempts}, {opened}, {refused}");
    line(out, "Handshakes", "[begun, opened, refused]", values);
    let values = format_args!("{subscribed}, {unconfirmed}, {dropped}");
    line(out, "Subscriptions", "[confirmed, not in time, dropped]", values);
    if outcome.backoffs > 0 {
        let (waits, time) = (outcome.backoffs, duration(outcome.backed_off));
        line(out, "Backoff", "[waits, in all]", format_args!("{waits}, {time}"));
    }
    times(out, "Ready", &outcome.ready);
    times(out, "Recovered", &outcome.recovered);
}

/// Times, unless there are none.
fn times(out: &mut String, name: &str, times: &Histogram) {
    if times.count() > 0 {
        line(out, name, LATENCIES, format_args!("{}", latencies(times)));
    }
}

fn echo(out: &mut String, outcome: &CableReport) {
    let CableReport { sent, answered, unanswered, cut, not_sent, .. } = outcome;
    let values = format_args!("{sent}, {answered}, {unanswered}, {cut}, {not_sent}");
    line(out, "Messages", "[sent, back, lost, cut, not sent]", values);
    times(out, "Round Trips", &outcome.round_trip);
    let (again, late) = (outcome.deliveries.duplicated, outcome.deliveries.late);
    let (overheard, unknown) = (outcome.overheard, outcome.unknown);
    let values = format_args!("{again}, {late}, {overheard}, {unknown}");
    line(out, "", "[again, late, others', unknown]", values);
}

fn broadcast(out: &mut String, outcome: &CableReport) {
    let CableReport { sent, complete_messages, not_sent, .. } = outcome;
    let values = format_args!("{sent}, {complete_messages}, {not_sent}");
    line(out, "Messages", "[sent, all had it, not sent]", values);
    if outcome.evicted > 0 {
        line(out, "", "[closed early: too many]", format_args!("{}", outcome.evicted));
    }
    let sums = &outcome.deliveries;
    let share = percent(sums.delivered, sums.expected);
    let (owed, made, lost, cut) = (sums.expected, sums.delivered, sums.lost, sums.cut);
    let values = format_args!("{owed}, {made} ({share}), {lost}, {cut}");
    line(out, "Deliveries", "[owed, made, lost, cut off]", values);
    let (again, order, late, early) = (sums.duplicated, sums.out_of_order, sums.late, sums.early);
    let values = format_args!("{again}, {order}, {late}, {early}");
    line(out, "", "[again, unordered, late, early]", values);
    let subscribers = &outcome.subscribers;
    let values = format_args!("{}, {}, {}", subscribers.all, subscribers.some, subscribers.none);
    line(out, "Subscribers", "[had all, some, none]", values);
    times(out, "Fan-out", &outcome.fan_out);
    times(out, "Last had it", &outcome.complete);
    for message in worst(outcome) {
        let MessageReport { number, expected, delivered, .. } = message;
        let values = format_args!("number {number}: {delivered} of {expected} had it");
        line(out, "", "[a message]", values);
    }
    if outcome.unknown > 0 {
        line(out, "", "[messages nobody asked for]", format_args!("{}", outcome.unknown));
    }
}

/// The messages with the most losses, the worst first.
fn worst(outcome: &CableReport) -> Vec<&MessageReport> {
    let mut lossy: Vec<_> = outcome.messages.iter().filter(|message| message.lost > 0).collect();
    lossy.sort_by_key(|message| std::cmp::Reverse(message.lost));
    lossy.truncate(WORST);
    lossy
}

fn herd(out: &mut String, outcome: &CableReport) {
    for (at, round) in outcome.rounds.iter().take(ROUNDS_SHOWN).enumerate() {
        let [p50, p99] = [0.5, 0.99].map(|q| duration(round.ready.quantile(q)));
        let last = duration(round.ready.max());
        let RoundReport { subscribed, given_up, .. } = round;
        let name = if at == 0 { "First time".to_owned() } else { format!("After cut {at}") };
        let values = format_args!("{subscribed}, {given_up}, {p50}, {p99}, {last}");
        line(out, &name, "[up, given up, 50, 99, last up]", values);
    }
    if outcome.rounds.len() > ROUNDS_SHOWN {
        let more = outcome.rounds.len() - ROUNDS_SHOWN;
        line(out, "", "[rounds more, in the JSON]", format_args!("{more}"));
    }
}

fn pings(out: &mut String, outcome: &CableReport) {
    let count = grouped(outcome.pings);
    if outcome.ping_gap.count() > 0 {
        let [p50, most] = [outcome.ping_gap.quantile(0.5), outcome.ping_gap.max()].map(duration);
        line(out, "Pings", "[heard, gap 50, max]", format_args!("{count}, {p50}, {most}"));
    } else {
        line(out, "Pings", "[heard]", format_args!("{count}"));
    }
    if outcome.silences > 0 {
        let (silences, longest) = (outcome.silences, duration(outcome.silence_longest));
        line(
            out,
            "",
            "[none for over 6s, longest]",
            format_args!("{}, {longest}", stdx::counted(silences, "time")),
        );
    }
}

fn problems(out: &mut String, outcome: &CableReport) {
    if outcome.problems.is_empty() {
        return;
    }
    out.push_str("Problems:\n");
    for (problem, times) in &outcome.problems {
        let _ = writeln!(out, "{times:>8}  {}", escape::terminal(problem));
    }
}

fn percent(part: u64, whole: u64) -> String {
    format!("{:.2}%", if whole == 0 { 100.0 } else { part as f64 / whole as f64 * 100.0 })
}

fn kib(bytes: u64) -> String {
    format!("{} KiB", number(bytes as f64 / 1024.0))
}

/// The report as one line of JSON; times are nanoseconds.
#[must_use]
pub fn json(input: &CableInput<'_>) -> String {
    let (plan, outcome) = (input.plan, input.outcome);
    let conclusion = CableConclusion::of(input.plan, input.outcome, input.verdict);
    let mut object = Object::new()
        .put("conclusion", conclusion.json())
        .text("outcome", conclusion.outcome_name())
        .text("pattern", plan.pattern.name())
        .text("url", &plan.url)
        .text("protocol", plan.codec.subprotocol())
        .text("identifier", &plan.identifier.text(1))
        .number("seed", plan.seed)
        .put("users", json_users(plan, outcome))
        .put("ready", json::times(&outcome.ready))
        .put("recovered", json::times(&outcome.recovered));
    object = match plan.pattern {
        Pattern::Echo { .. } => object.put("echo", json_echo(outcome)),
        Pattern::Broadcast { .. } => object.put("broadcast", json_broadcast(outcome)),
        Pattern::Herd { .. } => {
            object.put("rounds", json_list(outcome.rounds.iter().map(json_round)))
        }
        Pattern::Idle => object,
    };
    object = object.put("pings", json_pings(outcome));
    if let Some(memory) = input.memory {
        let memory = Object::new()
            .number("sockets", memory.open.into())
            .number("before_bytes", memory.before_bytes)
            .number("bytes", memory.bytes)
            .number("bytes_per_socket", memory.bytes_per_socket());
        object = object.put("memory", memory.end());
    }
    if let Some(provenance) = provenance::json_of(input.assertions) {
        object = object.put("provenance", provenance);
    }
    if let Some(gates) = crate::gates::json(input.assertions) {
        object = object.put("gates", gates);
    }
    if let Some(fleet) = fleet::json(input.assertions) {
        object = object.put("fleet", fleet);
    }
    let problems = outcome.problems.iter();
    let verdict = input.verdict;
    let reasons = verdict.reasons.iter().map(|reason| escape::json(&reason.to_string()));
    let problems = problems.fold(Object::new(), |all, (problem, n)| all.number(problem, *n));
    object
        .put("problems", problems.end())
        .put("generator", json::generator(input.generator))
        .text("verdict", if verdict.is_valid() { "VALID" } else { "INVALID" })
        .put("reasons", json_list(reasons))
        .put("remedies", judgement::json_remedies(verdict))
        .put("remark", judgement::json_remark(verdict))
        .end()
        + "\n"
}

fn json_users(plan: &CablePlan, outcome: &CableReport) -> String {
    Object::new()
        .number("asked", plan.users.into())
        .number("open_most", outcome.open_most.into())
        .number("attempts", outcome.attempts)
        .number("opened", outcome.opened)
        .number("refused", outcome.refused)
        .number("subscribed", outcome.subscribed)
        .number("turned_away", outcome.turned_away)
        .number("unconfirmed", outcome.unconfirmed)
        .number("dropped", outcome.dropped)
        .number("backoffs", outcome.backoffs)
        .number("backed_off", outcome.backed_off.0)
        .end()
}

fn json_echo(outcome: &CableReport) -> String {
    Object::new()
        .number("sent", outcome.sent)
        .number("not_sent", outcome.not_sent)
        .number("answered", outcome.answered)
        .number("lost", outcome.unanswered)
        .number("cut", outcome.cut)
        .number("duplicated", outcome.deliveries.duplicated)
        .number("late", outcome.deliveries.late)
        .number("overheard", outcome.overheard)
        .number("unknown", outcome.unknown)
        .put("round_trip", json::times(&outcome.round_trip))
        .end()
}

fn json_broadcast(outcome: &CableReport) -> String {
    let sums = &outcome.deliveries;
    let deliveries = Object::new()
        .number("expected", sums.expected)
        .number("delivered", sums.delivered)
        .number("lost", sums.lost)
        .number("cut", sums.cut)
        .number("duplicated", sums.duplicated)
        .number("out_of_order", sums.out_of_order)
        .number("late", sums.late)
        .number("early", sums.early);
    let subscribers = &outcome.subscribers;
    let subscribers = Object::new()
        .number("all", subscribers.all)
        .number("some", subscribers.some)
        .number("none", subscribers.none);
    Object::new()
        .number("sent", outcome.sent)
        .number("not_sent", outcome.not_sent)
        .number("complete", outcome.complete_messages)
        .number("evicted", outcome.evicted)
        .number("unknown", outcome.unknown)
        .put("deliveries", deliveries.end())
        .put("subscribers", subscribers.end())
        .put("fan_out", json::times(&outcome.fan_out))
        .put("last", json::times(&outcome.complete))
        .put("messages", json_list(outcome.messages.iter().map(json_message)))
        .number("messages_more", outcome.messages_more)
        .end()
}

fn json_message(message: &MessageReport) -> String {
    Object::new()
        .number("number", message.number.into())
        .number("sent", message.sent.0)
        .number("expected", message.expected.into())
        .number("delivered", message.delivered.into())
        .number("lost", message.lost.into())
        .number("last", message.last.0)
        .end()
}

fn json_round(round: &RoundReport) -> String {
    Object::new()
        .number("subscribed", round.subscribed)
        .number("given_up", round.given_up)
        .put("ready", json::times(&round.ready))
        .end()
}

fn json_pings(outcome: &CableReport) -> String {
    Object::new()
        .number("heard", outcome.pings)
        .put("gap", json::times(&outcome.ping_gap))
        .number("silences", outcome.silences)
        .number("silence_longest", outcome.silence_longest.0)
        .end()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use stdx::Nanos;
    use wire::cable::{Codec, Dialect, Format};

    use super::*;

    fn plan(pattern: Pattern) -> CablePlan {
        CablePlan {
            url: "ws://h/cable".to_owned(),
            http_url: "http://h/cable".to_owned(),
            pattern,
            users: 12,
            ramp: Nanos::ZERO,
            duration: Nanos::SECOND,
            identifier: cable::Template::new(r#"{"channel":"Chat\u0007"}"#),
            data: cable::Template::new("{}"),
            codec: Codec { format: Format::Json, dialect: Dialect::Base },
            headers: Vec::new(),
            timeout: Nanos::SECOND,
            jitter: Nanos::ZERO,
            backs_off: true,
            seed: 7,
            part: None,
        }
    }

    fn outcome() -> CableReport {
        let mut outcome = CableReport {
            attempts: 12,
            opened: 12,
            subscribed: 12,
            open_most: 12,
            ..CableReport::default()
        };
        outcome.sent = 2;
        (outcome.deliveries.expected, outcome.deliveries.delivered) = (24, 14);
        outcome.deliveries.lost = 10;
        (outcome.subscribers.all, outcome.subscribers.none) = (7, 5);
        outcome.fan_out.record_n(Nanos::from_millis(2), 14);
        for number in [1, 2] {
            let (expected, delivered, lost) = (12, 7, 5);
            let (sent, last) = (Nanos::MILLI, Nanos::MILLI * 2);
            outcome.messages.push(MessageReport { number, sent, expected, delivered, lost, last });
        }
        outcome.problems.insert("bad \u{1b}[2J thing".to_owned(), 3);
        outcome.rounds.resize_with(25, RoundReport::default);
        outcome
    }

    fn both(pattern: Pattern) -> (String, Value) {
        let (plan, outcome) = (plan(pattern), outcome());
        let memory =
            CableMemory { before_bytes: 1 << 20, bytes: (1 << 20) + 1024 * 2048, open: 1024 };
        let input = CableInput {
            plan: &plan,
            outcome: &outcome,
            generator: &Generator::new(),
            verdict: &Verdict::default(),
            memory: Some(memory),
            assertions: &[],
        };
        let json = json(&input);
        (text(&input), serde_json::from_str(&json).expect(&json))
    }

    #[test]
    fn a_broadcast_says_who_had_what() {
        let every = Nanos::SECOND;
        let (text, json) = both(Pattern::Broadcast { speakers: 1, every });
        for words in [
            "24, 14 (58.33%), 10, 0",
            "[had all, some, none]             7, 0, 5",
            "number 1: 7 of 12 had it",
            "1,024, 1,024 KiB, 3,072 KiB, 2 KiB each",
            "       3  bad ",
            "\nMeasurement: VALID",
            "\nServer: LOST MESSAGES\n",
        ] {
            assert!(text.contains(words), "{words:?} in {text}");
        }
        assert!(!text.contains('\u{1b}'), "what servers say is escaped");
        assert_eq!(json["broadcast"]["deliveries"]["lost"], 10);
        assert_eq!(json["broadcast"]["messages"][1]["delivered"], 7);
        assert_eq!(json["broadcast"]["fan_out"]["max"], 2_000_000);
        assert_eq!(json["memory"]["bytes_per_socket"], 2048);
        assert_eq!(json["verdict"], "VALID");
    }

    #[test]
    fn each_pattern_has_lines_of_its_own() {
        let (text, json) = both(Pattern::Echo { every: None });
        assert!(text.contains("[sent, back, lost, cut, not sent] "), "{text}");
        assert_eq!(json["echo"]["sent"], 2);
        let (text, json) = both(Pattern::Herd { cuts: 24, give_up: Nanos::SECOND });
        assert!(text.contains("After cut 19") && !text.contains("After cut 20"), "{text}");
        assert_eq!(json["rounds"].as_array().map(Vec::len), Some(25));
        let (text, json) = both(Pattern::Idle);
        assert!(text.contains("Pings") && !text.contains("Messages"), "{text}");
        assert!(json["rounds"].is_null() && json["pings"]["silences"] == 0);
    }
}

//! Groups of steps out of units: a group for each page, think times, requests with what is taken of their answers.

use stdx::Nanos;

use super::archive::Archive;
use super::body::RecordedBody;
use super::cookies::Jar;
use super::correlate::Correlator;
use super::entry::Entry;
use crate::{Body, Exchange, Group, Import, Input, Piece, Polling, Redirects, Step, Text};

/// The shortest pause in which a person thinks, in milliseconds.
const PAUSE_MS_MIN: i64 = 500;
/// The longest pause that is kept, in milliseconds.
const PAUSE_MS_MAX: i64 = 60_000;
/// The writer whose pages are groups that a person has named: `brunt record`.
const RECORDER: &str = "brunt record";
/// How many equal requests in a row are a poll.
const POLLS_MIN: usize = 3;

/// A unit as steps.
struct Built {
    unit: usize,
    group: String,
    pause_ms: i64,
    interval_ms: i64,
    before: Vec<Step>,
    step: Step,
}

/// Adds the groups of a recording.
pub(super) fn add_groups(
    import: &mut Import,
    input: &Input<'_>,
    archive: &Archive,
    correlator: &mut Correlator<'_>,
) {
    let mut pages = Pages::new(archive);
    let mut builder = Builder { import, input, jar: Jar::default(), passed: 0 };
    let mut built = vec![];
    for at in 0..correlator.units.len() {
        correlator.at = at;
        let group = pages.group(correlator);
        built.push(builder.unit(correlator, group));
    }
    add_extractions(&mut built, correlator);
    fold_polls(&mut built);
    for one in built {
        add_to_group(import, one);
    }
}

/// Makes steps of one unit after the other.
struct Builder<'a> {
    import: &'a mut Import,
    input: &'a Input<'a>,
    jar: Jar,
    /// How many entries the jar has seen.
    passed: usize,
}

impl Builder<'_> {
    /// The correlator's unit as steps of a group.
    fn unit(&mut self, correlator: &mut Correlator<'_>, group: String) -> Built {
        let unit = correlator.at;
        let first = correlator.units[unit].chain[0];
        for entry in &correlator.entries[self.passed..first.max(self.passed)] {
            self.jar.after(entry);
        }
        self.passed = self.passed.max(first);
        let pause_ms = pause(correlator.entries, first);
        if pause_ms > PAUSE_MS_MAX {
            let label = correlator.entry().label();
            let (pause_s, max_s) = (pause_ms / 1000, PAUSE_MS_MAX / 1000);
            self.note(format!("{label}: the pause of {pause_s} s before it is cut to {max_s} s"));
        }
        let interval_ms = interval(correlator);
        let mut before = self.cookies(correlator);
        let step = self.step(correlator);
        for text in correlator.unbound.drain(..) {
            self.note(text);
        }
        let made = correlator.made.iter().filter(|(at, ..)| *at == unit);
        before.extend(made.map(|(_, name, source)| Step::Assign {
            variable: name.clone(),
            value: Text::value(source.clone()),
        }));
        Built { unit, group, pause_ms: pause_ms.min(PAUSE_MS_MAX), interval_ms, before, step }
    }

    fn note(&mut self, text: String) {
        self.import.note(self.input.place(0), text);
    }

    fn cookies(&mut self, correlator: &mut Correlator<'_>) -> Vec<Step> {
        let (steps, old) = self.jar.before(correlator);
        for name in old {
            self.note(format!("the cookie {name} is from before the recording: -e COOKIE_{name}=… replaces the recorded one, which may have ended"));
        }
        steps
    }

    fn step(&mut self, correlator: &mut Correlator<'_>) -> Step {
        let url = correlator.address();
        if correlator.entry().is_socket() {
            let mut conversation = correlator.conversation(socket_address(url));
            conversation.headers = correlator.headers(&Body::None).0;
            conversation.place = self.input.place(0);
            return Step::Socket(Box::new(conversation));
        }
        let RecordedBody { body, notes } = correlator.body();
        let (headers, old) = correlator.headers(&body);
        let label = correlator.entry().label();
        for name in old {
            self.note(format!("{label}: the value of {name} came in no answer: -e TOKEN=… replaces the recorded one, which may have ended"));
        }
        for note in &notes {
            self.note(format!("{label}: {note}"));
        }
        let exchange = Exchange { url, headers, body, remarks: notes, ..self.exchange(correlator) };
        Step::Exchange(Box::new(exchange))
    }

    /// The request without what comes from answers, and what is expected of its own.
    fn exchange(&self, correlator: &Correlator<'_>) -> Exchange {
        let chain = &correlator.units[correlator.at].chain;
        let last = &correlator.entries[chain[chain.len() - 1]].answer;
        let leads_on = last.redirect().is_some();
        Exchange {
            place: self.input.place(0),
            name: correlator.label(),
            method: correlator.entry().method.clone(),
            redirects: if leads_on { Redirects::Stop } else { Redirects::Follow },
            statuses: if last.status == 304 { vec![200, 304] } else { vec![last.status] },
            ..Exchange::default()
        }
    }
}

/// Puts what is taken of answers where their requests are.
fn add_extractions(built: &mut [Built], correlator: &Correlator<'_>) {
    for taken in &correlator.taken {
        let target = built.iter_mut().find(|one| one.unit == taken.unit);
        if let Some(Built { step: Step::Exchange(exchange), .. }) = target {
            exchange.extractions.push(taken.extraction.clone());
        }
    }
    for (unit, hearing) in &correlator.hearings {
        let target = built.iter_mut().find(|one| one.unit == *unit);
        if let Some(Built { step: Step::Socket(conversation), .. }) = target {
            conversation.hearings.push(hearing.clone());
        }
    }
}

/// Appends the steps to the last group, or to a new one if that has another name.
fn add_to_group(import: &mut Import, one: Built) {
    if import.groups.last().is_none_or(|group| group.name != one.group) {
        import.groups.push(Group { name: one.group, steps: vec![] });
    }
    let Some(group) = import.groups.last_mut() else { return };
    if one.pause_ms >= PAUSE_MS_MIN {
        let rounded = (one.pause_ms + 50) / 100 * 100;
        group.steps.push(Step::Pause(Nanos(rounded.unsigned_abs() * 1_000_000)));
    }
    group.steps.extend(one.before);
    group.steps.push(one.step);
}

/// The address of a WebSocket as WebSockets have it: some writers have `http://` there.
fn socket_address(mut url: Text) -> Text {
    if let Some(Piece::Literal(start)) = url.pieces.first_mut()
        && let Some(rest) = start.strip_prefix("http")
    {
        *start = format!("ws{rest}");
    }
    url
}

/// The time between the end of all that began before an entry and its own begin, in milliseconds.
fn pause(entries: &[Entry], at: usize) -> i64 {
    let Some(start) = entries[at].started_ms else { return 0 };
    let sockets = |entry: &&Entry| !entry.is_socket();
    let ends = entries[..at].iter().rev().take(200).filter(sockets).filter_map(Entry::ended_ms);
    ends.max().map_or(0, |end| start.saturating_sub(end).max(0))
}

fn interval(correlator: &Correlator<'_>) -> i64 {
    let start = correlator.entry().started_ms;
    let before = correlator
        .at
        .checked_sub(1)
        .and_then(|before| correlator.entries[correlator.units[before].chain[0]].started_ms);
    start.zip(before).map_or(0, |(start, before)| (start - before).max(0))
}

/// Requests that are the same, one after the other, until an answer has what is wanted: one that is repeated.
fn fold_polls(built: &mut Vec<Built>) {
    let mut at = 0;
    while at < built.len() {
        let others = &built[at + 1..];
        let run = 1 + others.iter().take_while(|other| is_same_request(&built[at], other)).count();
        let last = at + run - 1;
        let takes = |one: &Built| matches!(&one.step, Step::Exchange(exchange) if !exchange.extractions.is_empty());
        let is_poll = run >= POLLS_MIN && takes(&built[last]) && !built[at..last].iter().any(takes);
        if is_poll {
            let others: Vec<Built> = built.drain(at..last).collect();
            fold(&mut built[at], others);
        }
        at += 1;
    }
}

/// Makes the last request of a poll the one that is repeated in place of `others`, the first of which has the pause before it.
fn fold(poll: &mut Built, others: Vec<Built>) {
    let count = others.len();
    let later = others.iter().skip(1).map(|one| one.interval_ms).sum::<i64>();
    let mean_ms = (later + poll.interval_ms) / count as i64;
    poll.pause_ms = others[0].pause_ms;
    let mut before: Vec<Step> = others.into_iter().flat_map(|one| one.before).collect();
    before.append(&mut poll.before);
    poll.before = before;
    if let Step::Exchange(exchange) = &mut poll.step {
        let attempts = u32::try_from((count + 1) * 5).unwrap_or(100).clamp(10, 100);
        let pause = Nanos(mean_ms.clamp(50, 30_000).unsigned_abs() * 1_000_000);
        exchange.polling = Some(Polling { attempts, pause });
        let times = count + 1;
        let text = format!("recorded {times} times, until the answer had what comes next");
        exchange.remarks.push(text);
    }
}

fn is_same_request(a: &Built, b: &Built) -> bool {
    match (&a.step, &b.step) {
        (Step::Exchange(a), Step::Exchange(b)) => {
            a.method == "GET"
                && a.method == b.method
                && a.url == b.url
                && a.body == b.body
                && a.polling.is_none()
        }
        _ => false,
    }
}

/// The pages of a recording, in turn.
struct Pages<'a> {
    titles: &'a [(String, String)],
    /// Titles are names that a person gave to groups, not those of pages.
    are_marks: bool,
    current: Option<String>,
    name: String,
    count: usize,
}

impl<'a> Pages<'a> {
    fn new(archive: &'a Archive) -> Self {
        let are_marks = archive.creator == RECORDER;
        Self { titles: &archive.pages, are_marks, current: None, name: String::new(), count: 0 }
    }

    /// The group that a request belongs to: that of its page, or of the page that was last gone to.
    fn group(&mut self, correlator: &Correlator<'_>) -> String {
        let entry = correlator.entry();
        let is_new = match &entry.page {
            Some(page) => self.current.as_ref() != Some(page),
            None => self.count == 0 || entry.is_navigation(),
        };
        if is_new {
            self.count += 1;
            self.current.clone_from(&entry.page);
            let title = self.titles.iter().find(|(id, _)| Some(id) == entry.page.as_ref());
            let title = title
                .map(|(_, title)| title.trim())
                .filter(|title| !title.is_empty() && !title.contains("://"));
            let label = correlator.label();
            let path = label.split_once(' ').map_or("", |(_, path)| path);
            self.name = match title {
                Some(title) if self.are_marks => title.to_owned(),
                title => format!("page {} {}", self.count, title.unwrap_or(path)),
            };
        }
        self.name.clone()
    }
}

//! Groups of steps out of units: a group for each page, think times, requests with what is taken of their answers.

use stdx::Nanos;

use super::cookies::Jar;
use super::correlate::Correlator;
use super::entry::Entry;
use crate::{Body, Exchange, Group, Import, Input, Piece, Polling, Redirects, Step, Text};

/// The shortest pause in which a person thinks, in milliseconds.
const PAUSE_MS_MIN: i64 = 500;
/// The longest pause that is kept, in milliseconds.
const PAUSE_MS_MAX: i64 = 60_000;
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
    pages: &[(String, String)],
    correlator: &mut Correlator<'_>,
) {
    let mut built = vec![];
    let mut jar = Jar::default();
    let mut passed = 0;
    let mut pages = Pages::new(pages);
    for at in 0..correlator.units.len() {
        correlator.at = at;
        let first = correlator.units[at].chain[0];
        for entry in &correlator.entries[passed..first.max(passed)] {
            jar.after(entry);
        }
        passed = passed.max(first);
        let group = pages.group(correlator);
        let pause_ms = pause(correlator.entries, first);
        let interval_ms = interval(correlator);
        if pause_ms > PAUSE_MS_MAX {
            import.note(
                input.place(0),
                format!(
                    "{}: the pause of {} s before it is cut to {} s",
                    correlator.entry().label(),
                    pause_ms / 1000,
                    PAUSE_MS_MAX / 1000
                ),
            );
        }
        let (mut before, old) = jar.before(correlator);
        for name in old {
            import.note(input.place(0), format!("the cookie {name} is from before the recording: -e COOKIE_{name}=… replaces the recorded one, which may have ended"));
        }
        let step = step(import, input, correlator);
        let made = correlator.made.iter().filter(|(unit, ..)| *unit == at);
        before.extend(made.map(|(_, name, source)| Step::Assign {
            variable: name.clone(),
            value: Text::value(source.clone()),
        }));
        built.push(Built {
            unit: at,
            group,
            pause_ms: pause_ms.min(PAUSE_MS_MAX),
            interval_ms,
            before,
            step,
        });
    }
    for taken in correlator.taken.iter() {
        let target = built.iter_mut().find(|one| one.unit == taken.unit);
        if let Some(Built { step: Step::Exchange(exchange), .. }) = target {
            exchange.extractions.push(taken.extraction.clone());
        }
    }
    fold_polls(&mut built);
    for one in built {
        if import.groups.last().is_none_or(|group| group.name != one.group) {
            import.groups.push(Group { name: one.group, steps: vec![] });
        }
        let Some(group) = import.groups.last_mut() else { continue };
        if one.pause_ms >= PAUSE_MS_MIN {
            let rounded = (one.pause_ms + 50) / 100 * 100;
            group.steps.push(Step::Pause(Nanos(rounded.unsigned_abs() * 1_000_000)));
        }
        group.steps.extend(one.before);
        group.steps.push(one.step);
    }
}

fn step(import: &mut Import, input: &Input<'_>, correlator: &mut Correlator<'_>) -> Step {
    let entry = correlator.entry();
    let url = correlator.address();
    if entry.is_socket() {
        let mut conversation = correlator.conversation(socket_address(url));
        conversation.headers = correlator.headers(false).0;
        conversation.place = input.place(0);
        return Step::Socket(Box::new(conversation));
    }
    let made = correlator.body();
    let is_multipart = matches!(made.body, Body::Multipart(_));
    let (headers, old) = correlator.headers(is_multipart);
    for name in old {
        import.note(input.place(0), format!("{}: the value of {name} came in no answer: -e TOKEN=… replaces the recorded one, which may have ended", entry.label()));
    }
    for note in &made.notes {
        import.note(input.place(0), format!("{}: {note}", entry.label()));
    }
    let chain = &correlator.units[correlator.at].chain;
    let last = &correlator.entries[chain[chain.len() - 1]];
    let redirects =
        if last.answer.redirect().is_some() { Redirects::Stop } else { Redirects::Follow };
    let statuses = match last.answer.status {
        304 => vec![200, 304],
        status => vec![status],
    };
    Step::Exchange(Box::new(Exchange {
        place: input.place(0),
        name: correlator.label(),
        method: entry.method.clone(),
        url,
        headers,
        body: made.body,
        redirects,
        statuses,
        remarks: made.notes,
        ..Exchange::default()
    }))
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
        let run = built[at..].iter().take_while(|other| is_same_request(&built[at], other)).count();
        let last = at + run - 1;
        let takes = |one: &Built| matches!(&one.step, Step::Exchange(exchange) if !exchange.extractions.is_empty());
        let is_poll = run >= POLLS_MIN && takes(&built[last]) && !built[at..last].iter().any(takes);
        if is_poll {
            let mean = built[at + 1..=last].iter().map(|one| one.interval_ms).sum::<i64>()
                / (run as i64 - 1);
            let pause_ms = built[at].pause_ms;
            let mut folded: Vec<Built> = built.drain(at..last).collect();
            let poll = &mut built[at];
            poll.pause_ms = pause_ms;
            let mut before: Vec<Step> = folded.drain(..).flat_map(|one| one.before).collect();
            before.append(&mut poll.before);
            poll.before = before;
            if let Step::Exchange(exchange) = &mut poll.step {
                let attempts = u32::try_from(run * 5).unwrap_or(100).clamp(10, 100);
                let pause = Nanos(mean.clamp(50, 30_000).unsigned_abs() * 1_000_000);
                exchange.polling = Some(Polling { attempts, pause });
                exchange
                    .remarks
                    .push(format!("recorded {run} times, until the answer had what comes next"));
            }
        }
        at += 1;
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
    current: Option<String>,
    name: String,
    count: usize,
}

impl<'a> Pages<'a> {
    fn new(titles: &'a [(String, String)]) -> Self {
        Self { titles, current: None, name: String::new(), count: 0 }
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
            self.name = format!("page {} {}", self.count, title.unwrap_or(path));
        }
        self.name.clone()
    }
}

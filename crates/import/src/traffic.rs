//! The traffic of an access log as load: which addresses were called how often, and how many requests each minute had. Bodies and
//! sessions are in no log, so what is kept is what can be sent without them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;

use crate::percent::encode_typed;

/// How many addresses are counted at once; when there are more, the rarest are dropped.
const ADDRESSES_MAX: usize = 200_000;
/// How many minutes are counted: 31 days.
const MINUTES_MAX: usize = 31 * 24 * 60;
/// How long an address may be, in bytes; those that are longer count in the rate alone.
const ADDRESS_BYTES_MAX: usize = 2048;
/// How many methods are named in the notes.
const METHODS_MAX: usize = 64;
/// How long a method may be that is named, in bytes.
const METHOD_BYTES_MAX: usize = 32;

/// A request of a log.
#[derive(Debug, Clone, Copy)]
pub struct LogRequest<'a> {
    /// When, in seconds since 1970; none: the log has no times.
    pub at_s: Option<i64>,
    /// Its method; empty: the line has none.
    pub method: &'a str,
    /// Its path and query, or its whole address.
    pub path: &'a str,
    /// The answer's status; 0: not known.
    pub status: u16,
}

/// The traffic of logs, read line by line in bounded memory.
#[derive(Debug)]
pub struct Traffic {
    methods: Vec<String>,
    counts: HashMap<Box<str>, u64>,
    /// Addresses that were dropped as rare, at least so many requests.
    rare: u64,
    minutes: BTreeMap<i64, u64>,
    /// Requests in minutes beyond the bound.
    late: u64,
    /// Requests whose time the log does not have.
    untimed: u64,
    other_methods: BTreeMap<String, u64>,
    /// Requests of methods that are not named.
    strange_methods: u64,
    malformed: u64,
    /// Lines that were not understood.
    unread: u64,
    refused: u64,
    requests: u64,
}

impl Traffic {
    /// No traffic yet; requests of other methods than these are only counted.
    #[must_use]
    pub fn new(methods: &[String]) -> Self {
        Self {
            methods: methods.to_vec(),
            counts: HashMap::new(),
            rare: 0,
            minutes: BTreeMap::new(),
            late: 0,
            untimed: 0,
            other_methods: BTreeMap::new(),
            strange_methods: 0,
            malformed: 0,
            unread: 0,
            refused: 0,
            requests: 0,
        }
    }

    /// Counts a request.
    pub fn add(&mut self, request: &LogRequest<'_>) {
        let Some(path) = path_of(request.path).filter(|_| !request.method.is_empty()) else {
            self.malformed += 1;
            return;
        };
        if !self.methods.iter().any(|method| method == request.method) {
            self.count_other(request.method);
            return;
        }
        self.requests += 1;
        self.refused += u64::from((400..500).contains(&request.status));
        match request.at_s {
            Some(at_s) => self.count_minute(at_s.div_euclid(60)),
            None => self.untimed += 1,
        }
        self.count_address(request.method, &path);
    }

    /// A line that holds no request that was understood.
    pub fn add_unread(&mut self) {
        self.unread += 1;
    }

    fn count_other(&mut self, method: &str) {
        if let Some(count) = self.other_methods.get_mut(method) {
            *count += 1;
        } else if self.other_methods.len() < METHODS_MAX && method.len() <= METHOD_BYTES_MAX {
            self.other_methods.insert(method.to_owned(), 1);
        } else {
            self.strange_methods += 1;
        }
    }

    fn count_minute(&mut self, minute: i64) {
        if self.minutes.len() < MINUTES_MAX || self.minutes.contains_key(&minute) {
            *self.minutes.entry(minute).or_default() += 1;
        } else {
            self.late += 1;
        }
    }

    fn count_address(&mut self, method: &str, path: &str) {
        if path.len() > ADDRESS_BYTES_MAX {
            self.rare += 1;
            return;
        }
        let key = format!("{method} {path}");
        if let Some(count) = self.counts.get_mut(key.as_str()) {
            *count += 1;
            return;
        }
        let mut least = 1;
        while self.counts.len() >= ADDRESSES_MAX {
            let mut dropped = 0;
            self.counts.retain(|_, count| {
                let is_kept = *count > least;
                dropped += if is_kept { 0 } else { *count };
                is_kept
            });
            self.rare += dropped;
            least *= 2;
        }
        self.counts.insert(key.into(), 1);
    }

    /// How many requests are kept.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// Whether any request has a time, so that there is a rate.
    #[must_use]
    pub fn has_times(&self) -> bool {
        !self.minutes.is_empty()
    }

    /// Targets with their weights, the `top` most frequent addresses first, below `base_url`.
    #[must_use]
    pub fn targets(&self, base_url: &str, top: usize) -> String {
        let base = base_url.trim_end_matches('/');
        let mut out = String::new();
        for (key, count) in self.frequent().into_iter().take(top) {
            let Some((method, path)) = key.split_once(' ') else { continue };
            writeln!(out, "#brunt weight={count}\n{method} {base}{path}\n")
                .expect("a String takes all that is written");
        }
        out
    }

    fn frequent(&self) -> Vec<(&str, u64)> {
        let mut addresses: Vec<(&str, u64)> =
            self.counts.iter().map(|(key, count)| (&**key, *count)).collect();
        addresses.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        addresses
    }

    /// The rate by the minute, as `-shape=replay:FILE` reads it.
    #[must_use]
    pub fn rate(&self) -> String {
        let mut out = String::from("# Requests by the minute, written by `brunt import`.\n");
        for (from, count, minutes) in self.runs() {
            let time = utc(from * 60);
            let line = format!("{count}/mx{minutes}m # {time}\n");
            out.push_str(&line);
        }
        out
    }

    /// Runs of minutes with the same number of requests: the first minute, the number, how many minutes.
    fn runs(&self) -> Vec<(i64, u64, i64)> {
        let mut runs: Vec<(i64, u64, i64)> = vec![];
        let mut push = |from: i64, count: u64, minutes: i64| match runs.last_mut() {
            Some((_, last, len)) if *last == count => *len += minutes,
            _ if minutes > 0 => runs.push((from, count, minutes)),
            _ => {}
        };
        let mut next = self.minutes.keys().next().copied().unwrap_or_default();
        for (minute, count) in &self.minutes {
            push(next, 0, minute - next);
            push(*minute, *count, 1);
            next = minute + 1;
        }
        runs
    }

    /// What was counted, what was left out, and what no log holds; a line each.
    #[must_use]
    pub fn notes(&self, top: usize) -> Vec<String> {
        let mut notes = vec![self.summary()];
        let addresses = self.frequent();
        let kept: u64 = addresses.iter().take(top).map(|(_, count)| count).sum();
        if kept < self.requests {
            let share = kept as f64 * 100.0 / self.requests.max(1) as f64;
            let count = top.min(addresses.len());
            notes.push(format!("the {count} most frequent addresses are targets: {share:.1} % of the requests; the others count in the rate"));
        }
        for (method, count) in &self.other_methods {
            notes.push(format!(
                "{count} {method} left out: a log has no bodies (-only={} keeps them)",
                self.with_method(method)
            ));
        }
        for (count, what) in [
            (self.strange_methods, "requests of further methods left out"),
            (self.unread, "lines that are in another form left out"),
            (
                self.rare,
                "requests are of addresses that are rare or long: they count in the rate alone",
            ),
            (self.malformed, "lines without a request that can be sent left out"),
            (
                self.refused,
                "requests were answered with a status of 400 to 499: a log has no sessions, cookies or tokens",
            ),
            (self.untimed, "requests without a time in the log: they are no part of the rate"),
            (self.late, "requests are beyond the 31 days of minutes that are counted"),
        ] {
            if count > 0 {
                notes.push(format!("{count} {what}"));
            }
        }
        notes
    }

    fn summary(&self) -> String {
        let busiest = self.minutes.iter().max_by_key(|(minute, count)| (**count, -**minute));
        let (Some((at, most)), Some((first, _)), Some((last, _))) =
            (busiest, self.minutes.first_key_value(), self.minutes.last_key_value())
        else {
            return format!("{} requests, the log has no times", self.requests);
        };
        let seconds = (last - first + 1) as f64 * 60.0;
        let mean = self.requests as f64 / seconds;
        let (from, to) = (utc(first * 60), utc(last * 60));
        let peak = *most as f64 / 60.0;
        format!(
            "{} requests from {from} to {to}: {mean:.2} a second on average, {peak:.2} in the busiest minute ({})",
            self.requests,
            utc(at * 60)
        )
    }

    fn with_method(&self, method: &str) -> String {
        let methods: BTreeSet<&str> =
            self.methods.iter().map(String::as_str).chain([method]).collect();
        methods.into_iter().collect::<Vec<_>>().join(",")
    }
}

/// The path and query of a request, as a request line holds them; none: there is none.
fn path_of(text: &str) -> Option<String> {
    let path = match text.split_once("://") {
        Some((scheme, rest)) if !scheme.contains(['/', '?']) => &rest[rest.find('/')?..],
        _ => text,
    };
    if !path.starts_with('/') {
        return None;
    }
    Some(encode_typed(path.split('#').next().unwrap_or_default()))
}

/// The text with nginx' and Apache's `\xHH` and JSON's `\u00HH` as the characters they stand for.
#[must_use]
pub fn unescape(text: &str) -> String {
    let mut out: Vec<u8> = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.extend(&rest.as_bytes()[..at]);
        rest = &rest[at + 1..];
        let (skip, digits) = match rest.as_bytes().first() {
            Some(b'x') => (1, 2),
            Some(b'u') => (1, 4),
            _ => (0, 0),
        };
        let hex = rest.get(skip..skip + digits).unwrap_or_default();
        let code = u32::from_str_radix(hex, 16).ok();
        match (digits, code) {
            (2, Some(code)) => out.push(u8::try_from(code).unwrap_or(b'?')),
            (4, Some(code)) => {
                let char = char::from_u32(code).unwrap_or('\u{fffd}');
                out.extend(char.encode_utf8(&mut [0; 4]).as_bytes());
            }
            _ => continue,
        }
        rest = &rest[skip + digits..];
    }
    out.extend(rest.as_bytes());
    String::from_utf8_lossy(&out).into_owned()
}

/// A time to the minute, in UTC.
fn utc(seconds: i64) -> String {
    let minutes = seconds.rem_euclid(86_400) / 60;
    let (year, month, date) = stdx::date_of_day(seconds.div_euclid(86_400));
    let (hours, minutes) = (minutes / 60, minutes % 60);
    format!("{year:04}-{month:02}-{date:02}T{hours:02}:{minutes:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traffic(requests: &[(i64, &str, &str)]) -> Traffic {
        let mut traffic = Traffic::new(&["GET".to_owned()]);
        for (at_s, method, path) in requests {
            traffic.add(&LogRequest { at_s: Some(*at_s), method, path, status: 200 });
        }
        traffic
    }

    #[test]
    fn addresses_are_weighted_and_minutes_counted() {
        let start = 1_795_773_600;
        let traffic = traffic(&[
            (start, "GET", "/b?x=1"),
            (start + 1, "GET", "/a b\"c"),
            (start + 61, "GET", "/b?x=1"),
            (start + 62, "POST", "/b"),
            (start + 300, "GET", "https://shop.example:443/b?x=1"),
            (start, "", ""),
            (start, "GET", "*"),
        ]);
        assert_eq!(
            traffic.targets("https://test.example/", 10),
            "#brunt weight=3\nGET https://test.example/b?x=1\n\n#brunt weight=1\nGET https://test.example/a%20b%22c\n\n"
        );
        assert_eq!(
            traffic.rate().lines().skip(1).collect::<Vec<_>>(),
            [
                "2/mx1m # 2026-11-27T10:00Z",
                "1/mx1m # 2026-11-27T10:01Z",
                "0/mx3m # 2026-11-27T10:02Z",
                "1/mx1m # 2026-11-27T10:05Z",
            ]
        );
        assert_eq!(
            traffic.notes(1),
            [
                "4 requests from 2026-11-27T10:00Z to 2026-11-27T10:05Z: 0.01 a second on average, 0.03 in the busiest minute (2026-11-27T10:00Z)",
                "the 1 most frequent addresses are targets: 75.0 % of the requests; the others count in the rate",
                "1 POST left out: a log has no bodies (-only=GET,POST keeps them)",
                "2 lines without a request that can be sent left out",
            ]
        );
    }

    #[test]
    fn rare_addresses_are_dropped_and_frequent_ones_stay() {
        let mut traffic = Traffic::new(&["GET".to_owned()]);
        let mut add = |path: &str| {
            traffic.add(&LogRequest { at_s: Some(0), method: "GET", path, status: 200 });
        };
        (0..3).for_each(|_| add("/home"));
        (0..ADDRESSES_MAX * 2).for_each(|number| add(&format!("/{number}")));
        assert!(traffic.counts.len() <= ADDRESSES_MAX);
        assert!(traffic.targets("http://a", 1).contains("weight=3\nGET http://a/home\n"));
        let long = "x".repeat(3000);
        traffic.add(&LogRequest {
            at_s: Some(0),
            method: "GET",
            path: &format!("/{long}"),
            status: 200,
        });
        assert!(!traffic.targets("http://a", usize::MAX).contains(&long));
    }

    #[test]
    fn escapes_of_logs_are_taken_off() {
        assert_eq!(unescape("/a\\x22b\\xC3\\xBC?c\\u0026d\\\"\\x2"), "/a\"b\u{fc}?c&d\"x2");
        assert_eq!(utc(0), "1970-01-01T00:00Z");
        assert_eq!(utc(951_782_400), "2000-02-29T00:00Z");
    }
}

//! `Log`: all requests in one log; `Endpoint`: those of one method and path, with numbers in the path replaced.

use std::collections::{BTreeMap, HashMap};

use stdx::Nanos;

use super::ServedRequest;
use crate::grid::{Grid, Joins};
use crate::{Histogram, OTHER, Sketch};

/// Logs at most; further ones are counted.
pub const LOGS_MAX: usize = 64;
/// Endpoints at most; requests of further ones go into one called [`OTHER`].
pub const ENDPOINTS_MAX: usize = 200;

/// Bytes of an endpoint's name.
const NAME_MAX: usize = 200;

/// The requests of one log.
#[derive(Clone, Debug, PartialEq)]
pub struct Log {
    /// The name of the log's machine.
    pub host: String,
    /// Which log, as in [`ServedRequest::source`].
    pub source: String,
    /// Requests.
    pub requests: u64,
    /// When the first of them was completed, Unix time in nanoseconds.
    pub first: i64,
    /// When the last of them was completed.
    pub last: i64,
    /// Requests by status; 0 where the log does not say.
    pub statuses: BTreeMap<u16, u64>,
    /// How long the server took, of the requests with a time.
    pub total: Histogram,
    /// Time in views, of the requests that have it.
    pub views: Histogram,
    /// Time in the database, of the requests that have it.
    pub database: Histogram,
    /// Time before the server started on a request, of the requests that have it.
    pub queue: Histogram,
    /// Of the moments at which requests ended, and of those at which they began: Apache writes the latter.
    stamps: [Stamps; 2],
    over_time: Grid<LogCell>,
    endpoints: Vec<(String, Endpoint)>,
    index: HashMap<String, usize>,
}

/// How fine the moments are at which a log says requests were completed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Stamps {
    /// There is no request yet.
    #[default]
    None,
    /// All so far lie whole seconds apart, at this fraction of a second: 0, but for a clock that was moved.
    Seconds(i64),
    /// Finer than seconds.
    Fine,
}

impl Stamps {
    fn of(at: i64) -> Self {
        Self::Seconds(at.rem_euclid(1_000_000_000))
    }

    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, some) | (some, Self::None) => some,
            (one, other) if one == other => one,
            _ => Self::Fine,
        }
    }
}

/// Requests of one method and path.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Endpoint {
    /// Requests.
    pub requests: u64,
    /// Requests with a status of 400 and above.
    pub errors: u64,
    /// How long the server took, of the requests with a time.
    pub total: Sketch,
    /// The sum of times in views; absent where no request has one.
    pub views: Option<Nanos>,
    /// The sum of times in the database; absent where no request has one.
    pub database: Option<Nanos>,
}

/// The requests of a log in one cell of time, by the moment of their completion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogCell {
    /// Requests.
    pub requests: u64,
    /// How long the server took, of the requests with a time.
    pub total: Sketch,
}

impl Joins for LogCell {
    fn join(&mut self, other: &Self) {
        self.requests += other.requests;
        self.total.merge(&other.total);
    }
}

impl Log {
    pub(super) fn of(served: &ServedRequest) -> Self {
        Self { first: served.at, last: served.at, ..Self::named(&served.host, &served.source) }
    }

    /// The same log without a request.
    pub(super) fn empty(&self) -> Self {
        Self::named(&self.host, &self.source)
    }

    fn named(host: &str, source: &str) -> Self {
        Self {
            host: host.to_owned(),
            source: source.to_owned(),
            requests: 0,
            first: 0,
            last: 0,
            statuses: BTreeMap::new(),
            total: Histogram::default(),
            views: Histogram::default(),
            database: Histogram::default(),
            queue: Histogram::default(),
            stamps: [Stamps::None; 2],
            over_time: Grid::new(),
            endpoints: Vec::new(),
            index: HashMap::new(),
        }
    }

    /// Does the log say how long requests took?
    #[must_use]
    pub fn is_timed(&self) -> bool {
        self.total.count() > 0
    }

    /// Whether its times are whole seconds, as in nginx's and Apache's logs; one request does not suffice.
    #[must_use]
    pub fn has_whole_seconds(&self) -> bool {
        let is_whole = |stamps: &Stamps| matches!(stamps, Stamps::Seconds(_));
        self.requests > 1 && self.stamps.iter().any(is_whole)
    }

    /// From the first request to the last.
    #[must_use]
    pub fn span(&self) -> Nanos {
        Nanos(u64::try_from(self.last.saturating_sub(self.first)).unwrap_or(0))
    }

    /// Endpoints in the order they were first seen; at most [`ENDPOINTS_MAX`] and one.
    #[must_use]
    pub fn endpoints(&self) -> &[(String, Endpoint)] {
        &self.endpoints
    }

    /// Requests over time: where a cell begins (Unix time in nanoseconds), and what it has.
    pub fn over_time(&self) -> impl Iterator<Item = (i64, &LogCell)> + '_ {
        self.over_time.cells().enumerate().map(|(at, cell)| (self.over_time.bounds(at).start, cell))
    }

    /// Width of a cell of [`Log::over_time`].
    #[must_use]
    pub fn width(&self) -> Nanos {
        self.over_time.width()
    }

    pub(super) fn add(&mut self, served: &ServedRequest) {
        (self.first, self.last) = (self.first.min(served.at), self.last.max(served.at));
        self.requests += 1;
        let took = served.total.unwrap_or(Nanos::ZERO);
        self.join_stamps(&[served.at, served.at.saturating_sub_unsigned(took.0)].map(Stamps::of));
        *self.statuses.entry(served.status.min(999)).or_default() += 1;
        let parts = [
            (&mut self.total, served.total),
            (&mut self.views, served.views),
            (&mut self.database, served.database),
            (&mut self.queue, served.queue),
        ];
        for (times, time) in parts {
            if let Some(time) = time {
                times.record(time);
            }
        }
        self.over_time.begin_at(served.at);
        let at = self.over_time.at(served.at);
        let cell = self.over_time.cell(at);
        cell.requests += 1;
        if let Some(total) = served.total {
            cell.total.record(total);
        }
        if !served.path.is_empty() {
            let at = self.endpoint(&shape(&served.method, &served.path));
            self.endpoints[at].1.add(served);
        }
    }

    fn join_stamps(&mut self, stamps: &[Stamps; 2]) {
        self.stamps.iter_mut().zip(stamps).for_each(|(ours, other)| *ours = ours.and(*other));
    }

    /// The endpoint of this name, made where there is room.
    fn endpoint(&mut self, name: &str) -> usize {
        if let Some(&at) = self.index.get(name) {
            return at;
        }
        let name = if self.endpoints.len() < ENDPOINTS_MAX { name } else { OTHER };
        if let Some(&at) = self.index.get(name) {
            return at;
        }
        self.index.insert(name.to_owned(), self.endpoints.len());
        self.endpoints.push((name.to_owned(), Endpoint::default()));
        self.endpoints.len() - 1
    }

    pub(super) fn merge(&mut self, other: &Self) {
        (self.first, self.last) = match self.requests {
            0 => (other.first, other.last),
            _ => (self.first.min(other.first), self.last.max(other.last)),
        };
        self.requests += other.requests;
        self.join_stamps(&other.stamps);
        for (status, count) in &other.statuses {
            *self.statuses.entry(*status).or_default() += count;
        }
        self.total.merge(&other.total);
        self.views.merge(&other.views);
        self.database.merge(&other.database);
        self.queue.merge(&other.queue);
        for (begin, cell) in other.over_time() {
            self.over_time.begin_at(begin);
            let at = self.over_time.at(begin);
            self.over_time.cell(at).join(cell);
        }
        for (name, endpoint) in &other.endpoints {
            let at = self.endpoint(name);
            self.endpoints[at].1.merge(endpoint);
        }
    }
}

impl Endpoint {
    fn add(&mut self, served: &ServedRequest) {
        self.requests += 1;
        self.errors += u64::from(served.status >= 400);
        if let Some(total) = served.total {
            self.total.record(total);
        }
        self.views = sum_known(self.views, served.views);
        self.database = sum_known(self.database, served.database);
    }

    fn merge(&mut self, other: &Self) {
        self.requests += other.requests;
        self.errors += other.errors;
        self.total.merge(&other.total);
        self.views = sum_known(self.views, other.views);
        self.database = sum_known(self.database, other.database);
    }
}

/// The sum of what is known.
fn sum_known(one: Option<Nanos>, other: Option<Nanos>) -> Option<Nanos> {
    one.into_iter().chain(other).reduce(Nanos::saturating_add)
}

/// `GET /users/:id/posts` of `GET /users/17/posts?page=2`: segments that are numbers, start with a number and a dash, or are
/// long hexadecimal ids become `:id`; the query is removed.
fn shape(method: &str, path: &str) -> String {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let mut name = method.to_owned();
    if !name.is_empty() {
        name.push(' ');
    }
    for (number, segment) in path.split('/').enumerate() {
        if number > 0 {
            name.push('/');
        }
        name.push_str(if is_id(segment) { ":id" } else { segment });
    }
    let end = (0..=NAME_MAX.min(name.len())).rev().find(|at| name.is_char_boundary(*at));
    name.truncate(end.unwrap_or(0));
    name
}

fn is_id(segment: &str) -> bool {
    let digits = segment.bytes().take_while(u8::is_ascii_digit).count();
    let hexadecimal = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
    let long = segment.len() >= 16 && segment.bytes().all(hexadecimal);
    let numbered = digits > 0 && (digits == segment.len() || segment.as_bytes()[digits] == b'-');
    numbered || long
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_paths_make_no_endpoints() {
        let cases = [
            ("GET", "/users/17/posts?page=2", "GET /users/:id/posts"),
            ("GET", "/", "GET /"),
            ("", "/a", "/a"),
            ("GET", "/17-a-title", "GET /:id"),
            ("GET", "/v2/3d/17a", "GET /v2/3d/17a"),
            ("GET", "/8b59c433-e75a-4ac8-a12a-e8acf56f38cf/x", "GET /:id/x"),
            ("GET", "//path/1#x", "GET //path/:id"),
            ("GET", "/facade/deadbeef", "GET /facade/deadbeef"),
        ];
        for (method, path, expected) in cases {
            assert_eq!(shape(method, path), expected);
        }
        assert_eq!(shape("GET", &"ü".repeat(500)).len(), 200);
    }

    fn served(n: u64) -> ServedRequest {
        ServedRequest {
            at: n as i64 * 1_000_000_000,
            method: "GET".to_owned(),
            path: format!("/p{}", n % 300),
            status: if n.is_multiple_of(10) { 500 } else { 200 },
            total: (!n.is_multiple_of(3)).then_some(Nanos(n * 1_000_000)),
            views: n.is_multiple_of(2).then_some(Nanos(n)),
            ..ServedRequest::default()
        }
    }

    #[test]
    fn whole_seconds_are_distinguished_from_finer_ones() {
        let log = |stamps: &[i64]| {
            let one = |at: &i64| ServedRequest { at: *at, ..ServedRequest::default() };
            let mut log = Log::of(&one(&stamps[0]));
            stamps.iter().for_each(|at| log.add(&one(at)));
            log
        };
        let second = 1_000_000_000;
        let whole = log(&[5 * second, 5 * second, 9 * second]);
        let moved = log(&[5 * second - 3, 9 * second - 3]);
        let fine = log(&[5 * second, 5 * second + 1_000_000]);
        assert!(whole.has_whole_seconds() && moved.has_whole_seconds());
        assert!(!fine.has_whole_seconds() && !log(&[second]).has_whole_seconds());
        let merged = |one: &Log, other: &Log| {
            let mut all = one.empty();
            all.merge(one);
            all.merge(other);
            all.has_whole_seconds()
        };
        assert!(merged(&whole, &whole));
        // Apache writes when a request began, and what it took is added.
        let mut apache = log(&[5 * second]).empty();
        for (began, took) in [(5, 3_000_000), (5, 17_000_000), (9, 3_000_000)] {
            let (at, total) = (began * second + took, Some(Nanos(took as u64)));
            apache.add(&ServedRequest { at, total, ..ServedRequest::default() });
        }
        assert!(apache.has_whole_seconds());
        assert!(!merged(&whole, &fine) && !merged(&fine, &whole));
    }

    #[test]
    fn requests_are_counted_and_endpoints_bounded() {
        let all: Vec<ServedRequest> = (0..600).map(served).collect();
        let mut log = Log::of(&all[0]);
        all.iter().for_each(|one| log.add(one));
        assert_eq!((log.requests, log.statuses[&500], log.views.count()), (600, 60, 300));
        assert_eq!(log.endpoints().len(), ENDPOINTS_MAX + 1);
        assert_eq!(log.endpoints()[ENDPOINTS_MAX].0, OTHER);
        assert_eq!(log.endpoints().iter().map(|(_, one)| one.requests).sum::<u64>(), 600);
        assert_eq!(log.over_time().map(|(_, cell)| cell.requests).sum::<u64>(), 600);
        assert_eq!(
            (log.total.count(), log.total.min()),
            (400, Nanos(1_000_000)),
            "a time unsaid is no 0"
        );
        let untimed = log.endpoints().iter().filter(|(_, one)| one.total.count() == 0);
        assert_eq!(untimed.count(), 67);
        let unviewed = log.endpoints().iter().filter(|(_, one)| one.views.is_none());
        assert_eq!(unviewed.count(), 100);
        assert!(log.endpoints().iter().all(|(_, one)| one.database.is_none()));
        assert!(log.is_timed());
        let mut twice = Log::of(&all[0]);
        twice.merge(&log);
        twice.merge(&log);
        assert_eq!((twice.requests, twice.total.count(), twice.span()), (1200, 800, log.span()));
    }
}

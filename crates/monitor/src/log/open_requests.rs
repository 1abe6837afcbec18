//! Requests that have started and have no end in the log yet. Some never get one (a WebSocket's handshake, requests of a
//! mounted application), so old ones expire; when the table is full of young ones, all are dropped. Both are counted.

use std::collections::HashMap;

/// Open requests at most; past it all are dropped, which is reported.
pub const OPEN_MAX: usize = 1 << 16;

/// Bytes of their methods, paths and keys at most.
const BYTES_MAX: usize = 16 << 20;

/// Open requests of one key at most; past it the oldest expires.
const ALIKE_MAX: usize = 256;

/// How long an end is awaited, in nanoseconds.
const AWAITED_MAX: i64 = 10 * 60 * 1_000_000_000;

/// Between a request's begin and its action's lie a few milliseconds, of which this is a generous many, in nanoseconds.
const TO_ACTION_MAX: u64 = 1_000_000_000;

/// A request that has begun.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct OpenRequest {
    pub(super) method: String,
    pub(super) path: String,
    /// Its id in the log, or empty.
    pub(super) id: String,
    /// When it began, Unix time in nanoseconds; `None` where the log has no clock.
    pub(super) at: Option<i64>,
    /// When it began by its own words, in whole seconds, where the log has no clock beside them.
    pub(super) spoken: Option<i64>,
    /// When its action began, which Rails counts from.
    pub(super) processing: Option<i64>,
    /// When it was added, by the log's clock or the reader's: what it ages by.
    pub(super) since: i64,
}

/// Requests under way, by what their lines have in common.
#[derive(Debug, Default)]
pub(super) struct OpenRequests {
    by_key: HashMap<Vec<u8>, Vec<OpenRequest>>,
    count: usize,
    bytes: usize,
    given_up: u64,
}

/// The result of a search for a request.
#[derive(Debug, PartialEq)]
pub(super) enum Match {
    /// It is this one.
    One(OpenRequest),
    /// The one of several with the closest start.
    Nearest(OpenRequest),
    /// Several could be it, or none.
    Unclear,
}

impl OpenRequests {
    /// Adds a request; returns how many young ones were dropped to make room.
    pub(super) fn add(&mut self, key: &[u8], request: OpenRequest) -> usize {
        let bytes = size(key, &request);
        self.age(key, request.since);
        let full = self.count == OPEN_MAX || self.bytes + bytes > BYTES_MAX;
        let lost = if full { self.make_room(request.since) } else { 0 };
        self.count += 1;
        self.bytes += bytes;
        self.by_key.entry(key.to_vec()).or_default().push(request);
        lost
    }

    /// Gives up the requests of a key that are old, or the oldest where there are too many.
    fn age(&mut self, key: &[u8], now: i64) {
        while let Some(list) = self.by_key.get(key) {
            if list.len() < ALIKE_MAX && !is_old(&list[0], now) {
                return;
            }
            self.remove(key, 0);
            self.given_up += 1;
        }
    }

    /// Gives up the old requests of all keys. Where most are young, all go, so that not each request walks through them:
    /// how many they were.
    fn make_room(&mut self, now: i64) -> usize {
        let before = self.count;
        let (count, bytes) = (&mut self.count, &mut self.bytes);
        self.by_key.retain(|key, list| {
            list.retain(|request| {
                let old = is_old(request, now);
                *count -= usize::from(old);
                *bytes -= if old { size(key, request) } else { 0 };
                !old
            });
            !list.is_empty()
        });
        self.given_up += (before - self.count) as u64;
        let roomy = self.count <= OPEN_MAX / 2 && self.bytes <= BYTES_MAX / 2;
        if roomy { 0 } else { self.clear() }
    }

    /// How many expired without an end.
    pub(super) fn given_up(&self) -> u64 {
        self.given_up
    }

    /// Gives up all; how many they were.
    pub(super) fn clear(&mut self) -> usize {
        self.by_key.clear();
        self.bytes = 0;
        std::mem::take(&mut self.count)
    }

    /// How many are under way.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Is any request with this key under way?
    pub(super) fn has(&self, key: &[u8]) -> bool {
        self.by_key.contains_key(key)
    }

    /// An action began `at`: that of the oldest request that waits for it. One that began long before will have none, and
    /// is passed over as long as there is another.
    pub(super) fn processing(&mut self, key: &[u8], at: Option<i64>) {
        let Some(list) = self.by_key.get_mut(key) else { return };
        let waits = |request: &OpenRequest| request.processing.is_none();
        let just_begun = |request: &OpenRequest| {
            let between = request.at.zip(at).map(|(began, at)| at.abs_diff(began));
            waits(request) && between.is_some_and(|between| between <= TO_ACTION_MAX)
        };
        let place = list.iter().position(just_begun).or_else(|| list.iter().rposition(waits));
        if let Some(place) = place {
            list[place].processing = at;
        }
    }

    /// Takes the request that ended: the only one, one of several equal ones, or the one that started closest to `began`. Where
    /// nothing distinguishes them, all of this key are dropped, so that later ones are unambiguous again.
    pub(super) fn take(&mut self, key: &[u8], began: Option<i64>) -> Match {
        let Some(list) = self.by_key.get_mut(key) else { return Match::Unclear };
        let (first, rest) = list.split_first().expect("no list is kept empty");
        let alike =
            rest.iter().all(|other| (&other.method, &other.path) == (&first.method, &first.path));
        let distance =
            |request: &OpenRequest| Some(request.processing.or(request.at)?.abs_diff(began?));
        let nearest = || {
            let all: Option<Vec<u64>> = list.iter().map(distance).collect();
            let all = all?;
            (0..all.len()).min_by_key(|at| all[*at])
        };
        let at = match (rest.is_empty(), nearest()) {
            (true, _) => 0,
            (false, Some(at)) => at,
            (false, None) if alike => 0,
            (false, None) => {
                let gone = self.by_key.remove(key).unwrap_or_default();
                gone.iter().for_each(|request| self.forget(key, request));
                return Match::Unclear;
            }
        };
        let request = self.remove(key, at);
        if alike { Match::One(request) } else { Match::Nearest(request) }
    }

    /// Takes the request with this method and path (a query may follow it), the oldest of several.
    pub(super) fn take_path(
        &mut self,
        key: &[u8],
        method: &str,
        path: &str,
    ) -> Option<OpenRequest> {
        let list = self.by_key.get(key)?;
        let fits = |request: &OpenRequest| {
            let path_alone = request.path.split('?').next().unwrap_or_default();
            request.method == method && path_alone == path
        };
        let at = list.iter().position(fits)?;
        Some(self.remove(key, at))
    }

    /// Takes the request at this place of a list that is known to have it.
    fn remove(&mut self, key: &[u8], at: usize) -> OpenRequest {
        let list = self.by_key.get_mut(key).expect("the caller has seen it");
        let request = list.remove(at);
        if list.is_empty() {
            self.by_key.remove(key);
        }
        self.forget(key, &request);
        request
    }

    fn forget(&mut self, key: &[u8], request: &OpenRequest) {
        self.count -= 1;
        self.bytes -= size(key, request);
    }
}

fn is_old(request: &OpenRequest, now: i64) -> bool {
    now.saturating_sub(request.since) > AWAITED_MAX
}

fn size(key: &[u8], request: &OpenRequest) -> usize {
    key.len() + request.method.len() + request.path.len() + request.id.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(path: &str, at: Option<i64>) -> OpenRequest {
        OpenRequest {
            method: "GET".to_owned(),
            path: path.to_owned(),
            at,
            ..OpenRequest::default()
        }
    }

    #[test]
    fn requests_are_distinguished_where_they_can_be() {
        let mut open = OpenRequests::default();
        assert_eq!(open.take(b"7", None), Match::Unclear);
        open.add(b"7", request("/a", None));
        assert_eq!(open.take(b"7", None), Match::One(request("/a", None)));
        for path in ["/a", "/a"] {
            open.add(b"7", request(path, None));
        }
        assert_eq!(open.take(b"7", None), Match::One(request("/a", None)), "two alike");
        open.add(b"7", request("/b", None));
        assert_eq!(open.take(b"7", None), Match::Unclear);
        assert_eq!((open.len(), open.bytes), (0, 0), "and a fresh begin");
        for (path, at) in [("/a", 10), ("/b", 20), ("/c", 30)] {
            open.add(b"7", request(path, Some(at)));
        }
        assert_eq!(open.take(b"7", Some(22)), Match::Nearest(request("/b", Some(20))));
        let gone = open.take_path(b"7", "GET", "/c").map(|request| request.path);
        assert_eq!((gone.as_deref(), open.len()), (Some("/c"), 1));
        assert_eq!(open.take_path(b"7", "POST", "/a"), None);
    }

    #[test]
    fn what_is_held_is_bounded() {
        let mut open = OpenRequests::default();
        let mut add = |n: usize, path: &str| open.add(&n.to_le_bytes(), request(path, None));
        let lost: usize = (0..OPEN_MAX + 5).map(|n| add(n, "/")).sum();
        assert_eq!(lost, OPEN_MAX);
        let long = "x".repeat(super::super::PATH_MAX);
        let lost: usize = (0..OPEN_MAX).map(|n| add(n, &long)).sum();
        assert!(lost > 0 && open.bytes <= BYTES_MAX);
        assert_eq!(open.given_up(), 0, "the young ones are told apart from the old");
    }

    /// A cable's handshakes have no end in the log: they may not take the place of the pages.
    #[test]
    fn what_never_ends_is_given_up_by_age() {
        let mut open = OpenRequests::default();
        let stale = |since| OpenRequest { since, ..request("/cable", None) };
        open.add(b"7", stale(0));
        open.add(b"7", stale(AWAITED_MAX));
        assert_eq!((open.len(), open.given_up()), (2, 0), "ten minutes are not yet too long");
        open.add(b"7", OpenRequest { since: AWAITED_MAX + 1, ..request("/", None) });
        assert_eq!((open.len(), open.given_up()), (2, 1));
        (0..ALIKE_MAX).for_each(|_| assert_eq!(open.add(b"8", stale(1)), 0));
        open.add(b"8", request("/", None));
        assert_eq!((open.len(), open.given_up()), (2 + ALIKE_MAX, 2), "of one key");
        let mut open = OpenRequests::default();
        (0..OPEN_MAX).for_each(|n| assert_eq!(open.add(&n.to_le_bytes(), stale(0)), 0));
        let page = OpenRequest { since: AWAITED_MAX + 1, ..request("/", None) };
        assert_eq!(open.add(b"7", page.clone()), 0, "only old ones had to go");
        assert_eq!((open.len(), open.given_up()), (1, OPEN_MAX as u64));
        assert_eq!(open.take(b"7", None), Match::One(page));
        assert_eq!((open.len(), open.bytes), (0, 0));
    }

    #[test]
    fn actions_begin_in_the_order_of_their_requests() {
        const MS: i64 = 1_000_000;
        let mut open = OpenRequests::default();
        for (path, at) in [("/cable", 0), ("/a", 5000), ("/b", 5001)] {
            open.add(b"7", request(path, Some(at * MS)));
        }
        open.processing(b"7", Some(5002 * MS));
        open.processing(b"7", Some(5040 * MS));
        for (began, path) in [(5002, "/a"), (5040, "/b")] {
            let Match::Nearest(found) = open.take(b"7", Some(began * MS)) else { panic!("{path}") };
            assert_eq!((found.path.as_str(), found.processing), (path, Some(began * MS)));
        }
        open.processing(b"7", Some(9000 * MS));
        let Match::One(last) = open.take(b"7", None) else { panic!("one is left") };
        assert_eq!((last.path.as_str(), last.processing), ("/cable", Some(9000 * MS)));
    }
}

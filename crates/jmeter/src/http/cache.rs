//! `CacheStore`: the answers that one thread has seen, for one cache manager.

use std::collections::HashMap;

use stdx::MemoryShare;
use users::parse_date;

use super::field::value;

/// An answer that was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) etag: Option<String>,
    pub(crate) last_modified: Option<String>,
    /// Fresh until then, in seconds since 1970.
    fresh_until: Option<i64>,
}

impl Entry {
    fn bytes(&self, url: &str) -> usize {
        let texts = [&self.etag, &self.last_modified].into_iter().flatten();
        size_of::<Self>() + 2 * url.len() + texts.map(String::len).sum::<usize>()
    }
}

/// The answers that one thread has seen.
#[derive(Debug, Default)]
pub(crate) struct CacheStore {
    entries: HashMap<String, Entry>,
    bytes: usize,
    share: MemoryShare,
    /// Addresses in the order in which they came.
    order: std::collections::VecDeque<String>,
}

impl CacheStore {
    /// Notes an answer; `obeys` says whether its age counts, and `most` how many are kept.
    pub(crate) fn note(&mut self, url: &str, fields: &[(String, String)], seen: Observation) {
        let control = value(fields, "Cache-Control").unwrap_or_default().to_ascii_lowercase();
        let entry = Entry {
            etag: value(fields, "ETag").map(str::to_owned),
            last_modified: value(fields, "Last-Modified").map(str::to_owned),
            fresh_until: fresh_until(fields, &control, seen),
        };
        let has_validator = entry.etag.is_some() || entry.last_modified.is_some();
        let says_nothing =
            !has_validator && control.is_empty() && value(fields, "Expires").is_none()
                || !has_validator && entry.fresh_until.is_none();
        if control.contains("no-store") || says_nothing {
            return;
        }
        self.put(url, entry);
        while self.order.len() > seen.entries_max.max(1) {
            self.forget_oldest();
        }
    }

    /// Puts in an answer; where there is no room for it, it is as if it had not been seen.
    fn put(&mut self, url: &str, entry: Entry) {
        let before = self.entries.get(url).map_or(0, |known| known.bytes(url));
        let bytes = self.bytes - before + entry.bytes(url);
        if self.share.resize(bytes).is_err() {
            return;
        }
        self.bytes = bytes;
        if self.entries.insert(url.to_owned(), entry).is_none() {
            self.order.push_back(url.to_owned());
        }
    }

    fn forget_oldest(&mut self) {
        let Some(oldest) = self.order.pop_front() else { return };
        if let Some(entry) = self.entries.remove(&oldest) {
            self.bytes -= entry.bytes(&oldest);
        }
    }

    /// What is known of an address.
    pub(crate) fn get(&self, url: &str) -> Option<&Entry> {
        self.entries.get(url)
    }

    /// Whether an address need not be asked.
    pub(crate) fn is_fresh(&self, url: &str, now_s: i64) -> bool {
        self.get(url).and_then(|entry| entry.fresh_until).is_some_and(|until| until > now_s)
    }
}

/// How an answer is noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Observation {
    /// In seconds since 1970.
    pub(crate) now_s: i64,
    /// What it says of its age counts.
    pub(crate) obeys: bool,
    pub(crate) entries_max: usize,
}

fn fresh_until(fields: &[(String, String)], control: &str, seen: Observation) -> Option<i64> {
    if !seen.obeys || control.contains("no-cache") {
        return None;
    }
    if let Some(at) = control.find("max-age=") {
        let digits: String = control[at + 8..].chars().take_while(char::is_ascii_digit).collect();
        return digits.parse::<i64>().ok().map(|age| seen.now_s.saturating_add(age));
    }
    if let Some(expires) = value(fields, "Expires") {
        // RFC 9111, 5.3: what is no date is over.
        return Some(parse_date(expires).unwrap_or(0));
    }
    // RFC 9111, 4.2.2: a tenth of the time since it was changed. JMeter takes a year where that is not known.
    let date_of = |name: &str| value(fields, name).and_then(parse_date);
    let age = match date_of("Last-Modified").zip(date_of("Date")) {
        Some((changed, date)) => date.saturating_sub(changed) / 10,
        None => YEAR_S,
    };
    Some(seen.now_s.saturating_add(age))
}

/// A year of 365 days, in seconds.
const YEAR_S: i64 = 365 * 86_400;

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(all: &[(&str, &str)]) -> Vec<(String, String)> {
        all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn an_answer_without_an_age_is_fresh() {
        let seen = Observation { now_s: 1_000, obeys: true, entries_max: 9 };
        let until = |all: &[(&str, &str)]| {
            let mut store = CacheStore::default();
            store.note("a", &fields(all), seen);
            store.get("a").map(|entry| entry.fresh_until)
        };
        let (changed, date) = ("Thu, 01 Jan 1970 00:00:00 GMT", "Thu, 01 Jan 1970 00:10:00 GMT");
        assert_eq!(until(&[("Last-Modified", changed), ("Date", date)]), Some(Some(1_060)));
        assert_eq!(until(&[("Last-Modified", changed)]), Some(Some(1_000 + YEAR_S)));
        assert_eq!(until(&[("ETag", "x")]), Some(Some(1_000 + YEAR_S)));
        assert_eq!(until(&[("ETag", "x"), ("Cache-Control", "no-cache")]), Some(None));
        assert_eq!(until(&[("ETag", "x"), ("Expires", "0")]), Some(Some(0)));
        assert_eq!(until(&[("X", "y")]), None);
    }

    #[test]
    fn ages_count_where_they_are_to() {
        let mut store = CacheStore::default();
        let seen = Observation { now_s: 100, obeys: true, entries_max: 2 };
        store.note("a", &fields(&[("cache-control", "public, max-age=60")]), seen);
        assert!(store.is_fresh("a", 159) && !store.is_fresh("a", 160));
        store.note("b", &fields(&[("Cache-Control", "no-store"), ("ETag", "x")]), seen);
        assert_eq!(store.get("b"), None);
        let blind = Observation { obeys: false, ..seen };
        store.note("c", &fields(&[("Cache-Control", "max-age=60"), ("ETag", "\"1\"")]), blind);
        assert!(!store.is_fresh("c", 100) && store.get("c").is_some());
        store.note("d", &fields(&[("ETag", "\"2\"")]), blind);
        assert_eq!(store.get("a"), None, "the oldest goes");
    }
}

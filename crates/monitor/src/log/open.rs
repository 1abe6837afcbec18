//! Requests that have begun, until the log tells of their end. Bounded: when it is full, all are given up and counted.

use std::collections::HashMap;

use super::OPEN_MAX;

/// Bytes of methods, paths and keys that are held.
const BYTES_MAX: usize = 16 << 20;

/// A request that has begun.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Begun {
    pub(super) method: String,
    pub(super) path: String,
    /// Its id in the log, or empty.
    pub(super) id: String,
    /// When it began, Unix time in nanoseconds; `None` where the log has no clock.
    pub(super) at: Option<i64>,
    /// When its action began, which Rails counts from.
    pub(super) processing: Option<i64>,
}

/// Requests under way, by what their lines have in common.
#[derive(Debug, Default)]
pub(super) struct Open {
    by_key: HashMap<Vec<u8>, Vec<Begun>>,
    count: usize,
    bytes: usize,
}

/// What came of looking for a request.
#[derive(Debug, PartialEq)]
pub(super) enum Found {
    /// It is this one.
    One(Begun),
    /// It is the one of several whose begin fits best.
    Nearest(Begun),
    /// Several could be it, or none.
    Unclear,
}

impl Open {
    /// Adds a request; gives how many were given up to make room.
    pub(super) fn add(&mut self, key: &[u8], begun: Begun) -> usize {
        let bytes = size(key, &begun);
        let full = self.count == OPEN_MAX || self.bytes + bytes > BYTES_MAX;
        let lost = if full { self.clear() } else { 0 };
        self.count += 1;
        self.bytes += bytes;
        self.by_key.entry(key.to_vec()).or_default().push(begun);
        lost
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
    pub(super) fn knows(&self, key: &[u8]) -> bool {
        self.by_key.contains_key(key)
    }

    /// The action of the request that began last began `at`.
    pub(super) fn processing(&mut self, key: &[u8], at: Option<i64>) {
        let waiting = self
            .by_key
            .get_mut(key)
            .and_then(|list| list.iter_mut().rev().find(|begun| begun.processing.is_none()));
        if let Some(begun) = waiting {
            begun.processing = at;
        }
    }

    /// Takes the request that ended: the only one, one of several that are alike, or the one whose begin is next to
    /// `began`. Where nothing tells them apart, all of this key are given up, so that what follows is clear again.
    pub(super) fn take(&mut self, key: &[u8], began: Option<i64>) -> Found {
        let Some(list) = self.by_key.get_mut(key) else { return Found::Unclear };
        let (first, rest) = list.split_first().expect("no list is kept empty");
        let alike =
            rest.iter().all(|other| (&other.method, &other.path) == (&first.method, &first.path));
        let distance = |begun: &Begun| Some(begun.processing.or(begun.at)?.abs_diff(began?));
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
                gone.iter().for_each(|begun| self.forget(key, begun));
                return Found::Unclear;
            }
        };
        let begun = self.remove(key, at);
        if alike { Found::One(begun) } else { Found::Nearest(begun) }
    }

    /// Takes the request with this method and path (a query may follow it), the oldest of several.
    pub(super) fn take_path(&mut self, key: &[u8], method: &str, path: &str) -> Option<Begun> {
        let list = self.by_key.get(key)?;
        let fits = |begun: &Begun| {
            let asked = begun.path.split('?').next().unwrap_or_default();
            begun.method == method && asked == path
        };
        let at = list.iter().position(fits)?;
        Some(self.remove(key, at))
    }

    /// Takes the request at this place of a list that is known to have it.
    fn remove(&mut self, key: &[u8], at: usize) -> Begun {
        let list = self.by_key.get_mut(key).expect("the caller has seen it");
        let begun = list.remove(at);
        if list.is_empty() {
            self.by_key.remove(key);
        }
        self.forget(key, &begun);
        begun
    }

    fn forget(&mut self, key: &[u8], begun: &Begun) {
        self.count -= 1;
        self.bytes -= size(key, begun);
    }
}

fn size(key: &[u8], begun: &Begun) -> usize {
    key.len() + begun.method.len() + begun.path.len() + begun.id.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begun(path: &str, at: Option<i64>) -> Begun {
        Begun { method: "GET".to_owned(), path: path.to_owned(), at, ..Begun::default() }
    }

    #[test]
    fn requests_are_told_apart_where_they_can_be() {
        let mut open = Open::default();
        assert_eq!(open.take(b"7", None), Found::Unclear);
        open.add(b"7", begun("/a", None));
        assert_eq!(open.take(b"7", None), Found::One(begun("/a", None)));
        for path in ["/a", "/a"] {
            open.add(b"7", begun(path, None));
        }
        assert_eq!(open.take(b"7", None), Found::One(begun("/a", None)), "two alike");
        open.add(b"7", begun("/b", None));
        assert_eq!(open.take(b"7", None), Found::Unclear);
        assert_eq!((open.len(), open.bytes), (0, 0), "and a fresh begin");
        for (path, at) in [("/a", 10), ("/b", 20), ("/c", 30)] {
            open.add(b"7", begun(path, Some(at)));
        }
        assert_eq!(open.take(b"7", Some(22)), Found::Nearest(begun("/b", Some(20))));
        let gone = open.take_path(b"7", "GET", "/c").map(|begun| begun.path);
        assert_eq!((gone.as_deref(), open.len()), (Some("/c"), 1));
        assert_eq!(open.take_path(b"7", "POST", "/a"), None);
    }

    #[test]
    fn what_is_held_is_bounded() {
        let mut open = Open::default();
        let lost: usize = (0..OPEN_MAX + 5).map(|_| open.add(b"7", begun("/", None))).sum();
        assert_eq!((lost, open.len()), (OPEN_MAX, 5));
        let long = "x".repeat(super::super::PATH_MAX);
        let lost: usize = (0..OPEN_MAX).map(|_| open.add(b"7", begun(&long, None))).sum();
        assert!(lost > 0 && open.bytes <= BYTES_MAX);
    }
}

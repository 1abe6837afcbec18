//! `Landing`: where redirects led requests whose last answer was a success. A row names only what was asked for.

/// Landings that a record holds; requests that were led from or to further places are not counted.
pub const LANDINGS_MAX: usize = 32;
/// Bytes of a landing's texts, each; requests with longer ones are not counted.
const TEXT_MAX: usize = 2048;

/// Requests of one target that redirects led to one other path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Landing {
    /// What was asked for, as [`crate::By::Request`] has it: a name, or `METHOD URL` without secrets.
    pub from: String,
    /// The path that the last answer came from, without its query (`/login`); a URL where the host is another one.
    pub to: String,
    /// Requests.
    pub requests: u64,
    /// The redirects themselves were the answers, since they are not followed: nothing was asked of the path.
    pub is_redirect: bool,
    /// When the first of them was due (Unix ns); 0 in records of versions that did not keep it.
    pub first: i64,
    /// When the last of them was.
    pub last: i64,
}

impl Landing {
    /// Counts one more, which was due then (Unix ns).
    pub fn count(&mut self, due: i64) {
        self.merge(1, (due, due));
    }

    fn merge(&mut self, requests: u64, (first, last): (i64, i64)) {
        self.requests = self.requests.saturating_add(requests);
        self.first = if self.first == 0 { first } else { self.first.min(first) };
        self.last = self.last.max(last);
    }

    /// Adds requests to a list of landings, which stays as short as a record's. Returns their place in it; `None` where they are
    /// not counted.
    pub fn add(list: &mut Vec<Self>, more: Self) -> Option<usize> {
        let Self { from, to, requests, is_redirect, first, last } = &more;
        let is_it =
            |one: &Self| one.from == *from && one.to == *to && one.is_redirect == *is_redirect;
        if let Some(at) = list.iter().position(is_it) {
            list[at].merge(*requests, (*first, *last));
            return Some(at);
        }
        if list.len() >= LANDINGS_MAX || from.len().max(to.len()) > TEXT_MAX {
            return None;
        }
        list.push(more);
        Some(list.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_no_more_landings_than_it_may() {
        let mut list = Vec::new();
        let landing = |from: String, requests: u64| Landing {
            from,
            to: "/login".to_owned(),
            requests,
            first: 7,
            last: 9,
            ..Landing::default()
        };
        for n in 0..100 {
            Landing::add(&mut list, landing(format!("GET http://h/{n}"), 2));
        }
        Landing::add(&mut list, landing("GET http://h/7".to_owned(), 3));
        Landing::add(&mut list, landing("x".repeat(3000), 3));
        assert_eq!((list.len(), list[7].requests), (LANDINGS_MAX, 5));
        list[7].count(4);
        assert_eq!((list[7].requests, list[7].first, list[7].last), (6, 4, 9));
        list.truncate(2);
        let of_redirect = Landing { is_redirect: true, ..list[1].clone() };
        Landing::add(&mut list, of_redirect);
        assert_eq!(list.len(), 3, "an answer of the page is none of the redirect");
    }
}

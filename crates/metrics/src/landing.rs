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
}

impl Landing {
    /// Adds requests to a list of landings, which stays as short as a record's.
    pub fn add(list: &mut Vec<Self>, from: &str, to: &str, requests: u64) {
        let known = list.iter().position(|one| one.from == from && one.to == to);
        match known {
            Some(at) => list[at].requests = list[at].requests.saturating_add(requests),
            None if list.len() >= LANDINGS_MAX || from.len().max(to.len()) > TEXT_MAX => {}
            None => list.push(Self { from: from.to_owned(), to: to.to_owned(), requests }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_no_more_landings_than_it_may() {
        let mut list = Vec::new();
        for n in 0..100 {
            Landing::add(&mut list, &format!("GET http://h/{n}"), "/login", 2);
        }
        Landing::add(&mut list, "GET http://h/7", "/login", 3);
        Landing::add(&mut list, &"x".repeat(3000), "/login", 3);
        assert_eq!((list.len(), list[7].requests), (LANDINGS_MAX, 5));
    }
}

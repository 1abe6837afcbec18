//! Redirects that led all answers of a name to the same other page: a log-in form is quick, has status 200, and is not what was to
//! be measured.

use metrics::{By, Landing};
use stdx::Nanos;

use crate::Input;

/// Parts of a path that ask for a log-in, in lower case and without `-` and `_`.
const LOGIN: [&str; 10] = [
    "login",
    "signin",
    "logon",
    "sso",
    "auth",
    "authenticate",
    "oauth",
    "session",
    "sessions",
    "cas",
];

/// Some of a name's answers are worth a word from this share of them on, where they are a log-in page.
const SOME_MIN: f64 = 0.05;
/// They lie in one span where it has so much of what the name got in it, ...
const SPAN_MIN: f64 = 0.8;
/// ... and begins or ends so far (by the run's length) from the run's own ends.
const APART_MIN: f64 = 0.03;

/// Where answers of some names came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Elsewhere {
    /// The names, those with most requests first.
    pub(super) names: Vec<String>,
    /// The path.
    pub(super) to: String,
    /// Requests of these names that ended there.
    pub(super) requests: u64,
    /// Others of these names; none where all ended there.
    pub(super) others: u64,
    /// The answers are redirects there, which are not followed.
    pub(super) is_redirect: bool,
    /// When these began, after the first request was due, and when they ended, where that was before the run's end.
    pub(super) span: Option<(Nanos, Option<Nanos>)>,
}

impl Elsewhere {
    /// The page that most requests ended at whose name got no other answer, or a log-in page that some did; `None` where there is none,
    /// and of a part of the requests, of which the generator's record does not tell.
    pub(super) fn of(input: &Input<'_>) -> Option<Self> {
        let generator = input.generator.filter(|_| input.selected.is_empty())?;
        let mut pages: Vec<Self> = Vec::new();
        let mut landings: Vec<&Landing> = generator.landings.iter().collect();
        landings.sort_by_key(|landing| std::cmp::Reverse(landing.requests));
        for landing in landings {
            let Some(page) = Self::of_landing(input, landing) else { continue };
            let is_same = |one: &&mut Self| {
                one.to == page.to
                    && one.is_redirect == page.is_redirect
                    && (one.others == 0) == (page.others == 0)
            };
            match pages.iter_mut().find(is_same) {
                Some(one) => one.add(page),
                None => pages.push(page),
            }
        }
        // Of two pages the log-in is the one that was not wanted.
        pages.into_iter().max_by_key(|page| (asks_for_login(&page.to), page.requests))
    }

    /// `None` of a landing that is to be expected.
    fn of_landing(input: &Input<'_>, landing: &Landing) -> Option<Self> {
        let all = answered(input, &landing.from)?;
        let others = all.checked_sub(landing.requests)?;
        let is_log_in = asks_for_login(&landing.to);
        let is_some = is_log_in && landing.requests as f64 >= SOME_MIN * all as f64;
        // A form that was sent is usually answered by a redirect.
        if (others > 0 && !is_some) || (is_form(&landing.from) && !is_log_in) {
            return None;
        }
        Some(Self {
            names: vec![landing.from.clone()],
            to: landing.to.clone(),
            requests: landing.requests,
            others,
            is_redirect: landing.is_redirect,
            span: span(landing, all, (input.summary.earliest, input.summary.latest)),
        })
    }

    /// Adds another name.
    fn add(&mut self, other: Self) {
        self.names.extend(other.names);
        self.requests += other.requests;
        self.others += other.others;
        let ends = self.span.zip(other.span);
        self.span = ends.map(|((from, until), (other, last))| {
            (from.min(other), until.zip(last).map(|(one, two)| one.max(two)))
        });
    }
}

/// The span of a landing's requests, where nearly all that was due of the name in it ended there. `all` is the number of the name's
/// answers; it is even over the run (Unix ns).
fn span(
    landing: &Landing,
    all: u64,
    (earliest, latest): (i64, i64),
) -> Option<(Nanos, Option<Nanos>)> {
    let length = latest.abs_diff(earliest) as f64;
    if landing.first < earliest || landing.last > latest || length == 0.0 {
        return None;
    }
    let [from, until] = [landing.first, landing.last].map(|at| at.abs_diff(earliest));
    let within = all as f64 * (until.saturating_sub(from)) as f64 / length;
    let is_to_the_end = latest.abs_diff(landing.last) as f64 <= APART_MIN * length;
    let is_apart = from as f64 >= APART_MIN * length || !is_to_the_end;
    let is_one = landing.requests as f64 >= SPAN_MIN * within;
    let until = (!is_to_the_end).then_some(Nanos(until));
    (is_apart && is_one).then_some((Nanos(from), until))
}

/// Successes of a name; `None` where they were not counted by name.
fn answered(input: &Input<'_>, name: &str) -> Option<u64> {
    let by_name = |groups: &&metrics::Groups| matches!(groups.by(), By::Request | By::Name);
    let groups = input.by_target.or(input.groups.filter(by_name));
    match groups {
        Some(groups) => {
            groups.list().iter().find(|(key, _)| key == name).map(|(_, group)| group.successes)
        }
        None => {
            let one = input.attacked.filter(|all| all.count == 1 && all.unplaced == 0)?;
            let is_it = one.most.requests == input.summary.requests;
            is_it.then_some(input.summary.successes)
        }
    }
}

fn is_form(name: &str) -> bool {
    ["POST ", "PUT ", "PATCH ", "DELETE "].iter().any(|method| name.starts_with(method))
}

/// Whether a part of a path is a word for a log-in: `/users/sign_in`, `/login.php`.
pub(super) fn asks_for_login(path: &str) -> bool {
    path.split('/').any(|part| {
        let part = part.split('.').next().unwrap_or_default();
        let plain: String =
            part.to_lowercase().chars().filter(|one| !matches!(one, '-' | '_')).collect();
        LOGIN.contains(&plain.as_str()) || plain.ends_with("login")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A session that was lost after 6 of 12 s.
    #[test]
    fn answers_that_came_from_a_log_in_have_a_moment() {
        let second = 1_000_000_000;
        let landing = |first: i64, last: i64, requests| Landing {
            requests,
            first: first * second,
            last: last * second,
            ..Landing::default()
        };
        let of = |first, last, requests| {
            span(&landing(first, last, requests), 480, (100 * second, 112 * second))
        };
        let seconds = Nanos::from_secs;
        assert_eq!(of(106, 112, 239), Some((seconds(6), None)));
        assert_eq!(of(103, 106, 118), Some((seconds(3), Some(seconds(6)))));
        assert_eq!(of(101, 112, 60), None, "now and then");
        assert_eq!(of(100, 112, 480), None, "all the time");
        assert_eq!(of(0, 0, 240), None, "an older record");
    }

    #[test]
    fn paths_that_ask_for_a_log_in() {
        for path in [
            "/login",
            "/users/sign_in",
            "/Sign-In",
            "/wp-login.php",
            "/login.php",
            "h:81/sso/start",
        ] {
            assert!(asks_for_login(path), "{path}");
        }
        for path in ["/", "/authors", "/en", "/blog/login-tips"] {
            assert!(!asks_for_login(path), "{path}");
        }
    }
}

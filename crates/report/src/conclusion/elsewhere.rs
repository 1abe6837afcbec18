//! Redirects that led all answers of a name to the same other page: a log-in form is quick, has status 200, and is not what was to
//! be measured.

use metrics::{By, Landing};

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

/// Where all answers of some names came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Elsewhere {
    /// The names, those with most requests first.
    pub(super) names: Vec<String>,
    /// The path.
    pub(super) to: String,
    /// Requests of these names.
    pub(super) requests: u64,
    /// The answers are redirects there, which are not followed.
    pub(super) is_redirect: bool,
}

impl Elsewhere {
    /// The page that most requests ended at whose name got no other answer; `None` where there is none, and of a part of the
    /// requests, of which the generator's record does not tell.
    pub(super) fn of(input: &Input<'_>) -> Option<Self> {
        let generator = input.generator.filter(|_| input.selected.is_empty())?;
        let mut pages: Vec<Self> = Vec::new();
        let mut landings: Vec<&Landing> = generator.landings.iter().collect();
        landings.sort_by_key(|landing| std::cmp::Reverse(landing.requests));
        for landing in landings {
            let is_all = answered(input, &landing.from) == Some(landing.requests);
            // A form that was sent is usually answered by a redirect.
            if !is_all || (is_form(&landing.from) && !asks_for_login(&landing.to)) {
                continue;
            }
            let is_same =
                |page: &&mut Self| page.to == landing.to && page.is_redirect == landing.is_redirect;
            match pages.iter_mut().find(is_same) {
                Some(page) => {
                    page.names.push(landing.from.clone());
                    page.requests += landing.requests;
                }
                None => pages.push(Self {
                    names: vec![landing.from.clone()],
                    to: landing.to.clone(),
                    requests: landing.requests,
                    is_redirect: landing.is_redirect,
                }),
            }
        }
        // Of two pages the log-in is the one that was not wanted.
        pages.into_iter().max_by_key(|page| (asks_for_login(&page.to), page.requests))
    }
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

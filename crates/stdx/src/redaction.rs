//! `redact`: names of fields and keys whose values no text shows. Two lists hold for the process: that of its command line, and
//! beside it that of the run it has its part in, which another machine's command line named.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What stands in place of a value.
pub(crate) const MARK: &str = "***";
/// The name that stands for every name that says that its value is a secret.
const SECRETS: &str = "secrets";
/// Words with which the name of a header ends whose value is a secret, as in `X-Vault-Token`.
const ENDINGS: [&str; 9] = [
    "authorization",
    "auth",
    "cookie",
    "key",
    "token",
    "secret",
    "password",
    "session",
    "credential",
];
/// Words in the name of a flag, a variable or a key of a query whose value is a secret.
const WORDS: [&str; 9] = [
    "password",
    "secret",
    "token",
    "passwd",
    "apikey",
    "api_key",
    "api-key",
    "credential",
    "signature",
];

static LISTS: Mutex<Lists> = Mutex::new(Lists { of_command: None, of_run: None });
/// How often the lists have changed; 0 while there are none.
static GENERATION: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Both lists as one, as of this generation: workers share nothing, and lock nothing but once a run.
    static OF_THREAD: RefCell<(u64, Redaction)> = RefCell::default();
}

/// Names with commas between.
struct Lists {
    of_command: Option<String>,
    of_run: Option<String>,
}

impl Lists {
    fn both(&self) -> Option<String> {
        let lists: Vec<&str> =
            [&self.of_command, &self.of_run].into_iter().flatten().map(|x| &**x).collect();
        (!lists.is_empty()).then(|| lists.join(","))
    }

    /// Changes them; nothing is done again where they were so before.
    fn set(&mut self, list: fn(&mut Self) -> &mut Option<String>, names: Option<&str>) {
        if list(self).as_deref() != names {
            *list(self) = names.map(str::to_owned);
            GENERATION.fetch_add(1, Ordering::Release);
        }
    }
}

fn lists() -> MutexGuard<'static, Lists> {
    LISTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Names whose values are not shown.
#[derive(Debug, Default)]
pub(crate) struct Redaction {
    /// In lower case.
    names: Vec<String>,
    with_secrets: bool,
}

impl Redaction {
    /// Of names with commas between.
    pub(crate) fn new(names: &str) -> Self {
        let names = names.split(',').map(|name| name.trim().to_ascii_lowercase());
        let (secrets, names): (Vec<_>, Vec<_>) =
            names.filter(|name| !name.is_empty()).partition(|name| name == SECRETS);
        Self { names, with_secrets: !secrets.is_empty() }
    }

    /// Whether this name's value is not shown.
    pub(crate) fn covers(&self, name: &str) -> bool {
        let is_named = self.names.iter().any(|one| one.eq_ignore_ascii_case(name));
        is_named || (self.with_secrets && (names_secret_field(name) || names_secret(name)))
    }
}

/// Redacts the values of these names, with commas between, in headers and in queries of URLs: letter case does not matter, and
/// `secrets` stands for all names that say that their value is one. It holds for the process.
pub fn redact(names: &str) {
    lists().set(|lists| &mut lists.of_command, Some(names));
}

/// Redacts the values of these names too, until the next run has a list of its own, or none.
pub fn redact_for_run(names: Option<&str>) {
    lists().set(|lists| &mut lists.of_run, names);
}

/// All names whose values are redacted, with commas between, for another process to do the same.
#[must_use]
pub fn redacted_names() -> Option<String> {
    lists().both()
}

/// Hands over what is to be redacted; `None` where that is nothing.
pub(crate) fn with_current<T>(show: impl FnOnce(&Redaction) -> Option<T>) -> Option<T> {
    let generation = GENERATION.load(Ordering::Acquire);
    if generation == 0 {
        return None;
    }
    OF_THREAD.with_borrow_mut(|(seen, redaction)| {
        if *seen != generation {
            *redaction = Redaction::new(&lists().both().unwrap_or_default());
            *seen = generation;
        }
        show(redaction)
    })
}

/// Whether the value of a field or key of this name is not to be shown.
#[must_use]
pub fn is_redacted(name: &str) -> bool {
    with_current(|redaction| redaction.covers(name).then_some(())).is_some()
}

/// Whether a header of this name has a secret as its value, as its last word says (`X-Vault-Token`).
#[must_use]
pub fn names_secret_field(name: &str) -> bool {
    let name = name.trim_end().to_ascii_lowercase();
    ENDINGS.iter().any(|word| {
        let before = name.strip_suffix(word);
        before.is_some_and(|before| !before.ends_with(|c: char| c.is_ascii_alphanumeric()))
    })
}

/// Whether a flag, a variable or a key of a query of this name has a secret as its value.
#[must_use]
pub fn names_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    WORDS.iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_covered_in_any_case() {
        let (two, all) = (Redaction::new("Authorization, page"), Redaction::new("x,secrets"));
        for (name, by_two, by_all) in [
            ("authorization", true, true),
            ("PAGE", true, false),
            ("X", false, true),
            ("X-Vault-Token", false, true),
            ("Set-Cookie", false, true),
            ("access_token", false, true),
            ("Monkey", false, false),
            ("", false, false),
        ] {
            assert_eq!((two.covers(name), all.covers(name)), (by_two, by_all), "{name}");
        }
        assert!(!Redaction::new("").covers("") && !Redaction::new(",").covers("a"));
    }
}

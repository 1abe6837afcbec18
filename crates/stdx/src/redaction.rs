//! `redact`: names of fields and keys whose values no text shows. One list holds for the process, from the command line on.

use std::sync::OnceLock;

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

static CURRENT: OnceLock<Redaction> = OnceLock::new();

/// Names whose values are not shown.
#[derive(Debug)]
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
/// `secrets` stands for all names that say that their value is one. The first call holds for the process.
pub fn redact(names: &str) {
    // A second list comes from nowhere: the command line is read once.
    CURRENT.get_or_init(|| Redaction::new(names));
}

pub(crate) fn current() -> Option<&'static Redaction> {
    CURRENT.get()
}

/// Whether the value of a field or key of this name is not to be shown.
#[must_use]
pub fn is_redacted(name: &str) -> bool {
    current().is_some_and(|redaction| redaction.covers(name))
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

//! `redact`: names of fields and keys whose values no text shows. Two lists hold for the process: that of its command line, and
//! beside it that of the run it has its part in, which another machine's command line named.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What stands in place of a value.
pub(crate) const MARK: &str = "***";
/// The name that stands for every name that says that its value is a secret.
const SECRETS: &str = "secrets";
/// Last words of the names of headers, and of keys that `secrets` stands for, whose value is a secret: `X-Vault-Token`.
const LAST_OF_FIELDS: [&str; 19] = [
    "authorization",
    "authentication",
    "accesskey",
    "bearer",
    "oauth",
    "cred",
    "creds",
    "saml",
    "ticket",
    "sess",
    "pin",
    "auth",
    "cookie",
    "key",
    "token",
    "secret",
    "password",
    "session",
    "credential",
];
/// Headers that end like these hold none: the first is half of a handshake, the others number requests and parts of caches.
const NO_SECRETS: [&str; 5] =
    ["websocket-key", "idempotency-key", "cache-key", "surrogate-key", "partition-key"];
/// What the name of a flag, a variable, a header or a key of a query contains, wherever, whose value is a secret.
const PARTS: [&str; 13] = [
    "password",
    "secret",
    "token",
    "passwd",
    "passphrase",
    "passcode",
    "apikey",
    "api_key",
    "api-key",
    "credential",
    "signature",
    "sessionid",
    "sessid",
];
/// Words of such a name that say it where they stand alone: `jwt`, `db_pwd`, `otpValue`.
const WORDS: [&str; 7] = ["pwd", "jwt", "otp", "totp", "csrf", "xsrf", "hmac"];
/// Words that say it as the last of a name: `userPass`, `X-Sig`.
const LAST_WORDS: [&str; 5] = ["sig", "pass", "sid", "assertion", "cookies"];
/// The last two words of such a name. A `code` alone is one too, but not that of a country or a status.
const LAST_PAIRS: [(&str, &str); 9] = [
    ("session", "id"),
    ("auth", "code"),
    ("oauth", "code"),
    ("authorization", "code"),
    ("access", "code"),
    ("device", "code"),
    ("login", "code"),
    ("security", "code"),
    ("verification", "code"),
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
        is_named || (self.with_secrets && names_secret_field(name))
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

/// Whether a header of this name has a secret as its value, as its last word (`X-Vault-Token`) or any of them says.
#[must_use]
pub fn names_secret_field(name: &str) -> bool {
    let lower = name.trim_end().to_ascii_lowercase();
    let is = |other: &str| lower.ends_with(other);
    let ends = words(name).next_back().is_some_and(|last| is_one_of(last, &LAST_OF_FIELDS));
    (ends && !NO_SECRETS.into_iter().any(is)) || names_secret(name)
}

/// Whether a flag, a variable or a key of a query of this name has a secret as its value.
#[must_use]
pub fn names_secret(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    if PARTS.iter().any(|part| lower.contains(part)) {
        return true;
    }
    let mut words: Vec<&str> = words(name).collect();
    if words.iter().any(|word| is_one_of(word, &WORDS)) {
        return true;
    }
    let Some(last) = words.pop() else { return false };
    match words.pop() {
        _ if is_one_of(last, &LAST_WORDS) => true,
        None => last.eq_ignore_ascii_case("code"),
        Some(before) => LAST_PAIRS
            .iter()
            .any(|(one, two)| before.eq_ignore_ascii_case(one) && last.eq_ignore_ascii_case(two)),
    }
}

fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|other| word.eq_ignore_ascii_case(other))
}

/// The words of a name: what stands between its punctuation, and where lower case turns into upper case (`authCode`).
fn words(name: &str) -> impl DoubleEndedIterator<Item = &str> {
    let mut words = Vec::new();
    for part in name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty()) {
        let bytes = part.as_bytes();
        let mut begin = 0;
        for at in 1..bytes.len() {
            let rises = !bytes[at - 1].is_ascii_uppercase() && bytes[at].is_ascii_uppercase();
            // `JWTValue`: the last capital begins a word.
            let falls = bytes[at - 1].is_ascii_uppercase()
                && bytes[at].is_ascii_uppercase()
                && bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
            if rises || falls {
                words.push(&part[begin..at]);
                begin = at;
            }
        }
        words.push(&part[begin..]);
    }
    words.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Issue 42: fields of these names went along with redirects to other hosts.
    #[test]
    fn names_of_credentials_that_services_use() {
        for name in [
            "X-Accesskey",
            "X-Creds",
            "x-cred",
            "X-Authentication",
            "X-Bearer",
            "X-OAuth",
            "X-Pin",
            "X-Saml",
            "X-Ticket",
            "X-Sess",
        ] {
            assert!(names_secret_field(name), "{name}");
        }
        for name in ["X-Shipping", "X-Ticket-Count", "X-Bearer-Type", "Accept"] {
            assert!(!names_secret_field(name), "{name}");
        }
    }

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

    #[test]
    fn issue_19_names_that_say_what_they_hold() {
        let secrets = Redaction::new("secrets");
        for name in [
            "sig",
            "signature",
            "X-Amz-Signature",
            "X-Goog-Signature",
            "code",
            "auth_code",
            "authCode",
            "pwd",
            "db-pwd",
            "dbPwd",
            "pass",
            "userPass",
            "USER_PASS",
            "jwt",
            "JWTValue",
            "sid",
            "connect.sid",
            "session_id",
            "sessionId",
            "SessionID",
            "jsessionid",
            "PHPSESSID",
            "otp",
            "otpCode",
            "client_assertion",
            "passphrase",
            "X-Api-Key",
            "apiKey",
            "X-Auth-Token",
            "csrf",
            "key",
            "access_token",
        ] {
            assert!(secrets.covers(name), "{name}");
        }
        for name in [
            "zipcode",
            "zip_code",
            "status_code",
            "statusCode",
            "country-code",
            "codec",
            "sign",
            "side",
            "aside",
            "sidebar",
            "design",
            "bypass",
            "compass",
            "passenger",
            "pass_count",
            "option",
            "Monkey",
            "page",
            "id",
            "user_id",
            "X-Cookie-Count",
            "author",
            "Sec-WebSocket-Key",
            "Idempotency-Key",
            "X-Idempotency-Key",
            "Surrogate-Key",
            "X-Cache-Key",
            "",
        ] {
            assert!(!secrets.covers(name), "{name}");
        }
    }
}

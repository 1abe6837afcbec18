//! Notes on a recording: where it is cut, what of it is not replayed, and what its writer has left out.

use std::collections::BTreeMap;

use super::archive::Archive;
use super::entry::{Answer, Entry};
use super::select::Reason;
use crate::{Import, Input};

/// Notes faults of the file, and what of it is not used therefore.
pub(super) fn add_faults(
    import: &mut Import,
    input: &Input<'_>,
    archive: &Archive,
    fault: Option<&serde_json::Error>,
) {
    if let Some(fault) = fault {
        let count = archive.entries.len();
        let text = format!(
            "the HAR is cut or faulty here ({fault}); the {count} entries before it are used"
        );
        import.note(input.place(fault.line()), text);
    }
    for number in &archive.faulty {
        let text = format!("entry {number} left out: it has no method or no address");
        import.note(input.place(0), text);
    }
    if archive.answers_dropped > 0 {
        let count = archive.answers_dropped;
        let text =
            format!("{count} answers are not searched for values: together they are too large");
        import.note(input.place(0), text);
    }
}

/// Notes which requests are not replayed.
pub(super) fn add_left_out(
    import: &mut Import,
    input: &Input<'_>,
    entries: &[Entry],
    reasons: &[Option<Reason>],
) {
    let mut hosts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut files = 0;
    for (entry, reason) in entries.iter().zip(reasons) {
        match reason {
            Some(Reason::ThirdParty) => {
                *hosts.entry(entry.url.host_str().unwrap_or_default()).or_default() += 1;
            }
            Some(Reason::Static) => files += 1,
            Some(Reason::Failed) => {
                let text = format!("{} left out: it got no answer", entry.label());
                import.note(input.place(0), text);
            }
            Some(Reason::Noise) | None => {}
        }
    }
    for (host, count) in hosts {
        let requests = if count == 1 { "request" } else { "requests" };
        let text = format!("{count} {requests} to {host} left out: a third party");
        import.note(input.place(0), text);
    }
    if files > 0 {
        let text = format!("{files} files of pages (scripts, styles, pictures) left out");
        import.note(input.place(0), text);
    }
}

/// Notes that Chrome has left out cookies and credentials, as it does unless asked otherwise. A site without any has no note.
pub(super) fn add_sanitised(import: &mut Import, input: &Input<'_>, archive: &Archive) {
    let is_sanitised = archive.creator.starts_with("WebInspector")
        && !archive.entries.iter().any(has_secrets)
        && archive.entries.iter().any(needs_secrets);
    if is_sanitised {
        import.note(
            input.place(0),
            "the HAR is sanitised (no Cookie, Set-Cookie, Authorization, though the site has a session): cookies come from the jar, but Authorization cannot be known; export it with sensitive data",
        );
    }
}

fn has_secrets(entry: &Entry) -> bool {
    let is_secret = |name: &str| {
        ["cookie", "set-cookie", "authorization"].iter().any(|one| name.eq_ignore_ascii_case(one))
    };
    entry.headers.iter().chain(&entry.answer.headers).any(|(name, _)| is_secret(name))
        || !entry.cookies.is_empty()
        || !entry.answer.cookies.is_empty()
}

/// Whether a request or its answer is one of a session: a token against forgery, one that an answer gives out, a log-in.
fn needs_secrets(entry: &Entry) -> bool {
    let has = |name: &str| entry.header(name).is_some();
    let last = entry.url.path().trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let last = last.to_ascii_lowercase().replace(['-', '_'], "");
    let is_log_in = entry.method == "POST" && LOG_INS.contains(&last.as_str());
    is_log_in
        || ["x-csrf-token", "x-csrftoken", "x-xsrf-token"].iter().any(|name| has(name))
        || gives_token(&entry.answer)
}

fn gives_token(answer: &Answer) -> bool {
    let words: &[&str] = if answer.is_json() {
        &["\"token\"", "access_token\"", "accessToken\"", "id_token\"", "refresh_token\""]
    } else if answer.is_html() {
        &["csrf", "authenticity_token", "__RequestVerificationToken", "name=\"_token\""]
    } else {
        &[]
    };
    words.iter().any(|word| answer.text.contains(word))
}

/// Last segments of the addresses that people log in at, without dashes.
const LOG_INS: &[&str] =
    &["login", "signin", "session", "sessions", "auth", "authenticate", "token"];

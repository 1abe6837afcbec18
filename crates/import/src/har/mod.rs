//! HARs of browsers and proxies: the requests of the site itself, with the values that come from answers taken there.
//!
//! ```text
//! text ─▶ archive (entries) ─▶ select (own hosts, chains of redirects) ─▶ correlate (find, look, facts)
//!                                                  sinks, body, cookies, socket ─▶ build: groups, pauses, notes
//! ```

mod archive;
mod body;
mod build;
mod cookies;
mod correlate;
mod entry;
mod facts;
mod find;
mod headers;
mod look;
mod moment;
mod select;
mod sinks;
mod socket;

use std::collections::{BTreeMap, BTreeSet};

use archive::Archive;
use correlate::{Correlator, Unit};
use entry::Entry;
use facts::Facts;
use select::Reason;

use crate::{Import, ImportError, Input, Kind};

/// How often the search begins anew because a redirect must not be followed.
const ROUNDS_MAX: usize = 6;

pub(crate) fn import(input: &Input<'_>) -> Result<Import, ImportError> {
    let (mut archive, fault) = Archive::of(input.text);
    let mut import =
        Import { inputs: vec![(input.name.to_owned(), Kind::Har)], ..Import::default() };
    if let Some(fault) = &fault {
        let count = archive.entries.len();
        let place = input.place(fault.line());
        import.note(
            place,
            format!(
                "the HAR is cut or faulty here ({fault}); the {count} entries before it are used"
            ),
        );
    }
    for number in &archive.faulty {
        import.note(
            input.place(0),
            format!("entry {number} left out: it has no method or no address"),
        );
    }
    if archive.answers_dropped > 0 {
        import.note(
            input.place(0),
            format!(
                "{} answers are not searched for values: together they are too large",
                archive.answers_dropped
            ),
        );
    }
    // Proxies write entries as they end, browsers as they begin.
    archive.entries.sort_by_key(|entry| entry.started_ms.unwrap_or(0));
    let mut reasons = select::reasons(&archive.entries);
    keep_cookie_setters(&archive.entries, &mut reasons);
    note_left_out(&mut import, input, &archive.entries, &reasons);
    note_sanitised(&mut import, input, &archive);
    let replayed: Vec<usize> = (0..reasons.len()).filter(|at| reasons[*at].is_none()).collect();
    let mut split = BTreeSet::new();
    for _ in 0..ROUNDS_MAX {
        let units: Vec<Unit> = select::chains(&archive.entries, &replayed, &split)
            .into_iter()
            .map(|chain| {
                let facts = Facts::of(&archive.entries[chain[chain.len() - 1]].answer);
                Unit { chain, facts }
            })
            .collect();
        let mut correlator = Correlator::new(&archive.entries, &units);
        let mut built = import.clone();
        build::add_groups(&mut built, input, &archive.pages, &mut correlator);
        let more = correlator.split.difference(&split).count() > 0;
        split.extend(std::mem::take(&mut correlator.split));
        if !more {
            return Ok(built);
        }
        if split.len() > archive.entries.len() {
            break;
        }
    }
    // The redirects that are split by now are enough for all but the last values found.
    let units: Vec<Unit> = select::chains(&archive.entries, &replayed, &split)
        .into_iter()
        .map(|chain| {
            let facts = Facts::of(&archive.entries[chain[chain.len() - 1]].answer);
            Unit { chain, facts }
        })
        .collect();
    build::add_groups(
        &mut import,
        input,
        &archive.pages,
        &mut Correlator::new(&archive.entries, &units),
    );
    Ok(import)
}

/// A file of the site that alone sets a cookie is loaded as well.
fn keep_cookie_setters(entries: &[Entry], reasons: &mut [Option<Reason>]) {
    let mut set: BTreeSet<String> = BTreeSet::new();
    for (entry, reason) in entries.iter().zip(reasons.iter()) {
        if reason.is_none() {
            set.extend(entry.answer.cookies.iter().map(|cookie| cookie.name.clone()));
        }
    }
    for (entry, reason) in entries.iter().zip(reasons.iter_mut()) {
        let names = || entry.answer.cookies.iter().map(|cookie| &cookie.name);
        if *reason == Some(Reason::Static) && names().any(|name| !set.contains(name)) {
            set.extend(names().cloned());
            *reason = None;
        }
    }
}

fn note_left_out(
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
        import.note(input.place(0), format!("{count} requests to {host} left out: a third party"));
    }
    if files > 0 {
        import.note(
            input.place(0),
            format!("{files} files of pages (scripts, styles, pictures) left out"),
        );
    }
}

/// Browsers leave cookies and credentials out unless asked otherwise.
fn note_sanitised(import: &mut Import, input: &Input<'_>, archive: &Archive) {
    let has = |headers: &[(String, String)]| {
        headers.iter().any(|(name, _)| {
            ["cookie", "set-cookie", "authorization"]
                .iter()
                .any(|secret| name.eq_ignore_ascii_case(secret))
        })
    };
    let any = archive.entries.iter().any(|entry| {
        has(&entry.headers)
            || has(&entry.answer.headers)
            || !entry.cookies.is_empty()
            || !entry.answer.cookies.is_empty()
    });
    if !any && archive.creator.starts_with("WebInspector") {
        import.note(
            input.place(0),
            "the HAR is sanitised (no Cookie, Set-Cookie, Authorization): cookies come from the jar, but Authorization cannot be known; export it with sensitive data",
        );
    }
}

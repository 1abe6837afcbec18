//! Which entries of a HAR are replayed: own hosts, no files of pages, no preflights; and which redirects belong together.

use std::collections::BTreeSet;

use super::entry::{Entry, Payload};
use super::look::{Look, look};

/// Why an entry is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reason {
    /// Of no interest: CONNECT, preflights, icons.
    Noise,
    /// No answer came.
    Failed,
    /// Another host.
    ThirdParty,
    /// A file of a page: script, style, picture.
    Static,
}

/// Whether each entry is replayed, and why not.
pub(super) fn reasons(entries: &[Entry]) -> Vec<Option<Reason>> {
    let noise: Vec<bool> = entries.iter().map(is_noise).collect();
    let own = own_hosts(entries, &noise);
    entries
        .iter()
        .zip(noise)
        .map(|(entry, is_noise)| {
            let is_own = entry.url.host_str().is_some_and(|host| own.contains(host));
            if is_noise {
                Some(Reason::Noise)
            } else if !is_own {
                Some(Reason::ThirdParty)
            } else if entry.answer.status == 0 {
                Some(Reason::Failed)
            } else if is_static(entry) {
                Some(Reason::Static)
            } else {
                None
            }
        })
        .collect()
}

/// A file of the site that alone sets a cookie is loaded as well.
pub(super) fn keep_cookie_setters(entries: &[Entry], reasons: &mut [Option<Reason>]) {
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

fn is_noise(entry: &Entry) -> bool {
    let is_preflight =
        entry.method == "OPTIONS" && entry.header("access-control-request-method").is_some();
    let is_icon = entry.url.path().ends_with("/favicon.ico")
        || entry.url.path().starts_with("/apple-touch-icon");
    is_preflight
        || (is_icon && entry.method == "GET")
        || entry.method == "CONNECT"
        || !matches!(entry.url.scheme(), "http" | "https" | "ws" | "wss")
        || entry.url.host_str().is_none()
}

/// A file of a page, by what the browser, the answer or the address says.
pub(super) fn is_static(entry: &Entry) -> bool {
    if entry.method != "GET" || entry.is_socket() {
        return false;
    }
    if FILE_TYPES.contains(&entry.resource.as_str()) {
        return true;
    }
    if matches!(entry.resource.as_str(), "document" | "fetch" | "xhr") {
        return false;
    }
    if FILE_DESTINATIONS.contains(&entry.header("sec-fetch-dest").unwrap_or_default()) {
        return true;
    }
    let mime = entry.answer.mime.as_str();
    let is_file = ["image/", "font/", "video/", "audio/", "application/font"];
    let is_mime = is_file.iter().any(|start| mime.starts_with(start))
        || mime == "text/css"
        || mime.ends_with("javascript");
    let name = entry.url.path().rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let end = name.rsplit_once('.').map_or("", |(_, end)| end);
    is_mime || SUFFIXES.contains(&end)
}

/// What Chrome calls files of pages.
const FILE_TYPES: &[&str] =
    &["stylesheet", "script", "image", "font", "media", "manifest", "texttrack"];

/// What `Sec-Fetch-Dest` calls them.
const FILE_DESTINATIONS: &[&str] =
    &["style", "script", "image", "font", "video", "audio", "manifest", "track"];

const SUFFIXES: &[&str] = &[
    "css", "js", "mjs", "map", "png", "jpg", "jpeg", "gif", "webp", "avif", "svg", "ico", "woff",
    "woff2", "ttf", "otf", "eot", "mp4", "webm", "mp3",
];

/// The site of the first page, hosts that it redirects to or that redirect to it, and hosts that values travel to or from.
fn own_hosts(entries: &[Entry], noise: &[bool]) -> BTreeSet<String> {
    let candidates =
        || entries.iter().zip(noise).filter(|(_, noise)| !**noise).map(|(entry, _)| entry);
    let first = candidates()
        .find(|entry| entry.is_navigation())
        .or_else(|| candidates().find(|entry| entry.answer.is_html() && !is_static(entry)))
        .or_else(|| candidates().find(|entry| !is_static(entry)))
        .or_else(|| candidates().next());
    let Some(first) = first.and_then(|entry| entry.url.host_str()) else { return BTreeSet::new() };
    let home = site(first).to_owned();
    let mut own: BTreeSet<String> = candidates()
        .filter_map(|entry| entry.url.host_str())
        .filter(|host| site(host) == home)
        .map(str::to_owned)
        .collect();
    own.extend(navigated(entries, noise));
    // Each round may find a host by one that the round before found.
    for _ in 0..8 {
        let more = connected(entries, noise, &own);
        if more.is_empty() {
            break;
        }
        own.extend(more);
    }
    own
}

/// Hosts whose pages a person went to: not frames, which are documents too.
fn navigated<'a>(entries: &'a [Entry], noise: &'a [bool]) -> impl Iterator<Item = String> + 'a {
    entries
        .iter()
        .zip(noise)
        .filter(|(entry, noise)| {
            !**noise && entry.is_navigation() && entry.header("sec-fetch-dest").is_some()
        })
        .filter_map(|(entry, _)| entry.url.host_str().map(str::to_owned))
}

fn connected(entries: &[Entry], noise: &[bool], own: &BTreeSet<String>) -> BTreeSet<String> {
    let is_own = |entry: &Entry| entry.url.host_str().is_some_and(|host| own.contains(host));
    let mut given: BTreeSet<&str> = BTreeSet::new();
    let mut texts: Vec<&str> = vec![];
    let mut more = BTreeSet::new();
    for (entry, _) in entries.iter().zip(noise).filter(|(_, noise)| !**noise) {
        let redirect = entry.answer.redirect().and_then(|to| entry.url.join(to).ok());
        let target = redirect.as_ref().and_then(|url| url.host_str()).unwrap_or_default();
        let Some(host) = entry.url.host_str() else { continue };
        if is_own(entry) {
            if !target.is_empty() && !own.contains(target) && !is_static(entry) {
                more.insert(target.to_owned());
            }
            if !is_static(entry) {
                given.extend(entry.header("authorization"));
                texts.push(&entry.answer.text);
            }
            continue;
        }
        let back = !target.is_empty() && own.contains(target) && entry.is_navigation();
        let token = entry.header("authorization").is_some_and(|value| given.contains(value));
        if back || token || is_given(entry, &texts) || gives(entry, entries, own) {
            more.insert(host.to_owned());
        }
    }
    more
}

/// Whether the whole address stands in an answer of an own host: a place for an upload, a signed link.
fn is_given(entry: &Entry, texts: &[&str]) -> bool {
    let is_signed = entry.url.query_pairs().any(|(_, value)| look(&value) == Look::Random);
    if is_static(entry) || !(is_signed || matches!(entry.method.as_str(), "PUT" | "POST")) {
        return false;
    }
    let path = entry.url.path();
    let escaped = entry.address.replace('&', "&amp;");
    let slashes = entry.address.replace('/', "\\/");
    let units = entry.address.replace('&', "\\u0026");
    path.len() >= 8
        && texts.iter().any(|text| {
            [&entry.address, &escaped, &slashes, &units]
                .iter()
                .any(|form| text.contains(form.as_str()))
        })
}

/// Whether its answer brings a token that an own host gets: the log-in of another host.
fn gives(entry: &Entry, entries: &[Entry], own: &BTreeSet<String>) -> bool {
    if !entry.answer.is_json() || entry.answer.text.len() > 64 << 10 || is_static(entry) {
        return false;
    }
    let tokens: Vec<&str> = entry
        .answer
        .text
        .split('"')
        .filter(|part| part.len() >= 16 && look(part) == Look::Random)
        .take(64)
        .collect();
    let is_own = |later: &&Entry| later.url.host_str().is_some_and(|host| own.contains(host));
    entries.iter().filter(is_own).any(|later| {
        let sent = later.header("authorization").unwrap_or_default();
        let body = if let Payload::Text(text) = &later.body { text.as_str() } else { "" };
        tokens.iter().any(|token| sent.contains(token) || body.contains(token))
    })
}

/// The part of a host's name that its owner registered: two labels, three below `co.uk` and its like.
fn site(host: &str) -> &str {
    if host.parse::<std::net::IpAddr>().is_ok() || host.starts_with('[') {
        return host;
    }
    let ends: Vec<usize> = host.rmatch_indices('.').map(|(at, _)| at).collect();
    let second = match ends.as_slice() {
        [] | [_] => return host,
        [last, second, ..] => &host[second + 1..*last],
    };
    let is_public =
        matches!(second, "co" | "com" | "org" | "net" | "gov" | "ac" | "edu" | "gob" | "or" | "ne")
            && host.len() - ends[0] == 3;
    match (is_public, ends.as_slice()) {
        (true, [_, _, third, ..]) => &host[third + 1..],
        (true, _) => host,
        (false, ends) => &host[ends[1] + 1..],
    }
}

/// For each replayed entry its chain: itself and the entries that its redirects led to.
pub(super) fn chains(
    entries: &[Entry],
    replayed: &[usize],
    split: &BTreeSet<usize>,
) -> Vec<Vec<usize>> {
    let mut taken: BTreeSet<usize> = BTreeSet::new();
    let mut chains = vec![];
    for (at, first) in replayed.iter().enumerate() {
        if taken.contains(first) {
            continue;
        }
        let mut chain = vec![*first];
        let mut last = *first;
        while !split.contains(&last) && chain.len() < 10 {
            let rest = replayed[at + 1..].iter().take(200);
            let next = rest
                .copied()
                .find(|next| !taken.contains(next) && leads(&entries[last], &entries[*next]));
            let Some(next) = next else { break };
            taken.insert(next);
            chain.push(next);
            last = next;
        }
        chains.push(chain);
    }
    chains
}

fn leads(from: &Entry, to: &Entry) -> bool {
    let Some(target) = from.answer.redirect().and_then(|target| from.url.join(target).ok()) else {
        return false;
    };
    let mut target = target;
    target.set_fragment(None);
    let keeps = matches!(from.answer.status, 307 | 308);
    let method =
        if keeps { to.method == from.method } else { matches!(to.method.as_str(), "GET" | "HEAD") };
    let in_time = match (from.ended_ms(), to.started_ms) {
        (Some(end), Some(start)) => start + 1000 >= end,
        _ => true,
    };
    method && in_time && target == to.url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_what_was_registered() {
        for (host, expect) in [
            ("app.todo.example", "todo.example"),
            ("shop.example", "shop.example"),
            ("a.b.shop.co.uk", "shop.co.uk"),
            ("shop.co.uk", "shop.co.uk"),
            ("localhost", "localhost"),
            ("127.0.0.1", "127.0.0.1"),
        ] {
            assert_eq!(site(host), expect);
        }
    }
}

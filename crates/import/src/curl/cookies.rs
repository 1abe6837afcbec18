//! Files of cookies (Netscape's form) and of passwords (netrc), as curl reads them.

use super::url_parts::Url;

/// The cookies of a file for an address, as a `Cookie` header has them.
pub(super) fn for_url(file: &str, url: &Url, now_s: u64) -> Vec<String> {
    let host = url.host.split(':').next().unwrap_or_default().to_ascii_lowercase();
    file.lines()
        .filter_map(|line| {
            let line = line
                .strip_prefix("#HttpOnly_")
                .or_else(|| Some(line).filter(|line| !line.starts_with('#')))?;
            let mut fields = line.split('\t');
            let (domain, tail, path, secure, expires, name) = (
                fields.next()?,
                fields.next()?,
                fields.next()?,
                fields.next()?,
                fields.next()?,
                fields.next()?,
            );
            let value = fields.next().unwrap_or_default().trim_end();
            let domain = domain.trim_start_matches('.').to_ascii_lowercase();
            let is_domain = host == domain
                || (tail.eq_ignore_ascii_case("TRUE") && host.ends_with(&format!(".{domain}")));
            let is_path = url.path == path
                || (url.path.starts_with(path)
                    && (path.ends_with('/') || url.path[path.len()..].starts_with('/')));
            let is_secure = !secure.eq_ignore_ascii_case("TRUE") || url.scheme == "https://";
            let expires: u64 = expires.trim().parse().unwrap_or(0);
            let has_ended = expires != 0 && expires <= now_s;
            (is_domain && is_path && is_secure && !has_ended).then(|| format!("{name}={value}"))
        })
        .collect()
}

/// The login and password of a host in a netrc file.
pub(super) fn netrc(file: &str, host: &str) -> Option<(String, String)> {
    let words = netrc_words(file);
    let host = host.split(':').next().unwrap_or_default();
    let mut matches = false;
    let (mut login, mut password) = (None, None);
    let mut rest = words.into_iter();
    while let Some(word) = rest.next() {
        match word.as_str() {
            "machine" | "default" => {
                if matches && (login.is_some() || password.is_some()) {
                    break;
                }
                matches = word == "default"
                    || rest.next().is_some_and(|name| name.eq_ignore_ascii_case(host));
            }
            "login" if matches => login = rest.next(),
            "password" if matches => password = rest.next(),
            _ => {}
        }
    }
    (login.is_some() || password.is_some())
        .then(|| (login.unwrap_or_default(), password.unwrap_or_default()))
}

fn netrc_words(file: &str) -> Vec<String> {
    let mut words = vec![];
    for line in file.lines().filter(|line| !line.trim_start().starts_with('#')) {
        let mut chars = line.chars().peekable();
        while let Some(char) = chars.next() {
            if char.is_whitespace() {
                continue;
            }
            let mut word = String::new();
            if char == '"' {
                while let Some(char) = chars.next() {
                    match char {
                        '"' => break,
                        '\\' => word.extend(chars.next()),
                        char => word.push(char),
                    }
                }
            } else {
                word.push(char);
                while let Some(char) = chars.next_if(|char| !char.is_whitespace()) {
                    word.push(char);
                }
            }
            words.push(word);
        }
    }
    words
}

/// A file of cookies without those that end with a session.
pub(super) fn lasting(file: &str) -> String {
    let lasts = |line: &&str| line.split('\t').nth(4).is_some_and(|expires| expires.trim() != "0");
    file.lines().filter(lasts).collect::<Vec<_>>().join("\n")
}

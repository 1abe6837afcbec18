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

/// A machine of a netrc file.
#[derive(Default)]
struct Machine {
    is_host: bool,
    login: Option<String>,
    password: Option<String>,
}

/// The login and password of a host in a netrc file; of `user`, if one is given.
pub(super) fn netrc(file: &str, host: &str, user: Option<&str>) -> Option<(String, String)> {
    let host = host.split(':').next().unwrap_or_default();
    let is_wanted = |machine: &Machine| match user {
        Some(user) => machine.is_host && machine.login.as_deref() == Some(user),
        None => machine.is_host && (machine.login.is_some() || machine.password.is_some()),
    };
    let found = machines(file, host).into_iter().find(is_wanted)?;
    Some((found.login.unwrap_or_default(), found.password.unwrap_or_default()))
}

fn machines(file: &str, host: &str) -> Vec<Machine> {
    let mut machines: Vec<Machine> = vec![];
    let mut rest = netrc_words(file).into_iter();
    while let Some(word) = rest.next() {
        match (word.as_str(), machines.last_mut()) {
            ("machine", _) => {
                let is_host = rest.next().is_some_and(|name| name.eq_ignore_ascii_case(host));
                machines.push(Machine { is_host, ..Machine::default() });
            }
            ("default", _) => machines.push(Machine { is_host: true, ..Machine::default() }),
            ("login", Some(machine)) => machine.login = rest.next(),
            ("password", Some(machine)) => machine.password = rest.next(),
            _ => {}
        }
    }
    machines
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

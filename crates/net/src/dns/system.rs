//! The system's own resolver (getaddrinfo): hosts file, resolv.conf and all, with Go's words for its errors.

use std::net::{IpAddr, ToSocketAddrs};

/// Addresses as the system gives and orders them. Blocks as long as the system does.
pub(super) fn lookup(name: &str) -> Result<Vec<IpAddr>, String> {
    match (name, 0).to_socket_addrs() {
        Ok(found) => match found.map(|address| address.ip()).collect::<Vec<_>>() {
            none if none.is_empty() => Err(format!("lookup {name}: no such host")),
            found => Ok(found),
        },
        Err(error) => Err(format!("lookup {name}: {}", reason(&error.to_string()))),
    }
}

/// Go's words for a getaddrinfo error: all ways to say that there is no such name are one.
fn reason(text: &str) -> &str {
    const ABSENT: [&str; 5] = [
        "Name or service not known",
        "No address associated with hostname",
        "nodename nor servname provided",
        "Name does not resolve",
        "invalid",
    ];
    if ABSENT.iter().any(|absent| text.contains(absent)) {
        return "no such host";
    }
    text.rsplit_once(": ").map_or(text, |(_, reason)| reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_gos() {
        let start = "failed to lookup address information: ";
        let cases = [
            ("Name or service not known", "no such host"),
            ("nodename nor servname provided, or not known", "no such host"),
            ("Temporary failure in name resolution", "Temporary failure in name resolution"),
        ];
        for (text, expect) in cases {
            assert_eq!(reason(&format!("{start}{text}")), expect);
        }
        assert_eq!(reason("odd"), "odd");
    }

    #[test]
    fn knows_the_hosts_file_and_no_nonsense() {
        assert!(lookup("localhost").expect("localhost").iter().all(IpAddr::is_loopback));
        let bad = "not a name\u{7}";
        let error = lookup(bad).expect_err("no such name");
        assert!(error.starts_with("lookup not a name"), "{error}");
    }
}

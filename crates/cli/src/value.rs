//! The values of flags: text in, a value or what is wrong with it out. Nothing is resolved or opened.

use std::net::{IpAddr, SocketAddr};

use stdx::{Bytes, BytesError, Distribution, Nanos};

/// What is wrong with a flag's value, in the words of both dialects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueError {
    /// Our own words: the value, and what was expected.
    pub native: String,
    /// The end of Go's message.
    pub go: String,
    /// Whether Vegeta accepts the flag, and ends with code 1 and these words alone when it uses the value.
    pub is_late: bool,
}

impl ValueError {
    /// An error with the same words in both dialects.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        let native = text.into();
        Self { go: native.clone(), native, is_late: false }
    }

    /// An error for which Go, or Vegeta, has words of its own.
    #[must_use]
    pub fn with_go(native: impl Into<String>, go: impl Into<String>) -> Self {
        Self { native: native.into(), go: go.into(), is_late: false }
    }

    /// The same error, which Vegeta reports only when it uses the value.
    #[must_use]
    pub fn late(self) -> Self {
        Self { is_late: true, ..self }
    }

    /// An error of Go's own flag types, which only say `parse error`.
    #[must_use]
    fn parse_error(native: impl Into<String>) -> Self {
        Self::with_go(native, "parse error")
    }
}

/// Go's booleans.
///
/// # Errors
/// The text is no such value.
pub fn switch(text: &str) -> Result<bool, ValueError> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err(ValueError::parse_error(format!("\"{text}\" is neither true nor false"))),
    }
}

/// A whole number from 0.
///
/// # Errors
/// The text is no such value.
pub fn number(text: &str) -> Result<u64, ValueError> {
    text.parse().map_err(|_| {
        no_number(text, format!("\"{text}\" is not a whole number (expected 0 or more)"))
    })
}

/// Go distinguishes numbers that are too large from texts that are no numbers.
fn no_number(text: &str, native: String) -> ValueError {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let go = if is_number { "value out of range" } else { "parse error" };
    ValueError::with_go(native, go)
}

/// A whole number from 1.
///
/// # Errors
/// The text is no such value.
pub fn count(text: &str) -> Result<u64, ValueError> {
    number(text).ok().filter(|&n| n > 0).ok_or_else(|| {
        ValueError::parse_error(format!("\"{text}\" is not a whole number (expected 1 or more)"))
    })
}

/// The distribution of a time: `fixed:1s`, `exp:1s` and so on, or a time alone.
///
/// # Errors
/// The text is no such value.
pub fn law(text: &str) -> Result<Distribution, ValueError> {
    if let Ok(time) = Nanos::parse(text) {
        return Ok(Distribution::Fixed(time));
    }
    match Distribution::parse(text) {
        Ok(Distribution::File(_)) => Err(ValueError::new(
            "a file of times is not supported here (expected a law such as exp:60ms)",
        )),
        Ok(law) => Ok(law),
        Err(error) => Err(ValueError::new(error.to_string())),
    }
}

/// A whole number from -1.
///
/// # Errors
/// The text is no such value.
pub fn number_or_minus_one(text: &str) -> Result<i64, ValueError> {
    text.parse().ok().filter(|&n: &i64| n >= -1).ok_or_else(|| {
        no_number(text, format!("\"{text}\" is not a whole number (expected -1 or more)"))
    })
}

/// A share, 0 to 1.
///
/// # Errors
/// The text is no such value.
pub fn share(text: &str) -> Result<f64, ValueError> {
    let parsed = match text.strip_suffix('%') {
        Some(percent) => percent.parse::<f64>().map(|p| p / 100.0),
        None => text.parse::<f64>(),
    };
    parsed.ok().filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| {
        ValueError::parse_error(format!(
            "\"{text}\" is not a share (expected 0 to 1, or 0% to 100%)"
        ))
    })
}

/// A Go duration.
///
/// # Errors
/// The text is no such value.
pub fn duration(text: &str) -> Result<Nanos, ValueError> {
    Nanos::parse(text).map_err(|error| ValueError::parse_error(error.to_string()))
}

/// A time that may be below zero, in nanoseconds: `12ms`, `-1.5s`.
///
/// # Errors
/// The text is no such value.
pub fn offset(text: &str) -> Result<i64, ValueError> {
    let (below, size) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let size = duration(size)?;
    let size =
        i64::try_from(size.0).map_err(|_| ValueError::new(format!("\"{text}\" is too long")))?;
    Ok(if below { -size } else { size })
}

/// A Go duration or -1, which gives `None`.
///
/// # Errors
/// The text is no such value.
pub fn duration_or_minus_one(text: &str) -> Result<Option<Nanos>, ValueError> {
    if text == "-1" {
        return Ok(None);
    }
    Nanos::parse(text).map(Some).map_err(|error| ValueError::with_go(error.to_string(), error.go()))
}

/// A size in bytes, or -1, which gives `None`.
///
/// # Errors
/// The text is no such value.
pub fn size_or_minus_one(text: &str) -> Result<Option<u64>, ValueError> {
    if text == "-1" {
        return Ok(None);
    }
    let size = size(text)?;
    if i64::try_from(size).is_err() {
        let native = format!("size \"{text}\" is too large");
        return Err(ValueError::with_go(native, format!("-max-body={size} overflows int64")));
    }
    Ok(Some(size))
}

/// A size in bytes.
///
/// # Errors
/// The text is no such value.
pub fn size(text: &str) -> Result<u64, ValueError> {
    Bytes::parse(text).map(|bytes| bytes.0).map_err(|error| {
        let reason = match &error {
            BytesError::Invalid(_) => "invalid syntax",
            BytesError::TooLarge(_) => "value out of range",
        };
        let go = format!("strconv.UnmarshalText: parsing \"{text}\": {reason}");
        ValueError::with_go(error.to_string(), go)
    })
}

/// `Name: value`; the value may be empty.
///
/// # Errors
/// The text is no such value.
pub fn header(text: &str) -> Result<(String, String), ValueError> {
    let wrong = || {
        ValueError::with_go(
            // The text may be a secret whose name was forgotten.
            "the header is not \"Name: value\" (the value may be empty)".to_owned(),
            format!("header '{text}' has a wrong format"),
        )
    };
    let (name, value) = text.split_once(':').ok_or_else(wrong)?;
    let (name, value) = (name.trim(), value.trim());
    if name.is_empty() || text.contains(['\r', '\n']) {
        return Err(wrong());
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// A comma list of IP addresses.
///
/// # Errors
/// The text is no such value.
pub fn addresses(text: &str) -> Result<Vec<IpAddr>, ValueError> {
    text.split(',')
        .map(|part| {
            part.trim().trim_matches(['[', ']']).parse().map_err(|_| {
                ValueError::with_go(
                    format!("\"{part}\" is not an IP address (such as 127.0.0.2 or ::1)"),
                    format!("lookup {text}: no such host"),
                )
            })
        })
        .collect()
}

/// A comma list of name servers, port 53 unless given.
///
/// # Errors
/// The text is no such value.
pub fn resolvers(text: &str) -> Result<Vec<SocketAddr>, ValueError> {
    text.split(',')
        .map(|part| {
            let part = part.trim();
            let socket = part.parse::<SocketAddr>();
            let bare = part.trim_matches(['[', ']']).parse::<IpAddr>();
            socket.or_else(|_| bare.map(|ip| SocketAddr::new(ip, 53))).map_err(|_| {
                let native =
                    format!("\"{part}\" is not a name server's address (expected IP or IP:PORT)");
                ValueError::with_go(native, no_resolver(part)).late()
            })
        })
        .collect()
}

/// Vegeta's words for an invalid name server.
fn no_resolver(part: &str) -> String {
    match part.split_once(':') {
        Some((_, port)) if port.contains(':') => {
            format!("address {part}: too many colons in address")
        }
        Some((_, port)) if port.parse::<u16>().is_err() => {
            format!("strconv.ParseUint: parsing \"{port}\": invalid syntax")
        }
        found => format!("host {} is not an IP address", found.map_or(part, |(host, _)| host)),
    }
}

/// `from:port:to:port`, where an IPv6 address stands in brackets.
///
/// # Errors
/// The text is no such value.
pub fn connect_to(text: &str) -> Result<(String, String), ValueError> {
    let wrong = || {
        ValueError::with_go(
            format!("\"{text}\" is not FROM:PORT:TO:PORT (IPv6 addresses in brackets)"),
            format!("invalid -connect-to {text:?}, expected format: src:port:dst:port"),
        )
    };
    let (from, rest) = host_port(text).ok_or_else(wrong)?;
    let (to, rest) = rest.strip_prefix(':').and_then(host_port).ok_or_else(wrong)?;
    if !rest.is_empty() {
        return Err(wrong());
    }
    Ok((from.to_owned(), to.to_owned()))
}

/// The addresses that a name has at a port, whatever a name server says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedAddresses {
    /// The name, in lower case; `*` stands for all.
    pub name: String,
    /// The port of the URL.
    pub port: u16,
    /// The addresses, at least one.
    pub addresses: Vec<IpAddr>,
}

/// `HOST:PORT:ADDRESS[,ADDRESS]…`, as curl has it; IPv6 may stand in brackets, and does as a host.
///
/// # Errors
/// The text is no such value.
pub fn fixed_addresses(text: &str) -> Result<FixedAddresses, ValueError> {
    let wrong = || {
        ValueError::new(format!(
            "\"{text}\" is not HOST:PORT:ADDRESS,… (addresses are IPv4 or IPv6)"
        ))
    };
    // With a plus curl forgets the address after a while.
    let (from, rest) = host_port(text.strip_prefix('+').unwrap_or(text)).ok_or_else(wrong)?;
    let (host, port) = from.rsplit_once(':').ok_or_else(wrong)?;
    let name = host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    let address = |one: &str| {
        let bare = one.trim();
        let inner = bare.strip_prefix('[').and_then(|inner| inner.strip_suffix(']'));
        inner.unwrap_or(bare).parse::<IpAddr>()
    };
    let list = rest.strip_prefix(':').ok_or_else(wrong)?.split(',').map(address);
    Ok(FixedAddresses {
        name,
        port: port.parse().map_err(|_| wrong())?,
        addresses: list.collect::<Result<_, _>>().map_err(|_| wrong())?,
    })
}

/// Splits `host:port` off the front.
fn host_port(text: &str) -> Option<(&str, &str)> {
    let host_len = match text.strip_prefix('[') {
        Some(inner) => inner.find(']')? + 2,
        None => text.find(':')?,
    };
    let port = text[host_len..].strip_prefix(':')?;
    let port_len = port.find(|c: char| !c.is_ascii_digit()).unwrap_or(port.len());
    let valid = host_len > 0 && port[..port_len].parse::<u16>().is_ok();
    valid.then(|| text.split_at(host_len + 1 + port_len))
}

/// One of the words in `known`.
///
/// # Errors
/// The text is no such value.
pub fn word(text: &str, known: &[&str]) -> Result<String, ValueError> {
    if known.contains(&text) {
        return Ok(text.to_owned());
    }
    Err(ValueError::new(format!("\"{text}\" is not one of {}", known.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_have_a_sign() {
        for (text, expected) in [("12ms", 12_000_000), ("-1.5s", -1_500_000_000), ("0", 0)] {
            assert_eq!(offset(text).ok(), Some(expected), "{text}");
        }
        for text in ["--1s", "1", "soon", "-4000000h"] {
            assert!(offset(text).is_err(), "{text}");
        }
    }

    #[test]
    fn headers() {
        assert_eq!(header(" Host : a:b "), Ok(("Host".into(), "a:b".into())));
        assert_eq!(header("X-Tenant:"), Ok(("X-Tenant".into(), String::new())));
        for text in ["", "Host", ": v", ":", "A: b\r\nC: d", "A:\r\n"] {
            assert!(header(text).is_err(), "{text}");
        }
    }

    #[test]
    fn connections() {
        assert_eq!(connect_to("a:80:b:81"), Ok(("a:80".into(), "b:81".into())));
        assert_eq!(connect_to("[::1]:80:[::2]:81"), Ok(("[::1]:80".into(), "[::2]:81".into())));
        for text in
            ["a:80", "a:80:b", "a:80:b:81:c", ":80:b:81", "a:x:b:81", "a:80:b:99999", "[::1"]
        {
            assert!(connect_to(text).is_err(), "{text}");
        }
    }

    #[test]
    fn fixed_addresses_are_curls() {
        let of = |text: &str| {
            fixed_addresses(text).ok().map(|fixed| {
                let list: Vec<String> = fixed.addresses.iter().map(ToString::to_string).collect();
                format!("{} {} {}", fixed.name, fixed.port, list.join(" "))
            })
        };
        for (text, expect) in [
            ("A.test:443:192.0.2.1", "a.test 443 192.0.2.1"),
            (
                "+a.test:80:192.0.2.1,[2001:db8::1],2001:db8::2",
                "a.test 80 192.0.2.1 2001:db8::1 2001:db8::2",
            ),
            ("*:80:127.0.0.1", "* 80 127.0.0.1"),
            ("[::1]:80:127.0.0.1", "::1 80 127.0.0.1"),
        ] {
            assert_eq!(of(text).as_deref(), Some(expect), "{text}");
        }
        for text in [
            "",
            "a",
            "a:80",
            "a:80:",
            "a:80:b",
            "a:80:1.2.3.4,",
            "-a:80",
            "a:x:1.2.3.4",
            ":80:1.2.3.4",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    /// Vegeta 12.13 of each of these values.
    #[test]
    fn vegetas_words() {
        fn go_text<T: std::fmt::Debug>(read: Result<T, ValueError>) -> String {
            read.unwrap_err().go
        }
        assert_eq!(go_text(duration_or_minus_one("")), "time: invalid duration \"\"");
        let no_unit = "time: missing unit in duration \"-2\"";
        assert_eq!(go_text(duration_or_minus_one("-2")), no_unit);
        assert_eq!(go_text(duration("x")), "parse error");
        let size = "strconv.UnmarshalText: parsing \"1x\": invalid syntax";
        assert_eq!(go_text(size_or_minus_one("1x")), size);
        let too_large = "strconv.UnmarshalText: parsing \"16EB\": value out of range";
        assert_eq!(go_text(size_or_minus_one("16EB")), too_large);
        let overflow = "-max-body=9223372036854775808 overflows int64";
        assert_eq!(go_text(size_or_minus_one("8EB")), overflow);
        assert_eq!(go_text(number("99999999999999999999")), "value out of range");
        assert_eq!(go_text(number_or_minus_one("99999999999999999999")), "value out of range");
        assert_eq!(go_text(addresses("1.2.3")), "lookup 1.2.3: no such host");
        for (text, words) in [
            ("", "host  is not an IP address"),
            ("a.b:53", "host a.b is not an IP address"),
            ("1.2.3.4:x", "strconv.ParseUint: parsing \"x\": invalid syntax"),
            ("1.2.3.4:5:6", "address 1.2.3.4:5:6: too many colons in address"),
        ] {
            let wrong = resolvers(text).unwrap_err();
            assert_eq!((wrong.go.as_str(), wrong.is_late), (words, true), "{text}");
        }
    }

    #[test]
    fn lists() {
        assert_eq!(addresses("127.0.0.2, ::1").unwrap().len(), 2);
        assert!(addresses("localhost").is_err());
        let servers = resolvers("1.1.1.1,[::1]:5353,::1").unwrap();
        assert_eq!(servers.iter().map(SocketAddr::port).collect::<Vec<_>>(), [53, 5353, 53]);
        assert!(resolvers("dns").is_err());
    }

    #[test]
    fn numbers() {
        assert_eq!(number_or_minus_one("-1"), Ok(-1));
        assert!(number_or_minus_one("-2").is_err());
        assert!(count("0").is_err() && number("0").is_ok() && number("-1").is_err());
        assert_eq!(share("5%"), Ok(0.05));
        assert!(share("1.5").is_err() && share("NaN").is_err());
        assert_eq!(size_or_minus_one("1KB"), Ok(Some(1024)));
        assert_eq!(duration_or_minus_one("-1"), Ok(None));
        assert!(word("xml", &["json", "text"]).is_err());
    }
}

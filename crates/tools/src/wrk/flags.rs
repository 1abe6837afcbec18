//! The options of `wrk` and `wrk2`.

use cli::{Flag, ValueError, ValueKind};
use stdx::Nanos;

/// The options as typed, with the defaults of both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WrkFlags {
    pub(crate) connections: u64,
    pub(crate) threads: u64,
    pub(crate) duration: Nanos,
    pub(crate) timeout: Nanos,
    pub(crate) script: Option<String>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) latency: bool,
    pub(crate) version: bool,
    pub(crate) help: bool,
    /// wrk2: requests a second in all; 0 where none is given.
    pub(crate) rate: u64,
    /// wrk2: service times as well.
    pub(crate) uncorrected: bool,
}

impl Default for WrkFlags {
    fn default() -> Self {
        Self {
            connections: 10,
            threads: 2,
            duration: Nanos::from_secs(10),
            timeout: Nanos::from_secs(2),
            script: None,
            headers: Vec::new(),
            latency: false,
            version: false,
            help: false,
            rate: 0,
            uncorrected: false,
        }
    }
}

type Wrk = WrkFlags;

/// The options of `wrk`.
pub(crate) const FLAGS: &[Flag<Wrk>] = &[
    Flag::new(
        "connections",
        ValueKind::Text("N"),
        "10",
        "connections kept open",
        |t: &mut Wrk, v| metric(v).map(|n| t.connections = n),
    )
    .also(&["c"]),
    Flag::new("duration", ValueKind::Text("T"), "10s", "how long to send", |t: &mut Wrk, v| {
        time(v).map(|d| t.duration = d)
    })
    .also(&["d"]),
    Flag::new("threads", ValueKind::Text("N"), "2", "worker threads", |t: &mut Wrk, v| {
        metric(v).map(|n| t.threads = n)
    })
    .also(&["t"]),
    Flag::new(
        "script",
        ValueKind::Text("FILE"),
        "",
        "Lua script: not run here",
        |t: &mut Wrk, v| {
            t.script = Some(v.to_owned());
            Ok(())
        },
    )
    .also(&["s"]),
    Flag::new(
        "header",
        ValueKind::Text("H"),
        "",
        "header field; repeat for more",
        |t: &mut Wrk, v| header(v).map(|field| t.headers.push(field)),
    )
    .also(&["H"]),
    Flag::new(
        "latency",
        ValueKind::Switch,
        "",
        "print percentiles of the latency",
        |t: &mut Wrk, _| {
            t.latency = true;
            Ok(())
        },
    )
    .also(&["L"]),
    Flag::new(
        "timeout",
        ValueKind::Text("T"),
        "2s",
        "answers later than this are counted",
        |t: &mut Wrk, v| time(v).map(|d| t.timeout = d),
    )
    .also(&["T"]),
    Flag::new(
        "version",
        ValueKind::Switch,
        "",
        "print the version, then this",
        |t: &mut Wrk, _| {
            t.version = true;
            Ok(())
        },
    )
    .also(&["v"]),
    Flag::new("help", ValueKind::Switch, "", "print this", |t: &mut Wrk, _| {
        t.help = true;
        Ok(())
    })
    .also(&["h"]),
];

/// What `wrk2` has besides.
const MORE: &[Flag<Wrk>] = &[
    Flag::new(
        "rate",
        ValueKind::Text("N"),
        "",
        "requests a second in all; required",
        |t: &mut Wrk, v| metric(v).map(|n| t.rate = n),
    )
    .also(&["R"]),
    Flag::new(
        "u_latency",
        ValueKind::Switch,
        "",
        "print percentiles from the send as well",
        |t: &mut Wrk, _| {
            (t.latency, t.uncorrected) = (true, true);
            Ok(())
        },
    )
    .also(&["U"]),
    Flag::new(
        "batch_latency",
        ValueKind::Switch,
        "",
        "for scripts that pipeline; no effect",
        |_: &mut Wrk, _| Ok(()),
    )
    .also(&["B"]),
];

/// The options of `wrk2`.
pub(crate) fn wrk2_flags() -> Vec<Flag<Wrk>> {
    FLAGS.iter().chain(MORE).copied().collect()
}

/// `Name: value`.
fn header(text: &str) -> Result<(String, String), ValueError> {
    let (name, value) = text
        .split_once(':')
        .ok_or_else(|| ValueError::new("the header has no colon (expected NAME: VALUE)"))?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// A number with k, M, G, T or P.
fn metric(text: &str) -> Result<u64, ValueError> {
    scaled(text, 1000, &["", "k", "m", "g", "t", "p"])
}

/// Whole seconds, or with s, m or h.
fn time(text: &str) -> Result<Nanos, ValueError> {
    scaled(text, 60, &["s", "m", "h"]).map(|s| Nanos(s.saturating_mul(1_000_000_000)))
}

/// Digits and a unit of at most two letters, of which the case does not count.
fn scaled(text: &str, scale: u64, units: &[&str]) -> Result<u64, ValueError> {
    let wrong = || ValueError::new(format!("\"{text}\" is no number that wrk reads"));
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().map_err(|_| wrong())?;
    let unit = text[digits..].to_ascii_lowercase();
    let power = match unit.as_str() {
        "" => 0,
        unit => units.iter().position(|known| *known == unit).ok_or_else(wrong)?,
    };
    Ok(number.saturating_mul(scale.saturating_pow(power as u32)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_have_units() {
        for (text, n) in [("10", 10), ("1k", 1000), ("2M", 2_000_000), ("1G", 1_000_000_000)] {
            assert_eq!(metric(text), Ok(n), "{text}");
        }
        for (text, s) in [("10", 10), ("10s", 10), ("2m", 120), ("1H", 3600)] {
            assert_eq!(time(text), Ok(Nanos::from_secs(s)), "{text}");
        }
        for text in ["", "x", "-1", "1x", "1ks", "99999999999999999999"] {
            assert!(metric(text).is_err() && time(text).is_err(), "{text}");
        }
    }
}

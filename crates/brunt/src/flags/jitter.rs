//! The flags of `jitter`.

use cli::{Flag, ValueError, ValueKind, value};
use stdx::Nanos;
use workload::arrival::{ParsedRate, Rate};

use super::load_value;

/// The flags of `jitter` as typed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct JitterFlags {
    pub(crate) rate: Rate,
    pub(crate) duration: Nanos,
    pub(crate) json: bool,
}

impl Default for JitterFlags {
    fn default() -> Self {
        Self {
            rate: Rate { hits: 1000, per: Nanos::from_secs(1) },
            duration: Nanos::from_secs(5),
            json: false,
        }
    }
}

/// The flags of `jitter`.
pub(crate) const JITTER: &[Flag<JitterFlags>] = &[
    Flag::new(
        "rate",
        ValueKind::Text("N/DURATION"),
        "1000/1s",
        "How often to wake up.",
        |t: &mut JitterFlags, v| {
            t.rate = moments(v)?;
            Ok(())
        },
    )
    .native(),
    Flag::new(
        "duration",
        ValueKind::Duration,
        "5s",
        "How long to measure.",
        |t: &mut JitterFlags, v| value::duration(v).map(|d| t.duration = d),
    )
    .native(),
    Flag::new(
        "json",
        ValueKind::Switch,
        "",
        "Print one line of JSON, in nanoseconds.",
        |t: &mut JitterFlags, v| value::switch(v).map(|on| t.json = on),
    )
    .native(),
];

/// A rate above 0 and of at most one moment a nanosecond.
fn moments(text: &str) -> Result<Rate, ValueError> {
    match load_value::rate(text)? {
        ParsedRate::Rate(rate) if rate.per.0 >= rate.hits => Ok(rate),
        _ => Err(ValueError::new(
            "not a rate (expected for example 1000 or 50000/1s, at most one per nanosecond)",
        )),
    }
}

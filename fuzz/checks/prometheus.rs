//! Any bytes as the response of a Prometheus endpoint: series within their bounds, each of which is read again as itself.

#[allow(dead_code, reason = "its users are in its own crate")]
#[path = "../../crates/monitor/src/scrape/text.rs"]
mod text;

use text::{SERIES_MAX, parse};

/// What a response came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SeriesTotals {
    /// Series.
    pub(crate) series: usize,
    /// Lines that are none.
    pub(crate) wrong: u64,
}

/// Reads the bytes as text; those that are no UTF-8 are replaced.
///
/// # Panics
/// A bound is passed, or a series does not read back.
pub(crate) fn check(bytes: &[u8]) -> SeriesTotals {
    let text = String::from_utf8_lossy(bytes);
    let series = parse(&text);
    assert!(series.values.len() <= SERIES_MAX);
    let lines = series.values.len() as u64 + series.lines_wrong + series.left_out;
    assert!(lines <= text.lines().count() as u64);
    for (name, value) in &series.values {
        let again = parse(&format!("{name} {value}"));
        let [(name_again, value_again)] = again.values.as_slice() else {
            panic!("{name} {value} does not read back");
        };
        assert_eq!(name_again, name);
        assert!(value_again == value || value_again.is_nan() && value.is_nan());
    }
    SeriesTotals { series: series.values.len(), wrong: series.lines_wrong }
}

//! How much of the process' memory options may take. Each name and expression of them is there several times once a test runs, so
//! that a script's options must not be as large as its data.

use serde_json::{Map, Value};

use super::error::{Result, wrong};

/// Scenarios, and metrics that have thresholds, at most.
const ENTRIES_MAX: usize = 10_000;
/// Of what the process may take, bytes that there are for each of them at least.
const ENTRY_BYTES: usize = 64 << 10;
/// Bytes of options as JSON, at most, and no more than a 64th of what the process may take.
const JSON_BYTES_MAX: usize = 32 << 20;

/// Checks the size of options before they are read.
///
/// # Errors
/// They are longer than there is memory for.
pub(super) fn bound_json(json: &str) -> Result<()> {
    let most = stdx::within_memory(JSON_BYTES_MAX, 64);
    if json.len() <= most {
        return Ok(());
    }
    wrong(format!(
        "options have {} KiB, and may have {} ({})",
        json.len() >> 10,
        most >> 10,
        limits()
    ))
}

/// Checks how many there are of something that each costs memory while the test runs.
///
/// # Errors
/// There are more than there is memory for.
pub(super) fn bound_entries(option: &str, list: &Map<String, Value>) -> Result<()> {
    let most = ENTRIES_MAX.min(stdx::memory_limit() / ENTRY_BYTES);
    if list.len() <= most {
        return Ok(());
    }
    wrong(format!("{option} has {} entries, and may have {most} ({})", list.len(), limits()))
}

/// By what the bounds are set.
fn limits() -> String {
    match stdx::memory_limit() {
        usize::MAX => "no memory limit is set".to_owned(),
        _ => stdx::memory_limit_in_words(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Options;
    use super::*;

    fn error(json: &str) -> String {
        let options = Options::exported(Some(json)).and_then(Options::of);
        options.map(|_| ()).map_err(|error| error.0).expect_err("too much")
    }

    /// 20,000 thresholds with names of 2 kB took 274 MB within 128, and compared each with each.
    #[test]
    fn issue_42_options_are_bounded() {
        let many = |entry: &dyn Fn(usize) -> String| {
            (0..=ENTRIES_MAX).map(entry).collect::<Vec<_>>().join(",")
        };
        let thresholds = many(&|at| format!(r#""http_req_duration{{a:{at}}}":["p(95)<1"]"#));
        let text = error(&format!(r#"{{"thresholds":{{{thresholds}}}}}"#));
        assert!(text.starts_with("thresholds has 10001 entries, and may have 10000"), "{text}");
        let scenarios = many(&|at| {
            format!(r#""s{at}":{{"executor":"shared-iterations","iterations":1,"vus":1}}"#)
        });
        let text = error(&format!(r#"{{"scenarios":{{{scenarios}}}}}"#));
        assert!(text.starts_with("scenarios has 10001 entries"), "{text}");
        let long = "x".repeat(JSON_BYTES_MAX);
        let text = error(&format!(r#"{{"tags":{{"a":"{long}"}}}}"#));
        assert!(text.starts_with("options have 32768 KiB, and may have 32768"), "{text}");
        let few = r#"{"thresholds":{"http_reqs":["count>1"]}}"#;
        assert!(Options::exported(Some(few)).and_then(Options::of).is_ok());
    }
}

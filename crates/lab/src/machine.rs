//! Facts of the machine that a study runs on, for its report.

use std::fs;
use std::thread::available_parallelism;

/// Facts of the machine by name, in the order of the report, as far as the system provides them.
#[must_use]
pub(crate) fn facts() -> Vec<(String, String)> {
    let first = |path: &str| fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
    let kernel = match (first("/proc/sys/kernel/ostype"), first("/proc/sys/kernel/osrelease")) {
        (Some(system), Some(release)) => Some(format!("{system} {release}")),
        _ => Some(std::env::consts::OS.to_owned()),
    };
    let cores = available_parallelism().ok().map(|cores| cores.to_string());
    let model =
        fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| after(&text, "model name"));
    let memory = fs::read_to_string("/proc/meminfo").ok().and_then(|text| after(&text, "MemTotal"));
    let memory = memory.and_then(|text| memory_words(&text));
    let all = [
        ("host", first("/proc/sys/kernel/hostname")),
        ("kernel", kernel),
        ("architecture", Some(std::env::consts::ARCH.to_owned())),
        ("processor", model),
        ("cores", cores),
        ("memory", memory),
        ("brunt", Some(env!("CARGO_PKG_VERSION").to_owned())),
    ];
    let known = all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    known.filter(|(_, value)| !value.is_empty()).collect()
}

/// The load average of the last minute; `None` if the system does not provide it.
#[must_use]
pub(crate) fn load_average() -> Option<f64> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// The value after `NAME :` in a table of `/proc`.
fn after(table: &str, name: &str) -> Option<String> {
    let line = table.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// `16316412 kB` in GiB.
fn memory_words(text: &str) -> Option<String> {
    let kilobytes: f64 = text.trim_end_matches("kB").trim().parse().ok()?;
    Some(format!("{:.1} GiB", kilobytes / f64::from(1 << 20)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_have_names() {
        let facts = facts();
        let brunt = facts.iter().find(|(name, _)| name == "brunt").unwrap();
        assert_eq!(brunt.1, env!("CARGO_PKG_VERSION"));
        assert!(facts.iter().any(|(name, _)| name == "kernel"), "{facts:?}");
        assert_eq!(after("a : 1\nmodel name\t: X y\n", "model name").as_deref(), Some("X y"));
        assert_eq!(memory_words("16777216 kB").as_deref(), Some("16.0 GiB"));
        if cfg!(target_os = "linux") {
            assert!(load_average().is_some_and(|load| load >= 0.0));
        }
    }
}

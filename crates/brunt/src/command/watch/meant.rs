//! What the flags of watching mean.

use monitor::Target;
use session::MonitorConfig;

use crate::flags::watch::Watched;

/// The message for flags that say how to watch, where nothing is watched.
pub(crate) const STRAY: &str =
    "-watch-every and -watch-log-pattern say how to watch, and nothing is watched (give -watch)";

/// What the flags mean.
pub(crate) fn monitor_config(watched: &Watched) -> MonitorConfig {
    let mut targets = watched.targets.clone();
    for target in &mut targets {
        if let Target::Log(log) = target {
            log.pattern = pattern(&log.kind, watched);
        }
    }
    let config = MonitorConfig::new(targets, watched.host.clone());
    MonitorConfig { every: watched.every.into(), ..config }
}

/// What the flags mean beside a run: nothing, unless they were given.
pub(crate) fn monitor_beside(watched: &Watched) -> Option<MonitorConfig> {
    watched.is_asked().then(|| monitor_config(watched))
}

/// The pattern goes to the logs of kinds that are not known; to those whose last column it can name, where it is a column
/// (`%D`), or where no other log could have it.
fn pattern(kind: &str, watched: &Watched) -> Option<String> {
    let is_own = |target: &Target| match target {
        Target::Log(log) => !monitor::log::KINDS.contains(&log.kind.as_str()),
        _ => false,
    };
    let takes = |pattern: &&String| match kind {
        "apache" | "lighttpd" => pattern.starts_with('%') || !watched.targets.iter().any(is_own),
        known => !monitor::log::KINDS.contains(&known),
    };
    watched.pattern.as_ref().filter(takes).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use monitor::Log;

    fn check(pattern: &str, kinds: &[(&str, bool)]) {
        let log = |kind: &str| Log { kind: kind.into(), path: "x".into(), pattern: None };
        let targets = kinds.iter().map(|(kind, _)| Target::Log(log(kind))).collect();
        let watched = Watched { targets, pattern: Some(pattern.into()), ..Watched::default() };
        for (target, (kind, expected)) in
            monitor_config(&watched).settings.targets.iter().zip(kinds)
        {
            let Target::Log(log) = target else { panic!("{target:?}") };
            assert_eq!(log.pattern.is_some(), *expected, "{kind}: {pattern}");
        }
    }

    #[test]
    fn a_pattern_goes_to_the_logs_that_can_have_it() {
        let expression = "(?<total_ms>[0-9]+)";
        check(expression, &[("apache", false), ("own", true), ("rails", false)]);
        check("%T", &[("apache", true), ("lighttpd", true), ("nginx", false)]);
        // Refused there, and so not silently left aside.
        check(expression, &[("apache", true), ("puma", false)]);
    }
}

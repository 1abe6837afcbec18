//! The flags of watching a server beside a run (`-watch…`), which `watch` has under shorter names, and what they come to.

use cli::{Flag, ValueError, ValueKind, value};
use monitor::{Log, Target};
use stdx::Nanos;

use crate::monitor_config::MonitorConfig;

/// The time between two samples where no flag says it.
const EVERY: Nanos = Nanos::from_secs(1);

/// What is watched, and how often.
#[derive(Clone, Debug, PartialEq)]
pub struct MonitorTargets {
    /// The flag that asks for watching beside a run was given.
    pub machine: bool,
    /// The processes, endpoints and logs to watch.
    pub targets: Vec<Target>,
    /// The pattern of lines of a log of an unknown kind.
    pub pattern: Option<String>,
    /// The time between two samples.
    pub every: Nanos,
    /// The name of the machine; `None` is its own.
    pub host: Option<String>,
}

impl Default for MonitorTargets {
    fn default() -> Self {
        Self { machine: false, targets: Vec::new(), pattern: None, every: EVERY, host: None }
    }
}

impl MonitorTargets {
    /// Whether watching beside a run was asked for.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.machine || !self.targets.is_empty()
    }

    /// Whether it was only said how to watch, and nothing is watched.
    #[must_use]
    pub fn is_stray(&self) -> bool {
        !self.is_asked() && (self.pattern.is_some() || self.every != EVERY)
    }
}

/// Flags among which are those of watching.
pub trait Watches {
    /// What is watched.
    fn watched(&mut self) -> &mut MonitorTargets;
}

/// Something to watch: the flag's name in `watch`, beside a run, its value's word, its docs, and how its value is read.
macro_rules! target {
    ($function:ident, $value:literal, $docs:literal, $read:expr) => {
        /// The flag, called as it is in its command.
        pub const fn $function<T: Watches>(name: &'static str) -> Flag<T> {
            Flag::new(name, ValueKind::Text($value), "", $docs, |flags: &mut T, text| {
                let read: fn(&str) -> Result<Target, ValueError> = $read;
                read(text).map(|target| flags.watched().targets.push(target))
            })
            .native()
        }
    };
}

target!(
    pid,
    "N",
    "Monitor the process of this id, with its descendants. May be repeated.",
    |text| {
        value::count(text).and_then(|pid| {
            let wrong = |_| ValueError::new(format!("\"{text}\" is not a process id"));
            u32::try_from(pid).map(Target::Pid).map_err(wrong)
        })
    }
);
target!(
    name,
    "NAME",
    "Monitor processes of this name, with their descendants. May be repeated.",
    |text| { given(text, "a name").map(|name| Target::Name(name.to_owned())) }
);
target!(
    port,
    "N",
    "Monitor processes that listen on this TCP port, with their descendants. May be repeated.",
    |text| {
        let wrong = |_| ValueError::new(format!("\"{text}\" is not a port (expected 1 to 65535)"));
        text.parse::<std::num::NonZeroU16>().map(|port| Target::Port(port.get())).map_err(wrong)
    }
);
target!(
    cgroup,
    "PATH",
    "Monitor this control group, e.g. /system.slice/puma.service. May be repeated.",
    |text| { given(text, "a path").map(|path| Target::Cgroup(path.to_owned())) }
);
target!(scrape, "URL", "Scrape this Prometheus endpoint (http). May be repeated.", |text| {
    given(text, "a URL").map(|url| Target::Scrape(url.to_owned()))
});
target!(
    log,
    "KIND:FILE",
    "Follow this log: rails, rails2, nginx, apache, lighttpd, puma, or another name with a pattern.",
    |text| {
        let wrong = || {
            ValueError::new(format!(
                "\"{text}\" is not KIND:FILE (for example rails:log/production.log)"
            ))
        };
        let (kind, path) = text.split_once(':').ok_or_else(wrong)?;
        if kind.is_empty() || path.is_empty() {
            return Err(wrong());
        }
        let (kind, path) = (kind.to_owned(), path.to_owned());
        Ok(Target::Log(Log { kind, path, pattern: None }))
    }
);

/// The text, which must not be empty.
///
/// # Errors
/// It is empty; the error names `what` is needed.
pub fn given<'a>(text: &'a str, what: &str) -> Result<&'a str, ValueError> {
    if text.is_empty() { Err(ValueError::new(format!("{what} is needed"))) } else { Ok(text) }
}

/// The pattern of logs of other kinds.
pub const fn pattern<T: Watches>(name: &'static str) -> Flag<T> {
    const DOCS: &str = "Pattern for logs of other names: a regular expression with named groups; apache, lighttpd: %D, %T, %{ms}T.";
    Flag::new(name, ValueKind::Text("REGEX"), "", DOCS, |flags: &mut T, text| {
        flags.watched().pattern = Some(given(text, "an expression")?.to_owned());
        Ok(())
    })
    .native()
}

/// How often is looked.
pub const fn every<T: Watches>(name: &'static str) -> Flag<T> {
    Flag::new(
        name,
        ValueKind::Duration,
        "1s",
        "Time between two samples; 100ms or more.",
        |flags: &mut T, text| {
            let every = value::duration(text)?;
            if every < EVERY_MIN {
                return Err(ValueError::new(format!(
                    "{every} is too short (expected 100ms or more)"
                )));
            }
            flags.watched().every = every;
            Ok(())
        },
    )
    .native()
}

/// The shortest time between two looks.
const EVERY_MIN: Nanos = Nanos::from_millis(100);

/// Watching beside a run: this machine.
pub const fn machine<T: Watches>() -> Flag<T> {
    const DOCS: &str = "Also monitor this machine (load, CPU, memory, network, disks) and write the samples into the results.";
    Flag::new("watch", ValueKind::Switch, "", DOCS, |flags: &mut T, text| {
        value::switch(text).map(|on| flags.watched().machine = on)
    })
    .native()
}

/// The rows of commands that watch a server beside a run.
#[must_use]
pub const fn beside<T: Watches>() -> [Flag<T>; 9] {
    [
        machine(),
        pid("watch-pid"),
        name("watch-name"),
        port("watch-port"),
        cgroup("watch-cgroup"),
        scrape("watch-scrape"),
        log("watch-log"),
        pattern("watch-log-pattern"),
        every("watch-every"),
    ]
}

/// The message for flags that say how to watch, where nothing is watched.
pub const STRAY: &str =
    "-watch-every and -watch-log-pattern say how to watch, and nothing is watched (give -watch)";

/// What the flags mean.
pub fn monitor_config(watched: &MonitorTargets) -> MonitorConfig {
    let mut targets = watched.targets.clone();
    for target in &mut targets {
        if let Target::Log(log) = target {
            log.pattern = pattern_of(&log.kind, watched);
        }
    }
    let config = MonitorConfig::new(targets, watched.host.clone());
    MonitorConfig { every: watched.every.into(), ..config }
}

/// What the flags mean beside a run: nothing, unless they were given.
pub fn monitor_beside(watched: &MonitorTargets) -> Option<MonitorConfig> {
    watched.is_asked().then(|| monitor_config(watched))
}

/// The pattern goes to the logs of kinds that are not known; to those whose last column it can name, where it is a column
/// (`%D`), or where no other log could have it.
fn pattern_of(kind: &str, watched: &MonitorTargets) -> Option<String> {
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

    fn check(pattern: &str, kinds: &[(&str, bool)]) {
        let log = |kind: &str| Log { kind: kind.into(), path: "x".into(), pattern: None };
        let targets = kinds.iter().map(|(kind, _)| Target::Log(log(kind))).collect();
        let watched =
            MonitorTargets { targets, pattern: Some(pattern.into()), ..MonitorTargets::default() };
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

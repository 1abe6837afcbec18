//! The flags of `watch`, and those of the commands beside which it runs (`-watch…`).

use cli::{Flag, ValueError, ValueKind, switch, text, value};
use monitor::{Log, Target};
use stdx::Nanos;

/// How often is looked where nobody says.
const EVERY: Nanos = Nanos::from_secs(1);

/// The flags of `watch` as typed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct WatchFlags {
    /// What is watched, and how often.
    pub(crate) watched: Watched,
    pub(crate) duration: Option<Nanos>,
    pub(crate) output: Option<String>,
    pub(crate) to: Option<String>,
    pub(crate) loadavg: Option<String>,
    pub(crate) requests: Option<String>,
    pub(crate) date: Option<String>,
    pub(crate) json: bool,
    pub(crate) quiet: bool,
}

/// What is watched, and how often.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Watched {
    /// The flag that asks for watching beside a run was given.
    pub(crate) machine: bool,
    pub(crate) targets: Vec<Target>,
    /// How the lines of a log look whose kind does not say it.
    pub(crate) pattern: Option<String>,
    pub(crate) every: Nanos,
    /// The name of the machine; `None` is its own.
    pub(crate) host: Option<String>,
}

impl Default for Watched {
    fn default() -> Self {
        Self { machine: false, targets: Vec::new(), pattern: None, every: EVERY, host: None }
    }
}

impl Watched {
    /// Whether watching beside a run was asked for.
    #[must_use]
    pub(crate) fn is_asked(&self) -> bool {
        self.machine || !self.targets.is_empty()
    }

    /// Whether it was only said how to watch, and nothing is watched.
    #[must_use]
    pub(crate) fn is_stray(&self) -> bool {
        !self.is_asked() && (self.pattern.is_some() || self.every != EVERY)
    }
}

/// Flags among which are those of watching.
pub(crate) trait Watches {
    /// What is watched.
    fn watched(&mut self) -> &mut Watched;
}

impl Watches for WatchFlags {
    fn watched(&mut self) -> &mut Watched {
        &mut self.watched
    }
}

/// Something to watch: the flag's name in `watch`, beside a run, its value's word, its docs, and how its value is read.
macro_rules! target {
    ($function:ident, $value:literal, $docs:literal, $read:expr) => {
        /// The flag, called as it is in its command.
        pub(crate) const fn $function<T: Watches>(name: &'static str) -> Flag<T> {
            Flag::new(name, ValueKind::Text($value), "", $docs, |flags: &mut T, text| {
                let read: fn(&str) -> Result<Target, ValueError> = $read;
                read(text).map(|target| flags.watched().targets.push(target))
            })
            .native()
        }
    };
}

target!(pid, "N", "A process by its number, with all it started. May be repeated.", |text| {
    value::count(text).and_then(|pid| {
        let wrong = |_| ValueError::new(format!("\"{text}\" is no number of a process"));
        u32::try_from(pid).map(Target::Pid).map_err(wrong)
    })
});
target!(name, "NAME", "Processes by their name, with all they started. May be repeated.", |text| {
    given(text, "a name").map(|name| Target::Name(name.to_owned()))
});
target!(
    port,
    "N",
    "Processes that listen on this TCP port, with all they started. May be repeated.",
    |text| {
        let wrong = |_| ValueError::new(format!("\"{text}\" is no port (expected 1 to 65535)"));
        text.parse::<std::num::NonZeroU16>().map(|port| Target::Port(port.get())).map_err(wrong)
    }
);
target!(
    cgroup,
    "PATH",
    "A control group, as /system.slice/puma.service. May be repeated.",
    |text| { given(text, "a path").map(|path| Target::Cgroup(path.to_owned())) }
);
target!(scrape, "URL", "A Prometheus endpoint (http). May be repeated.", |text| {
    given(text, "a URL").map(|url| Target::Scrape(url.to_owned()))
});
target!(
    log,
    "KIND:FILE",
    "A log: rails, rails2, nginx, apache, lighttpd, puma, or a name of its own with a pattern.",
    |text| {
        let wrong = || {
            ValueError::new(format!("\"{text}\" is not KIND:FILE (as rails:log/production.log)"))
        };
        let (kind, path) = text.split_once(':').ok_or_else(wrong)?;
        if kind.is_empty() || path.is_empty() {
            return Err(wrong());
        }
        let (kind, path) = (kind.to_owned(), path.to_owned());
        Ok(Target::Log(Log { kind, path, pattern: None }))
    }
);

fn given<'a>(text: &'a str, what: &str) -> Result<&'a str, ValueError> {
    if text.is_empty() { Err(ValueError::new(format!("{what} is needed"))) } else { Ok(text) }
}

/// The pattern of logs of other kinds.
pub(crate) const fn pattern<T: Watches>(name: &'static str) -> Flag<T> {
    const DOCS: &str = "A regular expression with named groups, for logs of other kinds; %D, %T or %{ms}T for apache, lighttpd.";
    Flag::new(name, ValueKind::Text("REGEX"), "", DOCS, |flags: &mut T, text| {
        flags.watched().pattern = Some(given(text, "an expression")?.to_owned());
        Ok(())
    })
    .native()
}

/// How often is looked.
pub(crate) const fn every<T: Watches>(name: &'static str) -> Flag<T> {
    Flag::new(
        name,
        ValueKind::Duration,
        "1s",
        "How often to look; 100ms or more.",
        |flags: &mut T, text| {
            let every = value::duration(text)?;
            if every < EVERY_MIN {
                return Err(ValueError::new(format!("{every} is too often (100ms or more)")));
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
pub(crate) const fn machine<T: Watches>() -> Flag<T> {
    const DOCS: &str =
        "Watch this machine too, into the results: load, CPU, memory, network, disks.";
    Flag::new("watch", ValueKind::Switch, "", DOCS, |flags: &mut T, text| {
        value::switch(text).map(|on| flags.watched().machine = on)
    })
    .native()
}

/// The flags of `watch`.
pub(crate) const WATCH: &[Flag<WatchFlags>] = &[
    pid("pid"),
    name("name"),
    port("port"),
    cgroup("cgroup"),
    scrape("scrape"),
    log("log"),
    pattern("log-pattern"),
    every("every"),
    Flag::new(
        "duration",
        ValueKind::Duration,
        "until interrupted",
        "How long to watch.",
        |t: &mut WatchFlags, v| value::duration(v).map(|d| t.duration = Some(d)),
    )
    .native(),
    text!(
        WatchFlags,
        "output",
        "FILE",
        "File for what is seen, native (.arrow, .parquet); - is standard output.",
        output
    )
    .native(),
    Flag::new(
        "to",
        ValueKind::Choice(&["arrow", "parquet"]),
        "by the file's ending",
        "Format of the output.",
        |t: &mut WatchFlags, v| value::word(v, &["arrow", "parquet"]).map(|word| t.to = Some(word)),
    )
    .native(),
    text!(
        WatchFlags,
        "loadavg",
        "FILE",
        "File for the load averages, as CSV: a line for each look.",
        loadavg
    )
    .native(),
    text!(
        WatchFlags,
        "requests",
        "FILE",
        "File for the requests that logs tell of, as CSV: total,render,db,url.",
        requests
    )
    .native(),
    Flag::new(
        "host",
        ValueKind::Text("NAME"),
        "its own name",
        "What this machine is called in the rows.",
        |t: &mut WatchFlags, v| {
            t.watched.host = Some(given(v, "a name")?.to_owned());
            Ok(())
        },
    )
    .native(),
    text!(
        WatchFlags,
        "date",
        "URL",
        "Measure how far this server's clock is from ours, by its Date header.",
        date
    )
    .native(),
    switch!(WatchFlags, "json", "Print each row as a line of JSON.", json).native(),
    switch!(WatchFlags, "q", "Print nothing.", quiet).native().also(&["quiet"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn read(flag: Flag<WatchFlags>, text: &str) -> Result<Target, String> {
        let mut flags = WatchFlags::default();
        (flag.set)(&mut flags, text).map_err(|wrong| wrong.native)?;
        Ok(flags.watched.targets[0].clone())
    }

    #[test]
    fn targets_are_read() {
        assert_eq!(read(pid("pid"), "17"), Ok(Target::Pid(17)));
        assert_eq!(read(port("port"), "80"), Ok(Target::Port(80)));
        let log_of = read(log("log"), "rails:C:/x.log");
        let expected = Log { kind: "rails".into(), path: "C:/x.log".into(), pattern: None };
        assert_eq!(log_of, Ok(Target::Log(expected)));
        for (flag, text) in [
            (pid("pid"), "0"),
            (pid("pid"), "5000000000"),
            (port("port"), "0"),
            (port("port"), "65536"),
            (name("name"), ""),
            (log("log"), "x.log"),
            (log("log"), ":x.log"),
            (log("log"), "rails:"),
        ] {
            assert!(read(flag, text).is_err(), "{text}");
        }
    }

    #[test]
    fn all_stand_beside_a_run() {
        fn beside<T>(table: &[Flag<T>]) -> Vec<&'static str> {
            let names = table.iter().map(|flag| flag.row.name);
            names.filter(|name| name.starts_with("watch")).collect()
        }
        let attack = beside(crate::load::attack::flags::FLAGS);
        assert_eq!(attack.len(), 9);
        assert_eq!(beside(crate::load::bench::flags::FLAGS), attack);
        assert_eq!(beside(crate::load::cable::flags::FLAGS), attack);
    }

    #[test]
    fn looking_has_a_shortest_time() {
        let mut flags = WatchFlags::default();
        assert!((every("every").set)(&mut flags, "10ms").is_err());
        assert_eq!((every("every").set)(&mut flags, "250ms"), Ok(()));
        assert_eq!(flags.watched.every, Nanos::from_millis(250));
        assert!(!flags.watched.is_asked() && flags.watched.is_stray());
    }
}

//! The flags of `watch`.

use cli::{Flag, ValueKind, switch, text, value};
use session::monitor_flags::{
    MonitorTargets, Watches, cgroup, every, given, log, name, pattern, pid, port, scrape,
};
use stdx::Nanos;

/// The flags of `watch` as typed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct WatchFlags {
    /// What is watched, and how often.
    pub(crate) watched: MonitorTargets,
    pub(crate) duration: Option<Nanos>,
    pub(crate) output: Option<String>,
    pub(crate) to: Option<String>,
    pub(crate) loadavg: Option<String>,
    pub(crate) requests: Option<String>,
    pub(crate) date: Option<String>,
    pub(crate) json: bool,
    pub(crate) quiet: bool,
}

impl Watches for WatchFlags {
    fn watched(&mut self) -> &mut MonitorTargets {
        &mut self.watched
    }
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
        "How long to monitor.",
        |t: &mut WatchFlags, v| value::duration(v).map(|d| t.duration = Some(d)),
    )
    .native(),
    text!(
        WatchFlags,
        "output",
        "FILE",
        "File for the samples (.arrow, .parquet); -: standard output.",
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
        "File for the load averages, as CSV: a line per sample.",
        loadavg
    )
    .native(),
    text!(
        WatchFlags,
        "requests",
        "FILE",
        "File for the requests found in logs, as CSV: total,render,db,url.",
        requests
    )
    .native(),
    Flag::new(
        "host",
        ValueKind::Text("NAME"),
        "its own name",
        "Name of this machine in the rows.",
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
        "Measure the difference of this server's clock, from its Date header.",
        date
    )
    .native(),
    switch!(WatchFlags, "json", "Print each row as a line of JSON.", json).native(),
    switch!(WatchFlags, "q", "Print nothing.", quiet).native().also(&["quiet"]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use monitor::{Log, Target};

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

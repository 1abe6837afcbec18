//! The flags of `run`, by k6's names.

use stdx::Nanos;

use super::{Flag, Kind, Wrong, value};

/// The flags of `run` as typed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RunFlags {
    pub(crate) vus: Option<u64>,
    pub(crate) duration: Option<Nanos>,
    pub(crate) iterations: Option<u64>,
    pub(crate) stages: Vec<(Nanos, u64)>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) summary_export: Option<String>,
    pub(crate) trend_stats: Option<Vec<String>>,
    pub(crate) quiet: bool,
    pub(crate) no_setup: bool,
    pub(crate) no_teardown: bool,
    pub(crate) no_thresholds: bool,
    pub(crate) no_summary: bool,
}

/// The flags of `run`.
pub(crate) const RUN: &[Flag<RunFlags>] = &[
    Flag::new("u", Kind::Text("N"), "1", "Virtual users.", |t: &mut RunFlags, v| {
        value::count(v).map(|n| t.vus = Some(n))
    })
    .native()
    .also(&["vus"]),
    Flag::new("d", Kind::Duration, "", "How long iterations are begun.", |t: &mut RunFlags, v| {
        value::duration(v).map(|d| t.duration = Some(d))
    })
    .native()
    .also(&["duration"]),
    Flag::new(
        "i",
        Kind::Text("N"),
        "",
        "Iterations of all users together.",
        |t: &mut RunFlags, v| value::count(v).map(|n| t.iterations = Some(n)),
    )
    .native()
    .also(&["iterations"]),
    Flag::new(
        "s",
        Kind::Text("TIME:N"),
        "",
        "A stage: in this time, go to so many users. Several stages follow each other.",
        |t: &mut RunFlags, v| {
            v.split(',').try_for_each(|stage| self::stage(stage).map(|stage| t.stages.push(stage)))
        },
    )
    .native()
    .also(&["stage"]),
    Flag::new(
        "e",
        Kind::Text("NAME=VALUE"),
        "",
        "A variable for the script, in __ENV. May be repeated.",
        |t: &mut RunFlags, v| match v.split_once('=') {
            Some((name, value)) => {
                t.env.push((name.to_owned(), value.to_owned()));
                Ok(())
            }
            None => Err(Wrong::new("expected NAME=VALUE")),
        },
    )
    .native()
    .also(&["env"]),
    Flag::new(
        "summary-export",
        Kind::Text("FILE"),
        "",
        "Write the summary to a file as JSON, in k6's form.",
        |t: &mut RunFlags, v| {
            t.summary_export = Some(v.to_owned());
            Ok(())
        },
    )
    .native(),
    Flag::new(
        "summary-trend-stats",
        Kind::Text("LIST"),
        "avg,min,med,max,p(90),p(95)",
        "The statistics of trends; count and any p(N) as well.",
        |t: &mut RunFlags, v| {
            t.trend_stats = Some(v.split(',').map(|stat| stat.trim().to_owned()).collect());
            Ok(())
        },
    )
    .native(),
    Flag::new("q", Kind::Switch, "", "Do not say what is about to run.", |t: &mut RunFlags, v| {
        value::switch(v).map(|on| t.quiet = on)
    })
    .native()
    .also(&["quiet"]),
    Flag::new("no-setup", Kind::Switch, "", "Do not call setup().", |t: &mut RunFlags, v| {
        value::switch(v).map(|on| t.no_setup = on)
    })
    .native(),
    Flag::new("no-teardown", Kind::Switch, "", "Do not call teardown().", |t: &mut RunFlags, v| {
        value::switch(v).map(|on| t.no_teardown = on)
    })
    .native(),
    Flag::new("no-thresholds", Kind::Switch, "", "Judge no thresholds.", |t: &mut RunFlags, v| {
        value::switch(v).map(|on| t.no_thresholds = on)
    })
    .native(),
    Flag::new("no-summary", Kind::Switch, "", "Print no summary.", |t: &mut RunFlags, v| {
        value::switch(v).map(|on| t.no_summary = on)
    })
    .native(),
    Flag::new(
        "no-usage-report",
        Kind::Switch,
        "",
        "Accepted as k6's: brunt never reports on its users.",
        |_: &mut RunFlags, v| value::switch(v).map(drop),
    )
    .native(),
];

/// `30s:10`: in 30 s, go to 10 users.
fn stage(text: &str) -> Result<(Nanos, u64), Wrong> {
    let parts = text.trim().split_once(':');
    let (time, target) = parts.ok_or_else(|| Wrong::new("expected TIME:USERS, as 30s:10"))?;
    Ok((value::duration(time)?, value::number(target)?))
}

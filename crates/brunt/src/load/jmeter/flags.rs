//! The flags of `run` that a plan of JMeter's has. The others of `run` say what scripts do, and are refused by their names.

use cli::{Flag, ValueError, ValueKind, flag_table, value};
use jmeter::LogLevel;
use jmx::UnknownScripts;
use session::monitor_flags::{self as watch, MonitorTargets, Watches};
use session::save::{self, SaveFlags, Saves};

use crate::load::flags::{DisplayFlags, ResultsFlags, display, holds};

/// The flags of a plan as typed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PlanFlags {
    pub(super) results: ResultsFlags,
    pub(super) display: DisplayFlags,
    pub(super) watched: MonitorTargets,
    pub(super) saving: SaveFlags,
    /// JMeter's properties.
    pub(super) properties: Vec<(String, String)>,
    /// Scripts that are not understood.
    pub(super) unknown_scripts: UnknownScripts,
    /// The least level of the log that is shown.
    pub(super) log_level: LogLevel,
}

impl Default for PlanFlags {
    fn default() -> Self {
        Self {
            results: ResultsFlags::default(),
            display: DisplayFlags::default(),
            watched: MonitorTargets::default(),
            saving: SaveFlags::default(),
            properties: Vec::new(),
            unknown_scripts: UnknownScripts::Refused,
            log_level: LogLevel::Warn,
        }
    }
}

holds!(PlanFlags: results: ResultsFlags, display: DisplayFlags);

impl Saves for PlanFlags {
    fn saving(&mut self) -> &mut SaveFlags {
        &mut self.saving
    }
}

impl Watches for PlanFlags {
    fn watched(&mut self) -> &mut MonitorTargets {
        &mut self.watched
    }
}

/// The flags of a plan. Each is a flag of `run` as well.
pub(super) const FLAGS: &[Flag<PlanFlags>] = flag_table!(PlanFlags:
    OWN,
    &display::fails(),
    &[display::prometheus_addr(), display::quiet(), display::web(), display::tui()],
    &[save::report()],
    &save::rows(),
    &watch::beside(),
);

const OWN: &[Flag<PlanFlags>] = &[
    Flag::new("J", ValueKind::Text("NAME=VALUE"), "", "", |t: &mut PlanFlags, v| {
        let (name, value) = v.split_once('=').ok_or_else(|| {
            ValueError::new(format!("\"{v}\" has no value (expected NAME=VALUE)"))
        })?;
        t.properties.push((name.to_owned(), value.to_owned()));
        Ok(())
    })
    .native(),
    Flag::new("skip-scripts", ValueKind::Switch, "", "", |t: &mut PlanFlags, v| {
        let leaves_out = value::switch(v)?;
        t.unknown_scripts =
            if leaves_out { UnknownScripts::LeftOut } else { UnknownScripts::Refused };
        Ok(())
    })
    .native(),
    Flag::new("v", ValueKind::Switch, "", "", |t: &mut PlanFlags, v| {
        value::switch(v).map(|on| t.log_level = if on { LogLevel::Info } else { LogLevel::Warn })
    })
    .native()
    .also(&["verbose"]),
    Flag::new("o", ValueKind::Text("NAME=ARG"), "", "", output).native().also(&["out"]),
];

/// A file of results, or a server that samples are sent to. The samples of k6's own forms have tags of scripts.
fn output(flags: &mut PlanFlags, text: &str) -> Result<(), ValueError> {
    let name = text.split('=').next().unwrap_or_default();
    if ["json", "csv"].contains(&name) {
        let text = format!(
            "{name}: has the samples of scripts (give -o results.arrow, or .csv, .json, .parquet)"
        );
        return Err(ValueError::new(text));
    }
    if outputs::NAMES.contains(&name) {
        flags.results.sent_to.push(text.to_owned());
    } else {
        flags.results.output = Some(text.to_owned());
    }
    Ok(())
}

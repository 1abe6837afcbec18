//! `RunFlags`: the flags of `run` as typed. Those that are options of a script are kept as such: they are the layer above all
//! others.

use cli::ValueError;
use engine::IoChoice;
use metrics::Gates;
use remote::flags::{FleetFlags, SendsFromFleet};
use script::{Fields, ValueFormat};
use serde_json::{Map, Value};
use session::OnInvalid;
use session::monitor_flags::{MonitorTargets, Watches};
use session::save::{SaveFlags, Saves};

/// The flags of `run` as typed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RunFlags {
    /// The options of a script that flags say.
    pub(crate) options: Fields,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) include_system_env: Option<bool>,
    pub(crate) config: Option<String>,
    pub(crate) script_type: Option<String>,
    pub(crate) compatibility: Option<String>,
    pub(crate) outputs: Vec<String>,
    pub(crate) summary_export: Option<String>,
    pub(crate) summary_mode: Option<String>,
    pub(crate) machine_readable: Option<bool>,
    pub(crate) no_summary: Option<bool>,
    pub(crate) no_thresholds: Option<bool>,
    pub(crate) linger: Option<bool>,
    pub(crate) traces: Option<String>,
    pub(crate) address: Option<String>,
    pub(crate) log_format: Option<String>,
    pub(crate) log_output: Option<String>,
    pub(crate) secret_sources: Vec<String>,
    pub(crate) quiet: bool,
    /// The address of the live page; empty for any that is free.
    pub(crate) web: Option<String>,
    /// Whether the run is shown on the whole terminal.
    pub(crate) tui: bool,
    /// The address that serves live metrics.
    pub(crate) prometheus_addr: Option<String>,
    pub(crate) verbose: bool,
    pub(crate) no_color: Option<bool>,
    /// k6's behaviour where ours is stricter.
    pub(crate) compat: bool,
    /// VUs whose sockets are refused go on at once.
    pub(crate) no_backoff: bool,
    pub(crate) io: IoChoice,
    /// Folders that scripts may read besides their own.
    pub(crate) allow_read: Vec<String>,
    /// `--allow-write`.
    pub(crate) allow_write: Vec<String>,
    /// `inspect --execution-requirements`.
    pub(crate) requirements: bool,
    /// `archive -O`.
    pub(crate) archive_out: Option<String>,
    /// `archive --exclude-env-vars`.
    pub(crate) exclude_env: bool,
    /// Properties of JMeter's, which scripts do not have.
    pub(crate) properties: Vec<String>,
    /// Scripts of JMeter's plans are left out where they are not understood.
    pub(crate) skip_scripts: bool,
    /// What is watched beside the run.
    pub(crate) watched: MonitorTargets,
    /// The conditions under which the run fails, beside the script's thresholds.
    pub(crate) gates: Gates,
    /// Whether an INVALID verdict decides the exit code.
    pub(crate) on_invalid: OnInvalid,
    /// The machines that run the scenarios, where it is not this one.
    pub(crate) fleet: FleetFlags,
    /// Whether and where the store keeps the run.
    pub(crate) saving: SaveFlags,
    /// Nothing is fetched from the network.
    pub(crate) offline: bool,
    /// The command is `vendor`: what the lock of modules does not have is fetched.
    pub(crate) vendors: bool,
    /// Modules are fetched though the lock has them.
    pub(crate) updates: bool,
    /// The form of the findings of `lint`.
    pub(crate) lint_format: String,
    /// The rules that `lint` leaves out.
    pub(crate) lint_skip: Vec<String>,
    /// Neither the environment nor files of this machine say anything: the archive is another machine's.
    pub(crate) is_part: bool,
}

impl SendsFromFleet for RunFlags {
    fn fleet(&mut self) -> &mut FleetFlags {
        &mut self.fleet
    }
}

impl Saves for RunFlags {
    fn saving(&mut self) -> &mut SaveFlags {
        &mut self.saving
    }
}

impl Watches for RunFlags {
    fn watched(&mut self) -> &mut MonitorTargets {
        &mut self.watched
    }
}

impl RunFlags {
    pub(super) fn set(
        &mut self,
        option: &str,
        format: ValueFormat,
        text: &str,
    ) -> Result<(), ValueError> {
        let value = format.read(text).map_err(ValueError::new)?;
        self.options.insert(option.to_owned(), value);
        Ok(())
    }

    /// A time, which has a unit on the command line.
    pub(super) fn set_time(&mut self, option: &str, text: &str) -> Result<(), ValueError> {
        if text != "0" && text.parse::<f64>().is_ok() {
            return Err(ValueError::new(format!("missing unit in duration \"{text}\"")));
        }
        self.set(option, ValueFormat::Time, text)
    }

    /// Adds to a list.
    pub(super) fn append(
        &mut self,
        option: &str,
        format: ValueFormat,
        text: &str,
    ) -> Result<(), ValueError> {
        let Value::Array(mut more) = format.read(text).map_err(ValueError::new)? else {
            return Ok(());
        };
        let list = self.options.entry(option).or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(list) = list {
            list.append(&mut more);
        }
        Ok(())
    }

    /// Adds a tag.
    pub(super) fn tag(&mut self, text: &str) -> Result<(), ValueError> {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        if name.is_empty() || value.is_empty() {
            let what = if name.is_empty() { "name" } else { "value" };
            return Err(ValueError::new(format!("invalid tag '{text}', empty {what}")));
        }
        let tags = self.options.entry("tags").or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(tags) = tags {
            tags.insert(name.to_owned(), value.into());
        }
        Ok(())
    }
}

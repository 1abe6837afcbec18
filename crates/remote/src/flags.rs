//! Which machines send the load, where it is not this one: the flags of commands with load, and what they come to.

use cli::{Flag, ValueError, ValueKind, value};
use stdx::Nanos;

use crate::gather::FleetOptions;

/// How long agents may take to join.
const WAIT: Nanos = Nanos::from_secs(60);

/// What happens when an agent is lost.
const ON_LOSS: &[&str] = &["fail", "go-on"];

/// The flags that say which machines send the load.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FleetFlags {
    /// The fleet's folder; `None` is this machine alone.
    pub dir: Option<String>,
    /// How many agents the run needs.
    pub agents: Option<u64>,
    /// What an agent must be labelled with.
    pub labels: Vec<String>,
    /// The run goes on without an agent that was lost.
    pub goes_on: bool,
    /// How long agents may take to join, and then to make ready.
    pub wait: Option<Nanos>,
}

/// Flags among which are those of a fleet.
pub trait SendsFromFleet {
    /// Which machines send the load.
    fn fleet(&mut self) -> &mut FleetFlags;
}

/// The fleet that sends a load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetRequest {
    /// Which agents, and how long they are waited for.
    pub options: FleetOptions,
    /// Worker threads of each agent; `None` is one for each of its cores.
    pub workers: Option<usize>,
}

impl FleetFlags {
    /// The fleet that they ask for, where they do; `cpus` is the value of `-cpus`.
    ///
    /// # Errors
    /// A flag needs another one, with the reason.
    pub fn request(&self, cpus: Option<u64>) -> Result<Option<FleetRequest>, String> {
        if let Some(stray) = self.stray() {
            return Err(format!("-{stray} needs a fleet (give -fleet=DIR)"));
        }
        let Some(dir) = &self.dir else { return Ok(None) };
        let most = fleet::AGENTS_MAX as u64;
        if self.agents.is_some_and(|agents| agents > most) {
            return Err(format!("flag -agents: a fleet has at most {most} agents"));
        }
        let agents = self.agents.map(as_usize);
        let options = FleetOptions {
            dir: dir.into(),
            agents,
            labels: self.labels.clone(),
            ready_within: self.wait.unwrap_or(WAIT),
            goes_on: self.goes_on,
        };
        Ok(Some(FleetRequest { options, workers: cpus.map(as_usize) }))
    }

    /// The first flag given that means nothing without a fleet.
    fn stray(&self) -> Option<&'static str> {
        let given = [
            ("agents", self.agents.is_some()),
            ("agent-labels", !self.labels.is_empty()),
            ("fleet-on-loss", self.goes_on),
            ("fleet-wait", self.wait.is_some()),
        ];
        let first = given.into_iter().find(|(_, is_given)| *is_given);
        first.filter(|_| self.dir.is_none()).map(|(name, _)| name)
    }
}

fn as_usize(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

/// The rows of the fleet's flags.
#[must_use]
pub const fn rows<T: SendsFromFleet>() -> [Flag<T>; 5] {
    [dir(), agents(), labels(), on_loss(), wait()]
}

const fn dir<T: SendsFromFleet>() -> Flag<T> {
    Flag::new(
        "fleet",
        ValueKind::Path,
        "",
        "Send the load from the agents of this fleet: the folder of `brunt fleet up`.",
        |flags: &mut T, text| {
            flags.fleet().dir = Some(text.to_owned());
            Ok(())
        },
    )
    .native()
}

const fn agents<T: SendsFromFleet>() -> Flag<T> {
    Flag::new(
        "agents",
        ValueKind::Text("N"),
        "all that wait",
        "Agents that the run needs; each sends its part, by its cores.",
        |flags: &mut T, text| value::count(text).map(|n| flags.fleet().agents = Some(n)),
    )
    .native()
}

const fn labels<T: SendsFromFleet>() -> Flag<T> {
    Flag::new(
        "agent-labels",
        ValueKind::Text("KEY=VALUE,…"),
        "",
        "Take only agents that have these labels.",
        |flags: &mut T, text| read_labels(text).map(|labels| flags.fleet().labels.extend(labels)),
    )
    .native()
}

const fn on_loss<T: SendsFromFleet>() -> Flag<T> {
    Flag::new(
        "fleet-on-loss",
        ValueKind::Choice(ON_LOSS),
        "fail",
        "When an agent is lost: end the run, or go on and report it INVALID.",
        |flags: &mut T, text| {
            value::word(text, ON_LOSS).map(|word| flags.fleet().goes_on = word == "go-on")
        },
    )
    .native()
}

const fn wait<T: SendsFromFleet>() -> Flag<T> {
    Flag::new(
        "fleet-wait",
        ValueKind::Duration,
        "60s",
        "How long agents may take to join, and then to make ready.",
        |flags: &mut T, text| value::duration(text).map(|wait| flags.fleet().wait = Some(wait)),
    )
    .native()
}

/// `KEY=VALUE`, separated by commas.
///
/// # Errors
/// One of them has no `=`, or no key.
pub fn read_labels(text: &str) -> Result<Vec<String>, ValueError> {
    let labels: Vec<String> = text.split(',').map(|label| label.trim().to_owned()).collect();
    let is_whole = |label: &String| label.split_once('=').is_some_and(|(key, _)| !key.is_empty());
    match labels.iter().find(|label| !is_whole(label)) {
        None => Ok(labels),
        Some(bad) => Err(ValueError::new(format!("\"{bad}\" is no label (expected KEY=VALUE)"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_a_key() {
        assert_eq!(read_labels("zone=a, disk=").unwrap(), ["zone=a", "disk="]);
        for text in ["", "a", "=b", "a=b,,c=d"] {
            assert!(read_labels(text).is_err(), "{text}");
        }
    }

    #[test]
    fn flags_of_a_fleet_need_one() {
        let flags = FleetFlags { agents: Some(2), ..FleetFlags::default() };
        let error = flags.request(None).unwrap_err();
        assert_eq!(error, "-agents needs a fleet (give -fleet=DIR)");
        let dir = Some("f".to_owned());
        let request = FleetFlags { dir: dir.clone(), ..flags.clone() }.request(Some(3)).unwrap();
        assert_eq!(
            request.map(|request| (request.options.agents, request.workers)),
            Some((Some(2), Some(3)))
        );
        let all = FleetFlags { dir: dir.clone(), ..FleetFlags::default() }.request(None).unwrap();
        assert_eq!(all.map(|request| request.options.agents), Some(None));
        assert!(FleetFlags { dir, agents: Some(1 << 20), ..flags }.request(None).is_err());
        assert_eq!(FleetFlags::default().request(None), Ok(None));
    }
}

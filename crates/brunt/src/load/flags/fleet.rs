//! Which machines send the load, where it is not this one.

use cli::{Flag, ValueError, ValueKind, value};
use stdx::Nanos;

/// How long agents may take to join.
const WAIT: Nanos = Nanos::from_secs(60);

/// What happens when an agent is lost.
const ON_LOSS: &[&str] = &["fail", "go-on"];

/// The flags that say which machines send the load.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FleetFlags {
    /// The fleet's folder; `None` is this machine alone.
    pub(crate) dir: Option<String>,
    /// How many agents the run needs.
    pub(crate) agents: Option<u64>,
    /// What an agent must be labelled with.
    pub(crate) labels: Vec<String>,
    /// The run goes on without an agent that was lost.
    pub(crate) goes_on: bool,
    /// How long agents may take to join, and then to make ready.
    pub(crate) wait: Option<Nanos>,
}

impl FleetFlags {
    /// How long agents may take to join, and then to make ready.
    pub(crate) fn ready_within(&self) -> Nanos {
        self.wait.unwrap_or(WAIT)
    }

    /// The first flag given that means nothing without a fleet.
    pub(crate) fn stray(&self) -> Option<&'static str> {
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

/// The rows of the fleet's flags.
pub(crate) const fn fleet<T: AsMut<FleetFlags>>() -> [Flag<T>; 5] {
    [dir(), agents(), labels(), on_loss(), wait()]
}

row!(
    FleetFlags,
    dir,
    "fleet",
    ValueKind::Path,
    "",
    "Send the load from the agents of this fleet: the folder of `brunt fleet up`.",
    |values, text| {
        values.dir = Some(text.to_owned());
        Ok(())
    };
    .native()
);
row!(
    FleetFlags,
    agents,
    "agents",
    ValueKind::Text("N"),
    "",
    "Agents that the run needs; each sends its part, by its cores.",
    |values, text| value::count(text).map(|n| values.agents = Some(n));
    .native()
);
row!(
    FleetFlags,
    labels,
    "agent-labels",
    ValueKind::Text("KEY=VALUE,…"),
    "",
    "Take only agents that have these labels.",
    |values, text| read_labels(text).map(|labels| values.labels.extend(labels));
    .native()
);
row!(
    FleetFlags,
    on_loss,
    "fleet-on-loss",
    ValueKind::Choice(ON_LOSS),
    "fail",
    "When an agent is lost: end the run, or go on and report it INVALID.",
    |values, text| value::word(text, ON_LOSS).map(|word| values.goes_on = word == "go-on");
    .native()
);
row!(
    FleetFlags,
    wait,
    "fleet-wait",
    ValueKind::Duration,
    "60s",
    "How long agents may take to join, and then to make ready.",
    |values, text| value::duration(text).map(|wait| values.wait = Some(wait));
    .native()
);

/// `KEY=VALUE`, separated by commas.
///
/// # Errors
/// One of them has no `=`, or no key.
pub(crate) fn read_labels(text: &str) -> Result<Vec<String>, ValueError> {
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
        assert_eq!(flags.stray(), Some("agents"));
        assert_eq!(FleetFlags { dir: Some("f".to_owned()), ..flags }.stray(), None);
        assert_eq!(FleetFlags::default().stray(), None);
    }
}

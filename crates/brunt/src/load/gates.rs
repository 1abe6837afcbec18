//! What the gates of a run (`-fail-on`) need of its plan: refused before the run where the plan does not have it.

use cli::{CommandError, usage_error};
use metrics::Gates;
use workload::{Load, Targets};

/// Refuses gates of the planned rate where no rate is planned, and those of what only a script has.
///
/// # Errors
/// There is such a gate.
pub(super) fn check_load(gates: &Gates, load: &Load) -> Result<(), CommandError> {
    if let Some(gate) = gates.of_script() {
        return Err(usage_error(format!(
            "flag -fail-on: \"{}\": only scripts have thresholds, checks and tags (select by name, method, status or \
             target; or write a script for brunt run)",
            gate.expression
        )));
    }
    match (gates.of_planned_rate(), load) {
        (None, _) | (_, Load::Open { .. }) => Ok(()),
        (Some(gate), Load::Closed { .. } | Load::Users(_)) => Err(usage_error(format!(
            "flag -fail-on: \"{}\": no rate is planned here, the server's speed sets it (give requests per second, as in \
             rate<100)",
            gate.expression
        ))),
    }
}

/// Refuses gates of a name that no target has.
///
/// # Errors
/// There is such a gate.
pub(super) fn check_names(gates: &Gates, targets: &Targets) -> Result<(), CommandError> {
    let is_known = |name: &str| targets.list().iter().any(|target| target.name == name);
    let Some((gate, name)) = gates.of_other_name(is_known) else { return Ok(()) };
    Err(usage_error(format!(
        "flag -fail-on: \"{}\": no target has the name \"{name}\" (name one with a line #brunt name={name} before it)",
        gate.expression
    )))
}

//! What flags ask for that a test cannot do is refused before anything is opened or sent.

use remote::flags::FleetRequest;
use script::Options;
use session::{MonitorConfig, monitor_flags};

use crate::error::K6Error;
use crate::flags::RunFlags;
use crate::{option_layers, outputs};

/// Refuses flags that k6 does not have where they make no sense.
///
/// # Errors
/// There is such a flag.
pub(super) fn check_own_flags(flags: &RunFlags) -> Result<(), K6Error> {
    if flags.watched.is_stray() {
        return Err(K6Error::other(monitor_flags::STRAY.to_owned()));
    }
    let of_plans = [("J", !flags.properties.is_empty()), ("skip-scripts", flags.skip_scripts)];
    if let Some((name, _)) = of_plans.into_iter().find(|(_, is_given)| *is_given) {
        return Err(K6Error::usage(format!(
            "flag -{name}: is for plans of JMeter's (.jmx); a script has variables (-e NAME=VALUE)"
        )));
    }
    if let Some(gate) = flags.gates.of_planned_rate() {
        return Err(K6Error::usage(format!(
            "flag -fail-on: \"{}\": a script plans no rate of requests (give requests per second, as in rate<100)",
            gate.expression
        )));
    }
    Ok(())
}

/// The fleet that flags ask for, and that it can do what is asked of it.
///
/// # Errors
/// It cannot.
pub(super) fn check_fleet(
    (flags, cpus): (&RunFlags, Option<u64>),
    options: &Options,
    names: &[String],
) -> Result<Option<FleetRequest>, K6Error> {
    let Some(request) = flags.fleet.request(cpus).map_err(K6Error::usage)? else {
        return Ok(None);
    };
    if options.given.contains_key("executionSegment") {
        let text = "-execution-segment is one machine's part, and a fleet cuts the test itself";
        return Err(K6Error::usage(text.to_owned()));
    }
    if let Some(name) = names.iter().find(|name| !outputs::is_results(name)) {
        return Err(K6Error::usage(format!(
            "-o {name}: a fleet writes files of results (such as -o results.arrow)"
        )));
    }
    if !option_layers::secrets(flags).is_empty() {
        let text = "-secret-source: secrets do not travel to the agents of a fleet";
        return Err(K6Error::usage(text.to_owned()));
    }
    Ok(Some(request))
}

/// What is watched needs a place, and is found out to be possible before anything is opened or sent.
pub(super) fn check_watching(
    watching: Option<&MonitorConfig>,
    names: &[String],
    is_saved: bool,
) -> Result<(), K6Error> {
    let Some(watching) = watching else { return Ok(()) };
    let Some(name) = names.iter().rfind(|name| outputs::is_results(name)) else {
        if is_saved {
            return Ok(());
        }
        let text = "-watch needs a file of results (give -o results.arrow)";
        return Err(K6Error::other(text.to_owned()));
    };
    let monitor = watching.monitor_for(outputs::results_format(name).encoding);
    monitor.map(drop).map_err(|failed| K6Error::other(failed.to_string()))
}

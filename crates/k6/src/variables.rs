//! The environment's `K6_…` variables. Those that have no effect are warned of: a misspelt one, or one of a part of k6 that is
//! not here, would else be ignored in silence.

use script::VARIABLES;

/// Those that are read besides the options.
const READ: [&str; 24] = [
    "ADDRESS",
    "COMPATIBILITY_MODE",
    "CONFIG",
    "CSV_FILENAME",
    "CSV_TIME_FORMAT",
    "INCLUDE_SYSTEM_ENV_VARS",
    "LINGER",
    "LOG_FORMAT",
    "LOG_OUTPUT",
    "NEW_MACHINE_READABLE_SUMMARY",
    "NO_COLOR",
    "NO_SUMMARY",
    "NO_THRESHOLDS",
    "OUT",
    "SECRET_SOURCE",
    "SUMMARY_EXPORT",
    "SUMMARY_MODE",
    "TRACES_OUTPUT",
    "WEB_DASHBOARD",
    "WEB_DASHBOARD_EXPORT",
    "WEB_DASHBOARD_HOST",
    "WEB_DASHBOARD_OPEN",
    "WEB_DASHBOARD_PORT",
    "WEB_DASHBOARD_REPORT",
];
/// What the variables of outputs begin with.
const OUTPUTS: [&str; 5] = ["PROMETHEUS_RW_", "OTEL_", "INFLUXDB_", "STATSD_", "DATADOG_"];
/// Those that change nothing of a test on this machine, and what others begin with: usage reports, extensions that are fetched,
/// k6's cloud.
const WITHOUT_EFFECT: [&str; 7] = [
    "AUTO_EXTENSION_RESOLUTION",
    "BINARY_PROVISIONING",
    "CLOUD_",
    "DEPENDENCIES_MANIFEST",
    "ENABLE_COMMUNITY_EXTENSIONS",
    "NO_USAGE_REPORT",
    "PROFILING_ENABLED",
];

/// The warning about variables that have no effect, in a line; `None` where there are none.
pub(super) fn strange_variables() -> Option<String> {
    strange(std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()))
}

fn strange(names: impl Iterator<Item = String>) -> Option<String> {
    let is_strange = |name: &String| {
        let Some(name) = name.strip_prefix("K6_") else { return false };
        let is_option = VARIABLES.iter().any(|(known, ..)| *known == name);
        let is_output = OUTPUTS.iter().any(|begin| name.starts_with(begin));
        let has_no_effect = WITHOUT_EFFECT.iter().any(|begin| name.starts_with(begin));
        !is_option && !is_output && !has_no_effect && !READ.contains(&name)
    };
    let mut names: Vec<String> = names.filter(is_strange).collect();
    names.sort_unstable();
    match names.as_slice() {
        [] => None,
        [one] => Some(format!(
            "the environment variable {one} is none that brunt knows: only the script sees it"
        )),
        many => Some(format!(
            "the environment variables {} are none that brunt knows: only the script sees them",
            many.join(", ")
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_nobody_reads_are_named() {
        let warning = |names: &[&str]| strange(names.iter().map(|name| (*name).to_owned()));
        let known = ["K6_VUS", "K6_OUT", "K6_NO_USAGE_REPORT", "K6_CLOUD_TOKEN", "HOME", "K6"];
        assert_eq!(warning(&known), None);
        let one = warning(&["K6_WEB_DASHBOARD_RECORD", "K6_VUS"]).unwrap();
        assert!(one.contains("variable K6_WEB_DASHBOARD_RECORD is none"), "{one}");
        let many = warning(&["K6_WEB_DASHBOARD_RECORD", "K6_VU"]).unwrap();
        assert!(many.contains("variables K6_VU, K6_WEB_DASHBOARD_RECORD are none"), "{many}");
    }
}

//! The flags of `inspect`, `archive`, `lint`, `vendor` and `new`: those of `run` that they know, and their own.

use cli::{Flag, ValueKind, flag_table, switch, text, value};
use script::ValueFormat;

use super::run::LOAD;
use super::run_flags::RunFlags;
use super::script_environment::{ALLOW_READ, ENV, OFFLINE};

/// The flags of `vendor`.
pub(crate) const VENDOR: &[Flag<RunFlags>] = &[
    switch!(RunFlags, "update", "Fetch also what brunt.lock has.", updates).native(),
    ENV,
    maybe!("include-system-env-vars", "Show the environment's variables.", include_system_env),
    ALLOW_READ,
    text!(RunFlags, "t", "js|archive", "What the script is.", script_type).native().also(&["type"]),
    switch!(RunFlags, "v", "Also log debug lines.", verbose).native().also(&["verbose"]),
];

/// The forms of the findings of `lint`.
const FORMATS: [&str; 3] = ["text", "json", "sarif"];

/// The flags of `lint`.
pub(crate) const LINT: &[Flag<RunFlags>] = &[
    Flag::new(
        "format",
        ValueKind::Choice(&FORMATS),
        "text",
        "The form of the findings.",
        |t: &mut RunFlags, v| value::word(v, &FORMATS).map(|word| t.lint_format = word),
    )
    .native(),
    gather!("skip", "RULE,…", "Leave out the findings of these rules. May be repeated.", lint_skip),
    ENV,
    maybe!("include-system-env-vars", "Show the environment's variables.", include_system_env),
    ALLOW_READ,
    OFFLINE,
    text!(RunFlags, "t", "js|archive", "What the script is.", script_type).native().also(&["type"]),
    text!(RunFlags, "c", "FILE", "Options as JSON.", config).native().also(&["config"]),
    switch!(RunFlags, "v", "Also log debug lines.", verbose).native().also(&["verbose"]),
];

/// The flags of `inspect` besides those that say what the script is shown.
const REQUIREMENTS: Flag<RunFlags> = switch!(
    RunFlags,
    "execution-requirements",
    "Tell how long the test takes at most, and how many users it needs.",
    requirements
)
.native();

/// The flags of `inspect`.
pub(crate) const INSPECT: &[Flag<RunFlags>] = &[
    REQUIREMENTS,
    ENV,
    maybe!("include-system-env-vars", "Show the environment's variables.", include_system_env),
    ALLOW_READ,
    OFFLINE,
    text!(RunFlags, "t", "js|archive", "What the script is.", script_type).native().also(&["type"]),
    text!(RunFlags, "compatibility-mode", "MODE", "Accepted as k6's.", compatibility).native(),
    text!(RunFlags, "c", "FILE", "Options as JSON.", config).native().also(&["config"]),
    switch!(RunFlags, "v", "Also log debug lines.", verbose).native().also(&["verbose"]),
    switch!(RunFlags, "q", "Accepted as k6's.", quiet).native().also(&["quiet"]),
];

/// The flags of `archive`: of k6's `run` those that are options are known as well.
pub(crate) const ARCHIVE: &[Flag<RunFlags>] = flag_table!(RunFlags: OF_FILE, LOAD, AS_RUN);

const OF_FILE: &[Flag<RunFlags>] = &[
    text!(RunFlags, "O", "FILE", "Where the archive goes.", archive_out)
        .native()
        .also(&["archive-out"]),
    switch!(RunFlags, "exclude-env-vars", "Keep the variables of -e out of it.", exclude_env)
        .native(),
    ENV,
    maybe!("include-system-env-vars", "Show the environment's variables.", include_system_env),
    ALLOW_READ,
    OFFLINE,
    text!(RunFlags, "c", "FILE", "Options as JSON.", config).native().also(&["config"]),
];

const AS_RUN: &[Flag<RunFlags>] = &[
    list!("s", "TIME:N", "A stage.", "stages", Stages).also(&["stage"]),
    switch!(RunFlags, "v", "Also log debug lines.", verbose).native().also(&["verbose"]),
    switch!(RunFlags, "q", "Accepted as k6's.", quiet).native().also(&["quiet"]),
];

/// The flags of `new` as typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NewFlags {
    pub(crate) template: String,
    pub(crate) force: bool,
}

/// The flags of `new`.
pub(crate) const NEW: &[Flag<NewFlags>] = &[
    text!(NewFlags, "template", "minimal|protocol", "What to begin with.", template).native(),
    switch!(NewFlags, "f", "Overwrite a file that is there.", force).native().also(&["force"]),
];

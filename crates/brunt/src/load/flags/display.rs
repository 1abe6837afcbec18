//! What people see of a run: the report, live progress and live metrics.

use cli::{Flag, ValueKind, value};
use metrics::Gates;
use session::{AbortWhen, OnInvalid};

/// The flags that say what people see of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct DisplayFlags {
    /// Whether the report is printed as JSON.
    pub(crate) json: bool,
    /// Whether live progress is shown; `None` is the command's default.
    pub(crate) progress: Option<bool>,
    /// Neither progress nor a report is shown.
    pub(crate) quiet: bool,
    /// The address that serves live metrics.
    pub(crate) prometheus_addr: Option<String>,
    /// The address of the live page; empty for any that is free.
    pub(crate) web: Option<String>,
    /// Whether the run is shown on the whole terminal.
    pub(crate) tui: bool,
    /// The conditions under which the run fails.
    pub(crate) gates: Gates,
    /// Whether an INVALID verdict decides the exit code.
    pub(crate) on_invalid: OnInvalid,
    /// When the run is ended early.
    pub(crate) abort_when: AbortWhen,
}

/// The rows on what terminal and browser show.
pub(crate) const fn shown<T: AsMut<DisplayFlags>>() -> [Flag<T>; 4] {
    [json(), progress(), quiet(), web()]
}

/// The flag `-prometheus-addr`.
pub(crate) const fn prometheus_addr<T: AsMut<DisplayFlags>>() -> Flag<T> {
    let (kind, docs) = (ValueKind::Text("ADDR:PORT"), session::METRICS_DOCS);
    Flag::new("prometheus-addr", kind, "", docs, |options: &mut T, text| {
        options.as_mut().prometheus_addr = Some(text.to_owned());
        Ok(())
    })
}

/// The flag `-web`.
pub(crate) const fn web<T: AsMut<DisplayFlags>>() -> Flag<T> {
    Flag::new("web", session::web::VALUE, "", session::web::DOCS, |options: &mut T, text| {
        options.as_mut().web = Some(text.to_owned());
        Ok(())
    })
    .native()
}

/// The flag `-tui`.
pub(crate) const fn tui<T: AsMut<DisplayFlags>>() -> Flag<T> {
    Flag::new("tui", ValueKind::Switch, "", session::tui::DOCS, |options: &mut T, text| {
        value::switch(text).map(|on| options.as_mut().tui = on)
    })
    .native()
}

/// The flags that decide the exit code of a run.
pub(crate) const fn fails<T: AsMut<DisplayFlags>>() -> [Flag<T>; 2] {
    [fail_on(), fail_on_invalid()]
}

/// The flag `-fail-on-invalid`.
pub(crate) const fn fail_on_invalid<T: AsMut<DisplayFlags>>() -> Flag<T> {
    let docs = session::FAIL_ON_INVALID;
    Flag::new("fail-on-invalid", ValueKind::Switch, "", docs, |options: &mut T, text| {
        OnInvalid::parse(text).map(|on| options.as_mut().on_invalid = on)
    })
    .native()
}

/// The flag `-abort-when`.
pub(crate) const fn abort_when<T: AsMut<DisplayFlags>>() -> Flag<T> {
    let kind = ValueKind::Text(session::ABORT_CONDITIONS);
    Flag::new("abort-when", kind, "", session::ABORT_WHEN, |options: &mut T, text| {
        AbortWhen::parse(text).map(|when| options.as_mut().abort_when = when)
    })
    .native()
}

/// The flag `-fail-on`.
const fn fail_on<T: AsMut<DisplayFlags>>() -> Flag<T> {
    let kind = ValueKind::Text("'EXPR, …'");
    Flag::new("fail-on", kind, "", session::FAIL_ON, |options: &mut T, text| {
        session::read_gates(&mut options.as_mut().gates, text)
    })
    .native()
}

row!(
    DisplayFlags,
    json,
    "json",
    ValueKind::Switch,
    "",
    "Print the report as JSON when done.",
    |values, text| value::switch(text).map(|on| values.json = on);
    .native()
);
row!(
    DisplayFlags,
    progress,
    "progress",
    ValueKind::Switch,
    "on a terminal",
    "Show live progress on stderr.",
    |values, text| value::switch(text).map(|on| values.progress = Some(on));
    .native()
);
row!(
    DisplayFlags,
    quiet,
    "q",
    ValueKind::Switch,
    "",
    "Quiet: no progress and no report.",
    |values, text| value::switch(text).map(|on| values.quiet = on);
    .native()
    .also(&["quiet"])
);

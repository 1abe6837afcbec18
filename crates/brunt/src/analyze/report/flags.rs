//! The flags of `report`.

use cli::{EmptyValue, Flag, ValueError, ValueKind, value};
use metrics::Gates;
use recordings::ServerOffset;
use stdx::Nanos;

use crate::analyze::server_offset;

/// The flags of `report` as typed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ReportFlags {
    /// Empty for the default.
    pub(crate) kind: String,
    pub(crate) buckets: Option<String>,
    pub(crate) every: Nanos,
    pub(crate) output: Option<String>,
    pub(crate) by: Option<String>,
    pub(crate) json: bool,
    pub(crate) fail_on_invalid: bool,
    /// The conditions under which the run fails.
    pub(crate) gates: Gates,
    pub(crate) server_offset: ServerOffset,
}

impl AsMut<ServerOffset> for ReportFlags {
    fn as_mut(&mut self) -> &mut ServerOffset {
        &mut self.server_offset
    }
}

/// The flags of `report`.
pub(crate) const REPORT: &[Flag<ReportFlags>] = &[
    Flag::new(
        "type",
        ValueKind::Text("TYPE"),
        "text",
        "text, json, hist[0,1ms], hdrplot, html, markdown, junit, metrics, load-performance, ab, wrk, perfer or hey.",
        |t: &mut ReportFlags, v| {
            v.clone_into(&mut t.kind);
            let wrong = ValueError::with_go("\"\" is not a type of report", "invalid report type: ");
            if v.is_empty() { Err(wrong.late()) } else { Ok(()) }
        },
    ),
    Flag::new(
        "buckets",
        ValueKind::Text("[0,1ms,…]"),
        "",
        "Histogram buckets, for -type=hist and -type=json.",
        |t: &mut ReportFlags, v| {
            t.buckets = Some(v.to_owned());
            Ok(())
        },
    )
    .vegeta_empty(EmptyValue::Absent),
    Flag::new(
        "every",
        ValueKind::Duration,
        "0",
        "Print a new report each time this much time has passed; 0: only at the end.",
        |t: &mut ReportFlags, v| value::duration(v).map(|d| t.every = d),
    ),
    Flag::new("output", ValueKind::Path, "stdout", "File for the report; without -type its extension decides: .html, .json, .md, .txt or .xml (JUnit).", |t: &mut ReportFlags, v| {
        t.output = Some(v.to_owned());
        Ok(())
    })
    .also(&["o"]),
    Flag::new(
        "by",
        ValueKind::Choice(BY),
        "",
        "Add a table per target, status, name or connection.",
        |t: &mut ReportFlags, v| value::word(v, BY).map(|word| t.by = Some(word)),
    )
    .native(),
    Flag::new("json", ValueKind::Switch, "", "The same as -type=json.", |t: &mut ReportFlags, v| {
        value::switch(v).map(|on| t.json = on)
    })
    .native(),
    Flag::new(
        "fail-on",
        ValueKind::Text("'EXPR, …'"),
        "",
        session::FAIL_ON,
        |t: &mut ReportFlags, v| session::read_gates(&mut t.gates, v),
    )
    .native(),
    Flag::new(
        "fail-on-invalid",
        ValueKind::Switch,
        "",
        "Exit with code 5 if the verdict is INVALID.",
        |t: &mut ReportFlags, v| value::switch(v).map(|on| t.fail_on_invalid = on),
    )
    .native(),
    server_offset::row(),
];

/// What `report` can group by.
const BY: &[&str] = &["target", "status", "name", "connection", "agent"];

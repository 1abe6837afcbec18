//! The flags of `report`.

use cli::{EmptyValue, Flag, ValueError, ValueKind, value};
use metrics::{By, Gates, Selector};
use recordings::ServerOffset;
use session::OnInvalid;
use stdx::Nanos;

use crate::analyze::{selection, server_offset};

/// The flags of `report` as typed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ReportFlags {
    /// Empty for the default.
    pub(crate) kind: String,
    pub(crate) buckets: Option<String>,
    pub(crate) every: Nanos,
    pub(crate) output: Option<String>,
    pub(crate) by: Option<By>,
    pub(crate) selector: Selector,
    pub(crate) json: bool,
    /// Whether an INVALID verdict decides the exit code.
    pub(crate) on_invalid: OnInvalid,
    /// The conditions under which the run fails.
    pub(crate) gates: Gates,
    pub(crate) server_offset: ServerOffset,
}

impl AsMut<Selector> for ReportFlags {
    fn as_mut(&mut self) -> &mut Selector {
        &mut self.selector
    }
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
        ValueKind::Text("WORD"),
        "",
        "Add a table per target, status, name, connection, agent, scenario, group or tag:NAME of a script.",
        |t: &mut ReportFlags, v| selection::by(v).map(|by| t.by = Some(by)),
    )
    .native(),
    selection::where_row(),
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
        session::FAIL_ON_INVALID,
        |t: &mut ReportFlags, v| OnInvalid::parse(v).map(|on| t.on_invalid = on),
    )
    .native(),
    server_offset::row(),
];

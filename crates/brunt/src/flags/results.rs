//! The flags of the commands that read results: `report`, `plot`, `encode`, `dump`.

use stdx::Nanos;

use super::attack::RESULT_FORMATS;
use super::{Flag, Kind, value};

/// The flags of `report` as typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReportFlags {
    /// Empty for the default.
    pub(crate) kind: String,
    pub(crate) buckets: Option<String>,
    pub(crate) every: Nanos,
    pub(crate) output: Option<String>,
    pub(crate) by: Option<String>,
    pub(crate) json: bool,
    pub(crate) fail_on_invalid: bool,
}

/// The flags of `report`.
pub(crate) const REPORT: &[Flag<ReportFlags>] = &[
    Flag::new(
        "type",
        Kind::Text("TYPE"),
        "text",
        "text, json, hist[0,1ms,…], hdrplot, html, markdown, junit or ab.",
        |t: &mut ReportFlags, v| {
            v.clone_into(&mut t.kind);
            Ok(())
        },
    ),
    Flag::new(
        "buckets",
        Kind::Text("[0,1ms,…]"),
        "",
        "Histogram buckets, for -type=hist and -type=json.",
        |t: &mut ReportFlags, v| {
            t.buckets = Some(v.to_owned());
            Ok(())
        },
    ),
    Flag::new(
        "every",
        Kind::Duration,
        "0",
        "Report anew each time this has passed.",
        |t: &mut ReportFlags, v| value::duration(v).map(|d| t.every = d),
    ),
    Flag::new("output", Kind::Path, "stdout", "File for the report.", |t: &mut ReportFlags, v| {
        t.output = Some(v.to_owned());
        Ok(())
    })
    .also(&["o"]),
    Flag::new(
        "by",
        Kind::Choice(BY),
        "",
        "Rows per target, status, name or connection as well.",
        |t: &mut ReportFlags, v| value::word(v, BY).map(|word| t.by = Some(word)),
    )
    .native(),
    Flag::new("json", Kind::Switch, "", "The same as -type=json.", |t: &mut ReportFlags, v| {
        value::switch(v).map(|on| t.json = on)
    })
    .native(),
    Flag::new(
        "fail-on-invalid",
        Kind::Switch,
        "",
        "End with code 5 where the verdict is INVALID.",
        |t: &mut ReportFlags, v| value::switch(v).map(|on| t.fail_on_invalid = on),
    )
    .native(),
];

/// What `report` can group by.
const BY: &[&str] = &["target", "status", "name", "connection"];

/// The flags of `plot` as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlotFlags {
    pub(crate) title: Option<String>,
    pub(crate) threshold: u64,
    pub(crate) output: Option<String>,
    /// `None`: the output's ending decides.
    pub(crate) kind: Option<String>,
    pub(crate) percentiles: bool,
    pub(crate) histogram: bool,
}

impl Default for PlotFlags {
    fn default() -> Self {
        Self {
            title: None,
            threshold: 4000,
            output: None,
            kind: None,
            percentiles: false,
            histogram: false,
        }
    }
}

/// The flags of `plot`.
pub(crate) const PLOT: &[Flag<PlotFlags>] = &[
    Flag::new("title", Kind::Text("TEXT"), "", "Title of the plot.", |t: &mut PlotFlags, v| {
        t.title = Some(v.to_owned());
        Ok(())
    }),
    Flag::new(
        "threshold",
        Kind::Text("N"),
        "4000",
        "Points drawn per series at most; 0 draws all.",
        |t: &mut PlotFlags, v| value::number(v).map(|n| t.threshold = n),
    ),
    Flag::new("output", Kind::Path, "stdout", "File for the plot.", |t: &mut PlotFlags, v| {
        t.output = Some(v.to_owned());
        Ok(())
    })
    .also(&["o"]),
    Flag::new(
        "type",
        Kind::Choice(PLOT_KINDS),
        "html",
        "html, svg or png; by default the output's ending decides.",
        |t: &mut PlotFlags, v| value::word(v, PLOT_KINDS).map(|word| t.kind = Some(word)),
    )
    .native(),
    Flag::new(
        "percentiles",
        Kind::Switch,
        "",
        "Draw percentile curves.",
        |t: &mut PlotFlags, v| value::switch(v).map(|on| t.percentiles = on),
    )
    .native(),
    Flag::new("histogram", Kind::Switch, "", "Draw histograms.", |t: &mut PlotFlags, v| {
        value::switch(v).map(|on| t.histogram = on)
    })
    .native(),
];

/// What `plot` can draw into.
const PLOT_KINDS: &[&str] = &["html", "svg", "png"];

/// The flags of `encode` and of `dump` as typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EncodeFlags {
    /// `None`: the output's ending decides, else JSON.
    pub(crate) to: Option<String>,
    pub(crate) output: Option<String>,
}

/// The flags of `encode`.
pub(crate) const ENCODE: &[Flag<EncodeFlags>] = &[
    Flag::new(
        "to",
        Kind::Choice(RESULT_FORMATS),
        "json",
        "Format to write; natively the output's ending decides where -to is not given.",
        |t: &mut EncodeFlags, v| {
            t.to = Some(v.to_owned());
            Ok(())
        },
    ),
    Flag::new("output", Kind::Path, "stdout", "File for the results.", |t: &mut EncodeFlags, v| {
        t.output = Some(v.to_owned());
        Ok(())
    })
    .also(&["o"]),
];

/// The flags of `dump`, which only explains itself.
pub(crate) const DUMP: &[Flag<EncodeFlags>] = &[
    Flag::new("dumper", Kind::Text("NAME"), "", "Accepted, as old scripts give it.", |_, _| Ok(())),
    Flag::new("inputs", Kind::Path, "", "Accepted, as old scripts give it.", |_, _| Ok(())),
    Flag::new("output", Kind::Path, "", "Accepted, as old scripts give it.", |_, _| Ok(())),
];

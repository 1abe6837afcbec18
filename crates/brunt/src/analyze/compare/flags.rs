//! The flags of `compare`.

use cli::{Flag, ValueError, ValueKind, text, value};
use metrics::Selector;
use study::contrast::{Limit, Rules};

use crate::analyze::selection;

/// The flags of `compare` as typed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CompareFlags {
    /// The label that the others are compared with; `None`: the first.
    pub(crate) baseline: Option<String>,
    /// The baseline that the last variant becomes.
    pub(crate) save_baseline: Option<String>,
    /// The folder of the store of runs.
    pub(crate) store: Option<String>,
    pub(crate) output: Option<String>,
    /// `None`: the output's extension decides, else text.
    pub(crate) kind: Option<String>,
    pub(crate) json: bool,
    pub(crate) title: String,
    pub(crate) rules: Rules,
    pub(crate) fail_on: Vec<Limit>,
    pub(crate) fail_unclear: bool,
    pub(crate) selector: Selector,
}

impl AsMut<Selector> for CompareFlags {
    fn as_mut(&mut self) -> &mut Selector {
        &mut self.selector
    }
}

/// The flags of `compare`.
pub(crate) const COMPARE: &[Flag<CompareFlags>] = &[
    Flag::new(
        "baseline",
        ValueKind::Text("LABEL|RUN"),
        "the first",
        "What the others are compared with: a label, or a run of the store: last, best, NAME, git:BRANCH, NAME@N.",
        |t: &mut CompareFlags, v| {
            t.baseline = Some(v.to_owned());
            Ok(())
        },
    )
    .native(),
    text!(CompareFlags, "save-baseline", "NAME", "The runs of the last variant become this baseline, for -baseline=NAME.", save_baseline)
        .native(),
    text!(CompareFlags, "store", "DIR", "Folder of the store of runs; by default the project's .brunt/runs.", store)
        .native(),
    selection::where_row(),
    Flag::new(
        "fail-on",
        ValueKind::Text("METRIC>+N%"),
        "",
        "Exit with code 7 if a metric changed this much, with 12 if too few runs decide it; e.g. throughput<-5%.",
        |t: &mut CompareFlags, v| {
            let limits = v.split(',').map(|one| one.trim().parse::<Limit>());
            let limits: Result<Vec<Limit>, _> = limits.collect();
            t.fail_on.extend(limits.map_err(|error| ValueError::new(error.to_string()))?);
            Ok(())
        },
    )
    .native(),
    Flag::new(
        "fail-unclear",
        ValueKind::Switch,
        "",
        "With -fail-on: also fail if the change could be chance.",
        |t: &mut CompareFlags, v| value::switch(v).map(|on| t.fail_unclear = on),
    )
    .native(),
    Flag::new(
        "min-effect",
        ValueKind::Text("SHARE"),
        "2%",
        "The smallest change of times and throughput that matters.",
        |t: &mut CompareFlags, v| value::share(v).map(|share| t.rules.effect_min = share),
    )
    .native(),
    Flag::new(
        "min-errors",
        ValueKind::Text("SHARE"),
        "0.1%",
        "The smallest change of the share of errors that matters, in percentage points.",
        |t: &mut CompareFlags, v| value::share(v).map(|share| t.rules.errors_min = share),
    )
    .native(),
    Flag::new(
        "seed",
        ValueKind::Text("N"),
        "1",
        "Seed of the random draws for the distributions' p.",
        |t: &mut CompareFlags, v| value::number(v).map(|seed| t.rules.seed = seed),
    )
    .native(),
    Flag::new(
        "type",
        ValueKind::Choice(COMPARE_KINDS),
        "text",
        "Format of the comparison; by default the extension of -output decides.",
        |t: &mut CompareFlags, v| value::word(v, COMPARE_KINDS).map(|word| t.kind = Some(word)),
    )
    .also(&["format"])
    .native(),
    Flag::new(
        "output",
        ValueKind::Path,
        "stdout",
        "File for the comparison.",
        |t: &mut CompareFlags, v| {
            t.output = Some(v.to_owned());
            Ok(())
        },
    )
    .also(&["o"])
    .native(),
    Flag::new("json", ValueKind::Switch, "", "The same as -type=json.", |t: &mut CompareFlags, v| {
        value::switch(v).map(|on| t.json = on)
    })
    .native(),
    text!(CompareFlags, "title", "TEXT", "Title of the page.", title).native(),
];

/// What a comparison may be written as.
const COMPARE_KINDS: &[&str] = &["text", "json", "markdown", "html", "junit"];

//! The flags of `plot`.

use cli::{Flag, ValueError, ValueKind, value};
use metrics::{By, Selector};
use recordings::ServerOffset;

use crate::analyze::{selection, server_offset};

/// The flags of `plot` as typed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlotFlags {
    pub(crate) title: Option<String>,
    pub(crate) threshold: u64,
    pub(crate) output: Option<String>,
    /// `None`: the output's extension decides.
    pub(crate) kind: Option<String>,
    pub(crate) percentiles: bool,
    pub(crate) histogram: bool,
    pub(crate) overlay: bool,
    /// The metrics, as typed.
    pub(crate) bars: Option<String>,
    pub(crate) values: Vec<GivenValue>,
    /// `linear` or `tail`.
    pub(crate) axis: Option<String>,
    pub(crate) json: bool,
    /// `percentiles` or `time`.
    pub(crate) server: Option<String>,
    pub(crate) server_offset: ServerOffset,
    pub(crate) selector: Selector,
    /// By what each input is parted into series.
    pub(crate) by: Option<By>,
}

/// A figure from elsewhere, one a label or several: `-value 'load average:hash=1.15,fair=3.28'`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GivenValue {
    /// What it is of.
    pub(crate) name: String,
    /// Its unit; empty for none.
    pub(crate) unit: String,
    /// Label and number.
    pub(crate) values: Vec<(String, f64)>,
}

/// `NAME:LABEL=NUMBER,…` or `NAME[UNIT]:LABEL=NUMBER,…`.
fn given_value(text: &str) -> Result<GivenValue, ValueError> {
    let wrong = || ValueError::new(format!("\"{text}\" is not NAME:LABEL=NUMBER,LABEL=NUMBER,…"));
    let (name, list) = text.split_once(':').ok_or_else(wrong)?;
    let (name, unit) = match name.strip_suffix(']').and_then(|name| name.rsplit_once('[')) {
        Some((name, unit)) => (name, unit),
        None => (name, ""),
    };
    let pair = |pair: &str| {
        let (label, number) = pair.rsplit_once('=')?;
        let number = number.trim().parse::<f64>().ok().filter(|number| number.is_finite())?;
        Some((label.trim().to_owned(), number))
    };
    let values = list.split(',').map(pair).collect::<Option<Vec<_>>>().ok_or_else(wrong)?;
    Ok(GivenValue { name: name.trim().to_owned(), unit: unit.to_owned(), values })
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
            overlay: false,
            bars: None,
            values: Vec::new(),
            axis: None,
            json: false,
            server: None,
            server_offset: ServerOffset::default(),
            selector: Selector::default(),
            by: None,
        }
    }
}

impl AsMut<Selector> for PlotFlags {
    fn as_mut(&mut self) -> &mut Selector {
        &mut self.selector
    }
}

impl AsMut<ServerOffset> for PlotFlags {
    fn as_mut(&mut self) -> &mut ServerOffset {
        &mut self.server_offset
    }
}

/// The flags of `plot`.
pub(crate) const PLOT: &[Flag<PlotFlags>] = &[
    Flag::new(
        "title",
        ValueKind::Text("TEXT"),
        "",
        "Title of the plot.",
        |t: &mut PlotFlags, v| {
            t.title = Some(v.to_owned());
            Ok(())
        },
    ),
    Flag::new(
        "threshold",
        ValueKind::Text("N"),
        "4000",
        "Maximum number of points per series; 0: all.",
        |t: &mut PlotFlags, v| value::number(v).map(|n| t.threshold = n),
    ),
    Flag::new("output", ValueKind::Path, "stdout", "File for the plot.", |t: &mut PlotFlags, v| {
        t.output = Some(v.to_owned());
        Ok(())
    })
    .also(&["o"]),
    Flag::new(
        "type",
        ValueKind::Choice(PLOT_KINDS),
        "html",
        "Format of the plot; by default the extension of -output decides.",
        |t: &mut PlotFlags, v| value::word(v, PLOT_KINDS).map(|word| t.kind = Some(word)),
    )
    .native(),
    Flag::new(
        "percentiles",
        ValueKind::Switch,
        "",
        "Draw percentile curves.",
        |t: &mut PlotFlags, v| value::switch(v).map(|on| t.percentiles = on),
    )
    .native(),
    Flag::new("histogram", ValueKind::Switch, "", "Draw histograms.", |t: &mut PlotFlags, v| {
        value::switch(v).map(|on| t.histogram = on)
    })
    .native(),
    Flag::new(
        "overlay",
        ValueKind::Switch,
        "",
        "Draw densities over common bins, and test whether they differ.",
        |t: &mut PlotFlags, v| value::switch(v).map(|on| t.overlay = on),
    )
    .native(),
    Flag::new(
        "bars",
        ValueKind::Text("METRICS"),
        "",
        "Draw bars of metrics: rate,throughput,duration,transfer,errors,latency.p99,latency.max.",
        |t: &mut PlotFlags, v| {
            t.bars = Some(v.to_owned());
            Ok(())
        },
    )
    .native(),
    Flag::new(
        "value",
        ValueKind::Text("NAME:LABEL=N,…"),
        "",
        "Figures of another program to draw as bars; may be repeated.",
        |t: &mut PlotFlags, v| given_value(v).map(|value| t.values.push(value)),
    )
    .native(),
    Flag::new(
        "axis",
        ValueKind::Choice(AXES),
        "tail",
        "Scale of the percentiles with -percentiles: linear, or by the number of nines.",
        |t: &mut PlotFlags, v| value::word(v, AXES).map(|word| t.axis = Some(word)),
    )
    .native(),
    Flag::new(
        "json",
        ValueKind::Switch,
        "",
        "Print the figures of -bars or -overlay as JSON.",
        |t: &mut PlotFlags, v| value::switch(v).map(|on| t.json = on),
    )
    .native(),
    Flag::new(
        "server",
        ValueKind::Choice(SERVER),
        "",
        "Draw client and server together: percentile curves, or activity over time.",
        |t: &mut PlotFlags, v| value::word(v, SERVER).map(|word| t.server = Some(word)),
    )
    .native(),
    server_offset::row(),
    selection::where_row(),
    Flag::new(
        "by",
        ValueKind::Text("WORD"),
        "",
        "A series for each name, scenario, group or value of tag:NAME of a script.",
        |t: &mut PlotFlags, v| selection::by(v).map(|by| t.by = Some(by)),
    )
    .native(),
];

/// What `plot` can draw into.
const PLOT_KINDS: &[&str] = &["html", "svg", "png", "text", "markdown", "json"];

/// What can be drawn of client and server together.
const SERVER: &[&str] = &["percentiles", "time"];

/// How percentiles may be spread.
const AXES: &[&str] = &["linear", "tail"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_from_elsewhere() {
        let value = given_value("load average:hash=1.15,a=b=3").unwrap();
        assert_eq!((value.name.as_str(), value.unit.as_str()), ("load average", ""));
        assert_eq!(value.values, [("hash".to_owned(), 1.15), ("a=b".to_owned(), 3.0)]);
        assert_eq!(given_value("memory[MiB]:a=1").unwrap().unit, "MiB");
        for text in ["", "load", "load:", "load:hash", "load:hash=x", "load:hash=NaN", "a:b=1,"] {
            assert!(given_value(text).is_err(), "{text}");
        }
    }
}

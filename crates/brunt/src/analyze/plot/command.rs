//! `plot`: results in, one picture out: latency over time, percentile curves, histograms, overlays with their differences,
//! bars. The figures of bars and overlays also come as text and JSON.

use cli::{
    CommandError, Document, ExitCode, Invocation, Output, ParsedArgs, stdout_is_terminal,
    usage_error,
};

use super::chart::{Chart, ChartAndDamage, title};
use super::curves::{Shape, curves, overlay};
use super::flags::{PLOT, PlotFlags};
use super::operand::{Operand, operands};
use super::over_time::over_time;
use super::{bars, load, parts, server};
use crate::analyze::figure_file::PICTURES;
use crate::dialect::ReadRules;

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Picture {
    OverTime,
    Percentiles,
    Histogram,
    Overlay,
    Bars,
    Server,
}

/// Plots.
pub(crate) fn run(invocation: &Invocation) -> Result<ExitCode, CommandError> {
    let typed = invocation.parse(PLOT)?;
    let picture = picture(&typed.flags)?;
    let place = Output::named(typed.flags.output.as_deref());
    let operands = operands(&typed)?;
    let rules = ReadRules::of(typed.dialect);
    if typed.flags.by.is_some() && picture == Picture::Server {
        return Err(usage_error("-by parts no plot of the server's side"));
    }
    let operands = parts::parted(operands, typed.flags.by.as_ref(), rules)?;
    let names: Vec<String> = operands.iter().map(|operand| operand.file.clone()).collect();
    place.spares("-output", &names)?;
    let kind = kind(&typed)?;
    check(&typed, picture, kind)?;
    let (chart, damage) = draw(&typed, picture, &operands)?;
    place.write(&chart.document(kind)?)?;
    // Beside a picture in a file there is room for its figures.
    let figures = if typed.flags.json { Document::Json } else { Document::Text };
    if place != Output::Stdout && PICTURES.contains(&kind) {
        match &chart {
            Chart::Figure(_) | Chart::Sheet(_) => {}
            chart => Output::Stdout.write(&chart.document(figures)?)?,
        }
    }
    damage.map_or(Ok(ExitCode::Ok), |failed| Err(failed.into()))
}

/// The one picture that is asked for.
fn picture(flags: &PlotFlags) -> Result<Picture, CommandError> {
    let asked = [
        ("-percentiles", flags.percentiles, Picture::Percentiles),
        ("-histogram", flags.histogram, Picture::Histogram),
        ("-overlay", flags.overlay, Picture::Overlay),
        ("-bars", flags.bars.is_some() || !flags.values.is_empty(), Picture::Bars),
        ("-server", flags.server.is_some(), Picture::Server),
    ];
    let mut asked = asked.into_iter().filter(|(_, on, _)| *on);
    match (asked.next(), asked.next()) {
        (None, _) => Ok(Picture::OverTime),
        (Some((.., picture)), None) => Ok(picture),
        (Some((one, ..)), Some((other, ..))) => {
            Err(usage_error(format!("{one} and {other} exclude each other (give one of them)")))
        }
    }
}

/// What a plot may be written as.
const DOCUMENTS: [Document; 6] = [
    Document::Html,
    Document::Svg,
    Document::Png,
    Document::Json,
    Document::Markdown,
    Document::Text,
];

/// `-type`, else the output's ending where it may choose, else HTML; with `-json` and no file it is JSON.
fn kind(typed: &ParsedArgs<PlotFlags>) -> Result<Document, CommandError> {
    let flags = &typed.flags;
    let rules = ReadRules::of(typed.dialect);
    let output = flags.output.as_deref().filter(|_| rules.ending_chooses);
    if let Some(name) = flags.kind.as_deref() {
        return Ok(named(name));
    }
    let found = Document::by_ending("-output", output, &DOCUMENTS)
        .map_err(|wrong| usage_error(format!("{wrong} (or give -type)")))?;
    let default = if flags.json { Document::Json } else { Document::Html };
    Ok(found.unwrap_or(default))
}

/// The format of this name, which is one of those of `-type`.
fn named(kind: &str) -> Document {
    match kind {
        "svg" => Document::Svg,
        "png" => Document::Png,
        "json" => Document::Json,
        "markdown" => Document::Markdown,
        "text" => Document::Text,
        _ => Document::Html,
    }
}

/// What cannot be done, or not together.
fn check(
    typed: &ParsedArgs<PlotFlags>,
    picture: Picture,
    kind: Document,
) -> Result<(), CommandError> {
    let flags = &typed.flags;
    let to_stdout = Output::named(flags.output.as_deref()) == Output::Stdout;
    if kind == Document::Png && to_stdout && stdout_is_terminal() {
        return Err(usage_error("png is binary and cannot go to a terminal (give -output=FILE)"));
    }
    let has_figures = matches!(picture, Picture::Overlay | Picture::Bars);
    if !has_figures && (flags.json || !PICTURES.contains(&kind)) {
        return Err(usage_error("text, Markdown and JSON need -bars or -overlay"));
    }
    if flags.json && to_stdout && kind != Document::Json {
        return Err(usage_error(
            "-json and a picture cannot both go to standard output (give -output=FILE)",
        ));
    }
    if flags.axis.is_some() && picture != Picture::Percentiles {
        return Err(usage_error("-axis needs -percentiles"));
    }
    Ok(())
}

fn draw(
    typed: &ParsedArgs<PlotFlags>,
    picture: Picture,
    operands: &[Operand],
) -> Result<ChartAndDamage, CommandError> {
    let flags = &typed.flags;
    let default = match picture {
        Picture::OverTime => return over_time(typed, operands),
        Picture::Server => return server::draw(typed, operands),
        Picture::Percentiles => "Response times by percentile",
        Picture::Histogram | Picture::Overlay => "Response times",
        Picture::Bars => "Results",
    };
    let part = flags.selector.to_string();
    let default = if part.is_empty() { default.to_owned() } else { format!("{default}, {part}") };
    let title = title(flags, &default);
    // Figures from elsewhere alone need no file.
    let only_given = picture == Picture::Bars && flags.bars.is_none() && typed.operands.is_empty();
    let (labels, damage) = if only_given { (Vec::new(), None) } else { load::load(operands)? };
    let chart = match picture {
        Picture::Bars => {
            let list = flags.bars.as_deref().unwrap_or_default();
            Chart::Bars(bars::sheet(title, list, &labels, &flags.values)?)
        }
        Picture::Overlay => overlay(title, &labels),
        picture => {
            let shape = match (picture, flags.axis.as_deref()) {
                (Picture::Histogram, _) => Shape::Histogram,
                (_, Some("linear")) => Shape::Shares,
                _ => Shape::Percentiles,
            };
            Chart::Figure(curves(shape, title, &labels))
        }
    };
    Ok((chart, damage))
}

#[cfg(test)]
mod tests {
    use cli::{Dialect, GlobalFlags};

    use super::*;
    use crate::analyze::figure_file::figure_document;

    fn typed(output: Option<&str>) -> ParsedArgs<PlotFlags> {
        ParsedArgs {
            dialect: Dialect::Native,
            global: GlobalFlags::default(),
            flags: PlotFlags { output: output.map(str::to_owned), ..PlotFlags::default() },
            operands: Vec::new(),
        }
    }

    #[test]
    fn the_outputs_ending_decides() {
        for (output, expected) in [
            (None, Document::Html),
            (Some("a.md"), Document::Markdown),
            (Some("a.htm"), Document::Html),
            (Some("a.svg"), Document::Svg),
            (Some("a.png"), Document::Png),
            (Some("a.json"), Document::Json),
            (Some("a.txt"), Document::Text),
            (Some("a"), Document::Html),
        ] {
            assert_eq!(kind(&typed(output)).ok(), Some(expected), "{output:?}");
        }
        let vegeta = ParsedArgs { dialect: Dialect::Vegeta, ..typed(Some("a.png")) };
        assert_eq!(
            kind(&vegeta).ok(),
            Some(Document::Html),
            "Vegeta's plots are pages, whatever their name"
        );
    }

    #[test]
    fn unknown_endings_are_refused_unless_the_type_is_given() {
        for output in ["a.pdf", "a.jpg", "a.csv", "a.html.gz"] {
            let typed = typed(Some(output));
            assert!(kind(&typed).is_err(), "{output}");
            let flags = PlotFlags { kind: Some("png".to_owned()), ..typed.flags.clone() };
            assert_eq!(kind(&ParsedArgs { flags, ..typed }).ok(), Some(Document::Png), "{output}");
        }
        assert_eq!(figure_document("-plot", "a.svg"), Ok(Document::Svg));
        assert!(figure_document("-plot", "a.json").is_err(), "a figure alone has none");
    }

    #[test]
    fn one_picture_at_a_time() {
        let flags = PlotFlags { percentiles: true, ..PlotFlags::default() };
        assert_eq!(picture(&flags).ok(), Some(Picture::Percentiles));
        assert_eq!(picture(&PlotFlags::default()).ok(), Some(Picture::OverTime));
        assert!(picture(&PlotFlags { overlay: true, ..flags.clone() }).is_err());
        assert!(picture(&PlotFlags { bars: Some("rate".to_owned()), ..flags }).is_err());
    }

    #[test]
    fn figures_are_of_bars_and_overlays() {
        let with = |flags: PlotFlags| ParsedArgs { flags, ..typed(None) };
        let json = with(PlotFlags { json: true, ..PlotFlags::default() });
        assert_eq!(kind(&json).ok(), Some(Document::Json));
        assert!(check(&json, Picture::Bars, Document::Json).is_ok());
        assert!(check(&json, Picture::OverTime, Document::Json).is_err());
        assert!(check(&json, Picture::Bars, Document::Html).is_err(), "two documents, one output");
        let axis = with(PlotFlags { axis: Some("linear".to_owned()), ..PlotFlags::default() });
        assert!(check(&axis, Picture::Percentiles, Document::Html).is_ok());
        assert!(check(&axis, Picture::Bars, Document::Html).is_err());
    }
}

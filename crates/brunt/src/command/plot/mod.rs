//! `plot`: results in, one picture out: latency over time, percentile curves, histograms, overlays with their differences,
//! bars. The figures of bars and overlays also come as text and JSON.

mod bars;
mod load;
mod operand;
mod server;

use std::path::Path;

use anyhow::anyhow;
use metrics::{Batch, Histogram};
use report::{BarSheet, Curve, Differences, Figure, FigureSheet, PlotBuilder, Runs, Size};
use results::{Item, Reader};

use self::load::Label;
use self::operand::{Operand, operands};
use super::{Ended, encode, patience, usage};
use crate::dialect::{Dialect, Invocation, Typed};
use crate::exit_code::{ExitCode, Failed, OrExit};
use crate::flags::results::{PLOT, PlotFlags};
use crate::input::{self, Interrupts};
use crate::output::{self, Place};

/// The document's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Html,
    Svg,
    Png,
    Text,
    Json,
}

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

/// What was drawn.
enum Drawn {
    /// A chart.
    Figure(Figure),
    /// A chart, and the differences of what is on it.
    Compared(Figure, Differences),
    /// Charts of bars.
    Bars(BarSheet),
    /// Charts with one axis of time.
    Sheet(FigureSheet),
}

/// Pictures of fixed size are this large.
const SIZE: Size = Size { width: 1200, height: 700 };

/// Plots.
pub(super) fn run(invocation: &Invocation) -> Result<ExitCode, Ended> {
    let typed = invocation.typed(PLOT)?;
    let picture = picture(&typed.flags)?;
    let kind = kind(&typed);
    check(&typed, picture, kind)?;
    let place = Place::named(typed.flags.output.as_deref());
    let operands = operands(&typed)?;
    let names: Vec<String> = operands.iter().map(|operand| operand.file.clone()).collect();
    place.spares(&names)?;
    let (drawn, damage) = draw(&typed, picture, &operands)?;
    place.write(&drawn.document(kind)?)?;
    // Beside a picture in a file there is room for its figures.
    let figures = if typed.flags.json { Kind::Json } else { Kind::Text };
    if place != Place::Stdout && matches!(kind, Kind::Html | Kind::Svg | Kind::Png) {
        match &drawn {
            Drawn::Figure(_) | Drawn::Sheet(_) => {}
            drawn => Place::Stdout.write(&drawn.document(figures)?)?,
        }
    }
    damage.map_or(Ok(ExitCode::Ok), |failed| Err(failed.into()))
}

/// The one picture that is asked for.
fn picture(flags: &PlotFlags) -> Result<Picture, Ended> {
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
            Err(usage(format!("{one} and {other} are two pictures (give one of them)")))
        }
    }
}

/// `-type`, else natively the output's ending, else HTML; with `-json` and no file it is JSON.
fn kind(typed: &Typed<PlotFlags>) -> Kind {
    let flags = &typed.flags;
    let output = flags.output.as_deref().filter(|_| typed.dialect == Dialect::Native);
    match flags.kind.as_deref().or(output.and_then(ending)) {
        None if flags.json => Kind::Json,
        kind => kind.and_then(named).unwrap_or(Kind::Html),
    }
}

fn ending(path: &str) -> Option<&str> {
    Path::new(path).extension()?.to_str()
}

/// The format of this name or ending.
fn named(kind: &str) -> Option<Kind> {
    match kind {
        "html" => Some(Kind::Html),
        "svg" => Some(Kind::Svg),
        "png" => Some(Kind::Png),
        "json" => Some(Kind::Json),
        "text" | "txt" => Some(Kind::Text),
        _ => None,
    }
}

/// A figure in a picture's format; a page where that is none.
fn of_figure(figure: &Figure, kind: Kind) -> Result<Vec<u8>, Failed> {
    match kind {
        Kind::Svg => Ok(figure.svg(SIZE).into_bytes()),
        Kind::Png => figure.png(SIZE).or_exit(ExitCode::Failure),
        Kind::Html | Kind::Text | Kind::Json => Ok(figure.html().into_bytes()),
    }
}

/// Draws a figure into a file whose ending says how: SVG, PNG, else a page.
///
/// # Errors
/// The file cannot be written.
pub(super) fn write_figure(figure: &Figure, path: &str) -> Result<(), Failed> {
    let kind = ending(path).and_then(named).unwrap_or(Kind::Html);
    Place::named(Some(path)).write(&of_figure(figure, kind)?)
}

/// What cannot be done, or not together.
fn check(typed: &Typed<PlotFlags>, picture: Picture, kind: Kind) -> Result<(), Ended> {
    let flags = &typed.flags;
    let to_stdout = Place::named(flags.output.as_deref()) == Place::Stdout;
    if kind == Kind::Png && to_stdout && output::stdout_is_terminal() {
        return Err(usage("png is no text for a terminal (give -output=FILE)"));
    }
    let has_figures = matches!(picture, Picture::Overlay | Picture::Bars);
    if !has_figures && (flags.json || matches!(kind, Kind::Text | Kind::Json)) {
        return Err(usage("only -bars and -overlay have figures to give as text or JSON"));
    }
    if flags.json && to_stdout && kind != Kind::Json {
        return Err(usage(
            "-json and a picture cannot both go to standard output (give -output=FILE)",
        ));
    }
    if flags.axis.is_some() && picture != Picture::Percentiles {
        return Err(usage("-axis is of -percentiles"));
    }
    Ok(())
}

/// What was drawn, and the first damage of an input, which ended the reading of that input.
type Damaged = (Drawn, Option<Failed>);

fn draw(
    typed: &Typed<PlotFlags>,
    picture: Picture,
    operands: &[Operand],
) -> Result<Damaged, Ended> {
    let flags = &typed.flags;
    let default = match picture {
        Picture::OverTime => return over_time(typed, operands),
        Picture::Server => return server::draw(typed, operands),
        Picture::Percentiles => "Response times by percentile",
        Picture::Histogram | Picture::Overlay => "Response times",
        Picture::Bars => "Results",
    };
    let title = title(typed, "", default);
    // Figures from elsewhere alone need no file.
    let only_given = picture == Picture::Bars && flags.bars.is_none() && typed.operands.is_empty();
    let (labels, damage) = if only_given { (Vec::new(), None) } else { load::load(operands)? };
    let drawn = match picture {
        Picture::Bars => {
            let list = flags.bars.as_deref().unwrap_or_default();
            Drawn::Bars(bars::sheet(title, list, &labels, &flags.values)?)
        }
        Picture::Overlay => overlay(title, &labels),
        _ => Drawn::Figure(curves(typed, picture, title, &labels)),
    };
    Ok((drawn, damage))
}

/// A curve a label, its runs together.
fn curves(typed: &Typed<PlotFlags>, picture: Picture, title: &str, labels: &[Label]) -> Figure {
    let pooled: Vec<(&str, Histogram)> = pooled(labels);
    let curves: Vec<Curve<'_>> =
        pooled.iter().map(|(label, times)| Curve { label, times }).collect();
    match (picture, typed.flags.axis.as_deref()) {
        (Picture::Histogram, _) => report::histogram(title, &curves),
        (_, Some("linear")) => report::shares_of_requests(title, &curves),
        _ => report::percentiles(title, &curves),
    }
}

fn pooled(labels: &[Label]) -> Vec<(&str, Histogram)> {
    let all = |label: &Label| {
        let mut all = Histogram::default();
        label.runs.iter().for_each(|run| all.merge(&run.times));
        all
    };
    labels.iter().map(|label| (label.label.as_str(), all(label))).collect()
}

/// Densities on common bins, and whether they differ.
fn overlay(title: &str, labels: &[Label]) -> Drawn {
    let pooled = pooled(labels);
    let curves: Vec<Curve<'_>> =
        pooled.iter().map(|(label, times)| Curve { label, times }).collect();
    let times: Vec<(&str, Vec<Histogram>)> =
        labels.iter().map(|label| (label.label.as_str(), label.times())).collect();
    let runs: Vec<Runs<'_>> = times.iter().map(|(label, runs)| Runs { label, runs }).collect();
    Drawn::Compared(report::density(title, &curves), Differences::of(&runs))
}

impl Drawn {
    /// The document to write. Text and JSON are those of bars and differences; [`check`] refuses them for other figures.
    fn document(&self, kind: Kind) -> Result<Vec<u8>, Ended> {
        let text = match (self, kind) {
            (Self::Figure(figure), _) => return Ok(of_figure(figure, kind)?),
            (Self::Compared(figure, differences), Kind::Svg | Kind::Png) => {
                let mut figure = figure.clone();
                figure.notes.extend(differences.notes());
                return Ok(of_figure(&figure, kind)?);
            }
            (Self::Compared(figure, differences), Kind::Html) => figure.html_with(differences),
            (Self::Compared(_, differences), Kind::Text) => differences.text(),
            (Self::Compared(_, differences), Kind::Json) => differences.json(),
            (Self::Sheet(sheet), Kind::Png) => {
                return Ok(sheet.png().or_exit(ExitCode::Failure)?);
            }
            (Self::Sheet(sheet), Kind::Svg) => sheet.svg(),
            (Self::Sheet(sheet), _) => sheet.html(),
            (Self::Bars(sheet), Kind::Png) => return Ok(sheet.png().or_exit(ExitCode::Failure)?),
            (Self::Bars(sheet), Kind::Svg) => sheet.svg(),
            (Self::Bars(sheet), Kind::Html) => sheet.html(),
            (Self::Bars(sheet), Kind::Text) => sheet.text(),
            (Self::Bars(sheet), Kind::Json) => sheet.json(),
        };
        Ok(text.into_bytes())
    }
}

/// Latency over time, a series per attack and outcome.
fn over_time(typed: &Typed<PlotFlags>, operands: &[Operand]) -> Result<Damaged, Ended> {
    if let Some(operand) = operands.iter().find(|operand| operand.column.is_some()) {
        return Err(usage(format!(
            "{operand}: over time only response times are drawn (give -percentiles, -histogram, -overlay or -bars)"
        )));
    }
    let threshold = usize::try_from(typed.flags.threshold).unwrap_or(usize::MAX);
    let mut builder = PlotBuilder::new(threshold).map_err(|error| match typed.dialect {
        Dialect::Native => usage(format!("flag -threshold: {error}")),
        Dialect::Vegeta => Failed::from(anyhow!("{error}")).into(),
    })?;
    let take = |batch: &Batch, reader: &Reader, label: &str| {
        builder.add(batch, reader.targets(), label);
    };
    let damage = for_each_input(typed.dialect, operands, take)?;
    Ok((Drawn::Figure(builder.finish(title(typed, "Vegeta Plot", "Response times"))), damage))
}

/// The title given, else the dialect's.
fn title<'a>(typed: &'a Typed<PlotFlags>, vegeta: &'a str, native: &'a str) -> &'a str {
    let default = match typed.dialect {
        Dialect::Vegeta => vegeta,
        Dialect::Native => native,
    };
    typed.flags.title.as_deref().unwrap_or(default)
}

/// Reads one input after the other, each with its label. What came before damage counts; the first damage is given back,
/// unless nothing came at all.
fn for_each_input(
    dialect: Dialect,
    operands: &[Operand],
    mut take: impl FnMut(&Batch, &Reader, &str),
) -> Result<Option<Failed>, Ended> {
    let interrupts = Interrupts::watch()?;
    let (mut batch, mut rows, mut damage) = (Batch::default(), 0, None);
    for Operand { label, file, .. } in operands {
        let inputs =
            input::open_results(std::slice::from_ref(file), &interrupts, patience(dialect))?;
        let unreadable = |error| encode::unreadable(&error, dialect);
        let mut reader = Reader::open(inputs).map_err(unreadable)?;
        loop {
            match reader.next(&mut batch) {
                Ok(Some(Item::Hits)) => {
                    rows += batch.samples.len();
                    take(&batch, &reader, label);
                }
                Ok(Some(Item::Generator { .. } | Item::Server(_) | Item::Assertion(_))) => {}
                Ok(None) => break,
                Err(error) => {
                    damage = damage.or(Some(unreadable(error)));
                    break;
                }
            }
        }
        for loss in reader.losses() {
            output::complain(&format!("brunt plot: {loss}"));
        }
    }
    match damage {
        Some(failed) if rows == 0 => Err(failed.into()),
        damage => Ok(damage),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::global::Global;

    fn typed(output: Option<&str>) -> Typed<PlotFlags> {
        Typed {
            dialect: Dialect::Native,
            global: Global::default(),
            flags: PlotFlags { output: output.map(str::to_owned), ..PlotFlags::default() },
            operands: Vec::new(),
        }
    }

    #[test]
    fn the_outputs_ending_decides() {
        for (output, expected) in [
            (None, Kind::Html),
            (Some("a.svg"), Kind::Svg),
            (Some("a.png"), Kind::Png),
            (Some("a.json"), Kind::Json),
            (Some("a.txt"), Kind::Text),
            (Some("a"), Kind::Html),
        ] {
            assert_eq!(kind(&typed(output)), expected, "{output:?}");
        }
        let vegeta = Typed { dialect: Dialect::Vegeta, ..typed(Some("a.png")) };
        assert_eq!(kind(&vegeta), Kind::Html, "Vegeta's plots are pages, whatever their name");
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
        let with = |flags: PlotFlags| Typed { flags, ..typed(None) };
        let json = with(PlotFlags { json: true, ..PlotFlags::default() });
        assert_eq!(kind(&json), Kind::Json);
        assert!(check(&json, Picture::Bars, Kind::Json).is_ok());
        assert!(check(&json, Picture::OverTime, Kind::Json).is_err());
        assert!(check(&json, Picture::Bars, Kind::Html).is_err(), "two documents, one output");
        let axis = with(PlotFlags { axis: Some("linear".to_owned()), ..PlotFlags::default() });
        assert!(check(&axis, Picture::Percentiles, Kind::Html).is_ok());
        assert!(check(&axis, Picture::Bars, Kind::Html).is_err());
    }
}

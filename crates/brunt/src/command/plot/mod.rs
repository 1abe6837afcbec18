//! `plot`: results in, one picture out: latency over time, percentile curves, histograms, overlays with their differences,
//! bars. The figures of bars and overlays also come as text and JSON.

mod bars;
mod load;
mod operand;
mod server;

use anyhow::anyhow;
use metrics::{Batch, Histogram};
use report::{BarSheet, Curve, Differences, Figure, FigureSheet, PlotBuilder, Runs, Size};
use results::{Item, Reader};

use self::load::Label;
use self::operand::{Operand, operands};
use super::{CommandError, encode, usage_error};
use crate::dialect::{Dialect, Invocation, ParsedArgs};
use crate::ending::Document;
use crate::exit_code::{ExitCode, Failed, OrExit};
use crate::flags::results::{PLOT, PlotFlags};
use crate::input::{self, Interrupts};
use crate::output::{self, Place};

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
pub(super) fn run(invocation: &Invocation) -> Result<ExitCode, CommandError> {
    let typed = invocation.parse(PLOT)?;
    let picture = picture(&typed.flags)?;
    let place = Place::named(typed.flags.output.as_deref());
    let operands = operands(&typed)?;
    let names: Vec<String> = operands.iter().map(|operand| operand.file.clone()).collect();
    place.spares(&names)?;
    let kind = kind(&typed)?;
    check(&typed, picture, kind)?;
    let (drawn, damage) = draw(&typed, picture, &operands)?;
    place.write(&drawn.document(kind)?)?;
    // Beside a picture in a file there is room for its figures.
    let figures = if typed.flags.json { Document::Json } else { Document::Text };
    if place != Place::Stdout && PICTURES.contains(&kind) {
        match &drawn {
            Drawn::Figure(_) | Drawn::Sheet(_) => {}
            drawn => Place::Stdout.write(&drawn.document(figures)?)?,
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
            Err(usage_error(format!("{one} and {other} are two pictures (give one of them)")))
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

/// What a figure alone may be written as.
const PICTURES: [Document; 3] = [Document::Html, Document::Svg, Document::Png];

/// `-type`, else natively the output's ending, else HTML; with `-json` and no file it is JSON.
fn kind(typed: &ParsedArgs<PlotFlags>) -> Result<Document, CommandError> {
    let flags = &typed.flags;
    let output = flags.output.as_deref().filter(|_| typed.dialect == Dialect::Native);
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

/// A figure in a picture's format; a page where that is none.
fn of_figure(figure: &Figure, kind: Document) -> Result<Vec<u8>, Failed> {
    match kind {
        Document::Svg => Ok(figure.svg(SIZE).into_bytes()),
        Document::Png => figure.png(SIZE).or_exit(ExitCode::Failure),
        _ => Ok(figure.html().into_bytes()),
    }
}

/// What the ending of a figure's file says; a page where it has none.
///
/// # Errors
/// The ending is that of no picture; the text says so, and `flag` is what named the file.
pub(super) fn figure_document(flag: &str, path: &str) -> Result<Document, String> {
    let found = Document::by_ending(flag, Some(path), &PICTURES)?;
    Ok(found.unwrap_or(Document::Html))
}

/// Draws a figure into a file.
///
/// # Errors
/// The file cannot be written.
pub(super) fn write_figure(figure: &Figure, path: &str, kind: Document) -> Result<(), Failed> {
    Place::named(Some(path)).write(&of_figure(figure, kind)?)
}

/// What cannot be done, or not together.
fn check(
    typed: &ParsedArgs<PlotFlags>,
    picture: Picture,
    kind: Document,
) -> Result<(), CommandError> {
    let flags = &typed.flags;
    let to_stdout = Place::named(flags.output.as_deref()) == Place::Stdout;
    if kind == Document::Png && to_stdout && output::stdout_is_terminal() {
        return Err(usage_error("png is no text for a terminal (give -output=FILE)"));
    }
    let has_figures = matches!(picture, Picture::Overlay | Picture::Bars);
    if !has_figures && (flags.json || !PICTURES.contains(&kind)) {
        return Err(usage_error(
            "only -bars and -overlay have figures to give as text, Markdown or JSON",
        ));
    }
    if flags.json && to_stdout && kind != Document::Json {
        return Err(usage_error(
            "-json and a picture cannot both go to standard output (give -output=FILE)",
        ));
    }
    if flags.axis.is_some() && picture != Picture::Percentiles {
        return Err(usage_error("-axis is of -percentiles"));
    }
    Ok(())
}

/// What was drawn, and the first damage of an input, which ended the reading of that input.
type Damaged = (Drawn, Option<Failed>);

fn draw(
    typed: &ParsedArgs<PlotFlags>,
    picture: Picture,
    operands: &[Operand],
) -> Result<Damaged, CommandError> {
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
fn curves(
    typed: &ParsedArgs<PlotFlags>,
    picture: Picture,
    title: &str,
    labels: &[Label],
) -> Figure {
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
    fn document(&self, kind: Document) -> Result<Vec<u8>, CommandError> {
        let text = match (self, kind) {
            (Self::Figure(figure), _) => return Ok(of_figure(figure, kind)?),
            (Self::Compared(figure, differences), Document::Svg | Document::Png) => {
                let mut figure = figure.clone();
                figure.notes.extend(differences.notes());
                return Ok(of_figure(&figure, kind)?);
            }
            (Self::Compared(_, differences), Document::Json) => differences.json(),
            (Self::Compared(_, differences), Document::Text) => differences.text(),
            (Self::Compared(_, differences), Document::Markdown) => fenced(&differences.text()),
            (Self::Compared(figure, differences), _) => figure.html_with(differences),
            (Self::Sheet(sheet), Document::Png) => {
                return Ok(sheet.png().or_exit(ExitCode::Failure)?);
            }
            (Self::Sheet(sheet), Document::Svg) => sheet.svg(),
            (Self::Sheet(sheet), _) => sheet.html(),
            (Self::Bars(sheet), Document::Png) => {
                return Ok(sheet.png().or_exit(ExitCode::Failure)?);
            }
            (Self::Bars(sheet), Document::Svg) => sheet.svg(),
            (Self::Bars(sheet), Document::Json) => sheet.json(),
            (Self::Bars(sheet), Document::Text) => sheet.text(),
            (Self::Bars(sheet), Document::Markdown) => fenced(&sheet.text()),
            (Self::Bars(sheet), _) => sheet.html(),
        };
        Ok(text.into_bytes())
    }
}

/// Tables of text as Markdown: as they are, in a block of code.
fn fenced(text: &str) -> String {
    format!("```\n{}\n```\n", text.trim_end().replace('`', "'"))
}

/// Latency over time, a series per attack and outcome.
fn over_time(typed: &ParsedArgs<PlotFlags>, operands: &[Operand]) -> Result<Damaged, CommandError> {
    if let Some(operand) = operands.iter().find(|operand| operand.column.is_some()) {
        return Err(usage_error(format!(
            "{operand}: over time only response times are drawn (give -percentiles, -histogram, -overlay or -bars)"
        )));
    }
    let threshold = usize::try_from(typed.flags.threshold).unwrap_or(usize::MAX);
    let mut builder = PlotBuilder::new(threshold).map_err(|error| match typed.dialect {
        Dialect::Native => usage_error(format!("flag -threshold: {error}")),
        Dialect::Vegeta => Failed::from(anyhow!("{error}")).into(),
    })?;
    let take = |batch: &Batch, reader: &Reader, label: &str| {
        builder.add(batch, reader.targets(), label);
    };
    let damage = for_each_input(typed.dialect, operands, take)?;
    Ok((Drawn::Figure(builder.finish(title(typed, "Vegeta Plot", "Response times"))), damage))
}

/// The title given, else the dialect's.
fn title<'a>(typed: &'a ParsedArgs<PlotFlags>, vegeta: &'a str, native: &'a str) -> &'a str {
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
) -> Result<Option<Failed>, CommandError> {
    let interrupts = Interrupts::watch()?;
    let (mut batch, mut rows, mut damage) = (Batch::default(), 0, None);
    for Operand { label, file, .. } in operands {
        let inputs = input::open_results(
            std::slice::from_ref(file),
            &interrupts,
            dialect.interrupt_grace(),
        )?;
        let unreadable = |error| encode::unreadable(&error, dialect);
        let mut reader = Reader::open(inputs).map_err(unreadable)?;
        loop {
            match reader.next(&mut batch) {
                Ok(Some(Item::Hits)) => {
                    rows += batch.samples.len();
                    take(&batch, &reader, label);
                }
                Ok(Some(Item::Generator { .. } | Item::Server(_) | Item::Assertion { .. })) => {}
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
    use cli::GlobalFlags;

    use super::*;

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

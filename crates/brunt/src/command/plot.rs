//! `plot`: results in, one picture out: latency over time, percentile curves or histograms.

use std::path::Path;

use anyhow::anyhow;
use metrics::{Batch, Histogram};
use report::{Curve, Figure, PlotBuilder, Size};
use results::{Item, Reader};

use super::{Ended, encode, patience, usage};
use crate::dialect::{Dialect, Invocation, Typed};
use crate::exit_code::{ExitCode, Failed, OrExit};
use crate::flags::results::{PLOT, PlotFlags};
use crate::input::{self, Interrupts};
use crate::output::{self, Place};

/// The picture's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Html,
    Svg,
    Png,
}

/// Pictures of fixed size are this large.
const SIZE: Size = Size { width: 1200, height: 700 };

/// Plots.
pub(super) fn run(invocation: &Invocation) -> Result<ExitCode, Ended> {
    let typed = invocation.typed(PLOT)?;
    let flags = &typed.flags;
    let kind = kind(&typed);
    let place = Place::named(flags.output.as_deref());
    if kind == Kind::Png && place == Place::Stdout && output::stdout_is_terminal() {
        return Err(usage("png is no text for a terminal (give -output=FILE)"));
    }
    if flags.percentiles && flags.histogram {
        return Err(usage("-percentiles and -histogram are two pictures (give one of them)"));
    }
    let names: Vec<String> = operands(&typed).into_iter().map(|(_, name)| name).collect();
    place.spares(&names)?;
    let (figure, damage) = if flags.percentiles || flags.histogram {
        distributions(&typed)?
    } else {
        over_time(&typed)?
    };
    write(&figure, kind, &place)?;
    damage.map_or(Ok(ExitCode::Ok), |failed| Err(failed.into()))
}

/// `-type`, else natively the output's ending, else HTML.
fn kind(typed: &Typed<PlotFlags>) -> Kind {
    let flags = &typed.flags;
    let output = flags.output.as_deref().filter(|_| typed.dialect == Dialect::Native);
    named(flags.kind.as_deref().or(output.and_then(ending)))
}

fn ending(path: &str) -> Option<&str> {
    Path::new(path).extension()?.to_str()
}

fn named(kind: Option<&str>) -> Kind {
    match kind {
        Some("svg") => Kind::Svg,
        Some("png") => Kind::Png,
        _ => Kind::Html,
    }
}

fn write(figure: &Figure, kind: Kind, place: &Place) -> Result<(), Failed> {
    let document = match kind {
        Kind::Html => figure.html().into_bytes(),
        Kind::Svg => figure.svg(SIZE).into_bytes(),
        Kind::Png => figure.png(SIZE).or_exit(ExitCode::Failure)?,
    };
    place.write(&document)
}

/// Draws a figure into a file whose ending says how: SVG, PNG, else a page.
///
/// # Errors
/// The file cannot be written.
pub(super) fn write_figure(figure: &Figure, path: &str) -> Result<(), Failed> {
    write(figure, named(ending(path)), &Place::named(Some(path)))
}

/// A picture, and the first damage of an input, which ended the reading of that input.
type Drawn = (Figure, Option<Failed>);

/// Latency over time, a series per attack and outcome.
fn over_time(typed: &Typed<PlotFlags>) -> Result<Drawn, Ended> {
    let threshold = usize::try_from(typed.flags.threshold).unwrap_or(usize::MAX);
    let mut builder = PlotBuilder::new(threshold).map_err(|error| match typed.dialect {
        Dialect::Native => usage(format!("flag -threshold: {error}")),
        Dialect::Vegeta => Failed::from(anyhow!("{error}")).into(),
    })?;
    let take = |batch: &Batch, reader: &Reader, label: &str| {
        builder.add(batch, reader.targets(), label);
    };
    let damage = for_each_input(typed, take)?;
    Ok((builder.finish(title(typed, "Vegeta Plot", "Response times")), damage))
}

/// A curve per label.
fn distributions(typed: &Typed<PlotFlags>) -> Result<Drawn, Ended> {
    let mut seen: Vec<(String, Histogram)> = Vec::new();
    let damage = for_each_input(typed, |batch, _, label| {
        let at = seen.iter().position(|(of, _)| of == label).unwrap_or_else(|| {
            seen.push((label.to_owned(), Histogram::new()));
            seen.len() - 1
        });
        for sample in &batch.samples {
            seen[at].1.record(sample.response());
        }
    })?;
    let curves: Vec<Curve<'_>> = seen.iter().map(|(label, times)| Curve { label, times }).collect();
    let figure = if typed.flags.percentiles {
        report::percentiles(title(typed, "", "Response times by percentile"), &curves)
    } else {
        report::histogram(title(typed, "", "Response times"), &curves)
    };
    Ok((figure, damage))
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
    typed: &Typed<PlotFlags>,
    mut take: impl FnMut(&Batch, &Reader, &str),
) -> Result<Option<Failed>, Ended> {
    let interrupts = Interrupts::watch()?;
    let (mut batch, mut rows, mut damage) = (Batch::default(), 0, None);
    for (label, name) in &operands(typed) {
        let patience = patience(typed.dialect);
        let inputs = input::open_results(std::slice::from_ref(name), &interrupts, patience)?;
        let unreadable = |error| encode::unreadable(&error, typed.dialect);
        let mut reader = Reader::open(inputs).map_err(unreadable)?;
        loop {
            match reader.next(&mut batch) {
                Ok(Some(Item::Hits)) => {
                    rows += batch.samples.len();
                    take(&batch, &reader, label);
                }
                Ok(Some(Item::Generator { .. })) => {}
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

/// `label=file` or `file`, whose label is its name; none is standard input.
fn operands(typed: &Typed<PlotFlags>) -> Vec<(String, String)> {
    if typed.operands.is_empty() {
        return vec![(String::new(), "stdin".to_owned())];
    }
    let one = typed.operands.len() == 1;
    let split = |operand: &String| match operand.split_once('=') {
        // A file of that very name is meant by its name.
        Some((label, file)) if typed.dialect == Dialect::Native && !Path::new(operand).exists() => {
            (label.to_owned(), file.to_owned())
        }
        _ if one => (String::new(), operand.clone()),
        _ => (operand.clone(), operand.clone()),
    };
    typed.operands.iter().map(split).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::global::Global;

    fn typed(operands: &[&str], output: Option<&str>) -> Typed<PlotFlags> {
        Typed {
            dialect: Dialect::Native,
            global: Global::default(),
            flags: PlotFlags { output: output.map(str::to_owned), ..PlotFlags::default() },
            operands: operands.iter().map(|&text| text.to_owned()).collect(),
        }
    }

    #[test]
    fn labels_come_before_files() {
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        let cases = [
            (&[][..], vec![pair("", "stdin")]),
            (&["a.bin"], vec![pair("", "a.bin")]),
            (&["a.bin", "new=b.bin"], vec![pair("a.bin", "a.bin"), pair("new", "b.bin")]),
        ];
        for (given, expected) in cases {
            assert_eq!(operands(&typed(given, None)), expected);
        }
    }

    #[test]
    fn the_outputs_ending_decides() {
        for (output, expected) in [
            (None, Kind::Html),
            (Some("a.svg"), Kind::Svg),
            (Some("a.png"), Kind::Png),
            (Some("a"), Kind::Html),
        ] {
            assert_eq!(kind(&typed(&[], output)), expected, "{output:?}");
        }
        let vegeta = Typed { dialect: Dialect::Vegeta, ..typed(&[], Some("a.png")) };
        assert_eq!(kind(&vegeta), Kind::Html, "Vegeta's plots are pages, whatever their name");
    }
}

//! `plot`: results in, one picture out: latency over time, percentile curves or histograms.

use std::path::Path;

use anyhow::anyhow;
use metrics::{Batch, Histogram};
use report::{Curve, Figure, PlotBuilder, Size};
use results::{Item, Reader};

use super::{Ended, encode, usage};
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
    let kind = kind(flags);
    let place = Place::named(flags.output.as_deref());
    if kind == Kind::Png && place == Place::Stdout && output::stdout_is_terminal() {
        return Err(usage("png is no text for a terminal (give -output=FILE)"));
    }
    if flags.percentiles && flags.histogram {
        return Err(usage("-percentiles and -histogram are two pictures (give one of them)"));
    }
    let figure = if flags.percentiles || flags.histogram {
        distributions(&typed)?
    } else {
        over_time(&typed)?
    };
    let document = match kind {
        Kind::Html => figure.html().into_bytes(),
        Kind::Svg => figure.svg(SIZE).into_bytes(),
        Kind::Png => figure.png(SIZE).or_exit(ExitCode::Failure)?,
    };
    place.write(&document)?;
    Ok(ExitCode::Ok)
}

/// `-type`, else the output's ending, else HTML.
fn kind(flags: &PlotFlags) -> Kind {
    let ending = flags.output.as_deref().and_then(|path| Path::new(path).extension()?.to_str());
    match flags.kind.as_deref().or(ending) {
        Some("svg") => Kind::Svg,
        Some("png") => Kind::Png,
        _ => Kind::Html,
    }
}

/// Latency over time, a series per attack and outcome.
fn over_time(typed: &Typed<PlotFlags>) -> Result<Figure, Ended> {
    let threshold = usize::try_from(typed.flags.threshold).unwrap_or(usize::MAX);
    let mut builder = PlotBuilder::new(threshold).map_err(|error| match typed.dialect {
        Dialect::Native => usage(format!("flag -threshold: {error}")),
        Dialect::Vegeta => Failed::from(anyhow!("{error}")).into(),
    })?;
    for_each_input(typed, |batch, reader, label| builder.add(batch, reader.targets(), label))?;
    Ok(builder.finish(title(typed, "Vegeta Plot", "Response times")))
}

/// A curve per input.
fn distributions(typed: &Typed<PlotFlags>) -> Result<Figure, Ended> {
    let mut seen: Vec<(String, Histogram)> = Vec::new();
    for_each_input(typed, |batch, _, label| {
        let last = seen.last().is_some_and(|(of, _)| of == label);
        if !last {
            seen.push((label.to_owned(), Histogram::new()));
        }
        let (_, times) = seen.last_mut().expect("one was just put there");
        for sample in &batch.samples {
            times.record(sample.response());
        }
    })?;
    let curves: Vec<Curve<'_>> = seen.iter().map(|(label, times)| Curve { label, times }).collect();
    Ok(if typed.flags.percentiles {
        report::percentiles(title(typed, "", "Response times by percentile"), &curves)
    } else {
        report::histogram(title(typed, "", "Response times"), &curves)
    })
}

/// The title given, else the dialect's.
fn title<'a>(typed: &'a Typed<PlotFlags>, vegeta: &'a str, native: &'a str) -> &'a str {
    let default = match typed.dialect {
        Dialect::Vegeta => vegeta,
        Dialect::Native => native,
    };
    typed.flags.title.as_deref().unwrap_or(default)
}

/// Reads one input after the other, each with its label.
fn for_each_input(
    typed: &Typed<PlotFlags>,
    mut take: impl FnMut(&Batch, &Reader, &str),
) -> Result<(), Ended> {
    let interrupts = Interrupts::watch()?;
    let named = operands(typed);
    let mut batch = Batch::default();
    for (label, name) in &named {
        let inputs = input::open_results(std::slice::from_ref(name), &interrupts, PATIENCE)?;
        let unreadable = |error| encode::unreadable(&error, typed.dialect);
        let mut reader = Reader::open(inputs).map_err(unreadable)?;
        while let Some(item) = reader.next(&mut batch).map_err(unreadable)? {
            if item == Item::Hits {
                take(&batch, &reader, label);
            }
        }
        for loss in reader.losses() {
            output::complain(&format!("brunt plot: {loss}"));
        }
    }
    Ok(())
}

/// An interrupt ends reading at once.
const PATIENCE: std::time::Duration = std::time::Duration::ZERO;

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
            assert_eq!(kind(&typed(&[], output).flags), expected, "{output:?}");
        }
    }
}

//! `fit`: a model of the server from results at several loads, and its predictions for other loads.

use cli::{CommandError, Document, ExitCode, Invocation, Output, usage_error};
use report::fit::FitInput;
use study::scaling::{Kind, fit};

use super::flags::{FIT, FitFlags};
use super::measured::{Measurements, measured};
use crate::analyze::figure_file::{figure_document, write_figure};

/// What the help says beside the flags.
pub(crate) const ABOUT: &str = "Each operand is a file of results at one load, or a folder of repeats at one load; write LOAD=FILE \
                                if the file's format does not hold the load. STATE is the -state file of a seek. Loads in users \
                                are fitted with a closed network and the Universal Scalability Law, loads in requests per second \
                                with M/M/c and M/G/c. A poor fit is refused, with exit code 8.";

/// Fits.
pub(crate) fn run(invocation: &Invocation) -> Result<ExitCode, CommandError> {
    let typed = invocation.parse(FIT)?;
    let flags = &typed.flags;
    if typed.operands.is_empty() && flags.points.is_empty() {
        return Err(usage_error(
            "measurements are missing: give files of results, a seek's -state file, or -point",
        ));
    }
    let place = Output::named(flags.output.as_deref());
    place.spares("-output", &typed.operands)?;
    flags
        .plot
        .iter()
        .try_for_each(|path| Output::named(Some(path)).spares("-plot", &typed.operands))?;
    let drawn = flags.plot.as_deref().map(|path| {
        let document = figure_document("-plot", path).map_err(usage_error)?;
        Ok::<_, CommandError>((path, document))
    });
    let drawn = drawn.transpose()?;
    let kind = kind(flags)?;
    let Measurements { sweep, notes, damage } = measured(&typed.operands, flags)?;
    let wanted = wanted(flags, sweep.by)?;
    let found = fit(&sweep, wanted, flags.seed);
    let input = FitInput { sweep: &sweep, found: &found, at: &flags.at, notes: &notes };
    let document = match kind {
        Document::Json => report::fit::json(&input),
        _ => report::fit::text(&input),
    };
    place.write(document.as_bytes())?;
    if let Some((path, document)) = drawn {
        write_figure(&report::fit::figure(&input), path, document)?;
    }
    damage?;
    Ok(if found.is_ok() { ExitCode::Ok } else { ExitCode::Unfitted })
}

/// `-json`, else the output's ending, else text.
fn kind(flags: &FitFlags) -> Result<Document, CommandError> {
    if flags.json {
        return Ok(Document::Json);
    }
    let known = [Document::Json, Document::Text];
    let found =
        Document::by_ending("-output", flags.output.as_deref(), &known).map_err(usage_error)?;
    Ok(found.unwrap_or(Document::Text))
}

/// The model asked for, which must be for this kind of load.
fn wanted(flags: &FitFlags, by: study::seek::By) -> Result<Option<Kind>, CommandError> {
    let Some(kind) = flags.model.as_deref().and_then(Kind::named) else { return Ok(None) };
    let kinds = Kind::of(by);
    if kinds.contains(&kind) {
        return Ok(Some(kind));
    }
    let names = kinds.map(Kind::name).join(" or ");
    Err(usage_error(format!(
        "flag -model: {} does not apply to this kind of load (expected {names})",
        kind.name()
    )))
}

//! `RecordedRun`: one run, read from its results into a summary and a verdict.

use cli::{ExitCode, ExitError, Interrupts};
use metrics::tally::Assertion;
use metrics::{
    Attacked, AttackedTargets, Batch, Generator, LAG_FLOOR, LAG_SHARE_MAX, Reason, Selector,
    Summary, Verdict,
};
use report::{Blind, RunSubject, VariantRun};
use results::{Item, ReadError, Reader, Selection};
use study::contrast::{Doubt, Load, Measure, Run};

use super::generators::Generators;

/// One run, read from its results.
#[derive(Debug)]
pub struct RecordedRun {
    /// Its file, or folder of files.
    pub name: String,
    /// Its figures.
    pub summary: Box<Summary>,
    /// What its load generators recorded of themselves; `None` in formats of other tools.
    pub generator: Option<Generator>,
    /// Whether its figures are valid.
    pub verdict: Verdict,
    /// What was attacked, in a few words; `None` where no target is known.
    pub attacked: Option<AttackedTargets>,
    /// What a comparison takes of that, and of the machine where that is known.
    pub subject: RunSubject,
    /// The number of its files.
    pub processes: usize,
    /// The damage that ended the reading of it, in a line; the rows before it count. A file that was merely cut off has none.
    pub damage: Option<String>,
}

impl RecordedRun {
    /// The figures that a comparison takes.
    #[must_use]
    pub fn figures(&self) -> Run {
        let summary = &self.summary;
        Run {
            times: summary.response.clone(),
            throughput_per_s: summary.throughput(),
            errors: if summary.requests == 0 { 0.0 } else { 1.0 - summary.success_ratio() },
            begun_ns: summary.earliest,
            doubts: self.invalid_measures().into_iter().map(|of| (of, Doubt::Invalid)).collect(),
        }
    }

    /// The figures that the load generator spoilt. Late starts spoil the quantiles that they raised, and the mean if they raised it;
    /// lost time spoils a closed loop's rate; whatever else is wrong with a run spoils all of them.
    fn invalid_measures(&self) -> Vec<Measure> {
        let mut invalid = Vec::new();
        for reason in &self.verdict.reasons {
            match reason {
                Reason::Late { quantiles, .. } => {
                    let raised = quantiles.iter().filter(|quantile| quantile.raised);
                    invalid.extend(raised.filter_map(|quantile| measure_at(quantile.q)));
                    if self.is_mean_raised() {
                        invalid.push(Measure::Mean);
                    }
                }
                Reason::TimeLost { .. } => invalid.push(Measure::Throughput),
                // Beside one of those two it is their cause.
                Reason::Stalls { .. } if self.knows_what_is_late() => {}
                _ => return Measure::ALL.to_vec(),
            }
        }
        invalid
    }

    fn knows_what_is_late(&self) -> bool {
        let mut reasons = self.verdict.reasons.iter();
        reasons.any(|one| matches!(one, Reason::Late { .. } | Reason::TimeLost { .. }))
    }

    /// Late starts raised the mean by more than the share that they may raise a quantile by.
    fn is_mean_raised(&self) -> bool {
        let Some(generator) = &self.generator else { return false };
        let (response, on_time) =
            (self.summary.response.mean().0 as f64, generator.on_time.mean().0 as f64);
        response > on_time * (1.0 + LAG_SHARE_MAX) + LAG_FLOOR.0 as f64
    }

    /// The load it was offered.
    #[must_use]
    pub fn load(&self) -> Load {
        let (summary, generator) = (&self.summary, self.generator.as_ref());
        let of = |figure: fn(&Generator) -> f64| generator.map_or(0.0, figure);
        Load {
            users: of(|generator| generator.users as f64),
            rate_per_s: of(|generator| generator.rate_per_s),
            begun_per_s: summary.rate(),
            in_flight: summary.concurrency(),
            connections: of(|generator| generator.connections as f64),
            workers: of(|generator| f64::from(generator.workers)),
            processes: self.processes as f64,
            hits: of(|generator| generator.planned as f64),
            seconds: summary.duration().as_secs_f64(),
        }
    }

    /// The run as a report compares it.
    #[must_use]
    pub fn variant_run(&self) -> VariantRun {
        VariantRun {
            name: self.name.clone(),
            figures: self.figures(),
            load: self.load(),
            subject: self.subject.clone(),
            span: (self.summary.earliest, self.summary.end),
            invalid: self.verdict.reasons.iter().map(ToString::to_string).collect(),
            blind: if self.verdict.blind { Blind::Unrecorded } else { Blind::Recorded },
        }
    }
}

/// The measure that is this quantile.
fn measure_at(q: f64) -> Option<Measure> {
    let quantiles = [(0.5, Measure::P50), (0.9, Measure::P90), (0.99, Measure::P99)];
    quantiles.into_iter().find(|(of, _)| *of == q).map(|(_, measure)| measure)
}

/// Reads the requests of one run that are selected. Rows before damage count, and the verdict names the damage.
///
/// # Errors
/// A file cannot be opened, or holds no results.
pub fn read_run(
    name: &str,
    files: &[String],
    selector: &Selector,
    interrupts: &Interrupts,
) -> Result<RecordedRun, ExitError> {
    let inputs = cli::open_results(files, interrupts, cli::INTERRUPT_GRACE)?;
    let mut reader = Reader::open(inputs).map_err(|error| unreadable(&error))?;
    let mut selection = Selection::of(selector);
    let (mut batch, mut summary) = (Batch::default(), Box::new(Summary::new()));
    // The verdict is of the generator, and so of all requests.
    let mut whole = selection.is_some().then(|| Box::new(Summary::new()));
    let (mut generators, mut losses, mut agents) = (Generators::default(), Vec::new(), Vec::new());
    let (mut attacked, mut damage) = (Attacked::default(), None);
    loop {
        match reader.next(&mut batch) {
            Ok(Some(Item::Hits)) => {
                if let (Some(whole), Some(selection)) = (&mut whole, &mut selection) {
                    whole.add(&batch);
                    selection.retain(&mut batch, reader.targets());
                }
                summary.add(&batch);
                attacked.add(&batch, reader.targets());
            }
            Ok(Some(Item::Generator { input, generator })) => generators.note(input, *generator),
            Ok(Some(Item::Assertion { assertion, .. })) => {
                if matches!(*assertion, Assertion::Agent(_)) {
                    agents.push(*assertion);
                }
            }
            Ok(Some(Item::Server(_))) => {}
            Ok(None) => break,
            Err(error) if whole.as_deref().unwrap_or(&summary).requests == 0 => {
                return Err(unreadable(&error));
            }
            Err(error) => {
                losses.push(error.to_string());
                damage = Some(error.to_string());
                break;
            }
        }
    }
    losses.extend(reader.losses().iter().cloned());
    for one in whole.iter_mut().chain([&mut summary]) {
        (one.apart, one.waits_before) = metrics::apart(reader.spans());
    }
    let generator = generators.sum_within_run();
    let judged = whole.as_deref().unwrap_or(&summary);
    let verdict = Verdict::new(judged, generator.as_ref(), &losses).with_agents(&agents);
    let (name, processes) = (name.to_owned(), files.len());
    let subject = RunSubject::of(&attacked.list(reader.targets()), attacked.is_whole());
    let attacked = attacked.targets(reader.targets());
    Ok(RecordedRun { name, summary, generator, verdict, attacked, subject, processes, damage })
}

/// What a command ends with, after it has shown what could be read, if one of the runs is damaged.
///
/// # Errors
/// One is; the error names the place.
pub fn undamaged<'a>(runs: impl IntoIterator<Item = &'a RecordedRun>) -> Result<(), ExitError> {
    match runs.into_iter().find_map(|run| run.damage.as_deref()) {
        None => Ok(()),
        Some(damage) => Err(ExitError::new(ExitCode::Results, damage)),
    }
}

/// The failure of an input that cannot be read.
#[must_use]
pub fn unreadable(error: &ReadError) -> ExitError {
    let text = match error {
        ReadError::Detect { .. } => {
            format!("{error} (expected arrow, parquet, csv, json, gob or jtl)")
        }
        ReadError::Empty { .. } => {
            format!("{error}: no results (did what should have written them fail?)")
        }
        _ => error.to_string(),
    };
    ExitError::new(ExitCode::Results, text)
}

//! A fit as text: the table of measured and predicted figures, and what the model says of the server.

use study::scaling::{Fit, Observation, Prediction, Sweep};

use super::input::FitInput;
use super::words::{findings, levels, model_words, predicted_words, refused, seconds, unit};
use crate::columns::Columns;
use crate::escape;
use crate::number::number;

/// The tables, the model and what it says; a refusal in a sentence.
#[must_use]
pub fn text(input: &FitInput<'_>) -> String {
    let by = input.sweep.by;
    let mut out = String::new();
    match input.found {
        Err(refusal) => {
            out.push_str(&measured_table(input.sweep));
            out.push_str(&format!("\nRefused  {}\n", refused(by, refusal)));
        }
        Ok(fit) => {
            out.push_str(&table(fit, input.at));
            out.push('\n');
            findings(fit)
                .iter()
                .for_each(|(name, text)| out.push_str(&format!("{name:<9}{text}\n")));
        }
    }
    for note in input.notes {
        out.push_str(&format!("Note     {}\n", escape::terminal(note)));
    }
    out
}

/// The model and how well it fits, or the refusal, in a sentence.
#[must_use]
pub(crate) fn sentence(input: &FitInput<'_>) -> String {
    match input.found {
        Err(refusal) => format!("no model: {}.", refused(input.sweep.by, refusal)),
        Ok(fit) => {
            let (model, error) = (model_words(fit), fit.error * 100.0);
            format!("a model that is {error:.1}% off typically: {model}.")
        }
    }
}

/// Measured and predicted figures at each load, further loads at the end.
fn table(fit: &Fit, at: &[f64]) -> String {
    let mut table = Columns::default().right(&[0, 1, 2, 3, 4, 5, 6, 7]);
    let head =
        [unit(fit.by), "measured/s", "predicted/s", "mean", "predicted", "p50", "p99", "busy", ""];
    table.row(head.map(str::to_owned));
    let levels = levels(&fit.observations);
    for (load, measured) in &levels {
        table.row(cells(&fit.predict(*load), measured));
    }
    let further = at.iter().filter(|load| !levels.iter().any(|(of, _)| of == *load));
    for load in further {
        table.row(cells(&fit.predict(*load), &[]));
    }
    // The last cell of what was measured is blank.
    table.lines().lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

fn cells(predicted: &Prediction, measured: &[Observation]) -> [String; 9] {
    let mean = |of: fn(&Observation) -> f64| {
        let sum: f64 = measured.iter().map(of).sum();
        (!measured.is_empty()).then(|| sum / measured.len() as f64)
    };
    let blank = String::new;
    [
        number(predicted.load),
        mean(|one| one.throughput_per_s).map_or_else(blank, number),
        predicted_words(predicted, &predicted.throughput_per_s, number),
        mean(|one| one.mean_s).map_or_else(blank, seconds),
        predicted_words(predicted, &predicted.mean_s, seconds),
        predicted.p50_s.map_or_else(blank, seconds),
        predicted.p99_s.map_or_else(blank, seconds),
        predicted.utilisation.map_or_else(blank, |share| format!("{:.0}%", share * 100.0)),
        match (measured.is_empty(), predicted.is_extrapolated) {
            (false, _) => String::new(),
            (true, false) => "between".to_owned(),
            (true, true) => "extrapolated".to_owned(),
        },
    ]
}

/// What was measured, where nothing is predicted.
fn measured_table(sweep: &Sweep) -> String {
    let mut table = Columns::default().right(&[0, 1, 2, 3]);
    table.row([unit(sweep.by), "measured/s", "mean", "under way"].map(str::to_owned));
    let mut sorted = sweep.observations.clone();
    sorted.sort_by(|a, b| a.load.total_cmp(&b.load));
    for one in &sorted {
        let in_flight = number(one.in_flight());
        table.row([number(one.load), number(one.throughput_per_s), seconds(one.mean_s), in_flight]);
    }
    table.lines()
}

//! The outcome of all targets as a table, which is Markdown too, and of one as a line.

use std::fmt::Write as _;

use super::log::{FaultKind, Outcome};

/// One target's outcome, as it ends.
pub(super) fn line(target: &str, outcome: &Outcome) -> String {
    let faults = match outcome.faults.len() {
        0 => "no fault".to_owned(),
        1 => "1 FAULT".to_owned(),
        more => format!("{more} FAULTS"),
    };
    let (inputs, memory) = (outcome.inputs, outcome.memory_mib_max);
    format!("{target}: {inputs} inputs, {memory} MiB, {faults}")
}

/// All targets, and their sum.
pub(super) fn document(rows: &[(String, Outcome)]) -> String {
    let mut text = String::from(
        "| target | inputs | inputs/s | edges | features | peak MiB | crashes | hangs | memory | leaks |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for (target, outcome) in rows {
        let Outcome { inputs, inputs_per_s, edges, features, memory_mib_max, .. } = outcome;
        let [crashes, hangs, memory, leaks] = counts(outcome);
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "| {target} | {inputs} | {inputs_per_s} | {edges} | {features} | {memory_mib_max} | {crashes} | {hangs} | {memory} | {leaks} |"
        );
    }
    let inputs: u64 = rows.iter().map(|row| row.1.inputs).sum();
    let mut sums = [0; 4];
    for (_, outcome) in rows {
        for (sum, count) in sums.iter_mut().zip(counts(outcome)) {
            *sum += count;
        }
    }
    let [crashes, hangs, memory, leaks] = sums;
    // Writing to a String cannot fail.
    let _ = writeln!(text, "| all | {inputs} | | | | | {crashes} | {hangs} | {memory} | {leaks} |");
    text
}

fn counts(outcome: &Outcome) -> [usize; 4] {
    [FaultKind::Crash, FaultKind::Hang, FaultKind::Memory, FaultKind::Leak]
        .map(|kind| outcome.count(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_summed() {
        let outcome = Outcome { inputs: 5, memory_mib_max: 9, ..Outcome::default() };
        let text =
            document(&[("a".to_owned(), outcome.clone()), ("b".to_owned(), outcome.clone())]);
        assert!(text.contains("| b | 5 | 0 | 0 | 0 | 9 | 0 | 0 | 0 | 0 |\n"), "{text}");
        assert!(text.ends_with("| all | 10 | | | | | 0 | 0 | 0 | 0 |\n"), "{text}");
        assert_eq!(line("a", &outcome), "a: 5 inputs, 9 MiB, no fault");
    }
}

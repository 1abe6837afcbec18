//! What servers say of their versions, asked at each call of the study, before its first run.

use std::time::Duration;

use super::runner::Runner;
use super::servers::{Place, once};

/// How long a server may take to tell its version.
const LIMIT: Duration = Duration::from_secs(20);
/// Characters of a version that are kept.
const LINE_MAX: usize = 200;
/// Stands for the version of a server that did not tell it.
pub(super) const UNKNOWN: &str = "unknown";

/// Of each variant, its servers by name with the first line that each says.
pub(super) fn of(runner: &Runner<'_>, left_out: &[(usize, String)]) -> Vec<Vec<(String, String)>> {
    let variants = runner.study.variants.iter().enumerate();
    variants
        .map(|(at, _)| match left_out.iter().any(|(out, _)| *out == at) {
            true => Vec::new(),
            false => of_variant(runner, at),
        })
        .collect()
}

fn of_variant(runner: &Runner<'_>, at: usize) -> Vec<(String, String)> {
    let variant = &runner.study.variants[at];
    let folder = runner.folder.out.join("runs").join("versions").join(&variant.name);
    if std::fs::create_dir_all(&folder).is_err() {
        return Vec::new();
    }
    let place = Place::of(runner.folder, variant, folder);
    let asked = variant.servers.iter().enumerate().filter(|(_, plan)| !plan.version.is_empty());
    asked
        .map(|(number, plan)| {
            let output = place.file(&format!("{}.out", number + 1));
            let mut command = place.command(&plan.version, &plan.folder);
            for (key, value) in &plan.environment {
                command.env(key, place.filling.fill(value));
            }
            // A server that cannot tell its version may serve all the same.
            once(&command, &output, LIMIT, &runner.guard).ok();
            let text = std::fs::read(&output).unwrap_or_default();
            (plan.name.clone(), first_line(&String::from_utf8_lossy(&text)))
        })
        .collect()
}

/// The first line that says something.
fn first_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    line.map_or_else(|| UNKNOWN.to_owned(), |line| line.chars().take(LINE_MAX).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_says_something() {
        assert_eq!(first_line("\n  puma 6.4 \nmore"), "puma 6.4");
        assert_eq!(first_line(" \n"), UNKNOWN);
    }
}

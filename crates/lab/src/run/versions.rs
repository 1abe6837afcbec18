//! The versions that servers print, queried at each call of the study before its first run.

use std::time::Duration;

use super::command::run_to_end;
use super::environment::RunEnvironment;
use super::runner::Runner;
use crate::state::record::UNKNOWN_VERSION;

/// How long a server may take to print its version.
const LIMIT: Duration = Duration::from_secs(20);
/// Characters of a version that are stored, at most.
const LINE_MAX: usize = 200;

/// For each variant its servers by name, with the first line that each prints; empty for those at the indices `excluded`.
pub(crate) fn of_variants(runner: &Runner<'_>, excluded: &[usize]) -> Vec<Vec<(String, String)>> {
    let variants = 0..runner.study.variants.len();
    variants
        .map(|at| match excluded.contains(&at) {
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
    let environment = RunEnvironment::of(runner.folder, variant, folder);
    let with_version =
        variant.servers.iter().enumerate().filter(|(_, plan)| !plan.version.is_empty());
    with_version
        .map(|(number, plan)| {
            let output = environment.file(&format!("{}.out", number + 1));
            let mut command = environment.command(&plan.version, &plan.folder);
            for (key, value) in &plan.environment {
                command.env(key, environment.values.fill(value));
            }
            // A server without a version may serve all the same.
            run_to_end(&command, &output, LIMIT, &runner.guard).ok();
            let text = std::fs::read(&output).unwrap_or_default();
            (plan.name.clone(), first_line(&String::from_utf8_lossy(&text)))
        })
        .collect()
}

/// The first line that is not blank.
fn first_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    line.map_or_else(|| UNKNOWN_VERSION.to_owned(), |line| line.chars().take(LINE_MAX).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_is_not_blank_is_the_version() {
        assert_eq!(first_line("\n  puma 6.4 \nmore"), "puma 6.4");
        assert_eq!(first_line(" \n"), UNKNOWN_VERSION);
    }
}

//! Targets files of workloads, looked at before the first run: a placeholder without a value would fail every run, one after the other.

use std::path::Path;

use cli::nearest;

use super::file::{Placeholders, Study, Variant, placeholders};
use super::run::targets_file::{path_at, text_of};

/// Problems of one study that are listed: the search ends with them.
const PROBLEMS_MAX: usize = 20;

/// What is wrong with the targets files of a study in this folder, a line each; variants at the indices `excluded` are not run. Files
/// that are not there yet are left to their runs.
pub(crate) fn problems(study: &Study, folder: &Path, excluded: &[usize]) -> Vec<String> {
    let mut all = Vec::new();
    for workload in &study.workloads {
        let run = |(at, variant): &(usize, &Variant)| {
            !excluded.contains(at) && workload.is_for(&variant.name)
        };
        for (_, variant) in study.variants.iter().enumerate().filter(run) {
            let paths = (0..workload.command.len()).filter_map(|at| path_at(&workload.command, at));
            paths.for_each(|path| of_file(study, folder, (variant, path), &mut all));
        }
    }
    if all.len() >= PROBLEMS_MAX {
        all.push("what follows was not looked at".to_owned());
    }
    all
}

fn of_file(study: &Study, folder: &Path, (variant, path): (&Variant, &str), all: &mut Vec<String>) {
    let values = Placeholders::default()
        .with("study", folder.display().to_string())
        .with_values(&variant.values);
    let Some(text) = text_of(folder, &values, path) else { return };
    for (number, line) in text.lines().enumerate() {
        // A file that was made by a program may have the same in each of its lines.
        if all.len() >= PROBLEMS_MAX {
            return;
        }
        let found = placeholders(line).filter_map(|name| of_name(study, variant, (name, line)));
        for problem in found {
            let problem = format!("{}:{}: {problem}", values.fill(path), number + 1);
            if !all.contains(&problem) {
                all.push(problem);
            }
        }
    }
}

/// Braces in a body are a text of its own, unless their name is a variant's, or nearly so.
fn of_name(study: &Study, variant: &Variant, (name, line): (&str, &str)) -> Option<String> {
    let of_variant = variant.values.iter().map(|(known, _)| known.as_str());
    let mut known = EACH_RUN.into_iter().chain(of_variant);
    if known.clone().any(|known| known == name) {
        return None;
    }
    let has = |one: &Variant| one.values.iter().any(|(known, _)| known == name);
    if study.variants.iter().any(has) {
        return Some(format!("{{{name}}} stands for nothing in variant \"{}\"", variant.name));
    }
    if let Some(near) = nearest(name, known.by_ref()) {
        return Some(format!("{{{name}}} stands for nothing (did you mean {{{near}}}?)"));
    }
    is_url(line, name)
        .then(|| format!("{{{name}}} stands for nothing: no variant has it among its values"))
}

/// Whether a line has a method and then a URL that begins with this placeholder.
fn is_url(line: &str, name: &str) -> bool {
    let mut words = line.split_whitespace();
    let is_method = |word: &str| word.bytes().all(|byte| byte.is_ascii_uppercase());
    let begins = |url: &str| url.starts_with(&format!("{{{name}}}"));
    words.next().is_some_and(is_method) && words.next().is_some_and(begins)
}

/// Placeholders that have a value in each run.
const EACH_RUN: [&str; 4] = ["study", "out", "run", "brunt"];

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::file::{CommandLines, Mode, read};

    #[test]
    fn issue_39_targets_files_are_looked_at_before_the_first_run() {
        let folder = std::env::temp_dir().join(format!("brunt-check-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let template = include_str!("template.toml");
        let (before, _) = template.split_once("[[workload]]").unwrap();
        let (first, second) = before.rsplit_once("values = {").unwrap();
        let (_, rest) = second.split_once('}').unwrap();
        let workload = "[[workload]]\nname = \"w\"\ncommand = \"attack -rate=1 -duration=1s -targets=t.txt\"\n";
        let text = format!("{first}values = {{ host = \"h\" }}{rest}{workload}");
        let study = read(&text, Mode::Full, &CommandLines::for_tests()).unwrap();
        let check = |targets: &str, excluded: &[usize]| {
            fs::write(folder.join("t.txt"), targets).unwrap();
            problems(&study, &folder, excluded)
        };
        assert_eq!(check("GET {url}/\n", &[1]), [""; 0]);
        assert_eq!(
            check("GET http://h/\n\nGET {url}/\n", &[]),
            ["t.txt:3: {url} stands for nothing in variant \"quick\""]
        );
        assert_eq!(
            check("GET {ur}/\n", &[1]),
            ["t.txt:1: {ur} stands for nothing (did you mean {url}?)"]
        );
        assert_eq!(
            check("GET {server}/\n", &[]),
            ["t.txt:1: {server} stands for nothing: no variant has it among its values"]
        );
        assert_eq!(check("POST http://h/{id}\n{\"x\": {y}}\n", &[]), [""; 0], "a text of its own");
        fs::remove_dir_all(folder).ok();
    }
}

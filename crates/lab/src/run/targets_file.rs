//! Targets files of workloads in which placeholders stand: a copy with their values goes into the run's folder, and the command line
//! names that one.

use std::fs;
use std::path::Path;

use super::command::RunError;
use super::environment::RunEnvironment;
use crate::file::Placeholders;

/// Bytes of a targets file in which placeholders are replaced; larger ones are taken as they are.
const FILE_MAX: u64 = 64 << 20;

/// The words of the load generator with this number, with the copies in place of files that have placeholders.
///
/// # Errors
/// A copy cannot be written.
pub(super) fn with_filled_targets(
    environment: &RunEnvironment,
    mut words: Vec<String>,
    number: usize,
) -> Result<Vec<String>, RunError> {
    for at in 0..words.len() {
        let is_value = at > 0 && is_flag(&words[at - 1]);
        let Some(path) = path_at(&words, at) else { continue };
        let Some(text) = filled(environment, path) else { continue };
        let copy = environment.file(&format!("targets-{number}.txt"));
        cli::replace_file(&copy, text.as_bytes()).map_err(|error| {
            let reason = cli::reason(&error);
            RunError::Failed(format!("{} cannot be written: {reason}", copy.display()))
        })?;
        let copy = copy.display().to_string();
        words[at] = if is_value { copy } else { format!("-targets={copy}") };
    }
    Ok(words)
}

/// The path of a targets file that this word of a command line names.
pub(crate) fn path_at(words: &[String], at: usize) -> Option<&str> {
    match words[at].split_once('=') {
        Some((flag, path)) if is_flag(flag) => Some(path),
        _ if at > 0 && is_flag(&words[at - 1]) => Some(&words[at]),
        _ => None,
    }
}

fn is_flag(word: &str) -> bool {
    word == "-targets" || word == "--targets"
}

/// The file's text with the values; `None` where it has no placeholders, or is none that can be read: brunt says what is wrong.
fn filled(environment: &RunEnvironment, path: &str) -> Option<String> {
    let text = text_of(&environment.study, &environment.values, path)?;
    let filled = environment.values.fill(&text);
    (filled != text).then_some(filled)
}

/// The text of a targets file in which placeholders are replaced.
pub(crate) fn text_of(study: &Path, values: &Placeholders, path: &str) -> Option<String> {
    let path = study.join(values.fill(path));
    let meta = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
    (meta.len() <= FILE_MAX).then(|| fs::read_to_string(&path).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn issue_39_a_targets_file_knows_the_variants_values() {
        let study = std::env::temp_dir().join(format!("brunt-targets-{}", std::process::id()));
        let run = study.join("run");
        fs::create_dir_all(&run).unwrap();
        fs::write(study.join("t.txt"), "GET {url}/a\n\nPOST {url}/b\n{\"x\": {y}}\n").unwrap();
        fs::write(study.join("plain.txt"), "GET http://h/{id}\n").unwrap();
        let values = Placeholders::default().with("url", "http://127.0.0.1:24000");
        let environment = RunEnvironment { study: study.clone(), run: run.clone(), values };
        let fill = |words: &[&str]| {
            let words = words.iter().map(|word| (*word).to_owned()).collect();
            with_filled_targets(&environment, words, 2).unwrap()
        };
        let copy = run.join("targets-2.txt").display().to_string();
        assert_eq!(fill(&["attack", "-targets=t.txt"]), ["attack", &*format!("-targets={copy}")]);
        let text = fs::read_to_string(&copy).unwrap();
        let expect =
            "GET http://127.0.0.1:24000/a\n\nPOST http://127.0.0.1:24000/b\n{\"x\": {y}}\n";
        assert_eq!(text, expect);
        assert_eq!(fill(&["attack", "--targets", "t.txt"]), ["attack", "--targets", &*copy]);
        for same in [["attack", "-targets=plain.txt"], ["attack", "-targets=none.txt"]] {
            assert_eq!(fill(&same), same);
        }
        fs::remove_dir_all(study).ok();
    }
}

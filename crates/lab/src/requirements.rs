//! The programs and files that variants require, looked up before the first run.

use std::path::Path;

use super::OWN_PROGRAM;
use super::file::{Placeholders, Required, Requirement, Study, Variant};

/// A variant that cannot be run here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnmetRequirements {
    /// Its index in the study.
    pub(crate) variant: usize,
    /// What it lacks.
    pub(crate) lacks: Vec<Requirement>,
}

impl UnmetRequirements {
    /// What is missing, in words.
    #[must_use]
    pub(crate) fn words(&self) -> String {
        let names = self.lacks.iter().map(|one| match &one.what {
            Required::Command(name) => format!("no program {name}"),
            Required::File(path) => format!("no {path}"),
        });
        names.collect::<Vec<_>>().join(", ")
    }
}

/// The variants that lack a requirement, without those at the indices `excluded`.
#[must_use]
pub(crate) fn unmet(study: &Study, folder: &Path, excluded: &[usize]) -> Vec<UnmetRequirements> {
    let of = |(at, variant): (usize, &Variant)| {
        let lacks = lacks(variant, folder);
        (!lacks.is_empty() && !excluded.contains(&at))
            .then_some(UnmetRequirements { variant: at, lacks })
    };
    study.variants.iter().enumerate().filter_map(of).collect()
}

fn lacks(variant: &Variant, folder: &Path) -> Vec<Requirement> {
    let values = Placeholders::default()
        .with("study", folder.display().to_string())
        .with_values(&variant.values);
    let filled = variant.requires.iter().map(|one| {
        let what = match &one.what {
            Required::Command(name) => Required::Command(values.fill(name)),
            Required::File(path) => Required::File(values.fill(path)),
        };
        Requirement { what, install: one.install.clone() }
    });
    filled.filter(|one| !is_there(&one.what, folder)).collect()
}

fn is_there(what: &Required, folder: &Path) -> bool {
    match what {
        Required::File(path) => folder.join(path).exists(),
        Required::Command(name) => is_program(name, folder),
    }
}

/// A program that can be started: brunt itself, by its path, or in the PATH.
fn is_program(name: &str, folder: &Path) -> bool {
    if name == OWN_PROGRAM {
        return true;
    }
    if name.contains('/') {
        return is_executable(&folder.join(name));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| is_executable(&folder.join(name)))
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let meta = std::fs::metadata(path);
    meta.is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// The commands that install what is missing, each once.
#[must_use]
pub(crate) fn install_lines(unmet: &[UnmetRequirements]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for one in unmet.iter().flat_map(|one| &one.lacks) {
        if !one.install.is_empty() && !lines.contains(&one.install) {
            lines.push(one.install.clone());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn required(what: Required, install: &str) -> Requirement {
        Requirement { what, install: install.to_owned() }
    }

    #[test]
    fn programs_and_files_are_looked_up() {
        let folder = std::env::temp_dir();
        let command = |name: &str| is_there(&Required::Command(name.to_owned()), &folder);
        assert!(command("sh") && command("/bin/sh") && command("brunt"));
        assert!(!command("no-such-program-anywhere") && !command("./no-such") && !command("/etc"));
        assert!(is_there(&Required::File("/bin/sh".to_owned()), &folder));
        assert!(!is_there(&Required::File("no-such-file".to_owned()), &folder));
    }

    #[test]
    fn install_lines_come_once() {
        let puma = || required(Required::Command("puma".into()), "apt-get install puma");
        let redis = required(Required::File("/x".into()), "");
        let unmet = [
            UnmetRequirements { variant: 0, lacks: vec![puma()] },
            UnmetRequirements { variant: 1, lacks: vec![puma(), redis] },
        ];
        assert_eq!(install_lines(&unmet), ["apt-get install puma"]);
        assert_eq!(unmet[1].words(), "no program puma, no /x");
    }
}

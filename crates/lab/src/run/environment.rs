//! `RunEnvironment`: the folders and placeholders of one run, and the commands made with them.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::OWN_PROGRAM;
use crate::file::{Placeholders, Variant};
use crate::state::folder::StudyFolder;

/// The monitor's file in the folder of a run.
pub(crate) const MONITOR_FILE: &str = "watch.arrow";

/// Where the commands of a run are started, and the values of their placeholders.
#[derive(Clone, Debug)]
pub(crate) struct RunEnvironment {
    /// The folder of the study's file.
    pub(crate) study: PathBuf,
    /// The run's own folder.
    pub(crate) run: PathBuf,
    /// What placeholders in commands stand for.
    pub(crate) values: Placeholders,
}

impl RunEnvironment {
    /// The environment of a variant, for one run.
    pub(crate) fn of(folder: &StudyFolder, variant: &Variant, run: PathBuf) -> Self {
        let text = |path: &Path| path.display().to_string();
        let values = Placeholders::default()
            .with("study", text(&folder.study))
            .with("out", text(&folder.out))
            .with("run", text(&run))
            .with(
                "brunt",
                std::env::current_exe().map_or(OWN_PROGRAM.to_owned(), |path| text(&path)),
            )
            .with_values(&variant.values);
        Self { study: folder.study.clone(), run, values }
    }

    /// A command with its placeholders replaced; the word `brunt` stands for this program.
    pub(crate) fn command(&self, words: &[String], folder: &str) -> Command {
        let folder = self.study.join(self.values.fill(folder));
        let words = self.values.fill_all(words);
        let (program, arguments) = words.split_first().expect("a command has a word");
        let program = match program.as_str() {
            OWN_PROGRAM => std::env::current_exe().unwrap_or_else(|_| program.into()),
            // A path is relative to the folder of the command, not to that of the study's caller.
            path if path.contains('/') => folder.join(path),
            name => name.into(),
        };
        let mut command = Command::new(program);
        command.args(arguments).current_dir(folder);
        command
    }

    /// A file in the run's folder.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.run.join(name)
    }
}

/// The file of a load generator's standard output; `number` counts from 1.
pub(crate) fn generator_output(environment: &RunEnvironment, what: &str, number: usize) -> PathBuf {
    environment.file(&format!("{what}-{number}.out"))
}

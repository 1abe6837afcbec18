//! Runs that are kept in the store (`-save`): the flags, how a run begins there, and what it leaves.

use cli::{CommandResult, ExitCode, ExitError, Flag, Output, ValueError, ValueKind, eprint_line};
use metrics::Summary;
use results::Format;
use store::{
    Begin, Figures, Finish, OpenRun, ResponseTimes, ServerResult, Store, StoreError, folder_of,
    hash_of,
};

use crate::monitor_config::MonitorConfig;
use crate::report_files::ReportFiles;
use crate::results_file::ResultsFile;

/// The variable of the environment that has every run saved, unless it is `0` or `false`.
const ALWAYS: &str = "BRUNT_SAVE";

/// The flags of saving as typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SaveFlags {
    /// The run's name; empty for that of its command.
    pub save: Option<String>,
    /// The folder of the store.
    pub store: Option<String>,
    /// The run's labels.
    pub labels: Vec<(String, String)>,
    /// The files that the report is written to.
    pub reports: ReportFiles,
}

/// Flags among which are those of saving.
pub trait Saves {
    /// What is saved.
    fn saving(&mut self) -> &mut SaveFlags;
}

/// The rows of saving.
pub const fn rows<T: Saves>() -> [Flag<T>; 3] {
    [save(), store(), label()]
}

const fn save<T: Saves>() -> Flag<T> {
    const DOCS: &str = "Keep the run in the store under this name: results, report, command line, commit, machine.";
    Flag::new("save", ValueKind::Text("NAME"), "", DOCS, |flags: &mut T, text| {
        flags.saving().save = Some(text.to_owned());
        Ok(())
    })
    .native()
}

/// The flag of the store's folder.
pub const fn store<T: Saves>() -> Flag<T> {
    const DOCS: &str = "Folder of the store of runs; by default the project's .brunt/runs.";
    Flag::new("store", ValueKind::Text("DIR"), "", DOCS, |flags: &mut T, text| {
        flags.saving().store = Some(text.to_owned());
        Ok(())
    })
    .native()
}

/// The flag of labels.
pub const fn label<T: Saves>() -> Flag<T> {
    const DOCS: &str = "Label of the saved run, such as server=puma. May be repeated.";
    Flag::new("label", ValueKind::Text("KEY=VALUE"), "", DOCS, |flags: &mut T, text| {
        let label = read_label(text)?;
        flags.saving().labels.push(label);
        Ok(())
    })
    .native()
}

/// The flag `-report`.
pub const fn report<T: Saves>() -> Flag<T> {
    const DOCS: &str =
        "Also write the report here: .html, .json, .md, .txt or .xml (JUnit). May be repeated.";
    Flag::new("report", ValueKind::Path, "", DOCS, |flags: &mut T, text| {
        flags.saving().reports.add(text)
    })
    .native()
}

/// Reads `KEY=VALUE`.
///
/// # Errors
/// The key is missing.
pub fn read_label(text: &str) -> Result<(String, String), ValueError> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(ValueError::new(format!("\"{text}\" is not KEY=VALUE"))),
    }
}

/// A run that is about to begin.
#[derive(Clone, Copy, Debug)]
pub struct SavedTest<'a> {
    /// Its command.
    pub command: &'a str,
    /// The arguments of the command.
    pub args: &'a [String],
    /// Its name, where `-save` has none.
    pub name: &'a str,
    /// The files that say what the load is.
    pub inputs: &'a [&'a str],
}

/// A run that is to be saved.
#[derive(Clone, Debug)]
pub struct SaveRequest {
    store: Store,
    begin: Begin,
}

impl SaveFlags {
    /// Whether `-save` was given, which leaves standard output to the report.
    #[must_use]
    pub fn is_given(&self) -> bool {
        self.save.is_some()
    }

    /// Whether the run is saved, because of `-save` or of `BRUNT_SAVE`.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        let always = || std::env::var(ALWAYS).is_ok_and(|on| !["", "0", "false"].contains(&&*on));
        self.is_given() || always()
    }

    /// What these flags ask for; `None` where nothing is saved.
    ///
    /// # Errors
    /// A flag stands for nothing without `-save`.
    pub fn request(&self, test: SavedTest<'_>) -> Result<Option<SaveRequest>, ExitError> {
        if !self.is_asked() {
            return match self.stray() {
                None => Ok(None),
                Some(flag) => {
                    let text = format!("flag -{flag}: no run is saved (give -save=NAME as well)");
                    Err(ExitError::new(ExitCode::Usage, text))
                }
            };
        }
        let given = self.save.as_deref().filter(|name| !name.is_empty());
        let name = given.map_or_else(|| plain(test.name, test.command), str::to_owned);
        let begin = Begin {
            name,
            command: test.command.to_owned(),
            args: test.args.to_vec(),
            labels: self.labels.clone(),
            inputs: test.inputs.iter().filter_map(|path| hash_of(path)).collect(),
            brunt: env!("CARGO_PKG_VERSION").to_owned(),
            made: None,
        };
        Ok(Some(SaveRequest { store: Store::at(folder_of(self.store.as_deref())), begin }))
    }

    fn stray(&self) -> Option<&'static str> {
        let flags = [("store", self.store.is_some()), ("label", !self.labels.is_empty())];
        flags.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }
}

/// A name made of what a run has: its letters, digits, dots, lines and dashes.
fn plain(name: &str, command: &str) -> String {
    let parts = name.split(|one: char| !one.is_alphanumeric() && !"._-".contains(one));
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    let joined = parts.join("-");
    let trimmed = joined.trim_start_matches(['.', '_', '-']);
    let short: String = trimmed.chars().take(40).collect();
    if short.is_empty() { command.to_owned() } else { short }
}

impl SaveRequest {
    /// Begins the run in the store.
    ///
    /// # Errors
    /// The name is none, or the store cannot be written.
    pub fn begin(self) -> Result<OpenRun, ExitError> {
        self.store.begin(self.begin).map_err(store_failure)
    }
}

/// The failure of the store, with its exit code.
#[must_use]
#[allow(clippy::needless_pass_by_value, reason = "map_err hands it over")]
pub fn store_failure(error: StoreError) -> ExitError {
    let code = match error {
        StoreError::Io { .. } => ExitCode::Failure,
        StoreError::Name { .. } | StoreError::UnderWay { .. } | StoreError::Ambiguous { .. } => {
            ExitCode::Usage
        }
        StoreError::Manifest { .. }
        | StoreError::Field { .. }
        | StoreError::Foreign { .. }
        | StoreError::TooLarge { .. }
        | StoreError::Newer { .. }
        | StoreError::Archive { .. } => ExitCode::Results,
        StoreError::Unknown { .. } | StoreError::Git { .. } => ExitCode::Input,
    };
    ExitError::new(code, error.to_string())
}

/// Opens the results of a run: where the command line wants them, and in the store if the run is `saved`.
///
/// # Errors
/// As [`ResultsFile::open`].
pub fn open_results(
    output: Option<Output>,
    format: Format,
    saved: Option<&mut OpenRun>,
    monitor: Option<&MonitorConfig>,
) -> Result<Option<ResultsFile>, ExitError> {
    let stored = saved.map(|run| results_of(run, format)).transpose()?;
    open_both(output, stored, format, monitor)
}

/// Where the store has the results of a run.
///
/// # Errors
/// The store cannot be written.
pub fn results_of(run: &mut OpenRun, format: Format) -> Result<Output, ExitError> {
    let path = run.results(&format!("results{}", format.ending())).map_err(store_failure)?;
    Ok(Output::File(path.display().to_string()))
}

/// Opens the results of a run in one place or two, or in none. Two places have one file where they can.
///
/// # Errors
/// As [`ResultsFile::open`].
pub fn open_both(
    output: Option<Output>,
    stored: Option<Output>,
    format: Format,
    monitor: Option<&MonitorConfig>,
) -> Result<Option<ResultsFile>, ExitError> {
    match (output, stored) {
        (Some(output), Some(stored)) => {
            if let Some(file) = ResultsFile::open_shared(&output, &stored, format, monitor)? {
                return Ok(Some(file));
            }
            let file = ResultsFile::open(&output, format, monitor)?;
            file.with_copy(&stored).map(Some)
        }
        (Some(output), None) | (None, Some(output)) => {
            ResultsFile::open(&output, format, monitor).map(Some)
        }
        (None, None) => Ok(None),
    }
}

/// Stores the reports of a run that has ended, and how it came out.
///
/// # Errors
/// They cannot be written.
pub fn save_report(run: &mut OpenRun, input: &report::Input<'_>) -> Result<(), ExitError> {
    let documents = [
        ("report.txt", report::text(input)),
        ("report.json", report::json(input)),
        ("report.html", report::html(input)),
    ];
    save_documents(run, &documents)?;
    run.conclude(Finish {
        verdict: Some(verdict_word(input.verdict)),
        reasons: input.verdict.reasons.iter().map(ToString::to_string).collect(),
        conclusion: report::conclusion(input),
        attacked: input.attacked.map(report::attacked),
        server: Some(server_of(&report::ServerResult::of(input))),
        figures: Some(figures_of(input.summary)),
    });
    Ok(())
}

/// Stores reports under their names.
///
/// # Errors
/// They cannot be written.
pub fn save_documents(run: &mut OpenRun, documents: &[(&str, String)]) -> Result<(), ExitError> {
    documents
        .iter()
        .try_for_each(|(name, text)| run.add_document(name, text.as_bytes()).map_err(store_failure))
}

/// `VALID` or `INVALID`.
#[must_use]
pub fn verdict_word(verdict: &metrics::Verdict) -> String {
    if verdict.is_valid() { "VALID" } else { "INVALID" }.to_owned()
}

/// The server's result as the store has it.
#[must_use]
pub fn server_of(result: &report::ServerResult) -> ServerResult {
    ServerResult { outcome: result.outcome.to_owned(), result: result.words.clone() }
}

/// The figures of a run that lists and trends show.
#[must_use]
pub fn figures_of(summary: &Summary) -> Figures {
    let quantile = |q| summary.response.quantile(q).0;
    Figures {
        requests: summary.requests,
        rate_per_s: summary.rate(),
        throughput_per_s: summary.throughput(),
        errors: if summary.requests == 0 { 0.0 } else { 1.0 - summary.success_ratio() },
        response_ns: ResponseTimes {
            mean: summary.response.mean().0,
            p50: quantile(0.5),
            p90: quantile(0.9),
            p95: quantile(0.95),
            p99: quantile(0.99),
            max: summary.response.max().0,
        },
    }
}

/// Ends a saved run with the code of its command, and says where it is; one that failed stays so in the store.
///
/// # Errors
/// The command failed, or the store cannot be written.
pub fn finish_saved(saved: Option<OpenRun>, ended: CommandResult) -> CommandResult {
    let code = ended?;
    if let Some(run) = saved {
        let id = run.id().to_owned();
        run.finish(code as u8).map_err(store_failure)?;
        eprint_line(&format!("saved as run {id} (brunt runs show {id})"));
    }
    Ok(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_of_what_there_is() {
        assert_eq!(plain("", "attack"), "attack");
        assert_eq!(plain("home page / v2", "attack"), "home-page-v2");
        assert_eq!(plain("../scripts/chat.js", "run"), "scripts-chat.js");
        assert_eq!(plain("///", "run"), "run");
        assert_eq!(read_label("server=puma=6").unwrap(), ("server".into(), "puma=6".into()));
        assert!(read_label("=x").is_err() && read_label("x").is_err());
    }

    #[test]
    fn a_flag_without_save_stands_for_nothing() {
        let flags = SaveFlags { store: Some("x".to_owned()), ..SaveFlags::default() };
        let test = SavedTest { command: "attack", args: &[], name: "", inputs: &[] };
        let refused = flags.request(test).unwrap_err();
        assert_eq!(refused.code, ExitCode::Usage);
        assert!(refused.to_string().starts_with("flag -store: no run is saved"));
        assert!(SaveFlags::default().request(test).unwrap().is_none());
    }
}

//! `ReportFiles`: reports that a command writes at its end beside the one on standard output (`-report FILE`).

use std::fs;
use std::path::Path;

use cli::{Document, ExitError, Output, ValueError};

/// The files of reports, and what each is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportFiles(Vec<(String, Document)>);

/// What a report is written as.
const DOCUMENTS: [Document; 5] =
    [Document::Html, Document::Json, Document::Markdown, Document::Text, Document::Junit];

impl ReportFiles {
    /// Adds a file.
    ///
    /// # Errors
    /// Its ending stands for no report.
    pub fn add(&mut self, path: &str) -> Result<(), ValueError> {
        let document = Document::by_ending("-report", Some(path), &DOCUMENTS);
        let document = document.map_err(ValueError::new)?;
        let missing =
            || ValueError::new(format!("\"{path}\" has no ending that says what to write"));
        self.0.push((path.to_owned(), document.ok_or_else(missing)?));
        Ok(())
    }

    /// Adds a file that is a page, whatever its ending.
    pub fn add_page(&mut self, path: &str) {
        self.0.push((path.to_owned(), Document::Html));
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Refuses a report of a kind that a command has not.
    ///
    /// # Errors
    /// There is one; the text names it and the kinds that there are.
    pub fn check(&self, known: &[Document]) -> Result<(), String> {
        let check = |(path, _): &(String, Document)| {
            Document::by_ending("-report", Some(path), known).map(drop)
        };
        self.0.iter().try_for_each(check)
    }

    /// Refuses a report that would replace an input.
    ///
    /// # Errors
    /// There is one.
    pub fn spare(&self, inputs: &[impl AsRef<str>]) -> Result<(), ExitError> {
        let mut places = self.0.iter().map(|(path, _)| Output::named(Some(path)));
        places.try_for_each(|place| place.spares("-report", inputs))
    }

    /// Tries each file before the run that is reported there; a file that was not there is not there afterwards.
    ///
    /// # Errors
    /// One cannot be written; the text names the flag and the file.
    pub fn try_out(&self) -> Result<(), ExitError> {
        for (path, _) in &self.0 {
            let was_there = Path::new(path).exists();
            let tried = Output::named(Some(path)).try_out();
            if tried.is_ok() && !was_there {
                // What cannot be removed stays empty until the report is written.
                fs::remove_file(path).ok();
            }
            tried.map_err(|failed| ExitError {
                error: failed.error.context("flag -report"),
                ..failed
            })?;
        }
        Ok(())
    }

    /// Writes each file; `text` makes a report of its kind.
    ///
    /// # Errors
    /// A file cannot be written; the others are, all the same.
    pub fn write(&self, text: impl Fn(Document) -> String) -> Result<(), ExitError> {
        let mut written = Ok(());
        for (path, document) in &self.0 {
            let one = Output::named(Some(path)).write(text(*document).as_bytes());
            written = written.and(one);
        }
        written
    }

    /// Writes the report of a run into each file.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write_run(&self, input: &report::Input<'_>) -> Result<(), ExitError> {
        self.write(|document| match document {
            Document::Html => report::html(input),
            Document::Json => report::json(input),
            Document::Markdown => report::markdown(input),
            Document::Junit => report::junit(input),
            // Pictures are refused where flags are read.
            Document::Text | Document::Svg | Document::Png => report::text(input),
        })
    }
}

//! `SaveOptions`: what of samples is saved: JMeter's properties `jmeter.save.saveservice.*`.

use std::collections::HashMap;

use jmx::{Element, Properties};

use super::csv::{CsvFormat, Timestamp};

/// What of samples is saved.
#[derive(Clone, Debug, PartialEq)]
pub struct SaveOptions {
    /// As XML; else as CSV.
    pub is_xml: bool,
    /// The lines of CSV.
    pub csv: CsvFormat,
    /// What XML has: names of properties that say `true`.
    flags: HashMap<&'static str, bool>,
    /// Which assertions XML has.
    pub assertions: SavedAssertions,
}

/// Which results of assertions are saved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SavedAssertions {
    /// None.
    #[default]
    Nothing,
    /// The first that failed.
    First,
    /// All.
    All,
}

/// The flags and their defaults.
const FLAGS: &[(&str, bool)] = &[
    ("time", true),
    ("timestamp", true),
    ("label", true),
    ("response_code", true),
    ("response_message", true),
    ("thread_name", true),
    ("data_type", true),
    ("successful", true),
    ("assertion_results_failure_message", true),
    ("bytes", true),
    ("sent_bytes", true),
    ("thread_counts", true),
    ("url", true),
    ("filename", false),
    ("latency", true),
    ("encoding", false),
    ("sample_count", false),
    ("hostname", false),
    ("idle_time", true),
    ("connect_time", true),
    ("subresults", true),
    ("assertions", true),
    ("response_data", false),
    ("samplerData", false),
    ("requestHeaders", false),
    ("responseHeaders", false),
    ("response_data.on_error", false),
    ("print_field_names", true),
];

/// The names of the flags in the elements of listeners.
const NAMES: &[(&str, &str)] = &[
    ("time", "time"),
    ("timestamp", "timestamp"),
    ("label", "label"),
    ("response_code", "code"),
    ("response_message", "message"),
    ("thread_name", "threadName"),
    ("data_type", "dataType"),
    ("successful", "success"),
    ("assertion_results_failure_message", "saveAssertionResultsFailureMessage"),
    ("bytes", "bytes"),
    ("sent_bytes", "sentBytes"),
    ("thread_counts", "threadCounts"),
    ("url", "url"),
    ("filename", "fileName"),
    ("latency", "latency"),
    ("encoding", "encoding"),
    ("sample_count", "sampleCount"),
    ("hostname", "hostname"),
    ("idle_time", "idleTime"),
    ("connect_time", "connectTime"),
    ("subresults", "subresults"),
    ("assertions", "assertions"),
    ("response_data", "responseData"),
    ("samplerData", "samplerData"),
    ("requestHeaders", "requestHeaders"),
    ("responseHeaders", "responseHeaders"),
    ("response_data.on_error", "responseDataOnError"),
    ("print_field_names", "fieldNames"),
];

impl SaveOptions {
    /// What these properties say.
    #[must_use]
    pub fn of(property: &dyn Fn(&str) -> Option<String>) -> Self {
        let named = |name: &str| property(&format!("jmeter.save.saveservice.{name}"));
        let flags = FLAGS.iter().map(|(name, absent)| {
            let said = named(name).map(|word| word.trim().eq_ignore_ascii_case("true"));
            (*name, said.unwrap_or(*absent))
        });
        let mut options = Self {
            is_xml: named("output_format").is_some_and(|word| word.trim() == "xml"),
            csv: CsvFormat::default(),
            flags: flags.collect(),
            assertions: match named("assertion_results").as_deref().map(str::trim) {
                Some("first") => SavedAssertions::First,
                Some("all") => SavedAssertions::All,
                _ => SavedAssertions::Nothing,
            },
        };
        options.set_csv(&named, property);
        options
    }

    /// What a listener of a plan says of its own file, and these properties where it says nothing.
    #[must_use]
    pub fn of_listener(listener: &Element, property: &dyn Fn(&str) -> Option<String>) -> Self {
        let none = Properties::default();
        let config = listener.properties.inner("saveConfig").and_then(|inner| inner.inner("value"));
        let config = config.unwrap_or(&none);
        Self::of(&|name| {
            let short = name.strip_prefix("jmeter.save.saveservice.").unwrap_or_default();
            if short == "output_format" {
                let is_xml = config.text("xml").map(|text| text.written() == "true");
                // A listener without a word of it writes as the test does.
                return is_xml
                    .map(|xml| if xml { "xml" } else { "csv" }.to_owned())
                    .or_else(|| property(name));
            }
            let own = NAMES.iter().find(|(known, _)| *known == short);
            let said =
                own.and_then(|(_, tag)| config.text(tag)).map(|text| text.written().to_owned());
            said.or_else(|| property(name))
        })
    }

    fn set_csv(
        &mut self,
        named: &dyn Fn(&str) -> Option<String>,
        property: &dyn Fn(&str) -> Option<String>,
    ) {
        let delimiter = named("default_delimiter").filter(|text| !text.is_empty());
        self.csv.delimiter = match delimiter.as_deref() {
            Some("\\t") => '\t',
            Some(text) => text.chars().next().unwrap_or(','),
            None => ',',
        };
        self.csv.timestamp = match named("timestamp_format").as_deref().map(str::trim) {
            None | Some("" | "ms") => Timestamp::Milliseconds,
            Some("none") => Timestamp::Nothing,
            Some(pattern) => Timestamp::Pattern(pattern.to_owned()),
        };
        let names = property("sample_variables").unwrap_or_default();
        let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
        self.csv.variables = names.map(str::to_owned).collect();
        let columns = super::csv::COLUMNS.iter().filter(|column| self.has(column.property));
        self.csv.columns = columns.copied().collect();
        if self.csv.timestamp == Timestamp::Nothing {
            self.csv.columns.retain(|column| column.property != "timestamp");
        }
        self.csv.has_header = self.has("print_field_names");
    }

    /// Whether a part of samples is saved.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.flags.get(name).copied().unwrap_or(false)
    }
}

//! `CsvFormat`: rows of results as lines of CSV, in JMeter's columns.

use super::sample::SampleResult;

/// How rows are written.
#[derive(Clone, Debug, PartialEq)]
pub struct CsvFormat {
    /// Between fields.
    pub delimiter: char,
    /// The columns, in their order.
    pub columns: Vec<Column>,
    /// The form of moments.
    pub timestamp: Timestamp,
    /// Variables that have a column.
    pub variables: Vec<String>,
    /// The first line has the names.
    pub has_header: bool,
}

/// The form of moments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Timestamp {
    /// Milliseconds since 1970.
    #[default]
    Milliseconds,
    /// None.
    Nothing,
    /// By a pattern of `java.text.SimpleDateFormat`.
    Pattern(String),
}

/// A column.
#[derive(Clone, Copy)]
pub struct Column {
    /// Its name in the first line.
    pub name: &'static str,
    /// The property that switches it on.
    pub property: &'static str,
    value: fn(&SampleResult) -> String,
}

impl std::fmt::Debug for Column {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Column {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// Every column, in JMeter's order.
pub(super) const COLUMNS: &[Column] = &[
    column("timeStamp", "timestamp", |one| one.start_ms.to_string()),
    column("elapsed", "time", |one| one.elapsed_ms.to_string()),
    column("label", "label", |one| one.label.clone()),
    column("responseCode", "response_code", |one| one.code.clone()),
    column("responseMessage", "response_message", |one| one.message.clone()),
    column("threadName", "thread_name", |one| one.thread.clone()),
    column("dataType", "data_type", |one| one.data_type.to_owned()),
    column("success", "successful", |one| one.is_success.to_string()),
    column("failureMessage", "assertion_results_failure_message", |one| {
        one.failure_message().to_owned()
    }),
    column("bytes", "bytes", |one| one.bytes().to_string()),
    column("sentBytes", "sent_bytes", |one| one.sent_bytes.to_string()),
    column("grpThreads", "thread_counts", |one| one.group_threads.to_string()),
    column("allThreads", "thread_counts", |one| one.all_threads.to_string()),
    column("URL", "url", |one| match one.url.as_str() {
        "" => "null".to_owned(),
        url => url.to_owned(),
    }),
    column("Filename", "filename", |_| String::new()),
    column("Latency", "latency", |one| one.latency_ms.to_string()),
    column("Encoding", "encoding", |one| one.encoding.clone()),
    column("SampleCount", "sample_count", |one| one.counts.0.to_string()),
    column("ErrorCount", "sample_count", |one| one.counts.1.to_string()),
    column("Hostname", "hostname", |_| "localhost".to_owned()),
    column("IdleTime", "idle_time", |one| one.idle_ms.to_string()),
    column("Connect", "connect_time", |one| one.connect_ms.to_string()),
];

const fn column(
    name: &'static str,
    property: &'static str,
    value: fn(&SampleResult) -> String,
) -> Column {
    Column { name, property, value }
}

impl Default for CsvFormat {
    fn default() -> Self {
        Self {
            delimiter: ',',
            columns: Vec::new(),
            timestamp: Timestamp::Milliseconds,
            variables: Vec::new(),
            has_header: true,
        }
    }
}

impl CsvFormat {
    /// The line of the columns' names.
    #[must_use]
    pub fn header(&self) -> String {
        let own = self.columns.iter().map(|column| column.name.to_owned());
        let variables = self.variables.iter().map(|name| format!("\"{name}\""));
        self.line(own.chain(variables))
    }

    /// The line of one sample, without those below it. `moment` writes a moment by a pattern.
    #[must_use]
    pub fn row(&self, sample: &SampleResult, moment: &dyn Fn(&str, i64) -> String) -> String {
        let own = self.columns.iter().map(|column| match &self.timestamp {
            Timestamp::Pattern(pattern) if column.property == "timestamp" => {
                self.quoted(&moment(pattern, sample.start_ms))
            }
            _ => self.quoted(&(column.value)(sample)),
        });
        let variables = self.variables.iter().map(|name| {
            let known = sample.variables.iter().find(|(known, _)| known == name);
            self.quoted(known.map_or("", |(_, value)| value))
        });
        self.line(own.chain(variables))
    }

    fn line(&self, fields: impl Iterator<Item = String>) -> String {
        let mut line = String::new();
        for (at, field) in fields.enumerate() {
            if at > 0 {
                line.push(self.delimiter);
            }
            line.push_str(&field);
        }
        line.push('\n');
        line
    }

    /// A field, in quotes where it needs them.
    fn quoted(&self, field: &str) -> String {
        let special =
            |letter: char| letter == self.delimiter || matches!(letter, '"' | '\n' | '\r');
        if !field.contains(special) {
            return field.to_owned();
        }
        format!("\"{}\"", field.replace('"', "\"\""))
    }
}

#[cfg(test)]
mod tests {
    use crate::results::options::SaveOptions;

    use super::*;

    #[test]
    fn rows_have_jmeters_columns() {
        let options = SaveOptions::of(&|_| None);
        assert_eq!(
            options.csv.header(),
            "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,\
             grpThreads,allThreads,URL,Latency,IdleTime,Connect\n"
        );
        let sample = SampleResult {
            label: "a, \"b\"".to_owned(),
            start_ms: 5,
            is_success: true,
            code: "200".to_owned(),
            ..SampleResult::default()
        };
        let row = options.csv.row(&sample, &|_, _| String::new());
        assert_eq!(row, "5,0,\"a, \"\"b\"\"\",200,,,,true,,0,0,0,0,null,0,0,0\n");
    }

    #[test]
    fn properties_choose_columns() {
        let options = SaveOptions::of(&|name| match name {
            "jmeter.save.saveservice.url" => Some("false".to_owned()),
            "jmeter.save.saveservice.sample_count" => Some("true".to_owned()),
            "jmeter.save.saveservice.timestamp_format" => Some("none".to_owned()),
            "sample_variables" => Some("x, y".to_owned()),
            _ => None,
        });
        let header = options.csv.header();
        assert!(header.starts_with("elapsed,label"), "{header}");
        assert!(header.contains("allThreads,Latency,SampleCount,ErrorCount"), "{header}");
        assert!(header.ends_with("Connect,\"x\",\"y\"\n"), "{header}");
    }
}

//! `PrometheusExporter`: live metrics over HTTP, whatever the path, under the names that Vegeta uses. Threads of the control
//! plane answer; the run waits for a copy of the counts at most.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use metrics::{Batch, Outcome, TargetTable};

use crate::error::ObserverError;
use crate::listener::{BarePort, Listener, Request, Response};
use crate::observer::Observer;

/// The help of the flag `-prometheus-addr`.
pub const METRICS_DOCS: &str = "Serve live metrics here.";
/// Series kept at most; hits of further ones are counted under `url="(other)"`.
const SERIES_MAX: usize = 1000;
/// Upper bounds of the buckets, in seconds: the Prometheus clients' defaults.
const BUCKETS_S: [f64; 11] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];
/// Bytes of a request's body read at most; what it asks for does not matter.
const BODY_MAX: usize = 8 << 10;
/// What the page is.
const PAGE_KIND: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Live metrics and the threads that serve them.
pub struct PrometheusExporter {
    counted: Arc<Mutex<Counters>>,
    labels: TargetTable,
}

/// What was counted so far.
#[derive(Clone, Debug, Default)]
struct Counters {
    // The texts are shared with the copies that pages are made of.
    series: BTreeMap<Arc<Key>, Counts>,
    failures: BTreeMap<Arc<(Key, String)>, u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    method: String,
    url: String,
    status: Outcome,
}

#[derive(Clone, Debug, Default)]
struct Counts {
    buckets: [u64; BUCKETS_S.len()],
    hits: u64,
    seconds: f64,
    bytes_in: u64,
    bytes_out: u64,
}

impl PrometheusExporter {
    /// Listens, and starts the threads that answer, which end with the process. `labels` name the targets of the rows.
    ///
    /// # Errors
    /// The address is malformed, or taken.
    pub fn start(addr: &str, bare: BarePort, labels: TargetTable) -> io::Result<Self> {
        let counted = Arc::new(Mutex::new(Counters::default()));
        let served = Arc::clone(&counted);
        let answer = move |_: &Request| {
            // The run's rows are counted under this lock: the page is made of a copy.
            let counted = served.lock().unwrap_or_else(PoisonError::into_inner).clone();
            Response::new(PAGE_KIND, counted.page())
        };
        Listener::bind(addr, bare)?.serve("prometheus", BODY_MAX, answer)?;
        Ok(Self { counted, labels })
    }
}

impl Observer for PrometheusExporter {
    fn rows(&mut self, batch: &Batch) -> Result<(), ObserverError> {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        counted.add(batch, &self.labels);
        Ok(())
    }
}

impl Counters {
    fn add(&mut self, batch: &Batch, targets: &TargetTable) {
        for sample in &batch.samples {
            let line = String::from_utf8_lossy(batch.text(sample.line));
            let (method, url) = match targets.get(sample.target) {
                Some(label) => (label.method, label.url),
                None => line.split_once(' ').unwrap_or((&line, "")),
            };
            let mut key =
                Key { method: method.to_owned(), url: url.to_owned(), status: sample.outcome };
            if self.series.len() >= SERIES_MAX && !self.series.contains_key(&key) {
                "(other)".clone_into(&mut key.url);
            }
            let counts = match self.series.get_mut(&key) {
                Some(counts) => counts,
                None => self.series.entry(Arc::new(key.clone())).or_default(),
            };
            let seconds = sample.response().as_secs_f64();
            counts.hits += 1;
            counts.seconds += seconds;
            counts.bytes_in += sample.bytes_in;
            counts.bytes_out += sample.bytes_out;
            for (count, bound) in counts.buckets.iter_mut().zip(BUCKETS_S) {
                *count += u64::from(seconds <= bound);
            }
            if !sample.is_success() {
                self.add_failure(
                    key,
                    String::from_utf8_lossy(batch.text(sample.error)).into_owned(),
                );
            }
        }
    }

    fn add_failure(&mut self, key: Key, message: String) {
        let mut at = (key, message);
        if self.failures.len() >= SERIES_MAX && !self.failures.contains_key(&at) {
            "(other)".clone_into(&mut at.1);
        }
        match self.failures.get_mut(&at) {
            Some(count) => *count += 1,
            None => {
                self.failures.insert(Arc::new(at), 1);
            }
        }
    }

    /// The Prometheus text format, version 0.0.4.
    fn page(&self) -> String {
        let mut text = String::new();
        text.push_str("# HELP request_seconds Request latency\n# TYPE request_seconds histogram\n");
        for (key, counts) in &self.series {
            let labels = key.labels();
            let bounds = BUCKETS_S.iter().map(f64::to_string).chain(["+Inf".to_owned()]);
            let hits = counts.buckets.iter().chain([&counts.hits]);
            for (bound, hits) in bounds.zip(hits) {
                push(
                    &mut text,
                    "request_seconds_bucket",
                    &format!("{labels},le=\"{bound}\""),
                    hits,
                );
            }
            push(&mut text, "request_seconds_sum", &labels, &counts.seconds);
            push(&mut text, "request_seconds_count", &labels, &counts.hits);
        }
        text.push_str("# HELP request_bytes_in Bytes received from servers as response to requests\n# TYPE request_bytes_in counter\n");
        for (key, counts) in &self.series {
            push(&mut text, "request_bytes_in", &key.labels(), &counts.bytes_in);
        }
        text.push_str("# HELP request_bytes_out Bytes sent to servers during requests\n# TYPE request_bytes_out counter\n");
        for (key, counts) in &self.series {
            push(&mut text, "request_bytes_out", &key.labels(), &counts.bytes_out);
        }
        text.push_str("# HELP request_fail_count Count of failed requests\n# TYPE request_fail_count counter\n");
        for (failure, hits) in &self.failures {
            let (key, message) = &**failure;
            let labels = format!("{},message=\"{}\"", key.labels(), quoted(message));
            push(&mut text, "request_fail_count", &labels, hits);
        }
        text
    }
}

impl Key {
    fn labels(&self) -> String {
        let (method, url) = (quoted(&self.method), quoted(&self.url));
        format!("method=\"{method}\",url=\"{url}\",status=\"{}\"", self.status)
    }
}

fn push(text: &mut String, name: &str, labels: &str, value: &dyn std::fmt::Display) {
    writeln!(text, "{name}{{{labels}}} {value}").expect("a String takes any text");
}

/// A label's value, as the text format escapes it.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};
    use std::time::Duration;

    use metrics::{FailureKind, Sample, TargetLabel};
    use stdx::Nanos;

    use super::*;

    fn batch(hits: u64) -> (Batch, TargetTable) {
        let mut batch = Batch::default();
        let error = batch.add_text(b"EOF \"x\"");
        for seq in 0..hits {
            batch.samples.push(Sample {
                seq,
                done: Nanos::from_millis(20),
                bytes_in: 10,
                outcome: Outcome::Http(200),
                ..Sample::default()
            });
        }
        batch.samples.push(Sample { failure: FailureKind::Eof, error, ..Sample::default() });
        let label =
            TargetLabel { method: "GET".into(), url: "http://x/".into(), ..TargetLabel::default() };
        (batch, TargetTable::from(vec![label]))
    }

    #[test]
    fn the_page_has_vegetas_series() {
        let mut counted = Counters::default();
        let (batch, targets) = batch(3);
        counted.add(&batch, &targets);
        let page = counted.page();
        for line in [
            "request_seconds_bucket{method=\"GET\",url=\"http://x/\",status=\"200\",le=\"0.01\"} 0",
            "request_seconds_bucket{method=\"GET\",url=\"http://x/\",status=\"200\",le=\"0.025\"} 3",
            "request_seconds_bucket{method=\"GET\",url=\"http://x/\",status=\"200\",le=\"+Inf\"} 3",
            "request_seconds_count{method=\"GET\",url=\"http://x/\",status=\"200\"} 3",
            "request_bytes_in{method=\"GET\",url=\"http://x/\",status=\"200\"} 30",
            "request_fail_count{method=\"GET\",url=\"http://x/\",status=\"0\",message=\"EOF \\\"x\\\"\"} 1",
        ] {
            assert!(page.contains(line), "{line}\nnot in\n{page}");
        }
    }

    #[test]
    fn series_are_bounded() {
        let mut counted = Counters::default();
        let mut batch = Batch::default();
        for n in 0..SERIES_MAX + 50 {
            let line = batch.add_text(format!("GET http://x/{n}").as_bytes());
            let sample = Sample {
                target: metrics::NO_TARGET,
                line,
                outcome: Outcome::Http(200),
                ..Sample::default()
            };
            batch.samples.push(sample);
        }
        counted.add(&batch, &TargetTable::default());
        assert_eq!(counted.series.len(), SERIES_MAX + 1);
        assert!(counted.page().contains("url=\"(other)\",status=\"200\"} 50"));
    }

    #[test]
    fn a_client_gets_the_page_and_a_clash_is_an_error() {
        let probe = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = probe.local_addr().unwrap().to_string();
        let targets = || batch(0).1;
        assert!(
            PrometheusExporter::start(&addr, BarePort::Loopback, targets()).is_err(),
            "the port is taken"
        );
        drop(probe);
        let mut exporter = PrometheusExporter::start(&addr, BarePort::Loopback, targets()).unwrap();
        exporter.rows(&batch(1).0).unwrap();
        let mut client = TcpStream::connect(&addr).unwrap();
        client.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        client.write_all(b"GET /any HTTP/1.1\r\n\r\n").unwrap();
        let mut text = String::new();
        client.read_to_string(&mut text).unwrap();
        assert!(text.starts_with("HTTP/1.1 200 OK\r\n") && text.contains("request_seconds_sum"));
    }
}

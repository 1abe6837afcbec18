//! StatsD and Datadog's dialect of it, as k6's extension xk6-output-statsd writes them: a line for each sample, many to a
//! datagram.

use std::fmt::Write as _;
use std::time::Duration;

use metrics::tally::Kind;

use crate::encode::{Encode, Flush};
use crate::environment::Environment;
use crate::error::OutputError;
use crate::lines::Lines;
use crate::sample::Sample;

/// Bytes of a datagram: what fits into an Ethernet frame with the headers of IPv6 and UDP.
const DATAGRAM_MAX: usize = 1432;
/// Bytes of datagrams that are sent without waiting for the interval.
const FULL: usize = 256 << 10;

/// What an environment says.
pub(crate) struct Settings {
    pub(crate) address: String,
    pub(crate) every: Duration,
    namespace: String,
    has_tags: bool,
    blocked: Vec<String>,
}

impl Settings {
    /// Those of StatsD.
    pub(crate) fn statsd(of: &Environment) -> Result<Self, OutputError> {
        Ok(Self {
            address: of.text("K6_STATSD_ADDR").unwrap_or("localhost:8125").to_owned(),
            every: of.duration("K6_STATSD_PUSH_INTERVAL", Duration::from_secs(1))?,
            namespace: of.text("K6_STATSD_NAMESPACE").unwrap_or("k6.").to_owned(),
            has_tags: of.switch("K6_STATSD_ENABLE_TAGS", false)?,
            blocked: blocked(of.text("K6_STATSD_TAG_BLOCKLIST")),
        })
    }

    /// Those of Datadog, which has tags.
    pub(crate) fn datadog(of: &Environment) -> Result<Self, OutputError> {
        Ok(Self {
            address: of.text("K6_DATADOG_ADDR").unwrap_or("localhost:8125").to_owned(),
            every: of.duration("K6_DATADOG_PUSH_INTERVAL", Duration::from_secs(1))?,
            namespace: of.text("K6_DATADOG_NAMESPACE").unwrap_or("k6.").to_owned(),
            has_tags: true,
            blocked: blocked(of.text("K6_DATADOG_TAG_BLACKLIST")),
        })
    }
}

fn blocked(list: Option<&str>) -> Vec<String> {
    let list = list.unwrap_or("vu,iter,url");
    list.split(',').map(|name| name.trim().to_owned()).collect()
}

/// Makes datagrams of samples.
pub(crate) struct Statsd {
    settings: Settings,
    lines: Lines,
    line: String,
}

impl Statsd {
    pub(crate) fn new(settings: Settings) -> Self {
        Self { settings, lines: Lines::default(), line: String::new() }
    }

    /// Writes the line of a sample.
    fn write(&mut self, sample: &Sample<'_>) {
        let line = &mut self.line;
        line.clear();
        line.push_str(&self.settings.namespace);
        let check = sample.tags.iter().find(|(name, _)| name == "check");
        let (value, letters) = match (sample.kind, check) {
            (Kind::Rate, Some((_, check))) => {
                let outcome = if sample.value == 0.0 { "fail" } else { "pass" };
                push_clean(line, &format!("check.{check}.{outcome}"));
                (1.0, "c")
            }
            (kind, _) => {
                push_clean(line, sample.name);
                let letters = match kind {
                    Kind::Counter | Kind::Rate => "c",
                    Kind::Gauge => "g",
                    Kind::Trend => "ms",
                };
                (sample.value, letters)
            }
        };
        write!(line, ":{value}|{letters}").expect("a String takes all");
        if !self.settings.has_tags {
            return;
        }
        let mut mark = "|#";
        for (name, value) in sample.tags {
            if value.is_empty() || self.settings.blocked.contains(name) {
                continue;
            }
            line.push_str(mark);
            push_clean(line, name);
            line.push(':');
            push_clean(line, value);
            mark = ",";
        }
    }
}

/// Adds a text without what parts lines, values and tags.
fn push_clean(line: &mut String, text: &str) {
    let clean = |c: char| match c {
        '|' | ',' | '#' | '\n' | '\r' => '_',
        c => c,
    };
    // A colon may stand in a tag's value, and in a name it would begin the value.
    let is_name = !line.contains('|');
    line.extend(text.chars().map(|c| if is_name && c == ':' { '_' } else { clean(c) }));
}

impl Encode for Statsd {
    fn add(&mut self, sample: &Sample<'_>) {
        self.write(sample);
        self.lines.push(&self.line, DATAGRAM_MAX);
    }

    fn payloads(&mut self, _: Flush) -> Vec<Vec<u8>> {
        self.lines.take()
    }

    fn is_full(&self) -> bool {
        self.lines.is_full(FULL)
    }
}

#[cfg(test)]
mod tests {
    use metrics::tally::{Contains, MetricId};

    use super::*;

    fn line(settings: Settings, (name, kind, value): (&str, Kind, f64)) -> String {
        let tag = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let tags = [tag("method", "GET"), tag("name", "a|b,c"), tag("url", "http://x/")];
        let check = [tag("check", "status: 200")];
        let mut statsd = Statsd::new(settings);
        statsd.add(&Sample {
            metric: MetricId(0),
            name,
            kind,
            contains: Contains::Default,
            unix_ns: 0,
            value,
            tags: if name == "checks" { &check } else { &tags },
            metadata: &[],
        });
        String::from_utf8(statsd.payloads(Flush { unix_ns: 0, is_last: true }).concat()).unwrap()
    }

    #[test]
    fn lines_are_those_of_the_extension() {
        let none = Environment::default();
        let statsd = || Settings::statsd(&none).unwrap();
        let datadog = || Settings::datadog(&none).unwrap();
        assert_eq!(line(statsd(), ("http_reqs", Kind::Counter, 1.0)), "k6.http_reqs:1|c");
        assert_eq!(line(statsd(), ("vus", Kind::Gauge, 4.0)), "k6.vus:4|g");
        assert_eq!(line(statsd(), ("checks", Kind::Rate, 0.0)), "k6.check.status_ 200.fail:1|c");
        let tagged = line(datadog(), ("http_req_duration", Kind::Trend, 1.5));
        assert_eq!(tagged, "k6.http_req_duration:1.5|ms|#method:GET,name:a_b_c");
    }
}

//! Prometheus remote write 1.0, with the names and units of k6's `experimental-prometheus-rw`.
//! <https://prometheus.io/docs/specs/prw/remote_write_spec/>

use std::time::Duration;

use base64::Engine as _;
use metrics::tally::{Contains, Trend};

use crate::encode::{Encode, Flush};
use crate::environment::{Environment, wrong};
use crate::error::OutputError;
use crate::exponential::ExponentialHistogram;
use crate::http::{HttpTransport, TlsFiles};
use crate::protobuf::Message;
use crate::sample::Sample;
use crate::series::{Distribution, MetricInfo, SeriesTable, State};

/// Series of a request at most.
const SERIES_OF_REQUEST: usize = 2_000;
/// The scale of native histograms: 2^(1/8) is the widest factor of buckets below k6's 1.1.
const SCALE: i32 = 3;
/// The value that says that a series has ended: a certain NaN.
const STALE: u64 = 0x7ff0_0000_0000_0002;
/// Values up to here count as 0 in native histograms: Prometheus' default, 2^-128.
const ZERO_THRESHOLD: f64 = 2.938_735_877_055_719e-39;

/// One statistic of a trend.
#[derive(Clone, Debug, PartialEq)]
struct TrendStat {
    /// The end of the series' name.
    suffix: String,
    statistic: Statistic,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Statistic {
    Count,
    Sum,
    Min,
    Max,
    Avg,
    Percentile(f64),
}

/// Reads `count,sum,min,max,avg,med,p(N)`.
fn trend_stats(list: &str) -> Option<Vec<TrendStat>> {
    list.split(',').map(|word| trend_stat(word.trim())).collect()
}

fn trend_stat(word: &str) -> Option<TrendStat> {
    let statistic = match word {
        "count" => Statistic::Count,
        "sum" => Statistic::Sum,
        "min" => Statistic::Min,
        "max" => Statistic::Max,
        "avg" => Statistic::Avg,
        "med" => Statistic::Percentile(50.0),
        _ => {
            let number = word.strip_prefix("p(")?.strip_suffix(')')?;
            let percentile = number.parse().ok().filter(|p| (0.0..=100.0).contains(p))?;
            let suffix = format!("p{}", number.replace('.', ""));
            return Some(TrendStat { suffix, statistic: Statistic::Percentile(percentile) });
        }
    };
    Some(TrendStat { suffix: word.to_owned(), statistic })
}

impl Statistic {
    fn of(self, trend: &Trend) -> f64 {
        match self {
            Self::Count => trend.count() as f64,
            Self::Sum => trend.sum(),
            Self::Min => trend.min(),
            Self::Max => trend.max(),
            Self::Avg => trend.mean(),
            Self::Percentile(p) => trend.percentile(p),
        }
    }
}

/// What an environment says.
pub(crate) struct Settings {
    pub(crate) every: Duration,
    stats: Vec<TrendStat>,
    is_native: bool,
    marks_stale: bool,
}

impl Settings {
    pub(crate) fn read(of: &Environment) -> Result<Self, OutputError> {
        const STATS: &str = "K6_PROMETHEUS_RW_TREND_STATS";
        let list = of.text(STATS).unwrap_or("p(99)");
        let wanted = "a list of count, sum, min, max, avg, med and p(N)";
        let stats = trend_stats(list).ok_or_else(|| wrong(STATS, list, wanted))?;
        let sigv4 = ["REGION", "ACCESS_KEY", "SECRET_KEY"];
        if sigv4.iter().any(|end| of.text(&format!("K6_PROMETHEUS_RW_SIGV4_{end}")).is_some()) {
            return Err(OutputError::Unsupported(
                "K6_PROMETHEUS_RW_SIGV4_…: requests cannot be signed for AWS (send to a collector that does)",
            ));
        }
        Ok(Self {
            every: of.duration("K6_PROMETHEUS_RW_PUSH_INTERVAL", Duration::from_secs(5))?,
            stats,
            is_native: of.switch("K6_PROMETHEUS_RW_TREND_AS_NATIVE_HISTOGRAM", false)?,
            marks_stale: of.switch("K6_PROMETHEUS_RW_STALE_MARKERS", false)?,
        })
    }
}

/// Where requests go; `url` stands before what the environment says.
pub(crate) fn transport(url: &str, of: &Environment) -> Result<HttpTransport, OutputError> {
    let named = of.text("K6_PROMETHEUS_RW_SERVER_URL").unwrap_or(DEFAULT_URL);
    let url = if url.is_empty() { named } else { url };
    let mut headers: Vec<(String, String)> = [
        ("Content-Encoding", "snappy"),
        ("Content-Type", "application/x-protobuf"),
        ("X-Prometheus-Remote-Write-Version", "0.1.0"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    headers.extend(own_headers(of)?);
    let client = (
        of.file("K6_PROMETHEUS_RW_CLIENT_CERTIFICATE")?,
        of.file("K6_PROMETHEUS_RW_CLIENT_CERTIFICATE_KEY")?,
    );
    let tls = TlsFiles {
        is_insecure: of.switch("K6_PROMETHEUS_RW_INSECURE_SKIP_TLS_VERIFY", false)?,
        roots: None,
        client: client.0.zip(client.1),
    };
    HttpTransport::new(url, headers, &tls)
}

const DEFAULT_URL: &str = "http://localhost:9090/api/v1/write";

/// The headers that variables name, and those that prove who sends. A header of one's own beats the token, the token a password.
fn own_headers(of: &Environment) -> Result<Vec<(String, String)>, OutputError> {
    const LIST: &str = "K6_PROMETHEUS_RW_HTTP_HEADERS";
    let mut headers = Vec::new();
    let list = of.text(LIST).unwrap_or_default();
    for pair in list.split(',').filter(|pair| !pair.is_empty()) {
        let split = pair.split_once(':');
        let (name, value) = split.ok_or_else(|| wrong(LIST, list, "a list of NAME:VALUE"))?;
        headers.push((name.trim().to_owned(), value.trim().to_owned()));
    }
    let named = of.beginning("K6_PROMETHEUS_RW_HEADERS_");
    headers.extend(named.map(|(name, value)| (name.to_owned(), value.to_owned())));
    if headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization")) {
        return Ok(headers);
    }
    let user = of.text("K6_PROMETHEUS_RW_USERNAME");
    let authorization = match (of.text("K6_PROMETHEUS_RW_BEARER_TOKEN"), user) {
        (Some(token), _) => format!("Bearer {token}"),
        (None, Some(user)) => {
            let password = of.text("K6_PROMETHEUS_RW_PASSWORD").unwrap_or_default();
            let pair = format!("{user}:{password}");
            format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(pair))
        }
        (None, None) => return Ok(headers),
    };
    headers.push(("Authorization".to_owned(), authorization));
    Ok(headers)
}

/// Makes write requests of samples.
pub(crate) struct RemoteWrite {
    settings: Settings,
    table: SeriesTable,
}

impl RemoteWrite {
    pub(crate) fn new(settings: Settings) -> Self {
        let distribution = match settings.is_native {
            true => Distribution::Exponential(SCALE),
            false => Distribution::Percentiles,
        };
        // Times are milliseconds here and seconds there.
        Self { settings, table: SeriesTable::new(distribution, 1e-3) }
    }

    fn write(&self, request: &mut Message, at: usize, (time_ms, is_end): (i64, bool)) {
        let series = &self.table.all[at];
        let metric = &self.table.metrics()[series.metric as usize];
        let tags = self.table.tags(series);
        let value = |suffix: &str, value: f64| Point { suffix: suffix.to_owned(), value };
        let points: Vec<Point> = match &series.state {
            State::Counter(sum) => vec![value("_total", *sum)],
            State::Gauge(last) => vec![value("", *last)],
            State::Rate { nonzero, total } => {
                vec![value("_rate", *nonzero as f64 / (*total).max(1) as f64)]
            }
            State::Trend(trend) => {
                let of = |stat: &TrendStat| {
                    value(&format!("_{}", stat.suffix), stat.statistic.of(trend))
                };
                self.settings.stats.iter().map(of).collect()
            }
            State::Exponential(histogram) => {
                let name = format!("k6_{}{}", metric.name, unit(metric));
                request.message(1, |series| {
                    labels(series, &name, tags);
                    match is_end {
                        true => sample(series, f64::from_bits(STALE), time_ms),
                        false => series.message(4, |to| native(to, histogram, time_ms)),
                    }
                });
                return;
            }
            // Remote write has no such buckets: this table makes none.
            State::Explicit { .. } => return,
        };
        for Point { suffix, value } in points {
            let value = if is_end { f64::from_bits(STALE) } else { value };
            request.message(1, |series| {
                labels(series, &format!("k6_{}{suffix}", metric.name), tags);
                sample(series, value, time_ms);
            });
        }
    }
}

struct Point {
    suffix: String,
    value: f64,
}

/// The unit that ends the name of a native histogram.
fn unit(metric: &MetricInfo) -> &'static str {
    match metric.contains {
        Contains::Time => "_seconds",
        Contains::Data => "_bytes",
        Contains::Default => "",
    }
}

/// Labels in the order of their names, as receivers demand. A tag without a value is none.
fn labels(series: &mut Message, name: &str, tags: &[(String, String)]) {
    let of_tags = tags.iter().filter(|(_, value)| !value.is_empty());
    let mut all: Vec<(&str, &str)> =
        of_tags.map(|(name, value)| (name.as_str(), value.as_str())).collect();
    all.push(("__name__", name));
    all.sort_unstable();
    for (name, value) in all {
        series.message(1, |label| {
            label.text(1, name);
            label.text(2, value);
        });
    }
}

fn sample(series: &mut Message, value: f64, time_ms: i64) {
    series.message(2, |sample| {
        sample.double(1, value);
        sample.uint(2, time_ms as u64);
    });
}

/// prometheus.Histogram, of integers.
fn native(message: &mut Message, histogram: &ExponentialHistogram, time_ms: i64) {
    message.uint(1, histogram.count);
    message.double(3, histogram.sum);
    message.sint(4, histogram.scale().into());
    message.double(5, ZERO_THRESHOLD);
    message.uint(6, histogram.zeros);
    // Spans of neighbouring buckets: how far each lies behind the one before, and how many buckets it has.
    let mut spans: Vec<(i64, u64)> = Vec::new();
    let mut end = 0;
    for (index, _) in histogram.buckets() {
        let index = i64::from(index) + 1;
        match spans.last_mut() {
            Some((_, len)) if index == end => *len += 1,
            _ => spans.push((index - end, 1)),
        }
        end = index + 1;
    }
    for (offset, len) in spans {
        message.message(11, |span| {
            span.sint(1, offset);
            span.uint(2, len);
        });
    }
    let mut before = 0;
    let deltas = histogram.buckets().map(|(_, count)| {
        let delta = count as i64 - before;
        before = count as i64;
        delta
    });
    message.packed_sint(12, deltas);
    message.uint(15, time_ms as u64);
}

impl Encode for RemoteWrite {
    fn add(&mut self, sample: &Sample<'_>) {
        self.table.add(sample);
    }

    fn payloads(&mut self, flush: Flush) -> Vec<Vec<u8>> {
        let mut payloads = Vec::new();
        let fresh: Vec<usize> =
            (0..self.table.all.len()).filter(|at| self.table.all[*at].is_new).collect();
        for part in fresh.chunks(SERIES_OF_REQUEST) {
            let mut request = Message::default();
            for at in part {
                let series = &mut self.table.all[*at];
                // The time of the last sample; receivers refuse a second value for one time.
                let time_ms = (series.last_ns / 1_000_000).max(series.sent_ms.saturating_add(1));
                (series.sent_ms, series.is_new) = (time_ms, false);
                self.write(&mut request, *at, (time_ms, false));
            }
            payloads.push(packed(request));
        }
        if flush.is_last && self.settings.marks_stale {
            let all: Vec<usize> = (0..self.table.all.len()).collect();
            for part in all.chunks(SERIES_OF_REQUEST) {
                let mut request = Message::default();
                for at in part {
                    let sent_ms = self.table.all[*at].sent_ms;
                    let time_ms = (flush.unix_ns / 1_000_000).max(sent_ms) + 1;
                    self.write(&mut request, *at, (time_ms, true));
                }
                payloads.push(packed(request));
            }
        }
        payloads
    }

    fn refused(&self) -> u64 {
        self.table.refused
    }
}

/// Snappy's block format, which receivers demand.
fn packed(request: Message) -> Vec<u8> {
    let bytes = request.into_bytes();
    snap::raw::Encoder::new().compress_vec(&bytes).expect("a request is below snappy's 4 GiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_are_named_as_k6_names_them() {
        let stats = trend_stats("count,med, p(99.9),p(95)").unwrap();
        let suffixes: Vec<&str> = stats.iter().map(|stat| stat.suffix.as_str()).collect();
        assert_eq!(suffixes, ["count", "med", "p999", "p95"]);
        assert!(trend_stats("p(101)").is_none() && trend_stats("mean").is_none());
    }

    #[test]
    fn who_sends_is_proved_by_one_header() {
        let headers = |pairs: &[(&str, &str)]| own_headers(&Environment::of(pairs)).unwrap();
        let user = ("K6_PROMETHEUS_RW_USERNAME", "a");
        let basic = headers(&[user, ("K6_PROMETHEUS_RW_PASSWORD", "b")]);
        assert_eq!(basic, [("Authorization".to_owned(), "Basic YTpi".to_owned())]);
        let token = headers(&[user, ("K6_PROMETHEUS_RW_BEARER_TOKEN", "t")]);
        assert_eq!(token[0].1, "Bearer t");
        let own =
            headers(&[user, ("K6_PROMETHEUS_RW_HTTP_HEADERS", "X-Scope:one,authorization: z")]);
        assert_eq!(own.len(), 2);
        assert_eq!(headers(&[("K6_PROMETHEUS_RW_HEADERS_X-A", "1")])[0].0, "X-A");
        let wrong = Environment::of(&[("K6_PROMETHEUS_RW_HTTP_HEADERS", "x")]);
        assert!(own_headers(&wrong).is_err());
        assert!(
            Settings::read(&Environment::of(&[("K6_PROMETHEUS_RW_SIGV4_REGION", "eu")])).is_err()
        );
    }
}

//! OpenTelemetry's OTLP, metrics alone, with the names, units and variables of k6's `opentelemetry`. Trends are exponential
//! histograms, unless the environment asks for explicit buckets. No series is folded into another.
//! <https://opentelemetry.io/docs/specs/otlp/>, opentelemetry/proto/metrics/v1/metrics.proto

use std::time::Duration;

use base64::Engine as _;
use metrics::tally::Contains;
use percent_encoding::percent_decode_str;

use crate::delivery::Transport;
use crate::encode::{Encode, Flush};
use crate::environment::{Environment, wrong};
use crate::error::OutputError;
use crate::exponential::ExponentialHistogram;
use crate::exporter::unix_ns;
use crate::grpc::GrpcTransport;
use crate::http::{HttpTransport, TlsFiles};
use crate::protobuf::Message;
use crate::sample::Sample;
use crate::series::{Distribution, EXPLICIT_BOUNDS, MetricInfo, SeriesTable, State};

/// Bytes of a request at most, about: receivers refuse those above 4 MiB.
const REQUEST_MAX: usize = 2 << 20;
/// A bucket is at most 2^(1/32), some 2.2 %, wide.
const SCALE: i32 = 5;
/// AggregationTemporality: totals since the start.
const CUMULATIVE: u64 = 2;

/// What an environment says.
pub(crate) struct Settings {
    pub(crate) every: Duration,
    service: String,
    version: String,
    prefix: String,
    distribution: Distribution,
}

impl Settings {
    pub(crate) fn read(of: &Environment) -> Result<Self, OutputError> {
        const AGGREGATION: &str = "OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION";
        let named = |own: &str, standard: &str| of.text(own).or_else(|| of.text(standard));
        let distribution = match of.text(AGGREGATION) {
            None | Some("base2_exponential_bucket_histogram") => Distribution::Exponential(SCALE),
            Some("explicit_bucket_histogram") => Distribution::Explicit,
            Some(value) => {
                let wanted = "explicit_bucket_histogram or base2_exponential_bucket_histogram";
                return Err(wrong(AGGREGATION, value, wanted));
            }
        };
        let version = of.text("K6_OTEL_SERVICE_VERSION").unwrap_or(env!("CARGO_PKG_VERSION"));
        Ok(Self {
            every: of.duration("K6_OTEL_EXPORT_INTERVAL", Duration::from_secs(10))?,
            service: named("K6_OTEL_SERVICE_NAME", "OTEL_SERVICE_NAME").unwrap_or("k6").to_owned(),
            version: version.to_owned(),
            prefix: of.text("K6_OTEL_METRIC_PREFIX").unwrap_or_default().to_owned(),
            distribution,
        })
    }
}

/// Where requests go. An address after the output's name stands before the environment: `http://`, `https://`, `grpc://` or
/// `grpcs://`.
pub(crate) fn transport(url: &str, of: &Environment) -> Result<Box<dyn Transport>, OutputError> {
    const PROTOCOL: &str = "K6_OTEL_EXPORTER_PROTOCOL";
    let headers = headers(of)?;
    let tls = TlsFiles {
        is_insecure: of.switch("K6_OTEL_TLS_INSECURE_SKIP_VERIFY", false)?,
        roots: of.file("K6_OTEL_TLS_CERTIFICATE")?,
        client: of.file("K6_OTEL_TLS_CLIENT_CERTIFICATE")?.zip(of.file("K6_OTEL_TLS_CLIENT_KEY")?),
    };
    let path = of.text("K6_OTEL_HTTP_EXPORTER_URL_PATH").unwrap_or("/v1/metrics");
    match url.split_once("://") {
        Some(("grpc", place)) => return grpc(place.trim_end_matches('/'), headers, None),
        Some(("grpcs", place)) => return grpc(place.trim_end_matches('/'), headers, Some(&tls)),
        Some(("http" | "https", _)) => return http(&with_path(url, path), headers, &tls),
        Some(_) => return Err(OutputError::Address(stdx::shown_url(url).into_owned())),
        None if !url.is_empty() => {
            return Err(OutputError::Address(stdx::shown_url(url).into_owned()));
        }
        None => {}
    }
    let older = of.text("K6_OTEL_EXPORTER_TYPE").unwrap_or("grpc");
    match of.text(PROTOCOL).unwrap_or(older) {
        "grpc" => {
            let place = of.text("K6_OTEL_GRPC_EXPORTER_ENDPOINT").unwrap_or("localhost:4317");
            let is_plain = of.switch("K6_OTEL_GRPC_EXPORTER_INSECURE", false)?;
            grpc(place, headers, (!is_plain).then_some(&tls))
        }
        "http/protobuf" | "http" => {
            const ENDPOINT: &str = "K6_OTEL_HTTP_EXPORTER_ENDPOINT";
            let place = of.text(ENDPOINT).unwrap_or("localhost:4318");
            if place.contains("://") {
                return Err(wrong(ENDPOINT, place, "HOST:PORT without a scheme"));
            }
            let is_plain = of.switch("K6_OTEL_HTTP_EXPORTER_INSECURE", false)?;
            let scheme = if is_plain { "http" } else { "https" };
            http(&format!("{scheme}://{place}{path}"), headers, &tls)
        }
        value => Err(wrong(PROTOCOL, value, "grpc or http/protobuf")),
    }
}

/// An address with the path that it has, or with this one where it has none: a slash at its end names none.
fn with_path(url: &str, path: &str) -> String {
    let (scheme, place) = url.split_once("://").unwrap_or(("http", url));
    match place.trim_end_matches('/') {
        host if host.contains(['/', '?']) => url.to_owned(),
        host => format!("{scheme}://{host}{path}"),
    }
}

fn grpc(
    place: &str,
    headers: Vec<(String, String)>,
    tls: Option<&TlsFiles>,
) -> Result<Box<dyn Transport>, OutputError> {
    Ok(Box::new(GrpcTransport::new(place, EXPORT, headers, tls)?))
}

/// The method of OTLP's metrics service.
const EXPORT: &str = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export";

fn http(
    url: &str,
    mut headers: Vec<(String, String)>,
    tls: &TlsFiles,
) -> Result<Box<dyn Transport>, OutputError> {
    headers.push(("Content-Type".to_owned(), "application/x-protobuf".to_owned()));
    Ok(Box::new(HttpTransport::new(url, headers, tls)?))
}

/// `K6_OTEL_HEADERS`, whose values are percent-encoded, and basic authentication.
fn headers(of: &Environment) -> Result<Vec<(String, String)>, OutputError> {
    const LIST: &str = "K6_OTEL_HEADERS";
    let list = of.text(LIST).unwrap_or_default();
    let mut headers = Vec::new();
    for pair in list.split(',').filter(|pair| !pair.trim().is_empty()) {
        let split = pair.split_once('=').ok_or_else(|| wrong(LIST, "…", "a list of NAME=VALUE"))?;
        let value = percent_decode_str(split.1.trim()).decode_utf8_lossy().into_owned();
        headers.push((split.0.trim().to_lowercase(), value));
    }
    if let Some(user) = of.text("K6_OTEL_HTTP_EXPORTER_USERNAME") {
        let password = of.text("K6_OTEL_HTTP_EXPORTER_PASSWORD").unwrap_or_default();
        let pair = format!("{user}:{password}");
        let text = base64::engine::general_purpose::STANDARD.encode(pair);
        headers.push(("authorization".to_owned(), format!("Basic {text}")));
    }
    Ok(headers)
}

/// Makes export requests of samples.
pub(crate) struct OpenTelemetry {
    settings: Settings,
    table: SeriesTable,
    start_ns: u64,
}

impl OpenTelemetry {
    pub(crate) fn new(settings: Settings) -> Self {
        let table = SeriesTable::new(settings.distribution, 1.0);
        Self { table, settings, start_ns: unix_ns() as u64 }
    }

    /// ExportMetricsServiceRequest with one resource and one scope.
    fn request(&self, metrics: &[Vec<u8>]) -> Vec<u8> {
        let mut request = Message::default();
        request.message(1, |resource_metrics| {
            resource_metrics.message(1, |resource| {
                attribute(resource, 1, "service.name", &self.settings.service);
                attribute(resource, 1, "service.version", &self.settings.version);
            });
            resource_metrics.message(2, |scope_metrics| {
                scope_metrics.message(1, |scope| scope.text(1, "k6"));
                metrics.iter().for_each(|metric| scope_metrics.bytes(2, metric));
            });
        });
        request.into_bytes()
    }

    /// Writes a metric with the points of these series.
    fn metric(&self, metric: &MetricInfo, series: &[usize], now_ns: u64) -> Vec<u8> {
        let mut message = Message::default();
        let is_rate = matches!(self.table.all[series[0]].state, State::Rate { .. });
        let end = if is_rate { ".total" } else { "" };
        message.text(1, &format!("{}{}{end}", self.settings.prefix, metric.name));
        let unit = match metric.contains {
            Contains::Time => "ms",
            Contains::Data => "By",
            Contains::Default => "",
        };
        if !unit.is_empty() {
            message.text(3, unit);
        }
        let (data, is_sum) = match self.table.all[series[0]].state {
            State::Counter(_) | State::Rate { .. } => (7, true),
            State::Gauge(_) => (5, false),
            State::Exponential(_) => (10, false),
            State::Explicit { .. } | State::Trend(_) => (9, false),
        };
        message.message(data, |data_message| {
            for at in series {
                self.points(data_message, *at, now_ns);
            }
            if data != 5 {
                data_message.uint(2, CUMULATIVE);
            }
            if is_sum {
                data_message.uint(3, 1);
            }
        });
        message.into_bytes()
    }

    /// Writes the points of a series: two of a rate, else one.
    fn points(&self, data: &mut Message, at: usize, now_ns: u64) {
        let series = &self.table.all[at];
        let tags = self.table.tags(series);
        let times = |point: &mut Message| {
            point.fixed(2, self.start_ns);
            point.fixed(3, now_ns);
        };
        let attributes = |point: &mut Message, field: u32| {
            let of = tags.iter().filter(|(_, value)| !value.is_empty());
            of.for_each(|(name, value)| attribute(point, field, name, value));
        };
        match &series.state {
            State::Counter(value) | State::Gauge(value) => data.message(1, |point| {
                attributes(point, 7);
                times(point);
                point.double(4, *value);
            }),
            State::Rate { nonzero, total } => {
                for (condition, count) in [("nonzero", *nonzero), ("zero", total - nonzero)] {
                    data.message(1, |point| {
                        attributes(point, 7);
                        attribute(point, 7, "condition", condition);
                        times(point);
                        point.fixed(6, count);
                    });
                }
            }
            State::Exponential(histogram) => data.message(1, |point| {
                attributes(point, 1);
                times(point);
                exponential(point, histogram);
            }),
            State::Explicit { buckets, count, sum, min, max } => data.message(1, |point| {
                attributes(point, 9);
                times(point);
                point.fixed(4, *count);
                point.double(5, *sum);
                point.packed_fixed(6, buckets.iter().copied());
                point.packed_fixed(7, EXPLICIT_BOUNDS.iter().map(|bound| bound.to_bits()));
                point.double(11, *min);
                point.double(12, *max);
            }),
            // This table makes no percentiles.
            State::Trend(_) => {}
        }
    }
}

/// The rest of an ExponentialHistogramDataPoint. Buckets are a dense row from the first that has counts.
fn exponential(point: &mut Message, histogram: &ExponentialHistogram) {
    point.fixed(4, histogram.count);
    point.double(5, histogram.sum);
    point.sint(6, histogram.scale().into());
    point.fixed(7, histogram.zeros);
    if let Some((first, _)) = histogram.buckets().next() {
        let mut row = Vec::new();
        for (index, count) in histogram.buckets() {
            row.resize((index - first) as usize, 0);
            row.push(count);
        }
        point.message(8, |buckets| {
            buckets.sint(1, first.into());
            buckets.packed_uint(2, row.into_iter());
        });
    }
    point.double(12, histogram.min);
    point.double(13, histogram.max);
}

/// A KeyValue with a text.
fn attribute(message: &mut Message, field: u32, name: &str, value: &str) {
    message.message(field, |pair| {
        pair.text(1, name);
        pair.message(2, |any| any.text(1, value));
    });
}

impl Encode for OpenTelemetry {
    fn add(&mut self, sample: &Sample<'_>) {
        self.table.add(sample);
    }

    fn payloads(&mut self, flush: Flush) -> Vec<Vec<u8>> {
        let mut by_metric: Vec<Vec<usize>> = vec![Vec::new(); self.table.metrics().len()];
        for (at, series) in self.table.all.iter().enumerate().filter(|(_, series)| series.is_new) {
            by_metric[series.metric as usize].push(at);
        }
        let (mut payloads, mut metrics, mut bytes) = (Vec::new(), Vec::new(), 0);
        for (info, series) in self.table.metrics().iter().zip(&by_metric) {
            for part in series.chunks(500) {
                let metric = self.metric(info, part, flush.unix_ns as u64);
                bytes += metric.len();
                metrics.push(metric);
                if bytes > REQUEST_MAX {
                    payloads.push(self.request(&std::mem::take(&mut metrics)));
                    bytes = 0;
                }
            }
        }
        if !metrics.is_empty() {
            payloads.push(self.request(&metrics));
        }
        self.table.all.iter_mut().for_each(|series| series.is_new = false);
        payloads
    }

    fn refused(&self) -> u64 {
        self.table.refused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_decoded() {
        let of = Environment::of(&[("K6_OTEL_HEADERS", "X-A=a%20b%zz, y=1")]);
        let expect = [("x-a".to_owned(), "a b%zz".to_owned()), ("y".to_owned(), "1".to_owned())];
        assert_eq!(headers(&of).unwrap(), expect);
        assert!(headers(&Environment::of(&[("K6_OTEL_HEADERS", "x")])).is_err());
    }

    /// Issue 41: `http://host:4318/` posted to `/`.
    #[test]
    fn an_address_without_a_path_gets_the_usual_one() {
        for (url, expect) in [
            ("http://h:4318", "http://h:4318/v1/metrics"),
            ("http://h:4318/", "http://h:4318/v1/metrics"),
            ("https://h//", "https://h/v1/metrics"),
            ("http://h:4318/own", "http://h:4318/own"),
            ("http://h:4318/own/", "http://h:4318/own/"),
            ("http://h:4318/?a=b", "http://h:4318/?a=b"),
        ] {
            assert_eq!(with_path(url, "/v1/metrics"), expect);
        }
    }

    #[test]
    fn addresses_and_variables_are_checked() {
        for (url, variables) in [
            ("ftp://x", &[][..]),
            ("localhost:4317", &[]),
            ("", &[("K6_OTEL_EXPORTER_PROTOCOL", "udp")]),
            (
                "",
                &[
                    ("K6_OTEL_EXPORTER_PROTOCOL", "http/protobuf"),
                    ("K6_OTEL_HTTP_EXPORTER_ENDPOINT", "http://x:1"),
                ],
            ),
        ] {
            assert!(transport(url, &Environment::of(variables)).is_err(), "{url} {variables:?}");
        }
        let plain = Environment::of(&[("K6_OTEL_GRPC_EXPORTER_INSECURE", "true")]);
        assert!(transport("", &plain).is_ok());
    }
}

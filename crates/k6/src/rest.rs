//! `Rest`: k6's REST API, as far as its clients need it: status, metrics, groups, and how a test is stopped or resumed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use metrics::tally::{Metric, Value};
use script::{Control, LiveMetrics, Paused};
use serde_json::{Value as Json, json};
use session::{Answers, BarePort, Listener, Request, Response};

use crate::setup_totals::SetupTotals;

/// The REST API of a test.
#[derive(Default)]
pub(super) struct Rest {
    stopped: AtomicBool,
    /// When it was.
    paused: AtomicBool,
    test: Mutex<Option<Test>>,
    /// The test is over.
    ended: Condvar,
    /// What is being answered; nothing before it is served.
    answers: OnceLock<Answers>,
}

/// A test under way.
struct Test {
    control: Arc<Control>,
    live: Arc<LiveMetrics>,
    before: SetupTotals,
    began: Instant,
    over: bool,
}

/// The longest body that is read.
const BODY_MAX: usize = 1 << 20;
/// How long a client that stops a test waits for its end at most.
const STOP_MAX: Duration = Duration::from_secs(5);

impl Rest {
    /// Serves at an address for as long as the process lives.
    ///
    /// # Errors
    /// The address is malformed, or taken.
    pub(super) fn start(address: &str, bare: BarePort, paused: bool) -> Result<Arc<Self>, String> {
        let wrong = |error: std::io::Error| format!("listen tcp {address}: {error}");
        let listener = Listener::bind(address, bare).map_err(wrong)?;
        let rest = Arc::new(Self { paused: AtomicBool::new(paused), ..Self::default() });
        let served = Arc::clone(&rest);
        let answer = move |request: &Request| served.answer(request);
        let answers = listener.serve("rest", BODY_MAX, answer).map_err(wrong)?;
        rest.answers.get_or_init(|| answers);
        Ok(rest)
    }

    /// Waits until all answers are out: one may be to the client that stopped the test.
    pub(super) fn finish(&self) {
        self.answers.get().into_iter().for_each(Answers::finish);
    }

    /// Whether a client stopped the test.
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Whether the test waits until it is resumed.
    pub(super) fn is_paused(&self) -> bool {
        self.paused.load(Ordering::Relaxed)
    }

    fn paused_now(&self) -> Paused {
        if self.is_paused() { Paused::Yes } else { Paused::No }
    }

    /// A test is under way.
    pub(super) fn begin(&self, control: Arc<Control>, live: Arc<LiveMetrics>, before: SetupTotals) {
        // It may have been paused during its setup.
        control.set_paused(self.paused_now());
        *self.test() = Some(Test { control, live, before, began: Instant::now(), over: false });
    }

    /// The test is over.
    pub(super) fn end(&self) {
        if let Some(test) = &mut *self.test() {
            test.over = true;
        }
        self.ended.notify_all();
    }

    /// Stops the test. As in k6, the client gets its answer once the test has stopped.
    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        let under_way = |test: &mut Option<Test>| test.as_ref().is_some_and(|test| !test.over);
        let waited = self.ended.wait_timeout_while(self.test(), STOP_MAX, under_way);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    fn test(&self) -> MutexGuard<'_, Option<Test>> {
        // What is locked here is whole at any moment.
        self.test.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, request: &Request) -> Response {
        let (status, document) = self.document(&request.method, &request.path, &request.body);
        let body = document.map_or_else(String::new, |document| document.to_string());
        Response { status, ..Response::new("application/json", body) }
    }

    /// The answer to a request.
    fn document(&self, method: &str, path: &str, body: &[u8]) -> (&'static str, Option<Json>) {
        match (method, path) {
            ("GET", "/ping") => ("200 OK", Some(json!("ok"))),
            ("GET", "/v1/status") => ("200 OK", Some(self.status())),
            ("PATCH", "/v1/status") => self.change(body),
            ("GET", "/v1/metrics") => ("200 OK", Some(json!({ "data": self.metrics(|_| true) }))),
            ("GET", "/v1/groups") => ("200 OK", Some(json!({ "data": self.groups() }))),
            ("GET", path) if path.starts_with("/v1/metrics/") => {
                let wanted = &path["/v1/metrics/".len()..];
                match self.metrics(|name| name == wanted).pop() {
                    Some(metric) => ("200 OK", Some(json!({ "data": metric }))),
                    None => {
                        ("404 Not Found", Some(error("404", "No metric with that ID was found")))
                    }
                }
            }
            _ => ("404 Not Found", Some(error("404", "Not Found"))),
        }
    }

    fn change(&self, body: &[u8]) -> (&'static str, Option<Json>) {
        let parsed: Result<Json, _> = serde_json::from_slice(body);
        let Ok(document) = parsed else {
            return ("400 Bad Request", Some(error("400", "Invalid data")));
        };
        let asked = &document["data"]["attributes"];
        if asked["stopped"].as_bool() == Some(true) {
            self.stop();
        }
        if let Some(paused) = asked["paused"].as_bool() {
            self.paused.store(paused, Ordering::Relaxed);
            self.test().iter().for_each(|test| test.control.set_paused(self.paused_now()));
        }
        if let (Some(vus), Some(test)) = (asked["vus"].as_u64(), &*self.test()) {
            test.control.scale(vus);
        }
        ("200 OK", Some(self.status()))
    }

    fn status(&self) -> Json {
        let seen = self.test().as_ref().map(|test| test.control.instance()).unwrap_or_default();
        let stopped = self.is_stopped();
        json!({ "data": { "type": "status", "id": "default", "attributes": {
            "status": 7,
            "paused": self.is_paused(),
            "vus": seen.active,
            "vus-max": seen.initialized,
            "stopped": stopped,
            "running": !stopped && self.test().as_ref().is_some_and(|test| !test.over),
            "tainted": false,
        } } })
    }

    /// The metrics of wanted names that have samples.
    fn metrics(&self, wanted: impl Fn(&str) -> bool) -> Vec<Json> {
        let test = self.test();
        let Some(Test { live, before, began, .. }) = &*test else { return Vec::new() };
        let mut tally = before.tally.clone();
        live.add(&mut tally);
        let seconds = (before.elapsed + began.elapsed()).as_secs_f64();
        let seen =
            tally.metrics().filter(|(name, metric)| metric.value.count() > 0 && wanted(name));
        seen.map(|(name, metric)| metric_json(name, metric, seconds)).collect()
    }

    fn groups(&self) -> Vec<Json> {
        let test = self.test();
        let Some(Test { live, before, .. }) = &*test else { return Vec::new() };
        let mut tally = before.tally.clone();
        live.add(&mut tally);
        let group = |path: &String| {
            let name = path.rsplit("::").next().unwrap_or_default();
            json!({ "type": "groups", "id": path, "attributes": { "path": path, "name": name, "checks": [] } })
        };
        std::iter::once(&String::new()).chain(&tally.groups).map(group).collect()
    }
}

fn error(status: &str, title: &str) -> Json {
    json!({ "errors": [{ "status": status, "title": title }] })
}

fn metric_json(name: &str, metric: &Metric, seconds: f64) -> Json {
    let sample = match &metric.value {
        Value::Counter { sum, .. } => json!({ "count": sum, "rate": sum / seconds.max(1e-9) }),
        Value::Gauge { last, .. } => json!({ "value": last }),
        Value::Rate { passes, total } => json!({ "rate": *passes as f64 / *total as f64 }),
        Value::Trend(trend) => json!({
            "avg": trend.mean(),
            "min": trend.min(),
            "med": trend.percentile(50.0),
            "max": trend.max(),
            "p(90)": trend.percentile(90.0),
            "p(95)": trend.percentile(95.0),
        }),
    };
    json!({ "type": "metrics", "id": name, "attributes": {
        "type": metric.value.kind().name(),
        "contains": metric.contains.name(),
        "tainted": null,
        "sample": sample,
    } })
}

#[cfg(test)]
mod tests {
    use metrics::tally::Tally;

    use super::*;

    fn asked(rest: &Rest, method: &str, path: &str, body: &str) -> (&'static str, Json) {
        let (status, document) = rest.document(method, path, body.as_bytes());
        (status, document.unwrap_or_default())
    }

    #[test]
    fn a_test_is_stopped_and_resumed() {
        let rest = Rest::default();
        rest.paused.store(true, Ordering::Relaxed);
        let live = Arc::new(LiveMetrics::default());
        let mut tally = Tally::default();
        tally.add(metrics::tally::MetricId::ITERATIONS, 2.0, &());
        let before = SetupTotals { tally, elapsed: Duration::ZERO };
        rest.begin(Control::new(&[], &workload::Segment::default()), live, before);
        let (_, status) = asked(&rest, "GET", "/v1/status", "");
        assert_eq!(status["data"]["attributes"]["paused"], true);
        let resume = r#"{"data":{"type":"status","attributes":{"paused":false,"stopped":true}}}"#;
        let answered = std::thread::scope(|scope| {
            let client = scope.spawn(|| asked(&rest, "PATCH", "/v1/status", resume).0);
            while !rest.is_stopped() {
                std::thread::yield_now();
            }
            assert!(!client.is_finished(), "it waits for the end of the test");
            rest.end();
            client.join().unwrap()
        });
        assert_eq!(answered, "200 OK");
        assert!(rest.is_stopped() && !rest.is_paused());
        let (_, metric) = asked(&rest, "GET", "/v1/metrics/iterations", "");
        assert_eq!(metric["data"]["attributes"]["sample"]["count"], 2.0);
        assert_eq!(asked(&rest, "GET", "/v1/metrics/none", "").0, "404 Not Found");
        assert_eq!(asked(&rest, "PATCH", "/v1/status", "{").0, "400 Bad Request");
    }

    #[test]
    fn an_address_that_is_none_is_refused() {
        assert!(Rest::start("nope", BarePort::Loopback, false).is_err());
    }
}

//! `-o`: samples sent to a real Prometheus and a real InfluxDB, and the queries of our dashboards and of well-known ones.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use demo::{Config, ServiceTime};
use serde_json::Value;

use crate::{Scratch, Started, brunt, free_port, run, server, start, text, until};

/// Iterations that find no VU, checks that fail, and answers with an error.
const SCRIPT: &str = "import http from 'k6/http';
    import { check } from 'k6';
    export const options = { scenarios: { load: {
        executor: 'constant-arrival-rate', rate: 150, duration: '4s', preAllocatedVUs: 2, maxVUs: 2,
    } } };
    export default function () {
        const answer = http.get(`${__ENV.BASE}/`, { tags: { name: 'home' } });
        check(answer, { 'is 200': (r) => r.status === 200 });
    }";

/// A Prometheus that takes what is written to it, and scrapes this port.
struct Prometheus {
    _process: Started,
    port: u16,
    /// Where a run shows its metrics, for it to scrape.
    exporter: u16,
}

impl Prometheus {
    fn start(scratch: &Scratch) -> Self {
        let (port, exporter) = (free_port(), free_port());
        let config = format!(
            "scrape_configs: [{{job_name: load, scrape_interval: 500ms, scrape_timeout: 500ms, \
             static_configs: [{{targets: ['127.0.0.1:{exporter}']}}]}}]"
        );
        scratch.file("prometheus.yml", config);
        let mut command = Command::new("prometheus");
        command
            .args(["--web.enable-remote-write-receiver", "--enable-feature=native-histograms"])
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .arg(format!("--config.file={}", text(&scratch.path("prometheus.yml"))))
            .arg(format!("--storage.tsdb.path={}", text(&scratch.path("prometheus"))))
            .stderr(Stdio::null());
        let process = start(command);
        until("Prometheus is ready", || {
            get(port, "/-/ready").is_some_and(|answer| answer.contains("Server is Ready"))
        });
        Self { _process: process, port, exporter }
    }

    /// The series that a query finds now.
    fn query(&self, query: &str) -> Vec<Value> {
        let answer = get(self.port, &format!("/api/v1/query?query={}", encoded(query))).unwrap();
        let json: Value = serde_json::from_str(&answer).unwrap();
        let found = json["data"]["result"].as_array();
        found.unwrap_or_else(|| panic!("{query}: {answer}")).clone()
    }

    /// The one value that a query gives.
    fn value(&self, query: &str) -> f64 {
        let found = self.query(query);
        assert_eq!(found.len(), 1, "{query}: {found:?}");
        found[0]["value"][1].as_str().unwrap().parse().unwrap()
    }
}

/// The body of an answer; `None` where there is none.
fn get(port: u16, path: &str) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    write!(stream, "GET {path} HTTP/1.0\r\nhost: 127.0.0.1:{port}\r\n\r\n").ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned())
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// The queries of a dashboard in `examples/grafana/`, with its variables replaced.
fn dashboard(name: &str) -> Vec<String> {
    let path = format!("{}/../../examples/grafana/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let json: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let panels = json["panels"].as_array().unwrap().iter();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().unwrap());
    let plain = |target: &Value| {
        let query = target["expr"].as_str().unwrap();
        let query = query.replace("$testid", ".*").replace("$job", ".*");
        query.replace("$__rate_interval", "1m")
    };
    targets.map(plain).collect()
}

/// What the dashboards 19665 and 18030 of grafana.com ask for, besides what depends on the sort of a trend.
const OF_BOTH: [&str; 8] = [
    "sum(k6_vus{testid=~\".*\"})",
    "sum(irate(k6_http_reqs_total{testid=~\".*\"}[1m]))",
    "sum(irate(k6_http_reqs_total{testid=~\".*\",expected_response=\"false\"}[1m]))",
    "avg(round(k6_http_req_failed_rate{testid=~\".*\"}, 0.1)*100)",
    "avg(irate(k6_data_sent_total{testid=~\".*\"}[1m]))",
    "avg(irate(k6_data_received_total{testid=~\".*\"}[1m]))",
    "avg(k6_dropped_iterations_total{testid=~\".*\"})",
    "round(k6_checks_rate{testid=~\".*\"}, 0.1)",
];

#[test]
fn dashboards_find_what_a_script_sends() {
    let scratch = Scratch::new("sent-prometheus");
    let prometheus = Prometheus::start(&scratch);
    let script = scratch.file("script.js", SCRIPT);
    let service = ServiceTime::parse("fixed:20ms").unwrap();
    let (_server, url) = server(Config { service, error_rate: 0.2, ..Config::default() });
    let report = text(&scratch.path("summary.json"));
    for (testid, native) in [("stats", "false"), ("native", "true")] {
        let mut command = brunt(&format!(
            "run -q -o experimental-prometheus-rw --tag testid={testid} -e BASE={url} --summary-export={report} {script}"
        ));
        command
            .env(
                "K6_PROMETHEUS_RW_SERVER_URL",
                format!("http://127.0.0.1:{}/api/v1/write", prometheus.port),
            )
            .env("K6_PROMETHEUS_RW_PUSH_INTERVAL", "500ms")
            .env("K6_PROMETHEUS_RW_TREND_STATS", "min,max,p(95),p(99)")
            .env("K6_PROMETHEUS_RW_TREND_AS_NATIVE_HISTOGRAM", native);
        let ran = start(command).wait().with_code(0);
        assert!(!ran.stderr.contains("output"), "{}", ran.stderr);
        let summary: Value = serde_json::from_slice(&std::fs::read(&report).unwrap()).unwrap();
        let count = summary["metrics"]["http_reqs"]["count"].as_f64().unwrap();
        let all = format!("sum(k6_http_reqs_total{{testid=\"{testid}\"}})");
        assert!(count > 100.0 && (prometheus.value(&all) - count).abs() < 0.5, "{summary}");
    }
    let stats = [
        "avg(k6_http_req_duration_p95{testid=~\".*\"})",
        "avg(k6_iteration_duration_p99{testid=~\".*\"})",
        "avg by(name, method, status) (k6_http_req_duration_max{testid=~\".*\"})",
    ];
    let native = [
        "histogram_quantile(0.95, sum by (le)(rate(k6_http_req_duration_seconds{testid=~\".*\"}[1m])))",
        "histogram_quantile(0.99, sum by (le)(rate(k6_iteration_duration_seconds{testid=~\".*\"}[1m])))",
    ];
    let own = [dashboard("histograms"), dashboard("trend-stats")].concat();
    let foreign = OF_BOTH.into_iter().chain(stats).chain(native).map(str::to_owned);
    for query in own.into_iter().chain(foreign) {
        assert!(!prometheus.query(&query).is_empty(), "finds nothing: {query}");
    }
    let p95 = prometheus.value("histogram_quantile(0.95, sum(k6_http_req_duration_seconds))");
    assert!((0.02..0.2).contains(&p95), "{p95}");
}

#[test]
fn dashboards_find_what_an_attack_sends_and_shows() {
    let scratch = Scratch::new("sent-attack");
    let prometheus = Prometheus::start(&scratch);
    let (_server, url) = server(Config { error_rate: 0.2, ..Config::default() });
    // It begins to scrape seconds after it is ready.
    until("Prometheus scrapes", || {
        let targets = get(prometheus.port, "/api/v1/targets");
        targets.is_some_and(|targets| targets.contains("\"lastScrape\":\"2"))
    });
    let targets = scratch.file("targets.txt", format!("GET {url}/\n"));
    let mut command = brunt(&format!(
        "attack -targets={} -rate=200 -duration=4s -json -prometheus-addr=127.0.0.1:{} -o experimental-prometheus-rw=http://127.0.0.1:{}/api/v1/write",
        targets, prometheus.exporter, prometheus.port
    ));
    command.env("K6_PROMETHEUS_RW_TREND_STATS", "count,p(99)");
    let json = start(command).wait().with_code(0).json();
    let failed = json["status_codes"]["500"].as_f64().unwrap();
    let sent = "sum(k6_http_reqs_total{expected_response=\"false\",status=\"500\"})";
    assert!(failed > 50.0 && (prometheus.value(sent) - failed).abs() < 0.5);
    assert!((prometheus.value("sum(k6_http_req_response_time_count)") - 800.0).abs() < 0.5);
    for query in dashboard("exporter") {
        assert!(!prometheus.query(&query).is_empty(), "finds nothing: {query}");
    }
}

#[test]
fn an_influxdb_gets_a_point_for_each_sample() {
    let scratch = Scratch::new("sent-influx");
    let (port, other) = (free_port(), free_port());
    let place = |name: &str| text(&scratch.path(name));
    let config = format!(
        "reporting-disabled = true\nbind-address = \"127.0.0.1:{other}\"\n[meta]\ndir = {:?}\n[data]\ndir = {:?}\nwal-dir = {:?}\n[http]\nbind-address = \"127.0.0.1:{port}\"\n",
        place("meta"),
        place("data"),
        place("wal")
    );
    let file = scratch.file("influxd.conf", config);
    let mut command = Command::new("influxd");
    command.args(["-config", &file]).stderr(Stdio::null()).stdout(Stdio::null());
    let _influxd = start(command);
    // It listens before its databases can be made.
    until("InfluxDB is ready", || {
        get(port, "/query?q=show+databases").is_some_and(|answer| answer.contains("_internal"))
    });
    let (_server, url) = server(Config::default());
    let ran = run(&format!(
        "bench -n 300 -c 3 -q -output=none -o influxdb=http://127.0.0.1:{port}/load {url}/"
    ));
    let ran = ran.with_code(0);
    // It may need a second try: InfluxDB knows a database some time after it said that it made it.
    assert!(!ran.stderr.contains("not delivered"), "{}", ran.stderr);
    let query = encoded("select count(value), sum(value) from http_reqs where \"status\" = '200'");
    let answer = get(port, &format!("/query?db=load&q={query}")).unwrap();
    let json: Value = serde_json::from_str(&answer).unwrap();
    let row = &json["results"][0]["series"][0]["values"][0];
    assert_eq!((&row[1], &row[2]), (&300.into(), &300.into()), "{answer}");
}

#[test]
fn what_is_not_delivered_is_said_and_costs_no_run() {
    let scratch = Scratch::new("sent-nowhere");
    let script = scratch.file("script.js", "export default () => {}");
    let nowhere = free_port();
    let output = format!("experimental-prometheus-rw=http://user:secret@127.0.0.1:{nowhere}/");
    let (_server, url) = server(Config::default());
    // Each tries for as long as an output may take, side by side.
    let script = start(brunt(&format!("run -q -o {output} {script}")));
    let bench = start(brunt(&format!("bench -n 10 -c 1 -q -output=none -o {output} {url}/")));
    let ran = script.wait().with_code(0);
    assert!(ran.stderr.contains("1 of 1 batch not delivered"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("secret") && !ran.stdout.contains("secret"));
    let bench = bench.wait().with_code(0);
    assert!(bench.stderr.contains("1 of 1 batch not delivered"), "{}", bench.stderr);
    let address = run(&format!("bench -n 10 -o statsd=nowhere {url}/"));
    assert!(address.stderr.contains("\"nowhere\": not an address"), "{}", address.stderr);
    let cable = run(&format!("cable -users=1 -channel=ChatChannel -o statsd echo {url}/cable"));
    assert!(cable.stderr.contains("-o statsd: "), "{}", cable.stderr);
}

//! What each tool says it did: the number of requests in its output, and brunt's view of itself. Text to numbers; a text that
//! does not say it gives `None`.

use serde_json::Value;

/// wrk: `121149 requests in 1.00s, 17.21MB read`.
pub(super) fn wrk(output: &str) -> Option<u64> {
    output.lines().find_map(|line| line.trim().split_once(" requests in ")?.0.parse().ok())
}

/// ab: `Complete requests:      109576`.
pub(super) fn ab(output: &str) -> Option<u64> {
    after(output, "Complete requests:")
}

/// hey: every line `[200] 26430 responses` below `Status code distribution:`.
pub(super) fn hey(output: &str) -> Option<u64> {
    let below = output.split_once("Status code distribution:")?.1;
    let counts = below.lines().filter_map(|line| {
        let (_, rest) = line.trim().strip_prefix('[')?.split_once(']')?;
        rest.trim().strip_suffix(" responses")?.parse::<u64>().ok()
    });
    Some(counts.sum()).filter(|sum| *sum > 0)
}

/// h2load: `requests: 99368 total, 99376 started, 99368 done, 99368 succeeded, …`; those done.
pub(super) fn h2load(output: &str) -> Option<u64> {
    let line = output.lines().find_map(|line| line.strip_prefix("requests: "))?;
    line.split(", ").find_map(|part| part.strip_suffix(" done")?.parse().ok())
}

/// k6: `http_reqs......................: 13364  13332.777502/s`.
pub(super) fn k6(output: &str) -> Option<u64> {
    k6_counter(output, "http_reqs.")
}

/// k6: `ws_msgs_received...............: 58392  19462.13/s`.
pub(super) fn k6_messages(output: &str) -> Option<u64> {
    k6_counter(output, "ws_msgs_received.")
}

/// `brunt cable`: `Deliveries    [owed, made, lost, cut off]       900, 900 (100.00%), 0, 0`.
pub(super) fn deliveries(output: &str) -> Option<u64> {
    let made = cable_line(output, "Deliveries")?.split(", ").nth(1)?;
    made.split_whitespace().next()?.parse().ok()
}

/// `brunt cable`: `Subscriptions [confirmed, not in time, dropped] 90, 0, 0`.
pub(super) fn subscriptions(output: &str) -> Option<u64> {
    cable_line(output, "Subscriptions")?.split(", ").next()?.parse().ok()
}

/// The figures of a line.
fn cable_line<'a>(output: &'a str, name: &str) -> Option<&'a str> {
    let line = output.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(']')?.1.trim())
}

/// k6: `iterations.....................: 3000  1000.5/s`.
pub(super) fn k6_iterations(output: &str) -> Option<u64> {
    k6_counter(output, "iterations.")
}

fn k6_counter(output: &str, name: &str) -> Option<u64> {
    let line = output.lines().find_map(|line| line.trim().strip_prefix(name))?;
    line.split_once(": ")?.1.split_whitespace().next()?.parse().ok()
}

/// oha with `--output-format json`: the sum of `statusCodeDistribution`.
pub(super) fn oha(output: &str) -> Option<u64> {
    let json: Value = serde_json::from_str(output.get(output.find('{')?..)?.trim()).ok()?;
    let counts = json["statusCodeDistribution"].as_object()?;
    Some(counts.values().filter_map(Value::as_u64).sum()).filter(|sum| *sum > 0)
}

/// The number after a label at the begin of a line.
fn after(output: &str, label: &str) -> Option<u64> {
    output.lines().find_map(|line| line.strip_prefix(label)?.trim().parse().ok())
}

/// How late a scheduler was, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Lag {
    /// Median.
    pub(super) p50_ns: f64,
    /// 99.9th percentile.
    pub(super) p999_ns: f64,
}

/// Response times, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Latency {
    /// Median.
    pub(super) p50_ns: f64,
    /// 99th percentile.
    pub(super) p99_ns: f64,
}

/// The figures of a `report -type=json`, Vegeta's or brunt's.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Report {
    /// Hits in the results.
    pub(super) requests: u64,
    /// Hits per second, as Vegeta counts it.
    pub(super) rate: f64,
    /// Successes per hit, 0 to 1.
    pub(super) success: f64,
    /// How late brunt itself was; Vegeta does not say.
    pub(super) lag: Option<Lag>,
    /// Response times.
    pub(super) latency: Option<Latency>,
    /// brunt's verdict with its reasons; empty for Vegeta.
    pub(super) verdict: String,
}

/// Reads a `report -type=json`.
pub(super) fn report(output: &str) -> Option<Report> {
    let json: Value = serde_json::from_str(output.lines().next()?).ok()?;
    let generator = &json["brunt"]["generator"];
    let lag = || {
        Some(Lag {
            p50_ns: generator["lag"]["50th"].as_f64()?,
            p999_ns: generator["lag"]["99.9th"].as_f64()?,
        })
    };
    let latency = || {
        let latencies = &json["latencies"];
        let p50_ns = latencies["50th"].as_f64()?;
        Some(Latency { p50_ns, p99_ns: latencies["99th"].as_f64()? })
    };
    let verdict = json["brunt"]["verdict"].as_str().unwrap_or_default();
    let reasons = json["brunt"]["reasons"].as_array().map(Vec::as_slice).unwrap_or_default();
    let reasons: Vec<&str> = reasons.iter().filter_map(Value::as_str).collect();
    let colon = if reasons.is_empty() { "" } else { ": " };
    Some(Report {
        requests: json["requests"].as_u64()?,
        rate: json["rate"].as_f64()?,
        success: json["success"].as_f64()?,
        lag: lag(),
        latency: latency(),
        verdict: format!("{verdict}{colon}{}", reasons.join("; ")),
    })
}

/// What `brunt scheduler` prints: `{"lag_p50_ns": …, "lag_p999_ns": …}`.
pub(super) fn scheduler(output: &str) -> Option<Lag> {
    let json: Value = serde_json::from_str(output.lines().next()?).ok()?;
    Some(Lag { p50_ns: json["lag_p50_ns"].as_f64()?, p999_ns: json["lag_p999_ns"].as_f64()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRK: &str = "Running 1s test @ http://127.0.0.1:18431/\n  1 threads and 8 connections\n  \
        Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency    83.66us  194.98us   3.44ms   97.70%\n    \
        Req/Sec   122.25k    10.38k  150.01k    90.00%\n  121149 requests in 1.00s, 17.21MB read\n\
        Requests/sec: 121087.61\nTransfer/sec:     17.21MB\n";
    const AB: &str = "Concurrency Level:      8\nTime taken for tests:   1.000 seconds\n\
        Complete requests:      109576\nFailed requests:        0\nKeep-Alive requests:    109576\n";
    const HEY: &str = "\nSummary:\n  Total:\t1.0003 secs\n  Requests/sec:\t26420.9513\n\n\
        Response time histogram:\n  0.000 [21755]\t|■■■\n\nStatus code distribution:\n  \
        [200]\t26430 responses\n  [503]\t10 responses\n\n";
    const H2LOAD: &str = "finished in 1.00s, 99368.00 req/s, 14.12MB/s\n\
        requests: 99368 total, 99376 started, 99367 done, 99366 succeeded, 0 failed, 0 errored, 0 timeout\n";
    const K6: &str = "    HTTP\n    http_req_failed................: 0.00%  0 out of 13364\n    \
        http_reqs......................: 13364  13332.777502/s\n    iterations.....................: 13364  13332.777502/s\n";
    const OHA: &str = "{\n  \"summary\": {\"successRate\": 1.0, \"total\": 1.0},\n  \
        \"statusCodeDistribution\": {\"200\": 70123, \"404\": 7}\n}\n";

    #[test]
    fn each_peer_says_how_much_it_did() {
        assert_eq!(wrk(WRK), Some(121_149));
        assert_eq!(ab(AB), Some(109_576));
        assert_eq!(hey(HEY), Some(26_440));
        assert_eq!(h2load(H2LOAD), Some(99_367));
        assert_eq!((k6(K6), k6_iterations(K6)), (Some(13_364), Some(13_364)));
        assert_eq!(k6_messages("    ws_msgs_received...: 58392  19462.13/s\n"), Some(58_392));
        assert_eq!(oha(OHA), Some(70_130));
        let cable = "Subscriptions [confirmed, not in time, dropped] 90, 0, 1\n\
            Deliveries    [owed, made, lost, cut off]       901, 900 (99.89%), 1, 0\n";
        assert_eq!((subscriptions(cable), deliveries(cable)), (Some(90), Some(900)));
    }

    #[test]
    fn a_text_that_does_not_say_it_gives_nothing() {
        for parse in [wrk, ab, hey, h2load, k6, oha, deliveries, subscriptions] {
            for text in ["", "error: connection refused\n", "{}", "Status code distribution:\n"] {
                assert_eq!(parse(text), None, "{text:?}");
            }
        }
        assert_eq!(report("not json"), None);
        assert_eq!(scheduler("{}"), None);
    }

    #[test]
    fn reports_of_vegeta_and_brunt_are_read() {
        let vegeta =
            r#"{"latencies":{"total":1},"requests":250,"rate":50.2,"success":1,"errors":[]}"#;
        let read = report(vegeta).unwrap();
        assert_eq!((read.requests, read.rate, read.success, read.lag), (250, 50.2, 1.0, None));
        assert_eq!(read.verdict, "");

        let brunt = r#"{"requests":9,"rate":5.0,"success":0.5,"brunt":{"verdict":"INVALID","reasons":["late","lost"],
            "generator":{"lag":{"50th":9000,"99.9th":80000}}}}"#
            .replace('\n', "");
        let read = report(&brunt).unwrap();
        assert_eq!(read.lag, Some(Lag { p50_ns: 9000.0, p999_ns: 80_000.0 }));
        assert_eq!(read.verdict, "INVALID: late; lost");
    }

    #[test]
    fn the_empty_scheduler_is_read() {
        let lag = scheduler("{\"lag_p50_ns\": 5100, \"lag_p999_ns\": 91000}\n").unwrap();
        assert_eq!(lag, Lag { p50_ns: 5100.0, p999_ns: 91_000.0 });
    }
}

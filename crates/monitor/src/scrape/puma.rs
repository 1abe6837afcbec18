//! The answer of Puma's control server to `/stats`, as the series that its Prometheus exporters have. Source: Puma's
//! `docs/stats.md`.

use serde_json::Value;

use super::text::Series;

/// Figures of a pool of threads. The exporters' names are these with `puma_` before them.
const FIGURES: [&str; 6] =
    ["backlog", "running", "pool_capacity", "max_threads", "busy_threads", "requests_count"];

/// Parses a response's body; `None` where it is not Puma's.
pub(super) fn parse(text: &str) -> Option<Series> {
    if !text.trim_start().starts_with('{') {
        return None;
    }
    let stats: Value = serde_json::from_str(text).ok()?;
    let mut series = Series::default();
    match stats["worker_status"].as_array() {
        Some(workers) => {
            for worker in workers {
                let labels = format!("{{index=\"{}\"}}", worker["index"].as_u64().unwrap_or(0));
                add(&mut series, &worker["last_status"], &labels);
            }
        }
        None => add(&mut series, &stats, ""),
    }
    (!series.values.is_empty()).then_some(series)
}

fn add(series: &mut Series, status: &Value, labels: &str) {
    for name in FIGURES {
        let value = status[name].as_f64();
        series.values.extend(value.map(|value| (format!("puma_{name}{labels}"), value)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_and_several() {
        let one = r#"{"started_at":"2026-11-27T10:00:00Z","backlog":2,"running":5,"pool_capacity":0,"max_threads":5,"requests_count":9}"#;
        let values = |text: &str| parse(text).map(|series| series.values);
        let series = |name: &str, value| (name.to_owned(), value);
        let expected = vec![
            series("puma_backlog", 2.0),
            series("puma_running", 5.0),
            series("puma_pool_capacity", 0.0),
            series("puma_max_threads", 5.0),
            series("puma_requests_count", 9.0),
        ];
        assert_eq!(values(one), Some(expected));
        let two = r#"{"workers":2,"worker_status":[{"pid":7,"index":0,"last_status":{"max_threads":3}},
            {"pid":8,"index":1,"last_status":{}},{"pid":9,"index":2,"last_status":{"max_threads":4}}]}"#;
        let expected = vec![
            series("puma_max_threads{index=\"0\"}", 3.0),
            series("puma_max_threads{index=\"2\"}", 4.0),
        ];
        assert_eq!(values(two), Some(expected));
        for other in ["", "a 1\n", "{", "{}", "[1]", "{\"backlog\":\"x\"}"] {
            assert_eq!(values(other), None, "{other}");
        }
    }
}

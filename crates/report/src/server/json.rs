//! The server's side as JSON: the object `brunt.server`, documented in `docs/reference/report-json.md`.

use metrics::Histogram;
use metrics::server::{Endpoint, Log, Measure, SourceSummary};
use stdx::Nanos;

use super::{Capacity, NetworkAndQueue, ServerSide};
use crate::json::times;
use crate::number::{go_json, rfc3339};
use crate::object::{Object, json_list};

impl ServerSide<'_> {
    /// As an object of JSON.
    #[must_use]
    pub fn json(&self) -> String {
        let side = self.side;
        let incidents = side.incidents().iter().map(|(incident, count)| {
            Object::new()
                .text("at", &rfc3339(incident.at))
                .text("host", &incident.host)
                .text("source", &incident.source)
                .text("what", &incident.what)
                .number("count", *count)
                .end()
        });
        let left_out = side.left_out();
        Object::new()
            .put("offset", self.offset_ns.to_string())
            .put(
                "offset_error",
                self.offset_error_ns.map_or("null".to_owned(), |ns| ns.to_string()),
            )
            .put("sources", json_list(side.sources().iter().map(|source| self.source(source))))
            .put("logs", json_list(side.logs().iter().map(log)))
            .put(
                "network_and_queue",
                NetworkAndQueue::of(self)
                    .map_or("null".to_owned(), |between| network_and_queue(&between)),
            )
            .put("capacity", capacity(&Capacity::of(self)))
            .put("incidents", json_list(incidents))
            .put(
                "left_out",
                Object::new()
                    .number("readings", left_out.readings)
                    .number("requests", left_out.requests)
                    .number("incidents", left_out.incidents)
                    .number("ids", left_out.ids)
                    .end(),
            )
            .end()
    }

    fn source(&self, source: &SourceSummary) -> String {
        let measures = source.measures.iter().filter(|(_, measure)| measure.count > 0);
        let measures = measures
            .fold(Object::new(), |object, (name, one)| object.put(name, self.measure(one)))
            .end();
        Object::new()
            .text("host", &source.host)
            .text("source", &source.source)
            .number("readings", source.readings)
            .text("first", &rfc3339(source.first))
            .text("last", &rfc3339(source.last))
            .number("left_out", source.left_out)
            .put("measures", measures)
            .end()
    }

    fn measure(&self, measure: &Measure) -> String {
        Object::new()
            .number("count", measure.count)
            .float("mean", measure.mean())
            .float("mean_in_run", self.mean(measure))
            .float("min", measure.min)
            .float("max", measure.max)
            .float("last", measure.last)
            .float("integral", measure.integral)
            .end()
    }
}

fn log(log: &Log) -> String {
    let statuses = log.statuses.iter();
    let statuses = statuses
        .fold(Object::new(), |object, (code, count)| object.number(&code.to_string(), *count));
    let part = |part: &Histogram| if part.count() == 0 { "null".to_owned() } else { times(part) };
    Object::new()
        .text("host", &log.host)
        .text("source", &log.source)
        .number("requests", log.requests)
        .text("first", &rfc3339(log.first))
        .text("last", &rfc3339(log.last))
        .put("status_codes", statuses.end())
        .put("total", part(&log.total))
        .put("views", part(&log.views))
        .put("database", part(&log.database))
        .put("queue", part(&log.queue))
        .put("endpoints", json_list(log.endpoints().iter().map(endpoint)))
        .end()
}

fn endpoint((name, endpoint): &(String, Endpoint)) -> String {
    let total = &endpoint.total;
    let if_timed = |time: Nanos| (total.count() > 0).then_some(time);
    let time = |time: Option<Nanos>| time.map_or("null".to_owned(), |time| time.0.to_string());
    Object::new()
        .text("endpoint", name)
        .number("requests", endpoint.requests)
        .number("errors", endpoint.errors)
        .number("timed", total.count())
        .put("total", if total.count() > 0 { total.sum().to_string() } else { "null".to_owned() })
        .put("mean", time(if_timed(total.mean())))
        .put("50th", time(if_timed(total.quantile(0.5))))
        .put("95th", time(if_timed(total.quantile(0.95))))
        .put("99th", time(if_timed(total.quantile(0.99))))
        .put("max", time(if_timed(total.max())))
        .put("views", time(endpoint.views))
        .put("database", time(endpoint.database))
        .end()
}

fn network_and_queue(between: &NetworkAndQueue) -> String {
    let (by, requests) = match &between.by_request {
        Some(times) => ("request", times.count()),
        None => ("quantile", between.server.count()),
    };
    let object = Object::new()
        .text("by", by)
        .text("log", &between.log)
        .number("requests", requests)
        .put("mean", between.mean_ns().to_string());
    [("50th", 0.5), ("90th", 0.9), ("95th", 0.95), ("99th", 0.99)]
        .into_iter()
        .fold(object, |object, (name, q)| object.put(name, between.quantile_ns(q).to_string()))
        .end()
}

fn capacity(capacity: &Capacity) -> String {
    let value = |value: Option<f64>| value.map_or("null".to_owned(), go_json);
    let mean = capacity.server_mean.map_or("null".to_owned(), |mean| mean.0.to_string());
    Object::new()
        .put("requests_per_s", value(capacity.requests_per_s))
        .put("log_requests_per_s", value(capacity.log_requests_per_s))
        .put("cores", value(capacity.cores))
        .put("cores_busy", value(capacity.cores_busy))
        .put("cores_of_processes", value(capacity.cores_of_processes))
        .put("cpu_per_request_s", value(capacity.cpu_per_request_s))
        .put("machine_per_request_s", value(capacity.machine_per_request_s()))
        .put("bearable_per_s", value(capacity.bearable_per_s()))
        .put("processes", value(capacity.processes))
        .put("processes_at_work", value(capacity.processes_at_work))
        .put("server_mean", mean)
        .put("in_service", value(capacity.in_service()))
        .end()
}

//! The generator's record as JSON, for the `note` column. Unknown keys are skipped and missing ones are zero, so that
//! older and newer files read.

use metrics::{Generator, Landing, LogLinear, REDIRECT_HOSTS_MAX};
use serde_json::{Value, json};
use stdx::Nanos;

/// The record as one JSON object. Times are in nanoseconds.
#[must_use]
pub fn encode(g: &Generator) -> String {
    json!({
        "workers": g.workers,
        "io": g.io,
        "real_time": g.real_time,
        "server_here": g.server_here,
        "tick": g.tick.0,
        "max_in_flight": g.max_in_flight,
        "users": g.users,
        "self_paced": g.self_paced,
        "rate_per_s": g.rate_per_s,
        "seed": g.seed,
        "planned": g.planned,
        "sent": g.sent,
        "warmup_hits": g.warmup_hits,
        "not_sent": g.not_sent,
        "lag": encode_histogram(&g.lag),
        "on_time": encode_histogram(&g.on_time),
        "held": g.held,
        "starved": g.starved,
        "cpu": g.cpu.0,
        "cpu_busiest": g.cpu_busiest,
        "wall": g.wall.0,
        "stalls": g.stalls,
        "stall_longest": g.stall_longest.0,
        "throttled": g.throttled.0,
        "descriptors_exhausted": g.descriptors_exhausted,
        "ports_exhausted": g.ports_exhausted,
        "pauses": g.pauses,
        "redirected": g.redirected,
        "redirect_hosts": g.redirect_hosts,
        "sent_again": g.sent_again,
        "landings": landings(&g.landings),
        "connections": g.connections,
        "rows_dropped": g.rows_dropped,
        "texts_cut": g.texts_cut,
        "kernel_times": g.kernel_times,
        "interrupted": g.interrupted,
        "finished": g.finished,
    })
    .to_string()
}

/// Its bounds, its sum and its buckets as `[number, count]`.
fn encode_histogram<const BITS: u32>(histogram: &LogLinear<BITS>) -> Value {
    json!({
        "min": histogram.min().0,
        "max": histogram.max().0,
        // A sum of times may pass 64 bits, which JSON readers cannot be trusted with.
        "sum": histogram.sum().to_string(),
        "buckets": histogram.to_pairs(),
    })
}

/// The record of such a text.
///
/// # Errors
/// The text is no JSON object, or its histogram is corrupt; the reason.
pub fn decode(text: &str) -> Result<Generator, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if !value.is_object() {
        return Err("a generator record that is no object".to_owned());
    }
    let number = |key: &str| value[key].as_u64().unwrap_or(0);
    let real = |key: &str| value[key].as_f64().unwrap_or(0.0);
    let flag = |key: &str| value[key].as_bool().unwrap_or(false);
    Ok(Generator {
        workers: u32::try_from(number("workers")).unwrap_or(u32::MAX),
        io: value["io"].as_str().unwrap_or_default().to_owned(),
        real_time: flag("real_time"),
        server_here: flag("server_here"),
        tick: Nanos(number("tick")),
        max_in_flight: number("max_in_flight"),
        users: number("users"),
        self_paced: flag("self_paced"),
        rate_per_s: real("rate_per_s"),
        seed: number("seed"),
        planned: number("planned"),
        sent: number("sent"),
        warmup_hits: number("warmup_hits"),
        not_sent: number("not_sent"),
        lag: decode_histogram(&value["lag"])?,
        on_time: decode_histogram(&value["on_time"])?,
        held: number("held"),
        starved: number("starved"),
        cpu: Nanos(number("cpu")),
        cpu_busiest: real("cpu_busiest"),
        wall: Nanos(number("wall")),
        stalls: number("stalls"),
        stall_longest: Nanos(number("stall_longest")),
        throttled: Nanos(number("throttled")),
        descriptors_exhausted: number("descriptors_exhausted"),
        ports_exhausted: number("ports_exhausted"),
        pauses: number("pauses"),
        redirected: number("redirected"),
        redirect_hosts: redirect_hosts(&value["redirect_hosts"]),
        sent_again: number("sent_again"),
        landings: decode_landings(&value["landings"]),
        connections: number("connections"),
        rows_dropped: number("rows_dropped"),
        texts_cut: number("texts_cut"),
        kernel_times: number("kernel_times"),
        interrupted: flag("interrupted"),
        finished: flag("finished"),
    })
}

/// As `[from, to, requests]`.
fn landings(list: &[Landing]) -> Value {
    list.iter().map(|one| json!([one.from, one.to, one.requests])).collect()
}

/// As many as a record has; what is no landing is left out.
fn decode_landings(value: &Value) -> Vec<Landing> {
    let mut list = Vec::new();
    for one in value.as_array().into_iter().flatten() {
        if let (Some(from), Some(to), Some(requests)) =
            (one[0].as_str(), one[1].as_str(), one[2].as_u64())
        {
            Landing::add(&mut list, from, to, requests);
        }
    }
    list
}

/// The names of hosts, as many as a record has, each no longer than a name can be (RFC 1035, 2.3.4).
fn redirect_hosts(value: &Value) -> Vec<String> {
    let hosts = value.as_array().into_iter().flatten().filter_map(Value::as_str);
    let hosts = hosts.filter(|host| host.len() <= 255).take(REDIRECT_HOSTS_MAX);
    hosts.map(str::to_owned).collect()
}

fn decode_histogram<const BITS: u32>(value: &Value) -> Result<LogLinear<BITS>, String> {
    let none = Vec::new();
    let mut pairs = Vec::new();
    let mut total = 0u64;
    for pair in value["buckets"].as_array().unwrap_or(&none) {
        let bucket = pair[0].as_u64().and_then(|bucket| u32::try_from(bucket).ok());
        let (Some(bucket), Some(count)) = (bucket, pair[1].as_u64()) else {
            return Err("a bucket that is no pair of numbers".to_owned());
        };
        total = total.checked_add(count).ok_or("counts that do not fit into 64 bits")?;
        pairs.push((bucket, count));
    }
    let number = |key: &str| Nanos(value[key].as_u64().unwrap_or(0));
    let sum = value["sum"].as_str().and_then(|sum| sum.parse().ok()).unwrap_or(0);
    LogLinear::from_parts(&pairs, number("min"), number("max"), sum)
        .map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leads_back() {
        let mut generator = Generator {
            workers: 2,
            io: "epoll".into(),
            self_paced: true,
            rate_per_s: 50.25,
            seed: u64::MAX,
            planned: 250,
            sent: 250,
            warmup_hits: 7,
            redirected: 2,
            sent_again: 4,
            throttled: Nanos(8),
            landings: vec![Landing { from: "a".into(), to: "/login".into(), requests: 2 }],
            redirect_hosts: vec!["other.test".into()],
            cpu_busiest: 0.125,
            wall: Nanos::from_secs(5),
            finished: true,
            ..Generator::default()
        };
        for lag in [3, 1_000, 4_000_000_000_000] {
            generator.lag.record(Nanos(lag));
            generator.on_time.record(Nanos(lag + 7));
        }
        assert_eq!(decode(&encode(&generator)), Ok(generator));
    }

    #[test]
    fn tolerates_what_is_missing_and_refuses_what_is_wrong() {
        assert_eq!(decode("{\"later\":1}"), Ok(Generator::default()));
        for text in
            ["", "[]", "{\"lag\":{\"buckets\":[[1]]}}", "{\"on_time\":{\"buckets\":[[9999999,1]]}}"]
        {
            assert!(decode(text).is_err(), "{text}");
        }
    }
}

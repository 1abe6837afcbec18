//! The groups of options: requests, names and addresses, TLS, thresholds.

use serde_json::{Map, Value};
use stdx::Nanos;
use workload::Segment;

use super::fields::{Fields, count, flag, limit, list, pairs, text, time, time_of};
use super::{HttpOptions, NetOptions, OptionsError, Result, Rule, TlsAuth, TlsOptions, wrong};

pub(super) fn http(fields: &Fields) -> Result<HttpOptions> {
    let debug = match fields.get("httpDebug") {
        Some(Value::Bool(on)) => on.then(String::new),
        _ => text(fields, "httpDebug")?,
    };
    Ok(HttpOptions {
        user_agent: text(fields, "userAgent")?,
        max_redirects: count(fields, "maxRedirects")?.map(|most| most.min(1 << 20) as u32),
        discard_bodies: flag(fields, "discardResponseBodies")?,
        no_reuse: flag(fields, "noConnectionReuse")?,
        no_vu_reuse: flag(fields, "noVUConnectionReuse")?,
        no_cookies_reset: flag(fields, "noCookiesReset")?,
        rps: limit(fields, "rps")?,
        batch: limited(fields, "batch", 20)?,
        batch_per_host: limited(fields, "batchPerHost", 6)?,
        debug,
        throws: flag(fields, "throw")?,
    })
}

/// A limit that is there unless it is said to be none.
fn limited(fields: &Fields, name: &str, default: u64) -> Result<Option<u64>> {
    if fields.contains_key(name) { limit(fields, name) } else { Ok(Some(default)) }
}

pub(super) fn net(fields: &Fields) -> Result<NetOptions> {
    let none = Map::new();
    let dns = match fields.get("dns") {
        None => &none,
        Some(Value::Object(dns)) => dns,
        Some(value) => return wrong(format!("dns: {value} is not an object")),
    };
    if let Some(name) =
        dns.keys().find(|name| !["ttl", "select", "policy"].contains(&name.as_str()))
    {
        return wrong(format!("unknown DNS configuration field: {name}"));
    }
    let one_of = |name: &str, known: &[&str]| match text(dns, name)? {
        Some(word) if !known.iter().any(|known| known.eq_ignore_ascii_case(&word)) => {
            wrong(format!("dns.{name}: \"{word}\" is not one of {}", known.join(", ")))
        }
        word => Ok(word),
    };
    let ttl = match dns.get("ttl") {
        Some(Value::Number(milliseconds)) => Some(milliseconds.to_string()),
        _ => text(dns, "ttl")?,
    };
    if let Some(ttl) = ttl.as_deref().filter(|ttl| !["", "inf"].contains(ttl)) {
        time_of(ttl).ok_or_else(|| OptionsError(format!("dns.ttl: invalid duration \"{ttl}\"")))?;
    }
    Ok(NetOptions {
        dns_ttl: ttl,
        dns_select: one_of("select", &["random", "first", "roundRobin"])?,
        dns_policy: one_of("policy", &["preferIPv4", "preferIPv6", "onlyIPv4", "onlyIPv6", "any"])?,
        hosts: pairs(fields, "hosts")?,
        blacklist_ips: list(fields, "blacklistIPs")?.unwrap_or_default(),
        block_hostnames: list(fields, "blockHostnames")?.unwrap_or_default(),
        local_ips: text(fields, "localIPs")?,
    })
}

pub(super) fn tls(fields: &Fields) -> Result<TlsOptions> {
    let versions = match fields.get("tlsVersion") {
        None => (None, None),
        Some(Value::String(one)) => (Some(one.clone()), Some(one.clone())),
        Some(Value::Object(range)) => (text(range, "min")?, text(range, "max")?),
        Some(value) => return wrong(format!("tlsVersion: {value} is no version")),
    };
    const VERSIONS: [&str; 5] = ["", "tls1.0", "tls1.1", "tls1.2", "tls1.3"];
    for version in [&versions.0, &versions.1].into_iter().flatten() {
        if !VERSIONS.contains(&version.as_str()) {
            return wrong(format!("tlsVersion: unknown TLS version '{version}'"));
        }
    }
    let auth = match fields.get("tlsAuth") {
        None => Vec::new(),
        Some(Value::Array(list)) => list.iter().map(tls_auth).collect::<Result<_>>()?,
        Some(value) => return wrong(format!("tlsAuth: {value} is not an array")),
    };
    Ok(TlsOptions {
        insecure: flag(fields, "insecureSkipTLSVerify")?,
        versions,
        cipher_suites: list(fields, "tlsCipherSuites")?,
        auth,
    })
}

fn tls_auth(value: &Value) -> Result<TlsAuth> {
    let Value::Object(fields) = value else { return wrong("tlsAuth: one is not an object") };
    let needed = |name: &str| match text(fields, name)? {
        Some(text) => Ok(text),
        None => wrong(format!("tlsAuth: there is no {name}")),
    };
    Ok(TlsAuth {
        cert: needed("cert")?,
        key: needed("key")?,
        password: text(fields, "password")?,
        domains: list(fields, "domains")?.unwrap_or_default(),
    })
}

/// The part of the test that is to be run.
pub(super) fn segment(fields: &Fields) -> Result<Segment> {
    let sequence = text(fields, "executionSegmentSequence")?;
    match text(fields, "executionSegment")? {
        Some(own) => Segment::parse(&own, sequence.as_deref())
            .map_err(|error| OptionsError(error.to_string())),
        None => Ok(Segment::default()),
    }
}

pub(super) fn thresholds(value: Option<&Value>) -> Result<Vec<Rule>> {
    let list = match value {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Object(list)) => list,
        Some(_) => return wrong("thresholds is not an object"),
    };
    let mut rules = Vec::new();
    for (metric, value) in list {
        let Value::Array(items) = value else {
            return wrong(format!("thresholds of {metric} are not an array"));
        };
        for item in items {
            rules.push(rule(metric, item)?);
        }
    }
    Ok(rules)
}

fn rule(metric: &str, item: &Value) -> Result<Rule> {
    let none = Map::new();
    let fields = item.as_object().unwrap_or(&none);
    let source = match item.as_str() {
        Some(source) => Some(source.to_owned()),
        None => text(fields, "threshold")?,
    };
    let Some(source) = source else {
        return wrong(format!("a threshold of {metric} is no expression"));
    };
    let abort = flag(fields, "abortOnFail")?;
    let delay = time(fields, "delayAbortEval")?.unwrap_or(Nanos::ZERO);
    Ok(Rule { metric: metric.to_owned(), source, abort, delay })
}

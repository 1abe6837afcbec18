//! `HttpOptions`: what k6's options say of requests, names and TLS.

use serde_json::{Map, Value};
use users::HttpDebug;

/// k6's options of requests, names and TLS.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HttpOptions {
    /// `throw`.
    pub throws: bool,
    /// `noCookiesReset`.
    pub keeps_cookies: bool,
    /// `noVUConnectionReuse`.
    pub closes_connections: bool,
    /// `httpDebug`.
    pub debug: Option<HttpDebug>,
    /// `rps`: requests a second of all VUs; `None` for no limit.
    pub rps: Option<u64>,
    /// `maxRedirects` is set.
    pub says_redirects: bool,
    /// `hosts`: names, perhaps with a port, and what they mean.
    pub hosts: Vec<(String, String)>,
    /// `blockHostnames`.
    pub blocked_names: Vec<String>,
    /// `blacklistIPs`.
    pub blocked_nets: Vec<String>,
    /// `localIPs`.
    pub local_ips: Option<String>,
    /// `dns`.
    pub dns: DnsOptions,
    /// `tlsVersion`: the least and the greatest.
    pub tls_version: (Option<String>, Option<String>),
    /// `tlsCipherSuites`.
    pub tls_suites: Vec<String>,
    /// `tlsAuth`.
    pub tls_auth: Vec<TlsIdentity>,
}

/// `dns`; `None` where it does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DnsOptions {
    /// `ttl`: `0` for every connection, `inf` for ever, or a time.
    pub ttl: Option<String>,
    /// `select`.
    pub select: Option<String>,
    /// `policy`.
    pub policy: Option<String>,
}

/// A client certificate of `tlsAuth`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsIdentity {
    /// `domains`.
    pub domains: Vec<String>,
    /// `cert`, as PEM.
    pub cert: String,
    /// `key`, as PEM.
    pub key: String,
    /// `password` of the key.
    pub password: Option<String>,
}

/// What is wrong with an option; the text names it.
type Read<T> = Result<T, String>;

impl HttpOptions {
    /// Reads the options, as they stand after flags, environment and script were put above each other.
    ///
    /// # Errors
    /// A field is of a wrong type; the text names it.
    pub fn read(fields: &Map<String, Value>) -> Read<Self> {
        let debug = match fields.get("httpDebug") {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) if text.is_empty() || text == "false" => None,
            Some(Value::String(text)) if text == "full" => Some(HttpDebug::Full),
            Some(Value::String(_)) => Some(HttpDebug::Heads),
            Some(_) => return Err("httpDebug is not a string".to_owned()),
        };
        let hosts = match fields.get("hosts") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Object(hosts)) => {
                hosts.iter().map(|(name, to)| host(name, to)).collect::<Read<Vec<_>>>()?.concat()
            }
            Some(_) => return Err("hosts is not an object".to_owned()),
        };
        let dns = match fields.get("dns") {
            Some(Value::Object(dns)) => DnsOptions {
                ttl: text(dns, "ttl")
                    .map_err(|_| "dns: ttl is not a string (such as '5m')".to_owned())?,
                select: text(dns, "select")?,
                policy: text(dns, "policy")?,
            },
            Some(Value::String(list)) => dns_list(list)?,
            None | Some(Value::Null) => DnsOptions::default(),
            Some(_) => return Err("dns is not an object".to_owned()),
        };
        Ok(Self {
            throws: flag(fields, "throw")?,
            keeps_cookies: flag(fields, "noCookiesReset")?,
            closes_connections: flag(fields, "noVUConnectionReuse")?,
            debug,
            rps: match fields.get("rps").and_then(Value::as_f64) {
                Some(rps) if rps.fract() != 0.0 => {
                    return Err(format!("rps: {rps} is not a whole number"));
                }
                rps => rps.filter(|rps| *rps > 0.0).map(|rps| rps as u64),
            },
            says_redirects: fields.get("maxRedirects").is_some_and(|value| !value.is_null()),
            hosts,
            blocked_names: host_patterns(list(fields, "blockHostnames")?)?,
            blocked_nets: list(fields, "blacklistIPs")?,
            local_ips: text(fields, "localIPs")?,
            dns,
            tls_version: tls_version(fields.get("tlsVersion"))?,
            tls_suites: list(fields, "tlsCipherSuites")?,
            tls_auth: identities(fields.get("tlsAuth"))?,
        })
    }
}

/// `ttl=5m,select=random,policy=any`, as the flag and the environment have it.
fn dns_list(list: &str) -> Read<DnsOptions> {
    let mut dns = DnsOptions::default();
    for (name, value) in list.split(',').filter_map(|pair| pair.split_once('=')) {
        let value = Some(value.trim().to_owned());
        match name.trim() {
            "ttl" => dns.ttl = value,
            "select" => dns.select = value,
            "policy" => dns.policy = value,
            name => return Err(format!("unknown DNS configuration field: {name}")),
        }
    }
    Ok(dns)
}

/// What a name of `hosts` means: an address, or several that are dialled in turn.
fn host(name: &str, to: &Value) -> Read<Vec<(String, String)>> {
    let list = match to {
        Value::Array(list) if !list.is_empty() => list.as_slice(),
        one => std::slice::from_ref(one),
    };
    let text = |to: &Value| {
        let text = to.as_str().map(|to| (name.to_owned(), to.to_owned()));
        text.ok_or_else(|| {
            format!("hosts: {name:?} is to have an address as text, such as \"127.0.0.1:8080\", or a list of them, but has {to}")
        })
    };
    list.iter().map(text).collect()
}

fn text_of(name: &str, value: &Value) -> Read<String> {
    value.as_str().map(str::to_owned).ok_or_else(|| format!("{name} are not strings"))
}

fn text(fields: &Map<String, Value>, name: &str) -> Read<Option<String>> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => text_of(name, value).map(Some),
    }
}

fn flag(fields: &Map<String, Value>, name: &str) -> Read<bool> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(_) => Err(format!("{name} is not a boolean")),
    }
}

/// An array of strings, or the same with commas between.
fn list(fields: &Map<String, Value>, name: &str) -> Read<Vec<String>> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::String(list)) => Ok(list
            .split(',')
            .map(|word| word.trim().to_owned())
            .filter(|w| !w.is_empty())
            .collect()),
        Some(Value::Array(list)) => list.iter().map(|value| text_of(name, value)).collect(),
        Some(_) => Err(format!("{name} is not an array")),
    }
}

/// Names of hosts, perhaps with a `*` at the start.
fn host_patterns(patterns: Vec<String>) -> Read<Vec<String>> {
    let is_wrong = |pattern: &&String| {
        let name = pattern.strip_prefix('*').unwrap_or(pattern);
        name.contains(|sign: char| sign == '*' || sign == '/' || sign.is_whitespace())
    };
    if let Some(wrong) = patterns.iter().find(is_wrong) {
        return Err(format!("blockHostnames: invalid hostname pattern '{wrong}'"));
    }
    Ok(patterns)
}

fn tls_version(value: Option<&Value>) -> Read<(Option<String>, Option<String>)> {
    let range = match value {
        None | Some(Value::Null) => (None, None),
        Some(Value::String(version)) => (Some(version.clone()), Some(version.clone())),
        Some(Value::Object(range)) => (text(range, "min")?, text(range, "max")?),
        Some(_) => return Err("tlsVersion is neither a string nor an object".to_owned()),
    };
    let is_known = |version: &&String| version.is_empty() || TLS_VERSIONS.contains(&&***version);
    if let Some(wrong) = [&range.0, &range.1].into_iter().flatten().find(|v| !is_known(v)) {
        return Err(format!("tlsVersion: unknown TLS version '{wrong}'"));
    }
    Ok(range)
}

/// The versions that k6 knows by name.
const TLS_VERSIONS: [&str; 4] = ["tls1.0", "tls1.1", "tls1.2", "tls1.3"];

fn identities(value: Option<&Value>) -> Read<Vec<TlsIdentity>> {
    let list = match value {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(list)) => list,
        Some(_) => return Err("tlsAuth is not an array".to_owned()),
    };
    let identity = |value: &Value| {
        let fields = value.as_object().ok_or("tlsAuth: an entry is not an object")?;
        Ok(TlsIdentity {
            domains: list_of(fields)?,
            cert: text(fields, "cert")?.ok_or("tlsAuth: an entry has no cert")?,
            key: text(fields, "key")?.ok_or("tlsAuth: an entry has no key")?,
            password: text(fields, "password")?.filter(|password| !password.is_empty()),
        })
    };
    list.iter().map(identity).collect()
}

fn list_of(fields: &Map<String, Value>) -> Read<Vec<String>> {
    list(fields, "domains")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Read<HttpOptions> {
        let value: Value = serde_json::from_str(json).expect("JSON");
        HttpOptions::read(value.as_object().expect("an object"))
    }

    #[test]
    fn options_are_read() {
        let options = read(
            r#"{"throw":true,"rps":10,"hosts":{"a.test":"1.2.3.4:80"},"tlsVersion":{"min":"tls1.2"},
            "dns":"ttl=1m,select=first,policy=onlyIPv4","blockHostnames":"a, *.b","httpDebug":"full",
            "tlsAuth":[{"cert":"c","key":"k","domains":["d"]}]}"#,
        );
        let options = options.expect("options");
        assert!(options.throws && !options.keeps_cookies && options.debug == Some(HttpDebug::Full));
        assert_eq!(options.hosts, [("a.test".to_owned(), "1.2.3.4:80".to_owned())]);
        assert_eq!((options.rps, options.blocked_names.len()), (Some(10), 2));
        assert_eq!(options.tls_version, (Some("tls1.2".to_owned()), None));
        assert_eq!(options.dns.select.as_deref(), Some("first"));
        assert_eq!(options.tls_auth[0].domains, ["d"]);
    }

    #[test]
    fn wrong_types_are_named() {
        for (json, expect) in [
            (r#"{"throw":1}"#, "throw is not a boolean"),
            (r#"{"hosts":[]}"#, "hosts is not an object"),
            (
                r#"{"hosts":{"a.test":["1.2.3.4",5]}}"#,
                "hosts: \"a.test\" is to have an address as text, such as \"127.0.0.1:8080\", or a list of them, but has 5",
            ),
            (r#"{"tlsAuth":[{"cert":"c"}]}"#, "tlsAuth: an entry has no key"),
            (r#"{"blacklistIPs":[1]}"#, "blacklistIPs are not strings"),
        ] {
            assert_eq!(read(json).expect_err("an error"), expect);
        }
    }
}

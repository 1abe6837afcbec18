//! InfluxDB's line protocol, a line for each sample, as k6's `influxdb` writes it to version 1; to version 2 with the variables of
//! the extension xk6-output-influxdb. <https://docs.influxdata.com/influxdb/v1/write_protocols/line_protocol_reference/>

use std::time::Duration;

use base64::Engine as _;

use crate::delivery::Transport;
use crate::encode::{Encode, Flush};
use crate::environment::{Environment, wrong};
use crate::error::OutputError;
use crate::http::{HttpTransport, TlsFiles};
use crate::lines::Lines;
use crate::sample::Sample;
use crate::udp::UdpTransport;

/// Bytes of lines that are sent without waiting for the interval: 1 MiB.
const FULL: usize = 1 << 20;
/// Bytes of a datagram where none are given.
const DATAGRAM_MAX: usize = 512;
const DEFAULT_URL: &str = "http://localhost:8086";

/// How a tag that is a field is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FieldType {
    Text,
    Int,
    Float,
    Bool,
}

/// What the address and an environment say.
pub(crate) struct Settings {
    pub(crate) every: Duration,
    pub(crate) transport: Box<dyn Transport>,
    /// Tags that are fields.
    fields: Vec<(String, FieldType)>,
    /// Bytes of a payload; `None` where an interval's lines are one.
    payload_max: Option<usize>,
}

/// The parts of `http://user:password@host:8086/DB?param=…`.
struct Address<'a> {
    /// `http://host:8086`, with what stands before the database.
    server: String,
    user: Option<(&'a str, &'a str)>,
    database: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
}

impl<'a> Address<'a> {
    fn parse(url: &'a str) -> Result<Self, OutputError> {
        let wrong = || OutputError::Address(stdx::shown_url(url).into_owned());
        let (scheme, rest) = url.split_once("://").ok_or_else(wrong)?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user.split_once(':').unwrap_or((user, ""))), host),
            None => (None, authority),
        };
        if host.is_empty() || !["http", "https", "udp"].contains(&scheme) {
            return Err(wrong());
        }
        // The last part of the path is the database, and what stands before it belongs to the server.
        let (prefix, database) = path.rsplit_once('/').unwrap_or(("", path));
        let prefix = if prefix.is_empty() { String::new() } else { format!("/{prefix}") };
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let parameters = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, ""))).collect();
        Ok(Self { server: format!("{scheme}://{host}{prefix}"), user, database, parameters })
    }

    fn parameter(&self, name: &str) -> Option<&'a str> {
        self.parameters.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }
}

const PARAMETERS: [&str; 9] = [
    "insecure",
    "payload_size",
    "precision",
    "retention",
    "consistency",
    "pushInterval",
    "concurrentWrites",
    "tagsAsFields",
    "organization",
];

impl Settings {
    pub(crate) fn read(argument: &str, of: &Environment) -> Result<Self, OutputError> {
        const FIELDS: &str = "K6_INFLUXDB_TAGS_AS_FIELDS";
        let named = of.text("K6_INFLUXDB_ADDR").unwrap_or(DEFAULT_URL);
        let text = if argument.is_empty() { named } else { argument };
        let address = Address::parse(text)?;
        if address.parameters.iter().any(|(name, _)| !PARAMETERS.contains(name)) {
            return Err(OutputError::Address(stdx::shown_url(text).into_owned()));
        }
        let of_url: Vec<&str> = address
            .parameters
            .iter()
            .filter(|pair| pair.0 == "tagsAsFields")
            .map(|pair| pair.1)
            .collect();
        let list = match of_url.is_empty() {
            true => of.text(FIELDS).unwrap_or("vu:int,iter:int,url").to_owned(),
            false => of_url.join(","),
        };
        let wanted = "a list of TAG or TAG:string|int|float|bool";
        let fields = list.split(',').filter(|word| !word.is_empty()).map(field);
        let fields: Option<Vec<_>> = fields.collect();
        let fields = fields.ok_or_else(|| wrong(FIELDS, &list, wanted))?;
        let every = match address.parameter("pushInterval") {
            Some(text) => {
                let parsed = stdx::Nanos::parse(text).ok().map(Duration::from);
                parsed.filter(|every| *every >= Duration::from_millis(1)).ok_or_else(|| {
                    wrong("pushInterval", text, "a duration of at least 1ms, such as 5s")
                })?
            }
            None => of.duration("K6_INFLUXDB_PUSH_INTERVAL", Duration::from_secs(1))?,
        };
        let udp = address.server.strip_prefix("udp://");
        let payload_max = match udp {
            Some(_) => Some(match address.parameter("payload_size").and_then(|n| n.parse().ok()) {
                Some(bytes) => bytes,
                None => of.number("K6_INFLUXDB_PAYLOAD_SIZE", DATAGRAM_MAX)?,
            }),
            None => None,
        };
        let transport: Box<dyn Transport> = match udp {
            Some(place) => Box::new(UdpTransport::new(place)?),
            None => Box::new(transport(&address, of)?),
        };
        Ok(Self { every, transport, fields, payload_max })
    }
}

fn field(word: &str) -> Option<(String, FieldType)> {
    let (name, kind) = word.trim().split_once(':').unwrap_or((word.trim(), "string"));
    let kind = match kind {
        "string" => FieldType::Text,
        "int" => FieldType::Int,
        "float" => FieldType::Float,
        "bool" => FieldType::Bool,
        _ => return None,
    };
    Some((name.to_owned(), kind))
}

/// Where lines are posted: `/write` of version 1, or `/api/v2/write` where a bucket is named. The database is made if it can be.
fn transport(address: &Address<'_>, of: &Environment) -> Result<HttpTransport, OutputError> {
    let encoded = |text: &str| {
        let safe = |b: u8| b.is_ascii_alphanumeric() || b"-._~".contains(&b);
        let one = |b: u8| if safe(b) { char::from(b).to_string() } else { format!("%{b:02X}") };
        text.bytes().map(one).collect::<String>()
    };
    let insecure = address.parameter("insecure").is_some_and(|value| value != "false");
    let tls = TlsFiles {
        is_insecure: insecure || of.switch("K6_INFLUXDB_INSECURE", false)?,
        ..TlsFiles::default()
    };
    let server = &address.server;
    if let Some(bucket) = of.text("K6_INFLUXDB_BUCKET") {
        let organization = of.text("K6_INFLUXDB_ORGANIZATION").unwrap_or_default();
        let (bucket, organization) = (encoded(bucket), encoded(organization));
        let prefix = if address.database.is_empty() { "" } else { "/" };
        let url = format!(
            "{server}{prefix}{}/api/v2/write?org={organization}&bucket={bucket}&precision=ns",
            address.database
        );
        let token = of.text("K6_INFLUXDB_TOKEN");
        let headers = token.map(|token| ("Authorization".to_owned(), format!("Token {token}")));
        return HttpTransport::new(&url, headers.into_iter().collect(), &tls);
    }
    let database = match address.database {
        "" => of.text("K6_INFLUXDB_DB").unwrap_or("k6"),
        named => named,
    };
    let user = address.user.or_else(|| {
        let name = of.text("K6_INFLUXDB_USERNAME")?;
        Some((name, of.text("K6_INFLUXDB_PASSWORD").unwrap_or_default()))
    });
    let headers: Vec<(String, String)> = user
        .map(|(name, password)| {
            let pair = format!("{name}:{password}");
            let text = base64::engine::general_purpose::STANDARD.encode(pair);
            ("Authorization".to_owned(), format!("Basic {text}"))
        })
        .into_iter()
        .collect();
    let mut url = format!("{server}/write?db={}&precision=ns", encoded(database));
    for (name, variable, key) in [
        ("retention", "K6_INFLUXDB_RETENTION", "rp"),
        ("consistency", "K6_INFLUXDB_CONSISTENCY", "consistency"),
    ] {
        if let Some(value) = address.parameter(name).or_else(|| of.text(variable)) {
            url = format!("{url}&{key}={}", encoded(value));
        }
    }
    let transport = HttpTransport::new(&url, headers, &tls)?;
    let quoted = database.replace('"', "\\\"");
    let create = encoded(&format!("CREATE DATABASE \"{quoted}\""));
    // Not before the load: a server that hangs would hold it up.
    Ok(transport.after(format!("{server}/query?q={create}")))
}

/// Makes lines of samples.
pub(crate) struct Influx {
    fields: Vec<(String, FieldType)>,
    payload_max: usize,
    lines: Lines,
    line: String,
}

impl Influx {
    pub(crate) fn new(settings: Settings) -> (Self, Box<dyn Transport>) {
        let Settings { transport, fields, payload_max, .. } = settings;
        let payload_max = payload_max.unwrap_or(FULL);
        let (lines, line) = (Lines::default(), String::new());
        (Self { fields, payload_max, lines, line }, transport)
    }

    fn write(&mut self, sample: &Sample<'_>) {
        let Self { fields, line, .. } = self;
        line.clear();
        escape(line, sample.name, ", ");
        let kind = |name: &str| fields.iter().find(|(field, _)| field == name).map(|of| of.1);
        for (name, value) in sample.tags.iter().filter(|(name, _)| kind(name).is_none()) {
            if value.is_empty() {
                continue;
            }
            line.push(',');
            escape(line, name, ",= ");
            line.push('=');
            escape(line, value, ",= ");
        }
        line.push_str(" value=");
        line.push_str(&sample.value.to_string());
        for (name, value) in sample.tags.iter().chain(sample.metadata) {
            let Some(kind) = kind(name) else { continue };
            line.push(',');
            escape(line, name, ",= ");
            line.push('=');
            push_field(line, kind, value);
        }
        line.push(' ');
        line.push_str(&sample.unix_ns.to_string());
    }
}

/// A text with backslashes before what would end it. A line break, which is a blank, and a backslash that would escape what follows, have none.
fn escape(line: &mut String, text: &str, special: &str) {
    for c in text.chars() {
        match c {
            // As a blank, which ends nothing where it is escaped.
            '\n' | '\r' => line.push_str("\\ "),
            c => {
                if special.contains(c) {
                    line.push('\\');
                }
                line.push(c);
            }
        }
    }
    if text.ends_with('\\') {
        line.push(' ');
    }
}

/// A field of its type; what does not parse is a text, as in k6.
fn push_field(line: &mut String, kind: FieldType, value: &str) {
    let plain = match kind {
        FieldType::Text => None,
        FieldType::Int => value.parse::<i64>().ok().map(|number| format!("{number}i")),
        FieldType::Float => value.parse::<f64>().ok().map(|number| number.to_string()),
        FieldType::Bool => value.parse::<bool>().ok().map(|is| is.to_string()),
    };
    match plain {
        Some(plain) => line.push_str(&plain),
        None => {
            line.push('"');
            line.push_str(&value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " "));
            line.push('"');
        }
    }
}

impl Encode for Influx {
    fn add(&mut self, sample: &Sample<'_>) {
        // The protocol knows no infinite value.
        if !sample.value.is_finite() {
            return;
        }
        self.write(sample);
        self.lines.push(&self.line, self.payload_max);
    }

    fn payloads(&mut self, _: Flush) -> Vec<Vec<u8>> {
        self.lines.take()
    }

    fn is_full(&self) -> bool {
        self.lines.is_full(FULL)
    }
}

#[cfg(test)]
mod tests {
    use metrics::tally::{Contains, Kind, MetricId};

    use super::*;

    #[test]
    fn lines_have_tags_and_fields() {
        let tag = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let tags = [
            tag("check", "a, b=c"),
            tag("empty", ""),
            // regression: issue 41. An InfluxDB reads no line with a blank that is not escaped.
            tag("of\nlines", "page has\na title\r\n"),
            tag("url", "http://x/?\""),
        ];
        let udp = "udp://127.0.0.1:9/k6";
        let settings = Settings::read(udp, &Environment::default()).unwrap();
        let (mut influx, _) = Influx::new(settings);
        influx.add(&Sample {
            metric: MetricId(0),
            name: "http_reqs",
            kind: Kind::Counter,
            contains: Contains::Default,
            unix_ns: 5,
            value: 1.0,
            tags: &tags,
            metadata: &[tag("iter", "x"), tag("vu", "3")],
        });
        let lines = influx.payloads(Flush { unix_ns: 0, is_last: false }).concat();
        let expect = "http_reqs,check=a\\,\\ b\\=c,of\\ lines=page\\ has\\ a\\ title\\ \\  value=1,url=\"http://x/?\\\"\",iter=\"x\",vu=3i 5";
        assert_eq!(String::from_utf8(lines).unwrap(), expect);
    }

    #[test]
    fn addresses_have_a_database_and_a_prefix() {
        let of = Address::parse("http://u:p@h:1/a/b/db?pushInterval=2s").unwrap();
        assert_eq!((&*of.server, of.database, of.user), ("http://h:1/a/b", "db", Some(("u", "p"))));
        assert_eq!(of.parameter("pushInterval"), Some("2s"));
        assert_eq!(Address::parse("http://h:1/prefix/").unwrap().server, "http://h:1/prefix");
        assert!(Address::parse("ftp://h/").is_err() && Address::parse("http:///db").is_err());
        let none = Environment::default();
        assert!(Settings::read("udp://127.0.0.1:9/db?what=1", &none).is_err());
        assert!(Settings::read("udp://127.0.0.1:9/db?tagsAsFields=a:date", &none).is_err());
    }
}

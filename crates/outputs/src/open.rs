//! `open`: the output that a name stands for.

use std::sync::Arc;

use crate::environment::Environment;
use crate::error::OutputError;
use crate::exporter::Exporter;
use crate::influx::{self, Influx};
use crate::open_telemetry::{self, OpenTelemetry};
use crate::prometheus::{self, RemoteWrite};
use crate::statsd::{self, Statsd};
use crate::udp::UdpTransport;

/// The names of outputs, sorted.
pub const NAMES: [&str; 6] = [
    "datadog",
    "experimental-opentelemetry",
    "experimental-prometheus-rw",
    "influxdb",
    "opentelemetry",
    "statsd",
];

/// Opens the output `NAME` or `NAME=ADDRESS`; `None` where it is none of [`NAMES`]. Without an address the environment says where
/// it sends. `warn` is handed lines for people, at most two for each time the server becomes unreachable.
///
/// # Errors
/// The address, a variable or a file that one names cannot be used.
pub fn open(
    output: &str,
    of: &Environment,
    warn: impl Fn(&str) + Send + Sync + 'static,
) -> Option<Result<Exporter, OutputError>> {
    let (name, address) = output.split_once('=').unwrap_or((output, ""));
    NAMES.contains(&name).then(|| opened(name, address, of, Arc::new(warn)))
}

fn opened(
    name: &str,
    address: &str,
    of: &Environment,
    warn: Arc<dyn Fn(&str) + Send + Sync>,
) -> Result<Exporter, OutputError> {
    match name {
        "experimental-prometheus-rw" => {
            let settings = prometheus::Settings::read(of)?;
            let to = (Box::new(prometheus::transport(address, of)?) as Box<_>, settings.every);
            Exporter::start(name, Box::new(RemoteWrite::new(settings)), to, warn)
        }
        "opentelemetry" | "experimental-opentelemetry" => {
            let settings = open_telemetry::Settings::read(of)?;
            let to = (open_telemetry::transport(address, of)?, settings.every);
            Exporter::start(name, Box::new(OpenTelemetry::new(settings)), to, warn)
        }
        "influxdb" => {
            let settings = influx::Settings::read(address, of)?;
            let every = settings.every;
            let (influx, transport) = Influx::new(settings);
            Exporter::start(name, Box::new(influx), (transport, every), warn)
        }
        _ => {
            let read = if name == "datadog" {
                statsd::Settings::datadog
            } else {
                statsd::Settings::statsd
            };
            let settings = read(of)?;
            let place = if address.is_empty() { settings.address.as_str() } else { address };
            let to = (Box::new(UdpTransport::new(place)?) as Box<_>, settings.every);
            Exporter::start(name, Box::new(Statsd::new(settings)), to, warn)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_an_output_or_none() {
        let none = Environment::default();
        assert!(open("json=a", &none, |_| {}).is_none());
        let error = |output: &str| open(output, &none, |_| {}).unwrap().err().unwrap().to_string();
        let expect = "\"nowhere\": not an address that this output can send to";
        assert_eq!(error("statsd=nowhere"), expect);
        let secret = error("experimental-prometheus-rw=ftp://u:secret@x/");
        assert!(!secret.contains("secret"), "{secret}");
        let delivered = open("statsd=127.0.0.1:9", &none, |_| {}).unwrap().unwrap().finish();
        assert_eq!((delivered.batches, delivered.problem()), (0, None));
    }
}

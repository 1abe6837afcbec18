//! Outputs: the samples of a run, sent to where teams look while the run goes on: Prometheus (remote write), OpenTelemetry,
//! InfluxDB, StatsD and Datadog. Names, units and environment variables are k6's.
//!
//! ```text
//! samples ─▶ Exporter: an encoder adds them up, and makes payloads of them once an interval
//!                 ─▶ (bounded queue) ─▶ the thread of Delivery ─▶ HTTP, gRPC or UDP
//! ```
//!
//! A server that is slow, refuses or fails costs the run nothing: payloads are sent again, with growing pauses, and those that
//! find no room or are never taken are counted. This crate prints nothing; [`Delivered`] says what came of it.

mod delivery;
mod encode;
mod environment;
mod error;
mod exponential;
mod exporter;
mod grpc;
mod http;
mod influx;
mod lines;
mod open;
mod open_telemetry;
mod prometheus;
mod protobuf;
mod proxy;
mod sample;
mod series;
mod statsd;
mod tags;
mod udp;

pub use delivery::Delivered;
pub use environment::Environment;
pub use error::OutputError;
pub use exporter::Exporter;
pub use open::{NAMES, open};
pub use proxy::proxy_of;
pub use sample::Sample;

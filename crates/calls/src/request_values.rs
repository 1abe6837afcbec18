//! `RequestValues`: what the fields of a template are in one request.

use grpc::Method;
use jiff::Timestamp;
use stdx::{Prng, mix};

use crate::template_function::uuid;

/// What templates may take of a method.
#[derive(Clone, Debug)]
pub(crate) struct MethodNames {
    full: String,
    method: String,
    service: String,
    input: String,
    output: String,
    streams: [bool; 2],
}

impl MethodNames {
    pub(crate) fn of(method: &Method) -> Self {
        let of = method.descriptor();
        Self {
            full: of.full_name().to_owned(),
            method: of.name().to_owned(),
            service: of.parent_service().name().to_owned(),
            input: of.input().name().to_owned(),
            output: of.output().name().to_owned(),
            streams: [of.is_client_streaming(), of.is_server_streaming()],
        }
    }
}

/// What templates may take of one request.
#[derive(Debug)]
pub struct RequestValues<'a> {
    names: &'a MethodNames,
    number: u64,
    worker: u64,
    now: Timestamp,
    pub(crate) random: Prng,
}

impl<'a> RequestValues<'a> {
    /// Of request number `number`, from 0; every random value follows from it and the seed.
    pub(crate) fn new(names: &'a MethodNames, (number, worker): (u64, u64), seed: u64) -> Self {
        let random = Prng::new(mix(seed, number));
        Self { names, number, worker, now: Timestamp::now(), random }
    }

    /// The value of a field.
    pub(crate) fn field(&mut self, field: Field) -> String {
        let MethodNames { full, method, service, input, output, streams } = self.names;
        match field {
            Field::WorkerId => format!("g0c{}", self.worker),
            Field::RequestNumber => self.number.to_string(),
            Field::FullyQualifiedName => full.clone(),
            Field::MethodName => method.clone(),
            Field::ServiceName => service.clone(),
            Field::InputName => input.clone(),
            Field::OutputName => output.clone(),
            Field::IsClientStreaming => streams[0].to_string(),
            Field::IsServerStreaming => streams[1].to_string(),
            Field::Timestamp => self.now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            Field::TimestampUnix => self.now.as_second().to_string(),
            Field::TimestampUnixMilli => self.now.as_millisecond().to_string(),
            Field::TimestampUnixNano => self.now.as_nanosecond().to_string(),
            Field::Uuid => uuid(&mut self.random),
        }
    }
}

/// A field of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    WorkerId,
    RequestNumber,
    FullyQualifiedName,
    MethodName,
    ServiceName,
    InputName,
    OutputName,
    IsClientStreaming,
    IsServerStreaming,
    Timestamp,
    TimestampUnix,
    TimestampUnixMilli,
    TimestampUnixNano,
    Uuid,
}

impl Field {
    /// The fields by their names.
    pub(crate) const ALL: [(&'static str, Self); 14] = [
        ("WorkerID", Self::WorkerId),
        ("RequestNumber", Self::RequestNumber),
        ("FullyQualifiedName", Self::FullyQualifiedName),
        ("MethodName", Self::MethodName),
        ("ServiceName", Self::ServiceName),
        ("InputName", Self::InputName),
        ("OutputName", Self::OutputName),
        ("IsClientStreaming", Self::IsClientStreaming),
        ("IsServerStreaming", Self::IsServerStreaming),
        ("Timestamp", Self::Timestamp),
        ("TimestampUnix", Self::TimestampUnix),
        ("TimestampUnixMilli", Self::TimestampUnixMilli),
        ("TimestampUnixNano", Self::TimestampUnixNano),
        ("UUID", Self::Uuid),
    ];
}

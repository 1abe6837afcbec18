//! `MetricId`: a metric's number. k6's own metrics have the first ones, the same in every tally.

use super::{Contains, Kind};

/// A metric's number in its tally: k6's own first, then those that scripts declare, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MetricId(pub u32);

/// Declares k6's own metrics: the number's name, the metric's, its type and what its values are.
macro_rules! builtin {
    ($($id:ident = $name:literal $kind:ident $contains:ident,)*) => {
        /// k6's own metrics in the order of their numbers.
        pub const BUILTIN: &[(&str, Kind, Contains)] =
            &[$(($name, Kind::$kind, Contains::$contains),)*];

        /// The numbers, by counting.
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "they become constants")]
        #[repr(u32)]
        enum Number { $($id,)* }

        impl MetricId {
            $(
                #[doc = concat!("k6's `", $name, "`.")]
                pub const $id: Self = Self(Number::$id as u32);
            )*
        }
    };
}

builtin! {
    CHECKS = "checks" Rate Default,
    DATA_RECEIVED = "data_received" Counter Data,
    DATA_SENT = "data_sent" Counter Data,
    DROPPED_ITERATIONS = "dropped_iterations" Counter Default,
    GROUP_DURATION = "group_duration" Trend Time,
    GRPC_REQ_DURATION = "grpc_req_duration" Trend Time,
    GRPC_STREAMS = "grpc_streams" Counter Default,
    GRPC_STREAMS_MSGS_RECEIVED = "grpc_streams_msgs_received" Counter Default,
    GRPC_STREAMS_MSGS_SENT = "grpc_streams_msgs_sent" Counter Default,
    HTTP_REQ_BLOCKED = "http_req_blocked" Trend Time,
    HTTP_REQ_CONNECTING = "http_req_connecting" Trend Time,
    HTTP_REQ_DURATION = "http_req_duration" Trend Time,
    HTTP_REQ_FAILED = "http_req_failed" Rate Default,
    HTTP_REQ_RECEIVING = "http_req_receiving" Trend Time,
    HTTP_REQ_SENDING = "http_req_sending" Trend Time,
    HTTP_REQ_TLS_HANDSHAKING = "http_req_tls_handshaking" Trend Time,
    HTTP_REQ_WAITING = "http_req_waiting" Trend Time,
    HTTP_REQS = "http_reqs" Counter Default,
    ITERATION_DURATION = "iteration_duration" Trend Time,
    ITERATIONS = "iterations" Counter Default,
    VUS = "vus" Gauge Default,
    VUS_MAX = "vus_max" Gauge Default,
    WS_CONNECTING = "ws_connecting" Trend Time,
    WS_MSGS_RECEIVED = "ws_msgs_received" Counter Default,
    WS_MSGS_SENT = "ws_msgs_sent" Counter Default,
    WS_PING = "ws_ping" Trend Time,
    WS_SESSION_DURATION = "ws_session_duration" Trend Time,
    WS_SESSIONS = "ws_sessions" Counter Default,
}

impl MetricId {
    /// The number of the metric that a script declared as its `nth`, from 0.
    #[must_use]
    pub const fn custom(nth: usize) -> Self {
        Self((BUILTIN.len() + nth) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_places_in_the_table() {
        assert_eq!(BUILTIN[MetricId::HTTP_REQS.0 as usize].0, "http_reqs");
        assert_eq!(BUILTIN[MetricId::WS_SESSIONS.0 as usize].0, "ws_sessions");
        assert_eq!(MetricId::custom(0).0 as usize, BUILTIN.len());
        let mut names: Vec<&str> = BUILTIN.iter().map(|metric| metric.0).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), BUILTIN.len(), "each name stands there once");
    }
}

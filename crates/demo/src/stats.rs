//! `Stats`: what the server counted, as numbers and as the JSON of `/stats`.

use std::fmt;

/// What the server counted since its start, and how it stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Requests whose end was read.
    pub requests: u64,
    /// Answers begun, of whatever status.
    pub answers: u64,
    /// Requests refused with 503 because the queue was full.
    pub refused: u64,
    /// Answers of status 500 that the error rate asked for.
    pub errors: u64,
    /// Connections closed because their bytes were no HTTP.
    pub malformed: u64,
    /// Requests that wait for a worker now.
    pub queue: u64,
    /// The most that ever waited at once.
    pub queue_max: u64,
    /// Requests in service now.
    pub in_service: u64,
    /// Connections open now.
    pub connections: u64,
    /// Connections opened ever.
    pub connections_total: u64,
    /// Its WebSockets.
    pub sockets: SocketStats,
}

/// What the server's WebSockets counted; the cable's among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SocketStats {
    /// WebSockets open now.
    pub sockets: u64,
    /// WebSockets opened ever.
    pub sockets_total: u64,
    /// WebSockets reset because their clients did not read.
    pub sockets_dropped: u64,
    /// Messages that came over WebSockets.
    pub ws_messages: u64,
    /// WebSockets closed because their clients broke the protocol.
    pub ws_malformed: u64,
    /// Broadcasts, each to all of a stream.
    pub cable_broadcasts: u64,
    /// Messages sent to subscriptions, duplicates included.
    pub cable_sent: u64,
    /// Messages to subscriptions lost as asked.
    pub cable_lost: u64,
    /// Messages to subscriptions sent twice as asked.
    pub cable_duplicated: u64,
    /// Messages to subscriptions that the next one overtook as asked.
    pub cable_reordered: u64,
    /// Messages sent without their delay, since too many waited.
    pub cable_undelayed: u64,
    /// Subscriptions rejected, as asked or because the channel is unknown.
    pub cable_rejected: u64,
    /// Subscriptions never answered, as asked.
    pub cable_unconfirmed: u64,
    /// Clients that were sent a disconnect with reconnect, as configured.
    pub cable_disconnected: u64,
    /// Commands and actions that were not understood.
    pub cable_malformed: u64,
}

impl fmt::Display for Stats {
    /// One JSON object, one line, its keys named as the fields.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs = [
            ("requests", self.requests),
            ("answers", self.answers),
            ("refused", self.refused),
            ("errors", self.errors),
            ("malformed", self.malformed),
            ("queue", self.queue),
            ("queue_max", self.queue_max),
            ("in_service", self.in_service),
            ("connections", self.connections),
            ("connections_total", self.connections_total),
            ("sockets", self.sockets.sockets),
            ("sockets_total", self.sockets.sockets_total),
            ("sockets_dropped", self.sockets.sockets_dropped),
            ("ws_messages", self.sockets.ws_messages),
            ("ws_malformed", self.sockets.ws_malformed),
            ("cable_broadcasts", self.sockets.cable_broadcasts),
            ("cable_sent", self.sockets.cable_sent),
            ("cable_lost", self.sockets.cable_lost),
            ("cable_duplicated", self.sockets.cable_duplicated),
            ("cable_reordered", self.sockets.cable_reordered),
            ("cable_undelayed", self.sockets.cable_undelayed),
            ("cable_rejected", self.sockets.cable_rejected),
            ("cable_unconfirmed", self.sockets.cable_unconfirmed),
            ("cable_disconnected", self.sockets.cable_disconnected),
            ("cable_malformed", self.sockets.cable_malformed),
        ];
        for (i, (key, value)) in pairs.iter().enumerate() {
            write!(f, "{}\"{key}\":{value}", if i == 0 { "{" } else { "," })?;
        }
        f.write_str("}")
    }
}

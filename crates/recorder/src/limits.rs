//! How much is kept and how much is taken at a time.

use std::time::Duration;

use stdx::{Bytes, within_memory};

/// How much of one body is kept unless it is said otherwise, in bytes: 16 MiB.
pub const BODY_BYTES_MAX: Bytes = Bytes(16 << 20);
/// How much all bodies, heads, messages and marks take that are kept, in bytes: 256 MiB, and half of the process' memory.
pub const RECORDING_BYTES_MAX: Bytes = Bytes(256 << 20);
/// How many requests are kept: as many as a script may hold.
pub const EXCHANGES_MAX: usize = 20_000;
/// How long a message of a WebSocket may be that is kept, in bytes: 1 MiB.
pub const MESSAGE_BYTES_MAX: usize = 1 << 20;
/// How many connections of clients are open at a time; others wait to be accepted.
pub const CONNECTIONS_MAX: usize = 512;

/// How long the head of a request or an answer may be, in bytes.
pub(crate) const HEAD_BYTES_MAX: usize = 128 << 10;
/// How many fields a head may have.
pub(crate) const FIELDS_MAX: usize = 256;
/// How many streams of one HTTP/2 connection are open at a time.
pub(crate) const STREAMS_MAX: u32 = 128;
/// How many certificates are held, one for each host.
pub(crate) const CERTIFICATES_MAX: usize = 1000;
/// How many hosts that are left out are known by their names; the rest is counted together.
pub(crate) const LEFT_OUT_NAMES_MAX: usize = 1000;
/// How many lines of the live list wait to be shown.
pub(crate) const LINES_MAX: usize = 10_000;
/// How long an address of the live list may be, in bytes.
pub(crate) const LINE_BYTES_MAX: usize = 1000;
/// How long the name of a host may be that is left out: RFC 1035, 2.3.4.
pub(crate) const HOST_BYTES_MAX: usize = 255;
/// How many groups a recording has.
pub(crate) const MARKS_MAX: usize = 1000;
/// How long the name of a group may be, in characters.
pub(crate) const MARK_CHARS_MAX: usize = 100;
/// How long a client may take for the head of a request, which is also how long a connection may be idle.
pub(crate) const HEAD_TIME_MAX: Duration = Duration::from_secs(60);
/// How long a handshake or the way to a server may take.
pub(crate) const CONNECT_TIME_MAX: Duration = Duration::from_secs(30);
/// How long a client of a tunnel may wait for its server to begin before the tunnel is taken for one without HTTP.
pub(crate) const FIRST_BYTE_TIME_MAX: Duration = Duration::from_secs(5);

/// The limits of one recording that its caller may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How much of one body is kept.
    pub body_bytes_max: Bytes,
    /// How much is kept in all.
    pub recording_bytes_max: Bytes,
}

impl Default for Limits {
    /// Half of the process' memory is left for writing the HAR.
    fn default() -> Self {
        let in_all = within_memory(RECORDING_BYTES_MAX.0 as usize, 2);
        Self { body_bytes_max: BODY_BYTES_MAX, recording_bytes_max: Bytes(in_all as u64) }
    }
}

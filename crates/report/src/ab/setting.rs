//! `Setting`: the part of the command line that ab's report repeats.

use stdx::Nanos;

/// The part of the command line that the report repeats.
#[derive(Clone, Debug, Default)]
pub struct Setting {
    /// The server's name, as it was typed.
    pub hostname: String,
    /// Its port.
    pub port: u16,
    /// Path and query.
    pub path: String,
    /// Users at once.
    pub concurrency: u64,
    /// How long it all took.
    pub taken: Nanos,
    /// Keep-alive is on (`-k`).
    pub keep_alive: bool,
    /// Bodies may differ in length (`-l`).
    pub variable_length: bool,
    /// Bytes sent, heads included; `None` where no body was.
    pub bytes_sent: Option<u64>,
    /// How the connections were secured.
    pub tls: Option<Tls>,
    /// Leave out median, deviation and warnings (`-S`).
    pub plain_times: bool,
    /// Leave out the table of percentages (`-d`).
    pub no_percentages: bool,
}

/// How connections were secured, each in the words of its line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tls {
    /// `TLSv1.3,TLS_AES_256_GCM_SHA384,2048,256`: version, suite, bits of the certificate's key, bits of the cipher.
    pub protocol: String,
    /// `X25519 253 bits`; empty where there was none.
    pub temporary_key: String,
    /// The name of the test; empty without one.
    pub server_name: String,
}

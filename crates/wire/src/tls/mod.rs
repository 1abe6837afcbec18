//! `TlsSession`: TLS 1.2 and 1.3 between plaintext and records, over rustls. Opens no socket, reads no file. rustls reads
//! the time of day for the validity of certificates; nothing here does.

mod agreed;
mod alpn;
mod client;
mod error;
mod pem;
mod server;
mod session;
mod verifier;

pub use agreed::{Agreed, suite_of_iana, suites_named};
pub use client::{
    ClientSetup, Offer, Resumption, ServerNaming, TlsClient, Verification, Versions, client_config,
};
pub use error::{Refusal, TlsError, TlsSetupError};
pub use rustls;
pub use server::{ServerSetup, server_config};
pub use session::TlsSession;

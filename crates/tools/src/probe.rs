//! The connection that some tools make before they start.

use std::io;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use cli::system_text;
use wire::url::Url;

use crate::config::ToolConfig;
use crate::error::ToolError;

/// How long a probe waits for a connection.
const PROBE_MAX: Duration = Duration::from_secs(10);

/// Connects to the server once, if the tool does so before it starts.
///
/// # Errors
/// The server accepts no connection.
pub(crate) fn probe(config: &ToolConfig) -> Result<(), ToolError> {
    let Some(error_of) = config.probe else { return Ok(()) };
    let Some(target) = config.plan.targets.list().get(0) else { return Ok(()) };
    let Ok(url) = Url::parse(target.url) else { return Ok(()) };
    let service = match url.authority.rsplit_once(':') {
        Some((_, port)) if !port.ends_with(']') => port.to_owned(),
        _ => target.url.split(':').next().unwrap_or_default().to_owned(),
    };
    let connect = |url: &Url| -> io::Result<()> {
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for address in (url.host.as_str(), url.port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, PROBE_MAX) {
                Ok(_) => return Ok(()),
                Err(error) => last = error,
            }
        }
        Err(last)
    };
    connect(&url).map_err(|error| error_of(&url.host, &service, &error))
}

/// The text of a system error, without its number, and without the prefix of failed name lookups.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = system_text(error);
    text.trim_start_matches("failed to lookup address information: ").to_owned()
}

//! The files of a fleet's folder: who writes which of them, and how.

use std::net::SocketAddr;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use stdx::private_file;

use super::config::{self, Files};
use super::keys::{Keys, write_secret};
use super::token::JoinToken;
use crate::error::ControlError;

/// The file of the token, for scripts that start agents.
pub(super) const TOKEN: &str = "token";

/// Makes a folder that only this user reads, where it is missing. One that others can write is refused.
pub(super) fn make_private(dir: &Path) -> Result<(), ControlError> {
    private_file::make_folder(dir).map_err(|error| ControlError::file(dir, error))
}

/// Writes the server's configuration, its certificate and the key of that.
pub(super) fn write_files(dir: &Path, listen: SocketAddr, keys: &Keys) -> Result<(), ControlError> {
    let files = Files::of(dir);
    write_secret(&files.paths.certificate, keys.certificate.as_bytes())?;
    write_secret(&files.paths.certificate_key, keys.certificate_key.as_bytes())?;
    write_secret(&files.config, config::text(listen, &files.paths, keys).as_bytes())
}

/// Writes the file of the token.
pub(super) fn write_token(dir: &Path, token: &JoinToken) -> Result<(), ControlError> {
    write_secret(&dir.join(TOKEN), (token.text() + "\n").as_bytes())
}

/// Unix time, in seconds.
pub(super) fn unix_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

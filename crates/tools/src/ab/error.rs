//! `AbError`: why ab ends without a report, and its exit codes.

/// A value is wrong, a file cannot be used, or the user interrupted.
pub(super) const WRONG: u8 = 1;
/// The command line is wrong; errno's EINVAL.
pub(super) const USAGE: u8 = 22;
/// A name is not known; the low byte of APR's number for it.
const NO_NAME: u8 = 50;
/// An address is not this machine's; errno's EADDRNOTAVAIL.
pub(super) const NO_ADDRESS: u8 = 99;

/// Why ab ends without a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AbError {
    /// The command line is wrong: the usage follows this.
    Usage(&'static str),
    /// This text goes to standard error, and the process ends with the code.
    Message {
        /// The exit code.
        code: u8,
        /// The text; ab's words first.
        text: String,
    },
}

impl AbError {
    pub(super) fn wrong(text: String) -> Self {
        Self::Message { code: WRONG, text }
    }
}

/// A name that cannot be resolved, in APR's words.
pub(super) fn no_name(name: &str) -> AbError {
    let text = format!("apr_sockaddr_info_get() for {name}: Name or service not known (670002)");
    AbError::Message { code: NO_NAME, text }
}

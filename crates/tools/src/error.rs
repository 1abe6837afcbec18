//! `ToolError`: why a command line of another tool sends nothing.

/// Why nothing is sent: the process prints these texts and ends with this code.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ToolError {
    /// The exit code.
    pub(crate) code: u8,
    /// The text for standard output, with its last line feed.
    pub(crate) stdout: String,
    /// The text for standard error, without it.
    pub(crate) stderr: String,
}

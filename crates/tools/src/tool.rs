//! `LoadTool`: another load tester whose command line is read.

use crate::config::ToolConfig;
use crate::error::ToolError;

/// Another load tester whose command line is read.
#[derive(Clone, Copy, Debug)]
pub struct LoadTool {
    /// The name of its program.
    pub name: &'static str,
    /// Reads a command line, and the files that it names.
    pub(crate) parse: fn(&[String]) -> Result<ToolConfig, ToolError>,
    /// Checks a command line without reading or opening anything.
    pub(crate) validate: fn(&[String]) -> Result<(), ToolError>,
}

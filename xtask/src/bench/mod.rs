//! x
use std::process::ExitCode;
pub(crate) fn run(_: &[String]) -> anyhow::Result<ExitCode> { Ok(ExitCode::SUCCESS) }

//! From the process's arguments to the dialect that reads them: by the name that the binary is called by, then by the first
//! argument.

use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

use cli::{NoFile, RESULTS, WATCH, eprint_line, take_results};

use super::native;
use crate::command::Registry;

/// Runs the command line and returns the code to end with.
pub(crate) fn run(program: &OsStr, mut args: Vec<String>, registry: &Registry) -> ExitCode {
    let called = Path::new(program).file_stem().unwrap_or_default();
    let mut tool = called.to_str().and_then(|name| registry.tool(name));
    if tool.is_none() && !args.is_empty() {
        tool = registry.tool(&args[0]);
        args.drain(..usize::from(tool.is_some()));
    }
    let Some(tool) = tool else { return native::run(&args, registry).into() };
    let results = take_results(&mut args);
    // k6 has a flag of this name, which is brunt's own for `run`.
    let lone_watch = tool.name != "k6" && args.iter().any(|arg| arg == WATCH);
    match results.and_then(|results| if lone_watch { Err(NoFile) } else { Ok(results) }) {
        Ok(results) => (tool.run)(&args, results, registry),
        Err(NoFile) => {
            eprint_line(&format!(
                "brunt {}: --results needs the name of a file, and --watch needs --results",
                tool.name
            ));
            ExitCode::from(2)
        }
    }
}

/// Checks a command line that is to offer load: its first word is a command or a tool. Nothing is read or opened; standard
/// input counts as empty, and files and scripts are not looked at.
///
/// # Errors
/// The command line is wrong, or does not generate load; the error is one line.
pub(crate) fn validate(mut args: Vec<String>, registry: &Registry) -> Result<(), String> {
    let first = args.first().cloned().unwrap_or_default();
    let Some(tool) = registry.tool(&first) else {
        return native::validate(&args, registry);
    };
    args.remove(0);
    take_results(&mut args).map_err(|NoFile| format!("{RESULTS} needs the name of a file"))?;
    (tool.validate)(&args, registry)
}

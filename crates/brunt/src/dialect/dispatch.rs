//! From the process's arguments to the dialect that reads them: by the name that the binary is called by, then by the first
//! argument.

use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

use cli::{GlobalFlags, NoFile, RESULTS, ToolSpec, WATCH, eprint_line, take_results};

use super::native;
use crate::command::Registry;

/// Runs the command line and returns the code to end with.
pub(crate) fn run(program: &OsStr, mut args: Vec<String>, registry: &Registry) -> ExitCode {
    let called = Path::new(program).file_stem().unwrap_or_default();
    let mut tool = called.to_str().and_then(|name| registry.tool(name));
    if tool.is_none() {
        match named_tool(&args, registry) {
            Some(Ok((named, globals, rest))) => {
                globals.apply();
                (tool, args) = (Some(named), rest);
            }
            Some(Err(text)) => {
                eprint_line(&format!("brunt: {text}"));
                return cli::ExitCode::Usage.into();
            }
            None => {}
        }
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

/// A tool, the global flags before its name, and its arguments.
type NamedTool = (&'static ToolSpec, GlobalFlags, Vec<String>);

/// The tool that a command line names, perhaps behind global flags; `None` where it names a command, or is wrong. An error is one
/// line.
fn named_tool(args: &[String], registry: &Registry) -> Option<Result<NamedTool, String>> {
    let (globals, mut rest) = native::split(args).ok().filter(|(globals, _)| !globals.version)?;
    let tool = registry.tool(rest.first()?)?;
    rest.remove(0);
    match (globals.cpus, tool.name) {
        (None, _) => {}
        // Both take it before their command.
        (Some(cpus), "k6" | "vegeta") => rest.insert(0, format!("--cpus={cpus}")),
        (Some(_), name) => {
            return Some(Err(format!("flag -cpus: not before {name}, which has its own flags")));
        }
    }
    Some(Ok((tool, globals, rest)))
}

/// Checks a command line that is to offer load: its first word is a command or a tool. Nothing is read or opened; standard
/// input counts as empty, and files and scripts are not looked at.
///
/// # Errors
/// The command line is wrong, or does not generate load; the error is one line.
pub(crate) fn validate(args: &[String], registry: &Registry) -> Result<(), String> {
    let Some(named) = named_tool(args, registry) else {
        return native::validate(args, registry);
    };
    let (tool, _, mut args) = named?;
    take_results(&mut args).map_err(|NoFile| format!("{RESULTS} needs the name of a file"))?;
    (tool.validate)(&args, registry)
}

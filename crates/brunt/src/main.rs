//! The command: dialects in, exit code out.
//!
//! ```text
//! argv ─▶ dialect ─▶ ParsedArgs (what was typed) ─▶ config (files read, plan validated) ─▶ command ─▶ exit code
//! ```
//!
//! It wires the rooms together and holds no logic that a test would want without a process.

mod analyze;
mod command;
mod dialect;
mod flags;
mod load;

use std::process::ExitCode;

fn main() -> ExitCode {
    // A descriptor for each connection; where the limit stays, those beyond it fail and are counted.
    net::machine::raise_descriptor_limit().ok();
    // What servers and scripts may take; -memory-limit says another size.
    if let Some(memory) = net::machine::memory() {
        net::machine::limit_memory(memory / 4 * 3);
    }
    cli::survive_file_size_limit();
    let mut args = std::env::args_os();
    let program = args.next().unwrap_or_default();
    match args.map(|arg| arg.into_string()).collect::<Result<Vec<String>, _>>() {
        Ok(args) => cli::or_internal(|| dialect::dispatch::run(&program, args, &command::REGISTRY)),
        Err(arg) => {
            cli::eprint_line(&format!("brunt: argument {} is not UTF-8", arg.display()));
            cli::ExitCode::Usage.into()
        }
    }
}

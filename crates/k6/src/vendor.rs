//! `vendor`: puts the modules that a script imports from the network on disk, once, so that runs fetch nothing.

use std::fmt::Write as _;
use std::path::Path;

use cli::{CommandError, ExitCode, ExitError, Invocation, Output};
use script::Level;
use stdx::Bytes;

use crate::archive::operand;
use crate::arguments::typed;
use crate::config::load;
use crate::flags::VENDOR;
use crate::module_lock::{Change, ModuleLock};
use crate::source::Source;

/// Fetches what a script imports from the network, and locks it.
pub fn vendor(invocation: &Invocation) -> Result<ExitCode, CommandError> {
    let typed = match typed(invocation, VENDOR)? {
        Ok(typed) => typed,
        Err(code) => return Ok(code),
    };
    let Some(path) = operand(&typed) else { return Ok(ExitCode::Other) };
    let mut flags = typed.flags.clone();
    flags.vendors = true;
    let loaded = match load(path, &flags, false) {
        Ok(loaded) => loaded,
        Err(code) => return Ok(code),
    };
    if loaded.source.is_unpacked() {
        loaded.logger.log_line(Level::Warn, "an archive has its modules in it; nothing is locked");
        return Ok(ExitCode::Ok);
    }
    let text = keep(&loaded.source, path).map_err(|text| ExitError::new(ExitCode::Other, text))?;
    Output::Stdout.write(text.as_bytes())?;
    Ok(ExitCode::Ok)
}

/// Puts all remote modules that a source has read on disk; gives what is to be said of them.
fn keep(source: &Source, path: &str) -> Result<String, String> {
    let folder = Path::new(&source.main).parent().unwrap_or(Path::new("/"));
    let read = source.read_so_far();
    let remote = read.iter().filter(|(name, _)| name.starts_with("https://"));
    let mut lock = match ModuleLock::find(folder)? {
        Some(lock) => lock,
        None => ModuleLock::new(folder),
    };
    let mut text = String::new();
    for (url, bytes) in remote {
        let change = match lock.put(url, bytes)? {
            Change::Added => "added",
            Change::Same => "as before",
            Change::Changed => "changed",
        };
        let url = stdx::terminal_line(&stdx::shown_text(url));
        let size = Bytes(bytes.len() as u64);
        writeln!(text, "{url}  {size}  {change}").unwrap_or_default();
    }
    if text.is_empty() {
        return Ok(format!("{path} imports nothing from the network\n"));
    }
    lock.write()?;
    let modules = stdx::counted(lock.len() as u64, "module");
    let shown = lock.path();
    writeln!(text, "{}: {modules}; runs read these and fetch nothing", shown.display())
        .unwrap_or_default();
    Ok(text)
}

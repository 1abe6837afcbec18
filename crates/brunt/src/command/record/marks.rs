//! Marks: a line typed on standard input begins a group of that name.

use std::io::{self, BufRead as _, Read as _};
use std::sync::Arc;

use anyhow::Context;
use cli::{ExitError, eprint_line};
use recorder::Recording;

/// How long a line may be, in bytes: what is longer is another line.
const LINE_BYTES_MAX: u64 = 4096;

/// Reads marks on a thread of its own, which ends with standard input or with the process.
pub(super) fn read(recording: &Arc<Recording>) -> Result<(), ExitError> {
    let recording = Arc::clone(recording);
    let thread = std::thread::Builder::new().name("marks".to_owned());
    thread.spawn(move || read_lines(&recording)).context("starting a thread")?;
    Ok(())
}

fn read_lines(recording: &Recording) {
    let mut line = Vec::new();
    // Where it cannot be read there are no marks.
    while let Ok(1..) = io::stdin().lock().take(LINE_BYTES_MAX).read_until(b'\n', &mut line) {
        let name = String::from_utf8_lossy(&line).trim().to_owned();
        if recording.mark(&name, recording.now()) {
            eprint_line(&format!("-- {name}"));
        }
        line.clear();
    }
}

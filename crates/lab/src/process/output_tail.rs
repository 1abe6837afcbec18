//! How a process ended and what it printed last, in words for an error.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::process::ExitStatus;

use nix::sys::signal::Signal;

/// `code 1`, or the name of the signal.
#[must_use]
pub(crate) fn exit_text(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("code {code}"),
        (None, Some(signal)) => {
            Signal::try_from(signal).map_or_else(|_| format!("signal {signal}"), |s| s.to_string())
        }
        (None, None) => "an unknown end".to_owned(),
    }
}

/// Bytes of a file's end that are read.
const TAIL: u64 = 4096;
/// Lines that are shown, at most, and characters of each.
const LINES_MAX: usize = 4;
const LINE_MAX: usize = 160;

/// The last lines that a program printed, on standard error if there are any, ready to follow a sentence.
#[must_use]
pub(crate) fn output_tail(output: &Path) -> String {
    let lines = [output.with_extension("err"), output.to_owned()];
    let lines = lines.iter().map(|path| last_lines(path)).find(|lines| !lines.is_empty());
    lines.map_or(String::new(), |lines| format!("; it said last: {}", lines.join(" | ")))
}

fn last_lines(path: &Path) -> Vec<String> {
    let mut text = Vec::new();
    let read = File::open(path).and_then(|mut file| {
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
        file.take(TAIL).read_to_end(&mut text)
    });
    // A file that cannot be read has no lines.
    read.ok();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines[lines.len().saturating_sub(LINES_MAX)..].iter();
    let hidden = |c: char| if stdx::steers(c) && c != '\t' { '\u{fffd}' } else { c };
    last.map(|line| line.trim().chars().take(LINE_MAX).map(hidden).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_shown() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("said.out");
        std::fs::write(&path, "a\nb\n\nc\nd\ne\n").unwrap();
        assert_eq!(output_tail(&path), "; it said last: b | c | d | e");
        std::fs::write(path.with_extension("err"), "broken\n").unwrap();
        assert_eq!(output_tail(&path), "; it said last: broken");
        std::fs::remove_file(path.with_extension("err")).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(output_tail(&path), "");
    }
}

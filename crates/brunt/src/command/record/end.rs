//! The end of a recording: its files, whole or not at all, and what is said of it.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use cli::{ExitCode, ExitError, OrExit, eprint_line};
use recorder::{HarLosses, Record, Secrets, write_har};
use stdx::private_file::NewFile;
use stdx::{Bytes, counted, within_memory};

use super::config::{Config, Target};
use crate::command::import;
use crate::flags::record::Format;

/// The mode of what is written: recordings hold what people typed.
const OWNER_ALONE: u32 = 0o600;
/// How many hosts that were left out are named.
const NAMED_MAX: usize = 10;
/// How long a recording may be as HAR that a script is made of, in bytes: 512 MiB, and an eighth of the process' memory.
const SCRIPT_SOURCE_BYTES_MAX: usize = 512 << 20;

/// Checks that a file can be written, before there is anything to lose. Nothing of it is seen.
pub(super) fn try_out(path: &str) -> Result<(), ExitError> {
    let part = NewFile::beside(Path::new(path), OWNER_ALONE);
    part.map(drop).with_context(|| format!("writing {path}")).or_exit(ExitCode::Failure)
}

/// Writes every file, also where one of them cannot be, and says what there is. A HAR comes first: it needs the least.
pub(super) fn write(config: &Config, record: &Record) -> Result<(), ExitError> {
    summarise(record);
    let (hars, scripts): (Vec<&Target>, Vec<&Target>) =
        config.outputs.iter().partition(|target| target.format == Format::Har);
    let mut first = Ok(());
    for target in hars.iter().chain(&scripts) {
        let written = match target.format {
            Format::Har => write_har_file(&target.path, record, config.secrets),
            Format::Script => write_script(target, record, hars.first().copied()),
        };
        match written {
            Ok(()) => eprint_line(&format!("wrote {}", target.path)),
            failed => first = first_of(first, failed),
        }
    }
    first
}

/// The first error; the second one is said here, since a command returns only one.
pub(super) fn first_of(
    first: Result<(), ExitError>,
    second: Result<(), ExitError>,
) -> Result<(), ExitError> {
    if let (Err(_), Err(error)) = (&first, &second) {
        eprint_line(&error.to_string());
    }
    first.and(second)
}

fn write_har_file(path: &str, record: &Record, secrets: Secrets) -> Result<(), ExitError> {
    let mut losses = HarLosses::default();
    write_file(path, |out| {
        losses = write_har(record, secrets, env!("CARGO_PKG_VERSION"), out)?;
        Ok(())
    })?;
    har_losses(losses).into_iter().for_each(|line| eprint_line(&line));
    Ok(())
}

/// Makes the script of the recording as it passed. Where that cannot be done the recording is not lost: it is in `har`, or written as
/// a HAR of its own.
fn write_script(target: &Target, record: &Record, har: Option<&Target>) -> Result<(), ExitError> {
    if record.exchanges.is_empty() {
        let text =
            "nothing was recorded: there is no script to write (does the client use the proxy?)";
        return Err(ExitError::new(ExitCode::Input, text));
    }
    let har_name = Path::new(&target.path).with_extension("har");
    match script(&har_name, record) {
        Ok(script) => write_file(&target.path, |out| Ok(out.write_all(script.as_bytes())?)),
        Err(problem) => {
            let free = || free_name(&har_name).display().to_string();
            let path = har.map_or_else(free, |har| har.path.clone());
            // One that was asked for may hide secrets, and stays so.
            if har.is_none() {
                write_har_file(&path, record, Secrets::Shown)?;
            }
            Err(ExitError::new(ExitCode::Input, format!("{problem}; the recording is in {path}")))
        }
    }
}

/// This name, or where it is taken one with a number: a file that the user did not name is not written over.
fn free_name(path: &Path) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let numbered = |number: u32| path.with_file_name(format!("{stem}-{number}.har"));
    let mut names = std::iter::once(path.to_owned()).chain((2..).map(numbered));
    names.find(|name| !name.exists()).unwrap_or_else(|| path.to_owned())
}

fn script(har_name: &Path, record: &Record) -> anyhow::Result<String> {
    let name = har_name.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let source = source(record).context("the recording is too long for a script")?;
    let (script, notes) = import::script_of_har(&name, &source)?;
    for note in notes {
        eprint_line(&format!("{}: {}", note.place, note.text));
    }
    Ok(script)
}

/// The HAR that a script is made of; `None` where it is too long.
fn source(record: &Record) -> Option<String> {
    let bytes_max = within_memory(SCRIPT_SOURCE_BYTES_MAX, 8);
    let mut har = BoundedText { bytes: Vec::new(), bytes_max };
    write_har(record, Secrets::Shown, env!("CARGO_PKG_VERSION"), &mut har).ok()?;
    String::from_utf8(har.bytes).ok()
}

/// A text that refuses to be longer than this.
#[derive(Debug)]
struct BoundedText {
    bytes: Vec<u8>,
    bytes_max: usize,
}

impl Write for BoundedText {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.bytes_max {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes a file beside its name and gives it the name once it is whole.
fn write_file(
    path: &str,
    write: impl FnOnce(&mut BufWriter<NewFile>) -> anyhow::Result<()>,
) -> Result<(), ExitError> {
    let written = || -> anyhow::Result<()> {
        let mut out = BufWriter::new(NewFile::beside(Path::new(path), OWNER_ALONE)?);
        write(&mut out)?;
        out.into_inner().map_err(std::io::IntoInnerError::into_error)?.publish()?;
        Ok(())
    };
    written().with_context(|| format!("writing {path}")).or_exit(ExitCode::Failure)
}

/// Says what was recorded, what was left out, and what did not fit.
fn summarise(record: &Record) {
    eprint_line(&format!("recorded {}", counted(record.exchanges.len() as u64, "request")));
    left_out(record).into_iter().for_each(|line| eprint_line(&line));
    losses(record).into_iter().for_each(|line| eprint_line(&line));
}

fn left_out(record: &Record) -> Option<String> {
    let mut hosts: Vec<(&String, &u64)> = record.left_out.iter().collect();
    hosts.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let names: Vec<&str> = hosts.iter().take(NAMED_MAX).map(|(host, _)| host.as_str()).collect();
    let more = hosts.len().saturating_sub(NAMED_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!hosts.is_empty()).then(|| {
        format!("left out: {}{more} (-host records them, -all-hosts every host)", names.join(", "))
    })
}

fn losses(record: &Record) -> Vec<String> {
    let losses = &record.losses;
    let bytes = Bytes(losses.body_bytes);
    lines_of([
        (losses.exchanges, "request", "not kept: the recording is full".to_owned()),
        (losses.heads, "answer", "kept without headers: the recording is full".to_owned()),
        (
            losses.bodies,
            "body",
            format!("kept in part, {bytes} are missing (-max-body keeps more)"),
        ),
        (losses.messages, "message", "of WebSockets not kept".to_owned()),
        (losses.marks, "mark", "not kept".to_owned()),
        (losses.lines, "line", "of the list not shown".to_owned()),
    ])
}

fn har_losses(losses: HarLosses) -> Vec<String> {
    lines_of([
        (losses.undecoded, "body", "of answers not decoded, or in part".to_owned()),
        (
            losses.unsearched,
            "secret",
            "too long or too many: hidden in their own places alone, not in other texts".to_owned(),
        ),
    ])
}

/// The lines of what there is more than none of.
fn lines_of<const N: usize>(counts: [(u64, &str, String); N]) -> Vec<String> {
    let some = counts.into_iter().filter(|(count, ..)| *count > 0);
    some.map(|(count, noun, text)| format!("{} {text}", counted(count, noun))).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use recorder::Losses;

    use super::*;

    #[test]
    fn what_is_missing_is_said() {
        let left_out: BTreeMap<String, u64> =
            (0..12).map(|number| (format!("h{number:02}.test"), 20 - number)).collect();
        let losses = Losses { bodies: 2, body_bytes: 5 << 20, exchanges: 1, ..Losses::default() };
        let record = Record { left_out, losses, ..Record::default() };
        let line = super::left_out(&record).unwrap();
        assert!(
            line.starts_with("left out: h00.test, h01.test") && line.contains("and 2 more"),
            "{line}"
        );
        let lines = super::losses(&record);
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(
            lines[0].starts_with("1 request not kept")
                && lines[1].starts_with("2 bodies kept in part"),
            "{lines:?}"
        );
        assert_eq!(super::left_out(&Record::default()), None);
    }

    #[test]
    fn files_are_their_owners_and_replace_others_whole() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.har");
        std::fs::write(&path, "old").unwrap();
        let name = path.display().to_string();
        assert!(write_file(&name, |_| anyhow::bail!("disk")).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        write_file(&name, |out| Ok(out.write_all(b"new")?)).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_a_har_has_in_another_form_is_said() {
        let lines = har_losses(HarLosses { undecoded: 1, unsearched: 2 });
        assert!(lines[0].starts_with("1 body of answers") && lines[1].starts_with("2 secrets"));
        assert!(har_losses(HarLosses::default()).is_empty());
    }

    #[test]
    fn a_text_refuses_what_is_too_long() {
        let mut text = BoundedText { bytes: vec![], bytes_max: 5 };
        assert!(text.write_all(b"12345").is_ok() && text.write_all(b"6").is_err());
        assert_eq!(text.bytes, b"12345");
    }

    /// A script that cannot be made left a HAR with every secret in place of the one that was asked for without.
    #[test]
    fn a_har_that_was_asked_for_stays_where_no_script_can_be_made() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let har = Target { path: path("a.har"), format: Format::Har };
        let script = Target { path: path("a.js"), format: Format::Script };
        std::fs::write(&har.path, "hidden").unwrap();
        let record = Record { exchanges: vec![recorder::Exchange::default()], ..Record::default() };
        assert!(write_script(&script, &record, Some(&har)).is_err());
        assert_eq!(std::fs::read_to_string(&har.path).unwrap(), "hidden");
        assert!(write_script(&script, &record, None).is_err());
        assert_eq!(std::fs::read_to_string(&har.path).unwrap(), "hidden", "nobody named it");
        assert!(std::fs::read_to_string(path("a-2.har")).unwrap().starts_with('{'));
    }
}

//! The end of a recording: its files, whole or not at all, and what is said of it.

use std::io::{BufWriter, Write as _};
use std::path::Path;

use anyhow::Context;
use cli::{ExitCode, ExitError, OrExit, eprint_line};
use recorder::{Record, Secrets, write_har};
use stdx::private_file::NewFile;
use stdx::{Bytes, counted};

use super::config::{Config, Target};
use crate::command::import;
use crate::flags::record::Format;

/// The mode of what is written: recordings hold what people typed.
const OWNER_ALONE: u32 = 0o600;
/// How many hosts that were left out are named.
const NAMED_MAX: usize = 10;

/// Checks that a file can be written, before there is anything to lose. Nothing of it is seen.
pub(super) fn try_out(path: &str) -> Result<(), ExitError> {
    let part = NewFile::beside(Path::new(path), OWNER_ALONE);
    part.map(drop).with_context(|| format!("writing {path}")).or_exit(ExitCode::Failure)
}

/// Writes every file, also where one of them cannot be, and says what there is.
pub(super) fn write(config: &Config, record: &Record) -> Result<(), ExitError> {
    summarise(record);
    let mut first = Ok(());
    for target in &config.outputs {
        let written = match target.format {
            Format::Har => write_file(&target.path, |out| {
                Ok(write_har(record, config.secrets, env!("CARGO_PKG_VERSION"), out)?)
            }),
            Format::Script => write_script(target, record),
        };
        match written {
            Ok(()) => eprint_line(&format!("wrote {}", target.path)),
            failed => first = first.and(failed),
        }
    }
    first
}

/// Makes the script of the recording as it passed. Where that cannot be done the recording is not lost: it is written as HAR.
fn write_script(target: &Target, record: &Record) -> Result<(), ExitError> {
    let har_name = Path::new(&target.path).with_extension("har");
    let shown_name = har_name.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut har = Vec::new();
    write_har(record, Secrets::Shown, env!("CARGO_PKG_VERSION"), &mut har)
        .or_exit(ExitCode::Failure)?;
    let text = String::from_utf8_lossy(&har);
    match import::script_of_har(&shown_name, &text) {
        Ok((script, notes)) => {
            for note in notes {
                eprint_line(&format!("{}: {}", note.place, note.text));
            }
            write_file(&target.path, |out| Ok(out.write_all(script.as_bytes())?))
        }
        Err(_) if record.exchanges.is_empty() => {
            let text = "nothing was recorded: there is no script to write (does the client use the proxy?)";
            Err(ExitError::new(ExitCode::Input, text))
        }
        Err(error) => {
            let path = har_name.display().to_string();
            write_file(&path, |out| Ok(out.write_all(&har)?))?;
            Err(ExitError::new(ExitCode::Input, format!("{error}; the recording is in {path}")))
        }
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
    [
        (losses.exchanges, "request", "not kept: the recording is full".to_owned()),
        (
            losses.bodies,
            "body",
            format!("kept in part, {bytes} are missing (-max-body keeps more)"),
        ),
        (losses.messages, "message", "of WebSockets not kept".to_owned()),
        (losses.lines, "line", "of the list not shown".to_owned()),
    ]
    .into_iter()
    .filter(|(count, ..)| *count > 0)
    .map(|(count, noun, text)| format!("{} {text}", counted(count, noun)))
    .collect()
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
}

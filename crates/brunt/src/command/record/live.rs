//! `LiveList`: the requests that have ended, on standard output as they end.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow};
use cli::{ExitError, is_closed_pipe, reason, stdout_is_terminal};
use recorder::{Line, Recording, Secrets};
use serde_json::json;
use stdx::{Bytes, terminal_line, url_without_secrets};

use super::list_writer::{Handover, ListWriter};

/// How long the end waits for a list that is not read.
const END_TIME_MAX: Duration = Duration::from_secs(2);
/// How long it waits at a time.
const END_STEP: Duration = Duration::from_millis(10);

/// How the list is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListForm {
    /// A line of text for each.
    Plain,
    /// The same, with colours.
    Coloured,
    /// A line of JSON for each.
    Json,
}

impl ListForm {
    /// The form for people on this standard output.
    pub(super) fn of_terminal() -> Self {
        let has_colours = stdout_is_terminal() && std::env::var_os("NO_COLOR").is_none();
        if has_colours { Self::Coloured } else { Self::Plain }
    }
}

/// The list so far.
#[derive(Debug)]
pub(super) struct LiveList {
    form: ListForm,
    secrets: Secrets,
    /// `None`: its reader has gone away, and what is recorded is still written.
    writer: Option<ListWriter>,
    /// Lines that the writer had no room for. Others wait in the recording meanwhile, which counts those that it has no room for.
    next: Option<Lines>,
    refused: u64,
}

/// Lines as one text.
#[derive(Debug)]
struct Lines {
    text: String,
    count: u64,
}

impl LiveList {
    /// A list on standard output.
    pub(super) fn start(form: ListForm, secrets: Secrets) -> Result<Self, ExitError> {
        // Not by way of `stdout()`, whose lock the thread would hold while a pipe is not read.
        let stdout = io::stdout().as_fd().try_clone_to_owned().context("standard output")?;
        let writer = ListWriter::start(File::from(stdout)).context("starting a thread")?;
        Ok(Self { form, secrets, writer: Some(writer), next: None, refused: 0 })
    }

    /// Hands over what has ended since the last call. It waits for nothing.
    pub(super) fn show(&mut self, recording: &Recording) -> Result<(), ExitError> {
        self.warn_of_refusals(recording.untrusted());
        let next = self.next.take().or_else(|| self.lines(recording));
        let (Some(writer), Some(lines)) = (&self.writer, next) else { return Ok(()) };
        match writer.hand_over(lines.text) {
            Handover::Done => Ok(()),
            Handover::Full(text) => {
                self.next = Some(Lines { text, count: lines.count });
                Ok(())
            }
            Handover::Failed(error) => self.close(&error),
        }
    }

    fn lines(&self, recording: &Recording) -> Option<Lines> {
        let lines = recording.take_lines();
        let text = lines.iter().map(|line| text(line, self.form, self.secrets)).collect();
        (!lines.is_empty()).then_some(Lines { text, count: lines.len() as u64 })
    }

    /// A reader that has gone away is no failure.
    fn close(&mut self, error: &io::Error) -> Result<(), ExitError> {
        self.writer = None;
        match is_closed_pipe(error) {
            true => Ok(()),
            false => Err(anyhow!("standard output: {}", reason(error)).into()),
        }
    }

    /// Shows the rest, as far as it is read soon; counts what is not.
    pub(super) fn finish(mut self, recording: &Recording) -> Result<(), ExitError> {
        let deadline = Instant::now() + END_TIME_MAX;
        self.show(recording)?;
        while self.next.is_some() && Instant::now() < deadline {
            std::thread::sleep(END_STEP);
            self.show(recording)?;
        }
        self.show(recording)?;
        recording.lose_lines(self.next.take().map_or(0, |lines| lines.count));
        let Some(writer) = self.writer.take() else { return Ok(()) };
        match writer.end(deadline.saturating_duration_since(Instant::now())) {
            Some(Ok(())) => Ok(()),
            Some(Err(error)) => self.close(&error),
            None => {
                cli::eprint_line("standard output is not read: the end of the list is not shown");
                Ok(())
            }
        }
    }

    fn warn_of_refusals(&mut self, refused: u64) {
        if refused > 0 && self.refused == 0 {
            cli::eprint_line(
                "a client refuses the certificate: it does not trust the authority (brunt record -authority shows how it would)",
            );
        }
        self.refused = refused;
    }
}

fn text(line: &Line, form: ListForm, secrets: Secrets) -> String {
    let url = match secrets {
        Secrets::Hidden => line.address(),
        Secrets::Shown => url_without_secrets(&line.url),
    };
    match form {
        ListForm::Json => json_line(line, &url),
        ListForm::Plain | ListForm::Coloured => plain_line(line, &url, form),
    }
}

fn json_line(line: &Line, url: &str) -> String {
    let value = json!({
        "method": line.method,
        "url": url,
        "status": line.status,
        "duration_ms": line.took.0 / 1_000_000,
        "bytes": line.bytes,
        "type": line.media_type,
        "error": line.failure,
    });
    format!("{value}\n")
}

fn plain_line(line: &Line, url: &str, form: ListForm) -> String {
    let status = match line.status {
        0 => "---".to_owned(),
        status => status.to_string(),
    };
    let status = match (form, colour(line.status)) {
        (ListForm::Coloured, Some(code)) => format!("\x1b[{code}m{status}\x1b[0m"),
        _ => status,
    };
    let (method, url) = (terminal_line(&line.method), terminal_line(url));
    let kind = terminal_line(&line.media_type);
    let took_ms = line.took.0 / 1_000_000;
    let failure = line.failure.as_ref().map(|text| format!("  {}", terminal_line(text)));
    let failure = failure.unwrap_or_default();
    format!(
        "{status} {took_ms:>6} ms {:>8} {method:<6} {url}  {kind}{failure}\n",
        Bytes(line.bytes).to_string()
    )
}

/// The SGR code of a status: ECMA-48, 8.3.117.
fn colour(status: u16) -> Option<u8> {
    match status {
        0 | 500.. => Some(31),
        400..=499 => Some(33),
        300..=399 => Some(36),
        200..=299 => Some(32),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use stdx::Nanos;

    use super::*;

    fn line() -> Line {
        Line {
            method: "POST".into(),
            url: "https://shop.example/login?token=secret&page=1".into(),
            status: 302,
            took: Nanos::from_millis(34),
            bytes: 512,
            media_type: "text/html".into(),
            failure: None,
        }
    }

    #[test]
    fn lines_are_short_and_have_no_secrets() {
        let plain = text(&line(), ListForm::Plain, Secrets::Hidden);
        assert!(plain.starts_with("302     34 ms ") && plain.ends_with("  text/html\n"), "{plain}");
        assert!(plain.contains("page=1") && !plain.contains("secret"), "{plain}");
        let coloured = text(&line(), ListForm::Coloured, Secrets::Hidden);
        assert!(coloured.starts_with("\x1b[36m302\x1b[0m "), "{coloured:?}");
        let json: serde_json::Value =
            serde_json::from_str(&text(&line(), ListForm::Json, Secrets::Hidden)).unwrap();
        assert_eq!((&json["status"], &json["duration_ms"]), (&302.into(), &34.into()));
        assert!(!json.to_string().contains("secret"));
    }

    /// A HAR hides a value wherever it stands, once any request has it as a secret.
    #[test]
    fn the_list_shows_nothing_that_the_har_hides() {
        let redirect =
            Line { url: "https://shop.example/reset/tok3n9Zq7x?c=tok3n9Zq7x".into(), ..line() };
        for form in [ListForm::Plain, ListForm::Json] {
            assert!(!text(&redirect, form, Secrets::Hidden).contains("tok3n"));
            assert!(text(&redirect, form, Secrets::Shown).contains("?c=tok3n9Zq7x"));
        }
    }

    #[test]
    fn a_server_cannot_steer_the_terminal() {
        let hostile = Line {
            media_type: "\x1b[2J".into(),
            failure: Some("\x1b]0;x\x07".into()),
            status: 0,
            ..line()
        };
        let plain = text(&hostile, ListForm::Plain, Secrets::Hidden);
        assert!(plain.starts_with("---") && !plain.contains('\x1b') && !plain.contains('\x07'));
    }
}

//! `LiveList`: the requests that have ended, on standard output as they end.

use std::io::{self, Write};

use anyhow::anyhow;
use cli::{ExitError, is_closed_pipe, reason, stdout_is_terminal};
use recorder::{Line, Recording};
use serde_json::json;
use stdx::{Bytes, terminal_line, url_without_secrets};

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
    /// Its reader has gone away: what is recorded is still written.
    is_closed: bool,
    refused: u64,
}

impl LiveList {
    pub(super) fn new(form: ListForm) -> Self {
        Self { form, is_closed: false, refused: 0 }
    }

    /// Writes what has ended since the last call.
    pub(super) fn show(&mut self, recording: &Recording) -> Result<(), ExitError> {
        self.warn_of_refusals(recording.untrusted());
        let lines = recording.take_lines();
        if self.is_closed || lines.is_empty() {
            return Ok(());
        }
        let text: String = lines.iter().map(|line| text(line, self.form)).collect();
        let mut stdout = io::stdout().lock();
        match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            Err(error) if is_closed_pipe(&error) => {
                self.is_closed = true;
                Ok(())
            }
            Err(error) => Err(anyhow!("standard output: {}", reason(&error)).into()),
            Ok(()) => Ok(()),
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

fn text(line: &Line, form: ListForm) -> String {
    match form {
        ListForm::Json => json_line(line),
        ListForm::Plain | ListForm::Coloured => plain_line(line, form),
    }
}

fn json_line(line: &Line) -> String {
    let value = json!({
        "method": line.method,
        "url": url_without_secrets(&line.url),
        "status": line.status,
        "duration_ms": line.took.0 / 1_000_000,
        "bytes": line.bytes,
        "type": line.media_type,
        "error": line.failure,
    });
    format!("{value}\n")
}

fn plain_line(line: &Line, form: ListForm) -> String {
    let status = match line.status {
        0 => "---".to_owned(),
        status => status.to_string(),
    };
    let status = match (form, colour(line.status)) {
        (ListForm::Coloured, Some(code)) => format!("\x1b[{code}m{status}\x1b[0m"),
        _ => status,
    };
    let (method, url) =
        (terminal_line(&line.method), terminal_line(&url_without_secrets(&line.url)));
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
        let plain = text(&line(), ListForm::Plain);
        assert!(plain.starts_with("302     34 ms ") && plain.ends_with("  text/html\n"), "{plain}");
        assert!(plain.contains("page=1") && !plain.contains("secret"), "{plain}");
        let coloured = text(&line(), ListForm::Coloured);
        assert!(coloured.starts_with("\x1b[36m302\x1b[0m "), "{coloured:?}");
        let json: serde_json::Value = serde_json::from_str(&text(&line(), ListForm::Json)).unwrap();
        assert_eq!((&json["status"], &json["duration_ms"]), (&302.into(), &34.into()));
        assert!(!json.to_string().contains("secret"));
    }

    #[test]
    fn a_server_cannot_steer_the_terminal() {
        let hostile = Line {
            media_type: "\x1b[2J".into(),
            failure: Some("\x1b]0;x\x07".into()),
            status: 0,
            ..line()
        };
        let plain = text(&hostile, ListForm::Plain);
        assert!(plain.starts_with("---") && !plain.contains('\x1b') && !plain.contains('\x07'));
    }
}

//! `Logger`: the log in k6's forms: for a terminal, as text, JSON or bare messages; to standard error, standard output or a file.

use std::fs::File;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use cli::{ExitCode, reason};
use report::terminal_lines;
use script::{Level, LogFields, SCRIPT_HINT};
use serde_json::{Map, Value};

use crate::error::K6Error;
use crate::flags::RunFlags;
use crate::option_layers;
use crate::repeated_warnings::{RepeatedWarnings, Unwritten};

/// The log of a run.
pub(super) struct Logger {
    began: Instant,
    form: Form,
    place: Place,
    /// Where the script's console goes instead.
    console: Option<LogFile>,
    least: Level,
    /// A terminal shows the lines.
    on_terminal: bool,
    colored: bool,
    /// What is written as [`REDACTED`].
    secrets: Mutex<Vec<String>>,
    repeated: RepeatedWarnings,
    /// The script's console has written a line.
    has_console_lines: AtomicBool,
}

/// How a line is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Terminal,
    Text,
    Json,
    Raw,
}

/// Where lines go.
enum Place {
    Stderr,
    Stdout,
    Nowhere,
    File(LogFile),
}

/// A file that takes lines.
struct LogFile {
    path: String,
    file: Mutex<File>,
    /// A line could not be written. It has been said.
    is_cut: AtomicBool,
}

/// What stands in place of a secret.
const REDACTED: &str = "***SECRET_REDACTED***";

impl Logger {
    /// The log as flags and environment want it.
    ///
    /// # Errors
    /// A place is unknown, or cannot be opened.
    pub(super) fn new(flags: &RunFlags, began: Instant) -> Result<Self, K6Error> {
        let named = option_layers::text(flags.log_output.as_deref(), "K6_LOG_OUTPUT");
        let (place, own_least) = place(named.as_deref().unwrap_or("stderr"))?;
        let terminal = matches!(place, Place::Stderr) && io::stderr().is_terminal();
        let on_terminal = terminal || matches!(place, Place::Stdout) && io::stdout().is_terminal();
        let form =
            match option_layers::text(flags.log_format.as_deref(), "K6_LOG_FORMAT").as_deref() {
                Some("raw") => Form::Raw,
                Some("json") => Form::Json,
                _ if terminal => Form::Terminal,
                _ => Form::Text,
            };
        let least = if flags.verbose { Level::Debug } else { Level::Info };
        Ok(Self {
            began,
            form,
            place,
            console: None,
            least: own_least.unwrap_or(least),
            on_terminal,
            colored: terminal && !no_color(flags),
            secrets: Mutex::default(),
            repeated: RepeatedWarnings::default(),
            has_console_lines: AtomicBool::new(false),
        })
    }

    /// Sends the script's console to a file.
    ///
    /// # Errors
    /// It cannot be opened.
    pub(super) fn set_console(&mut self, path: &str) -> Result<(), K6Error> {
        self.console = Some(LogFile::open(path)?);
        Ok(())
    }

    /// Replaces these texts by [`REDACTED`] from now on.
    pub(super) fn hide(&self, secrets: impl IntoIterator<Item = String>) {
        let mut known = self.secrets.lock().unwrap_or_else(PoisonError::into_inner);
        known.extend(secrets.into_iter().filter(|secret| !secret.is_empty()));
    }

    /// Writes why a script is not run, and returns the code to end with.
    pub(super) fn report(&self, error: &K6Error) -> ExitCode {
        let hint = [SCRIPT_HINT];
        let fields = if error.code == ExitCode::Script { &hint[..] } else { &[] };
        self.log(Level::Error, &stdx::shown_error(&error.text), fields);
        error.code
    }

    /// Writes a line of our own.
    pub(super) fn log_line(&self, level: Level, text: &str) {
        match level {
            Level::Warn | Level::Error => self.log(level, &stdx::shown_error(text), &[]),
            _ => self.log(level, text, &[]),
        }
    }

    /// Writes a line with these fields, in the order of their names. Of warnings with the same words a few are written each second.
    pub(super) fn log(&self, level: Level, text: &str, fields: LogFields<'_>) {
        if rank(level) < rank(self.least) {
            return;
        }
        let is_console = fields.contains(&("source", "console"));
        self.has_console_lines.fetch_or(is_console, Ordering::Relaxed);
        if level == Level::Warn && !is_console {
            let decision = self.repeated.note(text, fields, Instant::now());
            decision.before.iter().for_each(|unwritten| self.write_count(unwritten));
            if !decision.is_written {
                return;
            }
        }
        self.write(level, text, fields);
    }

    /// Whether the script's console has written a line so far.
    pub(super) fn has_console_lines(&self) -> bool {
        self.has_console_lines.load(Ordering::Relaxed)
    }

    /// Writes how many warnings were not written.
    pub(super) fn write_counts(&self) {
        self.repeated.take().iter().for_each(|unwritten| self.write_count(unwritten));
    }

    fn write_count(&self, Unwritten { words, count }: &Unwritten) {
        let text = format!("{} as this not written", stdx::counted(*count, "more warning"));
        let fields = [("warning", words.as_str())];
        self.write(Level::Warn, &text, if words.is_empty() { &[] } else { &fields });
    }

    fn write(&self, level: Level, text: &str, fields: LogFields<'_>) {
        let text = self.redacted(text);
        let values: Vec<_> = fields.iter().map(|field| (field.0, self.redacted(field.1))).collect();
        let fields: Vec<_> = values.iter().map(|field| (field.0, field.1.as_str())).collect();
        let fields = fields.as_slice();
        let from_console = fields.contains(&("source", "console"));
        if let Some(console) = self.console.as_ref().filter(|_| from_console) {
            let form = if self.form == Form::Terminal { Form::Text } else { self.form };
            console.append(&self.line(form, level, &text, fields));
            return;
        }
        let line = self.line(self.form, level, &self.shown(text), fields);
        match &self.place {
            Place::Stderr => cli::eprint_line(&line),
            // If the stream is closed, there is nothing left to do.
            Place::Stdout => drop(writeln!(io::stdout().lock(), "{line}")),
            Place::File(file) => file.append(&line),
            Place::Nowhere => {}
        }
    }

    /// Whether a file of the log or of the script's console lacks lines.
    pub(super) fn is_cut(&self) -> bool {
        let log = match &self.place {
            Place::File(file) => Some(file),
            _ => None,
        };
        let mut files = log.into_iter().chain(&self.console);
        files.any(|file| file.is_cut.load(Ordering::Relaxed))
    }

    /// Texts of a server or a script must not control the terminal; the other forms quote them.
    fn shown(&self, text: String) -> String {
        let is_bare = matches!(self.form, Form::Terminal | Form::Raw);
        if self.on_terminal && is_bare { terminal_lines(&text) } else { text }
    }

    fn redacted(&self, text: &str) -> String {
        let secrets = self.secrets.lock().unwrap_or_else(PoisonError::into_inner);
        secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, REDACTED))
    }

    fn line(&self, form: Form, level: Level, text: &str, fields: LogFields<'_>) -> String {
        let time = || jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        match form {
            Form::Raw => text.trim_end_matches('\n').to_owned(),
            Form::Json => {
                let mut object = Map::new();
                for (name, value) in fields {
                    object.insert((*name).to_owned(), (*value).into());
                }
                object.insert("level".to_owned(), word(level).into());
                object.insert("msg".to_owned(), text.into());
                object.insert("time".to_owned(), time().into());
                Value::Object(object).to_string()
            }
            Form::Text => {
                let mut line = format!("time=\"{}\" level={}", time(), word(level));
                if !text.is_empty() {
                    line.push_str(&format!(" msg={}", valued(text)));
                }
                for (name, value) in fields {
                    line.push_str(&format!(" {name}={}", valued(value)));
                }
                line
            }
            Form::Terminal => {
                let short = &word(level).to_uppercase()[..4];
                let seconds = self.began.elapsed().as_secs();
                let (on, off) = if self.colored { (color(level), "\x1b[0m") } else { ("", "") };
                let mut line = format!("{on}{short}{off}[{seconds:04}] {text:<44}");
                for (name, value) in fields {
                    line.push_str(&format!(" {on}{name}{off}={}", valued(value)));
                }
                line.truncate(line.trim_end().len());
                line
            }
        }
    }
}

/// Whether nothing is to be coloured.
pub(super) fn no_color(flags: &RunFlags) -> bool {
    let asked = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    option_layers::switch(flags.no_color, "K6_NO_COLOR") || asked
}

impl LogFile {
    fn open(path: &str) -> Result<Self, K6Error> {
        let file = File::options().append(true).create(true).open(path);
        let file = file
            .map_err(|error| K6Error::other(format!("cannot open {path}: {}", reason(&error))))?;
        let (path, file) = (path.to_owned(), Mutex::new(file));
        Ok(Self { path, file, is_cut: AtomicBool::new(false) })
    }

    /// Appends a line. A full disk must not end the test, but the reader of the log is to know that it is not whole.
    fn append(&self, line: &str) {
        let written = {
            let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            file.write_all(format!("{line}\n").as_bytes())
        };
        if let Err(error) = written
            && !self.is_cut.swap(true, Ordering::Relaxed)
        {
            let why = reason(&error);
            cli::eprint_line(&format!(
                "brunt: writing the log to {}: {why}; it lacks lines",
                self.path
            ));
        }
    }
}

/// The place a text names, and the least level of lines that go there.
fn place(text: &str) -> Result<(Place, Option<Level>), K6Error> {
    match text {
        "stderr" => Ok((Place::Stderr, None)),
        "stdout" => Ok((Place::Stdout, None)),
        "none" => Ok((Place::Nowhere, None)),
        text if text == "loki" || text.starts_with("loki=") => Err(K6Error::other(
            "log output 'loki' is not there: brunt sends no logs over the network".to_owned(),
        )),
        text => {
            let Some(rest) = text.strip_prefix("file=") else {
                return Err(K6Error::other(format!("unsupported log output '{text}'")));
            };
            let (path, options) = rest.split_once(',').unwrap_or((rest, ""));
            let mut least = None;
            for option in options.split(',').filter(|option| !option.is_empty()) {
                least = Some(match option {
                    "level=debug" | "level=trace" => Level::Debug,
                    "level=info" => Level::Info,
                    "level=warn" | "level=warning" => Level::Warn,
                    "level=error" | "level=fatal" | "level=panic" => Level::Error,
                    other => {
                        return Err(K6Error::other(format!("unknown logfile config '{other}'")));
                    }
                });
            }
            Ok((Place::File(LogFile::open(path)?), least))
        }
    }
}

/// logrus's word for a level.
const fn word(level: Level) -> &'static str {
    match level {
        Level::Debug => "debug",
        Level::Info => "info",
        Level::Warn => "warning",
        Level::Error => "error",
    }
}

const fn rank(level: Level) -> u8 {
    match level {
        Level::Debug => 0,
        Level::Info => 1,
        Level::Warn => 2,
        Level::Error => 3,
    }
}

const fn color(level: Level) -> &'static str {
    match level {
        Level::Debug => "\x1b[37m",
        Level::Info => "\x1b[36m",
        Level::Warn => "\x1b[33m",
        Level::Error => "\x1b[31m",
    }
}

/// A value as logrus writes it: quoted where it has anything but letters, digits and a few signs.
fn valued(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-._/@^+".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) { text.to_owned() } else { quoted(text) }
}

/// A text as Go quotes it.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            letter if letter.is_control() => {
                quoted.push_str(&format!("\\x{:02x}", u32::from(letter)));
            }
            // As Go quotes what is not printable.
            letter if stdx::steers(letter) => {
                quoted.push_str(&format!("\\u{:04x}", u32::from(letter)));
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_as_go_does() {
        assert_eq!(quoted("a \"b\"\n\\\tü\u{1}"), "\"a \\\"b\\\"\\n\\\\\\tü\\x01\"");
        assert_eq!(
            (valued("one/two"), valued("one two")),
            ("one/two".into(), "\"one two\"".into())
        );
    }

    fn logger(form: Form, on_terminal: bool) -> Logger {
        Logger {
            began: Instant::now(),
            form,
            place: Place::Nowhere,
            console: None,
            least: Level::Info,
            on_terminal,
            colored: false,
            secrets: Mutex::default(),
            repeated: RepeatedWarnings::default(),
            has_console_lines: AtomicBool::new(false),
        }
    }

    #[test]
    fn lines_of_the_console_are_noted() {
        let logger = logger(Form::Text, false);
        logger.log(Level::Info, "x", &[]);
        assert!(!logger.has_console_lines());
        logger.log(Level::Info, "x", &[("source", "console")]);
        assert!(logger.has_console_lines());
    }

    #[test]
    fn nothing_steers_the_terminal() {
        let line = || "\x1b]0;owned\x07\x1b[2J two\nlines".to_owned();
        for form in [Form::Terminal, Form::Raw] {
            let shown = logger(form, true).shown(line());
            assert_eq!(shown, "\u{fffd}]0;owned\u{fffd}\u{fffd}[2J two\nlines");
        }
        assert_eq!(logger(Form::Raw, false).shown(line()), line(), "a file gets every byte");
    }

    #[test]
    fn lines_have_their_form_and_hide_secrets() {
        let logger = logger(Form::Text, false);
        let fields = [("source", "console")];
        let line = logger.line(Form::Text, Level::Info, "a b", &fields);
        assert!(line.ends_with("level=info msg=\"a b\" source=console"), "{line}");
        let line = logger.line(Form::Text, Level::Info, "", &fields);
        assert!(line.ends_with("level=info source=console"), "{line}");
        assert_eq!(logger.line(Form::Raw, Level::Info, "a b\n", &fields), "a b");
        let json = logger.line(Form::Json, Level::Warn, "a", &fields);
        assert!(
            json.contains("\"level\":\"warning\",\"msg\":\"a\",\"source\":\"console\""),
            "{json}"
        );
        logger.hide(["topsecret".to_owned()]);
        assert_eq!(logger.redacted("is topsecret!"), "is ***SECRET_REDACTED***!");
    }

    /// A full disk lost the log without a word.
    #[test]
    fn issue_19_a_log_that_cannot_be_written_says_so() {
        for (log, console, is_cut) in [
            (Place::Nowhere, None, false),
            (Place::File(LogFile::open("/dev/null").unwrap()), None, false),
            (Place::File(LogFile::open("/dev/full").unwrap()), None, true),
            (Place::Nowhere, Some(LogFile::open("/dev/full").unwrap()), true),
        ] {
            let logger = Logger { place: log, console, ..logger(Form::Text, false) };
            assert!(!logger.is_cut(), "nothing has been written");
            for _ in 0..2 {
                logger.log(Level::Info, "line", &[("source", "console")]);
            }
            assert_eq!(logger.is_cut(), is_cut);
        }
    }

    #[test]
    fn places_that_are_none_are_refused() {
        for text in ["nope", "loki=http://x", "file=/nowhere/at/all", "file=/tmp/x,size=1"] {
            assert!(place(text).is_err(), "{text}");
        }
        assert!(matches!(place("none"), Ok((Place::Nowhere, None))));
    }
}

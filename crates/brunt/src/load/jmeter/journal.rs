//! `Journal`: JMeter's log, `jmeter.log`.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use anyhow::Context as _;
use cli::eprint_line;
use jmeter::LogLevel;
use jmx::Writing;

use super::{disk, moments};

/// JMeter's log. What cannot be written to it is left out: a full disk must not end a test.
pub(super) struct Journal {
    /// `None`: lines go to standard error, as all others there do.
    file: Option<Mutex<BufWriter<File>>>,
    least: LogLevel,
}

impl Journal {
    /// Opens the log; `levels` are the values of `-L`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn open(name: Option<&str>, levels: &[String]) -> anyhow::Result<Self> {
        let name = name.unwrap_or("jmeter.log");
        let file = disk::open(Path::new(name), Writing::Replace);
        let file = file.with_context(|| format!("flag -j: opening {name}"))?;
        let root = levels.iter().rev().find(|level| !level.contains('=')).map(String::as_str);
        let least = match root {
            Some("DEBUG" | "TRACE" | "ALL") => LogLevel::Debug,
            Some("WARN") => LogLevel::Warn,
            Some("ERROR" | "FATAL" | "OFF") => LogLevel::Error,
            _ => LogLevel::Info,
        };
        Ok(Self { file: Some(Mutex::new(BufWriter::new(file))), least })
    }

    /// A log on standard error, from this level on.
    pub(super) fn on_stderr(least: LogLevel) -> Self {
        Self { file: None, least }
    }

    /// Writes a line.
    pub(super) fn write(&self, level: LogLevel, from: &str, text: &str) {
        if level < self.least {
            return;
        }
        let word = match level {
            LogLevel::Debug => "DEBUG",
            LogLevel::Info => "INFO",
            LogLevel::Warn => "WARN",
            LogLevel::Error => "ERROR",
        };
        let moment = moments::by_pattern("yyyy-MM-dd HH:mm:ss,SSS", moments::now_ms());
        let Some(file) = &self.file else {
            // Texts in it are the plan's and servers', and must not steer a terminal.
            return eprint_line(&format!("{moment} {word} {from}: {}", stdx::terminal_lines(text)));
        };
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        writeln!(file, "{moment} {word} {from}: {text}").ok();
        if level >= LogLevel::Warn {
            file.flush().ok();
        }
    }

    /// Writes what is still in memory.
    pub(super) fn flush(&self) {
        let files =
            self.file.iter().map(|file| file.lock().unwrap_or_else(PoisonError::into_inner));
        files.for_each(|mut file| drop(file.flush()));
    }
}

//! `Journal`: JMeter's log, `jmeter.log`.

use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use anyhow::Context as _;
use jmeter::LogLevel;
use jmx::Writing;

use super::{disk, moments};

/// JMeter's log. What cannot be written to it is left out: a full disk must not end a test.
pub(super) struct Journal {
    file: Mutex<Box<dyn Write + Send>>,
    least: LogLevel,
    /// How a line is shown: names in it are the plan's, and must not steer a terminal.
    shown: fn(&str) -> String,
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
        Ok(Self { file: Mutex::new(Box::new(BufWriter::new(file))), least, shown: str::to_owned })
    }

    /// A log on standard error, from this level on.
    pub(super) fn on_stderr(least: LogLevel) -> Self {
        Self { file: Mutex::new(Box::new(std::io::stderr())), least, shown: stdx::terminal_lines }
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
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let text = (self.shown)(text);
        writeln!(file, "{moment} {word} {from}: {text}").ok();
        if level >= LogLevel::Warn {
            file.flush().ok();
        }
    }

    /// Writes what is still in memory.
    pub(super) fn flush(&self) {
        self.file.lock().unwrap_or_else(PoisonError::into_inner).flush().ok();
    }
}

//! `Host`: what a virtual user needs of the world.

use std::rc::Rc;

use stdx::Nanos;

use crate::host::execution::AbortReason;

/// The world of a VU.
pub trait Host {
    /// The time of the run.
    fn now(&self) -> Nanos;

    /// A line of the script's console.
    fn log(&self, level: Level, text: &str);

    /// When a sample of this moment was made. It need be no closer than the worker's last turn, unless an output wants it.
    fn sampled_at(&self) -> Nanos {
        self.now()
    }

    /// A text that will be wanted again, such as a check's name, kept once for all VUs of a worker, as it may be shown.
    fn intern(&self, text: &str) -> Rc<str> {
        stdx::shown_text(text).into()
    }

    /// A line of the log that is not the console's: what it says, and its fields in the order of their names.
    fn log_event(&self, level: Level, text: &str, fields: LogFields<'_>) {
        let fields = fields.iter().map(|(name, value)| format!(" {name}={value}"));
        self.log(level, &format!("{text}{}", fields.collect::<String>()));
    }

    /// What its requests have in common.
    fn http_rules(&self) -> HttpRules {
        HttpRules::default()
    }

    /// The time since 1970.
    fn unix_time(&self) -> Nanos {
        self.now()
    }

    /// Whether a VU is to end its iteration now, asked every few thousand steps of a script: an endless loop ends here.
    fn interrupts(&self) -> bool {
        false
    }

    /// How long the iteration that runs now may go on; [`Nanos::MAX`] for no limit.
    fn time_left(&self) -> Nanos {
        Nanos::MAX
    }

    /// The values of `exec.instance`; `None` where no test runs.
    fn instance(&self) -> Option<Instance> {
        None
    }

    /// When a scenario began, in milliseconds since 1970, and how much of it is done, 0 to 1.
    fn scenario(&self, _number: usize) -> (f64, f64) {
        (0.0, 0.0)
    }

    /// The options of the test, as JSON.
    fn options(&self) -> Option<Rc<str>> {
        None
    }

    /// The script wants the test to end.
    fn halt(&self, _halt: AbortReason) {}

    /// How many requests of a batch are under way at once, in all and to one host; 0 for no limit.
    fn batch_max(&self) -> (usize, usize) {
        (20, 6)
    }
}

/// What requests of a script have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HttpRules {
    /// Failures are thrown (`throw`).
    pub throws: bool,
    /// Jars outlive the iteration (`noCookiesReset`).
    pub keeps_cookies: bool,
}

/// The values of `exec.instance`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Instance {
    /// Iterations that were completed.
    pub completed: u64,
    /// Iterations that were ended before.
    pub interrupted: u64,
    /// VUs that are at work.
    pub active: u64,
    /// VUs there are.
    pub initialized: u64,
    /// How long the test has been running.
    pub duration: Nanos,
}

/// The fields of a line of the log, beside what it says: names and values.
pub type LogFields<'a> = &'a [(&'a str, &'a str)];

/// The levels of the console.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// `console.debug`.
    Debug,
    /// `console.log` and `console.info`.
    Info,
    /// `console.warn`.
    Warn,
    /// `console.error`.
    Error,
}

//! `Beginning`: the world of a script while its modules run for the first time, before the test. It bounds their time.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cli::ExitCode;
use script::{AbortReason, CompileError, Files, Host, Level, LogFields};
use stdx::Nanos;

use crate::console::Logger;
use crate::error::K6Error;

/// The world while the script is first run.
pub(super) struct Beginning {
    /// What the script is called.
    path: String,
    began: Instant,
    /// When the modules began to be read and run.
    compiled: Instant,
    /// How long their reading took: they may come from far.
    reading: Cell<Duration>,
    /// It has been said that it takes long.
    reads_late: Cell<bool>,
    logger: Arc<Logger>,
    /// The script wants no test.
    pub(super) halt: RefCell<Option<AbortReason>>,
    /// It has been said that the script takes long.
    is_late: Cell<bool>,
}

impl Beginning {
    pub(super) fn new(path: &str, began: Instant, logger: &Arc<Logger>) -> Self {
        let (path, logger) = (path.to_owned(), Arc::clone(logger));
        Self {
            path,
            began,
            compiled: Instant::now(),
            reading: Cell::default(),
            reads_late: Cell::default(),
            logger,
            halt: RefCell::default(),
            is_late: Cell::new(false),
        }
    }

    /// A module was read.
    fn note_reading(&self, took: Duration) {
        let reading = self.reading.get() + took;
        self.reading.set(reading);
        if reading > INIT_LONG && !self.reads_late.replace(true) {
            let text = format!(
                "{}: reading its modules has taken {} s; after {} s no more are read",
                self.path,
                reading.as_secs(),
                READING_MAX.as_secs()
            );
            self.logger.log_line(Level::Warn, &text);
        }
    }

    /// How long the modules have been running.
    fn ran(&self) -> Duration {
        self.compiled.elapsed().saturating_sub(self.reading.get())
    }

    /// Why the script cannot be run: of one that was ended for its time, that.
    pub(super) fn error_of(&self, error: CompileError) -> K6Error {
        if self.ran() <= INIT_MAX {
            return error.into();
        }
        let seconds = INIT_MAX.as_secs();
        let text = format!(
            "{}: its modules ran for more than {seconds} s before the test (a loop without end outside of the functions?): {error}",
            self.path
        );
        K6Error { code: ExitCode::Script, text }
    }
}

impl Host for Beginning {
    fn now(&self) -> Nanos {
        self.began.elapsed().into()
    }
    fn log(&self, level: Level, text: &str) {
        self.logger.log(level, text, &[("source", "console")]);
    }
    fn log_event(&self, level: Level, text: &str, fields: LogFields<'_>) {
        self.logger.log(level, text, fields);
    }
    fn halt(&self, halt: AbortReason) {
        self.halt.borrow_mut().get_or_insert(halt);
    }
    fn interrupts(&self) -> bool {
        let took = self.ran();
        if took > INIT_LONG && !self.is_late.replace(true) {
            let text = format!(
                "{}: its modules have been running for {} s; after {} s they are ended",
                self.path,
                took.as_secs(),
                INIT_MAX.as_secs()
            );
            self.logger.log_line(Level::Warn, &text);
        }
        took > INIT_MAX
    }
}

/// The modules of a script, whose reading is no time that they run.
pub(super) struct TimedFiles {
    pub(super) files: Rc<dyn Files>,
    pub(super) beginning: Rc<Beginning>,
}

impl Files for TimedFiles {
    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        if self.beginning.reading.get() > READING_MAX {
            let seconds = READING_MAX.as_secs();
            return Err(format!("the modules before it took more than {seconds} s to read"));
        }
        let start = Instant::now();
        let text = self.files.read(name);
        self.beginning.note_reading(start.elapsed());
        text
    }
}

/// How long a script's modules may run before the test: a minute, as k6's setup.
const INIT_MAX: Duration = Duration::from_secs(60);
/// How long all of them together may take to be read. One from another machine has a time limit of its own.
const READING_MAX: Duration = Duration::from_secs(300);
/// From when on it is said that they take long.
const INIT_LONG: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    mod regression {
        use script::Program;

        use super::super::*;
        use crate::flags::RunFlags;

        /// One module.
        struct Module(&'static str);

        impl Files for Module {
            fn read(&self, _name: &str) -> Result<Vec<u8>, String> {
                Ok(self.0.into())
            }
        }

        /// What becomes of a module that began so long ago, most of which it waited for another to be read.
        fn compiled(
            text: &'static str,
            ago: Duration,
            reading: Duration,
        ) -> (Result<Program, CompileError>, Rc<Beginning>) {
            let now = Instant::now();
            let logger = Arc::new(Logger::new(&RunFlags::default(), now).unwrap());
            let mut beginning = Beginning::new("loop.js", now, &logger);
            beginning.compiled = now.checked_sub(ago).unwrap();
            beginning.reading.set(reading);
            let beginning = Rc::new(beginning);
            let files: Rc<dyn Files> = Rc::new(Module(text));
            let files = Rc::new(TimedFiles { files, beginning: Rc::clone(&beginning) });
            let host = Rc::clone(&beginning);
            (Program::compile_with("/loop.js", Arc::default(), files, host, None), beginning)
        }

        /// A loop outside of the functions was silent for a minute, and its end named no script.
        #[test]
        fn issue_19_modules_without_end_are_named() {
            let endless = "for (;;) {} export default function () {}";
            let (program, beginning) = compiled(endless, INIT_MAX, Duration::ZERO);
            let error = beginning.error_of(program.map(drop).unwrap_err());
            assert_eq!(error.code, ExitCode::Script);
            assert!(
                error.text.starts_with("loop.js: its modules ran for more than 60 s"),
                "{error:?}"
            );
            assert!(beginning.is_late.get(), "it was said before");
        }

        /// A module that came slowly was called a loop.
        #[test]
        fn issue_19_the_time_of_reading_is_not_the_modules() {
            let text = "let n = 0; while (n < 1e5) n++; export default function () {}";
            let (program, beginning) = compiled(text, 2 * INIT_MAX, 2 * INIT_MAX);
            program.map(drop).expect("a script");
            assert!(beginning.reads_late.get() && !beginning.is_late.get());
            let (program, _) = compiled(text, READING_MAX, READING_MAX + INIT_LONG);
            let error = program.map(drop).unwrap_err().to_string();
            assert!(error.contains("took more than 300 s to read"), "{error}");
        }
    }
}

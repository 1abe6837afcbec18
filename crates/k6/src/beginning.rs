//! `Beginning`: the world of a script while its modules run for the first time, before the test. It bounds their time.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
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
    /// When a module began to run, and how long reading had taken by then; compiling comes before.
    modules_began: Cell<Option<(Instant, Duration)>>,
    /// How long their reading took: they may come from far.
    reading: Cell<Duration>,
    /// The modules were ended for their time.
    is_over: Cell<bool>,
    logger: Arc<Logger>,
    /// The script wants no test.
    pub(super) halt: RefCell<Option<AbortReason>>,
    /// A line said that the script takes long.
    is_late: Arc<AtomicBool>,
    /// Its end ends the watch.
    _watch: Sender<()>,
}

impl Beginning {
    pub(super) fn new(path: &str, began: Instant, logger: &Arc<Logger>) -> Self {
        let is_late = Arc::<AtomicBool>::default();
        let (is_said, name, log) = (Arc::clone(&is_late), path.to_owned(), Arc::clone(logger));
        let say = move || {
            if !is_said.load(Ordering::Relaxed) {
                let seconds = WATCH_AFTER.as_secs();
                let text = format!("{name}: not ready after {seconds} s: it is being compiled");
                log.log_line(Level::Warn, &text);
            }
        };
        Self {
            path: path.to_owned(),
            began,
            modules_began: Cell::default(),
            reading: Cell::default(),
            is_over: Cell::default(),
            logger: Arc::clone(logger),
            halt: RefCell::default(),
            is_late,
            _watch: watch(WATCH_AFTER, say),
        }
    }

    /// Says once that the script takes long, and why.
    fn warn_late(&self, why: impl FnOnce() -> String) {
        if !self.is_late.swap(true, Ordering::Relaxed) {
            self.logger.log_line(Level::Warn, &format!("{}: {}", self.path, why()));
        }
    }

    /// A file was read.
    fn note_reading(&self, took: Duration) {
        let reading = self.reading.get() + took;
        self.reading.set(reading);
        if reading > INIT_LONG {
            self.warn_late(|| {
                let (seconds, most) = (reading.as_secs(), READING_MAX.as_secs());
                format!("reading its files has taken {seconds} s; after {most} s no more are read")
            });
        }
    }

    /// How long the modules have been running.
    fn ran(&self) -> Duration {
        let reading = self.reading.get();
        let (began, before) = self.modules_began.get().unwrap_or_else(|| {
            let now = (Instant::now(), reading);
            self.modules_began.set(Some(now));
            now
        });
        began.elapsed().saturating_sub(reading - before)
    }

    /// Why the script cannot be run: of one that was ended for its time, that.
    pub(super) fn error_of(&self, error: CompileError) -> K6Error {
        if !self.is_over.get() {
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

/// Calls `say` after this time, on a thread of its own: compiling asks for nothing meanwhile. The watch ends with what it gives.
fn watch(after: Duration, say: impl FnOnce() + Send + 'static) -> Sender<()> {
    let (sender, end) = channel();
    // Where no thread is to be had, it is silent.
    let _ = std::thread::Builder::new().spawn(move || {
        if end.recv_timeout(after) == Err(RecvTimeoutError::Timeout) {
            say();
        }
    });
    sender
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
        if took > INIT_LONG {
            self.warn_late(|| {
                let (seconds, most) = (took.as_secs(), INIT_MAX.as_secs());
                format!(
                    "its modules have been running for {seconds} s; after {most} s they are ended"
                )
            });
        }
        self.is_over.set(took > INIT_MAX);
        self.is_over.get()
    }
}

/// The files of a script, whose reading is no time that its modules run.
pub(super) struct TimedFiles {
    pub(super) files: Rc<dyn Files>,
    pub(super) beginning: Rc<Beginning>,
}

impl Files for TimedFiles {
    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        if self.beginning.reading.get() > READING_MAX {
            let seconds = READING_MAX.as_secs();
            return Err(format!("the files before it took more than {seconds} s to read"));
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
/// From when on a line says that they take long.
const INIT_LONG: Duration = Duration::from_secs(10);
/// From when on a line says that a script is not ready, unless it was said why.
const WATCH_AFTER: Duration = Duration::from_secs(12);

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
            let beginning = Beginning::new("loop.js", now, &logger);
            beginning.modules_began.set(Some((now.checked_sub(ago).unwrap(), Duration::ZERO)));
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
            assert!(beginning.is_late.load(Ordering::Relaxed), "a line came before");
        }

        /// A script of 100,000 labels was compiled for 100 s without a word.
        #[test]
        fn issue_19_scripts_that_are_not_ready_are_named() {
            let (lines, log) = channel();
            let (quick, slow) = (lines.clone(), lines);
            drop(watch(INIT_MAX, move || quick.send("quick").unwrap()));
            let held = watch(Duration::ZERO, move || slow.send("slow").unwrap());
            assert_eq!(log.iter().collect::<Vec<_>>(), ["slow"]);
            drop(held);
        }

        /// Compiling is no time that modules run: an error of the syntax was a loop without end.
        #[test]
        fn issue_19_the_time_of_compiling_is_not_the_modules() {
            let now = Instant::now();
            let logger = Arc::new(Logger::new(&RunFlags::default(), now).unwrap());
            let beginning =
                Beginning::new("loop.js", now.checked_sub(2 * INIT_MAX).unwrap(), &logger);
            assert!(!beginning.interrupts() && beginning.ran() < INIT_LONG);
            let error = CompileError::Engine("a syntax error".to_owned());
            assert!(beginning.error_of(error).text.contains("a syntax error"));
        }

        /// A module that came slowly was called a loop.
        #[test]
        fn issue_19_the_time_of_reading_is_not_the_modules() {
            let text = "let n = 0; while (n < 1e5) n++; export default function () {}";
            let (program, beginning) = compiled(text, 2 * INIT_MAX, 2 * INIT_MAX);
            program.map(drop).expect("a script");
            assert!(beginning.is_late.load(Ordering::Relaxed) && !beginning.is_over.get());
            let (program, _) = compiled(text, READING_MAX, READING_MAX + INIT_LONG);
            let error = program.map(drop).unwrap_err().to_string();
            assert!(error.contains("took more than 300 s to read"), "{error}");
        }
    }
}

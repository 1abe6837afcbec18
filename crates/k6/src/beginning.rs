//! `Beginning`: the world of a script while its modules run for the first time, before the test. It bounds their time.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cli::ExitCode;
use script::{AbortReason, CompileError, Host, Level, LogFields};
use stdx::Nanos;

use crate::console::Logger;
use crate::error::K6Error;

/// The world while the script is first run.
pub(super) struct Beginning {
    /// What the script is called.
    path: String,
    began: Instant,
    logger: Arc<Logger>,
    /// The script wants no test.
    pub(super) halt: RefCell<Option<AbortReason>>,
    /// It has been said that the script takes long.
    is_late: Cell<bool>,
}

impl Beginning {
    pub(super) fn new(path: &str, began: Instant, logger: &Arc<Logger>) -> Self {
        let (path, logger) = (path.to_owned(), Arc::clone(logger));
        Self { path, began, logger, halt: RefCell::default(), is_late: Cell::new(false) }
    }

    /// Why the script cannot be run: of one that was ended for its time, that.
    pub(super) fn error_of(&self, error: CompileError) -> K6Error {
        if self.began.elapsed() <= INIT_MAX {
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
        let took = self.began.elapsed();
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

/// How long a script's modules may run before the test: a minute, as k6's setup.
const INIT_MAX: Duration = Duration::from_secs(60);
/// From when on it is said that they take long.
const INIT_LONG: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    mod regression {
        use std::rc::Rc;

        use script::{Files, Program};

        use super::super::*;
        use crate::flags::RunFlags;

        /// One module, which never ends.
        struct Endless;

        impl Files for Endless {
            fn read(&self, _name: &str) -> Result<Vec<u8>, String> {
                Ok(b"for (;;) {} export default function () {}".to_vec())
            }
        }

        /// A loop outside of the functions was silent for a minute, and its end named no script.
        #[test]
        fn issue_19_modules_without_end_are_named() {
            let now = Instant::now();
            let logger = Arc::new(Logger::new(&RunFlags::default(), now).unwrap());
            let late = now.checked_sub(INIT_MAX).unwrap();
            let (host, files) =
                (Rc::new(Beginning::new("loop.js", late, &logger)), Rc::new(Endless));
            let seen = Rc::clone(&host);
            let program = Program::compile_with("/loop.js", Arc::default(), files, host, None);
            let error = seen.error_of(program.map(drop).unwrap_err());
            assert_eq!(error.code, ExitCode::Script);
            assert!(
                error.text.starts_with("loop.js: its modules ran for more than 60 s"),
                "{error:?}"
            );
            assert!(seen.is_late.get(), "it was said before");
        }
    }
}

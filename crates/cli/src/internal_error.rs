//! The end of a process in which a thread panicked.

use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit_code::ExitCode;
use crate::stderr::eprint_line;

/// Whether a thread has panicked.
static PANICKED: AtomicBool = AtomicBool::new(false);

/// Runs the command. If any of its threads panics, the exit code is [`ExitCode::Internal`], and a message asks for a report.
pub fn or_internal(command: impl FnOnce() -> std::process::ExitCode) -> std::process::ExitCode {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        before(info);
        if !PANICKED.swap(true, Ordering::Relaxed) {
            eprint_line(
                "brunt: an internal error: this is a bug of brunt. Please report it with the lines above and the command line.",
            );
        }
    }));
    // Unwind safety: nothing of the command is used after a panic.
    let code = panic::catch_unwind(AssertUnwindSafe(command));
    match code {
        Ok(code) if !PANICKED.load(Ordering::Relaxed) => code,
        _ => ExitCode::Internal.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_anywhere_is_an_internal_error() {
        type Command = fn() -> std::process::ExitCode;
        let commands: [(Command, ExitCode); 3] = [
            (|| ExitCode::Results.into(), ExitCode::Results),
            (
                || {
                    std::thread::spawn::<_, ()>(|| panic!("in a thread")).join().ok();
                    ExitCode::Ok.into()
                },
                ExitCode::Internal,
            ),
            (|| panic!("in the command"), ExitCode::Internal),
        ];
        for (command, code) in commands {
            PANICKED.store(false, Ordering::Relaxed);
            let expect = format!("{:?}", std::process::ExitCode::from(code));
            assert_eq!(format!("{:?}", or_internal(command)), expect);
        }
    }
}

//! The end of a process in which a thread panicked.

use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit_code::ExitCode;
use crate::stderr::eprint_line;

/// Whether a thread has panicked.
static PANICKED: AtomicBool = AtomicBool::new(false);

/// How the standard library's panics begin in a thread that has no memory for the stack of its signal handlers.
const NO_SIGNAL_STACK: [&str; 2] =
    ["failed to allocate an alternative stack", "failed to set up alternative stack guard page"];

/// Runs the command. If any of its threads panics, the exit code is [`ExitCode::Internal`], and a message asks for a report.
pub fn or_internal(command: impl FnOnce() -> std::process::ExitCode) -> std::process::ExitCode {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if lacks_memory(info) {
            // The thread has not begun, and its end would abort the process.
            eprint_line("brunt: no memory is left for another thread");
            std::process::exit(ExitCode::Failure as i32);
        }
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

/// Whether a thread could not begin for want of memory, which is no bug.
fn lacks_memory(info: &PanicHookInfo<'_>) -> bool {
    let text = info.payload_as_str().unwrap_or_default();
    NO_SIGNAL_STACK.iter().any(|beginning| text.starts_with(beginning))
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

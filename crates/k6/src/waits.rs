//! When a test does nothing: it begins paused, or stays after its end.

use cli::{ExitCode, ExitError, INTERRUPT_CHECK_INTERVAL, Interrupts};
use script::Level;

use crate::config::TestConfig;
use crate::rest::Rest;

/// Waits until a client resumes a test that begins paused.
pub(super) fn wait_while_paused(meant: &TestConfig, rest: Option<&Rest>) -> Result<(), ExitError> {
    if !meant.options.paused {
        return Ok(());
    }
    let Some(rest) = rest else {
        let text = "the test is paused, and without --address nobody can resume it: it begins";
        meant.logger.log_line(Level::Warn, text);
        return Ok(());
    };
    let interrupts = Interrupts::watch_until(ExitCode::Interrupted)?;
    while rest.is_paused() && !rest.is_stopped() && interrupts.seen() == 0 {
        std::thread::sleep(INTERRUPT_CHECK_INTERVAL);
    }
    Ok(())
}

/// Stays until interrupted.
pub(super) fn linger(meant: &TestConfig) -> Result<(), ExitError> {
    let interrupts = Interrupts::watch_until(ExitCode::Interrupted)?;
    meant.logger.log_line(
        Level::Info,
        "The test is done, but --linger was enabled, so we are waiting for Ctrl+C to continue...",
    );
    while interrupts.seen() == 0 {
        std::thread::sleep(INTERRUPT_CHECK_INTERVAL);
    }
    Ok(())
}

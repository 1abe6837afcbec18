//! A foreign decoder over bytes of a stranger's: its panic is an error like any other.

use std::cell::Cell;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

/// Runs a decoder: an error or a panic of its is a reason, not the end of the program.
pub(super) fn guarded<T, E: Display>(decode: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    HUSH.call_once(hush);
    GUARDED.set(true);
    let decoded = catch_unwind(AssertUnwindSafe(decode));
    GUARDED.set(false);
    match decoded {
        Ok(decoded) => decoded.map_err(|error| error.to_string()),
        Err(_) => Err("the decoder gave up on it".to_owned()),
    }
}

thread_local! {
    /// A panic on this thread is caught and becomes an error.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

static HUSH: Once = Once::new();

/// A caught panic is not printed; every other one goes to the previous hook.
fn hush() {
    let before = take_hook();
    set_hook(Box::new(move |info| {
        if !GUARDED.get() {
            before(info);
        }
    }));
}

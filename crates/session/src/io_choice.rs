//! The value of `--io`.

use cli::{ValueError, value};
use engine::IoChoice;

/// The mechanism that waits for sockets.
///
/// # Errors
/// It is none of them.
pub fn io_choice(text: &str) -> Result<IoChoice, ValueError> {
    Ok(match value::word(text, &["auto", "mio", "uring"])?.as_str() {
        "mio" => IoChoice::Mio,
        "uring" => IoChoice::Uring,
        _ => IoChoice::Auto,
    })
}

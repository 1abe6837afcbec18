//! The full-screen view (`-tui`): an observer collects seconds, and draws them on the terminal behind standard error.
//!
//! ```text
//! Snapshot, once a second ─▶ FullScreen ─▶ State ─▶ view (widgets) ─▶ Ansi (only what changed) ─▶ terminal
//!                                ▲ keys: stop, sort, the whole run or the last second
//! ```
//!
//! The size is asked of the terminal before each drawing. Lines that are printed meanwhile come after the view.

mod ansi;
mod full_screen;
mod state;
#[cfg(test)]
mod tests;
mod view;

pub use full_screen::{FullScreen, open};

/// The help of the flag `-tui`.
pub const DOCS: &str = "Show the run on the whole terminal: rate, response times, targets, errors. q stops, ? has the keys.";

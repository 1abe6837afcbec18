//! The live page (`-web`): an observer collects periods, a small server shows them to browsers and takes their orders.
//!
//! ```text
//! Snapshot, once a second ─▶ LiveView ─▶ Frame, state ─▶ Viewers (one thread) ─▶ browsers
//!                               ▲                            first all of History, then each event
//!                               └── Order ◀── POST /stop, /mark, /load ◀── browsers
//! ```
//!
//! Everything needs the token that stands in the printed URL; what changes the run is a POST, whose Host and Origin the listener
//! judges. A run never waits for a browser.

mod board;
mod frame;
mod history;
mod live_view;
mod log;
mod order;
mod page;
mod server;
mod state;
mod table_view;
#[cfg(test)]
mod tests;
mod viewers;

use std::process::{Command, Stdio};

use cli::{Interrupts, ValueKind, eprint_line, reason};

use crate::warning::warn;

pub use live_view::{LiveView, MoreOnPage};
pub use page::LivePage;
pub use table_view::{TableState, TableView};

/// The value of the flag `-web`.
pub const VALUE: ValueKind = ValueKind::Optional { word: "ADDR:PORT", is_value: page::is_address };
/// The help of the flag `-web`.
pub const DOCS: &str =
    "Show the run in the browser; prints the URL. Without an address: on this machine.";

/// Starts the live page at the value of the flag, and prints its URL on standard error. Where the address is taken, the run goes on
/// without, and a warning says so.
#[must_use]
pub fn open(address: &str, interrupts: &Interrupts) -> Option<LivePage> {
    let address = if address.is_empty() { page::ADDRESS } else { address };
    match LivePage::start(address, &command_line(), interrupts) {
        Ok(page) => {
            eprint_line(&format!("live: {}", page.url()));
            // The line with the token is not for browsers.
            cli::record_lines();
            Some(page)
        }
        Err(error) => {
            let reason = reason(&error);
            warn(&format!(
                "-web: cannot listen on \"{address}\": {reason}; the run goes on without the live page"
            ));
            None
        }
    }
}

/// The program that opens a URL in the user's browser.
const BROWSE: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };

/// Opens the page in the user's browser. Where that cannot be done the run goes on, and a warning says so.
pub fn browse(page: &LivePage) {
    let command = Command::new(BROWSE)
        .arg(page.url())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    match command {
        // It may stay as long as the browser does, and is waited for elsewhere so that it leaves no zombie.
        Ok(mut child) => drop(std::thread::spawn(move || child.wait())),
        Err(error) => {
            warn(&format!("the live page cannot be opened with {BROWSE}: {}", reason(&error)));
        }
    }
}

/// The command line of this process without what it keeps secret.
fn command_line() -> String {
    let args: Vec<String> = std::env::args().skip(1).collect();
    format!("brunt {}", store::without_secrets(&args).join(" "))
}

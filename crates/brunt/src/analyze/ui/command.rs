//! `ui`: argv → a server of the store, until interrupted.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use cli::{
    CommandError, ExitCode, ExitError, INTERRUPT_CHECK_INTERVAL, Interrupts, Invocation,
    eprint_line, reason, usage_error,
};
use session::{BarePort, Listener, Token};
use store::{Store, folder_of};

use super::flags::{ADDRESS, UI};
use super::site::Site;

/// What the help says beside the flags.
pub(crate) const ABOUT: &str = "Serves the runs that were saved (-save, brunt help runs): a list with a search, the report of a run, runs compared
with the statistics of brunt compare and drawn over each other, and a figure over all runs of a name, with the points
where it changed its level. Labels and notes can be changed there. A page's address stays valid over restarts.

The URL that is printed has a token, without which nothing is shown; a browser keeps it. Only this machine can connect,
unless -listen says otherwise. Ctrl-C ends it.";

/// The file of the store that has the token.
const TOKEN: &str = ".token";

/// Serves.
///
/// # Errors
/// The address is taken, or the store cannot be read.
pub(crate) fn run(invocation: &Invocation) -> Result<ExitCode, CommandError> {
    let typed = invocation.parse(UI)?;
    if let Some(operand) = typed.operands.first() {
        return Err(usage_error(format!("unexpected operand \"{operand}\" (give -store=DIR)")));
    }
    let store = Store::at(folder_of(typed.flags.store.as_deref()));
    if !store.folder().is_dir() {
        let place = store.folder().display();
        let text = format!("{place}: there is no store (brunt attack -save=NAME makes one)");
        return Err(ExitError::new(ExitCode::Input, text).into());
    }
    let interrupts = Interrupts::watch()?;
    let address = typed.flags.listen.as_deref().unwrap_or(ADDRESS);
    let taken = |error: std::io::Error| {
        let text = format!("flag -listen: cannot listen on \"{address}\": {}", reason(&error));
        ExitError::new(ExitCode::Failure, text)
    };
    let listener = Listener::bind(address, BarePort::Loopback).map_err(taken)?;
    let at = listener.address().map_err(taken)?;
    let token = token(store.folder())?;
    eprint_line(&format!("ui: http://{at}/?token={}", token.text()));
    let site = Site::new(store, token, at.port());
    let answers = listener
        .serve("ui", super::site::BODY_MAX, move |request| site.answer(request))
        .map_err(taken)?;
    while interrupts.seen() == 0 {
        std::thread::sleep(INTERRUPT_CHECK_INTERVAL);
    }
    answers.finish();
    Ok(ExitCode::Ok)
}

/// The token of the store: pages that are open in a browser, and links to them, outlive this process.
fn token(store: &Path) -> Result<Token, ExitError> {
    let path = store.join(TOKEN);
    let failed = |error: std::io::Error| {
        let text = format!("writing to {}: {}", path.display(), reason(&error));
        ExitError::new(ExitCode::Failure, text)
    };
    if let Some(token) = fs::read_to_string(&path).ok().and_then(|text| Token::read(text.trim())) {
        return Ok(token);
    }
    let token = Token::new().map_err(failed)?;
    let mut options = fs::OpenOptions::new();
    let file = options.write(true).create(true).truncate(true).mode(0o600).open(&path);
    let written = file.and_then(|mut file| writeln!(file, "{}", token.text()));
    written.map_err(failed)?;
    Ok(token)
}

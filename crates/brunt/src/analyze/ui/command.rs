//! `ui`: argv → a server of the store, until interrupted.

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
where it changed its level. Labels and notes can be changed there.

The URL that is printed has a token, new each time, without which nothing is shown; a page's address is as good as the
process. Only this machine can connect, unless -listen says otherwise. Ctrl-C ends it.";

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
    // A new one for each process: whoever had one, or brought one with the store, has none now.
    let token = Token::new().map_err(taken)?;
    eprint_line(&format!("ui: http://{at}/?token={}", token.text()));
    let site = Site::new(store, token);
    let answers = listener
        .serve("ui", super::site::BODY_MAX, move |request| site.answer(request))
        .map_err(taken)?;
    while interrupts.seen() == 0 {
        std::thread::sleep(INTERRUPT_CHECK_INTERVAL);
    }
    answers.finish();
    Ok(ExitCode::Ok)
}

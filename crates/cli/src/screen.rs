//! The terminal as a whole screen: taken, drawn on by its owner, and given back however the process ends. Lines for standard error
//! wait meanwhile. Nothing is drawn here.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::sync::{Mutex, MutexGuard, PoisonError};

use nix::sys::termios::{
    LocalFlags, SetArg, SpecialCharacterIndices, Termios, tcgetattr, tcsetattr,
};

/// Lines that wait at most; of more, the newest stay.
const LINES_MAX: usize = 1000;
/// The alternate screen, without a cursor.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[2J";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";

/// A screen that is taken.
struct Taken {
    /// The terminal for keys, and how it was set up; `None` where the process has none.
    keys: Option<(File, Termios)>,
    lines: Vec<String>,
}

static TAKEN: Mutex<Option<Taken>> = Mutex::new(None);

fn taken() -> MutexGuard<'static, Option<Taken>> {
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes the screen behind standard error, and keys without echo. Ctrl-C stays a signal.
///
/// # Errors
/// Standard error cannot be written.
pub fn take() -> io::Result<()> {
    let mut taken = taken();
    if taken.is_none() {
        io::stderr().lock().write_all(ENTER.as_bytes())?;
        *taken = Some(Taken { keys: keys().ok(), lines: Vec::new() });
    }
    Ok(())
}

/// Single keys of the controlling terminal, without waiting.
fn keys() -> io::Result<(File, Termios)> {
    let terminal = OpenOptions::new().read(true).open("/dev/tty")?;
    let before = tcgetattr(&terminal)?;
    let mut single = before.clone();
    single.local_flags.remove(LocalFlags::ICANON | LocalFlags::ECHO);
    single.control_chars[SpecialCharacterIndices::VMIN as usize] = 0;
    single.control_chars[SpecialCharacterIndices::VTIME as usize] = 0;
    tcsetattr(&terminal, SetArg::TCSANOW, &single)?;
    Ok((terminal, before))
}

/// Keys that were pressed since the last call, as the bytes that the terminal sends; empty where the screen is not taken.
#[must_use]
pub fn pressed() -> Vec<u8> {
    let mut bytes = [0; 64];
    let read = match &mut *taken() {
        Some(Taken { keys: Some((terminal, _)), .. }) => terminal.read(&mut bytes).unwrap_or(0),
        _ => 0,
    };
    bytes[..read].to_vec()
}

/// Gives the screen back, if it is taken, and writes the lines that waited.
pub fn release() {
    let Some(Taken { keys, lines }) = taken().take() else { return };
    if let Some((terminal, before)) = keys {
        // A terminal that went away needs nothing any more.
        tcsetattr(&terminal, SetArg::TCSANOW, &before).ok();
    }
    let lines: String = lines.into_iter().map(|line| line + "\n").collect();
    io::stderr().lock().write_all((LEAVE.to_owned() + &lines).as_bytes()).ok();
}

/// Takes a line that must wait; gives it back where the screen is free.
pub(crate) fn hold(line: &str) -> Option<&str> {
    let mut taken = taken();
    let Some(taken) = &mut *taken else { return Some(line) };
    if taken.lines.len() >= LINES_MAX {
        taken.lines.remove(0);
    }
    taken.lines.push(line.to_owned());
    None
}

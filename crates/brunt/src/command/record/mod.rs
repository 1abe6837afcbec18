//! `record`: a proxy for a browser, and what passed through it as HAR or script. Crate `recorder` records; here are its terminal, its
//! files and the browser.

mod browser;
mod config;
mod end;
mod list_writer;
mod live;
mod marks;
mod trust;

use std::sync::Arc;

use anyhow::Context;
use cli::{ExitCode, ExitError, INTERRUPT_CHECK_INTERVAL, Interrupts, OrExit, Output, eprint_line};
use recorder::{Authority, Recorder, Recording, Settings};

use super::CommandError;
use crate::dialect::Invocation;
use crate::flags::record::RECORD;
use browser::Browser;
use config::Config;
use live::LiveList;

/// What the help says beside the flags.
pub(super) const ABOUT: &str = "A proxy for a browser, a phone or any other client: HTTP/1.1 and 2, and WebSockets with their messages. -browser starts
a Chromium that uses it and trusts it. Other clients are set to use it, and trust the authority that it makes at first use.
A line typed meanwhile (log-in) begins a group of that name; Ctrl-C ends the recording and writes it.
Only the host of the first page is recorded, or those of -host; what passes to others stays encrypted. A script is what
brunt import makes of the HAR with its secrets. docs/guide/from-a-browser.md shows the way.";

/// Records until interrupted, or until the browser is closed.
pub(super) fn run(invocation: &Invocation) -> Result<ExitCode, CommandError> {
    let typed = invocation.parse(RECORD)?;
    if typed.flags.authority {
        return show_authority(&Config::listen(&typed.flags)?.to_string());
    }
    let config = Config::of(&typed.flags, &typed.operands)?;
    let interrupts = Interrupts::watch_until(ExitCode::Failure)?;
    let authority = open_authority()?;
    for output in &config.outputs {
        end::try_out(&output.path)?;
    }
    let recording = Arc::new(Recording::new(config.scope.clone(), config.limits));
    let certificate = authority.path().display().to_string();
    let servers = config.servers.clone();
    let settings = Settings { listen: config.listen, authority, servers };
    let recorder = Recorder::start(settings, Arc::clone(&recording)).or_exit(ExitCode::Failure)?;
    let mut browser = None;
    if config.has_browser {
        let started = Browser::start(&recorder, config.url.as_deref())?;
        eprint_line(&format!("recording {} behind {}", started.name(), recorder.address()));
        browser = Some(started);
    } else {
        eprint_line(&trust::first_lines(recorder.address(), &certificate));
    }
    marks::read(&recording)?;
    let followed = follow(&config, &recording, &interrupts, browser.as_mut());
    // What there is is written, whatever happened to the list.
    let record = recording.finish();
    recorder.stop();
    drop(browser);
    let ended = end::write(&config, &record);
    end::first_of(followed, ended)?;
    Ok(ExitCode::Ok)
}

fn open_authority() -> Result<Authority, ExitError> {
    Authority::open(&recorder::folder()).context("the authority").or_exit(ExitCode::Failure)
}

fn show_authority(address: &str) -> Result<ExitCode, CommandError> {
    let authority = open_authority()?;
    let text = trust::lines(address, &authority.path().display().to_string());
    Output::Stdout.write(text.as_bytes())?;
    Ok(ExitCode::Ok)
}

/// Shows what passes until the user or the browser ends it.
fn follow(
    config: &Config,
    recording: &Recording,
    interrupts: &Interrupts,
    mut browser: Option<&mut Browser>,
) -> Result<(), ExitError> {
    let mut list = LiveList::start(config.list, config.secrets)?;
    while interrupts.seen() == 0 {
        list.show(recording)?;
        if browser.as_mut().is_some_and(|browser| browser.has_ended()) {
            break;
        }
        std::thread::sleep(INTERRUPT_CHECK_INTERVAL);
    }
    list.finish(recording)
}

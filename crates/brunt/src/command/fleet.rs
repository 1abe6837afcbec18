//! `fleet`: starts a fleet's message server, and lets machines in.

use std::io::Write;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use cli::{
    ExitCode, ExitError, INTERRUPT_CHECK_INTERVAL, Interrupts, Invocation, eprint_line,
    is_closed_pipe, nearest, reason,
};
use control::{FleetServer, FleetServerOptions};

use super::{CommandError, usage_error};
use crate::flags::fleet::{FLEET, FleetUpFlags};

/// What the help says beside the flags.
pub(super) const ABOUT: &str = "up starts a nats-server (Debian: apt-get install nats-server) with keys and a certificate of its own, prints the line
that lets a machine join, and stays until Ctrl-C. While it runs, `brunt attack` and `brunt bench` send their load from its agents
with -fleet=DIR -agents=N. Nothing listens beyond this machine unless -listen says so; without a key nothing joins.
docs/guide/many-machines.md shows it step by step.";

/// A server that ends sooner after its start will not do better the next time.
const LASTS: Duration = Duration::from_secs(2);

/// Runs what the operand names.
pub(super) fn run(invocation: &Invocation) -> Result<ExitCode, CommandError> {
    let args = invocation.parse(FLEET)?;
    let operands: Vec<&str> = args.operands.iter().map(String::as_str).collect();
    match operands[..] {
        ["up"] => up(&args.flags),
        ["up", extra, ..] => Err(usage_error(format!("unexpected \"{extra}\""))),
        [] => Err(usage_error("an operand is missing (expected brunt fleet up -dir DIR)")),
        [word, ..] => {
            let near = nearest(word, ["up"].into_iter());
            let hint = near.map_or(String::new(), |near| format!(" (did you mean {near}?)"));
            Err(usage_error(format!("unknown operand \"{word}\" (expected up){hint}")))
        }
    }
}

/// Starts the server and stays until interrupted.
fn up(flags: &FleetUpFlags) -> Result<ExitCode, CommandError> {
    let Some(dir) = &flags.dir else {
        return Err(usage_error("-dir is missing: a folder for the fleet's keys and journals"));
    };
    let interrupts = Interrupts::watch()?;
    let options = FleetServerOptions {
        dir: dir.into(),
        listen: flags.listen,
        advertise: flags.advertise.clone(),
    };
    let notice = |text: String| eprint_line(&format!("fleet: {text}"));
    let server = FleetServer::start(&options, notice).map_err(failed)?;
    print_line(&format!(
        "the fleet listens on {}; on each machine that is to send load:\nbrunt agent -join {}",
        server.listen(),
        server.token()
    ))?;
    let mut started = Instant::now();
    while interrupts.seen() == 0 {
        std::thread::sleep(INTERRUPT_CHECK_INTERVAL);
        let Some(cause) = server.ended() else { continue };
        if started.elapsed() < LASTS {
            return Err(ExitError::from(anyhow!("nats-server ended: {cause}")).into());
        }
        eprint_line(&format!("fleet: nats-server ended ({cause}); starting it again"));
        server.restart().map_err(failed)?;
        started = Instant::now();
    }
    server.stop();
    Ok(ExitCode::Ok)
}

/// Prints it at once, so that a script that started us can read it.
fn print_line(text: &str) -> Result<(), ExitError> {
    let mut stdout = std::io::stdout();
    let written = writeln!(stdout, "{text}").and_then(|()| stdout.flush());
    match written {
        Err(error) if !is_closed_pipe(&error) => {
            Err(anyhow!("standard output: {}", reason(&error)).into())
        }
        _ => Ok(()),
    }
}

/// The failure of the control plane.
pub(super) fn failed(error: control::ControlError) -> ExitError {
    anyhow::Error::new(error).into()
}

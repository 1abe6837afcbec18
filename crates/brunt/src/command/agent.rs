//! `agent`: a machine that sends load for a fleet.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use cli::{
    ExitCode, ExitError, INTERRUPT_CHECK_INTERVAL, Interrupts, Invocation, ParsedArgs, eprint_line,
    input, reason,
};
use control::{
    AgentAccess, AgentHost, AgentNotice, AgentOptions, AgentToken, JoinToken, NatsAccess,
    NatsTransport, TokenError, TransportError,
};
use fleet::{Hello, Name};

use super::control_failure::failed;
use super::{CommandError, usage_error};
use crate::flags::fleet::{AGENT, AgentFlags};

/// What the help says beside the flags.
pub(super) const ABOUT: &str =
    "Joins a fleet, waits for runs of `brunt attack -fleet=…` and sends its part of each. The token is needed once; the
machine's own key never leaves it. -cpus limits its cores, and so its part. Ctrl-C ends it; a run under way ends with it.";

/// The variable that has the token where no flag does.
const JOIN: &str = "BRUNT_JOIN";

/// The time between two tries to reach a server that is being started.
const SERVER_INTERVAL: Duration = Duration::from_millis(500);

/// The agent that a command line asks for.
struct AgentConfig {
    door: Door,
    name: Name,
    labels: Vec<String>,
    cores: usize,
}

/// Where it signs in.
enum Door {
    /// At a fleet's own server, which is asked to let it in; its key is stored there.
    Join(Box<JoinToken>, AgentAccess),
    /// At a server that is there already.
    Server(Box<NatsAccess>),
    /// At a server that is started at the same time, somewhere else.
    Issued(Box<NatsAccess>),
}

/// Serves runs until interrupted.
pub(super) fn run(invocation: &Invocation) -> Result<ExitCode, CommandError> {
    let config = resolve(&invocation.parse(AGENT)?)?;
    let interrupts = Interrupts::watch()?;
    let AgentConfig { door, name, labels, cores } = config;
    let access = match door {
        Door::Join(token, stored) => control::join(&token, &name, &stored).map_err(failed)?,
        Door::Server(access) => *access,
        Door::Issued(access) => {
            await_server(&access, &interrupts)?;
            *access
        }
    };
    let transport = connect(&access)?;
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let hello = Hello { version, cores: u32::try_from(cores).unwrap_or(u32::MAX), labels };
    let options = AgentOptions { name: name.clone(), hello };
    let (handle, host) =
        AgentHost::start(Arc::new(transport), options, |notice| report(&words(&notice)))
            .map_err(failed)?;
    eprint_line(&format!("agent: {name} waits for runs ({})", stdx::counted(cores as u64, "core")));
    std::thread::spawn(move || {
        while interrupts.seen() == 0 {
            std::thread::sleep(INTERRUPT_CHECK_INTERVAL);
        }
        host.stop();
    });
    remote::serve(&handle, cores, &k6::run_part);
    Ok(ExitCode::Ok)
}

fn report(text: &str) {
    eprint_line(&format!("agent: {text}"));
}

fn connect(access: &NatsAccess) -> Result<NatsTransport, ExitError> {
    NatsTransport::connect(access, |text| report(&text))
        .map_err(|error| anyhow::Error::new(error).into())
}

/// Waits until the server accepts connections; a cluster starts it and the agents in any order.
fn await_server(access: &NatsAccess, interrupts: &Interrupts) -> Result<(), ExitError> {
    let mut last = String::new();
    loop {
        let error = match NatsTransport::connect(access, |_| {}) {
            Err(error @ TransportError::Server { .. }) if interrupts.seen() == 0 => error,
            outcome => return outcome.map(drop).map_err(|error| anyhow::Error::new(error).into()),
        };
        let cause = error.to_string();
        if cause != last {
            report(&format!("waits for the fleet's server: {cause}"));
            last = cause;
        }
        std::thread::sleep(SERVER_INTERVAL);
    }
}

fn resolve(args: &ParsedArgs<AgentFlags>) -> Result<AgentConfig, CommandError> {
    let flags = &args.flags;
    if let Some(extra) = args.operands.first() {
        return Err(usage_error(format!("unexpected \"{extra}\" (the token comes after -join)")));
    }
    let (name, door) = door(flags)?;
    let all = || available_parallelism().map_or(1, usize::from);
    let given = args.global.cpus.map(|cpus| usize::try_from(cpus).unwrap_or(usize::MAX));
    Ok(AgentConfig {
        door,
        labels: flags.labels.clone(),
        cores: given.unwrap_or_else(all).min(all()),
        name,
    })
}

/// The agent's name, and where it signs in by it.
fn door(flags: &AgentFlags) -> Result<(Name, Door), CommandError> {
    let variable = || std::env::var(JOIN).ok().filter(|token| !token.is_empty());
    let join = match (flags.server.access()?, &flags.join) {
        (Some(_), Some(_)) => {
            return Err(usage_error(
                "-join and -nats: a fleet has a server of its own, or another",
            ));
        }
        (Some(access), None) => return Ok((given_name(flags)?, Door::Server(Box::new(access)))),
        (None, Some(join)) => token_text(join)?,
        (None, None) => variable().ok_or_else(|| {
            usage_error(
                "-join is missing: a file with the token of `brunt fleet up` (or BRUNT_JOIN)",
            )
        })?,
    };
    if AgentToken::is_token(&join) {
        return issued(flags, &join);
    }
    let name = given_name(flags)?;
    let dir = flags.dir.as_ref().map_or_else(state_dir, |dir| Ok(PathBuf::from(dir)))?;
    let door = Door::Join(Box::new(token(&join)?), AgentAccess::of(&dir, &name));
    Ok((name, door))
}

/// An agent that was let in before it was started: its key has its name.
fn issued(flags: &AgentFlags, text: &str) -> Result<(Name, Door), CommandError> {
    let AgentToken { name, access } = AgentToken::read(text).map_err(bad_token)?;
    if flags.name.as_ref().is_some_and(|given| given != name.as_str()) {
        return Err(usage_error(format!("flag -name: the key of -join is that of {name}")));
    }
    Ok((name, Door::Issued(Box::new(access))))
}

fn given_name(flags: &AgentFlags) -> Result<Name, CommandError> {
    let Some(text) = &flags.name else { return own_name() };
    Name::new(text).map_err(|error| usage_error(format!("flag -name: {error}")))
}

/// The token, given as it is or as a file.
fn token_text(text: &str) -> Result<String, CommandError> {
    if JoinToken::is_token(text) {
        report(
            "the token stands in this process's arguments, where every user of the machine can read it; give -join FILE, -join - or BRUNT_JOIN",
        );
        return Ok(text.to_owned());
    }
    let bytes = input::read_whole(text)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn token(text: &str) -> Result<JoinToken, CommandError> {
    JoinToken::read(text).map_err(bad_token)
}

fn bad_token(error: TokenError) -> CommandError {
    usage_error(format!("flag -join: {error}"))
}

/// The machine's name, as far as a fleet's names may have its characters.
fn own_name() -> Result<Name, CommandError> {
    let missing = |why: &str| usage_error(format!("the machine has no name ({why}): give -name"));
    let text = std::fs::read_to_string("/proc/sys/kernel/hostname")
        .map_err(|error| missing(&reason(&error)))?;
    let as_allowed = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let text: String = text.trim().chars().map(as_allowed).collect();
    Name::new(&text).map_err(|error| missing(&error.to_string()))
}

/// The user's folder for state, as the XDG Base Directory Specification has it.
fn state_dir() -> Result<PathBuf, CommandError> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let state = variable("XDG_STATE_HOME").map(PathBuf::from);
    let home = || variable("HOME").map(|home| Path::new(&home).join(".local/state"));
    let dir = state.or_else(home).map(|dir| dir.join("brunt"));
    dir.ok_or_else(|| usage_error("there is no HOME: give -dir, a folder for this agent's key"))
}

fn words(notice: &AgentNotice) -> String {
    match notice {
        AgentNotice::Joined(run) => format!("takes part in run {run}"),
        AgentNotice::Refused(run, cause) => format!("cannot take part in run {run}: {cause}"),
        AgentNotice::Left(run, None) => format!("run {run} is over"),
        AgentNotice::Left(run, Some(cause)) => format!("left run {run}: {cause}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_given_or_read() {
        let error = token("brunt1-zzz").unwrap_err().message();
        assert!(error.contains("damaged or cut off"), "{error}");
        let error = token_text("/nonexistent").unwrap_err().message();
        assert!(error.contains("/nonexistent"), "{error}");
    }

    #[test]
    fn a_machine_has_a_name() {
        assert!(!own_name().unwrap().as_str().is_empty());
    }
}

//! `fleet`: starts a fleet's message server and lets machines in or puts them out, goes on with a run, or has agents run in a cluster.

mod k8s;
mod output;
mod token;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use cli::{
    ExitCode, ExitError, INTERRUPT_CHECK_INTERVAL, Interrupts, Invocation, eprint_line, nearest,
};
use control::{FleetServer, FleetServerOptions, NatsAccess};

use super::control_failure::failed;
use super::{CommandError, usage_error};
use crate::flags::fleet::{FLEET, FleetUpFlags};
use crate::load;

use output::print_line;

/// What the help says beside the flags.
pub(super) const ABOUT: &str = "up starts a nats-server (Debian: apt-get install nats-server) with keys and a certificate of its own, prints the line
that lets a machine join, and stays until Ctrl-C; with -nats it uses a server that is there already, whose operator says
who may do what, and ends. While it runs, `brunt attack`, `bench`, `seek` and `run` send their load from its
agents with -fleet=DIR -agents=N. Nothing listens beyond this machine unless -listen says so; without a key nothing joins.
docs/guide/many-machines.md shows it step by step.

resume [RUN] goes on with a run of attack or bench whose command has died, the newest unless one is named: its agents have kept the
load up, and all that they measured is in the results.

rm AGENT puts a machine out of the fleet: its key is of no use any more, and its name is free. token prints what machines join by, and
how long and for how many it is good yet; token -new makes another, by which those that have the old one do not come in.

k8s prints manifests for Kubernetes: an Indexed Job of agents, a nats-server, network policies, and the keys of both. Rights in
one namespace are enough. With -apply it hands them to kubectl, says why pods do not start, runs the command after -- on the
fleet and cleans up; without a command it stays until Ctrl-C. docs/guide/kubernetes.md shows both.";

/// A server that ends sooner after its start will not do better the next time.
const LASTS: Duration = Duration::from_secs(2);

/// What the first operand may be.
const WORDS: [&str; 5] = ["up", "resume", "rm", "token", "k8s"];

/// Runs what the operand names.
pub(super) fn run(invocation: &Invocation) -> Result<ExitCode, CommandError> {
    let args = invocation.parse(FLEET)?;
    let operands: Vec<&str> = args.operands.iter().map(String::as_str).collect();
    let word = operands.first().filter(|word| WORDS.contains(word));
    if let Some((word, flag)) = word.and_then(|word| Some((word, args.flags.stray(word)?))) {
        return Err(usage_error(format!("flag -{flag}: stands for nothing in fleet {word}")));
    }
    match operands[..] {
        ["up"] => up(&args.flags),
        ["resume"] => resume(&args.flags, None),
        ["resume", run] => resume(&args.flags, Some(run)),
        ["rm", agent] => token::remove(dir(&args.flags)?, agent),
        ["rm"] => Err(usage_error("an operand is missing (expected brunt fleet rm AGENT)")),
        ["token"] => token::run(dir(&args.flags)?, &args.flags),
        ["k8s", ..] => k8s::run(&args.flags, dir(&args.flags)?, &args.operands[1..]),
        ["up" | "token", extra, ..] | ["resume" | "rm", _, extra, ..] => {
            Err(usage_error(format!("unexpected \"{extra}\"")))
        }
        [] => Err(usage_error(
            "an operand is missing (expected brunt fleet up, resume, rm, token or k8s, with -dir DIR)",
        )),
        [word, ..] => {
            let near = nearest(word, WORDS.into_iter());
            let hint = near.map_or(String::new(), |near| format!(" (did you mean {near}?)"));
            Err(usage_error(format!(
                "unknown operand \"{word}\" (expected up, resume, rm, token or k8s){hint}"
            )))
        }
    }
}

/// The fleet's folder.
fn dir(flags: &FleetUpFlags) -> Result<&Path, CommandError> {
    let missing = || usage_error("-dir is missing: the folder for the fleet's keys and journals");
    flags.dir.as_deref().map(Path::new).ok_or_else(missing)
}

/// Goes on with a run whose command has died.
fn resume(flags: &FleetUpFlags, run: Option<&str>) -> Result<ExitCode, CommandError> {
    load::resume::run(dir(flags)?, run, (&flags.results, &flags.display))
}

/// Starts the server and stays until interrupted.
fn up(flags: &FleetUpFlags) -> Result<ExitCode, CommandError> {
    let dir = dir(flags)?;
    if let Some(access) = flags.server.access()? {
        return adopt(flags, dir, &access);
    }
    let interrupts = Interrupts::watch()?;
    let options = FleetServerOptions {
        dir: dir.into(),
        listen: flags.listen,
        advertise: flags.advertise.clone(),
        token: flags.token,
    };
    let notice = |text: String| eprint_line(&format!("fleet: {text}"));
    let server = FleetServer::start(&options, notice).map_err(failed)?;
    print_line(&format!(
        "the fleet listens on {}; on each machine that is to send load:\nBRUNT_JOIN={} brunt agent",
        server.listen(),
        server.token()
    ))
    .map_err(ExitError::from)?;
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

/// Makes the folder the fleet's of a NATS server that is there already.
fn adopt(flags: &FleetUpFlags, dir: &Path, access: &NatsAccess) -> Result<ExitCode, CommandError> {
    if let Some(stray) = flags.stray_of_server() {
        return Err(usage_error(format!("flag -{stray}: the server of -nats is there already")));
    }
    access.adopt(dir).map_err(failed)?;
    let url = stdx::shown_url(flags.server.url.as_deref().unwrap_or_default());
    let credentials = if flags.server.credentials.is_some() { " -creds FILE" } else { "" };
    print_line(&format!(
        "the fleet uses {url}; on each machine that is to send load:\nbrunt agent -nats {url}{credentials} -name NAME"
    ))
    .map_err(ExitError::from)?;
    Ok(ExitCode::Ok)
}

//! `fleet k8s`: agents in a Kubernetes cluster. It makes their keys, prints the manifests, or starts them and runs a command on them.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use cli::{ExitCode, ExitError, INTERRUPT_CHECK_INTERVAL, Interrupts, eprint_line, reason};
use control::{AgentToken, ControlError, IssueOptions, NatsAccess, NatsTransport, TransportError};
use fleet::Name;
use kubernetes::{
    CONFIG_DIR, Cluster, ClusterError, ClusterNotice, Kubectl, ManifestOptions, Manifests, PORT,
    PortForward, STORE_DIR, Secrets, ServerSecrets, agent_name, server_hosts,
};
use stdx::counted;

use crate::command::control_failure::failed;
use crate::command::{CommandError, usage_error};
use crate::flags::fleet::FleetUpFlags;

use super::output::print_line;

/// How long the message server of pods that run may take to answer through the forwarded port.
const REACHED_WITHIN: Duration = Duration::from_secs(30);

/// Prints the manifests, writes a chart, or starts the fleet; `command` is what is run on it then.
pub(super) fn run(
    flags: &FleetUpFlags,
    dir: &Path,
    command: &[String],
) -> Result<ExitCode, CommandError> {
    let cluster = &flags.cluster;
    if cluster.apply && cluster.chart.is_some() {
        return Err(usage_error("-apply and -chart: a chart is for Helm to apply"));
    }
    if !cluster.apply && (cluster.keep || !command.is_empty()) {
        let what = command.first().map_or("flag -keep", |word| word);
        return Err(usage_error(format!("{what}: stands for nothing without -apply")));
    }
    let options = options(flags)?;
    let near_port = match cluster.port {
        Some(port) => port,
        None if cluster.apply => free_port()?,
        None => PORT,
    };
    let secrets = secrets(flags, dir, &options, near_port)?;
    let manifests = Manifests::new(&options, &secrets).map_err(|error| usage(&error))?;
    if let Some(folder) = &cluster.chart {
        manifests
            .write_chart(Path::new(folder))
            .map_err(anyhow::Error::new)
            .map_err(ExitError::from)?;
        return Ok(ExitCode::Ok);
    }
    if !cluster.apply {
        print_line(manifests.yaml().trim_end()).map_err(ExitError::from)?;
        return Ok(ExitCode::Ok);
    }
    let applied = Applied { flags, dir, options: &options, near_port };
    Ok(applied.run(&manifests.yaml(), command)?)
}

fn usage(error: &dyn std::fmt::Display) -> CommandError {
    usage_error(error.to_string())
}

fn options(flags: &FleetUpFlags) -> Result<ManifestOptions, CommandError> {
    let cluster = &flags.cluster;
    let missing = |what: &str| usage_error(what.to_owned());
    let image = cluster.image.clone().ok_or_else(|| {
        missing("-image is missing: brunt's image in a registry that the cluster reaches (cargo xtask dist makes one)")
    })?;
    let agents = cluster.agents.ok_or_else(|| missing("-agents is missing: how many of them"))?;
    let options = ManifestOptions {
        name: cluster.name.clone(),
        namespace: cluster.namespace.clone(),
        image,
        agents: usize::try_from(agents).unwrap_or(usize::MAX),
        cpu: u32::try_from(cluster.cores).unwrap_or(u32::MAX),
        memory: cluster.memory.clone(),
        labels: cluster.labels.clone(),
        deadline: cluster.deadline.0.div_ceil(1_000_000_000).max(1),
        node_selector: cluster.node_labels.clone(),
        pull_secret: cluster.pull_secret.clone(),
        nats_image: flags.server.url.is_none().then(|| cluster.nats_image.clone()),
        nats_memory: cluster.nats_memory.clone(),
        nats_cpu: cluster.nats_cpu.clone(),
        tolerations: cluster.tolerations.clone(),
        annotations: cluster.annotations.clone(),
        user: cluster.user,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    options.check().map_err(|error| usage(&error))?;
    Ok(options)
}

/// The keys of the fleet in its folder.
fn secrets(
    flags: &FleetUpFlags,
    dir: &Path,
    options: &ManifestOptions,
    near_port: u16,
) -> Result<Secrets, CommandError> {
    let names: Result<Vec<Name>, _> =
        (0..options.agents).map(|index| Name::new(&agent_name(&options.name, index))).collect();
    let names = names.map_err(|error| usage(&error))?;
    if let Some(access) = flags.server.access()? {
        access.adopt(dir).map_err(failed)?;
        let tokens = names.into_iter().map(|name| AgentToken { name, access: access.clone() });
        return Ok(Secrets { agents: tokens.map(|token| token.text()).collect(), server: None });
    }
    let (server, tokens) = control::issue(&IssueOptions {
        dir,
        hosts: &server_hosts(&options.name, &options.namespace),
        port: PORT,
        near_port,
        server_dirs: [CONFIG_DIR, STORE_DIR],
        agents: &names,
    })
    .map_err(failed)?;
    Ok(Secrets {
        agents: tokens.iter().map(AgentToken::text).collect(),
        server: Some(ServerSecrets {
            config: server.config,
            certificate: server.certificate,
            certificate_key: server.certificate_key,
        }),
    })
}

fn free_port() -> Result<u16, ExitError> {
    let listener = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
    let address = listener.map_err(|error| anyhow!("a free port: {}", reason(&error)))?;
    Ok(address.port())
}

/// A fleet that this command starts, and ends.
struct Applied<'a> {
    flags: &'a FleetUpFlags,
    dir: &'a Path,
    options: &'a ManifestOptions,
    near_port: u16,
}

impl Applied<'_> {
    fn run(&self, yaml: &str, command: &[String]) -> Result<ExitCode, ExitError> {
        let flags = &self.flags.cluster;
        let interrupts = Interrupts::watch()?;
        let kubectl =
            Kubectl { namespace: flags.namespace.clone(), context: flags.context.clone() };
        let applied = kubectl.apply(yaml);
        if let Err(error @ ClusterError::NoKubectl(_)) = applied {
            return Err(anyhow::Error::new(error).into());
        }
        // One that was refused may have made some of the objects.
        let ran = applied
            .map_err(anyhow::Error::new)
            .and_then(|()| self.use_fleet(&kubectl, &interrupts, command));
        let cleaned = if flags.keep { Ok(()) } else { kubectl.delete(yaml) };
        if let Err(error) = &cleaned {
            eprint_line(&format!("fleet: the objects of {} are still there: {error}", flags.name));
        }
        let code = ran?;
        cleaned.map_err(anyhow::Error::new)?;
        Ok(code)
    }

    /// Waits for the pods, and runs the command on them.
    fn use_fleet(
        &self,
        kubectl: &Kubectl,
        interrupts: &Interrupts,
        command: &[String],
    ) -> anyhow::Result<ExitCode> {
        let cluster = Cluster::new(kubectl, self.options);
        let within = Duration::from_nanos(self.flags.cluster.wait.0);
        cluster.wait(within, &|| interrupts.seen() > 0, &|notice| {
            eprint_line(&format!("fleet: {}", words(&notice)));
        })?;
        let mut forward = match self.options.nats_image {
            Some(_) => Some(kubectl.forward(&cluster.service(), (self.near_port, PORT))?),
            None => None,
        };
        self.reach(&mut forward, interrupts)?;
        let (agents, dir) = (self.options.agents, self.dir.display());
        if command.is_empty() {
            let agents = counted(agents as u64, "agent");
            let text = format!(
                "{agents} in namespace {}; until Ctrl-C, a load goes from them with\n-fleet={dir} -agents={}",
                self.options.namespace, self.options.agents
            );
            print_line(&text)?;
            stay(&mut forward, interrupts)?;
            return Ok(ExitCode::Ok);
        }
        let program = std::env::current_exe().context("finding the program itself")?;
        let mut child = Command::new(program);
        child.args(command).arg(format!("-fleet={dir}")).arg(format!("-agents={agents}"));
        let child = child.spawn().context("starting the command")?;
        let code = attend(child, &mut forward)?;
        if code != ExitCode::Ok {
            // What became of the pods may be the reason.
            let problems = cluster.problems().unwrap_or_default();
            problems.iter().for_each(|problem| eprint_line(&format!("fleet: {problem}")));
        }
        Ok(code)
    }

    /// Waits until the message server answers through the forwarded port.
    fn reach(
        &self,
        forward: &mut Option<PortForward>,
        interrupts: &Interrupts,
    ) -> anyhow::Result<()> {
        let access = NatsAccess::of_coordinator(self.dir)?;
        let until = Instant::now() + REACHED_WITHIN;
        loop {
            let error: ControlError = match NatsTransport::connect(&access, |_| {}) {
                Ok(_) => return Ok(()),
                Err(error @ TransportError::UnknownKey(_)) => return Err(error.into()),
                Err(error) => error.into(),
            };
            if Instant::now() >= until || interrupts.seen() > 0 {
                return Err(
                    anyhow::Error::new(error).context("reaching the fleet's message server")
                );
            }
            mend(forward)?;
            std::thread::sleep(INTERRUPT_CHECK_INTERVAL);
        }
    }
}

fn words(notice: &ClusterNotice) -> String {
    match notice {
        ClusterNotice::Pod(pod, state) => format!("{pod}: {state}"),
        ClusterNotice::Refused(cause) => cause.clone(),
    }
}

/// Stays until interrupted.
fn stay(forward: &mut Option<PortForward>, interrupts: &Interrupts) -> anyhow::Result<()> {
    while interrupts.seen() == 0 {
        mend(forward)?;
        std::thread::sleep(INTERRUPT_CHECK_INTERVAL);
    }
    Ok(())
}

/// Waits for the command's end; Ctrl-C is its own matter.
fn attend(mut child: Child, forward: &mut Option<PortForward>) -> anyhow::Result<ExitCode> {
    loop {
        if let Some(status) = child.try_wait().context("waiting for the command")? {
            let code = status.code().unwrap_or(ExitCode::Failure as i32);
            let codes = ExitCode::MEANINGS.iter().map(|(code, _)| *code);
            return Ok(codes
                .into_iter()
                .find(|known| *known as i32 == code)
                .unwrap_or(ExitCode::Failure));
        }
        mend(forward)?;
        std::thread::sleep(INTERRUPT_CHECK_INTERVAL);
    }
}

fn mend(forward: &mut Option<PortForward>) -> anyhow::Result<()> {
    if let Some(forward) = forward {
        forward.mend()?;
    }
    Ok(())
}

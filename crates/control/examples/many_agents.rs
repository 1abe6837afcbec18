//! What a coordinator needs for many agents: `cargo run --release -p control --example many_agents -- [AGENTS] [SECONDS]`. One process
//! coordinates, another has all agents, each with a connection of its own to a real nats-server; each sends one delta of 4 KiB a
//! second. It prints the coordinator's CPU and memory between the first and the last delta.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use control::{
    AgentHandle, AgentHost, AgentOptions, AgentOrder, AgentReport, AgentToken, CoordinatorEvent,
    CoordinatorHost, CoordinatorOptions, IssueOptions, NatsAccess, NatsTransport, RunFiles,
    Transport, issue,
};
use fleet::{Counts, Hello, Name};
use stdx::Nanos;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Bytes of each delta's payload: a second of a hundred rows or so.
const PAYLOAD: usize = 4096;
const VERSION: &str = "1";
/// Threads that make connections.
const STARTERS: usize = 32;

fn main() -> Outcome<()> {
    let mut arguments = env::args().skip(1);
    let first = arguments.next();
    if first.as_deref() == Some("agents") {
        let (Some(tokens), Some(seconds)) = (arguments.next(), arguments.next()) else {
            return Err("agents needs a file and seconds".into());
        };
        return send(&fs::read_to_string(tokens)?, seconds.parse()?);
    }
    let agents = first.map_or(Ok(1000), |text| text.parse())?;
    let seconds = arguments.next().map_or(Ok(30), |text| text.parse())?;
    let dir = tempfile::tempdir()?;
    coordinate(dir.path(), agents, seconds)
}

/// A child that ends with this process.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn coordinate(dir: &Path, agents: usize, seconds: u64) -> Outcome<()> {
    let names: Vec<Name> =
        (0..agents).map(|index| Name::new(&format!("a{index}"))).collect::<Result<_, _>>()?;
    let (_server, tokens) = start_server(dir, &names)?;
    let file = dir.join("tokens");
    let lines: Vec<String> = tokens.iter().map(AgentToken::text).collect();
    fs::write(&file, lines.join("\n"))?;
    let mut command = Command::new(env::current_exe()?);
    command.arg("agents").arg(&file).arg(seconds.to_string());
    let _agents = Process(command.spawn()?);
    let transport: Arc<dyn Transport> =
        Arc::new(NatsTransport::connect(&NatsAccess::of_coordinator(dir)?, |_| {})?);
    let files = RunFiles { archive: b"the test".to_vec(), setup: None };
    let options = CoordinatorOptions {
        run: Name::new("many")?,
        version: VERSION.to_owned(),
        agents: Some(agents),
        labels: Vec::new(),
        archive: files.archive_digest(),
        setup: None,
        ready_within: Nanos::from_secs(300),
        lead: Nanos::from_secs(2),
        drain_within: Nanos::from_secs(30),
        goes_on: false,
    };
    let handle = CoordinatorHost::start(transport, dir, options, files)?;
    let (began, mut load, mut deltas) = (Instant::now(), None, 0u64);
    while let Ok(event) = handle.events.recv() {
        match event {
            CoordinatorEvent::Merge(..) => {
                load.get_or_insert_with(|| (Instant::now(), cpu()));
                deltas += 1;
            }
            CoordinatorEvent::Start { .. } => println!("all ready after {:.1?}", began.elapsed()),
            CoordinatorEvent::Failed(cause) => return Err(cause.into()),
            CoordinatorEvent::Over(outcome) => {
                let (from, cpu_then) = load.ok_or("no delta came")?;
                let (time, used) = (from.elapsed().as_secs_f64(), cpu() - cpu_then);
                println!("ended: {:?}; {deltas} deltas", outcome.cause);
                println!(
                    "coordinator: {used:.2} s of CPU in {time:.1} s: {:.1} % of a core",
                    used / time * 100.0
                );
                println!("coordinator: {}", memory()?);
                return Ok(());
            }
            _ => {}
        }
    }
    Err("the coordinator ended".into())
}

/// A nats-server with keys for these agents.
fn start_server(dir: &Path, names: &[Name]) -> Outcome<(Process, Vec<AgentToken>)> {
    let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let [server, store]: [PathBuf; 2] = ["server", "store"].map(|name| dir.join(name));
    let [server_text, store_text] = [&server, &store].map(|path| path.display().to_string());
    let (issued, tokens) = issue(&IssueOptions {
        dir,
        hosts: &["127.0.0.1".to_owned()],
        port,
        near_port: port,
        server_dirs: [&server_text, &store_text],
        agents: names,
    })?;
    fs::create_dir_all(&server)?;
    let config = server.join("nats.conf");
    fs::write(&config, issued.config.replace("0.0.0.0", "127.0.0.1"))?;
    fs::write(server.join("server.pem"), &issued.certificate)?;
    fs::write(server.join("server-key.pem"), &issued.certificate_key)?;
    let mut command = Command::new("nats-server");
    command.arg("-c").arg(&config).stdout(Stdio::null()).stderr(Stdio::null());
    let process = Process(command.spawn()?);
    let until = Instant::now() + Duration::from_secs(20);
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        if Instant::now() > until {
            return Err("nats-server does not listen".into());
        }
        thread::sleep(Duration::from_millis(50));
    }
    Ok((process, tokens))
}

/// Seconds of CPU of this process.
fn cpu() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // After the name, which ends with the last bracket: user and system time are the 12th and 13th, in hundredths of a second.
    let fields: Vec<&str> =
        stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|text| text.parse().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

fn memory() -> Outcome<String> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    Ok(line.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" "))
}

/// All agents, until they are ended from outside.
fn send(tokens: &str, seconds: u64) -> Outcome<()> {
    // A connection is made in a quarter of a second, most of which is waiting.
    let lines: Vec<&str> = tokens.lines().collect();
    let _hosts = thread::scope(|threads| {
        let start =
            |lines| threads.spawn(move || join(lines, seconds).map_err(|error| error.to_string()));
        let starting: Vec<_> = lines.chunks(lines.len().div_ceil(STARTERS)).map(start).collect();
        starting
            .into_iter()
            .map(|one| one.join().map_err(|_| "a thread panicked")?)
            .collect::<Result<Vec<_>, String>>()
    })?;
    loop {
        thread::park();
    }
}

fn join(lines: &[&str], seconds: u64) -> Outcome<Vec<AgentHost>> {
    let mut hosts = Vec::new();
    for line in lines {
        let AgentToken { name, access } = AgentToken::read(line)?;
        let transport = Arc::new(NatsTransport::connect(&access, |_| {})?);
        let hello = Hello { version: VERSION.to_owned(), cores: 1, labels: Vec::new() };
        let (handle, host) = AgentHost::start(transport, AgentOptions { name, hello }, |_| {})?;
        thread::Builder::new().stack_size(64 * 1024).spawn(move || count(&handle, seconds))?;
        hosts.push(host);
    }
    Ok(hosts)
}

/// A load generator that makes one delta a second.
fn count(handle: &AgentHandle, seconds: u64) {
    while let Ok(order) = handle.orders.recv() {
        let report = match order {
            AgentOrder::Prepare(_) => AgentReport::Prepared(Ok(())),
            AgentOrder::Start(at) => {
                for second in 0..seconds {
                    let [from, to] = [second, second + 1].map(|n| at + Duration::from_secs(n));
                    thread::sleep(to.saturating_duration_since(Instant::now()));
                    let counts = Counts { planned: 100, answered: 100, failed: 0, not_sent: 0 };
                    let (interval, payload) = ((from, to), vec![1; PAYLOAD]);
                    let measured = AgentReport::Measured { interval, counts, payload };
                    if handle.reports.send(measured).is_err() {
                        return;
                    }
                }
                AgentReport::Ended
            }
            _ => continue,
        };
        if handle.reports.send(report).is_err() {
            return;
        }
    }
}

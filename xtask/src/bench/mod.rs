//! `bench`: what a request costs the client, against the peers found on this machine, in interleaved rounds. nginx has one
//! core, the client under test the other. The figures go to the terminal and to `bench/RESULTS.md`; they never fail a
//! build, since a shared machine drifts.

mod experiment;
mod figures;
mod measure;
mod parse;
mod quiet;
mod records;
mod scripts;
mod server;
mod tools;

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::{process, workspace};

use experiment::{Compared, Experiment};
use quiet::Neighbours;
use server::{EchoServer, Server};
use tools::{Entrant, Setting};

/// What was asked for on the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Options {
    rounds: usize,
    seconds: u64,
    /// Part of an experiment's name; empty for all.
    only: String,
    /// Another build of brunt, measured beside this one; empty for none.
    before: String,
    /// The build that is measured; empty for one that is made first.
    program: String,
}

/// No trial begins after this time, which `--before` doubles; building does not count.
const BUDGET: Duration = Duration::from_secs(900);

/// brunt with epoll, as tables call it.
const POLL: &str = "brunt --io poll";

/// The programs without which nothing is measured, and their Debian packages.
const NEEDED: [(&str, &str); 3] =
    [("nginx", "nginx-light"), ("openssl", "openssl"), ("taskset", "util-linux")];

/// Where the figures go.
const RESULTS: &str = "bench/RESULTS.md";

/// Whether all of [`NEEDED`] is there.
///
/// # Errors
/// One is not; how to install it.
pub(crate) fn check_needed() -> Result<()> {
    for (program, package) in NEEDED {
        process::find(program)
            .with_context(|| format!("no {program}: apt-get install {package}"))?;
    }
    Ok(())
}

/// The command.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let options = parse_options(arguments)?;
    check_needed()?;
    let root = workspace::root();
    let target = workspace::target_dir()?;
    let brunt = if options.program.is_empty() {
        let build = ["build", "--release", "--locked", "--package", "brunt"];
        process::stream(&root, "cargo", &build)?;
        target.join("release/brunt").to_string_lossy().into_owned()
    } else {
        options.program.clone()
    };
    let (setting, servers) = set_up(brunt, &target.join("bench"), options.seconds)?;
    let (tables, neighbours) = measure_all(&options, &setting, &servers.nginx);
    let document = heading(&options, &setting, &neighbours) + &tables;
    println!("{document}");
    if !options.only.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(objection) = neighbours.objection() {
        bail!("{RESULTS} stays as it was, since this machine was not quiet: {objection}");
    }
    fs::write(root.join(RESULTS), &document).with_context(|| format!("writing {RESULTS}"))?;
    Ok(ExitCode::SUCCESS)
}

/// What the clients ask, as long as the value lives.
struct Servers {
    nginx: Server,
    _echo: EchoServer,
}

/// Starts the servers, and writes into `dir` what the clients need.
fn set_up(brunt: String, dir: &Path, seconds: u64) -> Result<(Setting, Servers)> {
    fs::create_dir_all(dir)?;
    let nginx = Server::start(dir, 0)?;
    let echo = EchoServer::start(&brunt, 0)?;
    let setting = Setting {
        dir: dir.to_owned(),
        brunt,
        url: nginx.url(),
        h2c_url: nginx.h2c_url(),
        tls_url: nginx.tls_url(),
        ws_url: echo.url("ws-echo"),
        cable_url: echo.url("cable"),
        core: last_core(),
        seconds,
    };
    fs::write(dir.join(tools::TARGETS), format!("GET {}\n", setting.url))?;
    scripts::write(dir)?;
    Ok((setting, Servers { nginx, _echo: echo }))
}

/// Has this build of brunt do once what it does in every experiment, files in `dir`.
///
/// # Errors
/// A server cannot be started, or the results cannot be read.
pub(crate) fn train(brunt: &Path, dir: &Path) -> Result<()> {
    let (setting, _servers) = set_up(brunt.to_string_lossy().into_owned(), dir, TRAINING_S)?;
    for entrant in experiments(&setting).into_iter().flat_map(|experiment| experiment.entrants) {
        if !entrant.words.contains(&setting.brunt) {
            continue;
        }
        // Without io_uring, or with few descriptors, the others are still worth their counts.
        if let Err(error) = measure::run(dir, &entrant.words, TRAINING_LIMIT) {
            eprintln!("bench: {}: {error:#}", entrant.name);
        }
    }
    records::read_once(&setting, &dir.join(tools::WRITTEN))
}

/// Seconds of a load that is not measured, and what a command may take.
const TRAINING_S: u64 = 2;
const TRAINING_LIMIT: Duration = Duration::from_secs(60);

fn parse_options(arguments: &[String]) -> Result<Options> {
    let mut options = Options { rounds: 3, seconds: 3, ..Options::default() };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let value = words.next().with_context(|| format!("{word} needs a value"))?;
        match word.as_str() {
            "--rounds" => options.rounds = value.parse().context("--rounds N")?,
            "--seconds" => options.seconds = value.parse().context("--seconds S")?,
            "--only" => options.only.clone_from(value),
            "--before" => options.before = executable(word, value)?,
            "--program" => options.program = executable(word, value)?,
            other => bail!(
                "no option {other}; there are --rounds, --seconds, --only, --before and --program"
            ),
        }
    }
    if options.rounds == 0 || options.seconds == 0 {
        bail!("--rounds and --seconds must be at least 1");
    }
    Ok(options)
}

/// The absolute path of a program: its trials run in another folder.
fn executable(option: &str, path: &str) -> Result<String> {
    let path = fs::canonicalize(path).with_context(|| format!("{option} {path}"))?;
    ensure!(path.is_file(), "{option} {}: no program", path.display());
    Ok(path.to_string_lossy().into_owned())
}

/// Every experiment that was asked for, as Markdown, and what ran beside them.
fn measure_all(options: &Options, setting: &Setting, server: &Server) -> (String, Neighbours) {
    let wanted = |name: &str| name.contains(&options.only);
    let budget = if options.before.is_empty() { BUDGET } else { 2 * BUDGET };
    let deadline = Instant::now() + budget;
    let mut text = String::new();
    let mut neighbours = Neighbours::look();
    let mut commands = String::from("## Commands\n\n");
    for mut experiment in experiments(setting).into_iter().filter(|one| wanted(one.name)) {
        if !options.before.is_empty() {
            experiment.add_before(&setting.brunt, &options.before);
        }
        let trials = experiment.run(setting, server, options.rounds, deadline);
        text += &experiment.table(&trials);
        text.push('\n');
        commands += &experiment.commands();
        commands.push('\n');
        neighbours = neighbours.or_busier(Neighbours::look());
    }
    if wanted("records") {
        match records::run(setting) {
            Ok(table) => text += &format!("{table}\n"),
            Err(error) => eprintln!("bench: records: {error:#}"),
        }
    }
    (text + &commands, neighbours)
}

/// Name, title, base and entrants of an experiment.
type Row = (&'static str, &'static str, &'static str, Vec<Entrant>);

fn experiments(setting: &Setting) -> Vec<Experiment> {
    let by = |compared: Compared, rows: Vec<Row>| {
        rows.into_iter().map(move |(name, title, base, entrants)| Experiment {
            name,
            title,
            base,
            compared,
            entrants,
        })
    };
    let closed = by(Compared::Cpu, closed_loops(setting));
    let lag = by(Compared::Lag, lags(setting));
    closed
        .chain(by(Compared::Cpu, scripts_and_rates(setting)))
        .chain(lag)
        .chain(by(Compared::P99, latencies(setting)))
        .chain(by(Compared::Memory, memory(setting)))
        .collect()
}

/// As many requests as so many connections can do.
fn closed_loops(setting: &Setting) -> Vec<Row> {
    vec![
        ("closed64", "Closed loop, 64 connections", "wrk", setting.closed_by_all(64)),
        ("closed8", "Closed loop, 8 connections", "wrk", setting.closed_by_us_and_wrk(8)),
        ("closed1", "Closed loop, 1 connection", "wrk", setting.closed_by_us_and_wrk(1)),
        ("closed512", "Closed loop, 512 connections", "wrk", setting.closed_by_us_and_wrk(512)),
        (
            "pipelined",
            "Closed loop, 4 connections with 16 unanswered requests each (perfer: 15, its most)",
            "perfer",
            setting.pipelined(),
        ),
        (
            "streams",
            "HTTP/2 without TLS, 1 connection with 32 streams",
            "h2load",
            setting.streams(),
        ),
        ("tls", "TLS 1.3 with keep-alive, HTTP/1.1, 64 connections", "wrk", setting.tls()),
    ]
}

/// Scripts, rates, and what results cost.
fn scripts_and_rates(setting: &Setting) -> Vec<Row> {
    vec![
        (
            "script16",
            "Scripts, `http.get` and `check`, 16 virtual users",
            "wrk",
            setting.scripts(16),
        ),
        (
            "script64",
            "Scripts, `http.get` and `check`, 64 virtual users",
            "wrk",
            setting.scripts(64),
        ),
        (
            "script512",
            "Scripts, `http.get` and `check`, 512 virtual users",
            "wrk",
            setting.scripts(512),
        ),
        (
            "ws64",
            "Scripts, `k6/ws`, 64 sockets that send back what is echoed; a message is a request here",
            "k6",
            setting.sockets(64),
        ),
        (
            "broadcast",
            "Action Cable, 100 broadcasts a second to 200 subscribers; a delivery is a request here",
            "brunt",
            setting.broadcast(200),
        ),
        ("calls32", "gRPC without TLS, unary calls by 32 callers", "ghz", setting.calls(32)),
        ("open5k", "Open loop, 5,000/s, results written to a file", "vegeta", setting.open_5k()),
        ("open20k", "Open loop, 20,000/s, results written to a file", "vegeta", setting.open_20k()),
        (
            "records-written",
            "What writing results costs, closed loop, 64 connections",
            "brunt -output none",
            setting.written(),
        ),
    ]
}

/// How late requests begin.
fn lags(setting: &Setting) -> Vec<Row> {
    vec![(
        "open50k",
        "Open loop, 50,000/s, beside a scheduler that sends nothing",
        "empty scheduler",
        setting.open_50k(),
    )]
}

/// What is measured with each way to wait.
fn latencies(setting: &Setting) -> Vec<Row> {
    vec![
        (
            "latency1",
            "What is measured with each way to wait, closed loop, 1 connection",
            POLL,
            setting.latencies(1),
        ),
        (
            "latency8",
            "What is measured with each way to wait, closed loop, 8 connections",
            POLL,
            setting.latencies(8),
        ),
        (
            "latency64",
            "What is measured with each way to wait, closed loop, 64 connections",
            POLL,
            setting.latencies(64),
        ),
    ]
}

/// What users take who do little.
fn memory(setting: &Setting) -> Vec<Row> {
    vec![
        (
            "vus1000",
            "Memory of 1,000 virtual users that ask once a second",
            "k6",
            setting.many_users(1_000),
        ),
        (
            "sockets5000",
            "Memory of 5,000 idle sockets of Action Cable",
            "brunt, sockets: 1",
            setting.idle_sockets(5_000),
        ),
    ]
}

/// The last core of this machine; nginx has the first.
fn last_core() -> usize {
    std::thread::available_parallelism().map_or(0, |cores| cores.get() - 1)
}

/// What the reader must know before the figures: the machine, the tools, the day.
fn heading(options: &Options, setting: &Setting, neighbours: &Neighbours) -> String {
    let shell = |line: &str| {
        let text = process::capture(Path::new("."), "sh", &["-c", line]).unwrap_or_default();
        text.trim().to_owned()
    };
    let cpu = shell("sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1");
    let governor = shell(
        "cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor 2>/dev/null || echo unknown",
    );
    let virtual_machine =
        shell("grep -q hypervisor /proc/cpuinfo && echo ', a virtual machine' || true");
    let built = match options.program.is_empty() {
        true => "built by `cargo build --release`, without a profile of recorded runs".to_owned(),
        false => format!("`{}`, which was built before", options.program),
    };
    let same_core = if setting.core == 0 { "; ONE CORE: server and client share it" } else { "" };
    format!(
        "# What a request costs\n\nWritten by `cargo xtask bench`; a new run replaces it. Client CPU is user and system time of the \
         client's process, its start included, by `getrusage`. Requests are what the tool says, held against nginx's own count \
         (brunt without results: nginx's count). Rounds are interleaved and their order turns. brunt is {built}.\n\n\
         - date: {}\n- machine: {cpu}, {} cores{virtual_machine}; nginx on core 0, client on core {}{same_core}\n\
         - kernel: {}; governor: {governor}; {}\n- rounds: {}, {} s each\n- {}\n\n",
        shell("date -u +%Y-%m-%d"),
        std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        setting.core,
        shell("uname -sr"),
        neighbours.words(),
        options.rounds,
        options.seconds,
        tools::versions(&setting.brunt).join("\n- "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(line: &str) -> Result<Options> {
        parse_options(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn options_have_defaults_and_limits() {
        let default = Options { rounds: 3, seconds: 3, ..Options::default() };
        assert_eq!(options("").unwrap(), default);
        let given = "--rounds 5 --seconds 2 --only open --before /proc/self/exe";
        let given = options(&format!("{given} --program /proc/self/exe")).unwrap();
        let itself = fs::canonicalize("/proc/self/exe").unwrap().to_string_lossy().into_owned();
        let expected = Options {
            rounds: 5,
            seconds: 2,
            only: "open".to_owned(),
            before: itself.clone(),
            program: itself,
        };
        assert_eq!(given, expected);
        for bad in [
            "--rounds",
            "--rounds 0",
            "--rounds x",
            "--all 1",
            "--before /not/there",
            "--program /",
        ] {
            assert!(options(bad).is_err(), "{bad}");
        }
    }
}

//! `demo`: a server of six 60 ms workers on this machine, attacked below and above what it can carry; both reports, a page
//! with charts, and what to try next.

use std::fs::File;
use std::io::{IsTerminal, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::anyhow;
use cli::{ExitCode, ExitError, Interrupts, Output, eprint_line, reason};
use demo::{Config, Server, ServiceTime};
use engine::Settings;
use metrics::{Generator, Reason, Verdict};
use net::Address;
use session::{
    OnCutOff, OpenDisplays, RunFigures, RunPlace, RunRequest, SessionOptions, TerminalView,
    go_words,
};
use stdx::{Bytes, Nanos};
use workload::arrival::{Rate, Shape};
use workload::{Load, Plan, Target, Targets};

use super::{CommandError, usage_error};
use crate::dialect::{Invocation, ParsedArgs};
use crate::flags::serve::{DEMO, DemoFlags};

/// Workers of the server.
const WORKERS: u32 = 6;
/// How long each is busy with one request.
const SERVICE: Nanos = Nanos::from_millis(60);
/// How long each attack lasts.
const DURATION: Nanos = Nanos::from_secs(8);
/// Below and above what six workers of 60 ms can carry: 100 requests a second.
const RATES: [(&str, u64); 2] = [("below", 70), ("above", 130)];
/// The page's name.
const PAGE: &str = "brunt-demo.html";

/// Shows it.
pub(super) fn run(invocation: &Invocation) -> Result<ExitCode, CommandError> {
    let typed = invocation.parse(DEMO)?;
    if let Some(extra) = typed.operands.first() {
        return Err(usage_error(format!("unexpected \"{extra}\"")));
    }
    let interrupts = Interrupts::watch()?;
    let config = Config {
        workers: WORKERS,
        service: ServiceTime::Fixed(SERVICE),
        body: Bytes(512),
        ..Config::default()
    };
    let anywhere = Address::Ip(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    let server = Server::start(config, &[anywhere])
        .map_err(|error| ExitError::from(anyhow!("starting the server: {error}")))?;
    let Some(Address::Ip(at)) = server.addresses().first().cloned() else {
        return Err(ExitError::from(anyhow!("the server has no address")).into());
    };
    print(&format!(
        "A server at http://{at}/ with {WORKERS} workers, each busy for 60 ms with a request: it can carry 100 requests a second.\n"
    ))?;
    let mut attacks = Vec::new();
    for (name, rate) in RATES {
        print(&format!("\n{}\n\n", heading(name, rate)))?;
        let attack = attack(&typed, at, (name, rate), &interrupts)?;
        print(&attack.report(name, report::text))?;
        print(&format!("\n{}\n", lesson(name, &attack.figures)))?;
        if let Some(busy) = busy(&attack.verdict(), &load_average()) {
            print(&format!("\n{busy}\n"))?;
        }
        attacks.push(attack);
        if interrupts.seen() > 0 {
            break;
        }
    }
    server.stop();
    let page = write_page(&attacks)?;
    print(&format!(
        "\nThe last report with its charts: {}\n\nTry next:\n  \
         brunt serve --listen 127.0.0.1:8080 --workers 6 --service fixed:60ms\n  \
         echo \"GET http://127.0.0.1:8080/\" | brunt attack -rate=90 -duration=10s | tee -i results.bin | brunt report\n  \
         brunt plot results.bin > plot.html\n  brunt help attack\n",
        page.display()
    ))?;
    Ok(ExitCode::Ok)
}

fn print(text: &str) -> Result<(), ExitError> {
    Output::Stdout.write(text.as_bytes())
}

fn heading(name: &str, rate: u64) -> String {
    format!("=== {name} saturation: {rate} requests a second for 8 s ===")
}

/// Attacks the server once.
fn attack(
    typed: &ParsedArgs<DemoFlags>,
    at: SocketAddr,
    (name, rate): (&str, u64),
    interrupts: &Interrupts,
) -> Result<Attack, ExitError> {
    let target = Target {
        method: "GET".to_owned(),
        url: format!("http://{at}/"),
        headers: Vec::new(),
        body: Arc::from([]),
        weight: 1,
        name: String::new(),
    };
    let plan = Plan {
        warmup: Nanos::ZERO,
        think: stdx::Distribution::None,
        name: name.to_owned(),
        load: Load::Open { shape: Shape::constant(Rate::per_second(rate)), max_in_flight: None },
        duration: Some(DURATION),
        hits_max: None,
        targets: Targets::new(vec![target]),
        seed: 1,
        part: None,
    };
    let is_live = std::io::stderr().is_terminal() && !typed.flags.quiet;
    let terminal = if is_live { TerminalView::Progress } else { TerminalView::Nothing };
    // One worker is plenty for this rate, and leaves the other cores to the server.
    let failure_text = go_words::FAILURE_TEXT;
    let settings = Settings { workers: 1, failure_text, ..Settings::default() };
    let request = RunRequest {
        shown: OpenDisplays::of_step(None, terminal.open(&plan, interrupts)),
        ..RunRequest::new(plan, SessionOptions::new(interrupts))
    };
    let mut figures = RunFigures::new(OnCutOff::Counted);
    let outcome = request.carry_out(RunPlace::here(&settings), &mut [&mut figures])?;
    Ok(Attack { figures, generator: outcome.ended.generator })
}

/// The result of one attack.
struct Attack {
    figures: RunFigures,
    generator: Generator,
}

impl Attack {
    /// The report that `layout` makes of it.
    fn report(&self, title: &str, layout: fn(&report::Input<'_>) -> String) -> String {
        layout(&self.figures.input(title, (&self.generator, &self.verdict()), &[]))
    }

    fn verdict(&self) -> Verdict {
        self.figures.verdict(&self.generator)
    }
}

/// What the report shows, in a sentence or two, with its own figures.
fn lesson(name: &str, figures: &RunFigures) -> String {
    let summary = &figures.summary;
    let p99 = |times: &metrics::Histogram| times.quantile(0.99).rounded();
    let (response, service) = (p99(&summary.response), p99(&summary.service));
    match name {
        "below" => format!(
            "Below saturation a request hardly waits: 99 of 100 were answered within {response}, of which 60 ms are the work."
        ),
        _ => format!(
            "Above saturation the queue grows as long as the attack lasts: 99 of 100 were answered within {response} \
             ({service} from when each was sent), and {:.0} requests a second got through, whatever was sent.",
            summary.throughput()
        ),
    }
}

/// What an INVALID of a busy machine means, for users who see their first verdict.
fn busy(verdict: &Verdict, load: &str) -> Option<String> {
    let is_late = |reason: &Reason| matches!(reason, Reason::Late { .. } | Reason::Stalls { .. });
    verdict.reasons.iter().any(is_late).then(|| {
        format!(
            "INVALID is about the measurement and not about the server: other programs on this machine{load} made the load \
             generator late, which raised the quantiles that the verdict names. On a quiet machine the run is VALID."
        )
    })
}

/// How busy the machine was in the last minute, where the system says it: ` (load average 3.2, 2 cores)`.
fn load_average() -> String {
    let load = std::fs::read_to_string("/proc/loadavg").ok();
    let load = load.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    load.map_or(String::new(), |load| {
        format!(" (load average {load:.1}, {})", stdx::counted(cores as u64, "core"))
    })
}

/// Writes the page beside the user, or where temporary files go.
fn write_page(attacks: &[Attack]) -> Result<PathBuf, ExitError> {
    let Some(attack) = attacks.last() else {
        return Err(anyhow!("no attack ran").into());
    };
    let page = attack.report("brunt demo", report::html);
    let beside = std::env::current_dir().unwrap_or_default().join(PAGE);
    let write = |path: &Path| Output::File(path.display().to_string()).write(page.as_bytes());
    if write(&beside).is_ok() {
        return Ok(beside);
    }
    // Others may write there as well, so neither the file nor a link of this name may be there already.
    let elsewhere = std::env::temp_dir().join(format!("{}-{PAGE}", std::process::id()));
    let created = File::create_new(&elsewhere).and_then(|mut file| file.write_all(page.as_bytes()));
    created.map_err(|error| anyhow!("writing {}: {}", elsewhere.display(), reason(&error)))?;
    eprint_line(
        "cannot write to the current directory; the page is in the folder for temporary files",
    );
    Ok(elsewhere)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_of_a_busy_machine_is_explained() {
        let verdict = |reason| Verdict { reasons: vec![reason], ..Verdict::default() };
        let late = verdict(Reason::Late { quantiles: Vec::new(), stood_still: false });
        let busy = |verdict: &Verdict| busy(verdict, " (load average 3.2, 2 cores)");
        let words = busy(&late).unwrap();
        assert!(words.contains("other programs on this machine (load average 3.2, 2 cores)"));
        assert_eq!(busy(&Verdict::default()), None);
        assert_eq!(busy(&verdict(Reason::Ports { connections: 1 })), None, "its remedy says all");
    }
}

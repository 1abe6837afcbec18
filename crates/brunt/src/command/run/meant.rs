//! `Meant`: the script compiled, its options read, what the command line says put above them.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use metrics::tally::Tally;
use report::is_trend_stat;
use script::{Files, Halt, Host, Level, Options, Program, Secrets, Shortcuts};
use stdx::Nanos;

use super::console;
use super::judge::{self, Limit};
use super::network::Network;
use super::remote;
use super::secrets::Vault;
use crate::command::{Ended, usage};
use crate::dialect::Typed;
use crate::exit_code::ExitCode;
use crate::flags::run::RunFlags;
use crate::input::reason;
use crate::output::Place;

/// A script made ready to run.
pub(super) struct Meant {
    pub(super) program: Program,
    pub(super) options: Options,
    pub(super) thresholds: Vec<Limit>,
    /// Every metric, with the submetrics that thresholds want; nothing counted yet.
    pub(super) tally: Tally,
    pub(super) network: Network,
    pub(super) trend_stats: Vec<String>,
    pub(super) setup: bool,
    pub(super) teardown: bool,
    pub(super) summary: bool,
    pub(super) summary_export: Option<Place>,
    pub(super) quiet: bool,
    pub(super) cores: usize,
    pub(super) began: Instant,
    /// The secrets that the script may ask for.
    pub(super) vault: Arc<Vault>,
    path: String,
}

/// Makes a script ready; what is wrong with it is told, and the code to end with given.
pub(super) fn meant(typed: &Typed<RunFlags>) -> Result<Result<Meant, ExitCode>, Ended> {
    let flags = &typed.flags;
    let [path] = typed.operands.as_slice() else {
        return Err(usage("expected one script".to_owned()));
    };
    let began = Instant::now();
    let given: Vec<String> = std::env::var("K6_SECRET_SOURCE").ok().into_iter().collect();
    let vault = match Vault::open(&given) {
        Ok(vault) => Arc::new(vault),
        Err(text) => return Ok(Err(refused(ExitCode::Config, &text))),
    };
    let program = match compiled(path, flags, began, &vault) {
        Ok(program) => program,
        Err((code, text)) => return Ok(Err(refused(code, &text))),
    };
    let above = Shortcuts {
        vus: flags.vus,
        duration: flags.duration,
        iterations: flags.iterations,
        stages: flags.stages.clone(),
    };
    let options = match Options::read(program.options.as_deref(), &above) {
        Ok(options) => options,
        Err(error) => return Ok(Err(refused(ExitCode::Config, &error.to_string()))),
    };
    for name in &options.unknown {
        console::complain("warning", &format!("the options have an unknown field \"{name}\""));
    }
    Ok(ready(typed, path, (began, vault), (program, options))
        .map_err(|text| refused(ExitCode::Config, &text)))
}

/// Says why a script is not run.
fn refused(code: ExitCode, text: &str) -> ExitCode {
    console::complain("error", text);
    code
}

fn compiled(
    path: &str,
    flags: &RunFlags,
    began: Instant,
    vault: &Arc<Vault>,
) -> Result<Program, (ExitCode, String)> {
    let full = fs::canonicalize(path)
        .map_err(|error| (ExitCode::Script, format!("{path}: {}", reason(&error))))?;
    let root = full.parent().map(Path::to_path_buf).unwrap_or_default();
    let mut env: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    env.extend(flags.env.iter().cloned());
    let files = Rc::new(Disk { root });
    let host = Rc::new(Beginning { began, halt: RefCell::default(), vault: Arc::clone(vault) });
    let seen = Rc::clone(&host);
    let secrets = (!vault.is_empty()).then(|| Arc::clone(vault) as Arc<dyn Secrets>);
    let main = full.to_string_lossy();
    let program = Program::compile_with(&main, Arc::new(env), files, host, secrets);
    match (seen.halt.take(), program) {
        (Some(Halt::Abort(text)), _) => Err((ExitCode::Aborted, text)),
        (_, program) => program.map_err(|error| (ExitCode::Script, error.to_string())),
    }
}

fn ready(
    typed: &Typed<RunFlags>,
    path: &str,
    (began, vault): (Instant, Arc<Vault>),
    (program, options): (Program, Options),
) -> Result<Meant, String> {
    let flags = &typed.flags;
    let exists = |name: &str| program.functions.iter().any(|known| known == name);
    if let Some(missing) = options.scenarios.iter().find(|scenario| !exists(&scenario.exec)) {
        return Err(format!(
            "function '{}' not found in exports, which scenario {} wants to run",
            missing.exec, missing.name
        ));
    }
    let from_env = std::env::var("K6_SUMMARY_TREND_STATS").ok();
    let from_env =
        from_env.map(|list| list.split(',').map(|stat| stat.trim().to_owned()).collect());
    let trend_stats = flags.trend_stats.clone().or(from_env);
    let trend_stats = trend_stats.unwrap_or_else(|| options.trend_stats.clone());
    if let Some(wrong) = trend_stats.iter().find(|stat| !is_trend_stat(stat)) {
        return Err(format!(
            "invalid summary trend statistic '{wrong}': avg, min, med, max, count or p(N)"
        ));
    }
    let mut tally = Tally::default();
    for own in program.metrics.from(0) {
        tally.declare(&own.name, own.kind, own.contains);
    }
    tally.declare_sub("http_req_duration", "expected_response:true");
    let rules = if flags.no_thresholds { &[][..] } else { &options.thresholds };
    let thresholds = judge::read(rules, &mut tally)?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let asked = typed.global.cpus.map_or(cores, |n| usize::try_from(n).unwrap_or(cores));
    Ok(Meant {
        setup: exists("setup") && !flags.no_setup,
        teardown: exists("teardown") && !flags.no_teardown,
        summary: !flags.no_summary,
        summary_export: flags.summary_export.as_deref().map(|file| Place::named(Some(file))),
        quiet: flags.quiet,
        cores: asked.clamp(1, 1024),
        network: Network::read(&options.http)?,
        program,
        options,
        thresholds,
        tally,
        trend_stats,
        began,
        vault,
        path: path.to_owned(),
    })
}

impl Meant {
    /// What is about to be run, in k6's manner.
    pub(super) fn announcement(&self) -> String {
        let options = &self.options;
        let (count, vus) = (options.scenarios.len(), options.vus_max());
        let mut text = format!(
            "\n     execution: local\n        script: {}\n        output: -\n\n     scenarios: (100.00%) {count} scenario{}, {vus} max VUs, {} max duration (incl. graceful stop):\n",
            self.path,
            if count == 1 { "" } else { "s" },
            options.max_duration(),
        );
        for scenario in &options.scenarios {
            let executor = &scenario.executor;
            text.push_str(&format!(
                "              * {}: {} for {} on up to {} VUs (exec: {}, startTime: {}, gracefulStop: {})\n",
                scenario.name,
                executor.name(),
                executor.duration(),
                executor.vus_max(),
                scenario.exec,
                scenario.start,
                scenario.graceful_stop
            ));
        }
        text + "\n"
    }
}

/// Modules on disk, below one folder.
struct Disk {
    root: PathBuf,
}

impl Files for Disk {
    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        if name.starts_with("https://") {
            return remote::fetch(name);
        }
        let full = fs::canonicalize(name).map_err(|error| reason(&error))?;
        if !full.starts_with(&self.root) {
            return Err(format!("it is not below {}, where the script lies", self.root.display()));
        }
        fs::read(full).map_err(|error| reason(&error))
    }
}

/// The world while the script is first run.
struct Beginning {
    began: Instant,
    vault: Arc<Vault>,
    /// The script wants no test.
    halt: RefCell<Option<Halt>>,
}

impl Host for Beginning {
    fn now(&self) -> Nanos {
        self.began.elapsed().into()
    }
    fn log(&self, level: Level, text: &str) {
        console::log(self.began, level, "console", &self.vault.redacted(text));
    }
    fn interrupts(&self) -> bool {
        self.began.elapsed() > INIT_MAX
    }
    fn halt(&self, halt: Halt) {
        self.halt.borrow_mut().get_or_insert(halt);
    }
}

/// How long a script's modules may run before the test: a minute, as k6's setup.
const INIT_MAX: std::time::Duration = std::time::Duration::from_secs(60);

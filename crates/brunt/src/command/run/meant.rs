//! `Meant`: the script compiled, its options read, what the command line says put above them.

use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use metrics::tally::Tally;
use report::is_trend_stat;
use script::{Files, Host, Level, Options, Program};
use stdx::Nanos;

use super::console;
use super::judge::{self, Limit};
use super::tiers;
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
    pub(super) trend_stats: Vec<String>,
    pub(super) setup: bool,
    pub(super) teardown: bool,
    pub(super) summary: bool,
    pub(super) summary_export: Option<Place>,
    pub(super) quiet: bool,
    pub(super) cores: usize,
    pub(super) began: Instant,
    path: String,
}

/// Makes a script ready; what is wrong with it is told, and the code to end with given.
pub(super) fn meant(typed: &Typed<RunFlags>) -> Result<Result<Meant, ExitCode>, Ended> {
    let flags = &typed.flags;
    let [path] = typed.operands.as_slice() else {
        return Err(usage("expected one script".to_owned()));
    };
    let began = Instant::now();
    let program = match compiled(path, flags, began) {
        Ok(program) => program,
        Err(text) => return Ok(Err(Refused { code: ExitCode::Script, text }.tell())),
    };
    let options = match tiers::all(program.options.as_deref(), flags)
        .and_then(|given| Options::of(given).map_err(|error| Refused::config(error.to_string())))
    {
        Ok(options) => options,
        Err(refused) => return Ok(Err(refused.tell())),
    };
    for text in &options.warnings {
        console::complain("warning", text);
    }
    for name in &options.unknown {
        console::complain("warning", &format!("the options have an unknown field \"{name}\""));
    }
    Ok(ready(typed, path, began, (program, options)).map_err(|refused| refused.tell()))
}

/// Why a script is not run, and k6's code for it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) code: ExitCode,
    pub(super) text: String,
}

impl Refused {
    /// Options, thresholds or scenarios are wrong.
    pub(super) fn config(text: String) -> Self {
        Self { code: ExitCode::Config, text }
    }

    /// Anything else is wrong.
    pub(super) fn other(text: String) -> Self {
        Self { code: ExitCode::Other, text }
    }

    /// Says so; gives the code to end with.
    pub(super) fn tell(self) -> ExitCode {
        console::complain("error", &self.text);
        self.code
    }
}

fn compiled(path: &str, flags: &RunFlags, began: Instant) -> Result<Program, String> {
    let full = fs::canonicalize(path).map_err(|error| format!("{path}: {}", reason(&error)))?;
    let root = full.parent().map(Path::to_path_buf).unwrap_or_default();
    let env = tiers::variables(flags);
    let files = Rc::new(Disk { root });
    let host = Rc::new(Beginning { began });
    Program::compile(&full.to_string_lossy(), Arc::new(env), files, host)
        .map_err(|error| error.to_string())
}

fn ready(
    typed: &Typed<RunFlags>,
    path: &str,
    began: Instant,
    (program, options): (Program, Options),
) -> Result<Meant, Refused> {
    let flags = &typed.flags;
    let exists = |name: &str| program.functions.iter().any(|known| known == name);
    if let Some(missing) = options.scenarios.iter().find(|scenario| !exists(&scenario.exec)) {
        return Err(Refused::config(format!(
            "function '{}' not found in exports, which scenario {} wants to run",
            missing.exec, missing.name
        )));
    }
    let trend_stats = options.trend_stats.clone();
    if let Some(wrong) = trend_stats.iter().find(|stat| !is_trend_stat(stat)) {
        return Err(Refused::other(format!("invalid trend stat '{wrong}', unknown format")));
    }
    if let Some(unit) =
        options.time_unit.as_deref().filter(|unit| !["s", "ms", "us"].contains(unit))
    {
        return Err(Refused::other(format!(
            "invalid summary time unit '{unit}', use 's', 'ms' or 'us'"
        )));
    }
    let mut tally = Tally::default();
    for own in program.metrics.from(0) {
        tally.declare(&own.name, own.kind, own.contains);
    }
    tally.declare_sub("http_req_duration", "expected_response:true");
    let no_thresholds = tiers::switch(flags.no_thresholds, "K6_NO_THRESHOLDS");
    let rules = if no_thresholds { &[][..] } else { &options.thresholds };
    let thresholds = judge::read(rules, &mut tally).map_err(Refused::config)?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let asked = typed.global.cpus.map_or(cores, |n| usize::try_from(n).unwrap_or(cores));
    Ok(Meant {
        setup: exists("setup") && !options.no_setup,
        teardown: exists("teardown") && !options.no_teardown,
        summary: !tiers::switch(flags.no_summary, "K6_NO_SUMMARY"),
        summary_export: flags.summary_export.as_deref().map(|file| Place::named(Some(file))),
        quiet: flags.quiet,
        cores: asked.clamp(1, 1024),
        program,
        options,
        thresholds,
        tally,
        trend_stats,
        began,
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
}

impl Host for Beginning {
    fn now(&self) -> Nanos {
        self.began.elapsed().into()
    }
    fn log(&self, level: Level, text: &str) {
        console::log(self.began, level, "console", text);
    }
    fn interrupts(&self) -> bool {
        self.began.elapsed() > INIT_MAX
    }
}

/// How long a script's modules may run before the test: a minute, as k6's setup.
const INIT_MAX: std::time::Duration = std::time::Duration::from_secs(60);

//! `SeekConfig`: the search that a command line of `seek` asks for, with its files read. Nothing was sent yet.

use std::cell::Cell;

use cli::{CommandError, Document, ParsedArgs, usage_error};
use engine::{Protocol, Redirects, Renewal, Settings};
use k6::{ScriptSource, ScriptTrial, TrialLoad};
use metrics::{CONDITIONS_MAX, Condition, Metric, Objective, Op};
use remote::flags::FleetRequest;
use report::live::Paint;
use session::monitor_flags::monitor_beside;
use session::{
    Displays, MetricsRequest, MonitorConfig, OnInvalid, PageRequest, ReportFiles, TerminalView,
};
use stdx::{Nanos, mix, mix_all};
use study::seek::{By, Lengths, Search, Subject};
use workload::arrival::{Rate, Shape};
use workload::{Load, Plan, TargetList, Targets};

use super::flags::{Arrivals, OBJECTIVE, Raised, SeekFlags};
use super::script::{self, script_of};
use crate::analyze::figure_file::figure_document;
use crate::dialect::LoadRules;
use crate::load::environment::Environment;
use crate::load::flags::HttpFlags;
use crate::load::{outputs, settings, targets};

/// The search that a command line of `seek` asks for.
#[derive(Debug)]
pub(crate) struct SeekConfig {
    /// The search.
    pub(crate) search: Search,
    /// The targets and the seed; a step has a load and a duration of its own.
    pub(crate) plan: Plan,
    /// The engine's settings, but for the connections of a step.
    pub(crate) settings: Settings,
    /// How the requests of a rate arrive.
    arrivals: Arrivals,
    /// The script that is run, in place of targets.
    pub(crate) script: Option<ScriptSource>,
    /// The fingerprint of all files that the script has loaded, once it has.
    pub(crate) script_files: Option<u64>,
    /// The machines that send the load, where it is not this one.
    pub(crate) fleet: Option<FleetRequest>,
    /// What is watched beside the steps.
    pub(crate) watching: Option<MonitorConfig>,
    /// The pause after each step.
    pub(crate) cooldown: Nanos,
    /// The lengths of steps that the budget decides, by name.
    fitted: Vec<&'static str>,
    /// The file that keeps the steps.
    pub(crate) state: Option<String>,
    /// When the command began (Unix ns).
    pub(crate) began: i64,
    /// Whether the seed was given, and not drawn.
    pub(crate) seed_given: bool,
    /// The file for the curve, and its format.
    pub(crate) plot: Option<(String, Document)>,
    /// The files that the report is written to.
    pub(crate) reports: ReportFiles,
    /// Whether the answer is printed as JSON.
    pub(crate) json: bool,
    /// What is seen of a step while it goes on.
    pub(crate) displays: Displays,
    /// Whether INVALID steps decide the exit code.
    pub(crate) on_invalid: OnInvalid,
    /// Whether a line is shown after each step.
    pub(crate) lines: bool,
    /// Whether texts are coloured.
    pub(crate) paint: Paint,
}

/// The lowest rate where none is given, per second.
const RATE_FROM: f64 = 10.0;
/// The lowest rate of a script's iterations where none is given, per second.
const ITERATIONS_FROM: f64 = 1.0;
/// The fewest connections where none are given.
const CONNECTIONS_FROM: f64 = 1.0;
/// Steps at most, where no number is given.
const STEPS_MAX: u64 = 60;
/// How long a search may take where nothing says how long it is.
const BUDGET: Nanos = Nanos::from_secs(900);
/// The share of errors that is let pass where the objective says nothing of them.
const ERRORS_LIMIT: f64 = 0.01;

/// Validates a command line, and reads the files that it names.
///
/// # Errors
/// A flag or a file is wrong.
pub(crate) fn resolve(
    args: &ParsedArgs<SeekFlags>,
    environment: &Environment<'_>,
) -> Result<SeekConfig, CommandError> {
    let flags = &args.flags;
    let script = script_of(args)?;
    let search = search(flags, subject(script.as_ref()))?;
    let cooldown = flags.cooldown.unwrap_or(lengths(flags, &search.objective).cooldown);
    outputs::check_watched(&flags.watched)?;
    let (list, settings) = match &script {
        Some(_) => (TargetList::default(), Settings::default()),
        None => requests(args, environment)?,
    };
    // A step's length and load are its own.
    let seed = flags.client.engine.seed.unwrap_or(environment.seed);
    let plan = Plan::new(Load::Closed { users: 1 }, Targets::new(list), seed);
    let (lines, terminal) =
        (flags.display.progress.unwrap_or(true), environment.stderr_is_terminal);
    Ok(SeekConfig {
        search,
        plan,
        settings,
        arrivals: flags.arrivals.unwrap_or(match script {
            Some(_) => Arrivals::Constant,
            None => Arrivals::Poisson,
        }),
        script,
        script_files: None,
        fleet: fleet(flags, args.global.cpus)?,
        watching: monitor_beside(&flags.watched),
        cooldown,
        fitted: fitted(flags),
        state: flags.state.clone(),
        began: session::unix_ns(),
        seed_given: flags.client.engine.seed.is_some(),
        plot: plot(flags)?,
        reports: flags.saving.reports.clone(),
        json: flags.display.json,
        displays: Displays {
            terminal: match (flags.display.tui, lines && terminal) {
                (true, _) => TerminalView::FullScreen,
                (false, true) => TerminalView::Progress,
                (false, false) => TerminalView::Nothing,
            },
            page: flags.display.web.as_deref().map(PageRequest::at),
            metrics: flags.display.prometheus_addr.as_deref().map(MetricsRequest::at),
        },
        on_invalid: flags.display.on_invalid,
        lines,
        paint: paint(environment),
    })
}

/// Checks as much of a command line as needs no file and no look at the machine. Standard input counts as empty.
///
/// # Errors
/// A flag is wrong.
pub(crate) fn validate(args: &ParsedArgs<SeekFlags>) -> Result<(), CommandError> {
    let flags = &args.flags;
    let script = script_of(args)?;
    search(flags, subject(script.as_ref()))?;
    outputs::check_watched(&flags.watched)?;
    fleet(flags, None)?;
    if script.is_some() {
        return Ok(());
    }
    targets::format(&LoadRules::NATIVE, &flags.target)?;
    settings::check_key(&LoadRules::NATIVE, &flags.client.tls)?;
    let list = targets::list_without_files(&args.operands, &flags.target)?;
    match flags.by {
        Raised::Connections => targets::check_streams(&flags.http, &list),
        Raised::Rate | Raised::Vus => Ok(()),
    }
}

/// What the load of a search consists of.
const fn subject(script: Option<&ScriptSource>) -> Subject {
    match script {
        Some(_) => Subject::Iterations,
        None => Subject::Requests,
    }
}

/// The targets, and how they are asked.
fn requests(
    args: &ParsedArgs<SeekFlags>,
    environment: &Environment<'_>,
) -> Result<(TargetList, Settings), CommandError> {
    let flags = &args.flags;
    settings::check_client(&LoadRules::NATIVE, &flags.client)?;
    let list = targets::list(&args.operands, &flags.target)?;
    let http = http(flags);
    if flags.by == Raised::Connections {
        targets::check_streams(&http, &list)?;
    }
    let mut settings =
        settings::client_settings(args, &flags.client, &LoadRules::NATIVE, environment)?;
    settings::apply_http(&http, &mut settings);
    settings.chunked = flags.target.chunked;
    Ok((list, settings))
}

/// The fleet that the flags ask for. Each of its agents needs a connection.
fn fleet(flags: &SeekFlags, cpus: Option<u64>) -> Result<Option<FleetRequest>, CommandError> {
    let request = flags.fleet.request(cpus).map_err(usage_error)?;
    let Some(open) = &request else { return Ok(None) };
    let Some(agents) = open.options.agents else {
        return Err(usage_error(
            "a search needs the number of its agents (give -agents=N), so that all of its steps have the same",
        ));
    };
    if flags.by == Raised::Connections && flags.from.unwrap_or(1.0) < agents as f64 {
        return Err(usage_error(format!(
            "flag -from: a fleet of {agents} agents begins with at least {agents} connections (give -from={agents})"
        )));
    }
    Ok(request)
}

/// The flags of HTTP. A connection that is counted has one stream unless more are asked for: else an HTTP/2 server would get all
/// requests on the first.
fn http(flags: &SeekFlags) -> HttpFlags {
    let mut http = flags.http.clone();
    if flags.by == Raised::Connections {
        http.streams.get_or_insert(1);
    }
    http
}

/// The file for the curve. An ending that no picture has is found before the search, not after it.
fn plot(flags: &SeekFlags) -> Result<Option<(String, Document)>, CommandError> {
    let Some(path) = &flags.plot else { return Ok(None) };
    let document = figure_document("-plot", path).map_err(usage_error)?;
    Ok(Some((path.clone(), document)))
}

/// Colours, on a terminal and without NO_COLOR.
fn paint(environment: &Environment<'_>) -> Paint {
    let no_color = (environment.variable)("NO_COLOR").is_some();
    if environment.stderr_is_terminal && !no_color { Paint::Ansi } else { Paint::Plain }
}

/// The search that the flags ask for.
fn search(flags: &SeekFlags, subject: Subject) -> Result<Search, CommandError> {
    let given = flags.objective.clone();
    let mut objective = given.unwrap_or_else(|| OBJECTIVE.parse().expect("it is an objective"));
    if !objective.conditions().iter().any(|condition| condition.metric == Metric::Errors) {
        let errors = Condition { metric: Metric::Errors, op: Op::Below, limit: ERRORS_LIMIT };
        objective = objective.and(errors).map_err(|_| {
            usage_error(format!(
                "flag -objective: too many conditions together with {errors}, which brunt adds to an objective without errors (expected at most {CONDITIONS_MAX})"
            ))
        })?;
    }
    let by = match flags.by {
        Raised::Rate => By::Rate,
        Raised::Connections | Raised::Vus => By::Connections,
    };
    let from = match (by, subject) {
        (By::Rate, Subject::Requests) => RATE_FROM,
        (By::Rate, Subject::Iterations) => ITERATIONS_FROM,
        (By::Connections, _) => CONNECTIONS_FROM,
    };
    let from = by.offered(flags.from.unwrap_or(from).min(flags.to.unwrap_or(f64::MAX)));
    let to = flags.to.map(|to| by.offered(to));
    if let (Some(asked), Some(to)) = (flags.from, flags.to)
        && asked > to
    {
        return Err(usage_error(format!("flag -from: {asked} is greater than -to={to}")));
    }
    let lengths = lengths(flags, &objective);
    let steps_max = flags.max_steps.unwrap_or(STEPS_MAX);
    Ok(Search {
        objective,
        by,
        subject,
        from,
        to,
        step: flags.step.unwrap_or(lengths.step),
        warmup: flags.warmup.unwrap_or(lengths.warmup),
        // A length that is given is that of every step.
        probe: if flags.step.is_some() { 1.0 } else { lengths.probe },
        precision: flags.precision,
        steps_max: usize::try_from(steps_max).unwrap_or(usize::MAX),
        budget: budget(flags),
    })
}

/// How long the search may take. Steps of a given length or number already say how long it is.
fn budget(flags: &SeekFlags) -> Option<Nanos> {
    let bounded = flags.step.is_some() || flags.max_steps.is_some();
    let budget = flags.budget.or((!bounded).then_some(BUDGET))?;
    (budget > Nanos::ZERO).then_some(budget)
}

/// The lengths of steps where they are not given: those that fit a budget that is.
fn lengths(flags: &SeekFlags, objective: &Objective) -> Lengths {
    let budget = flags.budget.filter(|budget| *budget > Nanos::ZERO);
    budget.map_or(Lengths::UNBOUNDED, |budget| Lengths::of_budget(budget, objective))
}

/// The lengths that a given budget decides. Steps of another budget are of use to the same search.
fn fitted(flags: &SeekFlags) -> Vec<&'static str> {
    let given = [("step", flags.step.is_some()), ("warmup", flags.warmup.is_some())];
    let fits = flags.budget.is_some_and(|budget| budget > Nanos::ZERO);
    given.into_iter().filter(|(_, given)| fits && !given).map(|(name, _)| name).collect()
}

impl SeekConfig {
    /// How requests arrive: `poisson`, `constant`, or `closed loop`.
    pub(crate) fn arrivals(&self) -> &'static str {
        match (self.search.by, self.arrivals) {
            (By::Connections, _) => "closed loop",
            (By::Rate, Arrivals::Constant) => "constant",
            (By::Rate, Arrivals::Poisson) => "poisson",
        }
    }

    /// How a step of this load is carried out.
    pub(crate) fn settings(&self, load: f64) -> Settings {
        let mut settings = self.settings.clone();
        if self.search.by == By::Connections {
            let connections = load.max(1.0) as usize;
            (settings.connections, settings.max_connections) = (connections, Some(connections));
        }
        settings
    }

    /// When a step's hits begin.
    pub(crate) fn load(&self, load: f64) -> Load {
        match self.search.by {
            // A user on each stream of each connection.
            By::Connections => {
                let streams = self.settings.streams as u64;
                Load::Closed { users: streams.saturating_mul(load.max(1.0) as u64) }
            }
            By::Rate => {
                // Loads are whole thousandths.
                let (hits, per) = ((load * 1e3).round() as u64, Nanos::from_secs(1000));
                let rate = Rate { hits: hits.max(1), per };
                let shape = match self.arrivals {
                    Arrivals::Constant => Shape::constant(rate),
                    Arrivals::Poisson => Shape::Poisson { rate },
                };
                Load::Open { shape, max_in_flight: None }
            }
        }
    }

    /// A step of this load as a trial of a script.
    pub(crate) fn trial<'a>(
        &self,
        load: f64,
        duration: Nanos,
        begun: &'a Cell<Nanos>,
    ) -> ScriptTrial<'a> {
        let load = match self.search.by {
            By::Rate => TrialLoad::Iterations(load),
            By::Connections => TrialLoad::Vus(load.max(1.0) as u64),
        };
        ScriptTrial { load, duration, begun }
    }

    /// What makes a search another one, by name: steps of one are of no use to the other.
    pub(crate) fn identity(&self) -> Vec<(&'static str, String)> {
        let (search, settings) = (&self.search, &self.settings);
        let length = |name, length: Nanos| match self.fitted.contains(&name) {
            true => "to fit the budget".to_owned(),
            false => length.to_string(),
        };
        let mut pairs = vec![
            ("objective", search.objective.to_string()),
            ("by", report::seek::unit_name(search.unit()).to_owned()),
            ("arrivals", self.arrivals().to_owned()),
            ("from", search.from.to_string()),
            ("to", search.to.map_or_else(|| "unlimited".to_owned(), |to| to.to_string())),
            ("step", length("step", search.step)),
            ("warmup", length("warmup", search.warmup)),
            ("timeout", settings.timeout.unwrap_or_default().to_string()),
            ("keepalive", settings.keepalive.to_string()),
            ("targets", format!("{:016x}", fingerprint(self.plan.targets.list()))),
        ];
        match &self.script {
            Some(script) => pairs.extend(script::identity(script, self.script_files)),
            None => {
                pairs.extend(way(settings));
                pairs.extend(renewed(settings.renewal));
            }
        }
        pairs
    }
}

/// What decides which server is asked, and how, besides the targets.
fn way(settings: &Settings) -> [(&'static str, String); 8] {
    let texts =
        |list: Vec<String>| if list.is_empty() { "none".to_owned() } else { list.join(", ") };
    let redirected = settings.connect_to.iter().map(|(from, to)| format!("{from} at {to}"));
    let fixed = settings.host_policy.hosts.iter().map(|rule| {
        let port = rule.port.map_or_else(String::new, |port| format!(":{port}"));
        format!("{}{port} at {}", rule.name, rule.ip)
    });
    let socket = settings.unix_socket.as_ref().map(|path| path.display().to_string());
    let protocol = match settings.protocol {
        Protocol::Http1 => "HTTP/1.1",
        Protocol::Alpn => "HTTP/2 over TLS",
        Protocol::PriorKnowledge => "HTTP/2",
    };
    let streams = match settings.streams {
        usize::MAX => "unlimited".to_owned(),
        streams => streams.to_string(),
    };
    [
        ("protocol", protocol.to_owned()),
        ("streams", streams),
        ("connect-to", texts(redirected.collect())),
        ("resolve", texts(fixed.collect())),
        ("unix-socket", texts(socket.into_iter().collect())),
        ("laddr", texts(settings.local_addrs.iter().map(ToString::to_string).collect())),
        (
            "redirects",
            match settings.redirects {
                Redirects::Follow(most) => most.to_string(),
                Redirects::SameHost(_) => "same-host".to_owned(),
                Redirects::Keep => "none".to_owned(),
            },
        ),
        ("chunked", settings.chunked.to_string()),
    ]
}

/// When connections are replaced, where that was asked for; files of before do not have it.
fn renewed(Renewal { age_max, requests_max }: Renewal) -> Vec<(&'static str, String)> {
    let age = age_max.map(|age| ("conn-max-age", age.to_string()));
    let requests = requests_max.map(|most| ("conn-max-requests", most.to_string()));
    age.into_iter().chain(requests).collect()
}

/// A number that is another one for other targets.
fn fingerprint(targets: &TargetList) -> u64 {
    targets.iter().fold(targets.len() as u64, |seed, target| {
        let headers = target.headers.iter().flat_map(|(name, value)| [name, value]);
        let texts = [target.method, target.url].into_iter().chain(headers.map(String::as_str));
        let seed = texts.fold(seed, |seed, text| mix_all(seed, text.as_bytes()));
        mix_all(mix(seed, u64::from(target.weight)), target.body)
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use cli::{Dialect, GlobalFlags, Invocation};

    use super::*;
    use crate::load::seek::flags::FLAGS;

    /// The search of a command line, after `-objective=p99<1s`.
    pub(crate) fn resolved(line: &str) -> Result<SeekConfig, CommandError> {
        let args = ["-objective=p99<1s"].into_iter().chain(line.split_whitespace());
        let args = args.map(str::to_owned).collect();
        let invocation =
            Invocation { dialect: Dialect::Native, global: GlobalFlags::default(), args };
        let args = invocation.parse(FLAGS).unwrap_or_else(|_| panic!("{line}"));
        resolve(&args, &Environment::of_process_with_report())
    }

    #[test]
    fn connections_are_what_they_are_over_http2_too() {
        let check = |line: &str, streams: usize, users: u64, connections: Option<usize>| {
            let config = resolved(line).unwrap_or_else(|_| panic!("{line}"));
            assert_eq!(config.settings.streams, streams, "{line}");
            assert_eq!(config.settings(6.0).max_connections, connections, "{line}");
            if let Load::Closed { users: planned } = config.load(6.0) {
                assert_eq!(planned, users, "{line}");
            }
        };
        check("-by=connections https://h/", 1, 6, Some(6));
        check("-by=connections -m 4 https://h/", 4, 24, Some(6));
        check("-by=connections -m 4 -h2c http://h/", 4, 24, Some(6));
        check("https://h/", usize::MAX, 0, None);
        check("-m 4 http://h/", 4, 0, None);
        assert!(resolved("-by=connections -m 4 http://h/").is_err(), "no streams without HTTP/2");
        assert!(resolved("-by=connections -m 4 -http2=false https://h/").is_err());
    }

    #[test]
    fn steps_of_another_server_differ() {
        let identity = |flags: &str| {
            let config = resolved(&format!("{flags} https://h/"));
            config.unwrap_or_else(|_| panic!("{flags}")).identity()
        };
        let plain = identity("");
        assert_eq!(plain, identity("-precision=1% -max-steps=9"), "of use to both");
        assert_eq!(identity("-budget=2m"), identity("-budget=4m"), "a longer search goes on");
        for (flags, name) in [
            ("-connect-to h:443:a:1", "connect-to"),
            ("-resolve h:443:127.0.0.1", "resolve"),
            ("-unix-socket /a", "unix-socket"),
            ("-redirects 3", "redirects"),
            ("-redirects -1", "redirects"),
            ("-chunked", "chunked"),
            ("-laddr 127.0.0.1", "laddr"),
            ("-http2=false", "protocol"),
            ("-h2c", "protocol"),
            ("-m 3", "streams"),
            ("-by connections", "by"),
            ("-arrivals constant", "arrivals"),
            ("-budget 2m", "step"),
        ] {
            let other = identity(flags);
            let differs = plain.iter().zip(&other).find(|(one, other)| one != other);
            assert_eq!(differs.map(|(one, _)| one.0), Some(name), "{flags}");
        }
    }

    #[test]
    fn a_budget_chooses_what_is_not_given() {
        let search = |flags: &str| {
            let config = resolved(&format!("{flags} https://h/"));
            config.unwrap_or_else(|_| panic!("{flags}")).search
        };
        let check = |flags: &str, budget_s: u64, step_ms: u64, probe: f64| {
            let search = search(flags);
            let budget = (budget_s > 0).then_some(Nanos::from_secs(budget_s));
            assert_eq!(search.budget, budget, "{flags}");
            assert_eq!(
                (search.step, search.probe),
                (Nanos::from_millis(step_ms), probe),
                "{flags}"
            );
        };
        check("", 900, 10_000, 1.0);
        check("-budget=0s", 0, 10_000, 1.0);
        check("-max-steps=9", 0, 10_000, 1.0);
        check("-step=1m", 0, 60_000, 1.0);
        check("-step=2s -budget=1m", 60, 2000, 1.0);
        check("-budget=2m", 120, 10_000, 0.375);
        check("-budget=1h", 3600, 10_000, 0.5);
        assert_eq!(search("-budget=2m -warmup=1s").warmup, Nanos::SECOND);
    }

    #[test]
    fn the_errors_need_room_in_the_objective() {
        let eight = format!("-objective={}", ["max<1s"; 8].join(","));
        assert!(resolved(&format!("{eight} http://h/")).is_err());
        let named = eight.replacen("max<1s", "errors<9%", 1);
        assert!(resolved(&format!("{named} http://h/")).is_ok());
    }
}

//! `Meant`: what a command line of `seek` means, with its files read and its search validated. Nothing was sent yet.

use std::io::IsTerminal;

use engine::Settings;
use metrics::{CONDITIONS_MAX, Condition, Metric, Op};
use report::live::Paint;
use stdx::{Nanos, mix};
use study::seek::{By, Search};
use workload::arrival::{Rate, Shape};
use workload::{Load, Plan, Target};

use crate::command::{Ended, attack, usage};
use crate::dialect::Typed;
use crate::flags::attack::AttackFlags;

/// What a command line of `seek` means.
#[derive(Debug)]
pub(super) struct Meant {
    /// What is searched.
    pub(super) search: Search,
    /// Whom to ask for what, and the seed; a step's load and length are its own.
    pub(super) plan: Plan,
    /// How to carry a step out.
    pub(super) settings: Settings,
    /// How requests arrive: `poisson`, `constant`, or `closed loop`.
    pub(super) arrivals: &'static str,
    /// What each step leaves out before it is measured.
    pub(super) warmup: Nanos,
    /// The pause after each step.
    pub(super) cooldown: Nanos,
    /// Where steps are kept.
    pub(super) state: Option<String>,
    /// The seed was given, and not drawn.
    pub(super) seed_given: bool,
    /// Where the curve is drawn.
    pub(super) plot: Option<String>,
    /// Print JSON.
    pub(super) json: bool,
    /// Say a line after each step.
    pub(super) lines: bool,
    /// Draw what a step sees while it runs.
    pub(super) live: bool,
    /// In colour or not.
    pub(super) paint: Paint,
}

/// The lowest rate where none is given, per second.
const RATE_FROM: f64 = 10.0;
/// The fewest connections where none are given.
const CONNECTIONS_FROM: f64 = 1.0;
/// The share of errors that is let pass where the objective says nothing of them.
const ERRORS_LIMIT: f64 = 0.01;

/// Reads what the command line names and validates it.
pub(super) fn meant(typed: &Typed<AttackFlags>) -> Result<Meant, Ended> {
    let flags = &typed.flags;
    let search = search(typed)?;
    let (plan, mut settings) = attack::offer(typed)?;
    settings.rows = true;
    let arrivals = match (search.by, flags.seek.arrivals.as_str()) {
        (By::Connections, _) => "closed loop",
        (By::Rate, "constant") => "constant",
        (By::Rate, _) => "poisson",
    };
    let (lines, terminal) = (flags.progress.unwrap_or(true), std::io::stderr().is_terminal());
    Ok(Meant {
        search,
        plan,
        settings,
        arrivals,
        warmup: flags.seek.warmup,
        cooldown: flags.seek.cooldown,
        state: flags.seek.state.clone(),
        seed_given: flags.seed.is_some(),
        plot: flags.seek.plot.clone(),
        json: flags.json,
        lines,
        live: lines && terminal,
        paint: super::paint(terminal),
    })
}

/// What is searched.
fn search(typed: &Typed<AttackFlags>) -> Result<Search, Ended> {
    let flags = &typed.flags.seek;
    let Some(mut objective) = flags.objective.clone() else {
        return Err(usage(
            "flag -objective is needed, such as -objective='p99<250ms, errors<0.1%'",
        ));
    };
    if !objective.conditions().iter().any(|condition| condition.metric == Metric::Errors) {
        let errors = Condition { metric: Metric::Errors, op: Op::Below, limit: ERRORS_LIMIT };
        objective = objective.and(errors).map_err(|_| {
            usage(format!(
                "flag -objective: no room for {errors}, which is added where nothing is said of errors (expected at most {CONDITIONS_MAX} conditions)"
            ))
        })?;
    }
    let (by, from) = match flags.by.as_str() {
        "connections" => (By::Connections, CONNECTIONS_FROM),
        _ => (By::Rate, RATE_FROM),
    };
    let from = by.offered(flags.from.unwrap_or(from).min(flags.to.unwrap_or(f64::MAX)));
    let to = flags.to.map(|to| by.offered(to));
    if let (Some(asked), Some(to)) = (flags.from, flags.to)
        && asked > to
    {
        return Err(usage(format!("flag -from: {asked} is more than -to={to}")));
    }
    Ok(Search {
        objective,
        by,
        from,
        to,
        step: flags.step,
        precision: flags.precision,
        steps_max: usize::try_from(flags.max_steps).unwrap_or(usize::MAX),
    })
}

impl Meant {
    /// When a step's hits begin.
    pub(super) fn load(&self, load: f64) -> Load {
        match self.search.by {
            By::Connections => Load::Closed { users: load.max(1.0) as u64 },
            By::Rate => {
                // Loads are whole thousandths.
                let (hits, per) = ((load * 1e3).round() as u64, Nanos::from_secs(1000));
                let rate = Rate { hits: hits.max(1), per };
                let shape = match self.arrivals {
                    "constant" => Shape::constant(rate),
                    _ => Shape::Poisson { rate },
                };
                Load::Open { shape, max_in_flight: None }
            }
        }
    }

    /// What makes a search another one, by name: steps of one are of no use to the other.
    pub(super) fn identity(&self) -> Vec<(&'static str, String)> {
        let (search, settings) = (&self.search, &self.settings);
        vec![
            ("objective", search.objective.to_string()),
            ("by", format!("{:?}", search.by).to_lowercase()),
            ("arrivals", self.arrivals.to_owned()),
            ("from", search.from.to_string()),
            ("to", search.to.map_or_else(|| "unlimited".to_owned(), |to| to.to_string())),
            ("step", search.step.to_string()),
            ("warmup", self.warmup.to_string()),
            ("timeout", settings.timeout.unwrap_or_default().to_string()),
            ("keepalive", settings.keepalive.to_string()),
            ("targets", format!("{:016x}", fingerprint(self.plan.targets.list()))),
        ]
    }
}

/// A number that is another one for other targets.
fn fingerprint(targets: &[Target]) -> u64 {
    targets.iter().fold(targets.len() as u64, |seed, target| {
        let headers = target.headers.iter().flat_map(|(name, value)| [name, value]);
        let texts = [&target.method, &target.url].into_iter().chain(headers);
        let seed = texts.fold(seed, |seed, text| hash(seed, text.as_bytes()));
        hash(mix(seed, u64::from(target.weight)), &target.body)
    })
}

fn hash(seed: u64, bytes: &[u8]) -> u64 {
    let seed = mix(seed, bytes.len() as u64);
    bytes.iter().fold(seed, |seed, byte| mix(seed, u64::from(*byte)))
}

//! `Meant`: what a command line of `seek` means, with its files read and its search validated. Nothing was sent yet.

use std::io::IsTerminal;

use engine::{Protocol, Redirects, Settings};
use metrics::{CONDITIONS_MAX, Condition, Metric, Op};
use report::live::Paint;
use stdx::{Nanos, mix};
use study::seek::{By, Search};
use workload::arrival::{Rate, Shape};
use workload::{Load, Plan, Target};

use crate::analyze::figure_file::figure_document;
use crate::command::{CommandError, attack, usage_error};
use crate::dialect::ParsedArgs;
use crate::ending::Document;
use crate::flags::attack::AttackFlags;
use crate::flags::seek::Arrivals;

/// What a command line of `seek` means.
#[derive(Debug)]
pub(super) struct Meant {
    /// What is searched.
    pub(super) search: Search,
    /// Whom to ask for what, and the seed; a step's load and length are its own.
    pub(super) plan: Plan,
    /// How to carry a step out, but for its connections.
    pub(super) settings: Settings,
    /// How the requests of a rate arrive.
    arrivals: Arrivals,
    /// What each step leaves out before it is measured.
    pub(super) warmup: Nanos,
    /// The pause after each step.
    pub(super) cooldown: Nanos,
    /// Where steps are kept.
    pub(super) state: Option<String>,
    /// The seed was given, and not drawn.
    pub(super) seed_given: bool,
    /// Where the curve is drawn, and as what.
    pub(super) plot: Option<(String, Document)>,
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
pub(super) fn meant(typed: &ParsedArgs<AttackFlags>) -> Result<Meant, CommandError> {
    let flags = &typed.flags;
    let search = search(typed)?;
    let (plan, mut settings) = attack::offer(typed.clone())?;
    settings.rows = true;
    let (lines, terminal) = (flags.progress.unwrap_or(true), std::io::stderr().is_terminal());
    Ok(Meant {
        search,
        plan,
        settings,
        arrivals: flags.seek.arrivals,
        warmup: flags.seek.warmup,
        cooldown: flags.seek.cooldown,
        state: flags.seek.state.clone(),
        seed_given: flags.seed.is_some(),
        plot: plot(flags)?,
        json: flags.json,
        lines,
        live: lines && terminal,
        paint: super::paint(terminal),
    })
}

/// Where the curve is drawn: an ending that no picture has must not cost a search.
fn plot(flags: &AttackFlags) -> Result<Option<(String, Document)>, CommandError> {
    let Some(path) = &flags.seek.plot else { return Ok(None) };
    let document = figure_document("-plot", path).map_err(usage_error)?;
    Ok(Some((path.clone(), document)))
}

/// As much of [`meant`] as the words alone tell.
pub(super) fn check_words(typed: &ParsedArgs<AttackFlags>) -> Result<(), CommandError> {
    search(typed)?;
    attack::check_offer(typed)
}

/// What is searched.
fn search(typed: &ParsedArgs<AttackFlags>) -> Result<Search, CommandError> {
    let flags = &typed.flags.seek;
    let Some(mut objective) = flags.objective.clone() else {
        return Err(usage_error(
            "flag -objective is needed, such as -objective='p99<250ms, errors<0.1%'",
        ));
    };
    if !objective.conditions().iter().any(|condition| condition.metric == Metric::Errors) {
        let errors = Condition { metric: Metric::Errors, op: Op::Below, limit: ERRORS_LIMIT };
        objective = objective.and(errors).map_err(|_| {
            usage_error(format!(
                "flag -objective: no room for {errors}, which is added where nothing is said of errors (expected at most {CONDITIONS_MAX} conditions)"
            ))
        })?;
    }
    let by = flags.by;
    let from = match by {
        By::Connections => CONNECTIONS_FROM,
        By::Rate => RATE_FROM,
    };
    let from = by.offered(flags.from.unwrap_or(from).min(flags.to.unwrap_or(f64::MAX)));
    let to = flags.to.map(|to| by.offered(to));
    if let (Some(asked), Some(to)) = (flags.from, flags.to)
        && asked > to
    {
        return Err(usage_error(format!("flag -from: {asked} is more than -to={to}")));
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
    /// How requests arrive: `poisson`, `constant`, or `closed loop`.
    pub(super) fn arrivals(&self) -> &'static str {
        match (self.search.by, self.arrivals) {
            (By::Connections, _) => "closed loop",
            (By::Rate, Arrivals::Constant) => "constant",
            (By::Rate, Arrivals::Poisson) => "poisson",
        }
    }

    /// How a step of this load is carried out.
    pub(super) fn settings(&self, load: f64) -> Settings {
        let mut settings = self.settings.clone();
        if self.search.by == By::Connections {
            let connections = load.max(1.0) as usize;
            (settings.connections, settings.max_connections) = (connections, Some(connections));
        }
        settings
    }

    /// When a step's hits begin.
    pub(super) fn load(&self, load: f64) -> Load {
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

    /// What makes a search another one, by name: steps of one are of no use to the other.
    pub(super) fn identity(&self) -> Vec<(&'static str, String)> {
        let (search, settings) = (&self.search, &self.settings);
        let mut pairs = vec![
            ("objective", search.objective.to_string()),
            ("by", format!("{:?}", search.by).to_lowercase()),
            ("arrivals", self.arrivals().to_owned()),
            ("from", search.from.to_string()),
            ("to", search.to.map_or_else(|| "unlimited".to_owned(), |to| to.to_string())),
            ("step", search.step.to_string()),
            ("warmup", self.warmup.to_string()),
            ("timeout", settings.timeout.unwrap_or_default().to_string()),
            ("keepalive", settings.keepalive.to_string()),
            ("targets", format!("{:016x}", fingerprint(self.plan.targets.list()))),
        ];
        pairs.extend(way(settings));
        pairs
    }
}

/// What decides which server is asked, and how, besides the targets.
fn way(settings: &Settings) -> [(&'static str, String); 7] {
    let texts =
        |list: Vec<String>| if list.is_empty() { "none".to_owned() } else { list.join(", ") };
    let redirected = settings.connect_to.iter().map(|(from, to)| format!("{from} at {to}"));
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
        ("unix-socket", texts(socket.into_iter().collect())),
        ("laddr", texts(settings.local_addrs.iter().map(ToString::to_string).collect())),
        (
            "redirects",
            match settings.redirects {
                Redirects::Follow(most) => most.to_string(),
                Redirects::Keep => "none".to_owned(),
            },
        ),
        ("chunked", settings.chunked.to_string()),
    ]
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

#[cfg(test)]
pub(super) mod tests {
    use cli::GlobalFlags;

    use super::*;
    use crate::dialect::{Dialect, Invocation};
    use crate::flags;

    /// What a command line means, after `-objective=p99<1s`.
    pub(in crate::command::seek) fn meaning(line: &str) -> Result<Meant, CommandError> {
        let args = ["-objective=p99<1s"].into_iter().chain(line.split_whitespace());
        let args = args.map(str::to_owned).collect();
        let invocation =
            Invocation { dialect: Dialect::Native, global: GlobalFlags::default(), args };
        meant(&invocation.parse(&flags::seek::table()).unwrap_or_else(|_| panic!("{line}")))
    }

    #[test]
    fn connections_are_what_they_are_over_http2_too() {
        let check = |line: &str, streams: usize, users: u64, connections: Option<usize>| {
            let meant = meaning(line).unwrap_or_else(|_| panic!("{line}"));
            assert_eq!(meant.settings.streams, streams, "{line}");
            assert_eq!(meant.settings(6.0).max_connections, connections, "{line}");
            if let Load::Closed { users: planned } = meant.load(6.0) {
                assert_eq!(planned, users, "{line}");
            }
        };
        check("-by=connections https://h/", 1, 6, Some(6));
        check("-by=connections -m 4 https://h/", 4, 24, Some(6));
        check("-by=connections -m 4 -h2c http://h/", 4, 24, Some(6));
        check("https://h/", usize::MAX, 0, None);
        check("-m 4 http://h/", 4, 0, None);
        assert!(meaning("-by=connections -m 4 http://h/").is_err(), "no streams without HTTP/2");
        assert!(meaning("-by=connections -m 4 -http2=false https://h/").is_err());
    }

    #[test]
    fn steps_of_another_server_are_told() {
        let identity = |flags: &str| {
            let meant = meaning(&format!("{flags} https://h/"));
            meant.unwrap_or_else(|_| panic!("{flags}")).identity()
        };
        let plain = identity("");
        assert_eq!(plain, identity("-precision=1% -max-steps=9"), "of use to both");
        for (flags, name) in [
            ("-connect-to h:443:a:1", "connect-to"),
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
        ] {
            let other = identity(flags);
            let differs = plain.iter().zip(&other).find(|(one, other)| one != other);
            assert_eq!(differs.map(|(one, _)| one.0), Some(name), "{flags}");
        }
    }

    #[test]
    fn the_errors_need_room_in_the_objective() {
        let eight = format!("-objective={}", ["max<1s"; 8].join(","));
        assert!(meaning(&format!("{eight} http://h/")).is_err());
        let named = eight.replacen("max<1s", "errors<9%", 1);
        assert!(meaning(&format!("{named} http://h/")).is_ok());
    }
}

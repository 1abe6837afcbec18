//! `FleetWork`: what a fleet is to do, and what its coordinator has to know of it.

use stdx::Nanos;
use workload::{Load, Plan};

use crate::archive::{Archive, CableArchive, Content};

/// How long requests without a timeout may take to end.
const NO_TIMEOUT: Nanos = Nanos::from_secs(300);

/// What a fleet is to do.
#[derive(Clone, Debug)]
pub struct FleetWork {
    pub(crate) content: Content,
    /// What `setup()` returned.
    pub(crate) setup: Option<Vec<u8>>,
    /// How long requests, or iterations, may take to end after the last one began.
    pub(crate) longest_end: Nanos,
    /// Targets of the plan, which rows name by number.
    pub(crate) targets: usize,
    pub(crate) whole: WholeLoad,
}

/// What the generators of all agents are asked for together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WholeLoad {
    pub(crate) users: u64,
    pub(crate) rate_per_s: f64,
    pub(crate) max_in_flight: u64,
    /// Each request that ends has a row, which travels.
    pub(crate) sends_all_rows: bool,
}

impl FleetWork {
    /// A plan, with its settings.
    #[must_use]
    pub fn load(archive: Archive) -> Self {
        Self {
            setup: None,
            longest_end: archive.settings.timeout.unwrap_or(NO_TIMEOUT),
            targets: archive.plan.targets.list().len(),
            whole: WholeLoad { sends_all_rows: true, ..WholeLoad::of(&archive.plan) },
            content: Content::Load(Box::new(archive)),
        }
    }

    /// What agents were given, of a run that is resumed.
    pub(crate) fn of(content: Content) -> Self {
        match content {
            Content::Load(archive) => Self::load(*archive),
            Content::Cable(archive) => Self::cable(*archive),
            Content::Script(archive) => Self::script(archive, None, 0, Nanos::ZERO),
        }
    }

    /// A test of Action Cable.
    #[must_use]
    pub fn cable(archive: CableArchive) -> Self {
        let whole = WholeLoad { users: archive.plan.users.into(), ..WholeLoad::default() };
        // A handshake, a confirmation and a message have the timeout each.
        let longest_end = archive.plan.timeout.saturating_add(archive.plan.timeout);
        let content = Content::Cable(Box::new(archive));
        Self { content, setup: None, longest_end, targets: 0, whole }
    }

    /// A script of so many VUs, with what its `setup()` returned, in a form of its own. Its last iterations end within
    /// `longest_end`.
    #[must_use]
    pub fn script(archive: Vec<u8>, setup: Option<Vec<u8>>, vus: u64, longest_end: Nanos) -> Self {
        let whole = WholeLoad { users: vus, ..WholeLoad::default() };
        Self { content: Content::Script(archive), setup, longest_end, targets: 0, whole }
    }
}

impl WholeLoad {
    fn of(plan: &Plan) -> Self {
        match &plan.load {
            Load::Open { shape, max_in_flight } => Self {
                rate_per_s: shape.mean_rate_per_s(plan.duration),
                max_in_flight: max_in_flight.unwrap_or(0),
                ..Self::default()
            },
            Load::Closed { users } => Self { users: *users, ..Self::default() },
            Load::Users(crew) => Self { users: crew.users, ..Self::default() },
        }
    }
}

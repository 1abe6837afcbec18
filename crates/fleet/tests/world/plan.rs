//! `Plan`: what goes wrong in a simulated run, drawn from a seed.

use stdx::Prng;

use crate::load::SECOND;

/// Something that goes wrong at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The agent's process ends; another one of its name asks to join a second later.
    Kill(usize),
    /// The agent's process stands still for so long (ns).
    Pause(usize, u64),
    /// The agent's messages are lost, both ways, for so long (ns).
    Partition(usize, u64),
    /// The coordinator's process ends, and another goes on with its journal after so long (ns).
    Restart(u64),
    /// Another coordinator takes the lease while the first one lives.
    TakeOver,
    /// Every message is lost for so long (ns).
    BusDown(u64),
    /// The user ends the run.
    Abort,
}

/// What a simulated run is made of.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) agents: usize,
    pub(crate) seconds: u64,
    pub(crate) rate: u64,
    pub(crate) goes_on: bool,
    /// Messages lost and doubled, of 100.
    pub(crate) lost: u64,
    pub(crate) doubled: u64,
    /// The longest way of a message (ns).
    pub(crate) delay_max: u64,
    /// How long the disk takes for a record, at most (ns).
    pub(crate) disk_max: u64,
    /// When each fault happens (ns).
    pub(crate) faults: Vec<(u64, Fault)>,
}

impl Plan {
    /// A run without faults.
    pub(crate) fn calm(agents: usize) -> Self {
        Self {
            agents,
            seconds: 8,
            rate: 20,
            goes_on: false,
            lost: 0,
            doubled: 0,
            delay_max: SECOND / 500,
            disk_max: SECOND / 200,
            faults: Vec::new(),
        }
    }

    /// The run of a seed.
    pub(crate) fn of(seed: u64) -> Self {
        let mut rng = Prng::new(seed);
        let agents = match rng.below(10) {
            0 => 1 + rng.below(200),
            1..=3 => 1 + rng.below(40),
            _ => 1 + rng.below(8),
        };
        let agents = agents as usize;
        let mut plan = Self {
            agents,
            seconds: 4 + rng.below(20),
            rate: 1 + rng.below(50),
            goes_on: rng.below(2) == 0,
            lost: rng.below(2) * rng.below(30),
            doubled: rng.below(2) * rng.below(30),
            delay_max: SECOND / 1000 + rng.below(SECOND / 2),
            // A disk that is busy, for some of them.
            disk_max: if rng.below(3) == 0 { 2 * SECOND } else { SECOND / 20 },
            faults: Vec::new(),
        };
        for _ in 0..rng.below(4) {
            // From the joining to beyond the end.
            let at = rng.below((plan.seconds + 10) * SECOND);
            plan.faults.push((at, fault(&mut rng, agents)));
        }
        plan
    }

    /// Whether a fault of this kind is in it.
    pub(crate) fn has(&self, is: impl Fn(&Fault) -> bool) -> bool {
        self.faults.iter().any(|(_, fault)| is(fault))
    }
}

fn fault(rng: &mut Prng, agents: usize) -> Fault {
    let agent = rng.below(agents as u64) as usize;
    let long = SECOND / 2 + rng.below(20 * SECOND);
    match rng.below(7) {
        0 => Fault::Kill(agent),
        1 => Fault::Pause(agent, long),
        2 => Fault::Partition(agent, long),
        3 => Fault::Restart(SECOND / 10 + rng.below(8 * SECOND)),
        4 => Fault::TakeOver,
        5 => Fault::BusDown(long),
        _ => Fault::Abort,
    }
}

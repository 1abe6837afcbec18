//! What coordinator and agents send each other. Every message may be lost, doubled, late and out of order: a command is sent
//! until the agent's state shows that it was obeyed, a delta until it was applied.

use serde::{Deserialize, Serialize};
use stdx::Nanos;

use crate::counts::Counts;
use crate::ids::{Digest, Epoch, Incarnation, Name, Seq};
use crate::split::Share;

/// The longest text (reason, version, label) that is read, in bytes.
pub const TEXT_MAX: usize = 1024;

/// The largest payload of a delta, in bytes.
pub const PAYLOAD_MAX: usize = 512 * 1024;

/// The most labels of an agent that are read.
pub const LABELS_MAX: usize = 32;

/// How often coordinator and agents show that they are alive.
pub const BEAT: Nanos = Nanos(1_000_000_000);

/// A message of an agent. The transport says which agent sent it, and has checked its key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FromAgent {
    /// The process that sent it.
    pub epoch: Epoch,
    /// What it says.
    pub body: AgentBody,
}

/// What an agent sends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AgentBody {
    /// Asks to join; repeated each second until it is welcome.
    Hello(Hello),
    /// Each second: that it is alive, how far it is, and a sample of its clock.
    Beat(Beat),
    /// What it measured in a second.
    Delta(Delta),
    /// Asks the coordinator to stop the run, with the reason.
    Abort(String),
}

/// How an agent introduces itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Its version of brunt; all of a fleet have the same.
    pub version: String,
    /// The cores it may use: its weight in the split.
    pub cores: u32,
    /// Labels as `KEY=VALUE`.
    pub labels: Vec<String>,
}

impl Hello {
    /// The same with texts of at most [`TEXT_MAX`] bytes and at most [`LABELS_MAX`] labels: it goes into the journal.
    #[must_use]
    pub fn cut(&self) -> Self {
        let labels = self.labels.iter().take(LABELS_MAX).map(|label| cut_text(label)).collect();
        Self { version: cut_text(&self.version), cores: self.cores, labels }
    }
}

/// A sign of life.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beat {
    /// How far the agent is.
    pub state: AgentState,
    /// The last message of the coordinator, for the clock.
    pub echo: Option<Echo>,
    /// When this was sent, by the agent's clock (t2).
    pub sent: Nanos,
    /// The last delta it made; 0 is none.
    pub made: Seq,
    /// Times its process stood still.
    pub pauses: Pauses,
    /// The barriers of its load.
    pub barriers: Barriers,
}

/// How far a load is with its barriers: points that all agents wait at, and pass at one instant. They are numbered from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Barriers {
    /// The last that the agent reached.
    pub reached: u32,
    /// The last that it has the instant of.
    pub passed: u32,
}

/// The stamps of a message that the agent received.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Echo {
    /// When the coordinator sent it, by its clock (t0).
    pub sent: Nanos,
    /// When the agent received it, by the agent's clock (t1).
    pub received: Nanos,
}

/// Times a process stood still.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pauses {
    /// How many.
    pub count: u32,
    /// The longest of them.
    pub longest: Nanos,
}

/// How far an agent is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AgentState {
    /// Not yet welcome.
    Joining,
    /// Welcome, without work.
    Waiting,
    /// Fetches and checks the archive and the setup's data.
    Preparing,
    /// Can start.
    Ready,
    /// Has the instant of the start.
    Armed,
    /// Sends requests.
    Running,
    /// Sends no more; requests under way end, and deltas wait to be applied.
    Draining,
    /// Its work is over and every delta applied, or the coordinator released it.
    Released,
    /// Cannot do its part, with the reason.
    Failed(String),
}

/// What an agent measured in a stretch of time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delta {
    /// Its number.
    pub seq: Seq,
    /// Begin of the stretch, by the agent's clock.
    pub from: Nanos,
    /// End of the stretch.
    pub to: Nanos,
    /// What became of requests in the stretch.
    pub counts: Counts,
    /// The same from the agent's start, this stretch included: a check on what was applied.
    pub totals: Counts,
    /// Histograms and counts for the merge; the host knows their form. Empty where the spool had no room for it.
    pub payload: Vec<u8>,
    /// Deltas up to this one that lost their payload, since the spool was full.
    pub payloads_lost: u64,
    /// No delta follows.
    pub last: bool,
}

/// A message of the coordinator.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FromCoordinator {
    /// The run that it is about.
    pub run: Name,
    /// The process that sent it; agents ignore an older one than they have heard.
    pub incarnation: Incarnation,
    /// The agent's process that is addressed; another one ignores it.
    pub epoch: Epoch,
    /// When it was sent, by the coordinator's clock (t0).
    pub sent: Nanos,
    /// What to do.
    pub command: Command,
}

/// What an agent is asked to do. Obeying one twice is the same as once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// Nothing; a sign of life.
    Beat,
    /// Introduce yourself: the coordinator does not know this process.
    Introduce,
    /// You are in the fleet.
    Welcome,
    /// You are not, with the reason.
    Refuse(String),
    /// Make ready.
    Prepare(Assignment),
    /// Start at this instant of your own clock.
    Start {
        /// The agent's clock.
        at: Nanos,
    },
    /// End the load, with the reason.
    Stop(String),
    /// All deltas up to this one are applied and on disk.
    Applied(Seq),
    /// Send again, from this delta on.
    Resend(Seq),
    /// The run is over for you.
    Release,
    /// All agents have reached this barrier: pass it at this instant of your own clock, which may lie in the past.
    Pass {
        /// The barrier, from 1.
        barrier: u32,
        /// The agent's clock.
        at: Nanos,
    },
}

/// An agent's work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    /// The SHA-256 of the archive: command line, script, targets, bodies, certificates.
    pub archive: Digest,
    /// The SHA-256 of what `setup()` returned, where there was one.
    pub setup: Option<Digest>,
    /// Its part of the load.
    pub share: Share,
}

/// The text, cut to [`TEXT_MAX`] bytes.
#[must_use]
pub fn cut_text(text: &str) -> String {
    let mut end = text.len().min(TEXT_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

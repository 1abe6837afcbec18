//! One test on many machines. A *coordinator* forms a fleet of *agents*, cuts the load into their shares, starts them at one
//! instant and merges what they measured; both are state machines here.
//!
//! ```text
//!            FromCoordinator: Prepare, Start, Stop, Applied, Resend, Release
//!  Coordinator ──────────────────────────────────────────────────────────────▶ Agent ──▶ StartLoad, SkipOverdue, StopLoad
//!      │  ▲    ◀──────────────────────────────────────────────────────────────   ▲
//!      │  │      FromAgent: Hello, Beat (clock, state), Delta (counts, payload)  └── Prepared, Delta: its load generator
//!      │  └─ Written: the journal is on disk
//!      └──▶ Append(Record): every decision; state changes only by written records
//! ```
//!
//! It does no I/O, reads no clock and starts no thread: its host hands it messages and `now`, and carries out what it answers.
//! Messages may be lost, doubled, late and out of order. `docs/design/fleet.md` says what is promised.

mod agent;
mod clock;
mod coordinator;
mod counts;
mod frame;
mod ids;
mod message;
mod record;
mod split;
mod spool;

pub use agent::{
    ALONE_MAX, Agent, AgentConfig, AgentInput, AgentOutput, Interval, PAUSE_MIN, WINDOW,
};
pub use clock::{Clock, Exchange, Offset};
pub use coordinator::{
    AgentOutcome, AgentStatus, BARRIER_LEAD, Config, Coordinator, EXCHANGES_MIN, GATHER_FOR,
    HOLD_MAX, Input, LEAD_MIN, LOST_AFTER, Outcome, Output, Phase, Policy,
};
pub use counts::Counts;
pub use frame::{FRAME_MAX, FrameError, PROTOCOL, decode, encode};
pub use ids::{AGENTS_MAX, Digest, Epoch, Incarnation, Name, NameError, Seq};
pub use message::{
    AgentBody, AgentState, Assignment, BEAT, Barriers, Beat, Command, Delta, Echo, FromAgent,
    FromCoordinator, Hello, LABELS_MAX, PAYLOAD_MAX, Pauses, TEXT_MAX, cut_text,
};
pub use record::Record;
pub use split::{Share, SplitError, WEIGHT_MAX, shares};
pub use spool::{SPOOL_BYTES_MAX, SPOOL_LEN_MAX, Spool};

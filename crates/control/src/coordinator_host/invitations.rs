//! `Invitations`: which agents that wait are asked to join. An agent that waits belongs to the first coordinator that asks it, so
//! no more are asked than the run needs.

use std::collections::{BTreeMap, BTreeSet};

use fleet::{AGENTS_MAX, Epoch, Hello, Name};
use stdx::Nanos;

use super::options::CoordinatorOptions;

/// How long an invitation waits for its answer.
const ANSWER_WITHIN: Nanos = Nanos(3_000_000_000);

/// The most refusals that are remembered.
const REFUSALS_MAX: usize = 4096;

/// What becomes of an agent that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Invitation {
    /// It is asked to join.
    Join,
    /// It cannot join, with the reason; said once.
    Refuse(String),
    /// It goes on waiting.
    None,
}

/// The agents that were asked.
#[derive(Debug, Default)]
pub(super) struct Invitations {
    /// When each was asked, and as which process.
    asked: BTreeMap<Name, (Epoch, Nanos)>,
    refused: BTreeSet<(Name, String)>,
}

impl Invitations {
    /// Decides on an agent that waits; `joined` is the number of agents of the run.
    pub(super) fn answer(
        &mut self,
        now: Nanos,
        options: &CoordinatorOptions,
        joined: usize,
        (agent, epoch, hello): (&Name, Epoch, &Hello),
    ) -> Invitation {
        if !options.labels.iter().all(|label| hello.labels.contains(label)) {
            return Invitation::None;
        }
        if hello.version != options.version {
            return self.refuse(agent, hello, &options.version);
        }
        self.asked.retain(|_, (_, at)| now < *at + ANSWER_WITHIN);
        let is_asked = self.asked.contains_key(agent);
        if !is_asked && joined + self.asked.len() >= options.agents.unwrap_or(AGENTS_MAX) {
            return Invitation::None;
        }
        self.asked.insert(agent.clone(), (epoch, now));
        Invitation::Join
    }

    /// The agent joined: it counts as one of the run from now on.
    pub(super) fn joined(&mut self, agent: &Name) {
        self.asked.remove(agent);
    }

    fn refuse(&mut self, agent: &Name, hello: &Hello, version: &str) -> Invitation {
        let theirs = fleet::cut_text(&hello.version);
        let refusal = (agent.clone(), theirs.clone());
        if self.refused.len() >= REFUSALS_MAX || !self.refused.insert(refusal) {
            return Invitation::None;
        }
        Invitation::Refuse(format!("its version is {theirs}, the run's is {version}"))
    }
}

#[cfg(test)]
mod tests {
    use fleet::Digest;

    use super::*;

    fn options() -> CoordinatorOptions {
        CoordinatorOptions {
            run: Name::new("r").unwrap(),
            version: "1".to_owned(),
            agents: Some(2),
            labels: vec!["zone=a".to_owned()],
            archive: Digest([0; 32]),
            setup: None,
            ready_within: Nanos(0),
            lead: Nanos(0),
            drain_within: Nanos(0),
            goes_on: false,
        }
    }

    fn hello(version: &str, label: &str) -> Hello {
        Hello { version: version.to_owned(), cores: 1, labels: vec![label.to_owned()] }
    }

    #[test]
    fn no_more_are_asked_than_the_run_needs() {
        let mut invitations = Invitations::default();
        let hello = hello("1", "zone=a");
        let mut ask = |now, joined, agent| {
            let name = Name::new(agent).unwrap();
            invitations.answer(Nanos(now), &options(), joined, (&name, Epoch(1), &hello))
        };
        assert_eq!(ask(0, 0, "a"), Invitation::Join);
        assert_eq!(ask(0, 0, "b"), Invitation::Join);
        assert_eq!(ask(0, 0, "c"), Invitation::None, "two are enough");
        assert_eq!(ask(1, 0, "a"), Invitation::Join, "the message was lost");
        assert_eq!(ask(4_000_000_000, 1, "c"), Invitation::Join, "the others did not answer");
        assert_eq!(ask(4_000_000_000, 1, "d"), Invitation::None);
    }

    #[test]
    fn what_does_not_fit_is_refused_once_or_waits() {
        let mut invitations = Invitations::default();
        let name = Name::new("a").unwrap();
        let mut ask =
            |hello: &Hello| invitations.answer(Nanos(0), &options(), 0, (&name, Epoch(1), hello));
        assert_eq!(ask(&hello("1", "zone=b")), Invitation::None);
        let refusal = Invitation::Refuse("its version is 2, the run's is 1".to_owned());
        assert_eq!(ask(&hello("2", "zone=a")), refusal);
        assert_eq!(ask(&hello("2", "zone=a")), Invitation::None);
    }
}

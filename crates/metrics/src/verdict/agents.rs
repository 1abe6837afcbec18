//! `GoodAgents`: what a fleet's figures are worth where not every agent's may be believed.

use std::fmt;

use stdx::counted;

use crate::AgentRecord;
use crate::tally::Assertion;

/// The agents whose figures may be believed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GoodAgents {
    /// How many they are.
    pub agents: u64,
    /// Their share of the requests, 0 to 1.
    pub share: f64,
}

impl GoodAgents {
    /// Those of a fleet of which some may not be believed; `None` where none may.
    pub(super) fn among(asserted: &[Assertion]) -> Option<Self> {
        let sent = |agent: &AgentRecord| agent.sent;
        let all: u64 = Assertion::agents(asserted).map(sent).sum();
        let good = || Assertion::agents(asserted).filter(|agent| agent.is_valid());
        let agents = good().count() as u64;
        (agents > 0 && all > 0)
            .then(|| Self { agents, share: good().map(sent).sum::<u64>() as f64 / all as f64 })
    }
}

/// An agent whose figures may not be believed, why, and what the others are worth.
pub(super) fn write(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    causes: &[String],
    others: Option<GoodAgents>,
) -> fmt::Result {
    write!(f, "agent {name}: {}", causes.join(", "))?;
    others.map_or(Ok(()), |others| write!(f, "; {others}"))
}

impl fmt::Display for GoodAgents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let agents = counted(self.agents, "other agent");
        let verb = if self.agents == 1 { "is" } else { "are" };
        let percent = (self.share * 100.0).floor();
        write!(
            f,
            "{agents}, with {percent}% of the requests, {verb} good, and so are the sums of all"
        )
    }
}

#[cfg(test)]
mod tests {
    use crate::tally::Assertion;
    use crate::{AgentRecord, Verdict};

    /// Issue 41: a fleet of many was INVALID by one agent, without a word of the rest.
    #[test]
    fn a_verdict_says_what_the_other_agents_are_worth() {
        let agent = |name: &str, sent, reasons: &[&str]| {
            let reasons = reasons.iter().map(|&reason| reason.to_owned()).collect();
            let record =
                AgentRecord { name: name.to_owned(), sent, reasons, ..AgentRecord::default() };
            Assertion::Agent(Box::new(record))
        };
        let text = |agents: &[Assertion]| Verdict::default().with_agents(agents).to_string();
        let late = ["it was late"];
        let both = text(&[agent("a", 500, &[]), agent("b", 490, &[]), agent("c", 10, &late)]);
        let words = "agent c: it was late; 2 other agents, with 99% of the requests, are good, and so are the sums of all";
        assert!(both.contains(words), "{both}");
        let last = text(&[agent("a", 5, &late), agent("b", 5, &late), agent("c", 10, &[])]);
        assert_eq!(
            last.matches("1 other agent, with 50% of the requests, is good").count(),
            1,
            "{last}"
        );
        assert!(!text(&[agent("a", 5, &late)]).contains("other agent"));
        let lost = Verdict { reasons: vec![crate::Reason::CutOff], ..Verdict::default() };
        let lost = lost.with_agents(&[agent("a", 5, &late), agent("b", 5, &[])]).to_string();
        assert!(!lost.contains("other agent"), "{lost}");
    }
}

//! Connections opened and reused: a line of every report. A load that dials once and never again says little of a server behind
//! a load balancer, and one that dials for each request measures mostly that.

use crate::Input;
use crate::number::grouped;
use crate::object::Object;

/// The connections of a run.
pub(crate) struct Connections {
    /// How many were opened.
    opened: u64,
    /// Requests that went out on one that had served others.
    reused: u64,
}

/// What the columns of the text are.
pub(crate) const LABELS: &str = "[opened, requests on open ones]";

impl Connections {
    /// Those of a run; `None` where they are unknown: without a record of the generator, or without rows.
    pub(crate) fn of(input: &Input<'_>) -> Option<Self> {
        let (opened, reused) = (input.generator?.connections, input.summary.reused);
        let is_known = opened > 0 && (reused > 0 || opened >= input.summary.requests);
        is_known.then_some(Self { opened, reused })
    }

    /// The figures of the text's line.
    pub(crate) fn figures(&self) -> String {
        format!("{}, {}", self.opened, self.reused)
    }

    /// The sentence of Markdown.
    pub(crate) fn sentence(&self) -> String {
        format!(
            "Connections: {} opened, {} on open ones",
            grouped(self.opened),
            stdx::counted(self.reused, "request")
        )
    }

    /// The rows of a page's table.
    pub(crate) fn rows(&self) -> Vec<Vec<String>> {
        let row = |name: &str, count| vec![name.to_owned(), grouped(count)];
        vec![row("Opened", self.opened), row("Requests on open ones", self.reused)]
    }

    /// The same as JSON.
    pub(crate) fn json(&self) -> String {
        Object::new().number("opened", self.opened).number("reused", self.reused).end()
    }
}

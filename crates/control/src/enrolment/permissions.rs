//! Who may send and read which subjects: the one table from which every server's configuration is made, and which the guide has. An
//! agent can neither speak as another nor read what is for another. Coordinators alone may ask JetStream for anything: it answers to
//! whatever subject a request names, with the server's own rights.

use crate::nats::{LEASE, LEASES};

/// Where machines ask to be let in.
pub(super) const JOIN: &str = "brunt.join";

/// Where the fleet's user changes who is let in.
pub(super) const ADMIN: &str = "brunt.admin";

/// What answers to those who ask to be let in begin with.
pub(super) const JOIN_INBOX: &str = "_INBOX_join";
/// The same for coordinators.
pub(super) const COORDINATOR_INBOX: &str = "_INBOX_coordinator";
/// The same for the process that lets machines in.
pub(super) const ADMIN_INBOX: &str = "_INBOX_admin";

/// Who signs in at a fleet's server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Party<'a> {
    /// The process that lets machines in, and the commands by which the fleet's user changes who is.
    Admin,
    /// A command that runs a test on the fleet.
    Coordinator,
    /// Who has a joining token.
    Join,
    /// The agent of this name; `*` is any.
    Agent(&'a str),
}

/// Subjects, with `*` for one word and `>` for all that follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Permissions {
    pub(super) publish: Vec<String>,
    pub(super) subscribe: Vec<String>,
}

impl Party<'_> {
    /// What this party may do.
    pub(super) fn permissions(self) -> Permissions {
        let (publish, subscribe) = match self {
            Self::Admin => (
                vec![format!("{JOIN_INBOX}.>"), format!("{ADMIN_INBOX}.>"), ADMIN.to_owned()],
                vec![JOIN.to_owned(), ADMIN.to_owned(), format!("{ADMIN_INBOX}.>")],
            ),
            Self::Coordinator => (
                vec![
                    "brunt.*.down.*".to_owned(),
                    "brunt.*.part.*".to_owned(),
                    format!("{LEASE}.*"),
                    format!("$JS.API.STREAM.CREATE.{LEASES}"),
                ],
                vec![
                    "brunt.hello.*".to_owned(),
                    "brunt.*.up.*".to_owned(),
                    "brunt.*.fetch.*".to_owned(),
                    format!("{COORDINATOR_INBOX}.>"),
                ],
            ),
            Self::Join => (vec![JOIN.to_owned()], vec![format!("{JOIN_INBOX}.>")]),
            Self::Agent(name) => (
                vec![
                    format!("brunt.hello.{name}"),
                    format!("brunt.*.up.{name}"),
                    format!("brunt.*.fetch.{name}"),
                ],
                vec![format!("brunt.*.down.{name}"), format!("brunt.*.part.{name}")],
            ),
        };
        Permissions { publish, subscribe }
    }
}

/// What answers to an agent would begin with. Its requests have none, and it may not read there.
pub(super) fn agent_inbox(name: &fleet::Name) -> String {
    format!("_INBOX_agent_{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Operators of other servers copy them from there.
    #[test]
    fn the_guide_has_the_same_permissions() {
        let guide = include_str!("../../../../docs/guide/many-machines.md");
        let list = |subjects: &[String]| {
            let own = subjects.iter().filter(|subject| !subject.starts_with("_INBOX"));
            own.map(|subject| format!("\"{subject}\"")).collect::<Vec<_>>().join(", ")
        };
        for (user, party) in [("agent", Party::Agent("*")), ("command", Party::Coordinator)] {
            let Permissions { publish, subscribe } = party.permissions();
            for (what, subjects) in [("publish", &publish), ("subscribe", &subscribe)] {
                let line = format!("{what}: [{}", list(subjects));
                assert!(guide.contains(&line), "the guide has no line for the {user} with\n{line}");
            }
        }
    }

    #[test]
    fn no_party_but_a_coordinator_may_ask_jetstream() {
        for party in [Party::Admin, Party::Join, Party::Agent("a")] {
            let Permissions { publish, .. } = party.permissions();
            assert!(publish.iter().all(|subject| !subject.contains('$')), "{party:?}");
            assert!(publish.iter().all(|subject| !subject.starts_with(LEASE)), "{party:?}");
        }
    }
}

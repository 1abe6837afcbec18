//! Who may send and read which subjects. An agent can neither speak as another nor read what is for another.

use fleet::Name;

use crate::nats::{ARCHIVE, ARCHIVES, LEASE, LEASES};

/// Where machines ask to be let in.
pub(super) const JOIN: &str = "brunt.join";

/// What answers to those who ask to be let in begin with.
pub(super) const JOIN_INBOX: &str = "_INBOX_join";
/// The same for coordinators.
pub(super) const COORDINATOR_INBOX: &str = "_INBOX_coordinator";
/// The same for the process that lets machines in.
pub(super) const ADMIN_INBOX: &str = "_INBOX_admin";

/// Subjects, with `*` for one word and `>` for all that follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Permissions {
    pub(super) publish: Vec<String>,
    pub(super) subscribe: Vec<String>,
}

impl Permissions {
    /// Of who has a token.
    pub(super) fn join() -> Self {
        Self { publish: vec![JOIN.to_owned()], subscribe: vec![format!("{JOIN_INBOX}.>")] }
    }

    /// Of the process that lets machines in.
    pub(super) fn admin() -> Self {
        Self {
            publish: vec![format!("{JOIN_INBOX}.>")],
            subscribe: vec![JOIN.to_owned(), format!("{ADMIN_INBOX}.>")],
        }
    }

    pub(super) fn coordinator() -> Self {
        let api = ["STREAM.CREATE", "DIRECT.GET"]
            .into_iter()
            .flat_map(|request| [ARCHIVES, LEASES].map(|stream| (request, stream)));
        let api = api.map(|(request, stream)| match request {
            "DIRECT.GET" => format!("$JS.API.{request}.{stream}.>"),
            _ => format!("$JS.API.{request}.{stream}"),
        });
        let own = [
            "brunt.*.down.*".to_owned(),
            format!("{ARCHIVE}.*.*"),
            format!("{LEASE}.*"),
            format!("$JS.API.STREAM.INFO.{ARCHIVES}"),
        ];
        Self {
            publish: own.into_iter().chain(api).collect(),
            subscribe: vec![
                "brunt.hello.*".to_owned(),
                "brunt.*.up.*".to_owned(),
                format!("{COORDINATOR_INBOX}.>"),
            ],
        }
    }

    pub(super) fn agent(name: &Name) -> Self {
        Self {
            publish: vec![
                format!("brunt.hello.{name}"),
                format!("brunt.*.up.{name}"),
                format!("$JS.API.DIRECT.GET.{ARCHIVES}.>"),
            ],
            subscribe: vec![format!("brunt.*.down.{name}"), format!("{}.>", agent_inbox(name))],
        }
    }
}

/// What answers to an agent begin with.
pub(super) fn agent_inbox(name: &Name) -> String {
    format!("_INBOX_agent_{name}")
}

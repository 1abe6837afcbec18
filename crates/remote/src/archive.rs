//! `Archive`: a plan and its settings on their way to agents.

use std::sync::Arc;

use cable::CablePlan;
use engine::{AllProxy, CapturedHeaders, ProxySettings, Settings};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use workload::{Load, Plan};

/// What agents run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Archive {
    /// The whole plan, of which each agent runs its part.
    pub plan: Plan,
    /// How it is carried out.
    pub settings: Settings,
    /// Worker threads of each agent (`-cpus`); `None` is one for each of its cores.
    pub workers: Option<usize>,
}

/// A test of Action Cable on its way to agents.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CableArchive {
    /// The whole test, of which each agent has its users.
    pub plan: CablePlan,
    /// What the run is called.
    pub name: String,
    /// How its connections are made.
    pub settings: Settings,
    /// Worker threads of each agent (`-cpus`); `None` is one for each of its cores.
    pub workers: Option<usize>,
}

/// Why a plan cannot go to other machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ArchiveError {
    /// Users that decide for themselves.
    #[error("a script's users do not run on a fleet yet")]
    Script,
    /// Something of this machine.
    #[error("{0} is of this machine, and a fleet has others")]
    Local(&'static str),
    /// What only the layouts of other tools use.
    #[error("{0} does not travel to the agents of a fleet")]
    Foreign(&'static str),
    /// The bytes are no archive of this version.
    #[error("the archive of the run cannot be read")]
    Damaged,
}

/// What the bytes are that agents fetch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Content {
    /// A plan.
    Load(Box<Archive>),
    /// A script with all it needs, in a form of its own.
    Script(Vec<u8>),
    /// A test of Action Cable.
    Cable(Box<CableArchive>),
}

impl Content {
    /// The bytes that agents fetch, with the names whose values this process redacts: what an agent sends stands on the message
    /// server, and what it logs on its own machine.
    ///
    /// # Errors
    /// A plan depends on something that other machines do not have.
    pub(crate) fn encode(&self) -> Result<Vec<u8>, ArchiveError> {
        self.check()?;
        let named = self.clone().without_environment();
        // Numbers, texts and bytes: all have a form.
        postcard::to_allocvec(&(stdx::redacted_names(), named)).map_err(|_| ArchiveError::Damaged)
    }

    /// Without what the environment of this machine says: a proxy's URL may have a password, and other machines have other proxies.
    fn without_environment(mut self) -> Self {
        if let Some(settings) = self.settings_mut() {
            set_proxies(settings, ProxySettings::default());
        }
        self
    }

    fn settings_mut(&mut self) -> Option<&mut Settings> {
        match self {
            Self::Load(archive) => Some(&mut archive.settings),
            Self::Cable(archive) => Some(&mut archive.settings),
            Self::Script(_) => None,
        }
    }

    /// Reads them. This process redacts from here on what the one that wrote them redacts.
    ///
    /// # Errors
    /// They are no archive of this version, or name something of this machine, which no coordinator of ours sends.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, ArchiveError> {
        let (redacted, content): (Option<String>, Self) =
            postcard::from_bytes(bytes).map_err(|_| ArchiveError::Damaged)?;
        content.check()?;
        stdx::redact_for_run(redacted.as_deref());
        Ok(content)
    }

    fn check(&self) -> Result<(), ArchiveError> {
        match self {
            Self::Load(archive) => {
                check_plan(&archive.plan)?;
                check_settings(&archive.settings)
            }
            Self::Cable(archive) => check_settings(&archive.settings),
            Self::Script(_) => Ok(()),
        }
    }
}

/// Gives an agent the proxies that its own environment names.
pub(crate) fn use_own_proxies(settings: &mut Settings) {
    let own = ProxySettings::of_environment(AllProxy::Read, |name| std::env::var(name).ok());
    set_proxies(settings, own);
}

/// Replaces the proxies, and leaves the fields of CONNECT, which the command line names.
fn set_proxies(settings: &mut Settings, proxies: ProxySettings) {
    let headers = Arc::clone(&settings.proxy.headers);
    settings.proxy = ProxySettings { headers, ..proxies };
}

/// Refuses what serde leaves out of a plan.
fn check_plan(plan: &Plan) -> Result<(), ArchiveError> {
    if matches!(plan.load, Load::Users(_)) { Err(ArchiveError::Script) } else { Ok(()) }
}

/// Refuses what serde leaves out of settings, and what other machines do not have.
fn check_settings(settings: &Settings) -> Result<(), ArchiveError> {
    let local = [
        (settings.unix_socket.is_some(), "a Unix socket (-unix-socket)"),
        (!settings.local_addrs.is_empty(), "a local address (-laddr)"),
        (settings.tls.log_keys, "SSLKEYLOGFILE"),
    ];
    if let Some((_, what)) = local.into_iter().find(|(is_given, _)| *is_given) {
        return Err(ArchiveError::Local(what));
    }
    let foreign = [
        (settings.head_bytes.is_some(), "a fixed request head"),
        (!settings.tls.identities.is_empty(), "a client certificate for some hosts"),
        (matches!(settings.capture.headers, CapturedHeaders::Named(_)), "a list of headers"),
    ];
    match foreign.into_iter().find(|(is_given, _)| *is_given) {
        Some((_, what)) => Err(ArchiveError::Foreign(what)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use stdx::Nanos;
    use workload::arrival::{Rate, Shape};
    use workload::{Target, Targets};

    use super::*;

    fn archive() -> Archive {
        let target = Target {
            method: "POST".to_owned(),
            url: "https://h/x".to_owned(),
            headers: vec![("A".to_owned(), "b".to_owned())],
            body: Arc::from(*b"body"),
            weight: 3,
            name: "n".to_owned(),
        };
        let load = Load::Open { shape: Shape::constant(Rate::per_second(7)), max_in_flight: None };
        let plan = Plan {
            duration: Some(Nanos::from_secs(3)),
            ..Plan::new(load, Targets::new(vec![target]), 5)
        };
        let settings = Settings { timeout: Some(Nanos::from_secs(9)), ..Settings::default() };
        Archive { plan, settings, workers: Some(2) }
    }

    #[test]
    fn a_plan_arrives_as_it_was() {
        let before = archive();
        let bytes = Content::Load(Box::new(before.clone())).encode().unwrap();
        let Ok(Content::Load(after)) = Content::decode(&bytes) else { panic!("a plan stays one") };
        assert_eq!(format!("{:?}", after.plan), format!("{:?}", before.plan));
        assert_eq!(format!("{:?}", after.settings), format!("{:?}", before.settings));
        assert_eq!(after.workers, Some(2));
        assert_eq!(Content::decode(b"x").unwrap_err(), ArchiveError::Damaged);
    }

    #[test]
    fn what_the_environment_says_of_proxies_does_not_leave_the_machine() {
        let variable = |name: &str| Some(format!("http://user:canary@{}:1", name.to_lowercase()));
        let mut proxy = ProxySettings::of_environment(AllProxy::Read, variable);
        proxy.headers = Arc::new(vec![("X-Named".to_owned(), "sent".to_owned())]);
        let mut load = archive();
        load.settings.proxy = proxy.clone();
        let bytes = Content::Load(Box::new(load)).encode().unwrap();
        assert!(!bytes.windows(6).any(|part| part == b"canary"));
        let mut after = Content::decode(&bytes).unwrap();
        let after = after.settings_mut().unwrap();
        assert_eq!((&after.proxy.http, &after.proxy.headers), (&None, &proxy.headers));
    }

    #[test]
    fn every_kind_of_captured_headers_arrives_as_it_was() {
        for headers in [CapturedHeaders::Nothing, CapturedHeaders::All, CapturedHeaders::WholeHead]
        {
            let mut before = archive();
            before.settings.capture.headers = headers;
            let bytes = Content::Load(Box::new(before)).encode().unwrap();
            let Ok(Content::Load(after)) = Content::decode(&bytes) else {
                panic!("a plan stays one")
            };
            assert_eq!(after.settings.capture.headers, headers);
        }
    }

    #[test]
    fn what_is_of_one_machine_is_refused() {
        let mut local = archive();
        local.settings.unix_socket = Some("/tmp/s".into());
        let error = Content::Load(Box::new(local)).encode().unwrap_err().to_string();
        assert_eq!(
            error,
            "a Unix socket (-unix-socket) is of this machine, and a fleet has others"
        );
        let mut foreign = archive();
        foreign.settings.head_bytes = Some(Arc::from(*b"GET / HTTP/1.0\r\n\r\n"));
        let foreign = Content::Load(Box::new(foreign)).encode();
        assert!(matches!(foreign, Err(ArchiveError::Foreign(_))));
    }
}

//! `Cluster`: a fleet's objects in a cluster, from their start to their end.

use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::{Event, Pod};

use crate::error::ClusterError;
use crate::kubectl::Kubectl;
use crate::object::INSTANCE;
use crate::options::ManifestOptions;
use crate::pods::{PodState, pod_states, warnings};
use crate::{agents, nats};

/// How often the pods are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// A Job without a pod for so long is asked for the reason.
const PODS_WITHIN: Duration = Duration::from_secs(3);

/// What becomes of a fleet in a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClusterNotice {
    /// A pod changed: its name, and how it is now.
    Pod(String, String),
    /// The cluster does not make pods, with the reason.
    Refused(String),
}

/// A fleet's objects in a cluster.
#[derive(Debug)]
pub struct Cluster<'a> {
    kubectl: &'a Kubectl,
    options: &'a ManifestOptions,
}

impl<'a> Cluster<'a> {
    /// A fleet by its options.
    #[must_use]
    pub fn new(kubectl: &'a Kubectl, options: &'a ManifestOptions) -> Self {
        Self { kubectl, options }
    }

    /// Waits until all pods run. `notice` gets each change; `is_interrupted` ends the wait.
    ///
    /// # Errors
    /// They do not in time, a pod ended, or the cluster cannot be asked.
    pub fn wait(
        &self,
        within: Duration,
        is_interrupted: &dyn Fn() -> bool,
        notice: &dyn Fn(ClusterNotice),
    ) -> Result<(), ClusterError> {
        let wanted = self.options.agents + usize::from(self.options.nats_image.is_some());
        let (start, mut changes) = (Instant::now(), Changes { notice, last: BTreeMap::new() });
        loop {
            let states = self.states()?;
            let running = states.iter().filter(|(_, state)| *state == PodState::Running).count();
            changes.pods(&states);
            if running >= wanted {
                return Ok(());
            }
            let mut reasons = Vec::new();
            if states.len() < wanted && start.elapsed() >= PODS_WITHIN {
                reasons = self.warnings();
                changes.refusals(&reasons);
            }
            let has_ended = states.iter().any(|(_, state)| matches!(state, PodState::Ended(_)));
            if has_ended || start.elapsed() >= within {
                reasons.extend(states.iter().filter_map(|(pod, state)| self.reason(pod, state)));
                let waited = start.elapsed().as_secs();
                return Err(ClusterError::NotRunning { running, wanted, waited, reasons });
            }
            if is_interrupted() {
                return Err(ClusterError::Interrupted);
            }
            sleep(LOOK_EVERY);
        }
    }

    /// The pods that do not run, each with the reason.
    ///
    /// # Errors
    /// The cluster cannot be asked.
    pub fn problems(&self) -> Result<Vec<String>, ClusterError> {
        let states = self.states()?;
        Ok(states.iter().filter_map(|(pod, state)| self.reason(pod, state)).collect())
    }

    /// The name of the message server's Service.
    #[must_use]
    pub fn service(&self) -> String {
        self.options.object_name(nats::SUFFIX)
    }

    fn states(&self) -> Result<Vec<(String, PodState)>, ClusterError> {
        let chosen = format!("{INSTANCE}={}", self.options.name);
        let pods: Vec<Pod> = self.kubectl.get("pods", &["-l", &chosen])?;
        Ok(pod_states(&pods))
    }

    /// What keeps the Job and the server from having pods, as far as this user may read it.
    fn warnings(&self) -> Vec<String> {
        let of = |suffix: &str| {
            let name = format!("involvedObject.name={}", self.options.object_name(suffix));
            let events: Result<Vec<Event>, _> =
                self.kubectl.get("events", &["--field-selector", &name]);
            events.map(|events| warnings(&events)).unwrap_or_default()
        };
        [agents::SUFFIX, nats::SUFFIX].into_iter().flat_map(of).collect()
    }

    fn reason(&self, pod: &str, state: &PodState) -> Option<String> {
        match state {
            PodState::Running => None,
            PodState::Starting(cause) => Some(format!("{pod}: {cause}")),
            PodState::Ended(cause) => {
                let words = self.kubectl.last_words(pod);
                let words = words.map_or(String::new(), |words| format!(" ({words})"));
                Some(format!("{pod} ended: {cause}{words}"))
            }
        }
    }
}

/// What was said last of each pod, so that nothing is said twice.
struct Changes<'a> {
    notice: &'a dyn Fn(ClusterNotice),
    last: BTreeMap<String, String>,
}

impl Changes<'_> {
    fn pods(&mut self, states: &[(String, PodState)]) {
        for (pod, state) in states {
            let words = match state {
                PodState::Running => "runs",
                PodState::Starting(cause) | PodState::Ended(cause) => cause,
            };
            if self.is_new(pod, words) {
                (self.notice)(ClusterNotice::Pod(pod.clone(), words.to_owned()));
            }
        }
    }

    fn refusals(&mut self, reasons: &[String]) {
        for reason in reasons {
            if self.is_new(reason, "") {
                (self.notice)(ClusterNotice::Refused(reason.clone()));
            }
        }
    }

    fn is_new(&mut self, what: &str, words: &str) -> bool {
        self.last.insert(what.to_owned(), words.to_owned()).is_none_or(|last| last != words)
    }
}

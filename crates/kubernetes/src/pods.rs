//! What pods say of themselves: whether they run, and why they do not.

use k8s_openapi::api::core::v1::{ContainerStatus, Event, Pod};

/// How a pod is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PodState {
    /// All its containers run, and are ready.
    Running,
    /// It is on its way, or cannot start: why, in the cluster's words.
    Starting(String),
    /// It ended, with the reason.
    Ended(String),
}

/// Every pod by name, in that order, with its state.
pub(crate) fn pod_states(pods: &[Pod]) -> Vec<(String, PodState)> {
    let mut states: Vec<(String, PodState)> = pods
        .iter()
        .map(|pod| (pod.metadata.name.clone().unwrap_or_default(), state(pod)))
        .collect();
    states.sort_by(|one, other| one.0.cmp(&other.0));
    states
}

fn state(pod: &Pod) -> PodState {
    let Some(status) = &pod.status else { return PodState::Starting("it is new".to_owned()) };
    let containers = status.container_statuses.as_deref().unwrap_or_default();
    match status.phase.as_deref() {
        Some("Failed" | "Succeeded") => PodState::Ended(
            containers.iter().find_map(ended).or_else(|| status.message.clone()).unwrap_or_else(
                || status.reason.clone().unwrap_or_else(|| "its node does not say why".to_owned()),
            ),
        ),
        Some("Running") if containers.iter().all(|container| container.ready) => PodState::Running,
        _ => {
            let unscheduled = || {
                let conditions = status.conditions.as_deref().unwrap_or_default();
                let scheduled = conditions.iter().find(|found| found.type_ == "PodScheduled")?;
                let cause = scheduled.message.clone().or_else(|| scheduled.reason.clone());
                (scheduled.status == "False")
                    .then(|| format!("cannot be placed on a node: {}", cause.unwrap_or_default()))
            };
            let waiting = containers.iter().find_map(waiting);
            let cause = waiting.or_else(unscheduled);
            PodState::Starting(cause.unwrap_or_else(|| "its node is starting it".to_owned()))
        }
    }
}

/// Why a container does not run.
fn waiting(container: &ContainerStatus) -> Option<String> {
    let state = container.state.as_ref()?;
    let Some(waiting) = &state.waiting else {
        return state.running.as_ref().map(|_| "it runs, and is not ready".to_owned());
    };
    let reason = waiting.reason.clone().unwrap_or_default();
    let words = match reason.as_str() {
        "ErrImagePull" | "ImagePullBackOff" | "InvalidImageName" | "ErrImageNeverPull" => {
            format!("its image {} cannot be had", container.image)
        }
        "ContainerCreating" | "PodInitializing" => "its node is starting it".to_owned(),
        "CrashLoopBackOff" => "it ends again and again".to_owned(),
        _ => reason.clone(),
    };
    let cause = waiting.message.as_ref().map_or(String::new(), |message| format!(": {message}"));
    Some(format!("{words}{cause}"))
}

/// Why a container ended.
fn ended(container: &ContainerStatus) -> Option<String> {
    let ended = container.state.as_ref()?.terminated.as_ref()?;
    let message = ended.message.as_deref().map_or("", str::trim);
    let message = if message.is_empty() { String::new() } else { format!(": {message}") };
    Some(match ended.reason.as_deref() {
        Some("OOMKilled") => {
            "it used more memory than -memory allows, and was killed (give it more)".to_owned()
        }
        Some(reason) => format!("{reason}, exit code {}{message}", ended.exit_code),
        None => format!("exit code {}{message}", ended.exit_code),
    })
}

/// The newest warning of each reason: why a Job has no pods (a quota, the namespace's pod security).
pub(crate) fn warnings(events: &[Event]) -> Vec<String> {
    let mut seen: Vec<(&str, String)> = Vec::new();
    for event in events {
        let (Some(reason), Some(message)) = (&event.reason, &event.message) else { continue };
        if event.type_.as_deref() != Some("Warning") {
            continue;
        }
        match seen.iter_mut().find(|(known, _)| known == reason) {
            Some((_, newest)) => newest.clone_from(message),
            None => seen.push((reason, message.clone())),
        }
    }
    seen.into_iter().map(|(reason, message)| format!("{reason}: {message}")).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The state of a pod with this status, as an API server writes it.
    fn state_of(status: &serde_json::Value) -> PodState {
        let pod = json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "p" }, "status": status });
        pod_states(&[serde_json::from_value(pod).unwrap()]).remove(0).1
    }

    fn container(state: &serde_json::Value) -> serde_json::Value {
        json!([{ "name": "agent", "image": "r/brunt:1", "imageID": "", "ready": false,
                 "restartCount": 0, "state": state }])
    }

    fn starting(status: &serde_json::Value) -> String {
        match state_of(status) {
            PodState::Starting(cause) => cause,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_pod_runs_once_its_containers_are_ready() {
        let mut containers = container(&json!({ "running": {} }));
        let running = |containers: &serde_json::Value| json!({ "phase": "Running", "containerStatuses": containers });
        assert_eq!(starting(&running(&containers)), "it runs, and is not ready");
        containers[0]["ready"] = true.into();
        assert_eq!(state_of(&running(&containers)), PodState::Running);
    }

    #[test]
    fn a_pod_that_does_not_start_says_why() {
        let words = "0/2 nodes are available: 2 Insufficient cpu.";
        let unscheduled = json!({ "phase": "Pending", "conditions": [
            { "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": words }
        ] });
        assert_eq!(starting(&unscheduled), format!("cannot be placed on a node: {words}"));
        let pull = json!({ "waiting": { "reason": "ErrImagePull", "message": "not found" } });
        let status = json!({ "phase": "Pending", "containerStatuses": container(&pull) });
        assert_eq!(starting(&status), "its image r/brunt:1 cannot be had: not found");
        let config = json!({ "waiting": { "reason": "CreateContainerConfigError", "message": "no secret" } });
        let status = json!({ "phase": "Pending", "containerStatuses": container(&config) });
        assert_eq!(starting(&status), "CreateContainerConfigError: no secret");
        assert_eq!(starting(&json!({ "phase": "Pending" })), "its node is starting it");
    }

    #[test]
    fn a_pod_that_ended_says_how() {
        let ended = |terminated: serde_json::Value| {
            let containers = container(&json!({ "terminated": terminated }));
            state_of(&json!({ "phase": "Failed", "containerStatuses": containers }))
        };
        let error = ended(json!({ "exitCode": 2, "reason": "Error" }));
        assert_eq!(error, PodState::Ended("Error, exit code 2".to_owned()));
        let killed = ended(json!({ "exitCode": 137, "reason": "OOMKilled" }));
        let PodState::Ended(words) = killed else { panic!("{killed:?}") };
        assert!(words.contains("more memory than -memory allows"), "{words}");
        let evicted = json!({ "phase": "Failed", "reason": "Evicted", "message": "low on disk" });
        assert_eq!(state_of(&evicted), PodState::Ended("low on disk".to_owned()));
    }

    #[test]
    fn warnings_are_said_once_each_the_newest() {
        let event = |kind: &str, reason: &str, message: &str| {
            let event = json!({ "metadata": {}, "involvedObject": {}, "type": kind,
                                "reason": reason, "message": message });
            serde_json::from_value::<Event>(event).unwrap()
        };
        let events = [
            event("Normal", "SuccessfulCreate", "made"),
            event("Warning", "FailedCreate", "exceeded quota: 1"),
            event("Warning", "FailedCreate", "exceeded quota: 2"),
        ];
        assert_eq!(warnings(&events), ["FailedCreate: exceeded quota: 2"]);
    }
}

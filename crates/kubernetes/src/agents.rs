//! The agents: an Indexed Job, in which a pod's index is the agent's number, and the Secrets of their keys.

use std::collections::BTreeMap;

use k8s_openapi::api::batch::v1::{
    Job, JobSpec, PodFailurePolicy, PodFailurePolicyOnPodConditionsPattern, PodFailurePolicyRule,
};
use k8s_openapi::api::core::v1::{
    Container, EmptyDirVolumeSource, EnvVar, LocalObjectReference, PodSpec, PodTemplateSpec,
    ProjectedVolumeSource, ResourceRequirements, Secret, SecretProjection, SecretVolumeSource,
    TopologySpreadConstraint, Volume, VolumeMount, VolumeProjection,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::object::{Component, metadata, pod_metadata, selector, tolerations};
use crate::options::{AGENT_INDEX, ManifestOptions};
use crate::security;

/// What the names of the objects end with.
pub(crate) const SUFFIX: &str = "agents";
/// Where an agent finds its key.
const KEY_FILE: &str = "/etc/brunt/key";
/// Pods that the cluster starts in place of one that failed, for each index.
const REPLACED: i32 = 3;
/// Seconds for which an ended Job is there to be looked at.
const ENDED_FOR: i32 = 3600;
/// Seconds for what is under way, and for what was not yet handed on.
const GRACE: i64 = 30;
/// Half of the ports that the kernel gives out are not enough for many connections to one address.
const SYSCTLS: [(&str, &str); 1] = [("net.ipv4.ip_local_port_range", "1024 65535")];

/// The file of the agent with this index, in the Secret.
pub(crate) fn key_name(index: impl std::fmt::Display) -> String {
    format!("agent-{index}")
}

/// Keys of one Secret. `kubectl apply` writes each object once more into an annotation of it, which has 262,144 bytes at most: a key is
/// some 800.
const KEYS_MAX: usize = 128;

/// The names of the Secrets with the keys of so many agents.
fn secret_names(options: &ManifestOptions, agents: usize) -> impl Iterator<Item = String> {
    let count = agents.div_ceil(KEYS_MAX).max(1);
    let name = options.object_name(SUFFIX);
    (0..count).map(move |at| if at == 0 { name.clone() } else { format!("{name}-{at}") })
}

/// The keys of all agents; each pod gets its own alone.
pub(crate) fn secrets(options: &ManifestOptions, tokens: &[String]) -> Vec<Secret> {
    let keys: Vec<(String, String)> =
        tokens.iter().enumerate().map(|(at, token)| (key_name(at), token.clone())).collect();
    let names = secret_names(options, keys.len());
    let parts = keys.chunks(KEYS_MAX).zip(names);
    parts
        .map(|(keys, name)| {
            let own = metadata(options, Component::Agent, SUFFIX);
            Secret {
                metadata: ObjectMeta { name: Some(name), ..own },
                type_: Some("Opaque".to_owned()),
                string_data: Some(keys.iter().cloned().collect()),
                ..Secret::default()
            }
        })
        .collect()
}

/// The Job; there are keys of so many agents, and perhaps fewer agents.
pub(crate) fn job(options: &ManifestOptions, keys: usize) -> Job {
    let agents = i32::try_from(options.agents).unwrap_or(i32::MAX);
    Job {
        metadata: metadata(options, Component::Agent, SUFFIX),
        spec: Some(JobSpec {
            completion_mode: Some("Indexed".to_owned()),
            completions: Some(agents),
            parallelism: Some(agents),
            backoff_limit_per_index: Some(REPLACED),
            // Not a second pod of an index beside one that still ends.
            pod_replacement_policy: Some("Failed".to_owned()),
            pod_failure_policy: Some(disruptions_do_not_count()),
            active_deadline_seconds: Some(i64::try_from(options.deadline).unwrap_or(i64::MAX)),
            ttl_seconds_after_finished: Some(ENDED_FOR),
            template: PodTemplateSpec {
                metadata: Some(pod_metadata(options, Component::Agent)),
                spec: Some(pod(options, keys)),
            },
            ..JobSpec::default()
        }),
        ..Job::default()
    }
}

/// A pod that its node had to give up did not fail by itself.
fn disruptions_do_not_count() -> PodFailurePolicy {
    let disrupted = PodFailurePolicyOnPodConditionsPattern {
        type_: "DisruptionTarget".to_owned(),
        status: "True".to_owned(),
    };
    let rule = PodFailurePolicyRule {
        action: "Ignore".to_owned(),
        on_pod_conditions: Some(vec![disrupted]),
        ..PodFailurePolicyRule::default()
    };
    PodFailurePolicy { rules: vec![rule] }
}

fn pod(options: &ManifestOptions, keys: usize) -> PodSpec {
    let pull = options.pull_secret.iter().map(|name| LocalObjectReference { name: name.clone() });
    let pull: Vec<LocalObjectReference> = pull.collect();
    PodSpec {
        restart_policy: Some("Never".to_owned()),
        automount_service_account_token: Some(false),
        enable_service_links: Some(false),
        termination_grace_period_seconds: Some(GRACE),
        security_context: Some(security::of_pod(options.user, &SYSCTLS)),
        image_pull_secrets: (!pull.is_empty()).then_some(pull),
        node_selector: (!options.node_selector.is_empty()).then(|| options.node_selector.clone()),
        topology_spread_constraints: Some(vec![TopologySpreadConstraint {
            max_skew: 1,
            topology_key: "kubernetes.io/hostname".to_owned(),
            when_unsatisfiable: "ScheduleAnyway".to_owned(),
            label_selector: Some(selector(options, Component::Agent)),
            ..TopologySpreadConstraint::default()
        }]),
        tolerations: tolerations(options),
        containers: vec![container(options)],
        volumes: Some(vec![
            key_volume(secret_names(options, keys).collect()),
            Volume {
                name: "tmp".to_owned(),
                empty_dir: Some(EmptyDirVolumeSource::default()),
                ..Volume::default()
            },
        ]),
        ..PodSpec::default()
    }
}

/// The keys of all agents, of which a pod mounts its own.
fn key_volume(names: Vec<String>) -> Volume {
    let volume = Volume { name: "keys".to_owned(), ..Volume::default() };
    let mode = Some(0o440);
    if let [name] = &names[..] {
        let secret_name = Some(name.clone());
        let secret = SecretVolumeSource { secret_name, default_mode: mode, ..Default::default() };
        return Volume { secret: Some(secret), ..volume };
    }
    let projection = |name| {
        let secret = SecretProjection { name, ..SecretProjection::default() };
        VolumeProjection { secret: Some(secret), ..VolumeProjection::default() }
    };
    let sources = Some(names.into_iter().map(projection).collect());
    Volume { projected: Some(ProjectedVolumeSource { default_mode: mode, sources }), ..volume }
}

fn container(options: &ManifestOptions) -> Container {
    let mut args = vec!["agent".to_owned(), "-join".to_owned(), KEY_FILE.to_owned()];
    if !options.labels.is_empty() {
        args.extend(["-labels".to_owned(), options.labels.join(",")]);
    }
    Container {
        name: "agent".to_owned(),
        image: Some(options.image.clone()),
        args: Some(args),
        env: Some(vec![EnvVar {
            name: "HOME".to_owned(),
            value: Some("/tmp".to_owned()),
            ..EnvVar::default()
        }]),
        resources: Some(resources(options)),
        security_context: Some(security::of_container()),
        volume_mounts: Some(vec![
            VolumeMount {
                name: "keys".to_owned(),
                mount_path: KEY_FILE.to_owned(),
                sub_path_expr: Some(key_name(AGENT_INDEX)),
                read_only: Some(true),
                ..VolumeMount::default()
            },
            VolumeMount {
                name: "tmp".to_owned(),
                mount_path: "/tmp".to_owned(),
                ..VolumeMount::default()
            },
        ]),
        ..Container::default()
    }
}

/// As many cores at most as requested, and whole ones: a static CPU manager gives the pod cores of its own then.
fn resources(options: &ManifestOptions) -> ResourceRequirements {
    let quantities = BTreeMap::from([
        ("cpu".to_owned(), Quantity(options.cpu.to_string())),
        ("memory".to_owned(), Quantity(options.memory.clone())),
    ]);
    ResourceRequirements {
        requests: Some(quantities.clone()),
        limits: Some(quantities),
        ..ResourceRequirements::default()
    }
}

//! The agents: an Indexed Job, in which a pod's index is the agent's number, and the Secret of their keys.

use std::collections::BTreeMap;

use k8s_openapi::api::batch::v1::{
    Job, JobSpec, PodFailurePolicy, PodFailurePolicyOnPodConditionsPattern, PodFailurePolicyRule,
};
use k8s_openapi::api::core::v1::{
    Container, EmptyDirVolumeSource, EnvVar, LocalObjectReference, PodSpec, PodTemplateSpec,
    ResourceRequirements, Secret, SecretVolumeSource, TopologySpreadConstraint, Volume,
    VolumeMount,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::object::{Component, metadata, selected, selector};
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

/// The keys of all agents; each pod gets its own alone.
pub(crate) fn secret(options: &ManifestOptions, tokens: &[String]) -> Secret {
    let keys = tokens.iter().enumerate().map(|(at, token)| (key_name(at), token.clone()));
    Secret {
        metadata: metadata(options, Component::Agent, SUFFIX),
        type_: Some("Opaque".to_owned()),
        string_data: Some(keys.collect()),
        ..Secret::default()
    }
}

/// The Job.
pub(crate) fn job(options: &ManifestOptions) -> Job {
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
                metadata: Some(ObjectMeta {
                    labels: Some(selected(options, Component::Agent)),
                    ..ObjectMeta::default()
                }),
                spec: Some(pod(options)),
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

fn pod(options: &ManifestOptions) -> PodSpec {
    let pull = options.pull_secret.iter().map(|name| LocalObjectReference { name: name.clone() });
    let pull: Vec<LocalObjectReference> = pull.collect();
    PodSpec {
        restart_policy: Some("Never".to_owned()),
        automount_service_account_token: Some(false),
        enable_service_links: Some(false),
        termination_grace_period_seconds: Some(GRACE),
        security_context: Some(security::of_pod(&SYSCTLS)),
        image_pull_secrets: (!pull.is_empty()).then_some(pull),
        node_selector: (!options.node_selector.is_empty()).then(|| options.node_selector.clone()),
        topology_spread_constraints: Some(vec![TopologySpreadConstraint {
            max_skew: 1,
            topology_key: "kubernetes.io/hostname".to_owned(),
            when_unsatisfiable: "ScheduleAnyway".to_owned(),
            label_selector: Some(selector(options, Component::Agent)),
            ..TopologySpreadConstraint::default()
        }]),
        containers: vec![container(options)],
        volumes: Some(vec![
            Volume {
                name: "keys".to_owned(),
                secret: Some(SecretVolumeSource {
                    secret_name: Some(options.object_name(SUFFIX)),
                    default_mode: Some(0o440),
                    ..SecretVolumeSource::default()
                }),
                ..Volume::default()
            },
            Volume {
                name: "tmp".to_owned(),
                empty_dir: Some(EmptyDirVolumeSource::default()),
                ..Volume::default()
            },
        ]),
        ..PodSpec::default()
    }
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

//! The fleet's message server in a cluster: a StatefulSet of one nats-server, its Service, and the Secret of its configuration.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::{StatefulSet, StatefulSetSpec};
use k8s_openapi::api::core::v1::{
    Container, ContainerPort, EmptyDirVolumeSource, PodSpec, PodTemplateSpec, Probe,
    ResourceRequirements, Secret, SecretVolumeSource, Service, ServicePort, ServiceSpec,
    TCPSocketAction, Volume, VolumeMount,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use crate::object::{Component, metadata, pod_metadata, selected, selector, tolerations};
use crate::options::ManifestOptions;
use crate::secrets::ServerSecrets;
use crate::security;

/// What the names of the objects end with.
pub(crate) const SUFFIX: &str = "nats";
/// The port of the server.
pub const PORT: u16 = 4222;
/// Where the server finds its configuration and its certificate.
pub const CONFIG_DIR: &str = "/etc/nats";
/// Where it stores streams.
pub const STORE_DIR: &str = "/data";
/// The most of them.
const STORE_MAX: &str = "4Gi";

/// The names by which the pods of a cluster, and a port forwarded to this machine, reach the server.
#[must_use]
pub fn server_hosts(name: &str, namespace: &str) -> Vec<String> {
    let service = format!("{name}-{SUFFIX}");
    let names = [
        format!("{service}.{namespace}.svc"),
        service,
        "localhost".to_owned(),
        "127.0.0.1".to_owned(),
    ];
    names.into()
}

/// The configuration, the certificate and its key.
pub(crate) fn secret(options: &ManifestOptions, server: &ServerSecrets) -> Secret {
    let files = BTreeMap::from([
        ("nats.conf".to_owned(), server.config.clone()),
        ("server.pem".to_owned(), server.certificate.clone()),
        ("server-key.pem".to_owned(), server.certificate_key.clone()),
    ]);
    Secret {
        metadata: metadata(options, Component::Nats, SUFFIX),
        type_: Some("Opaque".to_owned()),
        string_data: Some(files),
        ..Secret::default()
    }
}

/// The name by which agents find the server.
pub(crate) fn service(options: &ManifestOptions) -> Service {
    Service {
        metadata: metadata(options, Component::Nats, SUFFIX),
        spec: Some(ServiceSpec {
            selector: Some(selected(options, Component::Nats)),
            ports: Some(vec![ServicePort {
                name: Some("nats".to_owned()),
                // A mesh takes a server that speaks first for HTTP otherwise, and waits for the client.
                app_protocol: Some("tcp".to_owned()),
                port: PORT.into(),
                target_port: Some(IntOrString::Int(PORT.into())),
                ..ServicePort::default()
            }]),
            ..ServiceSpec::default()
        }),
        ..Service::default()
    }
}

/// One server.
pub(crate) fn stateful_set(options: &ManifestOptions, image: &str) -> StatefulSet {
    StatefulSet {
        metadata: metadata(options, Component::Nats, SUFFIX),
        spec: Some(StatefulSetSpec {
            replicas: Some(1),
            service_name: Some(options.object_name(SUFFIX)),
            selector: selector(options, Component::Nats),
            template: PodTemplateSpec {
                metadata: Some(pod_metadata(options, Component::Nats)),
                spec: Some(pod(options, image)),
            },
            ..StatefulSetSpec::default()
        }),
        ..StatefulSet::default()
    }
}

fn pod(options: &ManifestOptions, image: &str) -> PodSpec {
    PodSpec {
        automount_service_account_token: Some(false),
        enable_service_links: Some(false),
        security_context: Some(security::of_pod(options.user, &[])),
        tolerations: tolerations(options),
        containers: vec![container(options, image)],
        volumes: Some(vec![
            Volume {
                name: "config".to_owned(),
                secret: Some(SecretVolumeSource {
                    secret_name: Some(options.object_name(SUFFIX)),
                    default_mode: Some(0o440),
                    ..SecretVolumeSource::default()
                }),
                ..Volume::default()
            },
            Volume {
                name: "data".to_owned(),
                empty_dir: Some(EmptyDirVolumeSource {
                    size_limit: Some(Quantity(STORE_MAX.to_owned())),
                    ..EmptyDirVolumeSource::default()
                }),
                ..Volume::default()
            },
        ]),
        ..PodSpec::default()
    }
}

fn container(options: &ManifestOptions, image: &str) -> Container {
    let quantities = BTreeMap::from([
        ("cpu".to_owned(), Quantity(options.nats_cpu.clone())),
        ("memory".to_owned(), Quantity(options.nats_memory.clone())),
    ]);
    let mount = |name: &str, path: &str, read_only: bool| VolumeMount {
        name: name.to_owned(),
        mount_path: path.to_owned(),
        read_only: Some(read_only),
        ..VolumeMount::default()
    };
    Container {
        name: "nats".to_owned(),
        image: Some(image.to_owned()),
        args: Some(vec!["--config".to_owned(), format!("{CONFIG_DIR}/nats.conf")]),
        ports: Some(vec![ContainerPort {
            name: Some("nats".to_owned()),
            container_port: PORT.into(),
            ..ContainerPort::default()
        }]),
        readiness_probe: Some(Probe {
            tcp_socket: Some(TCPSocketAction {
                port: IntOrString::Int(PORT.into()),
                ..TCPSocketAction::default()
            }),
            period_seconds: Some(2),
            ..Probe::default()
        }),
        resources: Some(ResourceRequirements {
            requests: Some(quantities.clone()),
            limits: Some(quantities),
            ..ResourceRequirements::default()
        }),
        security_context: Some(security::of_container()),
        volume_mounts: Some(vec![
            mount("config", CONFIG_DIR, true),
            mount("data", STORE_DIR, false),
        ]),
        ..Container::default()
    }
}

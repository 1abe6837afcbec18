//! Who may connect to the pods of a fleet: nothing to an agent, the agents to the message server.

use k8s_openapi::api::networking::v1::{
    NetworkPolicy, NetworkPolicyIngressRule, NetworkPolicyPeer, NetworkPolicyPort,
    NetworkPolicySpec,
};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use crate::object::{Component, metadata, selector};
use crate::options::ManifestOptions;
use crate::{agents, nats};

/// Agents connect to others, and accept nothing. Where their load may go is the cluster's matter.
pub(crate) fn of_agents(options: &ManifestOptions) -> NetworkPolicy {
    policy(options, Component::Agent, agents::SUFFIX, Vec::new())
}

/// The server accepts agents; a port that kubectl forwards comes from the node, which no policy keeps out.
pub(crate) fn of_nats(options: &ManifestOptions) -> NetworkPolicy {
    let from_agents = NetworkPolicyIngressRule {
        from: Some(vec![NetworkPolicyPeer {
            pod_selector: Some(selector(options, Component::Agent)),
            ..NetworkPolicyPeer::default()
        }]),
        ports: Some(vec![NetworkPolicyPort {
            port: Some(IntOrString::Int(nats::PORT.into())),
            protocol: Some("TCP".to_owned()),
            ..NetworkPolicyPort::default()
        }]),
    };
    policy(options, Component::Nats, nats::SUFFIX, vec![from_agents])
}

fn policy(
    options: &ManifestOptions,
    component: Component,
    suffix: &str,
    ingress: Vec<NetworkPolicyIngressRule>,
) -> NetworkPolicy {
    NetworkPolicy {
        metadata: metadata(options, component, suffix),
        spec: Some(NetworkPolicySpec {
            pod_selector: Some(selector(options, component)),
            policy_types: Some(vec!["Ingress".to_owned()]),
            ingress: Some(ingress),
            ..NetworkPolicySpec::default()
        }),
    }
}

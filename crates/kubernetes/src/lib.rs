//! The agents of a fleet in a Kubernetes cluster. [`Manifests`] are what the cluster is asked to run: an Indexed Job of agents and a
//! nats-server, with namespaced rights alone, made from typed objects. [`Kubectl`] hands them to the cluster and says what becomes of
//! the pods. There is no resource definition of its own and no controller; who may use a namespace may use this.

mod agents;
mod chart;
mod cluster;
mod error;
mod kubectl;
mod manifests;
mod nats;
mod network;
mod object;
mod options;
mod pods;
mod secrets;
mod security;

pub use cluster::{Cluster, ClusterNotice};
pub use error::ClusterError;
pub use kubectl::{Kubectl, PortForward};
pub use manifests::Manifests;
pub use nats::{CONFIG_DIR, PORT, STORE_DIR, server_hosts};
pub use options::{ManifestOptions, OptionsError, TaintTolerance, agent_name};
pub use secrets::{Secrets, ServerSecrets};
pub use security::USER;

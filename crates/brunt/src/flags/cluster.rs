//! The flags of `fleet k8s`.

use std::collections::BTreeMap;

use cli::{Flag, ValueError, ValueKind, value};
use kubernetes::TaintTolerance;
use remote::flags::read_labels;
use stdx::Nanos;

/// The flags of `fleet k8s` as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClusterFlags {
    /// The namespace.
    pub(crate) namespace: String,
    /// What the names of all objects begin with.
    pub(crate) name: String,
    /// The image of brunt.
    pub(crate) image: Option<String>,
    /// The number of agents.
    pub(crate) agents: Option<u64>,
    /// Whole cores of each.
    pub(crate) cores: u64,
    /// Memory of each.
    pub(crate) memory: String,
    /// Labels of the agents.
    pub(crate) labels: Vec<String>,
    /// Labels of nodes that may run agents.
    pub(crate) node_labels: BTreeMap<String, String>,
    /// The Secret by which images are pulled.
    pub(crate) pull_secret: Option<String>,
    /// The image of the message server.
    pub(crate) nats_image: String,
    /// Memory and cores of the message server.
    pub(crate) nats_memory: String,
    pub(crate) nats_cpu: String,
    /// Taints of nodes on which pods may run.
    pub(crate) tolerations: Vec<TaintTolerance>,
    /// Annotations of all pods.
    pub(crate) annotations: BTreeMap<String, String>,
    /// The user of pods; `None` is whom the cluster chooses.
    pub(crate) user: Option<i64>,
    /// When the cluster ends the agents.
    pub(crate) deadline: Nanos,
    /// The port of this machine that leads to the message server.
    pub(crate) port: Option<u16>,
    /// Start the fleet, and not only print it.
    pub(crate) apply: bool,
    /// Leave it there.
    pub(crate) keep: bool,
    /// How long pods may take to run.
    pub(crate) wait: Nanos,
    /// The context of kubectl's configuration.
    pub(crate) context: Option<String>,
    /// The folder of a chart to write.
    pub(crate) chart: Option<String>,
}

impl Default for ClusterFlags {
    fn default() -> Self {
        Self {
            namespace: "default".to_owned(),
            name: "brunt".to_owned(),
            image: None,
            agents: None,
            cores: 1,
            memory: "512Mi".to_owned(),
            labels: Vec::new(),
            node_labels: BTreeMap::new(),
            pull_secret: None,
            nats_image: NATS_IMAGE.to_owned(),
            nats_memory: "512Mi".to_owned(),
            nats_cpu: "1".to_owned(),
            tolerations: Vec::new(),
            annotations: BTreeMap::new(),
            user: Some(kubernetes::USER),
            deadline: DEADLINE,
            port: None,
            apply: false,
            keep: false,
            wait: WAIT,
            context: None,
            chart: None,
        }
    }
}

/// The message server's image unless a flag says otherwise: the newest minor version with which a fleet was tried.
const NATS_IMAGE: &str = "docker.io/library/nats:2.12";
/// When the cluster ends agents that are not ended before.
const DEADLINE: Nanos = Nanos::from_secs(4 * 3600);
/// How long pods may take to run: an image has to be pulled, a node perhaps to be started.
const WAIT: Nanos = Nanos::from_secs(180);

/// Stores a text.
macro_rules! text {
    ($name:literal, $kind:expr, $default:literal, $help:literal, $place:ident) => {
        Flag::new($name, $kind, $default, $help, |t: &mut T, v| {
            t.as_mut().$place = v.to_owned();
            Ok(())
        })
        .native()
    };
    ($name:literal, $kind:expr, $help:literal, $place:ident) => {
        Flag::new($name, $kind, "", $help, |t: &mut T, v| {
            t.as_mut().$place = Some(v.to_owned());
            Ok(())
        })
        .native()
    };
}

/// The rows of the agents.
pub(crate) const fn agents<T: AsMut<ClusterFlags>>() -> [Flag<T>; 7] {
    [
        text!(
            "n",
            ValueKind::Text("NAMESPACE"),
            "default",
            "k8s: the namespace, which must be there already.",
            namespace
        ),
        text!(
            "name",
            ValueKind::Text("NAME"),
            "brunt",
            "k8s: what the names of all objects begin with.",
            name
        ),
        text!("image", ValueKind::Text("IMAGE"), "k8s: brunt's image, of this version.", image),
        Flag::new(
            "agents",
            ValueKind::Text("N"),
            "",
            "k8s: the number of agents, a pod each.",
            |t: &mut T, v| value::count(v).map(|n| t.as_mut().agents = Some(n)),
        )
        .native(),
        Flag::new(
            "cores",
            ValueKind::Text("N"),
            "1",
            "k8s: whole cores of each agent, requested and at most.",
            |t: &mut T, v| value::count(v).map(|n| t.as_mut().cores = n),
        )
        .native(),
        text!(
            "memory",
            ValueKind::Text("SIZE"),
            "512Mi",
            "k8s: memory of each agent, requested and at most.",
            memory
        ),
        Flag::new(
            "labels",
            ValueKind::Text("KEY=VALUE,…"),
            "",
            "k8s: what -agent-labels of a run may ask for.",
            |t: &mut T, v| read_labels(v).map(|labels| t.as_mut().labels.extend(labels)),
        )
        .native(),
    ]
}

/// The rows of how the cluster runs them.
pub(crate) const fn placing<T: AsMut<ClusterFlags>>() -> [Flag<T>; 9] {
    [
        Flag::new(
            "node-labels",
            ValueKind::Text("KEY=VALUE,…"),
            "",
            "k8s: run agents on nodes with these labels alone.",
            |t: &mut T, v| {
                read_labels(v).map(|labels| t.as_mut().node_labels.extend(pairs(&labels)))
            },
        )
        .native(),
        text!(
            "pull-secret",
            ValueKind::Text("NAME"),
            "k8s: the Secret by which the image is pulled.",
            pull_secret
        ),
        text!(
            "nats-image",
            ValueKind::Text("IMAGE"),
            "docker.io/library/nats:2.12",
            "k8s: the message server's image; with -nats there is none.",
            nats_image
        ),
        text!(
            "nats-memory",
            ValueKind::Text("SIZE"),
            "512Mi",
            "k8s: memory of the message server, requested and at most.",
            nats_memory
        ),
        text!(
            "nats-cores",
            ValueKind::Text("N"),
            "1",
            "k8s: cores of the message server, requested and at most; 500m is a half.",
            nats_cpu
        ),
        Flag::new(
            "tolerations",
            ValueKind::Text("KEY[=VALUE][:EFFECT],…"),
            "",
            "k8s: run on nodes with these taints, too.",
            |t: &mut T, v| tolerations(v).map(|all| t.as_mut().tolerations.extend(all)),
        )
        .native(),
        Flag::new(
            "annotations",
            ValueKind::Text("KEY=VALUE,…"),
            "",
            "k8s: annotations of all pods; those against the proxies of Istio and Linkerd are there.",
            |t: &mut T, v| {
                read_labels(v).map(|labels| t.as_mut().annotations.extend(pairs(&labels)))
            },
        )
        .native(),
        Flag::new(
            "run-as",
            ValueKind::Text("UID|cluster"),
            "65532",
            "k8s: the user that pods run as; cluster: one that the cluster chooses (OpenShift).",
            |t: &mut T, v| user(v).map(|user| t.as_mut().user = user),
        )
        .native(),
        Flag::new(
            "deadline",
            ValueKind::Duration,
            "4h",
            "k8s: when the cluster ends the agents, whatever became of this machine.",
            |t: &mut T, v| value::duration(v).map(|deadline| t.as_mut().deadline = deadline),
        )
        .native(),
    ]
}

/// The rows of what is done with it.
pub(crate) const fn actions<T: AsMut<ClusterFlags>>() -> [Flag<T>; 6] {
    [
        Flag::new(
            "apply",
            ValueKind::Switch,
            "",
            "k8s: start the fleet with kubectl, run the command after --, and clean up.",
            |t: &mut T, v| value::switch(v).map(|on| t.as_mut().apply = on),
        )
        .native(),
        Flag::new(
            "keep",
            ValueKind::Switch,
            "",
            "k8s: with -apply, leave the fleet there at the end.",
            |t: &mut T, v| value::switch(v).map(|on| t.as_mut().keep = on),
        )
        .native(),
        Flag::new(
            "wait",
            ValueKind::Duration,
            "3m",
            "k8s: with -apply, how long pods may take to run.",
            |t: &mut T, v| value::duration(v).map(|wait| t.as_mut().wait = wait),
        )
        .native(),
        Flag::new(
            "port",
            ValueKind::Text("PORT"),
            "4222",
            "k8s: the port of this machine that kubectl forwards; -apply takes a free one.",
            |t: &mut T, v| port(v).map(|port| t.as_mut().port = Some(port)),
        )
        .native(),
        text!(
            "context",
            ValueKind::Text("NAME"),
            "k8s: the context of kubectl's configuration, where it is not the current one.",
            context
        ),
        text!(
            "chart",
            ValueKind::Path,
            "k8s: write a chart for Helm into this folder, and print nothing.",
            chart
        ),
    ]
}

/// Keys and values.
fn pairs(labels: &[String]) -> impl Iterator<Item = (String, String)> {
    let pairs = labels.iter().filter_map(|label| label.split_once('='));
    pairs.map(|(key, value)| (key.to_owned(), value.to_owned()))
}

fn tolerations(text: &str) -> Result<Vec<TaintTolerance>, ValueError> {
    let read = |one: &str| {
        TaintTolerance::read(one.trim()).ok_or_else(|| {
            ValueError::new(format!("\"{one}\" is no toleration (expected KEY[=VALUE][:EFFECT])"))
        })
    };
    text.split(',').map(read).collect()
}

fn user(text: &str) -> Result<Option<i64>, ValueError> {
    match text.parse() {
        _ if text == "cluster" => Ok(None),
        Ok(user @ 1..) => Ok(Some(user)),
        _ => Err(ValueError::new(format!("\"{text}\" is no user (expected a number, or cluster)"))),
    }
}

fn port(text: &str) -> Result<u16, ValueError> {
    match text.parse() {
        Ok(port @ 1..) => Ok(port),
        _ => Err(ValueError::new(format!("\"{text}\" is no port (expected 1 to 65535)"))),
    }
}

//! Objects of a cluster as YAML, and what all of them have.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Toleration;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use serde::Serialize;

use crate::options::ManifestOptions;

/// Which object of the fleet a pod is of: the value of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Component {
    Agent,
    Nats,
}

impl Component {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Nats => "nats",
        }
    }
}

/// What says of which component a pod is.
pub(crate) const COMPONENT: &str = "app.kubernetes.io/component";
/// What says of which fleet an object is.
pub(crate) const INSTANCE: &str = "app.kubernetes.io/instance";

/// The labels by which a component's pods are found.
pub(crate) fn selected(
    options: &ManifestOptions,
    component: Component,
) -> BTreeMap<String, String> {
    let pairs = [
        ("app.kubernetes.io/name", "brunt"),
        (INSTANCE, options.name.as_str()),
        (COMPONENT, component.name()),
    ];
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

/// Annotations by which service meshes leave a pod alone: a proxy of theirs would carry the load, and be measured.
const WITHOUT_MESH: [(&str, &str); 2] =
    [("linkerd.io/inject", "disabled"), ("sidecar.istio.io/inject", "false")];

/// The labels and annotations of a component's pods.
pub(crate) fn pod_metadata(options: &ManifestOptions, component: Component) -> ObjectMeta {
    let own = WITHOUT_MESH.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let mut annotations = BTreeMap::from(own);
    annotations.extend(options.annotations.clone());
    ObjectMeta {
        labels: Some(selected(options, component)),
        annotations: Some(annotations),
        ..ObjectMeta::default()
    }
}

/// The taints on which pods may run.
pub(crate) fn tolerations(options: &ManifestOptions) -> Option<Vec<Toleration>> {
    let all = options.tolerations.iter().map(|one| Toleration {
        key: Some(one.key.clone()),
        operator: Some(if one.value.is_some() { "Equal" } else { "Exists" }.to_owned()),
        value: one.value.clone(),
        effect: one.effect.clone(),
        ..Toleration::default()
    });
    let all: Vec<Toleration> = all.collect();
    (!all.is_empty()).then_some(all)
}

/// The selector of a component's pods.
pub(crate) fn selector(options: &ManifestOptions, component: Component) -> LabelSelector {
    LabelSelector { match_labels: Some(selected(options, component)), ..LabelSelector::default() }
}

/// The name, the namespace and the labels of an object.
pub(crate) fn metadata(
    options: &ManifestOptions,
    component: Component,
    suffix: &str,
) -> ObjectMeta {
    let mut labels = selected(options, component);
    labels.insert("app.kubernetes.io/managed-by".to_owned(), "brunt".to_owned());
    labels.insert("app.kubernetes.io/version".to_owned(), label_value(&options.version));
    ObjectMeta {
        name: Some(options.object_name(suffix)),
        namespace: Some(options.namespace.clone()),
        labels: Some(labels),
        ..ObjectMeta::default()
    }
}

/// A version as the value of a label: what follows a `+` may not stand there.
fn label_value(version: &str) -> String {
    version.chars().map(|c| if c == '+' { '_' } else { c }).collect()
}

/// A document of YAML.
pub(crate) fn yaml(object: &impl Serialize) -> String {
    // Typed objects have texts as keys and no numbers without a form in YAML.
    serde_norway::to_string(object).unwrap_or_default()
}

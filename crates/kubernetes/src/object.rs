//! Objects of a cluster as YAML, and what all of them have.

use std::collections::BTreeMap;

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

//! `Manifests`: all objects of a fleet in a cluster, as YAML.

use crate::object::yaml;
use crate::options::{ManifestOptions, OptionsError};
use crate::secrets::Secrets;
use crate::{agents, nats, network};

/// All objects of a fleet in a cluster.
pub struct Manifests<'a> {
    options: &'a ManifestOptions,
    secrets: &'a Secrets,
}

impl<'a> Manifests<'a> {
    /// Of a fleet.
    ///
    /// # Errors
    /// The cluster would refuse a value.
    pub fn new(options: &'a ManifestOptions, secrets: &'a Secrets) -> Result<Self, OptionsError> {
        options.check()?;
        Ok(Self { options, secrets })
    }

    /// Documents of YAML, in the order in which a cluster should have them.
    #[must_use]
    pub fn yaml(&self) -> String {
        let mut out = format!(
            "# Written by `brunt fleet k8s` {}. It holds the fleet's keys: handle it as you handle those.\n",
            self.options.version
        );
        out.push_str(&self.secret_yaml());
        documents(self.options, self.options.agents)
            .iter()
            .for_each(|document| add(&mut out, document));
        out
    }

    /// The keys alone.
    pub(crate) fn secret_yaml(&self) -> String {
        let mut out = String::new();
        if let Some(server) = &self.secrets.server {
            add(&mut out, &yaml(&nats::secret(self.options, server)));
        }
        for secret in agents::secrets(self.options, &self.secrets.agents) {
            add(&mut out, &yaml(&secret));
        }
        out
    }

    pub(crate) fn options(&self) -> &ManifestOptions {
        self.options
    }
}

/// Adds a document.
fn add(out: &mut String, document: &str) {
    out.push_str("---\n");
    out.push_str(document);
}

/// The objects without secrets, of a fleet that has the keys of so many agents.
pub(crate) fn documents(options: &ManifestOptions, keys: usize) -> Vec<String> {
    let server = options.nats_image.as_ref().map(|image| {
        [
            yaml(&network::of_nats(options)),
            yaml(&nats::service(options)),
            yaml(&nats::stateful_set(options, image)),
        ]
    });
    let agents = [yaml(&network::of_agents(options)), yaml(&agents::job(options, keys))];
    server.into_iter().flatten().chain(agents).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_norway::Value;

    use super::*;
    use crate::options::tests::options;
    use crate::secrets::ServerSecrets;

    pub(crate) fn secrets() -> Secrets {
        let server = ServerSecrets {
            config: "listen: x\n".to_owned(),
            certificate: "C".to_owned(),
            certificate_key: "K".to_owned(),
        };
        let agents = (0..3).map(|at| format!("bruntkey1-{at}")).collect();
        Secrets { agents, server: Some(server) }
    }

    /// The documents, read again.
    fn documents(options: &ManifestOptions) -> Vec<Value> {
        let text = Manifests::new(options, &secrets()).unwrap().yaml();
        let parts = text.split("---\n").skip(1);
        parts.map(|part| serde_norway::from_str(part).unwrap()).collect()
    }

    fn kind<'a>(documents: &'a [Value], kind: &str, name: &str) -> &'a Value {
        let found = documents.iter().find(|d| d["kind"] == kind && d["metadata"]["name"] == name);
        found.unwrap_or_else(|| panic!("no {kind} {name}"))
    }

    #[test]
    fn an_indexed_job_runs_the_agents_under_the_restricted_profile() {
        let documents = documents(&options());
        assert_eq!(documents.len(), 7);
        assert!(documents.iter().all(|document| document["metadata"]["namespace"] == "load"));
        let job = kind(&documents, "Job", "brunt-agents");
        let spec = &job["spec"];
        assert_eq!((&spec["completionMode"], &spec["completions"]), (&"Indexed".into(), &3.into()));
        assert_eq!(spec["parallelism"], 3);
        assert_eq!(spec["podReplacementPolicy"], "Failed");
        assert_eq!(spec["activeDeadlineSeconds"], 3600);
        assert!(spec["backoffLimitPerIndex"].is_number());
        let pod = &spec["template"]["spec"];
        assert_eq!((&pod["restartPolicy"], &pod["hostNetwork"]), (&"Never".into(), &Value::Null));
        assert_eq!(pod["automountServiceAccountToken"], false);
        let container = &pod["containers"][0];
        assert_eq!(container["resources"]["requests"], container["resources"]["limits"]);
        assert_eq!(container["resources"]["limits"]["cpu"], "2");
        assert_eq!(container["args"][4], "zone=eu");
        let nats = &kind(&documents, "StatefulSet", "brunt-nats")["spec"]["template"];
        for template in [&spec["template"], nats] {
            let annotations = &template["metadata"]["annotations"];
            assert_eq!(annotations["sidecar.istio.io/inject"], "false");
            assert_eq!(annotations["a/b"], "c");
            let toleration = &template["spec"]["tolerations"][0];
            assert_eq!(
                (&toleration["operator"], &toleration["value"]),
                (&"Equal".into(), &"load".into())
            );
            assert_eq!(template["spec"]["securityContext"]["runAsUser"], 65532);
        }
        let limits = &nats["spec"]["containers"][0]["resources"]["limits"];
        assert_eq!((&limits["cpu"], &limits["memory"]), (&"500m".into(), &"256Mi".into()));
        let port = &kind(&documents, "Service", "brunt-nats")["spec"]["ports"][0];
        assert_eq!(port["appProtocol"], "tcp");
        assert_eq!(container["volumeMounts"][0]["subPathExpr"], "agent-$(JOB_COMPLETION_INDEX)");
        for pod in [pod, &kind(&documents, "StatefulSet", "brunt-nats")["spec"]["template"]["spec"]]
        {
            let (of_pod, of_container) =
                (&pod["securityContext"], &pod["containers"][0]["securityContext"]);
            assert_eq!(of_pod["runAsNonRoot"], true);
            assert_eq!(of_pod["seccompProfile"]["type"], "RuntimeDefault");
            assert_eq!(of_container["allowPrivilegeEscalation"], false);
            assert_eq!(of_container["readOnlyRootFilesystem"], true);
            assert_eq!(of_container["capabilities"]["drop"][0], "ALL");
        }
    }

    #[test]
    fn only_agents_reach_the_server_and_nobody_an_agent() {
        let documents = documents(&options());
        let agents = kind(&documents, "NetworkPolicy", "brunt-agents");
        assert_eq!(agents["spec"]["ingress"], Value::Sequence(Vec::new()));
        assert_eq!(agents["spec"]["policyTypes"][0], "Ingress");
        let nats = &kind(&documents, "NetworkPolicy", "brunt-nats")["spec"]["ingress"][0];
        let from = &nats["from"][0]["podSelector"]["matchLabels"];
        assert_eq!(from["app.kubernetes.io/component"], "agent");
        assert_eq!(from["app.kubernetes.io/instance"], "brunt");
        assert_eq!(nats["ports"][0]["port"], 4222);
        let keys = kind(&documents, "Secret", "brunt-agents");
        assert_eq!(keys["stringData"]["agent-2"], "bruntkey1-2");
    }

    /// The largest fleet, as `kubectl apply` writes it: each object once more as JSON, into an annotation of it.
    #[test]
    fn each_object_of_the_largest_fleet_fits_its_annotation() {
        let options = ManifestOptions { agents: 1000, name: "b".repeat(40), ..options() };
        let agents: Vec<String> = (0..1000).map(|at| format!("{}{at}", "k".repeat(950))).collect();
        let secrets = Secrets { agents: agents.clone(), server: None };
        let text = Manifests::new(&options, &secrets).unwrap().yaml();
        let documents = text.split("---\n").skip(1);
        let documents: Vec<Value> =
            documents.map(|part| serde_norway::from_str(part).unwrap()).collect();
        for document in &documents {
            let bytes = serde_json::to_vec(document).unwrap().len();
            assert!(
                bytes < 262_144,
                "{} has {bytes} bytes",
                document["metadata"]["name"].as_str().unwrap()
            );
        }
        let secrets = documents.iter().filter(|document| document["kind"] == "Secret");
        let mut keys: Vec<String> = secrets
            .clone()
            .flat_map(|secret| secret["stringData"].as_mapping().unwrap().values())
            .map(|key| key.as_str().unwrap().to_owned())
            .collect();
        keys.sort();
        let mut expected = agents;
        expected.sort();
        assert!(keys == expected);
        let job = documents.iter().find(|document| document["kind"] == "Job").unwrap();
        let volume = &job["spec"]["template"]["spec"]["volumes"][0]["projected"]["sources"];
        let mounted = volume.as_sequence().unwrap().iter().map(|source| &source["secret"]["name"]);
        assert!(mounted.eq(secrets.map(|secret| &secret["metadata"]["name"])));
    }

    #[test]
    fn the_cluster_may_choose_the_user() {
        let options = ManifestOptions { user: None, ..options() };
        let text = Manifests::new(&options, &secrets()).unwrap().yaml();
        assert!(text.contains("runAsNonRoot: true") && !text.contains("runAsUser"));
    }

    #[test]
    fn a_server_that_is_there_already_is_not_made() {
        let options = ManifestOptions { nats_image: None, ..options() };
        let text = Manifests::new(&options, &Secrets { server: None, ..secrets() }).unwrap().yaml();
        assert!(!text.contains("brunt-nats") && text.contains("kind: Job"), "{text}");
        assert!(!format!("{:?}", secrets()).contains("bruntkey1"));
    }
}

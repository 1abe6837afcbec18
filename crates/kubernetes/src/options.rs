//! `ManifestOptions`: what a fleet in a cluster is made of, checked.

use std::collections::BTreeMap;

use thiserror::Error;

/// The longest name: those made of it by a suffix and a pod's index must be DNS labels.
const NAME_MAX: usize = 40;
/// The longest DNS label (RFC 1123), as a namespace has.
const LABEL_MAX: usize = 63;
/// The most agents: the server's configuration is in one Secret, of 1 MiB at most.
const AGENTS_MAX: usize = 1000;
/// The variable by which a pod of an Indexed Job knows its index.
pub(crate) const AGENT_INDEX: &str = "$(JOB_COMPLETION_INDEX)";

/// What a fleet in a cluster is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestOptions {
    /// What the names of all objects begin with.
    pub name: String,
    /// The namespace, which is there already.
    pub namespace: String,
    /// The image of brunt.
    pub image: String,
    /// The number of agents.
    pub agents: usize,
    /// Whole cores of each agent, requested and at most.
    pub cpu: u32,
    /// Memory of each agent, requested and at most, as a quantity (`512Mi`).
    pub memory: String,
    /// Labels of the agents, `KEY=VALUE`.
    pub labels: Vec<String>,
    /// Seconds after which the cluster ends the agents, whatever became of who started them.
    pub deadline: u64,
    /// Labels of the nodes that may run agents.
    pub node_selector: BTreeMap<String, String>,
    /// The Secret by which images are pulled.
    pub pull_secret: Option<String>,
    /// The image of the fleet's own message server; `None` where one is there already.
    pub nats_image: Option<String>,
    /// Memory of the message server, requested and at most.
    pub nats_memory: String,
    /// Its cores, requested and at most, as a quantity (`1`, `500m`).
    pub nats_cpu: String,
    /// Taints of nodes on which pods may run all the same.
    pub tolerations: Vec<TaintTolerance>,
    /// Annotations of all pods, beside those that keep the proxies of service meshes away.
    pub annotations: BTreeMap<String, String>,
    /// The user that pods run as; `None` is whom the cluster chooses.
    pub user: Option<i64>,
    /// brunt's version.
    pub version: String,
}

/// A taint on which pods may run: `KEY`, `KEY=VALUE`, each with `:EFFECT` behind it where it is for one effect alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaintTolerance {
    /// The taint's key.
    pub key: String,
    /// Its value; `None` is any.
    pub value: Option<String>,
    /// Its effect; `None` is any.
    pub effect: Option<String>,
}

impl TaintTolerance {
    /// Reads one; `None` where the text has no key, or an effect that there is not.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let (taint, effect) = match text.rsplit_once(':') {
            Some((taint, effect)) => (taint, Some(effect)),
            None => (text, None),
        };
        let (key, value) = match taint.split_once('=') {
            Some((key, value)) => (key, Some(value)),
            None => (taint, None),
        };
        let is_effect = effect.is_none_or(|effect| TAINT_EFFECTS.contains(&effect));
        (!key.is_empty() && is_effect).then(|| Self {
            key: key.to_owned(),
            value: value.map(str::to_owned),
            effect: effect.map(str::to_owned),
        })
    }
}

/// What a taint does to pods.
const TAINT_EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

/// The suffixes of memory in which an agent's is counted, of those that Kubernetes has.
const MEMORY_SUFFIXES: [&str; 4] = ["Mi", "Gi", "M", "G"];

/// Why no manifests can be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OptionsError {
    /// A name that the cluster would refuse.
    #[error(
        "{what} \"{value}\": a name has lower-case letters, digits and -, begins with a letter, ends with a letter or digit, and is at most {most} long"
    )]
    Name {
        /// Which one.
        what: &'static str,
        /// The name.
        value: String,
        /// Its most characters.
        most: usize,
    },
    /// No image, or a character in it that none has.
    #[error("\"{0}\" is no image (expected REGISTRY/NAME:TAG, as registry.example/brunt:1.0)")]
    Image(String),
    /// No agents, or too many.
    #[error("a fleet in a cluster has 1 to {AGENTS_MAX} agents, not {0}")]
    Agents(usize),
    /// Less than a core.
    #[error("an agent needs a whole core at least: with less, its requests go out late")]
    Cpu,
    /// Not a quantity of cores.
    #[error("\"{0}\" is no number of cores (expected 2, or 500m for a half)")]
    Cores(String),
    /// Not a quantity of memory.
    #[error("\"{0}\" is no memory (expected a number with M, Mi, G or Gi, as 512Mi)")]
    Memory(String),
}

impl ManifestOptions {
    /// Checks what the cluster would refuse.
    ///
    /// # Errors
    /// A value is wrong.
    pub fn check(&self) -> Result<(), OptionsError> {
        check_name("the name", &self.name, NAME_MAX)?;
        check_name("the namespace", &self.namespace, LABEL_MAX)?;
        for image in std::iter::once(&self.image).chain(&self.nats_image) {
            if image.is_empty() || !image.chars().all(is_of_image) {
                return Err(OptionsError::Image(image.clone()));
            }
        }
        if self.agents == 0 || self.agents > AGENTS_MAX {
            return Err(OptionsError::Agents(self.agents));
        }
        if self.cpu == 0 {
            return Err(OptionsError::Cpu);
        }
        check_memory(&self.memory)?;
        check_memory(&self.nats_memory)?;
        let cores = self.nats_cpu.strip_suffix('m').unwrap_or(&self.nats_cpu);
        match cores.parse::<u32>() {
            Ok(1..) => Ok(()),
            _ => Err(OptionsError::Cores(self.nats_cpu.clone())),
        }
    }

    /// The name of an object of the fleet.
    pub(crate) fn object_name(&self, suffix: &str) -> String {
        format!("{}-{suffix}", self.name)
    }
}

/// The name in its fleet of the agent with this index.
#[must_use]
pub fn agent_name(name: &str, index: usize) -> String {
    format!("{name}-{index}")
}

fn check_memory(text: &str) -> Result<(), OptionsError> {
    let number = MEMORY_SUFFIXES.iter().find_map(|suffix| text.strip_suffix(suffix));
    match number.map(str::parse::<u32>) {
        Some(Ok(1..)) => Ok(()),
        _ => Err(OptionsError::Memory(text.to_owned())),
    }
}

/// A character of an image's name, tag or digest.
fn is_of_image(c: char) -> bool {
    c.is_ascii_alphanumeric() || "._-/:@".contains(c)
}

fn check_name(what: &'static str, value: &str, most: usize) -> Result<(), OptionsError> {
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_name = value.starts_with(|c: char| c.is_ascii_lowercase())
        && !value.ends_with('-')
        && value.len() <= most
        && value.chars().all(is_allowed);
    if is_name {
        return Ok(());
    }
    Err(OptionsError::Name { what, value: value.to_owned(), most })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn options() -> ManifestOptions {
        ManifestOptions {
            name: "brunt".to_owned(),
            namespace: "load".to_owned(),
            image: "registry.example/brunt:1.0".to_owned(),
            agents: 3,
            cpu: 2,
            memory: "512Mi".to_owned(),
            labels: vec!["zone=eu".to_owned()],
            deadline: 3600,
            node_selector: BTreeMap::new(),
            pull_secret: None,
            nats_image: Some("nats:2.12".to_owned()),
            nats_memory: "256Mi".to_owned(),
            nats_cpu: "500m".to_owned(),
            tolerations: vec![TaintTolerance::read("pool=load:NoSchedule").unwrap()],
            annotations: BTreeMap::from([("a/b".to_owned(), "c".to_owned())]),
            user: Some(65532),
            version: "1.0".to_owned(),
        }
    }

    #[test]
    fn a_toleration_is_read_by_its_parts() {
        let read = |text| TaintTolerance::read(text).map(|one| (one.key, one.value, one.effect));
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(read("k"), Some(("k".to_owned(), None, None)));
        assert_eq!(read("k:NoExecute"), Some(("k".to_owned(), None, some("NoExecute"))));
        assert_eq!(
            read("a/k=v:NoSchedule"),
            Some(("a/k".to_owned(), some("v"), some("NoSchedule")))
        );
        for wrong in ["", "=v", "k:never", ":NoSchedule"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_a_cluster_would_refuse_is_refused_here() {
        assert_eq!(options().check(), Ok(()));
        let refused = |change: fn(&mut ManifestOptions)| {
            let mut options = options();
            change(&mut options);
            options.check().unwrap_err().to_string()
        };
        assert!(refused(|o| o.name = "Brunt".to_owned()).contains("the name \"Brunt\""));
        assert!(refused(|o| o.namespace = "a-".to_owned()).contains("the namespace \"a-\""));
        assert!(refused(|o| o.name = "a".repeat(41)).contains("at most 40 long"));
        assert!(refused(|o| o.image = "a b".to_owned()).contains("is no image"));
        assert!(refused(|o| o.nats_image = Some(String::new())).contains("is no image"));
        assert!(refused(|o| o.agents = 0).contains("1 to 1000 agents"));
        assert!(refused(|o| o.agents = 1001).contains("not 1001"));
        assert!(refused(|o| o.cpu = 0).contains("a whole core"));
        assert!(refused(|o| o.nats_cpu = "0m".to_owned()).contains("no number of cores"));
        assert!(refused(|o| o.nats_memory = "1".to_owned()).contains("no memory"));
        for memory in ["512Mi", "1G"] {
            let options = ManifestOptions { memory: memory.to_owned(), ..options() };
            assert_eq!(options.check(), Ok(()));
        }
        for memory in ["512", "0Mi", "half", "Gi", "-1Gi"] {
            let options = ManifestOptions { memory: memory.to_owned(), ..options() };
            assert_eq!(options.check(), Err(OptionsError::Memory(memory.to_owned())));
        }
    }
}

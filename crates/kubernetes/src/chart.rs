//! A chart for Helm, of the same typed objects: what is often changed stands in `values.yaml`.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use crate::error::ClusterError;
use crate::manifests::{Manifests, documents};
use crate::options::ManifestOptions;

/// Values that stand in no other place of the objects, and what replaces them in a template. Numbers stand for numbers.
const PLACES: [(&str, &str); 6] = [
    ("brunt-chart.invalid/image", "{{ .Values.image }}"),
    ("brunt-chart.invalid/nats", "{{ .Values.natsImage }}"),
    ("987651Mi", "{{ .Values.memory }}"),
    ("987652", "{{ .Values.agents }}"),
    ("987653", "{{ .Values.cpu }}"),
    ("987654", "{{ .Values.deadlineSeconds }}"),
];

impl Manifests<'_> {
    /// Writes a chart into a folder: `helm install NAME FOLDER` does what the manifests do.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write_chart(&self, folder: &Path) -> Result<(), ClusterError> {
        let files = [
            ("Chart.yaml", chart(self.options())),
            ("values.yaml", values(self.options())),
            ("templates/fleet.yaml", template(self.options())),
            ("templates/keys.yaml", self.secret_yaml()),
        ];
        for (name, text) in files {
            let path = folder.join(name);
            let written = path.parent().map_or(Ok(()), fs::create_dir_all);
            written
                .and_then(|()| write_private(&path, &text))
                .map_err(|error| ClusterError::File { path: path.display().to_string(), error })?;
        }
        Ok(())
    }
}

/// Writes a file that only its owner may read: one of them has keys.
fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)?
        .write_all(text.as_bytes())
}

fn chart(options: &ManifestOptions) -> String {
    let version = &options.version;
    format!(
        "apiVersion: v2\nname: brunt-fleet\ndescription: The agents of a fleet of brunt, and their message server.\n\
         type: application\nversion: {version}\nappVersion: \"{version}\"\n"
    )
}

fn values(options: &ManifestOptions) -> String {
    let nats = options.nats_image.as_ref().map_or(String::new(), |image| {
        format!("# The image of the message server.\nnatsImage: \"{image}\"\n")
    });
    format!(
        "# brunt's image, of the version of the command that starts the load.\nimage: \"{}\"\n{nats}\
         # Agents; keys.yaml has the keys of {}, which is the most.\nagents: {}\n\
         # Whole cores of each, and its memory.\ncpu: {}\nmemory: \"{}\"\n\
         # Seconds after which the cluster ends the agents.\ndeadlineSeconds: {}\n",
        options.image,
        options.agents,
        options.agents,
        options.cpu,
        options.memory,
        options.deadline
    )
}

/// The objects without secrets, as a template.
fn template(options: &ManifestOptions) -> String {
    let [image, nats, memory, ..] = PLACES.map(|(place, _)| place);
    let placed = ManifestOptions {
        image: image.to_owned(),
        nats_image: options.nats_image.as_ref().map(|_| nats.to_owned()),
        memory: memory.to_owned(),
        agents: 987_652,
        cpu: 987_653,
        deadline: 987_654,
        ..options.clone()
    };
    let text: String = documents(&placed).iter().map(|text| format!("---\n{text}")).collect();
    PLACES.iter().fold(text, |text, (place, value)| text.replace(place, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::tests::options;

    /// What Helm makes of a template that has nothing but values.
    fn rendered(template: &str, values: &str) -> String {
        let pairs = values.lines().filter_map(|line| line.split_once(": "));
        pairs.fold(template.to_owned(), |text, (name, value)| {
            text.replace(&format!("{{{{ .Values.{name} }}}}"), value.trim_matches('"'))
        })
    }

    #[test]
    fn a_chart_with_its_own_values_is_the_manifests() {
        let options = options();
        let (template, values) = (template(&options), values(&options));
        for (_, value) in PLACES {
            assert!(template.contains(value), "{value}");
        }
        let plain: String = documents(&options).iter().map(|text| format!("---\n{text}")).collect();
        // YAML quotes a text that looks like a number.
        let unquoted = |text: &str| text.replace('\'', "");
        assert_eq!(unquoted(&rendered(&template, &values)), unquoted(&plain));
    }
}

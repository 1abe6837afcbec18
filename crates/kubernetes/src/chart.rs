//! A chart for Helm, of the same typed objects: what is often changed stands in `values.yaml`.

use std::path::Path;

use stdx::private_file;

use crate::error::ClusterError;
use crate::manifests::{Manifests, documents};
use crate::options::ManifestOptions;

/// Values that stand in no other place of the objects, and what replaces them in a template. Numbers stand for numbers. What a user of
/// the chart gives is a text or a number there, whatever is in it.
const PLACES: [(&str, &str); 6] = [
    ("brunt-chart.invalid/image", "{{ .Values.image | quote }}"),
    ("brunt-chart.invalid/nats", "{{ .Values.natsImage | quote }}"),
    ("987651Mi", "{{ .Values.memory | quote }}"),
    ("987652", "{{ int .Values.agents }}"),
    ("987653", "{{ int .Values.cpu }}"),
    ("987654", "{{ int64 .Values.deadlineSeconds }}"),
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
            ("templates/keys.yaml", escaped(&self.secret_yaml())),
        ];
        for (name, text) in files {
            let path = folder.join(name);
            let made = path.parent().map_or(Ok(()), private_file::make_folder);
            // One of them has keys.
            made.and_then(|()| private_file::write(&path, text.as_bytes()))
                .map_err(|error| ClusterError::File { path: path.display().to_string(), error })?;
        }
        Ok(())
    }
}

fn chart(options: &ManifestOptions) -> String {
    let version = scalar(&options.version);
    format!(
        "apiVersion: v2\nname: brunt-fleet\ndescription: The agents of a fleet of brunt, and their message server.\n\
         type: application\nversion: {version}\nappVersion: {version}\n"
    )
}

/// A text as YAML has it, on one line.
fn scalar(text: &str) -> String {
    // JSON's texts are YAML's, and JSON has a form for each.
    serde_json::to_string(text).unwrap_or_default()
}

fn values(options: &ManifestOptions) -> String {
    let nats = options.nats_image.as_ref().map_or(String::new(), |image| {
        format!("# The image of the message server.\nnatsImage: {}\n", scalar(image))
    });
    format!(
        "# brunt's image, of the version of the command that starts the load.\nimage: {}\n{nats}\
         # Agents; keys.yaml has the keys of {}, which is the most.\nagents: {}\n\
         # Whole cores of each, and its memory.\ncpu: {}\nmemory: {}\n\
         # Seconds after which the cluster ends the agents.\ndeadlineSeconds: {}\n",
        scalar(&options.image),
        options.agents,
        options.agents,
        options.cpu,
        scalar(&options.memory),
        options.deadline
    )
}

/// A text in which Helm finds no template: of a label such as `zone={{x}}` it would make something else.
fn escaped(text: &str) -> String {
    text.replace("{{", "{{ \"{{\" }}")
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
    let text: String =
        documents(&placed, options.agents).iter().map(|text| format!("---\n{text}")).collect();
    PLACES.iter().fold(escaped(&text), |text, (place, value)| text.replace(place, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::tests::options;

    /// What Helm makes of a template that has nothing but values and escapes.
    fn rendered(template: &str, values: &str) -> String {
        let values: serde_norway::Value = serde_norway::from_str(values).unwrap();
        let values = values.as_mapping().unwrap().iter();
        let text = values.fold(template.to_owned(), |text, (name, value)| {
            let name = name.as_str().unwrap();
            let quoted = value.as_str().map(scalar).unwrap_or_default();
            let number = value.as_u64().unwrap_or_default().to_string();
            let text = text.replace(&format!("{{{{ .Values.{name} | quote }}}}"), &quoted);
            let text = text.replace(&format!("{{{{ int .Values.{name} }}}}"), &number);
            text.replace(&format!("{{{{ int64 .Values.{name} }}}}"), &number)
        });
        text.replace("{{ \"{{\" }}", "{{")
    }

    /// The documents of a text of YAML.
    fn read(text: &str) -> Vec<serde_norway::Value> {
        text.split("---\n").skip(1).map(|part| serde_norway::from_str(part).unwrap()).collect()
    }

    #[test]
    fn a_chart_with_its_own_values_is_the_manifests() {
        let strange = vec!["zone={{ .Values.image }}".to_owned(), "a=\"b\": 'c'".to_owned()];
        for labels in [options().labels, strange] {
            let options = ManifestOptions { labels, ..options() };
            let (template, values) = (template(&options), values(&options));
            for (_, value) in PLACES {
                assert!(template.contains(value), "{value}");
            }
            let documents = documents(&options, options.agents);
            let plain: String = documents.iter().map(|text| format!("---\n{text}")).collect();
            assert_eq!(read(&rendered(&template, &values)), read(&plain));
        }
    }

    #[test]
    fn a_value_stays_one_value() {
        let options = ManifestOptions {
            image: "r/b:1\"\nevil: \"x".to_owned(),
            version: "1\nevil: 1".to_owned(),
            ..options()
        };
        let read = |text: &str| serde_norway::from_str::<serde_norway::Value>(text).unwrap();
        let values = read(&values(&options));
        assert_eq!(values["image"], options.image.as_str());
        assert!(values.get("evil").is_none() && read(&chart(&options)).get("evil").is_none());
        assert_eq!(
            options.check(),
            Err(crate::options::OptionsError::Image(options.image.clone()))
        );
    }

    #[test]
    fn a_chart_replaces_what_was_there() {
        use std::os::unix::fs::PermissionsExt as _;
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("chart");
        let (options, secrets) = (options(), crate::manifests::tests::secrets());
        private_file::make_folder(&folder.join("templates")).unwrap();
        let keys = folder.join("templates/keys.yaml");
        std::fs::write(&keys, "old").unwrap();
        std::fs::set_permissions(&keys, std::fs::Permissions::from_mode(0o644)).unwrap();
        let manifests = Manifests::new(&options, &secrets).unwrap();
        manifests.write_chart(&folder).unwrap();
        let mode = std::fs::metadata(&keys).unwrap().permissions().mode() & 0o777;
        let text = std::fs::read_to_string(&keys).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(mode == 0o600 && text.contains("bruntkey1-2"), "{mode:o} {text}");
    }
}

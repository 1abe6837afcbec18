//! The header of a request: header managers merged, the nearest first, and what JMeter adds.

use jmx::Class;

use crate::plan::node::SamplerNode;
use crate::plan::property::text;
use crate::thread::scope::Thread;

/// JMeter's client by default.
pub(crate) const USER_AGENT: &str = "Apache-HttpClient/4.5.14 (Java/17.0.15)";
/// That of its implementation `Java`.
pub(crate) const JAVA_USER_AGENT: &str = "Java/17.0.15";

/// The fields of the header managers in a sampler's scope: all of the nearest, or of the first beside another, and of each one behind it
/// what names no field that is there.
pub(crate) fn managed(node: &SamplerNode, thread: &mut Thread) -> Vec<(String, String)> {
    let own = of_managers(node, thread);
    thread.changes.header(own)
}

fn of_managers(node: &SamplerNode, thread: &mut Thread) -> Vec<(String, String)> {
    let mut fields: Vec<(String, String)> = Vec::new();
    for (at, manager) in node.configs_of(Class::HeaderManager).enumerate() {
        let own: Vec<(String, String)> = manager
            .element
            .properties
            .elements("HeaderManager.headers")
            .map(|one| (text(one, "Header.name", thread), text(one, "Header.value", thread)))
            .collect();
        for (name, value) in own {
            if at == 0 || !fields.iter().any(|(known, _)| known.eq_ignore_ascii_case(&name)) {
                fields.push((name, value));
            }
        }
    }
    fields
}

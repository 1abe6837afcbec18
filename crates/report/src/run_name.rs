//! The results that a gate, a threshold or a metric is of, where a report has several.

use crate::object::Object;

/// A text, and the results that it is of where a report has several.
pub(crate) fn of_run(text: &str, run: &str) -> String {
    if run.is_empty() { text.to_owned() } else { format!("{text} ({run})") }
}

/// An object that begins with the results it is of, where a report has several.
pub(crate) fn json_of_run(run: &str) -> Object {
    let object = Object::new();
    if run.is_empty() { object } else { object.text("run", run) }
}

//! What scripts change of the request that is next, and what they have their thread do.

use crate::http::fields::Argument;
use crate::thread::after::After;

/// What scripts change of the request that is next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    /// Properties of the sampler, by their names.
    pub(crate) fields: Vec<(&'static str, String)>,
    /// Whether the sampler's own arguments are left out.
    pub(crate) clears: bool,
    /// Arguments beside the sampler's own.
    pub(crate) arguments: Vec<(String, String)>,
    /// A body in the place of all arguments.
    pub(crate) body: Option<String>,
    /// Fields of the header: set, or removed.
    pub(crate) headers: Vec<(String, Option<String>)>,
}

impl Changes {
    /// A property that was set.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().rev().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// The arguments of a request as they are changed.
    pub(crate) fn apply(&self, mut own: Vec<Argument>) -> Vec<Argument> {
        let of = |name: &str, value: &str| Argument {
            name: name.to_owned(),
            value: value.to_owned(),
            is_encoded: true,
            equals: "=",
            ..Argument::default()
        };
        if let Some(body) = &self.body {
            return vec![Argument { is_encoded: false, ..of("", body) }];
        }
        if self.clears {
            own.clear();
        }
        own.extend(self.arguments.iter().map(|(name, value)| of(name, value)));
        own
    }

    /// The fields of a header as they are changed.
    pub(crate) fn header(&self, mut own: Vec<(String, String)>) -> Vec<(String, String)> {
        for (name, value) in &self.headers {
            match value {
                Some(value) => own.push((name.clone(), value.clone())),
                None => own.retain(|(known, _)| !known.eq_ignore_ascii_case(name)),
            }
        }
        own
    }
}

/// What scripts have their thread do once they are over.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wishes {
    /// Where the thread goes on.
    pub(crate) after: Option<After>,
    /// How long it waits first, in milliseconds.
    pub(crate) sleep_ms: u64,
    /// Whether the sample is left out of the results.
    pub(crate) is_ignored: bool,
}

//! `Fields`: the properties of a sampler, filled up from the HTTP defaults in its scope.

use jmx::{Class, Properties, Scope};

use crate::plan::node::SamplerNode;
use crate::plan::property::{flag, text};

/// The properties of a sampler, with the defaults in its scope behind them.
pub(crate) struct Fields<'a> {
    own: &'a Properties,
    defaults: Vec<&'a Properties>,
    /// Fields that a script has set.
    pub(crate) changed: Vec<(&'static str, String)>,
}

impl<'a> Fields<'a> {
    pub(crate) fn of(node: &'a SamplerNode) -> Self {
        let defaults = node.configs_of(Class::HttpDefaults);
        Self {
            own: &node.part.element.properties,
            defaults: defaults.map(|part| &part.element.properties).collect(),
            changed: Vec::new(),
        }
    }

    /// A field: of the sampler, or of the nearest defaults that have it.
    pub(crate) fn text(&self, name: &str, scope: &mut dyn Scope) -> String {
        if let Some((_, value)) = self.changed.iter().rev().find(|(known, _)| *known == name) {
            return value.clone();
        }
        let written =
            |one: &&&Properties| one.text(name).is_some_and(|text| !text.written().is_empty());
        let all = std::iter::once(&self.own).chain(&self.defaults);
        all.into_iter().find(written).map_or_else(String::new, |one| text(one, name, scope))
    }

    pub(crate) fn flag(&self, name: &str, scope: &mut dyn Scope) -> bool {
        let own = flag(self.own, name, scope);
        own.or_else(|| self.defaults.iter().find_map(|one| flag(one, name, scope))).unwrap_or(false)
    }

    /// A number of milliseconds; `None` where it is blank, or none.
    pub(crate) fn milliseconds(&self, name: &str, scope: &mut dyn Scope) -> Option<u64> {
        self.text(name, scope).trim().parse().ok().filter(|time| *time > 0)
    }

    /// The arguments: the sampler's own, and behind them those of defaults.
    pub(crate) fn arguments(&self, scope: &mut dyn Scope) -> Vec<Argument> {
        let all = std::iter::once(&self.own).chain(&self.defaults);
        let lists = all.filter_map(|one| one.inner("HTTPsampler.Arguments"));
        let elements = lists.flat_map(|list| list.elements("Arguments.arguments"));
        elements.map(|one| Argument::read(one, scope)).collect()
    }

    /// The files that are sent.
    pub(crate) fn files(&self, scope: &mut dyn Scope) -> Vec<FileArgument> {
        let list = self.own.inner("HTTPsampler.Files");
        let elements = list.into_iter().flat_map(|list| list.elements("HTTPFileArgs.files"));
        let files = elements.map(|one| FileArgument {
            path: text(one, "File.path", scope),
            name: text(one, "File.paramname", scope),
            content_type: text(one, "File.mimetype", scope),
        });
        files.collect::<Vec<_>>().into_iter().filter(|file| !file.path.is_empty()).collect()
    }
}

/// An argument of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Argument {
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) is_encoded: bool,
    /// What stands between name and value: `=` or nothing.
    pub(crate) equals: &'static str,
    pub(crate) content_type: String,
}

impl Argument {
    fn read(one: &Properties, scope: &mut dyn Scope) -> Self {
        let value = text(one, "Argument.value", scope);
        let says_none = flag(one, "HTTPArgument.use_equals", scope) == Some(false)
            || one.text("Argument.metadata").is_some_and(|text| text.written().is_empty());
        Self {
            name: text(one, "Argument.name", scope),
            is_encoded: flag(one, "HTTPArgument.always_encode", scope) == Some(true),
            equals: if says_none && value.is_empty() { "" } else { "=" },
            content_type: text(one, "HTTPArgument.content_type", scope),
            value,
        }
    }
}

/// A file that is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileArgument {
    pub(crate) path: String,
    pub(crate) name: String,
    pub(crate) content_type: String,
}

//! `Element`: an element of a plan with its properties and what stands below it.

use std::sync::Arc;

use crate::class::Class;
use crate::text::Text;

/// An element of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Element {
    /// What it is.
    pub class: Class,
    /// Its name as written.
    pub name: Text,
    /// Where it stands: the names from the plan down to it, ` > ` between them.
    pub path: Arc<str>,
    /// Whether it takes part; what is disabled stands here for controllers that refer to it.
    pub is_enabled: bool,
    /// Its properties.
    pub properties: Properties,
    /// What stands below it, in its order.
    pub children: Vec<Self>,
}

/// Properties by their names, in their order. What is absent has the class's default, which the reader of a property knows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Properties(pub(crate) Vec<(String, Property)>);

/// The value of a property.
#[derive(Clone, Debug, PartialEq)]
pub enum Property {
    /// A text, a number or a truth value.
    Text(Text),
    /// A list of values.
    List(Vec<Self>),
    /// An element of its own, such as an argument: its properties.
    Element(Properties),
}

impl Properties {
    /// A property; of several of one name the last.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Property> {
        self.0.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// The text of a property; `None` where it is absent, or no text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&Text> {
        match self.get(name) {
            Some(Property::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The text of a property as it is written; empty where it is absent.
    #[must_use]
    pub fn written(&self, name: &str) -> &str {
        self.text(name).map_or("", Text::written)
    }

    /// The elements of a list, such as the arguments of a sampler.
    pub fn elements(&self, name: &str) -> impl Iterator<Item = &Self> {
        self.list(name).iter().filter_map(|value| match value {
            Property::Element(properties) => Some(properties),
            _ => None,
        })
    }

    /// The texts of a list.
    pub fn texts(&self, name: &str) -> impl Iterator<Item = &Text> {
        self.list(name).iter().filter_map(|value| match value {
            Property::Text(text) => Some(text),
            _ => None,
        })
    }

    /// A list; empty where it is absent.
    #[must_use]
    pub fn list(&self, name: &str) -> &[Property] {
        match self.get(name) {
            Some(Property::List(list)) => list,
            _ => &[],
        }
    }

    /// The properties of an element in it.
    #[must_use]
    pub fn inner(&self, name: &str) -> Option<&Self> {
        match self.get(name) {
            Some(Property::Element(properties)) => Some(properties),
            _ => None,
        }
    }

    /// Properties that are these texts.
    #[must_use]
    pub fn of_texts(texts: &[(&str, &str)]) -> Self {
        let all = texts
            .iter()
            .map(|(name, text)| ((*name).to_owned(), Property::Text(Text::parse(text))));
        Self(all.collect())
    }

    /// All texts in it, at any depth.
    pub(crate) fn visit_texts(&self, see: &mut dyn FnMut(&Text)) {
        for (_, value) in &self.0 {
            value.visit_texts(see);
        }
    }
}

impl Property {
    fn visit_texts(&self, see: &mut dyn FnMut(&Text)) {
        match self {
            Self::Text(text) => see(text),
            Self::List(list) => list.iter().for_each(|value| value.visit_texts(see)),
            Self::Element(properties) => properties.visit_texts(see),
        }
    }
}

impl Element {
    /// Those of its children that take part.
    pub fn enabled(&self) -> impl Iterator<Item = &Self> {
        self.children.iter().filter(|child| child.is_enabled)
    }
}

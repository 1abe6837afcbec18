//! `Inherited`: the elements that apply to a sampler because they stand beside it or above it.

use jmx::{Class, Element, Role, Text};

/// What applies to samplers, the outer first.
#[derive(Clone, Debug, Default)]
pub(super) struct Inherited<'a> {
    elements: Vec<&'a Element>,
}

impl<'a> Inherited<'a> {
    /// The scope of what stands below an element.
    pub(super) fn below(&self, element: &'a Element) -> Self {
        let applies = |child: &&Element| {
            matches!(
                child.class.role(),
                Role::Config
                    | Role::PreProcessor
                    | Role::Timer
                    | Role::PostProcessor
                    | Role::Assertion
            )
        };
        let mut elements = self.elements.clone();
        elements.extend(element.enabled().filter(applies));
        Self { elements }
    }

    /// Those of a role.
    pub(super) fn of_role(&self, role: Role) -> impl Iterator<Item = &'a Element> + '_ {
        self.elements.iter().copied().filter(move |element| element.class.role() == role)
    }

    /// Those of a class.
    pub(super) fn of_class(&self, class: Class) -> impl Iterator<Item = &'a Element> + '_ {
        self.elements.iter().copied().filter(move |element| element.class == class)
    }

    /// A property of a sampler, or of the nearest defaults where it is blank.
    pub(super) fn property(&self, sampler: &'a Element, name: &str) -> Option<&'a Text> {
        let of = |element: &'a Element| {
            element.properties.text(name).filter(|text| !text.written().trim().is_empty())
        };
        let defaults: Vec<&'a Element> = self.of_class(Class::HttpDefaults).collect();
        of(sampler).or_else(|| defaults.into_iter().rev().find_map(of))
    }
}

/// Whether a property is written as true.
pub(super) fn is_true(element: &Element, name: &str) -> bool {
    element.properties.written(name) == "true"
}

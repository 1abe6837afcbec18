//! Finding what other elements refer to: the plan of an Include controller.

use jmx::{Class, Element};

/// What an included plan puts in: the children of its fragment, or of its first thread group's place.
pub(crate) fn fragment(elements: &[Element]) -> Option<&Element> {
    let is_fragment = |element: &&Element| element.class == Class::TestFragment;
    elements.iter().find(is_fragment).or_else(|| {
        elements
            .iter()
            .filter(|element| element.is_enabled)
            .find_map(|element| fragment(&element.children))
    })
}

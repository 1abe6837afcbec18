//! `module_target`: the part of a plan that a Module controller stands for.

use crate::element::{Element, Property};

/// The element that a Module controller names: by names from the top of the plan down.
#[must_use]
pub fn module_target<'a>(elements: &'a [Element], module: &Element) -> Option<&'a Element> {
    let path: Vec<&str> = module
        .properties
        .list("ModuleController.node_path")
        .iter()
        .filter_map(|value| match value {
            Property::Text(text) => Some(text.written()),
            _ => None,
        })
        .collect();
    // The first name is that of the tree's root, which is in no file.
    let (first, rest) = path.get(1..)?.split_first()?;
    let top = elements.iter().find(|element| element.name.written() == *first)?;
    below(top, rest)
}

fn below<'a>(element: &'a Element, path: &[&str]) -> Option<&'a Element> {
    let Some((name, rest)) = path.split_first() else { return Some(element) };
    let children = element.children.iter().filter(|child| child.name.written() == *name);
    children.filter_map(|child| below(child, rest)).next()
}

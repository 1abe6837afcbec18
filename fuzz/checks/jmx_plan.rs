//! Bytes as a test plan of JMeter's: what is understood has a place, and its texts come to an end.

use jmx::{Element, MemoryScope, UnknownScripts, read_plan};

/// Reads a plan and evaluates the names in it; says how many elements there are, and how many problems. `None` where it is no plan.
///
/// # Panics
/// An element or a problem has no place.
pub(crate) fn check(bytes: &[u8]) -> Option<(usize, usize)> {
    let (plan, problems) = read_plan(bytes, UnknownScripts::LeftOut).ok()?;
    let mut scope = MemoryScope::default();
    let elements = plan.elements.iter().map(|element| evaluate(element, &mut scope)).sum();
    assert!(problems.iter().all(|problem| !problem.text.is_empty()));
    Some((elements, problems.len()))
}

fn evaluate(element: &Element, scope: &mut MemoryScope) -> usize {
    assert!(!element.path.is_empty());
    element.name.evaluate(scope);
    1 + element.children.iter().map(|child| evaluate(child, scope)).sum::<usize>()
}

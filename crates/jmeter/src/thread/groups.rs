//! Groups of all kinds: which element says how its threads begin.

use std::sync::Arc;

use jmx::{Element, Scope};

use crate::plan::group::Group;

/// Reads a thread group.
pub(crate) fn read(element: &Arc<Element>, root: usize, scope: &mut dyn Scope) -> Group {
    Group::new(element, root, scope)
}

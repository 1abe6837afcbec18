//! How deep messages of a type may stand in each other: what recurses over them needs room on the stack.

use prost_reflect::{Kind, MessageDescriptor};

/// Types that are looked at: one that leads to more is taken for a deep one.
const TYPES_MAX: usize = 64;

/// Whether messages of this type may nest without an end: its fields lead back to it, to an `Any`, to JSON, or to more types than are
/// looked at.
#[must_use]
pub fn nests_deeply(of: &MessageDescriptor) -> bool {
    let (mut under_way, mut seen) = (Vec::new(), Vec::new());
    leads_back(of, &mut under_way, &mut seen)
}

/// Whether a type leads to one of those that it is reached by. It goes no deeper than there are types to look at.
fn leads_back(
    of: &MessageDescriptor,
    under_way: &mut Vec<MessageDescriptor>,
    seen: &mut Vec<MessageDescriptor>,
) -> bool {
    if under_way.contains(of) || holds_anything(of) || seen.len() >= TYPES_MAX {
        return true;
    }
    if seen.contains(of) {
        return false;
    }
    seen.push(of.clone());
    under_way.push(of.clone());
    let is_deep = of.fields().any(|field| match field.kind() {
        Kind::Message(inner) => leads_back(&inner, under_way, seen),
        _ => false,
    });
    under_way.pop();
    is_deep
}

fn holds_anything(of: &MessageDescriptor) -> bool {
    let name = of.full_name().strip_prefix("google.protobuf.");
    name.is_some_and(|name| ["Any", "Struct", "Value", "ListValue"].contains(&name))
}

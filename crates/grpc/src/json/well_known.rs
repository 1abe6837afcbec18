//! Which types of google/protobuf have a JSON of their own.

use prost_reflect::MessageDescriptor;

const PACKAGE: &str = "google.protobuf.";

/// The types whose JSON is the value alone.
const WRAPPERS: [&str; 9] = [
    "DoubleValue",
    "FloatValue",
    "Int64Value",
    "UInt64Value",
    "Int32Value",
    "UInt32Value",
    "BoolValue",
    "StringValue",
    "BytesValue",
];

/// Whether a type has a JSON of its own.
pub(super) fn is_well_known(of: &MessageDescriptor) -> bool {
    own_name(of).is_some_and(|name| {
        let others =
            ["Any", "Duration", "Timestamp", "FieldMask", "Struct", "Value", "ListValue", "Empty"];
        WRAPPERS.contains(&name) || others.contains(&name)
    })
}

/// Its name below google.protobuf.
pub(super) fn own_name(of: &MessageDescriptor) -> Option<&str> {
    of.full_name().strip_prefix(PACKAGE)
}

pub(super) fn is_wrapper(name: &str) -> bool {
    WRAPPERS.contains(&name)
}

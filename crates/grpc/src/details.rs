//! The details of a status: messages in an `Any` each, as JSON.

use crate::definitions::Definitions;
use crate::json::encode_any;
use crate::status::Status;
use crate::wire::{all_bytes, fields, text};

/// The details of a status as JSON values; `None` where they are malformed, or of a type that is not known.
#[must_use]
pub fn details_json(status: &Status, definitions: &Definitions) -> Option<Vec<String>> {
    let of = fields(&status.details)?;
    let one = |bytes: &[u8]| {
        let any = fields(bytes)?;
        let url = all_bytes(&any, 1).next().map(text).unwrap_or_default();
        let value = all_bytes(&any, 2).next().unwrap_or_default();
        encode_any(&url, value, &|name| definitions.message(name)).ok()
    };
    all_bytes(&of, 3).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definitions::tests::definitions;
    use crate::status::Code;
    use crate::wire::push_bytes;

    #[test]
    fn details_are_json_where_their_types_are_known() {
        let of = definitions("syntax = \"proto3\"; package p; message D { string reason = 1; }");
        let status = |name: &str| {
            let (mut any, mut details) = (Vec::new(), vec![8, 5]);
            push_bytes(1, format!("type.googleapis.com/{name}").as_bytes(), &mut any);
            push_bytes(2, b"\x0a\x01x", &mut any);
            push_bytes(3, &any, &mut details);
            Status { code: Code(5), message: String::new(), details }
        };
        let expect = r#"{"@type":"type.googleapis.com/p.D","reason":"x"}"#;
        assert_eq!(details_json(&status("p.D"), &of), Some(vec![expect.to_owned()]));
        assert_eq!(details_json(&status("p.Other"), &of), None);
        assert_eq!(details_json(&Status::new(Code(5), ""), &of), Some(vec![]));
    }
}

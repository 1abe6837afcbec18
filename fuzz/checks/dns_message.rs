//! Any bytes as the answer of a name server, to questions for both families that bear its number; and as the name in a question.

#[allow(dead_code, reason = "its users are in its own crate")]
#[path = "../../crates/net/src/dns/message.rs"]
mod message;

use message::{Answer, Family, Query};

/// What the questions are about.
const NAME: &str = "www.example.com";

/// The addresses found, of both families; `None` where it answers neither question with addresses.
///
/// # Panics
/// More addresses than the message has room for, or a question that does not read back.
pub(crate) fn check(bytes: &[u8]) -> Option<usize> {
    let id = bytes.get(..2).and_then(|id| id.try_into().ok()).map_or(0, u16::from_be_bytes);
    let mut addresses = None;
    for family in [Family::V4, Family::V6] {
        if let Some(Answer::Addresses(list)) = (Query { name: NAME, family, id }).decode(bytes) {
            assert!(list.len() * 11 <= bytes.len(), "{} addresses", list.len());
            addresses = Some(addresses.unwrap_or(0) + list.len());
        }
    }
    if let Ok(name) = std::str::from_utf8(bytes) {
        let query = Query { name, family: Family::V4, id };
        if let Some(question) = query.encode() {
            assert!(question.len() <= 12 + 255 + 4, "a question of {} bytes", question.len());
            // A question is no answer.
            assert_eq!(query.decode(&question), None);
        }
    }
    addresses
}

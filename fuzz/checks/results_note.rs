//! The kind of a row and a name on the first line, then the row's note: a gate, threshold, check, metric, agent or event, or a row of
//! the server's side. What is read is bounded by the note, and reads back.

#[allow(dead_code, unreachable_pub, reason = "its users are in its own crate")]
#[path = "../../crates/results/src/assertion.rs"]
mod assertion;
#[allow(dead_code, unreachable_pub, reason = "its users are in its own crate")]
#[path = "../../crates/results/src/observed.rs"]
mod observed;

/// What a byte of the note may become when it is printed, and what every row has.
const TEXT_PER_BYTE: usize = 128;
const TEXT_OF_ALL: usize = 8192;

/// The kind of assertion that the row is, as its variant prints; `None` where it is none.
///
/// # Panics
/// It is larger than its note, or does not read back.
pub(crate) fn check(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let (first, note) = text.split_once('\n')?;
    let (kind, name) = first.split_once(' ').unwrap_or((first, ""));
    let kind: u8 = kind.parse().ok()?;
    let found = assertion::decode(kind, name, note, 7).ok()?;
    let printed = format!("{found:?}");
    assert!(printed.len() <= TEXT_OF_ALL + TEXT_PER_BYTE * bytes.len(), "{} bytes", printed.len());
    let (columns, again) = assertion::encode(&found, 7);
    let back = assertion::decode(columns.kind, columns.name, &again, 7).expect("our own note");
    assert_eq!(std::mem::discriminant(&back), std::mem::discriminant(&found), "{printed}");
    let end = printed.find(|c: char| !c.is_alphanumeric()).unwrap_or(printed.len());
    Some(printed[..end].to_owned())
}

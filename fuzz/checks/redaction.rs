//! A text as URL, as message and as header lines: with `-redact token` none of the three shows what is to be hidden.

use std::sync::Once;

static REDACTED: Once = Once::new();

/// What is shown of the text as URL, as message and as header lines; `None` where it stays as it is.
pub(crate) type Redacted = [Option<String>; 3];

/// Shows the text in all three ways.
///
/// # Panics
/// Something to be hidden is shown, or what is shown would be shown in another way.
pub(crate) fn check(bytes: &[u8]) -> Redacted {
    REDACTED.call_once(|| stdx::redact("token"));
    let text = String::from_utf8_lossy(bytes);
    let url = stdx::redacted_query(&text);
    let message = stdx::redacted_message(&text);
    let lines =
        stdx::redacted_lines(bytes).map(|lines| String::from_utf8_lossy(&lines).into_owned());
    for shown in [&url, &message].into_iter().flatten() {
        assert!(!shows_value(shown), "{text:?}: {shown:?}");
    }
    let again = |shown: &Option<String>, show: fn(&str) -> Option<String>| {
        if let Some(shown) = shown {
            assert_eq!(show(shown).as_ref().unwrap_or(shown), shown, "{text:?}");
        }
    };
    again(&url, stdx::redacted_query);
    again(&message, stdx::redacted_message);
    again(&lines, |lines| {
        let lines = stdx::redacted_lines(lines.as_bytes())?;
        Some(String::from_utf8_lossy(&lines).into_owned())
    });
    for line in lines.iter().flat_map(|lines| lines.lines()) {
        let value = line.split_once(':').filter(|(name, _)| name.trim() == "token");
        assert!(value.is_none_or(|(_, value)| value.trim() == "***"), "{text:?}: {line:?}");
    }
    [url, message, lines]
}

/// Whether a key `token` has a value other than `***`, spelt without percent-encoding.
fn shows_value(text: &str) -> bool {
    let ends = |rest: &str| rest.is_empty() || rest.starts_with(['&', '#', ' ', '"']);
    ["?token=", "&token=", "#token="].into_iter().any(|key| {
        text.split(key).skip(1).any(|rest| !ends(rest.strip_prefix("***").unwrap_or(rest)))
    })
}

//! Which requests of results a command takes, and by what it parts them: the flag `-where`, and the values of `-by`.

use cli::{Flag, ValueError, ValueKind};
use metrics::{By, Selector};

/// The row of options that hold the selector.
pub(crate) const fn where_row<T: AsMut<Selector>>() -> Flag<T> {
    const DOCS: &str = "Only these requests: by name, method, target, status or tag of a script (scenario:buyers).";
    Flag::new("where", ValueKind::Text("KEY:VALUE,…"), "", DOCS, |options: &mut T, text| {
        let wrong = |_| {
            ValueError::new(format!(
                "\"{text}\" selects nothing (expected KEY:VALUE,…, such as name:home,status:5xx or scenario:buyers)"
            ))
        };
        Selector::parse(text).map(|selector| *options.as_mut() = in_words_of_by(selector)).map_err(wrong)
    })
    .native()
}

/// The same, written as `-by` and reports write it: `tag:page:list` is `page:list`, and `group:cart` the group `::cart`.
fn in_words_of_by(mut selector: Selector) -> Selector {
    for (name, value) in &mut selector.tags {
        if name == "tag"
            && let Some((tag, rest)) = value.clone().split_once(':')
        {
            (*name, *value) = (tag.to_owned(), rest.to_owned());
        }
        if name == "group" && !value.starts_with("::") {
            *value = format!("::{value}");
        }
    }
    selector
}

/// What `-by` may be besides `tag:NAME`.
const WORDS: &str = "target, status, name, connection, agent, scenario, group or tag:NAME";

/// The value of `-by`.
///
/// # Errors
/// It is none.
pub(crate) fn by(text: &str) -> Result<By, ValueError> {
    Ok(match text {
        "target" => By::Target,
        "status" => By::Status,
        "name" => By::Name,
        "connection" => By::Connection,
        "agent" => By::Agent,
        "scenario" | "group" => By::Tag(text.to_owned()),
        _ => match text.strip_prefix("tag:") {
            Some(tag) if !tag.is_empty() => By::Tag(tag.to_owned()),
            _ => return Err(ValueError::new(format!("\"{text}\" is not one of {WORDS}"))),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selector_may_have_the_words_of_by() {
        let read = |text: &str| in_words_of_by(Selector::parse(text).unwrap()).tags;
        let tag = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
        assert_eq!(read("tag:page:list"), tag("page", "list"));
        assert_eq!(read("page:a:b"), tag("page", "a:b"));
        assert_eq!(read("group:cart"), tag("group", "::cart"));
        assert_eq!(read("group:::cart"), tag("group", "::cart"));
        assert_eq!(read("tag:x"), tag("tag", "x"));
    }

    #[test]
    fn requests_are_parted_by_a_word_or_a_tag() {
        assert_eq!(by("status"), Ok(By::Status));
        assert_eq!(by("scenario"), Ok(By::Tag("scenario".to_owned())));
        assert_eq!(by("tag:page"), Ok(By::Tag("page".to_owned())));
        for wrong in ["", "tag:", "page"] {
            assert!(by(wrong).is_err(), "{wrong}");
        }
    }
}

//! Command lines as words, and the placeholders in them. A line is split as by a shell; placeholders are replaced afterwards, so that
//! their values are never split.

/// Splits a line at blanks; quotes hold words together, a backslash takes the next character as it is. `None` where a quote
/// is not closed.
#[must_use]
pub(crate) fn split(line: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('\''), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (_, '\\') => word.get_or_insert_default().push(chars.next()?),
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// The names in braces: `{url}`. Braces around anything else, as in JSON, are text.
pub(crate) fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    text.split('{').skip(1).filter_map(|rest| {
        let (name, _) = rest.split_once('}')?;
        is_name(name).then_some(name)
    })
}

fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|first| first.is_ascii_lowercase())
        && chars.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// The values of placeholders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Placeholders(Vec<(String, String)>);

impl Placeholders {
    /// With one more.
    #[must_use]
    pub(crate) fn with(mut self, name: &str, text: impl Into<String>) -> Self {
        self.0.push((name.to_owned(), text.into()));
        self
    }

    /// With these values, in which the placeholders known so far are replaced.
    #[must_use]
    pub(crate) fn with_values(mut self, values: &[(String, String)]) -> Self {
        let filled: Vec<_> =
            values.iter().map(|(name, text)| (name.clone(), self.fill(text))).collect();
        self.0.extend(filled);
        self
    }

    /// The text with every known placeholder replaced; others stay as they are.
    #[must_use]
    pub(crate) fn fill(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            out.push_str(before);
            let name = after.split_once('}').map(|(name, _)| name);
            let known = name.and_then(|name| self.0.iter().find(|(known, _)| known == name));
            rest = match known {
                Some((name, value)) => {
                    out.push_str(value);
                    &after[name.len() + 1..]
                }
                None => {
                    out.push('{');
                    after
                }
            };
        }
        out.push_str(rest);
        out
    }

    /// Each word with its placeholders replaced. A word that is one placeholder, without a value, is left out.
    #[must_use]
    pub(crate) fn fill_all(&self, words: &[String]) -> Vec<String> {
        let filled = words.iter().map(|word| (word, self.fill(word)));
        let stays = |(word, text): &(&String, String)| word.is_empty() || !text.is_empty();
        filled.filter(stays).map(|(_, text)| text).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_split_as_a_shell_does() {
        let cases = [
            ("attack -rate=20  -x", Some(vec!["attack", "-rate=20", "-x"])),
            (r#"a 'b c' "d \" e" f\ g"#, Some(vec!["a", "b c", "d \" e", "f g"])),
            (r#"-params='{"id":"demo"}' ''"#, Some(vec![r#"-params={"id":"demo"}"#, ""])),
            ("", Some(vec![])),
            ("a 'b", None),
            ("a \\", None),
        ];
        for (line, expected) in cases {
            let expected = expected.map(|words| words.into_iter().map(str::to_owned).collect());
            assert_eq!(split(line), expected, "{line}");
        }
    }

    #[test]
    fn placeholders_are_names_in_braces() {
        let found = |text: &'static str| placeholders(text).collect::<Vec<_>>();
        assert_eq!(found("{url}/x?{a_1}{}{A}"), ["url", "a_1"]);
        assert_eq!(found(r#"{"id":"{user}"}"#), ["user"]);
    }

    #[test]
    fn known_placeholders_are_replaced_once() {
        let values = Placeholders::default()
            .with("study", "/s{run}")
            .with_values(&[("url".into(), "{study}/u".into()), ("x".into(), "{url}".into())]);
        assert_eq!(
            values.fill("{url} {user} {\"a\":{x}} {study"),
            "/s{run}/u {user} {\"a\":{url}} {study"
        );
    }

    #[test]
    fn a_word_without_a_value_is_left_out() {
        let values = Placeholders::default().with("flag", "").with("url", "u");
        let words = ["bench", "{flag}", "", "-x={flag}", "{url}"].map(str::to_owned);
        assert_eq!(values.fill_all(&words), ["bench", "", "-x=", "u"]);
    }
}

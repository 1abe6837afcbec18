//! `Template`: data and metadata in which each request has values of its own, in the part of Go's templates that load tests use.

use anyhow::{Context as _, Result, anyhow};

use crate::request_values::RequestValues;
use crate::template_action::Action;

/// A text with actions `{{…}}`.
#[derive(Clone, Debug)]
pub struct Template(Vec<Part>);

#[derive(Clone, Debug)]
enum Part {
    Text(String),
    Action(Action),
}

impl Template {
    /// Reads a text.
    ///
    /// # Errors
    /// An action is not closed, or has a name that is not known.
    pub fn parse(text: &str) -> Result<Self> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            let (inside, after) = after
                .split_once("}}")
                .ok_or_else(|| anyhow!("template: \"{{{{{after}\" is not closed by }}}}"))?;
            let action =
                Action::parse(inside).with_context(|| format!("template: {{{{{inside}}}}}"))?;
            let (before, trims) = match inside.starts_with("- ") {
                true => (before.trim_end(), inside.ends_with(" -")),
                false => (before, inside.ends_with(" -")),
            };
            parts.push(Part::Text(before.to_owned()));
            parts.push(Part::Action(action));
            rest = if trims { after.trim_start() } else { after };
        }
        parts.push(Part::Text(rest.to_owned()));
        Ok(Self(parts))
    }

    /// A text in which nothing is an action.
    #[must_use]
    pub fn literal(text: &str) -> Self {
        Self(vec![Part::Text(text.to_owned())])
    }

    /// Whether every request has the same text.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        self.0.iter().all(|part| matches!(part, Part::Text(_)))
    }

    /// The text of one request.
    ///
    /// # Errors
    /// A function does not take its arguments.
    pub fn render(&self, values: &mut RequestValues<'_>) -> Result<String> {
        let mut text = String::new();
        for part in &self.0 {
            match part {
                Part::Text(piece) => text.push_str(piece),
                Part::Action(action) => text.push_str(&action.evaluate(values)?),
            }
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::find_method;
    use crate::method::tests::{SHOP, definitions};
    use crate::request_values::MethodNames;

    fn rendered(text: &str, number: u64) -> String {
        let method = find_method(&definitions(SHOP), "shop.v1.Shop/Watch").expect("a method");
        let names = MethodNames::of(&method);
        let template = Template::parse(text).expect(text);
        let mut values = RequestValues::new(&names, (number, number % 3), 7);
        template.render(&mut values).expect(text)
    }

    #[test]
    fn requests_have_values_of_their_own() {
        let check = |text: &str, expect: &str| assert_eq!(rendered(text, 5), expect, "{text}");
        check("plain", "plain");
        check("{{.RequestNumber}}/{{ .WorkerID }}", "5/g0c2");
        check(
            "{{.MethodName}} {{.ServiceName}} {{.InputName}} {{.OutputName}} {{.FullyQualifiedName}}",
            "Watch Shop Item Reply shop.v1.Shop.Watch",
        );
        check("{{.IsClientStreaming}} {{.IsServerStreaming}}", "false true");
        check("{{add .RequestNumber 2}} {{mod .RequestNumber 2}}", "7 1");
        check("{{.MethodName | upper}} {{ upper (lower \"Ab\") }}", "WATCH AB");
        check("a {{- .RequestNumber -}} b", "a5b");
        assert_eq!(rendered("{{newUUID}}", 1), rendered("{{newUUID}}", 1), "the seed decides");
        assert_ne!(rendered("{{newUUID}}", 1), rendered("{{newUUID}}", 2));
        assert_eq!(rendered("{{newUUID}}", 1).len(), 36);
        assert_eq!(rendered("{{randomString 12}}", 1).len(), 12);
        let number: i64 = rendered("{{randomInt 5 8}}", 1).parse().expect("a number");
        assert!((5..8).contains(&number));
    }

    #[test]
    fn wrong_templates_are_named() {
        for (text, word) in [
            ("{{.Nope}}", "Nope"),
            ("{{nope 1}}", "nope"),
            ("{{.RequestNumber", "not closed"),
            ("{{}}", "empty"),
            ("{{if .UUID}}", "if"),
        ] {
            let error = format!("{:#}", Template::parse(text).expect_err(text));
            assert!(error.contains(word), "{error}");
        }
    }
}

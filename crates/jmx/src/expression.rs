//! Expressions as conditions and functions have them: a script whose value is a text.

use crate::scope::Scope;
use crate::script::{Bindings, Language, ScopeContext, Script};

/// The value of an expression of JEXL as a text; `None` where it is none that is understood, or fails.
#[must_use]
pub fn evaluate(text: &str, scope: &mut dyn Scope) -> Option<String> {
    let is_empty = text.trim().is_empty();
    evaluate_in(Language::Jexl3, text, scope).ok().filter(|_| !is_empty)
}

/// The value of a script as a text, empty where it has none.
///
/// # Errors
/// Why it does not run, or has failed, in words.
pub fn evaluate_in(
    language: Language,
    text: &str,
    scope: &mut dyn Scope,
) -> Result<String, ExpressionError> {
    let script = Script::of(language, text).map_err(|problems| {
        let problem = problems.first().map(ToString::to_string).unwrap_or_default();
        ExpressionError { reason: problem }
    })?;
    let value = script.run(&mut ScopeContext(scope), &mut Bindings::standard());
    let value = value.map_err(|error| ExpressionError { reason: error.to_string() })?;
    Ok(if value.is_null() { String::new() } else { value.to_string() })
}

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct ExpressionError {
    reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::MemoryScope;

    #[test]
    fn expressions_have_values() {
        let mut scope = MemoryScope::default();
        scope.set_variable("x", "5".to_owned());
        for (text, expect) in [
            ("1 + 2 * 3", Some("7")),
            ("(1 + 2) * 3 - 1", Some("8")),
            ("7 / 2", Some("3")),
            ("7 % 4", Some("3")),
            ("\"a\" == 'a' && 3 > 2", Some("true")),
            ("5 == \"5\"", Some("true")),
            ("!(1 < 2) || false", Some("false")),
            ("vars.get(\"x\") >= 5", Some("true")),
            ("vars.get('y') == null", Some("true")),
            ("1 < 2 ? 'yes' : 'no'", Some("yes")),
            ("'abc'.contains('b') and 'abc'.length() eq 3", Some("true")),
            ("-3 + 1", Some("-2")),
            ("true", Some("true")),
            ("", None),
            ("1 +", None),
            ("1 1", None),
        ] {
            assert_eq!(evaluate(text, &mut scope).as_deref(), expect, "{text}");
        }
        let deep = "(".repeat(100_000);
        assert_eq!(evaluate(&deep, &mut scope), None);
    }
}

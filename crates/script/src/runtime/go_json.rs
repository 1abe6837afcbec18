//! JSON as Go makes it of what a script hands out: there are no functions in it, no NaN and nothing infinite.

use std::cell::Cell;
use std::rc::Rc;

use rquickjs::{Ctx, Function, Result, Value};

/// A value as JSON, with null for what is undefined; and what of it cannot be JSON, in Go's words.
///
/// # Errors
/// A getter or a `toJSON` of the value throws.
pub(crate) fn go_json<'js>(
    ctx: &Ctx<'js>,
    value: Value<'js>,
) -> Result<(Option<String>, Option<&'static str>)> {
    let wrong = Rc::new(Cell::new(None));
    let found = Rc::clone(&wrong);
    let replacer = move |_: Value<'js>, value: Value<'js>| -> Value<'js> {
        if value.is_function() {
            found.set(Some("unsupported type: function"));
        } else if let Some(word) = value.as_number().and_then(not_a_figure) {
            found.set(Some(word));
        }
        if value.is_undefined() { Value::new_null(value.ctx().clone()) } else { value }
    };
    let json = ctx.json_stringify_replacer(value, Function::new(ctx.clone(), replacer)?)?;
    Ok((json.map(|json| json.to_string()).transpose()?, wrong.get()))
}

fn not_a_figure(number: f64) -> Option<&'static str> {
    match number {
        number if number.is_nan() => Some("unsupported value: NaN"),
        f64::INFINITY => Some("unsupported value: +Inf"),
        f64::NEG_INFINITY => Some("unsupported value: -Inf"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use rquickjs::{Context, Runtime};

    use super::*;

    #[test]
    fn what_go_refuses_is_named() {
        let context = Context::full(&Runtime::new().unwrap()).unwrap();
        let of =
            |source: &str| context.with(|ctx| go_json(&ctx, ctx.eval(source).unwrap()).unwrap());
        let text = |text: &str| Some(text.to_owned());
        let source = "({ a: undefined, b: 1 })";
        assert_eq!(of(source), (text(r#"{"a":null,"b":1}"#), None));
        for (source, word) in [
            ("({ a: [NaN] })", "unsupported value: NaN"),
            ("-Infinity", "unsupported value: -Inf"),
            ("({ a: { b() {} } })", "unsupported type: function"),
        ] {
            assert_eq!(of(source).1, Some(word), "{source}");
        }
    }
}

//! JSON as Go makes it of what a script hands out: there are no functions in it, no NaN and nothing infinite.

use std::cell::Cell;
use std::rc::Rc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rquickjs::{Ctx, Function, Result, TypedArray, Value};

/// What Go has in the place of values that JSON has no form for: pairs for a map, elements for a set, a number for a BigInt.
const PLAIN: &str = "value => typeof value === 'bigint' ? Number(value)
    : value instanceof Map || value instanceof Set || ArrayBuffer.isView(value) && !(value instanceof DataView)
    ? Array.from(value) : value";

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
    let plain: Function<'js> = ctx.eval(PLAIN)?;
    let replacer = move |_: Value<'js>, value: Value<'js>| -> Result<Value<'js>> {
        if TypedArray::<u8>::from_value(value.clone()).is_ok() {
            let bytes: Vec<u8> = plain.call((value.clone(),))?;
            let text = STANDARD.encode(bytes);
            return Ok(rquickjs::String::from_str(value.ctx().clone(), &text)?.into_value());
        }
        if value.is_function() {
            found.set(Some("unsupported type: function"));
        } else if let Some(word) = value.as_number().and_then(not_a_figure) {
            found.set(Some(word));
        }
        match value.is_undefined() {
            true => Ok(Value::new_null(value.ctx().clone())),
            false if value.is_object() || value.is_big_int() => plain.call((value,)),
            false => Ok(value),
        }
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
        for (source, json) in [
            ("({ a: new Map([['k', new Set([1, 2])]]) })", r#"{"a":[["k",[1,2]]]}"#),
            ("[new Uint8Array([1, 2, 255]), new Float64Array([0.5]), 5n]", r#"["AQL/",[0.5],5]"#),
        ] {
            assert_eq!(of(source), (text(json), None), "{source}");
        }
        for (source, word) in [
            ("({ a: [NaN] })", "unsupported value: NaN"),
            ("-Infinity", "unsupported value: -Inf"),
            ("({ a: { b() {} } })", "unsupported type: function"),
        ] {
            assert_eq!(of(source).1, Some(word), "{source}");
        }
    }
}

//! Module `k6/encoding`: base64 as Go does it.

use base64::Engine as _;
use rquickjs::function::Opt;
use rquickjs::module::{Declarations, Exports, ModuleDef};
use rquickjs::{Ctx, Exception, Function, Object, Result, Value};

use super::bytes::{Base64, base64, buffer, input};
use super::js_builtins::{declare_all, export_all};
use crate::runtime::values::string_of;

/// The module.
pub(super) struct Encoding;

const NAMES: [&str; 2] = ["b64encode", "b64decode"];

impl ModuleDef for Encoding {
    fn declare(declared: &Declarations<'_>) -> Result<()> {
        declare_all(declared, &NAMES)
    }

    fn evaluate<'js>(ctx: &Ctx<'js>, exports: &Exports<'js>) -> Result<()> {
        let all = Object::new(ctx.clone())?;
        all.set("b64encode", Function::new(ctx.clone(), encode)?)?;
        all.set("b64decode", Function::new(ctx.clone(), decode)?)?;
        export_all(exports, &all, &NAMES)
    }
}

/// The form that a script names; the standard one where it names none.
fn form(name: Option<&Value<'_>>) -> Result<Base64> {
    let name = name.filter(|name| name.is_string()).map(string_of).transpose()?;
    Ok(match name.as_deref() {
        Some("rawstd") => Base64::RawStd,
        Some("url") => Base64::Url,
        Some("rawurl") => Base64::RawUrl,
        _ => Base64::Std,
    })
}

fn encode<'js>(ctx: Ctx<'js>, data: Opt<Value<'js>>, name: Opt<Value<'js>>) -> Result<String> {
    Ok(base64(form(name.0.as_ref())?).encode(input(&ctx, data.0.as_ref())?))
}

fn decode<'js>(
    ctx: Ctx<'js>,
    text: Opt<Value<'js>>,
    name: Opt<Value<'js>>,
    as_text: Opt<Value<'js>>,
) -> Result<Value<'js>> {
    let text = text.0.filter(|text| !text.is_undefined() && !text.is_null());
    let text = text.as_ref().map(string_of).transpose()?.unwrap_or_default();
    // Line ends are passed over, as Go does.
    let text: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
    let bytes = base64(form(name.0.as_ref())?).decode(&text).map_err(|error| {
        let at = match error {
            base64::DecodeError::InvalidByte(at, _)
            | base64::DecodeError::InvalidLastSymbol(at, _) => at,
            base64::DecodeError::InvalidLength(_) | base64::DecodeError::InvalidPadding => {
                text.len() / 4 * 4
            }
        };
        Exception::throw_message(&ctx, &format!("illegal base64 data at input byte {at}"))
    })?;
    let as_text = as_text.0.filter(|mode| mode.is_string()).map(|mode| string_of(&mode));
    if as_text.transpose()?.as_deref() == Some("s") {
        let text = String::from_utf8_lossy(&bytes);
        return Ok(rquickjs::String::from_str(ctx, &text)?.into_value());
    }
    buffer(&ctx, &bytes)
}

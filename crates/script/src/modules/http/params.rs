//! The parameters of requests.

use rquickjs::{Ctx, Exception, Object, Result, Value};
use stdx::Nanos;

use crate::action::{Expects, HttpAsk};
use crate::modules::{number_of, string_fields, string_of};

/// Reads the parameters of a request.
pub(super) fn set<'js>(ctx: &Ctx<'js>, params: &Object<'js>, ask: &mut HttpAsk) -> Result<()> {
    for param in params.props::<String, Value<'js>>() {
        let (name, value) = param?;
        match name.as_str() {
            "headers" => {
                for (name, value) in string_fields(&value)? {
                    ask.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(&name));
                    ask.headers.push((name, value));
                }
            }
            "tags" => {
                ask.tags = string_fields(&value)?;
                ask.name = ask
                    .tags
                    .iter()
                    .find(|(tag, _)| tag == "name")
                    .map(|tag| tag.1.clone())
                    .or(ask.name.take());
            }
            "timeout" => ask.timeout = Some(time_of(ctx, &value)?),
            "redirects" => ask.redirects = number_of(&value).map(|count| count.max(0.0) as u32),
            "responseType" => ask.expects = expects(ctx, &string_of(&value)?)?,
            _ => {}
        }
    }
    Ok(())
}

/// A time in milliseconds, or with its unit.
fn time_of(ctx: &Ctx<'_>, value: &Value<'_>) -> Result<Nanos> {
    if let Some(milliseconds) = number_of(value) {
        return Ok(Nanos::from_secs_f64(milliseconds.max(0.0) / 1e3));
    }
    let text = string_of(value)?;
    Nanos::parse(&text)
        .map_err(|_| Exception::throw_type(ctx, &format!("invalid timeout value \"{text}\"")))
}

fn expects(ctx: &Ctx<'_>, word: &str) -> Result<Expects> {
    match word {
        "text" => Ok(Expects::Text),
        "binary" => Ok(Expects::Binary),
        "none" => Ok(Expects::Nothing),
        other => {
            let text =
                format!("{other} does not belong to ResponseType values: text, binary, none");
            Err(Exception::throw_type(ctx, &text))
        }
    }
}

//! Tags as scripts give them.

use rquickjs::{Ctx, Exception, Result, Value};

use crate::runtime::values::string_of;

/// The tags that a script gives a sample: strings, numbers and booleans; none if the value is not an object.
pub(super) fn sample_tags<'js>(
    ctx: &Ctx<'js>,
    value: &Value<'js>,
) -> Result<Vec<(String, String)>> {
    let Some(object) = value.as_object() else { return Ok(Vec::new()) };
    let mut tags = Vec::new();
    for field in object.props::<String, Value<'js>>() {
        let (name, value) = field?;
        if !(value.is_string() || value.is_number() || value.is_bool()) {
            let text = format!(
                "invalid value for metric tag '{name}': only String, Boolean and Number types are accepted as a metric tag values"
            );
            return Err(Exception::throw_message(ctx, &text));
        }
        let value = string_of(&value)?;
        tags.push((name, stdx::shown_url(&value).into_owned()));
    }
    Ok(tags)
}

//! `` http.url`…` ``: addresses that metrics know by what stays the same.

use rquickjs::function::Rest;
use rquickjs::{Ctx, Object, Result, Value};

use crate::modules::string_of;

/// `` url`http://host/${id}` ``: the URL, called by what stands there.
pub(super) fn tagged<'js>(
    ctx: Ctx<'js>,
    parts: Vec<String>,
    values: Rest<Value<'js>>,
) -> Result<Object<'js>> {
    let (mut url, mut name) = (String::new(), String::new());
    let mut values = values.0.iter();
    for (at, part) in parts.iter().enumerate() {
        url.push_str(part);
        name.push_str(part);
        if let Some(value) = values.next().filter(|_| at + 1 < parts.len()) {
            url.push_str(&string_of(value)?);
            name.push_str("${}");
        }
    }
    let tagged = Object::new(ctx)?;
    tagged.set("url", url)?;
    tagged.set("name", name)?;
    Ok(tagged)
}

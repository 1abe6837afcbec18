//! What depends on languages and places, as k6 has it: `localeCompare` and the texts of dates.

use rquickjs::{Ctx, Object, Result, Value};

use super::js_builtins::js_builtin;

/// Puts k6's ways in place of QuickJS's, for all VUs of a context.
pub(crate) fn install(ctx: &Ctx<'_>) -> Result<()> {
    let none = Object::new(ctx.clone())?;
    js_builtin::<Value<'_>>(ctx, "locale", include_str!("js/locale.js"), none).map(drop)
}

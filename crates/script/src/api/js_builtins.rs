//! Built-in modules that are partly JavaScript: a text that is evaluated once a context, and holds no state.

use rquickjs::context::EvalOptions;
use rquickjs::module::{Declarations, Exports};
use rquickjs::{Ctx, Function, IntoJs, Object, Result, Value};

/// What the text of a helper makes of what we give it. The text is a function's; frames of it are not shown to scripts.
pub(crate) fn js_builtin<'js, T>(
    ctx: &Ctx<'js>,
    name: &str,
    text: &str,
    native: impl IntoJs<'js>,
) -> Result<T>
where
    T: rquickjs::FromJs<'js>,
{
    let mut options = EvalOptions::default();
    options.filename = Some(format!("brunt:{name}"));
    let function: Function<'js> = ctx.eval_with_options(text, options)?;
    function.call((native,))
}

/// Exports these fields of an object by their names, and the object as `default`.
pub(super) fn export_all<'js>(
    exports: &Exports<'js>,
    all: &Object<'js>,
    names: &[&str],
) -> Result<()> {
    for name in names {
        exports.export(*name, all.get::<_, Value<'js>>(*name)?)?;
    }
    exports.export("default", all.clone())?;
    Ok(())
}

/// Declares these exports and `default`.
pub(super) fn declare_all(declared: &Declarations<'_>, names: &[&str]) -> Result<()> {
    for name in names.iter().chain(&["default"]) {
        declared.declare(*name)?;
    }
    Ok(())
}

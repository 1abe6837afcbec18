//! The globals of every script: `console`, `open`, `require`, `__ENV`, timers, and what browsers have and k6 lacks.

#![allow(
    clippy::needless_pass_by_value,
    reason = "what JavaScript calls takes its arguments by value"
)]

use std::sync::Arc;

use rquickjs::object::Property;
use rquickjs::prelude::{Opt, Rest};
use rquickjs::{ArrayBuffer, Ctx, Exception, Function, Object, Result, Value};

use crate::api::inspect::inspect;
use crate::api::{glue, html, locale, seat_of, string_of, timers, web, webcrypto};
use crate::host::traits::Level;
use crate::loader::commonjs;
use crate::loader::module_loader;
use crate::loader::program::Env;
use crate::loader::resolve;
use crate::runtime::context::Stage;
use crate::runtime::ffi::copied_object;

/// The console's methods.
const CONSOLE: [(&str, Level); 5] = [
    ("log", Level::Info),
    ("info", Level::Info),
    ("warn", Level::Warn),
    ("error", Level::Error),
    ("debug", Level::Debug),
];

/// Sets the globals that all VUs of a context share.
pub(crate) fn install(ctx: &Ctx<'_>) -> Result<()> {
    let console = Object::new(ctx.clone())?;
    for (name, level) in CONSOLE {
        let log = move |ctx: Ctx<'_>, values: Rest<Value<'_>>| -> Result<()> {
            let words: Result<Vec<String>> = values.0.iter().map(inspect).collect();
            seat_of(&ctx)?.host.log(level, &words?.join(" "));
            Ok(())
        };
        console.set(name, Function::new(ctx.clone(), log)?)?;
    }
    let globals = ctx.globals();
    globals.set("console", console)?;
    globals.set("open", Function::new(ctx.clone(), open)?)?;
    globals.set("require", Function::new(ctx.clone(), require)?)?;
    timers::install(ctx, &globals)?;
    html::install(ctx)?;
    web::install(ctx)?;
    locale::install(ctx)?;
    webcrypto::install(ctx)
}

/// Sets the globals that are a VU's own.
pub(crate) fn install_own(ctx: &Ctx<'_>) -> Result<()> {
    let globals = ctx.globals();
    globals.set("global", globals.clone())
}

const ENV: &str = "__ENV";

/// Gives a context the environment, made once: a VU has an object of its own from when it first looks at it, a copy that shares
/// the names and the texts. The later of two variables of one name counts.
pub(crate) fn install_env<'js>(ctx: &Ctx<'js>, env: &Env) -> Result<()> {
    let all = Object::new(ctx.clone())?;
    env.iter().try_for_each(|(name, value)| all.set(name.as_str(), value.as_str()))?;
    let native = Object::new(ctx.clone())?;
    native.set("globals", ctx.globals())?;
    // It lies where no script gets at it.
    native.set("all", all)?;
    let copied = |all: Object<'js>| copied_object(&all);
    native.set("copied", Function::new(ctx.clone(), copied)?)?;
    native.set("own", Function::new(ctx.clone(), own_env)?)?;
    glue(ctx, "env", ENV_TEXT, native)
}

/// What a VU finds until it has an environment of its own.
const ENV_TEXT: &str = "(({ globals, all, copied, own }) => {
    Object.defineProperty(globals, '__ENV', {
        configurable: true, enumerable: true, get() { return own(copied(all)) }, set(value) { own(value) },
    });
})";

/// Makes a value the environment of the VU that runs.
fn own_env<'js>(ctx: Ctx<'js>, value: Value<'js>) -> Result<Value<'js>> {
    let own = Property::from(value.clone()).writable().configurable().enumerable();
    ctx.globals().prop(ENV, own)?;
    Ok(value)
}

/// Gives a VU the environment anew, with variables beside the test's own.
pub(crate) fn set_env(ctx: &Ctx<'_>, extra: &[(String, String)]) -> Result<()> {
    if ctx.globals().remove(ENV).is_err() {
        // The script has made it its own for good: the variables are set in what there is.
        ctx.catch();
    }
    let env: Object<'_> = ctx.globals().get(ENV)?;
    extra.iter().try_for_each(|(name, value)| env.set(name.as_str(), value.as_str()))
}

/// The module that calls the function of ours that runs.
pub(crate) fn caller(ctx: &Ctx<'_>) -> String {
    // Whether our function has a frame of its own depends on how QuickJS calls it.
    let named = (0..8).find_map(|level| {
        let name = ctx.script_or_module_name(level)?.to_string().ok()?;
        resolve::is_text(&name).then_some(name)
    });
    named.unwrap_or_default()
}

/// `require(name)`.
fn require<'js>(ctx: Ctx<'js>, name: Opt<Value<'js>>) -> Result<Value<'js>> {
    let name = name.0.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
    commonjs::require(&ctx, &caller(&ctx), &name)
}

/// `open(path, 'b')`: a file's text, or its bytes.
fn open<'js>(ctx: Ctx<'js>, path: Opt<Value<'js>>, mode: Opt<Value<'js>>) -> Result<Value<'js>> {
    let path = path.0.filter(|path| !path.is_undefined() && !path.is_null());
    let path = path.map(|path| string_of(&path)).transpose()?.unwrap_or_default();
    let bytes = opened(&ctx, &path)?;
    let binary = mode.0.and_then(|mode| mode.as_string()?.to_string().ok()).as_deref() == Some("b");
    if binary {
        return Ok(ArrayBuffer::new_copy(ctx, &*bytes)?.into_value());
    }
    let text = rquickjs::String::from_str(ctx, &String::from_utf8_lossy(&bytes))?;
    Ok(text.into_value())
}

/// What a file holds. It is read while the script is first run, and shared from then on.
///
/// # Errors
/// It cannot be read, or not any more: a JavaScript exception is thrown.
pub(crate) fn opened(ctx: &Ctx<'_>, path: &str) -> Result<Arc<[u8]>> {
    let throw = |text: &str| Exception::throw_message(ctx, text);
    let seat = seat_of(ctx)?;
    if seat.stage.get() != Stage::Init {
        return Err(throw(&module_loader::only_in_init("open")));
    }
    if path.is_empty() {
        return Err(throw("open() can't be used with an empty filename"));
    }
    let base = caller(ctx);
    let full = if base.is_empty() { resolve::url_of(path) } else { resolve::joined(&base, path) };
    let full = resolve::path_of(&full);
    let store = seat.store(ctx)?;
    if let Some(bytes) = store.opened(full) {
        return Ok(bytes);
    }
    let Some(files) = seat.files.borrow().clone() else {
        return Err(throw(&format!(
            "open() can't be used with files that weren't previously opened during initialization (__VU==0), path: {path:?}"
        )));
    };
    let bytes: Arc<[u8]> =
        files.read(full).map_err(|reason| throw(&format!("{full}: {reason}")))?.into();
    store.keep_opened(full, Arc::clone(&bytes));
    Ok(bytes)
}

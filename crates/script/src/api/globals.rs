//! The globals of every script: `console`, `open`, `require`, `__ENV`, timers, and what browsers have and k6 lacks.

#![allow(
    clippy::needless_pass_by_value,
    reason = "what JavaScript calls takes its arguments by value"
)]

use rquickjs::object::Property;
use rquickjs::prelude::{Opt, Rest};
use rquickjs::{ArrayBuffer, Ctx, Function, Object, Result, Value};
use users::Level;

use super::inspect::inspect;
use super::js_builtins::js_builtin;
use super::{html, locale, timers, web, webcrypto};
use crate::loader::commonjs;
use crate::loader::open::opened;
use crate::loader::running::caller;
use crate::runtime::current::vu_of;
use crate::runtime::environment::{ENV, Env};
use crate::runtime::ffi::{copied_object, look_for_interrupts};
use crate::runtime::values::string_of;

/// From so many bytes on a text takes as long to write as thousands of steps.
const LONG_TEXT: usize = 64 << 10;

/// The console's methods.
const CONSOLE: [(&str, Level); 5] = [
    ("log", Level::Info),
    ("info", Level::Info),
    ("warn", Level::Warn),
    ("error", Level::Error),
    ("debug", Level::Debug),
];

/// Sets the globals that all VUs of a context share.
pub(super) fn install(ctx: &Ctx<'_>, env: &Env) -> Result<()> {
    let console = Object::new(ctx.clone())?;
    for (name, level) in CONSOLE {
        let log = move |ctx: Ctx<'_>, values: Rest<Value<'_>>| -> Result<()> {
            let words: Result<Vec<String>> = values.0.iter().map(inspect).collect();
            let text = words?.join(" ");
            if text.len() > LONG_TEXT {
                look_for_interrupts(&ctx);
            }
            vu_of(&ctx)?.host.log(level, &text);
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
    webcrypto::install(ctx)?;
    install_env(ctx, env)
}

/// Gives a context the environment, made once: a VU has an object of its own from when it first looks at it, a copy that shares
/// the names and the texts. The later of two variables of one name counts.
fn install_env<'js>(ctx: &Ctx<'js>, env: &Env) -> Result<()> {
    let all = Object::new(ctx.clone())?;
    env.iter().try_for_each(|(name, value)| all.set(name.as_str(), value.as_str()))?;
    let native = Object::new(ctx.clone())?;
    native.set("globals", ctx.globals())?;
    // It lies where no script gets at it.
    native.set("all", all)?;
    let copied = |all: Object<'js>| copied_object(&all);
    native.set("copied", Function::new(ctx.clone(), copied)?)?;
    native.set("own", Function::new(ctx.clone(), own_env)?)?;
    js_builtin(ctx, "env", ENV_TEXT, native)
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

/// `require(name)`.
fn require<'js>(ctx: Ctx<'js>, name: Opt<Value<'js>>) -> Result<Value<'js>> {
    let name = name.0.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
    let base = caller(&ctx, vu_of(&ctx)?.store(&ctx)?);
    commonjs::require(&ctx, &base, &name)
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

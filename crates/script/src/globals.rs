//! The globals of every script: `console`, `__ENV`, timers.

use rquickjs::prelude::Rest;
use rquickjs::{Ctx, Function, Object, Result, Value};

use crate::host::Level;
use crate::inspect::inspect;
use crate::modules::{seat_of, timers};
use crate::program::Env;

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
            let words: Vec<String> = values.0.iter().map(inspect).collect();
            seat_of(&ctx)?.host.log(level, &words.join(" "));
            Ok(())
        };
        console.set(name, Function::new(ctx.clone(), log)?)?;
    }
    ctx.globals().set("console", console)?;
    timers::install(ctx, &ctx.globals())
}

/// Sets the globals that are a VU's own.
pub(crate) fn install_own(ctx: &Ctx<'_>, env: &Env) -> Result<()> {
    set_env(ctx, env.iter())
}

/// Sets the environment; the later of two variables of one name counts.
pub(crate) fn set_env<'a>(
    ctx: &Ctx<'_>,
    mut env: impl Iterator<Item = &'a (String, String)>,
) -> Result<()> {
    let variables = Object::new(ctx.clone())?;
    env.try_for_each(|(name, value)| variables.set(name.as_str(), value.as_str()))?;
    ctx.globals().set("__ENV", variables)
}

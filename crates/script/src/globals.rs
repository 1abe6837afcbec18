//! The globals of every script: `console`, `__ENV`, timers.

use std::rc::Rc;

use rquickjs::prelude::Rest;
use rquickjs::{Ctx, Function, Object, Result, Value};

use crate::host::Level;
use crate::inspect::inspect;
use crate::modules::timers;
use crate::program::Env;
use crate::seat::Seat;

/// The console's methods.
const CONSOLE: [(&str, Level); 5] = [
    ("log", Level::Info),
    ("info", Level::Info),
    ("warn", Level::Warn),
    ("error", Level::Error),
    ("debug", Level::Debug),
];

/// Sets the globals of a context.
pub(crate) fn install(ctx: &Ctx<'_>, seat: &Rc<Seat>, env: &Env) -> Result<()> {
    let variables = Object::new(ctx.clone())?;
    env.iter().try_for_each(|(name, value)| variables.set(name.as_str(), value.as_str()))?;
    ctx.globals().set("__ENV", variables)?;
    let console = Object::new(ctx.clone())?;
    for (name, level) in CONSOLE {
        let seat = Rc::clone(seat);
        let log = move |values: Rest<Value<'_>>| {
            let words: Vec<String> = values.0.iter().map(inspect).collect();
            seat.host.log(level, &words.join(" "));
        };
        console.set(name, Function::new(ctx.clone(), log)?)?;
    }
    ctx.globals().set("console", console)?;
    timers::install(ctx, &ctx.globals())
}

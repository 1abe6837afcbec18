//! Module `k6/timers`, and the same four functions as globals.

use rquickjs::function::{Opt, Rest};
use rquickjs::module::{Declarations, Exports, ModuleDef};
use rquickjs::{Ctx, Exception, Function, Object, Result, Value};
use stdx::Nanos;

use crate::runtime::current::vu_of;
use crate::runtime::timers::Timer;
use crate::runtime::values::number_of;

/// The module.
pub(super) struct TimersModule;

/// The names of its functions.
const NAMES: [&str; 4] = ["setTimeout", "clearTimeout", "setInterval", "clearInterval"];
/// The least time between two calls of an interval.
const INTERVAL_MIN: Nanos = Nanos::from_millis(1);

impl ModuleDef for TimersModule {
    fn declare(declared: &Declarations<'_>) -> Result<()> {
        NAMES.iter().try_for_each(|name| declared.declare(*name).map(drop))?;
        declared.declare("default").map(drop)
    }

    fn evaluate<'js>(ctx: &Ctx<'js>, exports: &Exports<'js>) -> Result<()> {
        let all = Object::new(ctx.clone())?;
        install(ctx, &all)?;
        for name in NAMES {
            exports.export(name, all.get::<_, Value<'js>>(name)?)?;
        }
        exports.export("default", all).map(drop)
    }
}

/// Sets the four functions on an object.
pub(crate) fn install<'js>(ctx: &Ctx<'js>, on: &Object<'js>) -> Result<()> {
    on.set("setTimeout", Function::new(ctx.clone(), set_timeout)?)?;
    on.set("clearTimeout", Function::new(ctx.clone(), clear)?)?;
    on.set("setInterval", Function::new(ctx.clone(), set_interval)?)?;
    on.set("clearInterval", Function::new(ctx.clone(), clear)?)
}

fn set_timeout<'js>(
    ctx: Ctx<'js>,
    callback: Opt<Value<'js>>,
    delay: Opt<Value<'js>>,
    arguments: Rest<Value<'js>>,
) -> Result<f64> {
    set(&ctx, "setTimeout", (callback.0, delay.0, arguments.0))
}

fn set_interval<'js>(
    ctx: Ctx<'js>,
    callback: Opt<Value<'js>>,
    delay: Opt<Value<'js>>,
    arguments: Rest<Value<'js>>,
) -> Result<f64> {
    set(&ctx, "setInterval", (callback.0, delay.0, arguments.0))
}

/// What a timer is set with: what to call, when, and with what.
type Setting<'js> = (Option<Value<'js>>, Option<Value<'js>>, Vec<Value<'js>>);

fn set<'js>(ctx: &Ctx<'js>, name: &str, setting: Setting<'js>) -> Result<f64> {
    let (callback, delay, arguments) = setting;
    let Some(callback) = callback.and_then(|value| value.as_function().cloned()) else {
        let text = format!("{name}'s callback isn't a callable function");
        return Err(Exception::throw_type(ctx, &text));
    };
    let delay = delay.as_ref().and_then(number_of).filter(|ms| *ms > 0.0).unwrap_or(0.0);
    let delay = Nanos::from_secs_f64(delay / 1e3);
    let every = (name == "setInterval").then(|| delay.max(INTERVAL_MIN));
    let vu = vu_of(ctx)?;
    let due = vu.host.now().saturating_add(every.unwrap_or(delay));
    let timer = Timer::new(ctx, callback, arguments);
    let id = vu.events.timers.set(timer, due, every);
    id.map(|id| id as f64)
        .ok_or_else(|| Exception::throw_range(ctx, &format!("{name}: there are too many timers")))
}

fn clear<'js>(ctx: Ctx<'js>, id: Opt<Value<'js>>) -> Result<()> {
    if let Some(id) = id.0.as_ref().and_then(number_of).filter(|id| *id > 0.0) {
        vu_of(&ctx)?.events.timers.unset(id as u64);
    }
    Ok(())
}

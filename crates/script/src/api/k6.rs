//! Module `k6`: `check`, `group`, `sleep`, `fail`, `randomSeed`.

use std::rc::Rc;

use metrics::tally::MetricId;
use rquickjs::module::{Declarations, Exports, ModuleDef};
use rquickjs::prelude::Opt;
use rquickjs::{Atom, Coerced, Ctx, Exception, Function, IntoJs, Object, Result, Value};
use stdx::Nanos;

use crate::runtime::ffi::is_async;

use super::random;
use crate::api::tags::sample_tags;
use crate::runtime::current::vu_of;
use crate::runtime::values::{string_of, truthy};

/// The module.
pub(super) struct K6;

impl ModuleDef for K6 {
    fn declare(declared: &Declarations<'_>) -> Result<()> {
        for name in ["check", "fail", "group", "randomSeed", "sleep", "default"] {
            declared.declare(name)?;
        }
        Ok(())
    }

    fn evaluate<'js>(ctx: &Ctx<'js>, exports: &Exports<'js>) -> Result<()> {
        let all = Object::new(ctx.clone())?;
        let functions = [
            ("check", Function::new(ctx.clone(), check)?),
            ("fail", Function::new(ctx.clone(), fail)?),
            ("group", Function::new(ctx.clone(), group)?),
            ("randomSeed", Function::new(ctx.clone(), random::seed)?),
            ("sleep", Function::new(ctx.clone(), sleep)?),
        ];
        for (name, function) in functions {
            all.set(name, function.clone())?;
            exports.export(name, function)?;
        }
        exports.export("default", all)?;
        Ok(())
    }
}

/// What separates the names of groups.
const SEPARATOR: &str = "::";

/// A sample of `checks` for each condition; whether all hold. One that throws has failed, and is thrown on.
fn check<'js>(
    ctx: Ctx<'js>,
    value: Opt<Value<'js>>,
    conditions: Opt<Value<'js>>,
    tags: Opt<Value<'js>>,
) -> Result<bool> {
    let vu = vu_of(&ctx)?;
    vu.require_started(&ctx, "Using check()")?;
    let value = value.0.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
    let Some(conditions) = conditions.0.filter(|conditions| !conditions.is_undefined()) else {
        return Err(Exception::throw_message(&ctx, "no checks provided to `check`"));
    };
    if conditions.is_null() {
        let text = "Cannot convert undefined or null to object";
        return Err(Exception::throw_type(&ctx, text));
    }
    // A value that is not an object has no fields.
    let Some(conditions) = conditions.as_object() else { return Ok(true) };
    let tags = tags.0.as_ref().map(|tags| sample_tags(&ctx, tags)).transpose()?;
    let tags = tags.filter(|tags| !tags.is_empty()).map(Rc::new);
    let mut all = true;
    for condition in conditions.props::<Atom<'js>, Value<'js>>() {
        let (name, condition) = condition?;
        let name = name.to_js_string()?.to_cstring()?;
        // A text that is not UTF-8 contains half a surrogate pair.
        let name = String::from_utf8_lossy(name.as_ref());
        // Few names have a colon at all.
        if name.as_bytes().contains(&b':') && name.contains(SEPARATOR) {
            return Err(Exception::throw_message(&ctx, NAME_IS_TAKEN));
        }
        let held = holds(&ctx, &value, &condition);
        vu.check(&name, matches!(held, Ok(true)), tags.clone());
        all &= held?;
    }
    Ok(all)
}

fn holds<'js>(ctx: &Ctx<'js>, value: &Value<'js>, condition: &Value<'js>) -> Result<bool> {
    let Some(function) = condition.as_function() else { return truthy(condition) };
    if is_async(function) {
        let text = "the built-in check() does not support async functions as arguments: the promise would always pass. Use check of the k6-utils library, which waits for it";
        return Err(Exception::throw_message(ctx, text));
    }
    truthy(&function.call((value.clone(),))?)
}

/// Runs a function with the group's name on all its samples, and measures its time.
fn group<'js>(
    ctx: Ctx<'js>,
    name: Opt<Value<'js>>,
    function: Opt<Value<'js>>,
) -> Result<Value<'js>> {
    let vu = vu_of(&ctx)?;
    vu.require_started(&ctx, "Using group()")?;
    let name = name.0.as_ref().map(string_of).transpose()?.unwrap_or_default();
    let Some(function) = function.0.as_ref().and_then(Value::as_function) else {
        let text = "group() requires a callback as a second argument";
        return Err(Exception::throw_message(&ctx, text));
    };
    if name.contains(SEPARATOR) {
        return Err(Exception::throw_message(&ctx, NAME_IS_TAKEN));
    }
    if is_async(function) {
        let text = "group() does not support async functions as arguments: it would end before the function does";
        return Err(Exception::throw_message(&ctx, text));
    }
    let outer = Rc::clone(&vu.group.borrow());
    *vu.group.borrow_mut() = format!("{outer}{SEPARATOR}{}", stdx::shown_text(&name)).into();
    let began = vu.host.now();
    let outcome = function.call(());
    let took = milliseconds(vu.host.now().saturating_sub(began));
    vu.sample(MetricId::GROUP_DURATION, took, None);
    *vu.group.borrow_mut() = outer;
    outcome
}

/// Names of groups have it between them.
const NAME_IS_TAKEN: &str = "group and check names may not contain '::'";

/// Waits for so many seconds; not at all where that is no positive number.
fn sleep<'js>(ctx: Ctx<'js>, seconds: Opt<Value<'js>>) -> Result<()> {
    let seconds = seconds.0.as_ref().and_then(|seconds| seconds.get::<Coerced<f64>>().ok());
    let seconds = seconds.map(|seconds| seconds.0).filter(|seconds| *seconds > 0.0).unwrap_or(0.0);
    let time = Nanos::from_secs_f64(seconds);
    vu_of(&ctx)?.rest(&ctx, "Using sleep()", time)
}

/// Throws.
fn fail<'js>(ctx: Ctx<'js>, text: Opt<Value<'js>>) -> Result<()> {
    let text = text.0.as_ref().map(string_of).transpose()?.unwrap_or_default();
    let error = Exception::from_message(ctx.clone(), &text)?;
    Err(ctx.throw(error.into_js(&ctx)?))
}

/// A time as k6's metrics have it.
pub(super) fn milliseconds(time: Nanos) -> f64 {
    time.0 as f64 / 1e6
}

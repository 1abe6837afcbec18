//! Module `k6`: `check`, `group`, `sleep`, `fail`, `randomSeed`.

use std::rc::Rc;

use metrics::tally::MetricId;
use rquickjs::module::{Declarations, Exports, ModuleDef};
use rquickjs::prelude::Opt;
use rquickjs::{Atom, Coerced, Ctx, Exception, Function, IntoJs, Object, Result, Value};
use stdx::Nanos;
use users::TagList;

use super::random;
use crate::api::tags::sample_tags;
use crate::runtime::context::VuContext;
use crate::runtime::current::vu_of;
use crate::runtime::ffi::{FewFields, call_with, is_async};
use crate::runtime::values::{lossy_text, string_of, truthy};

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
    if !conditions.is_object() {
        return Ok(true);
    }
    let tags = tags.0.as_ref().map(|tags| sample_tags(&ctx, tags)).transpose()?;
    let tags = tags.filter(|tags| !tags.is_empty()).map(Rc::new);
    let subject = Subject { ctx: &ctx, vu: &vu, value: &value, tags };
    let mut all = true;
    if let Some(conditions) = FewFields::of(&conditions) {
        for condition in conditions {
            let (name, condition) = condition?;
            all &= subject.meets(&name, &condition)?;
        }
        return Ok(all);
    }
    let Some(conditions) = conditions.as_object() else { return Ok(true) };
    for condition in conditions.props::<Atom<'js>, Value<'js>>() {
        let (name, condition) = condition?;
        all &= subject.meets(name.to_js_string()?.as_value(), &condition)?;
    }
    Ok(all)
}

/// What is checked.
struct Subject<'a, 'js> {
    ctx: &'a Ctx<'js>,
    vu: &'a VuContext,
    value: &'a Value<'js>,
    /// The tags of the samples.
    tags: Option<Rc<TagList>>,
}

impl<'js> Subject<'_, 'js> {
    /// Counts whether a condition of this name holds.
    fn meets(&self, name: &Value<'js>, condition: &Value<'js>) -> Result<bool> {
        let name = lossy_text(name)?;
        // Few names have a colon at all.
        if name.as_bytes().contains(&b':') && name.contains(SEPARATOR) {
            return Err(Exception::throw_message(self.ctx, NAME_IS_TAKEN));
        }
        // Nothing is counted of it: it neither holds nor fails.
        if condition.is_function() && is_async(condition) {
            let text = "the built-in check() does not support async functions as arguments: the promise would always pass. Use check of the k6-utils library, which waits for it";
            return Err(Exception::throw_message(self.ctx, text));
        }
        let held = self.holds(condition);
        self.vu.check(&name, matches!(held, Ok(true)), self.tags.clone());
        held
    }

    fn holds(&self, condition: &Value<'js>) -> Result<bool> {
        if !condition.is_function() {
            return truthy(condition);
        }
        truthy(&call_with(condition, self.value)?)
    }
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
    if is_async(function.as_value()) {
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

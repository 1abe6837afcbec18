//! `expectedStatuses` and `setResponseCallback`: which responses are no failure.

use rquickjs::function::Rest;
use rquickjs::{Class, Ctx, Exception, Object, Result, Value};
use users::Statuses;

use crate::runtime::current::vu_of;
use crate::runtime::ffi::{Handle, HandleClass};

impl HandleClass for Statuses {
    const NAME: &'static str = "ExpectedStatuses";

    fn prototype<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
        Object::new(ctx.clone())
    }
}

/// `expectedStatuses(200, { min: 300, max: 399 })`.
pub(super) fn expected<'js>(
    ctx: Ctx<'js>,
    arguments: Rest<Value<'js>>,
) -> Result<Class<'js, Handle<Statuses>>> {
    if arguments.0.is_empty() {
        return Err(Exception::throw_message(&ctx, "no arguments"));
    }
    let mut list = Vec::new();
    for (at, value) in arguments.0.iter().enumerate() {
        let Some(range) = range(value)? else {
            let text = format!(
                "argument number {} to expectedStatuses was neither an integer nor an object like {{min:100, max:329}}",
                at + 1
            );
            return Err(Exception::throw_message(&ctx, &text));
        };
        list.push(range);
    }
    Class::instance(ctx, Handle(Statuses::These(list.into())))
}

fn range(value: &Value<'_>) -> Result<Option<(i64, i64)>> {
    if let Some(status) = whole(value) {
        return Ok(Some((status, status)));
    }
    let Some(object) = value.as_object() else { return Ok(None) };
    let (min, max) = (object.get::<_, Value<'_>>("min")?, object.get::<_, Value<'_>>("max")?);
    Ok(whole(&min).zip(whole(&max)))
}

fn whole(value: &Value<'_>) -> Option<i64> {
    let float = || value.as_float().filter(|number| number.fract() == 0.0).map(|n| n as i64);
    value.as_int().map(i64::from).or_else(float)
}

/// `setResponseCallback(expectedStatuses(…))`, for all requests of the VU from now on; with null no status is judged.
pub(super) fn set<'js>(ctx: Ctx<'js>, callback: Value<'js>) -> Result<()> {
    let Some(statuses) = of(&callback) else {
        let text = "unsupported argument, expected http.expectedStatuses";
        return Err(Exception::throw_message(&ctx, text));
    };
    *vu_of(&ctx)?.expected.borrow_mut() = statuses;
    Ok(())
}

/// The statuses that a callback expects; `None` if the value is not a callback.
pub(super) fn of(callback: &Value<'_>) -> Option<Statuses> {
    if callback.is_null() {
        return Some(Statuses::Unasked);
    }
    let class = Class::<Handle<Statuses>>::from_value(callback).ok()?;
    Some(class.borrow().0.clone())
}

//! Module `k6/data`: `SharedArray`, held once by the process, as JSON.

use rquickjs::convert::List;
use rquickjs::function::{Constructor, Opt};
use rquickjs::module::{Declarations, Exports, ModuleDef};
use rquickjs::{Class, Ctx, Exception, Function, Object, Result, Value};
use stdx::{MemoryShare, OutOfMemory};
use users::Stage;

use super::js_builtins::{declare_all, export_all, js_builtin};
use crate::loader::program::leave_room;
use crate::loader::store::{Elements, SharedElements, Store};
use crate::runtime::current::vu_of;
use crate::runtime::ffi::{OpaqueHandle, held_here, is_async};
use crate::runtime::values::string_of;

/// The module.
pub(super) struct Data;

const NAMES: [&str; 1] = ["SharedArray"];

impl ModuleDef for Data {
    fn declare(declared: &Declarations<'_>) -> Result<()> {
        declare_all(declared, &NAMES)
    }

    fn evaluate<'js>(ctx: &Ctx<'js>, exports: &Exports<'js>) -> Result<()> {
        let all = Object::new(ctx.clone())?;
        let native = Object::new(ctx.clone())?;
        native.set("make", maker(ctx)?)?;
        let elements = |ctx: Ctx<'js>, name: Opt<Value<'js>>, build: Opt<Value<'js>>| {
            handle(&ctx, elements(&ctx, name.0, build.0)?)
        };
        native.set("elements", Function::new(ctx.clone(), elements)?)?;
        // A function of JavaScript's own may be called with `new` and without.
        let text = "(function ({ make, elements }) { return function SharedArray(name, build) { return make(...elements(name, build)); }; })";
        let constructor: Constructor<'js> = js_builtin(ctx, "data", text, native)?;
        all.set("SharedArray", constructor)?;
        export_all(exports, &all, &NAMES)
    }
}

/// What makes arrays of elements.
pub(super) fn maker<'js>(ctx: &Ctx<'js>) -> Result<Function<'js>> {
    let element = |ctx: Ctx<'js>, handle: Class<'js, OpaqueHandle>, at: usize| {
        let handle = handle.borrow();
        let elements = handle.0.downcast_ref::<Elements>();
        match elements.and_then(|elements| elements.get(at)) {
            Some(json) => ctx.json_parse(json),
            None => Ok(Value::new_undefined(ctx)),
        }
    };
    let element = Function::new(ctx.clone(), element)?;
    js_builtin(ctx, "shared_array", include_str!("js/shared_array.js"), element)
}

/// What `make` wants of elements: something that holds them, and how many there are.
pub(super) fn handle<'js>(
    ctx: &Ctx<'js>,
    elements: Elements,
) -> Result<List<(Class<'js, OpaqueHandle>, usize)>> {
    let len = elements.len();
    Ok(List((Class::instance(ctx.clone(), OpaqueHandle::of(elements))?, len)))
}

/// The elements of this name: those that are kept, or what the function makes.
fn elements<'js>(
    ctx: &Ctx<'js>,
    name: Option<Value<'js>>,
    build: Option<Value<'js>>,
) -> Result<Elements> {
    let throw = |text: &str| Exception::throw_message(ctx, text);
    let vu = vu_of(ctx)?;
    if vu.stage.get() != Stage::Init {
        return Err(throw("new SharedArray must be called in the init context"));
    }
    let name = name.filter(|name| !name.is_undefined() && !name.is_null());
    let name = name.map(|name| string_of(&name)).transpose()?;
    let build = build.and_then(Value::into_function);
    if name.as_deref() == Some("") {
        return Err(throw("empty name provided to SharedArray's constructor"));
    }
    let (Some(name), Some(build)) = (name, build) else {
        return Err(throw(
            "a function is expected as the second argument of SharedArray's constructor",
        ));
    };
    if is_async(build.as_value()) {
        return Err(throw(
            "SharedArray constructor does not support async functions as second argument",
        ));
    }
    let store = vu.store(ctx)?;
    if let Some(elements) = store.array(&name) {
        return Ok(elements);
    }
    let made: Value<'js> = build.call(())?;
    let Some(array) = made.as_array() else {
        return Err(throw("only arrays can be made into SharedArray"));
    };
    let kept = keep(ctx, store, &name, as_json(ctx, array)?);
    Ok(kept)
}

/// Keeps elements for all VUs.
pub(super) fn keep(ctx: &Ctx<'_>, store: &Store, name: &str, elements: SharedElements) -> Elements {
    let kept = store.keep_array(name, elements.into());
    if is_first_run(ctx) {
        leave_room(ctx);
    }
    kept
}

/// Whether the modules run for the first time, where nothing holds what JavaScript takes.
fn is_first_run(ctx: &Ctx<'_>) -> bool {
    vu_of(ctx).is_ok_and(|vu| vu.files.borrow().is_some())
}

/// Holds what JavaScript takes for as long as elements are made beside it.
pub(super) fn held_beside(ctx: &Ctx<'_>) -> MemoryShare {
    let mut beside = MemoryShare::default();
    if is_first_run(ctx) {
        beside.hold(held_here(ctx));
    }
    beside
}

/// Each element as JSON; what JSON cannot hold is null.
fn as_json<'js>(ctx: &Ctx<'js>, array: &rquickjs::Array<'js>) -> Result<SharedElements> {
    let _beside = held_beside(ctx);
    let throw =
        |error: OutOfMemory| Exception::throw_message(ctx, &format!("SharedArray: {error}"));
    // `Array::len` panics from 2^31 on.
    let len = array.as_object().get::<_, f64>("length")? as usize;
    let mut elements = SharedElements::with_room(len).map_err(throw)?;
    for at in 0..len {
        let item: Value<'js> = array.get(at)?;
        let json = ctx.json_stringify(item)?.map(|json| json.to_string()).transpose()?;
        elements.push(json.unwrap_or_else(|| "null".to_owned())).map_err(throw)?;
    }
    Ok(elements)
}

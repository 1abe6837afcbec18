//! Module `k6/experimental/streams`: the readable streams of the web, without byte streams.

use rquickjs::module::{Declarations, Exports, ModuleDef};
use rquickjs::{Ctx, Object, Result, Value};

use super::js_builtins::{declare_all, export_all, js_builtin};

/// The module.
pub(super) struct Streams;

const NAMES: [&str; 3] = ["ReadableStream", "ReadableStreamDefaultReader", "CountQueuingStrategy"];

impl ModuleDef for Streams {
    fn declare(declared: &Declarations<'_>) -> Result<()> {
        declare_all(declared, &NAMES)
    }

    fn evaluate<'js>(ctx: &Ctx<'js>, exports: &Exports<'js>) -> Result<()> {
        let none = Value::new_undefined(ctx.clone());
        let all: Object<'js> = js_builtin(ctx, "streams", include_str!("js/streams.js"), none)?;
        export_all(exports, &all, &NAMES)
    }
}

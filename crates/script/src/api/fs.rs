//! Module `k6/experimental/fs`: files opened while the script begins, held once, read by each VU at its own place.

use rquickjs::module::{Declarations, Exports, ModuleDef};
use rquickjs::{Class, Ctx, Function, Object, Result, Value};

use super::bytes::buffer;
use super::js_builtins::{declare_all, export_all, js_builtin};
use crate::loader::open::opened;
use crate::runtime::ffi::OpaqueHandle;

/// The module.
pub(super) struct Fs;

const NAMES: [&str; 2] = ["open", "SeekMode"];

/// What an open file holds, and what it is called.
pub(super) struct File {
    pub(super) bytes: std::sync::Arc<[u8]>,
}

/// The property by which other modules find what a file holds.
const HELD: &str = "\u{1}held";

impl ModuleDef for Fs {
    fn declare(declared: &Declarations<'_>) -> Result<()> {
        declare_all(declared, &NAMES)
    }

    fn evaluate<'js>(ctx: &Ctx<'js>, exports: &Exports<'js>) -> Result<()> {
        let native = Object::new(ctx.clone())?;
        native.set("open", Function::new(ctx.clone(), open)?)?;
        native.set("len", Function::new(ctx.clone(), len)?)?;
        native.set("slice", Function::new(ctx.clone(), slice)?)?;
        let all: Object<'js> = js_builtin(ctx, "fs", include_str!("js/fs.js"), native)?;
        export_all(exports, &all, &NAMES)
    }
}

/// The bytes of a file that a script opened; `None` of anything else.
pub(super) fn bytes_of<'js>(file: &Value<'js>) -> Result<Option<std::sync::Arc<[u8]>>> {
    let Some(object) = file.as_object() else { return Ok(None) };
    let handle: Option<Class<'js, OpaqueHandle>> = object.get(HELD)?;
    Ok(handle.and_then(|handle| Some(handle.borrow().0.downcast_ref::<File>()?.bytes.clone())))
}

fn open<'js>(ctx: Ctx<'js>, path: String) -> Result<Class<'js, OpaqueHandle>> {
    let bytes = opened(&ctx, &path)?;
    Class::instance(ctx, OpaqueHandle::of(File { bytes }))
}

fn len(handle: Class<'_, OpaqueHandle>) -> usize {
    handle.borrow().0.downcast_ref::<File>().map_or(0, |file| file.bytes.len())
}

/// The bytes from one place to another.
fn slice<'js>(
    ctx: Ctx<'js>,
    handle: Class<'js, OpaqueHandle>,
    from: usize,
    to: usize,
) -> Result<Value<'js>> {
    let handle = handle.borrow();
    let bytes = handle.0.downcast_ref::<File>().and_then(|file| file.bytes.get(from..to));
    buffer(&ctx, bytes.unwrap_or_default())
}

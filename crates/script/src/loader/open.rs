//! Files that a script opens: read while it is first run, shared by its VUs from then on.

use std::sync::Arc;

use rquickjs::{Ctx, Exception, Result};

use super::module_error::only_in_init;
use super::resolve;
use super::store::Store;
use crate::host::execution::Stage;
use crate::runtime::current::vu_of;

/// The module that calls the function of ours that runs.
pub(crate) fn caller(ctx: &Ctx<'_>, store: &Store) -> String {
    // Whether our function has a frame of its own depends on how QuickJS calls it.
    let named = (0..8).find_map(|level| {
        let name = ctx.script_or_module_name(level)?.to_string().ok()?;
        store.is_text(&name).then_some(name)
    });
    named.unwrap_or_default()
}

/// What a file holds. It is read while the script is first run, and shared from then on.
///
/// # Errors
/// It cannot be read, or not any more: a JavaScript exception is thrown.
pub(crate) fn opened(ctx: &Ctx<'_>, path: &str) -> Result<Arc<[u8]>> {
    let throw = |text: &str| Exception::throw_message(ctx, text);
    let vu = vu_of(ctx)?;
    if vu.stage.get() != Stage::Init {
        return Err(throw(&only_in_init("open")));
    }
    if path.is_empty() {
        return Err(throw("open() can't be used with an empty filename"));
    }
    let store = vu.store(ctx)?;
    let base = caller(ctx, store);
    let full = if base.is_empty() { resolve::url_of(path) } else { resolve::joined(&base, path) };
    if resolve::is_remote(&base) && !resolve::is_remote(&full) {
        return Err(throw(&resolve::not_local(path)));
    }
    let full = resolve::path_of(&full);
    if let Some(bytes) = store.opened(full) {
        return Ok(bytes);
    }
    let Some(files) = vu.files.borrow().clone() else {
        return Err(throw(&format!(
            "open() can't be used with files that weren't previously opened during initialization (__VU==0), path: {path:?}"
        )));
    };
    let bytes: Arc<[u8]> =
        files.read(full).map_err(|reason| throw(&format!("{full}: {reason}")))?.into();
    store.keep_opened(full, Arc::clone(&bytes));
    Ok(bytes)
}

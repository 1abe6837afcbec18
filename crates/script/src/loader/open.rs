//! Files that a script opens: read while it is first run, shared by its VUs from then on.

use std::sync::Arc;

use rquickjs::{Ctx, Exception, Result};
use users::{Level, Stage};

use super::module_error::only_in_init;
use super::resolve;
use super::running::{caller, running};
use crate::runtime::current::vu_of;

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
    let base = running(ctx, store)?;
    let caller = caller(ctx, store);
    warn_of_other_folder(ctx, path, &base, &caller)?;
    let full = if base.is_empty() { resolve::url_of(path) } else { resolve::joined(&base, path) };
    // A module from elsewhere reads nothing here, also where one of ours calls it.
    let is_foreign = resolve::is_remote(&base) || resolve::is_remote(&caller);
    if is_foreign && !resolve::is_remote(&full) {
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

/// Warns, while the script is run for the first time, where a relative path means another file than it would in an import.
fn warn_of_other_folder(ctx: &Ctx<'_>, path: &str, base: &str, caller: &str) -> Result<()> {
    let is_absolute = path.starts_with('/') || path.contains("://");
    let vu = vu_of(ctx)?;
    if is_absolute || base.is_empty() || vu.files.borrow().is_none() {
        return Ok(());
    }
    let (opened, imported) = (resolve::joined(base, path), resolve::joined(caller, path));
    // A helper that is called for each of many files says it once.
    if opened != imported && vu.store(ctx)?.is_first_warning(&format!("open {base} {caller}")) {
        let text = format!(
            "open({path:?}) is relative to the module that runs, {base}, as in k6, and not to {caller}, where it is written: import.meta.resolve({path:?}) gives the path there"
        );
        vu.host.log_event(Level::Warn, &text, &[]);
    }
    Ok(())
}

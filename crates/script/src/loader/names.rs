//! The names that modules export, where they are not seen in a text: those of a CommonJS module are known once it has run, those of
//! k6's own modules once they are declared. They are learned while the script is first run, and kept.

use std::rc::Rc;

use rquickjs::{Ctx, Object, Value};
use users::Level;

use super::commonjs;
use super::module_name::NO_DEFAULT;
use super::source::Source;
use super::store::Store;
use crate::runtime::context::VuContext;
use crate::runtime::current::vu_of;
use crate::runtime::values::truthy;

/// The context that runs a script for the first time, if this is one.
fn first_run(ctx: &Ctx<'_>) -> Option<Rc<VuContext>> {
    match vu_of(ctx) {
        Ok(vu) => Some(vu).filter(|vu| vu.files.borrow().is_some()),
        // A realm links modules before it has VUs.
        Err(_) => {
            ctx.catch();
            None
        }
    }
}

/// What a CommonJS module exports, for the module `importer`, which imports all of it: the module is run for that, earlier than
/// those that stand before it in the importer. `None` where that cannot be: what is seen in the text counts then.
pub(super) fn of_commonjs(
    ctx: &Ctx<'_>,
    store: &Store,
    importer: &str,
    full: &str,
) -> Option<Vec<String>> {
    if let Some(known) = store.exports(full) {
        return Some(known);
    }
    let vu = first_run(ctx)?;
    vu.importers.borrow_mut().push(importer.to_owned());
    let loaded = commonjs::load(ctx, full);
    vu.importers.borrow_mut().pop();
    let Ok(exports) = loaded else {
        // It is run again where it is its turn, and what it throws counts there.
        ctx.catch();
        return None;
    };
    let names = exports.as_object().map_or_else(Vec::new, own_names);
    store.keep_exports(full, names.clone());
    Some(names)
}

/// The enumerable names of what a module exports. One that was an ES module has a default only if it says so.
fn own_names(exports: &Object<'_>) -> Vec<String> {
    let mut names: Vec<String> = exports.keys::<String>().filter_map(Result::ok).collect();
    let was_module = exports.get::<_, Value<'_>>("__esModule").and_then(|mark| truthy(&mark));
    if was_module.unwrap_or_default() && !names.iter().any(|name| name == "default") {
        names.push(NO_DEFAULT.to_owned());
    }
    names
}

/// The names that a module imports from one of k6's, as `specifier`, and that it does not have: they are undefined, with a warning.
pub(super) fn lacking(
    ctx: &Ctx<'_>,
    store: &Store,
    importer: &Source,
    (specifier, full): (&str, &str),
) -> Vec<String> {
    let of_it = importer.imports.iter().filter(|import| import.specifier == specifier);
    let mut wanted: Vec<&String> = of_it.filter_map(|import| import.name.as_ref()).collect();
    wanted.retain(|name| *name != "default");
    if wanted.is_empty() {
        return Vec::new();
    }
    let Some(known) = of_builtin(ctx, store, full) else { return Vec::new() };
    wanted.retain(|name| !known.contains(name));
    wanted.sort();
    wanted.dedup();
    if let Some(vu) = first_run(ctx) {
        for name in &wanted {
            let text = format!("{full} exports no \"{name}\": the import is undefined");
            vu.host.log_event(Level::Warn, &text, &[]);
        }
    }
    wanted.into_iter().cloned().collect()
}

/// What one of k6's modules exports.
fn of_builtin(ctx: &Ctx<'_>, store: &Store, full: &str) -> Option<Vec<String>> {
    if let Some(known) = store.exports(full) {
        return Some(known);
    }
    first_run(ctx)?;
    let Ok(namespace) = commonjs::exported(ctx, full, "*") else {
        ctx.catch();
        return None;
    };
    let names: Vec<String> =
        namespace.as_object()?.keys::<String>().filter_map(Result::ok).collect();
    store.keep_exports(full, names.clone());
    Some(names)
}

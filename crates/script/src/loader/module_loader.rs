//! The resolver and the loader that QuickJS calls: what an import's name means, and the module of a full name.

use std::sync::Arc;

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Error, Exception, Function, Module, Result};

use super::commonjs::CommonJsLoader;
use super::module_error::{at, excerpt, thrown, thrown_at};
use super::module_name::{self, EXACT, FACADE, LOADER};
use super::prepare::too_deep;
use super::source::{Kind, Source};
use super::store::{ModuleUnit, Store};
use super::unit::unit;
use super::{names, resolve};
use crate::runtime::current::vu_of;
use crate::runtime::deep_stack::RUN_STACK_BYTES;
use crate::runtime::ffi::{self, Bytecode, StackBytes};

/// Resolves the names of imports. Files are read while the script is first run, not by VUs.
pub(crate) struct ModuleResolver {
    pub(crate) store: Arc<Store>,
}

impl Resolver for ModuleResolver {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<String> {
        if let Some(name) = name.strip_prefix(EXACT) {
            // Ours are made of names that were judged; a text may begin with the mark as well.
            if resolve::is_remote(base) && !resolve::is_remote(name) {
                return Err(thrown_at(ctx, &resolve::not_local(name), None));
            }
            return Ok(name.to_owned());
        }
        if name == LOADER && base.starts_with(FACADE) {
            return Ok(name.to_owned());
        }
        let importer = self.store.known(base);
        let place = importer.as_ref().and_then(|unit| unit.source.import_place(name, None));
        let full = resolve::resolve(self.store.builtins, base, name)
            .map_err(|text| thrown_at(ctx, &text, place.as_ref()))?;
        if !self.store.is_text(&full) {
            return Ok(self.or_stand_in(ctx, importer.as_deref(), name, full));
        }
        let unit = unit(ctx, &self.store, &full, name, place.as_ref())?;
        if unit.source.kind == Kind::Module {
            return Ok(full);
        }
        let Some(importer) = importer else { return Ok(module_name::facade(&[], &full)) };
        let all = match importer.source.wants_all(name) {
            true => names::of_commonjs(ctx, &self.store, base, &full),
            false => None,
        };
        let all = all.as_ref().unwrap_or(&unit.source.exports);
        Ok(module_name::facade(&importer.source.wants(name, all), &full))
    }
}

impl ModuleResolver {
    /// A module of k6 by its full name, or what stands in for it where it lacks names that the importer wants.
    fn or_stand_in(
        &self,
        ctx: &Ctx<'_>,
        importer: Option<&ModuleUnit>,
        name: &str,
        full: String,
    ) -> String {
        let Some(importer) = importer.filter(|_| self.store.builtins.has(&full)) else {
            return full;
        };
        let lacking = names::lacking(ctx, &self.store, &importer.source, (name, &full));
        if lacking.is_empty() { full } else { module_name::stand_in(&lacking, &full) }
    }
}

/// Hands out modules: the built-in ones, and those of the store.
pub(crate) struct ModuleFiles {
    pub(crate) store: Arc<Store>,
}

impl Loader for ModuleFiles {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<Module<'js, Declared>> {
        if name == LOADER {
            return Module::declare_def::<CommonJsLoader, _>(ctx.clone(), name);
        }
        if let Some(module) = self.store.builtins.declare(ctx, name) {
            return module;
        }
        declared(ctx, &self.store, name)
    }
}

/// A module of the store, as this context wants it.
pub(crate) fn declared<'js>(
    ctx: &Ctx<'js>,
    store: &Store,
    name: &str,
) -> Result<Module<'js, Declared>> {
    if let Some(text) = module_name::facade_text(name) {
        if let Some(bytecode) = store.facade(name) {
            return ffi::load(ctx.clone(), &bytecode);
        }
        let module = Module::declare(ctx.clone(), name, text)?;
        store.keep_facade(name, ffi::compiled(&module)?);
        return Ok(module);
    }
    let unit = unit(ctx, store, name, name, None)?;
    let module = match unit.bytecode.get() {
        Some(bytecode) => ffi::load(ctx.clone(), bytecode)?,
        // A VU's stack has no room for the parser.
        None if vu_of(ctx)?.files.borrow().is_none() => {
            let text = format!("\"{name}\" could not be compiled when the script was first run");
            return Err(Exception::throw_message(ctx, &text));
        }
        None => {
            let (module, bytecode) = compiled(ctx, store, name, &unit.source)?;
            unit.bytecode.get_or_init(|| bytecode);
            module
        }
    };
    let (own, builtins) = (name.to_owned(), store.builtins);
    let resolved = move |ctx: Ctx<'js>, name: String| {
        resolve::resolve(builtins, &own, &name)
            .map_err(|text| Exception::throw_message(&ctx, &text))
    };
    module.meta()?.set("resolve", Function::new(ctx.clone(), resolved)?)?;
    Ok(module)
}

/// A module and its bytecode, from its text.
///
/// # Errors
/// It is no JavaScript, or nested too deep: an exception.
fn compiled<'js>(
    ctx: &Ctx<'js>,
    store: &Store,
    name: &str,
    source: &Source,
) -> Result<(Module<'js, Declared>, Bytecode)> {
    let stack = StackBytes { during: store.parser_stack_bytes, after: RUN_STACK_BYTES };
    let declare = || Module::declare(ctx.clone(), name, source.text.as_str());
    let made = ffi::with_stack(ctx, stack, declare).and_then(|module| {
        // A worker that reads the bytecode has twice as much.
        let stack = StackBytes { during: RUN_STACK_BYTES / 2, after: RUN_STACK_BYTES };
        let bytecode = ffi::with_stack(ctx, stack, || ffi::compiled(&module))?;
        Ok((module, bytecode))
    });
    made.map_err(|error| if error.is_exception() { or_too_deep(ctx, source) } else { error })
}

/// From this depth on, a module that runs out of memory is reported as nested too deep: nested functions take memory by the
/// square of their depth.
const DEEP: usize = 1000;

/// The exception that is pending; where it says that there was no room, and the module is nested deep, a better one.
fn or_too_deep(ctx: &Ctx<'_>, source: &Source) -> Error {
    let pending = ctx.catch();
    let message = pending.as_object().and_then(|error| error.get::<_, String>("message").ok());
    let deep = match message.as_deref() {
        Some("Maximum call stack size exceeded") => true,
        Some("out of memory") => source.levels() > DEEP,
        _ => false,
    };
    if !deep {
        return ctx.throw(pending);
    }
    let wrong = too_deep(&source.text);
    let place = source.places.original(wrong.line, wrong.column);
    let shown = source.places.line(&place).map(|line| excerpt(&place, line)).unwrap_or_default();
    thrown(ctx, "SyntaxError", &wrong.message, &format!("{}\n{shown}", at(&place)))
}

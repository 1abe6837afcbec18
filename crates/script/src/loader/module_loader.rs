//! Loading: what QuickJS is told when it asks what an import's name means, and for a module.

use std::sync::Arc;

use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::{Ctx, Error, Exception, Function, Module, Object, Result};

use crate::api;
use crate::api::seat_of;
use crate::loader::commonjs;
use crate::loader::program;
use crate::loader::resolve;
use crate::loader::source::{Kind, Source, too_deep};
use crate::loader::source_map::Place;
use crate::loader::store::{Missing, Store, Unit};
use crate::runtime::ffi;
use crate::runtime::ffi::Bytecode;

/// How a name begins that means what follows it, whoever asks.
const EXACT: char = '=';

/// The name to ask for a module by its full name.
pub(crate) fn exact(name: &str) -> String {
    format!("{EXACT}{name}")
}

/// Says what names mean. Files are read the first time a script runs, and by nobody else.
pub(crate) struct Names {
    pub(crate) store: Arc<Store>,
}

impl Resolver for Names {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<String> {
        if let Some(name) = name.strip_prefix(EXACT) {
            return Ok(name.to_owned());
        }
        if name == commonjs::LOADER {
            return Ok(name.to_owned());
        }
        let importer = self.store.known(base);
        let place = importer.as_ref().and_then(|unit| unit.source.import_place(name, None));
        let full =
            resolve::resolve(base, name).map_err(|text| thrown_at(ctx, &text, place.as_ref()))?;
        if !resolve::is_text(&full) {
            return Ok(full);
        }
        let unit = unit(ctx, &self.store, &full, name, place.as_ref())?;
        if unit.source.kind == Kind::Module {
            return Ok(full);
        }
        let names = importer.map(|importer| importer.source.wants(name, &unit.source));
        Ok(commonjs::facade(&names.unwrap_or_default(), &full))
    }
}

/// Hands out modules: the built-in ones, and those of the store.
pub(crate) struct Modules {
    pub(crate) store: Arc<Store>,
}

impl Loader for Modules {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _attributes: Option<ImportAttributes<'js>>,
    ) -> Result<Module<'js, Declared>> {
        if let Some(module) = api::declare(ctx, name) {
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
    if let Some(text) = commonjs::facade_text(name) {
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
        None if seat_of(ctx)?.files.borrow().is_none() => {
            let text = format!("\"{name}\" could not be compiled when the script was first run");
            return Err(Exception::throw_message(ctx, &text));
        }
        None => {
            let (module, bytecode) = compiled(ctx, store, name, &unit.source)?;
            unit.bytecode.get_or_init(|| bytecode);
            module
        }
    };
    let own = name.to_owned();
    let resolved = move |ctx: Ctx<'js>, name: String| {
        resolve::resolve(&own, &name).map_err(|text| Exception::throw_message(&ctx, &text))
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
    let stacks = (store.parser_stack_bytes, program::RUN_STACK_BYTES);
    let declare = || Module::declare(ctx.clone(), name, source.text.as_str());
    let made = ffi::with_stack(ctx, stacks, declare).and_then(|module| {
        // A worker that reads the bytecode has twice as much.
        let stacks = (program::RUN_STACK_BYTES / 2, program::RUN_STACK_BYTES);
        let bytecode = ffi::with_stack(ctx, stacks, || ffi::compiled(&module))?;
        Ok((module, bytecode))
    });
    made.map_err(|error| if error.is_exception() { or_too_deep(ctx, source) } else { error })
}

/// So deep a module without room is told to be nested too deep: functions within functions take memory by their square.
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

/// The module of this full name, which the script calls `name`.
///
/// # Errors
/// There is none: an exception with the place of the import, or of what is wrong in the module.
pub(crate) fn unit(
    ctx: &Ctx<'_>,
    store: &Store,
    full: &str,
    name: &str,
    place: Option<&Place>,
) -> Result<Arc<Unit>> {
    if let Some(unit) = store.known(full) {
        return Ok(unit);
    }
    let seat = seat_of(ctx)?;
    let Some(files) = seat.files.borrow().clone() else {
        let text = format!("\"{name}\" was not imported when the script was first run");
        return Err(thrown_at(ctx, &text, place));
    };
    store.unit(full, &*files).map_err(|missing| match missing {
        Missing::Unread(reason) => {
            let text = format!(
                "The moduleSpecifier \"{name}\" couldn't be found: {}: {reason}",
                resolve::path_of(full)
            );
            thrown_at(ctx, &text, place)
        }
        Missing::Wrong(wrong) => {
            let place = Place { file: full.to_owned(), line: wrong.line, column: wrong.column };
            let line = wrong.text.lines().nth(wrong.line.saturating_sub(1) as usize);
            let shown = line.map(|line| excerpt(&place, line)).unwrap_or_default();
            thrown(ctx, "SyntaxError", &wrong.message, &format!("{}\n{shown}", at(&place)))
        }
    })
}

/// An error that is thrown where an import stands.
pub(crate) fn thrown_at(ctx: &Ctx<'_>, text: &str, place: Option<&Place>) -> Error {
    match place {
        Some(place) => thrown(ctx, "Error", text, &at(place)),
        None => Exception::throw_message(ctx, text),
    }
}

fn thrown(ctx: &Ctx<'_>, class: &str, text: &str, stack: &str) -> Error {
    let made = || -> Result<Object<'_>> {
        let exception = Exception::from_message(ctx.clone(), text)?;
        let object = exception.into_object();
        object.set("name", class)?;
        object.set("stack", stack)?;
        Ok(object)
    };
    match made() {
        Ok(object) => ctx.throw(object.into_value()),
        Err(error) => error,
    }
}

/// A place as a line of a stack.
pub(crate) fn at(place: &Place) -> String {
    format!("at {}:{}:{}", place.file, place.line, place.column)
}

/// A line of a source with a mark below its column, as two lines of a stack.
pub(crate) fn excerpt(place: &Place, line: &str) -> String {
    const WIDTH_MAX: usize = 160;
    let number = place.line.to_string();
    let column = place.column.saturating_sub(1) as usize;
    if line.chars().count() > WIDTH_MAX {
        // A bundle's line says nothing to anybody.
        return String::new();
    }
    let margin: String =
        line.chars().take(column).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    format!("{number} | {line}\n{} | {margin}^", " ".repeat(number.len()))
}

/// What k6 says of a function that is called too late.
pub(crate) fn only_in_init(function: &str) -> String {
    format!(
        "the \"{function}\" function is only available in the init stage (i.e. the global scope), see https://grafana.com/docs/k6/latest/using-k6/test-lifecycle/ for more information"
    )
}

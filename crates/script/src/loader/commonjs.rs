//! CommonJS: `require`, and the modules that ES modules import of it.

use std::collections::HashSet;

use rquickjs::function::This;
use rquickjs::module::{Declarations, Exports, ModuleDef};
use rquickjs::object::Property;
use rquickjs::{Ctx, Exception, Function, Module, Object, Result, Value};
use users::Stage;

use super::module_error::{only_in_init, thrown_at};
use super::module_name::{FACADE, exact};
use super::resolve;
use super::running::Evaluation;
use super::source::Kind;
use super::store::Store;
use super::unit::unit;
use crate::runtime::current::vu_of;
use crate::runtime::values::string_of;

/// The global that holds the modules that ran, by their full names.
const TABLE: &str = "\u{1}modules";

/// What a module threw, among its fields: no script can name it.
const THROWN: &str = "\u{1}thrown";

/// What a CommonJS module exports. It is run the first time a VU asks for it; in the middle of a circle it is what there is
/// so far.
pub(crate) fn load<'js>(ctx: &Ctx<'js>, name: &str) -> Result<Value<'js>> {
    let table = table(ctx)?;
    if let Some(module) = table.get::<_, Option<Object<'js>>>(name)? {
        return match module.contains_key(THROWN)? {
            true => Err(ctx.throw(module.get(THROWN)?)),
            false => module.get("exports"),
        };
    }
    let factory = exported(ctx, name, "default")?;
    let factory: Function<'js> = factory.get()?;
    let module = Object::new(ctx.clone())?;
    let exports = Object::new(ctx.clone())?;
    module.set("exports", exports.clone())?;
    table.set(name, module.clone())?;
    let base = name.to_owned();
    let require = move |ctx: Ctx<'js>, wanted: Value<'js>| require(&ctx, &base, &wanted);
    let require = Function::new(ctx.clone(), require)?;
    let evaluation = Evaluation::begin(ctx)?;
    let ran = factory.call::<_, ()>((This(exports.clone()), module.clone(), exports, require));
    drop(evaluation);
    match ran {
        Ok(()) => module.get("exports"),
        Err(rquickjs::Error::Exception) => {
            // It is not run again: the next module that asks for it gets the same exception.
            let thrown = ctx.catch();
            module.set(THROWN, thrown.clone())?;
            Err(ctx.throw(thrown))
        }
        Err(error) => {
            table.remove(name)?;
            Err(error)
        }
    }
}

/// The modules of this VU that ran. The table hangs on its global object, so that each VU has its own.
fn table<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let globals = ctx.globals();
    if let Some(table) = globals.get::<_, Option<Object<'js>>>(TABLE)? {
        return Ok(table);
    }
    let table = Object::new(ctx.clone())?;
    globals.prop(TABLE, Property::from(table.clone()))?;
    Ok(table)
}

/// What a module exports under a name, all of it under `*`. It is run if it was not, at once: jobs that wait are not run in the
/// middle of a module.
pub(super) fn exported<'js>(ctx: &Ctx<'js>, name: &str, export: &str) -> Result<Value<'js>> {
    let _evaluation = Evaluation::begin(ctx)?;
    let from = serde_json::to_string(&exact(name)).unwrap_or_default();
    let text = match export {
        "*" => format!("import * as it from {from}; export {{ it }};"),
        export => format!("import {{ {export} as it }} from {from}; export {{ it }};"),
    };
    let (module, promise) = Module::declare(ctx.clone(), "brunt:require", text)?.eval()?;
    match promise.result::<Value<'js>>() {
        Some(done) => done?,
        None => {
            let text = format!(
                "{name} has a top-level await, so that it can be imported but not required"
            );
            return Err(Exception::throw_message(ctx, &text));
        }
    };
    module.get("it")
}

/// `require(name)` in the module `base`.
///
/// # Errors
/// There is no such module, it throws, or the script has begun already.
pub(crate) fn require<'js>(ctx: &Ctx<'js>, base: &str, name: &Value<'js>) -> Result<Value<'js>> {
    let vu = vu_of(ctx)?;
    if vu.stage.get() != Stage::Init {
        return Err(Exception::throw_message(ctx, &only_in_init("require")));
    }
    if !name.is_string() {
        return Err(Exception::throw_type(ctx, "require() wants the name of a module"));
    }
    let name = string_of(name)?;
    let store = vu.store(ctx)?;
    let missing = |text: &str| thrown_at(ctx, text, None);
    let full = resolve::resolve(store.builtins, base, &name).map_err(|text| missing(&text))?;
    if store.is_text(&full) {
        if unit(ctx, store, &full, &name, None)?.source.kind == Kind::CommonJs {
            return load(ctx, &full);
        }
        refuse_circle(ctx, store, &full)?;
    }
    let table = table(ctx)?;
    let key = format!("*{full}");
    if let Some(known) = table.get::<_, Option<Object<'js>>>(key.as_str())? {
        return Ok(known.into_value());
    }
    // A module of k6 is the object that `import` gives as its default, whose functions a script may replace.
    let export = if store.builtins.has(&full) { "default" } else { "*" };
    let namespace = exported(ctx, &full, export)?;
    table.set(key, namespace.clone())?;
    Ok(namespace)
}

/// Frames that are looked at for modules that are being run.
const FRAMES_MAX: isize = 512;

/// Refuses an ES module that imports, itself or by others, what is being run right now: QuickJS has no answer to that.
fn refuse_circle(ctx: &Ctx<'_>, store: &Store, name: &str) -> Result<()> {
    // Those that wait for the names of what they import have no frame yet.
    let mut running: HashSet<String> = vu_of(ctx)?.importers.borrow().iter().cloned().collect();
    for level in 0..FRAMES_MAX {
        let Some(frame) = ctx.script_or_module_name(level) else { continue };
        let frame = frame.to_string()?;
        let module = frame.strip_prefix(FACADE).and_then(|rest| Some(rest.split_once(':')?.1));
        running.insert(module.unwrap_or(&frame).to_owned());
    }
    let deep = ctx.script_or_module_name(FRAMES_MAX).is_some();
    let mut seen = HashSet::new();
    let mut todo = vec![name.to_owned()];
    while let Some(next) = todo.pop() {
        if deep || running.contains(&next) {
            let text = format!(
                "{name} cannot be required here: it imports what is being loaded right now"
            );
            return Err(Exception::throw_message(ctx, &text));
        }
        if !store.is_text(&next) || !seen.insert(next.clone()) {
            continue;
        }
        let unit = unit(ctx, store, &next, &next, None)?;
        let imports = unit.source.imports.iter();
        todo.extend(
            imports.filter_map(|import| {
                resolve::resolve(store.builtins, &next, &import.specifier).ok()
            }),
        );
    }
    Ok(())
}

/// What facades of CommonJS modules import.
pub(super) struct CommonJsLoader;

impl ModuleDef for CommonJsLoader {
    fn declare(declared: &Declarations<'_>) -> Result<()> {
        declared.declare("load")?;
        Ok(())
    }

    fn evaluate<'js>(ctx: &Ctx<'js>, exports: &Exports<'js>) -> Result<()> {
        let by_name = |ctx: Ctx<'js>, name: String| load(&ctx, &name);
        exports.export("load", Function::new(ctx.clone(), by_name)?)?;
        Ok(())
    }
}

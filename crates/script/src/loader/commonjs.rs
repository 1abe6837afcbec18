//! CommonJS: `require`, and the modules that ES modules import of it.

use std::collections::HashSet;

use rquickjs::function::This;
use rquickjs::object::Property;
use rquickjs::{Ctx, Exception, Function, Module, Object, Result, Value};

use crate::api::{seat_of, string_of};
use crate::loader::module_loader::{self, thrown_at};
use crate::loader::resolve;
use crate::loader::source::Kind;
use crate::loader::store::Store;
use crate::runtime::context::Stage;

/// How the name of a facade begins: an ES module that exports what a CommonJS one does. The names wanted of it follow, a
/// comma between them, then a colon and the module's full name.
const FACADE: &str = "commonjs:";
/// The module that facades import `load` from.
pub(crate) const LOADER: &str = "brunt:commonjs";
/// The global that holds the modules that ran, by their full names.
const TABLE: &str = "\u{1}modules";

/// The facade of a module, with these exports besides `default`.
pub(crate) fn facade(names: &[String], module: &str) -> String {
    format!("{FACADE}{}:{module}", names.join(","))
}

/// The text of the facade of this name, if it is one.
pub(crate) fn facade_text(name: &str) -> Option<String> {
    let (names, module) = name.strip_prefix(FACADE)?.split_once(':')?;
    let module = serde_json::to_string(module).ok()?;
    let mut text = format!(
        "import {{ load }} from '{LOADER}';\nconst all = load({module});\nconst has = all !== null && (typeof all === 'object' || typeof all === 'function');\nexport default has && 'default' in all ? all.default : all;\n"
    );
    for (at, name) in names.split(',').filter(|name| is_identifier(name)).enumerate() {
        text.push_str(&format!(
            "const _{at} = has ? all.{name} : undefined; export {{ _{at} as {name} }};\n"
        ));
    }
    Some(text)
}

fn is_identifier(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$')
}

/// What a CommonJS module exports. It is run the first time a VU asks for it; in the middle of a circle it is what there is
/// so far.
pub(crate) fn load<'js>(ctx: &Ctx<'js>, name: &str) -> Result<Value<'js>> {
    let table = table(ctx)?;
    if let Some(module) = table.get::<_, Option<Object<'js>>>(name)? {
        return module.get("exports");
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
    match factory.call::<_, ()>((This(exports.clone()), module.clone(), exports, require)) {
        Ok(()) => module.get("exports"),
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
fn exported<'js>(ctx: &Ctx<'js>, name: &str, export: &str) -> Result<Value<'js>> {
    let from = serde_json::to_string(&module_loader::exact(name)).unwrap_or_default();
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
    let seat = seat_of(ctx)?;
    if seat.stage.get() != Stage::Init {
        return Err(Exception::throw_message(ctx, &module_loader::only_in_init("require")));
    }
    if !name.is_string() {
        return Err(Exception::throw_type(ctx, "require() wants the name of a module"));
    }
    let name = string_of(name)?;
    let missing = |text: &str| thrown_at(ctx, text, None);
    let full = resolve::resolve(base, &name).map_err(|text| missing(&text))?;
    if resolve::is_text(&full) {
        if module_loader::unit(ctx, seat.store(ctx)?, &full, &name, None)?.source.kind
            == Kind::CommonJs
        {
            return load(ctx, &full);
        }
        refuse_circle(ctx, seat.store(ctx)?, &full)?;
    }
    let table = table(ctx)?;
    let key = format!("*{full}");
    if let Some(known) = table.get::<_, Option<Object<'js>>>(key.as_str())? {
        return Ok(known.into_value());
    }
    let namespace = exported(ctx, &full, "*")?;
    table.set(key, namespace.clone())?;
    Ok(namespace)
}

/// Frames that are looked at for modules that are being run.
const FRAMES_MAX: isize = 512;

/// Refuses an ES module that imports, itself or by others, what is being run right now: QuickJS has no answer to that.
fn refuse_circle(ctx: &Ctx<'_>, store: &Store, name: &str) -> Result<()> {
    let mut running = HashSet::new();
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
        if !resolve::is_text(&next) || !seen.insert(next.clone()) {
            continue;
        }
        let unit = module_loader::unit(ctx, store, &next, &next, None)?;
        let imports = unit.source.imports.iter();
        todo.extend(imports.filter_map(|import| resolve::resolve(&next, &import.specifier).ok()));
    }
    Ok(())
}

//! CommonJS: `require`, and the modules that ES modules import of it.

use rquickjs::function::This;
use rquickjs::object::Property;
use rquickjs::{Ctx, Exception, Function, Module, Object, Result, Value};

use crate::loading::{self, thrown_at};
use crate::modules::{seat_of, string_of};
use crate::resolve;
use crate::seat::Stage;
use crate::source::Kind;

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
        text.push_str(&format!("const _{at} = has ? all.{name} : undefined; export {{ _{at} as {name} }};\n"));
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
    let factory: Function<'js> = import(ctx, name)?.get("default")?;
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

/// The namespace of a module, run if it was not.
fn import<'js>(ctx: &Ctx<'js>, name: &str) -> Result<Object<'js>> {
    Module::import(ctx, name)?.finish::<Object<'js>>()
}

/// `require(name)` in the module `base`.
///
/// # Errors
/// There is no such module, it throws, or the script has begun already.
pub(crate) fn require<'js>(ctx: &Ctx<'js>, base: &str, name: &Value<'js>) -> Result<Value<'js>> {
    let seat = seat_of(ctx)?;
    if seat.stage.get() != Stage::Init {
        return Err(Exception::throw_message(ctx, &loading::only_in_init("require")));
    }
    if !name.is_string() {
        return Err(Exception::throw_type(ctx, "require() wants the name of a module"));
    }
    let name = string_of(name)?;
    let missing = |text: &str| thrown_at(ctx, text, None);
    let full = resolve::resolve(base, &name).map_err(|text| missing(&text))?;
    if resolve::is_text(&full) && loading::unit(ctx, &full, &name, None)?.source.kind == Kind::CommonJs {
        return load(ctx, &full);
    }
    Ok(import(ctx, &full)?.into_value())
}

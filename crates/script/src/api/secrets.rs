//! Module `k6/secrets`: values of the test's secret sources (`--secret-source`), which no log shows.

use rquickjs::function::Opt;
use rquickjs::module::{Declarations, Exports, ModuleDef};
use rquickjs::{Ctx, Exception, Function, Object, Result};

use super::js_builtins::{declare_all, export_all, js_builtin};
use crate::runtime::current::vu_of;

/// The module.
pub(super) struct SecretsModule;

const NAMES: [&str; 2] = ["get", "source"];

impl ModuleDef for SecretsModule {
    fn declare(declared: &Declarations<'_>) -> Result<()> {
        declare_all(declared, &NAMES)
    }

    fn evaluate<'js>(ctx: &Ctx<'js>, exports: &Exports<'js>) -> Result<()> {
        let native = Object::new(ctx.clone())?;
        native.set("read", Function::new(ctx.clone(), read)?)?;
        let text = "(function ({ read }) {
            const source = (name) => { read(String(name), null); return { get: async (key) => read(String(name), String(key)) }; };
            return { get: async (key) => read(null, String(key)), source };
        })";
        let all: Object<'js> = js_builtin(ctx, "secrets", text, native)?;
        export_all(exports, &all, &NAMES)
    }
}

/// A secret; with no key only whether there is such a source.
fn read(ctx: Ctx<'_>, source: Opt<Option<String>>, key: Opt<Option<String>>) -> Result<String> {
    let throw = |text: &str| Exception::throw_message(&ctx, text);
    let vu = vu_of(&ctx)?;
    let Some(secrets) = vu.store(&ctx)?.secrets.clone() else {
        return Err(throw("no secret sources are configured"));
    };
    let source = source.0.flatten();
    match key.0.flatten() {
        Some(key) => secrets.get(source.as_deref(), &key).map_err(|text| throw(&text)),
        None => match source.as_deref().filter(|name| !secrets.has_source(name)) {
            Some(name) => {
                Err(throw(&format!("no secret source with name \"{name}\" is configured")))
            }
            None => Ok(String::new()),
        },
    }
}

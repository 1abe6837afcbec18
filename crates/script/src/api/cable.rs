//! Module `k6/x/cable`: Action Cable, as the k6 extension xk6-cable has it. What scripts call is in `js/cable.js`.

use rquickjs::module::{Declarations, Exports, ModuleDef};
use rquickjs::{Ctx, Object, Result};

use super::js_builtins::{declare_all, export_all, js_builtin};
use super::socket;

/// The module.
pub(super) struct Cable;

const NAMES: [&str; 1] = ["connect"];

impl ModuleDef for Cable {
    fn declare(declared: &Declarations<'_>) -> Result<()> {
        declare_all(declared, &NAMES)
    }

    fn evaluate<'js>(ctx: &Ctx<'js>, exports: &Exports<'js>) -> Result<()> {
        let text = include_str!("js/cable.js");
        let all: Object<'js> = js_builtin(ctx, "cable", text, socket::native(ctx)?)?;
        export_all(exports, &all, &NAMES)
    }
}

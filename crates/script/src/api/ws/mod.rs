//! Modules `k6/ws`, `k6/websockets` and `k6/experimental/websockets`: WebSockets that block, and WebSockets that have events.

mod blocking_socket;
mod connect;
mod handlers;

use rquickjs::module::{Declarations, Exports, ModuleDef};
use rquickjs::{Ctx, Function, Object, Result};
use users::Level;

use super::js_builtins::{declare_all, export_all, js_builtin};
use super::socket;
use crate::runtime::current::vu_of;

/// `k6/ws`.
pub(super) struct Ws;
/// `k6/websockets`.
pub(super) struct WebSockets;
/// `k6/experimental/websockets`.
pub(super) struct OldWebSockets;

const WS: [&str; 1] = ["connect"];
const WEBSOCKETS: [&str; 2] = ["WebSocket", "Blob"];

impl ModuleDef for Ws {
    fn declare(declared: &Declarations<'_>) -> Result<()> {
        declare_all(declared, &WS)
    }

    fn evaluate<'js>(ctx: &Ctx<'js>, exports: &Exports<'js>) -> Result<()> {
        let all = Object::new(ctx.clone())?;
        all.set("connect", Function::new(ctx.clone(), connect::connect)?)?;
        export_all(exports, &all, &WS)
    }
}

impl ModuleDef for WebSockets {
    fn declare(declared: &Declarations<'_>) -> Result<()> {
        declare_all(declared, &WEBSOCKETS)
    }

    fn evaluate<'js>(ctx: &Ctx<'js>, exports: &Exports<'js>) -> Result<()> {
        let text = include_str!("../js/websockets.js");
        let all: Object<'js> = js_builtin(ctx, "websockets", text, socket::native(ctx)?)?;
        export_all(exports, &all, &WEBSOCKETS)
    }
}

impl ModuleDef for OldWebSockets {
    fn declare(declared: &Declarations<'_>) -> Result<()> {
        WebSockets::declare(declared)
    }

    fn evaluate<'js>(ctx: &Ctx<'js>, exports: &Exports<'js>) -> Result<()> {
        // Once a test: while the script is run for the first time, which alone reads files.
        if let Ok(vu) = vu_of(ctx)
            && vu.files.borrow().is_some()
        {
            let text = "k6/experimental/websockets is deprecated and will be removed in a future release. Please use k6/websockets instead.";
            vu.host.log_event(Level::Warn, text, &[]);
        }
        WebSockets::evaluate(ctx, exports)
    }
}

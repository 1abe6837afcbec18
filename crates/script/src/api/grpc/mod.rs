//! Module `k6/net/grpc`: calls and streams of gRPC. What scripts may pass is checked in `js/grpc.js`; definitions, connections and calls are here.

mod call;
mod client;
mod connect;
mod load;
mod pem_key;
mod room;
mod stream;

use rquickjs::module::{Declarations, Exports, ModuleDef};
use rquickjs::{Ctx, Exception, Function, Object, Result, Value};
use stdx::Nanos;
use users::Stage;

use super::bytes::of_buffer;
use super::js_builtins::{declare_all, export_all, js_builtin};
use crate::runtime::current::vu_of;

/// The module.
pub(super) struct Grpc;

const NAMES: [&str; 23] = [
    "Client",
    "Stream",
    "StatusOK",
    "StatusCanceled",
    "StatusUnknown",
    "StatusInvalidArgument",
    "StatusDeadlineExceeded",
    "StatusNotFound",
    "StatusAlreadyExists",
    "StatusPermissionDenied",
    "StatusResourceExhausted",
    "StatusFailedPrecondition",
    "StatusAborted",
    "StatusOutOfRange",
    "StatusUnimplemented",
    "StatusInternal",
    "StatusUnavailable",
    "StatusDataLoss",
    "StatusUnauthenticated",
    "HealthCheckUnknown",
    "HealthCheckServing",
    "HealthCheckNotServing",
    "HealthCheckServiceUnkown",
];

impl ModuleDef for Grpc {
    fn declare(declared: &Declarations<'_>) -> Result<()> {
        declare_all(declared, &NAMES)
    }

    fn evaluate<'js>(ctx: &Ctx<'js>, exports: &Exports<'js>) -> Result<()> {
        let native = Object::new(ctx.clone())?;
        let add = |name: &str, function: Result<Function<'js>>| native.set(name, function?);
        add("client", Function::new(ctx.clone(), client::client))?;
        add("requireInit", Function::new(ctx.clone(), require_init))?;
        add("requireStarted", Function::new(ctx.clone(), require_started))?;
        add("requireConnected", Function::new(ctx.clone(), client::require_connected))?;
        add("requireMethod", Function::new(ctx.clone(), client::require_method))?;
        add("milliseconds", Function::new(ctx.clone(), milliseconds))?;
        add("binary", Function::new(ctx.clone(), binary))?;
        add("load", Function::new(ctx.clone(), load::load))?;
        add("loadProtoset", Function::new(ctx.clone(), load::load_protoset))?;
        add("connect", Function::new(ctx.clone(), connect::connect))?;
        add("close", Function::new(ctx.clone(), connect::close))?;
        add("invoke", Function::new(ctx.clone(), call::invoke))?;
        add("start", Function::new(ctx.clone(), call::start))?;
        add("health", Function::new(ctx.clone(), call::health))?;
        add("stream", Function::new(ctx.clone(), stream::open))?;
        add("write", Function::new(ctx.clone(), stream::write))?;
        add("endStream", Function::new(ctx.clone(), stream::end))?;
        add("cancelStream", Function::new(ctx.clone(), stream::cancel))?;
        add("thrown", Function::new(ctx.clone(), stream::thrown))?;
        add("unixSeconds", Function::new(ctx.clone(), stream::unix_seconds))?;
        add("warn", Function::new(ctx.clone(), stream::warn))?;
        let all: Object<'js> = js_builtin(ctx, "grpc", include_str!("../js/grpc.js"), native)?;
        export_all(exports, &all, &NAMES)
    }
}

fn require_init(ctx: Ctx<'_>) -> Result<()> {
    if vu_of(&ctx)?.stage.get() == Stage::Init {
        return Ok(());
    }
    Err(Exception::throw_message(&ctx, "load must be called in the init context"))
}

fn require_started(ctx: Ctx<'_>, what: String) -> Result<()> {
    vu_of(&ctx)?.require_started(&ctx, &what)
}

/// A duration with its unit, in milliseconds; nothing where it is none.
fn milliseconds(text: String) -> Option<f64> {
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    let time = Nanos::parse(text.trim_start_matches('-')).ok()?;
    Some(sign * time.0 as f64 / 1e6)
}

/// A binary value as it goes over the wire.
fn binary(value: Value<'_>) -> Result<String> {
    Ok(::grpc::encode_binary(&of_buffer(&value)?.unwrap_or_default()))
}

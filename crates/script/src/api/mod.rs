//! The modules that scripts import by name: one file each, and the one table of them.
#![allow(
    clippy::needless_pass_by_value,
    reason = "what JavaScript calls takes its arguments by value"
)]

mod bytes;
mod cable;
mod crypto;
mod csv;
mod data;
mod encoding;
mod execution;
mod fs;
pub(crate) mod globals;
mod glue;
mod hash;
pub(crate) mod html;
mod http;
pub(crate) mod inspect;
mod k6;
pub(crate) mod locale;
mod metrics;
mod random;
mod secrets;
mod socket;
mod streams;
pub(crate) mod timers;
pub(crate) mod web;
pub(crate) mod webcrypto;
mod ws;
mod x509;

pub(crate) use self::glue::glue;
pub(crate) use self::http::{fields_of, masked, prototype};

use std::rc::Rc;

use rquickjs::function::This;
use rquickjs::module::Declared;
use rquickjs::{Coerced, Ctx, Exception, Function, Module, Object, Result, Value};

use crate::loader::commonjs;
use crate::loader::program::Env;
use crate::runtime::context::Seat;
use crate::runtime::event_loop;
use crate::runtime::ffi::{CurrentRef, Lent};
use crate::runtime::realm::Current;

/// Declares a module under a name.
type Declare = for<'js> fn(Ctx<'js>, &str) -> Result<Module<'js, Declared>>;

/// Every built-in module.
const MODULES: &[(&str, Declare)] = &[
    ("k6", |ctx, name| Module::declare_def::<k6::K6, _>(ctx, name)),
    ("k6/execution", |ctx, name| Module::declare_def::<execution::Execution, _>(ctx, name)),
    ("k6/metrics", |ctx, name| Module::declare_def::<metrics::Metrics, _>(ctx, name)),
    ("k6/http", |ctx, name| Module::declare_def::<http::Http, _>(ctx, name)),
    ("k6/crypto", |ctx, name| Module::declare_def::<crypto::Crypto, _>(ctx, name)),
    ("k6/data", |ctx, name| Module::declare_def::<data::Data, _>(ctx, name)),
    ("k6/encoding", |ctx, name| Module::declare_def::<encoding::Encoding, _>(ctx, name)),
    ("k6/experimental/csv", |ctx, name| Module::declare_def::<csv::Csv, _>(ctx, name)),
    ("k6/experimental/fs", |ctx, name| Module::declare_def::<fs::Fs, _>(ctx, name)),
    ("k6/experimental/streams", |ctx, name| Module::declare_def::<streams::Streams, _>(ctx, name)),
    ("k6/html", |ctx, name| Module::declare_def::<html::Html, _>(ctx, name)),
    ("k6/crypto/x509", |ctx, name| Module::declare_def::<x509::X509, _>(ctx, name)),
    ("k6/secrets", |ctx, name| Module::declare_def::<secrets::SecretsModule, _>(ctx, name)),
    (commonjs::LOADER, |ctx, name| Module::declare_def::<glue::Loader, _>(ctx, name)),
    ("k6/x/cable", |ctx, name| Module::declare_def::<cable::Cable, _>(ctx, name)),
    ("k6/ws", |ctx, name| Module::declare_def::<ws::Ws, _>(ctx, name)),
    ("k6/websockets", |ctx, name| Module::declare_def::<ws::WebSockets, _>(ctx, name)),
    ("k6/experimental/websockets", |ctx, name| {
        Module::declare_def::<ws::OldWebSockets, _>(ctx, name)
    }),
    ("k6/timers", |ctx, name| Module::declare_def::<timers::TimersModule, _>(ctx, name)),
];

/// Modules that k6 has or once had, and what came of them.
const GONE: &[(&str, &str)] = &[
    ("k6/net/grpc", "is not there yet: brunt run speaks HTTP, WebSocket and Action Cable"),
    ("k6/browser", "is not there: brunt run drives no browser"),
    ("k6/experimental/browser", "has been graduated, please use k6/browser instead"),
    ("k6/experimental/grpc", "has been graduated, please use k6/net/grpc instead"),
    (
        "k6/experimental/timers",
        "has been graduated, and it's now globally available as defined by standard WebAPIs; remove the import",
    ),
    (
        "k6/experimental/tracing",
        "has been removed; all of its functionality is available as the JavaScript module https://jslib.k6.io/http-instrumentation-tempo",
    ),
    (
        "k6/experimental/webcrypto",
        "has been graduated and it's now globally available as defined by standard WebAPIs; remove the import",
    ),
    ("k6/experimental/redis", "has been removed, k6/x/redis took its place"),
];

/// Libraries that scripts import by address, and that we answer with our own.
const LIBRARIES: &[(&str, &str)] = &[
    ("https://jslib.k6.io/k6-utils/", include_str!("jslib/k6_utils.js")),
    ("https://jslib.k6.io/k6-rails/", include_str!("jslib/k6_rails.js")),
    ("https://jslib.k6.io/url/", include_str!("jslib/url.js")),
];

/// Whether there is a built-in module of this name.
pub(crate) fn is_one(name: &str) -> bool {
    MODULES.iter().any(|(known, _)| *known == name)
}

/// Why there is no built-in module of this name.
pub(crate) fn missing(name: &str) -> String {
    match GONE.iter().find(|(gone, _)| *gone == name) {
        Some((_, why)) => format!("{name} {why}"),
        None => format!("unknown module: {name}"),
    }
}

/// The text of the library at this address, if it is one of ours.
pub(crate) fn library(name: &str) -> Option<&'static str> {
    LIBRARIES.iter().find(|(address, _)| name.starts_with(address)).map(|(_, text)| *text)
}

/// The built-in module of this name, if there is one.
pub(crate) fn declare<'js>(ctx: &Ctx<'js>, name: &str) -> Option<Result<Module<'js, Declared>>> {
    if let Some(text) = library(name) {
        return Some(Module::declare(ctx.clone(), name, text));
    }
    let (_, declare) = MODULES.iter().find(|(known, _)| *known == name)?;
    Some(declare(ctx.clone(), name))
}

/// Gives a context the globals that all its VUs share, and tells its functions where to find the VU that runs.
pub(crate) fn install(ctx: &Ctx<'_>, current: &Rc<Current>, env: &Env) -> Result<()> {
    ctx.store_userdata(CurrentRef(Rc::clone(current)))?;
    globals::install(ctx)?;
    globals::install_env(ctx, env)
}

/// The VU that runs.
pub(crate) fn seat_of(ctx: &Ctx<'_>) -> Result<Rc<Seat>> {
    match ctx.userdata::<CurrentRef>().and_then(|current| current.0.seat()) {
        Some(seat) => Ok(seat),
        None => Err(Exception::throw_internal(ctx, "this context has no VU")),
    }
}

/// Runs what computes on the worker's own stack: a VU's has 64 KiB left for it at JavaScript's deepest, and compressing takes
/// three times that.
fn on_worker_stack<T>(ctx: &Ctx<'_>, body: impl FnOnce() -> T + Send) -> T {
    match ctx.userdata::<CurrentRef>().and_then(|current| current.0.seat()) {
        Some(seat) => seat.suspender.on_worker_stack(body),
        None => body(),
    }
}

/// The same of what takes long: it is handed what says whether the script is to end now, and then ends early; what it gives
/// is dropped.
///
/// # Errors
/// The script is to end: an exception that nothing catches is thrown.
fn interruptible<T>(ctx: &Ctx<'_>, body: impl FnOnce(&dyn Fn() -> bool) -> T + Send) -> Result<T> {
    let seat = seat_of(ctx)?;
    let lent = Lent::new(&*seat);
    let done = seat.suspender.on_worker_stack(move || body(&|| lent.get().interrupts()));
    if seat.stopped.get() { Err(event_loop::interrupted(ctx)) } else { Ok(done) }
}

/// Whether JavaScript takes a value for true.
fn truthy(value: &Value<'_>) -> Result<bool> {
    value.get::<Coerced<bool>>().map(|truth| truth.0)
}

/// A value as JavaScript's `String()` makes it.
pub(crate) fn string_of(value: &Value<'_>) -> Result<String> {
    let text = value.get::<Coerced<String>>();
    if text.as_ref().is_err_and(rquickjs::Error::is_exception) || !value.is_string() {
        return text.map(|text| text.0);
    }
    // Half a character, which no UTF-8 has, becomes the sign for it.
    text.map(|text| text.0).or_else(|_| {
        let string: Object<'_> = value.ctx().globals().get("String")?;
        let prototype: Object<'_> = string.get("prototype")?;
        prototype.get::<_, Function<'_>>("toWellFormed")?.call((This(value.clone()),))
    })
}

/// A number that was given, if one was.
fn number_of(value: &Value<'_>) -> Option<f64> {
    value.as_float().or_else(|| value.as_int().map(f64::from))
}

/// The fields of an object as strings, in its order; none of what is no object.
fn string_fields(value: &Value<'_>) -> Result<Vec<(String, String)>> {
    let Some(object) = value.as_object() else { return Ok(Vec::new()) };
    let fields = object.props::<String, Value<'_>>();
    fields.map(|field| field.and_then(|(name, value)| Ok((name, string_of(&value)?)))).collect()
}

/// The tags that a script gives a sample: strings, numbers and booleans; none of what is no object.
fn sample_tags<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<Vec<(String, String)>> {
    let Some(object) = value.as_object() else { return Ok(Vec::new()) };
    let mut tags = Vec::new();
    for field in object.props::<String, Value<'js>>() {
        let (name, value) = field?;
        if !(value.is_string() || value.is_number() || value.is_bool()) {
            let text = format!(
                "invalid value for metric tag '{name}': only String, Boolean and Number types are accepted as a metric tag values"
            );
            return Err(Exception::throw_message(ctx, &text));
        }
        tags.push((name, string_of(&value)?));
    }
    Ok(tags)
}

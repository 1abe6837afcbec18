//! Module `k6/http`: what it exports.

use rquickjs::function::{Constructor, Opt, Rest};
use rquickjs::module::{Declarations, Exports, ModuleDef};
use rquickjs::{Class, Ctx, Exception, Function, IntoJs, Object, Result, Value};
use users::Level;

use super::send::send;
use super::{body, constants, cookies, many, statuses, url};
use crate::runtime::current::vu_of;
use crate::runtime::ffi::Handle;
use crate::runtime::values::string_of;

/// The module.
pub(in crate::api) struct Http;

/// The functions that are a method, and the method's name.
const METHODS: [(&str, &str); 7] = [
    ("get", "GET"),
    ("head", "HEAD"),
    ("post", "POST"),
    ("put", "PUT"),
    ("patch", "PATCH"),
    ("del", "DELETE"),
    ("options", "OPTIONS"),
];

/// The other functions.
const OTHERS: [&str; 9] = [
    "request",
    "asyncRequest",
    "batch",
    "url",
    "file",
    "cookieJar",
    "CookieJar",
    "expectedStatuses",
    "setResponseCallback",
];

impl ModuleDef for Http {
    fn declare(declared: &Declarations<'_>) -> Result<()> {
        for name in METHODS.iter().map(|(name, _)| *name).chain(OTHERS) {
            declared.declare(name)?;
        }
        for (name, _) in constants::CONSTANTS {
            declared.declare(*name)?;
        }
        declared.declare("default").map(drop)
    }

    fn evaluate<'js>(ctx: &Ctx<'js>, exports: &Exports<'js>) -> Result<()> {
        let all = Object::new(ctx.clone())?;
        let export = |name: &'static str, value: Value<'js>| -> Result<()> {
            all.set(name, value.clone())?;
            exports.export(name, value).map(drop)
        };
        for (name, method) in METHODS {
            let call = move |ctx: Ctx<'js>,
                             url: Opt<Value<'js>>,
                             second: Opt<Value<'js>>,
                             third: Opt<Value<'js>>| {
                request_of(&ctx, method, url.0, [second.0.as_ref(), third.0.as_ref()])
            };
            export(name, Function::new(ctx.clone(), call)?.into_value())?;
        }
        let functions = [
            ("request", Function::new(ctx.clone(), request)?),
            ("asyncRequest", Function::new(ctx.clone(), many::async_request)?),
            ("batch", Function::new(ctx.clone(), many::batch)?),
            ("url", Function::new(ctx.clone(), url::tagged)?),
            ("file", Function::new(ctx.clone(), body::file)?),
            ("cookieJar", Function::new(ctx.clone(), cookies::of_vu)?),
            ("expectedStatuses", Function::new(ctx.clone(), statuses::expected)?),
            ("setResponseCallback", Function::new(ctx.clone(), statuses::set)?),
        ];
        for (name, function) in functions {
            export(name, function.into_value())?;
        }
        // What is constructed gets the constructor's prototype, whatever class it is of.
        let prototype = Class::<Handle<cookies::JarRef>>::prototype(ctx)?;
        let prototype = prototype.map_or_else(|| Object::new(ctx.clone()), Ok)?;
        let jar = Constructor::new_prototype(ctx, prototype, cookies::empty)?;
        export("CookieJar", jar.into_value())?;
        for (name, value) in constants::CONSTANTS {
            export(name, value.into_js(ctx)?)?;
        }
        exports.export("default", all)?;
        Ok(())
    }
}

/// `request(method, url, body?, params?)`.
fn request<'js>(ctx: Ctx<'js>, arguments: Rest<Value<'js>>) -> Result<Value<'js>> {
    let undefined = Value::new_undefined(ctx.clone());
    let Some((method, rest)) = arguments.0.split_first() else {
        return Err(Exception::throw_type(&ctx, "http.request() needs a method and a URL"));
    };
    let url = rest.first().unwrap_or(&undefined);
    send(&ctx, string_of(method)?.into(), url, rest.get(1), rest.get(2))
}

/// Warns where a body was given to a function that takes none: what was meant as parameters is the third argument then, and not read.
fn warn_of_body(ctx: &Ctx<'_>, method: &str) -> Result<()> {
    let name = method.to_lowercase();
    let text = format!(
        "http.{name} only accepts a URL and parameters, 2 arguments, but 3 were given: the third is not read"
    );
    vu_of(ctx)?.host.log_event(Level::Warn, &text, &[]);
    Ok(())
}

/// The arguments of a method's own function: GET and HEAD have no body.
fn request_of<'js>(
    ctx: &Ctx<'js>,
    method: &'static str,
    url: Option<Value<'js>>,
    [second, third]: [Option<&Value<'js>>; 2],
) -> Result<Value<'js>> {
    let url = url.unwrap_or_else(|| Value::new_undefined(ctx.clone()));
    match method {
        "GET" | "HEAD" => {
            if third.is_some() {
                warn_of_body(ctx, method)?;
            }
            send(ctx, method.into(), &url, None, second)
        }
        _ => send(ctx, method.into(), &url, second, third),
    }
}

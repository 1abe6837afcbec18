//! Module `k6/http`: requests.

mod body;
mod constants;
mod cookies;
mod malformed;
mod many;
mod page;
mod params;
mod response;
mod select;
mod statuses;
mod url;

pub(super) use self::cookies::JarRef;
pub(super) use self::malformed::malformed;
pub(super) use self::params::canonical;
pub(super) use self::response::text_of;
pub(crate) use self::response::{fields_of, prototype};
pub(crate) use self::url::masked;

use rquickjs::function::{Constructor, Rest};
use rquickjs::module::{Declarations, Exports, ModuleDef};
use rquickjs::{Class, Ctx, Exception, Function, IntoJs, Object, Result, Value};

use super::{seat_of, string_of};
use crate::host::action::{Action, Answer, HttpAnswer, HttpAsk, HttpFailure};
use crate::host::traits::Level;
use crate::runtime::ffi::Hold;

/// The module.
pub(super) struct Http;

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
            let call = move |ctx: Ctx<'js>, arguments: Rest<Value<'js>>| {
                request_of(&ctx, method, &arguments.0)
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
        let prototype = Class::<Hold<cookies::JarRef>>::prototype(ctx)?;
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
    send(&ctx, &string_of(method)?, url, rest.get(1), rest.get(2))
}

/// The arguments of a method's own function: GET and HEAD have no body.
fn request_of<'js>(ctx: &Ctx<'js>, method: &str, arguments: &[Value<'js>]) -> Result<Value<'js>> {
    let undefined = Value::new_undefined(ctx.clone());
    let url = arguments.first().unwrap_or(&undefined);
    match method {
        "GET" | "HEAD" => send(ctx, method, url, None, arguments.get(1)),
        _ => send(ctx, method, url, arguments.get(1), arguments.get(2)),
    }
}

/// Sends a request and waits for what comes of it.
fn send<'js>(
    ctx: &Ctx<'js>,
    method: &str,
    url: &Value<'js>,
    body: Option<&Value<'js>>,
    params: Option<&Value<'js>>,
) -> Result<Value<'js>> {
    match prepare(ctx, method, url, (body, params))? {
        Ok(ask) => {
            let answer = seat_of(ctx)?.ask(ctx, WHAT, Action::Http(ask))?;
            respond(ctx, http_of(ctx, answer)?)
        }
        Err(refusal) => refused(ctx, refusal),
    }
}

/// What is said of a request where it is not allowed.
const WHAT: &str = "Making http requests";

/// Why a request cannot even be asked for. To the script that is a failed request.
#[derive(Debug)]
pub(super) struct Refusal {
    /// k6's number; 0 for none.
    code: u16,
    text: String,
    throws: bool,
}

/// What keeps a request from being asked for.
enum Trouble {
    /// The script is told.
    Refused(u16, String),
    /// JavaScript has thrown.
    Thrown(rquickjs::Error),
}

impl From<rquickjs::Error> for Trouble {
    fn from(error: rquickjs::Error) -> Self {
        Self::Thrown(error)
    }
}

/// What the parts of a request are read with.
type Read<T> = std::result::Result<T, Trouble>;

fn refuse<T>(text: impl Into<String>) -> Read<T> {
    Err(Trouble::Refused(0, text.into()))
}

/// A request made ready to be asked for, or why it cannot be.
fn prepare<'js>(
    ctx: &Ctx<'js>,
    method: &str,
    url: &Value<'js>,
    (body, params): (Option<&Value<'js>>, Option<&Value<'js>>),
) -> Result<std::result::Result<Box<HttpAsk>, Refusal>> {
    let seat = seat_of(ctx)?;
    seat.begun(ctx, WHAT)?;
    let params = params.and_then(Value::as_object);
    let throws = match params {
        Some(params) => params::throws(params)?,
        None => None,
    };
    let throws = throws.unwrap_or_else(|| seat.host.http_rules().throws);
    let mut ask = Box::new(HttpAsk {
        method: method.to_owned(),
        throws,
        expected: seat.expected.borrow().clone(),
        jar: Some(seat.jar.borrow().clone()),
        ..HttpAsk::default()
    });
    seat.mark(&mut ask);
    let read = url::set(url, &mut ask)
        .and_then(|()| body.map_or(Ok(()), |body| body::set(ctx, body, &mut ask)))
        .and_then(|()| params.map_or(Ok(()), |params| params::set(ctx, params, &mut ask)));
    match read {
        Ok(()) => Ok(Ok(ask)),
        Err(Trouble::Refused(code, text)) => Ok(Err(Refusal { code, text, throws })),
        Err(Trouble::Thrown(error)) => Err(error),
    }
}

/// The answer to a request.
fn http_of(ctx: &Ctx<'_>, answer: Answer) -> Result<Box<HttpAnswer>> {
    match answer {
        Answer::Http(answer) => Ok(answer),
        Answer::Socket(_) => Err(Exception::throw_internal(ctx, "a request has one answer")),
    }
}

/// A response as the script sees it, or the exception that stands for it.
fn respond<'js>(ctx: &Ctx<'js>, answer: Box<HttpAnswer>) -> Result<Value<'js>> {
    if let Some(failure) = &answer.failure {
        if answer.asked.as_ref().is_some_and(|asked| asked.throws) {
            return Err(Exception::throw_message(ctx, &failure.whole));
        }
        warn(ctx, &failure.whole)?;
    }
    Class::instance(ctx.clone(), Hold(answer))?.into_js(ctx)
}

/// The response to a request that was never made.
fn refused<'js>(ctx: &Ctx<'js>, refusal: Refusal) -> Result<Value<'js>> {
    let Refusal { code, text, throws } = refusal;
    if throws {
        return Err(Exception::throw_message(ctx, &text));
    }
    warn(ctx, &text)?;
    let failure = Some(HttpFailure { code, whole: text.clone(), text });
    let answer = Box::new(HttpAnswer { failure, ..HttpAnswer::default() });
    Class::instance(ctx.clone(), Hold(answer))?.into_js(ctx)
}

fn warn(ctx: &Ctx<'_>, text: &str) -> Result<()> {
    seat_of(ctx)?.host.tell(Level::Warn, "Request Failed", &[("error", text)]);
    Ok(())
}

//! Module `k6/http`: requests.

mod body;
mod many;
mod params;
mod response;
mod url;

pub(crate) use self::response::{Request, prototype};

use rquickjs::function::Rest;
use rquickjs::module::{Declarations, Exports, ModuleDef};
use rquickjs::{Class, Ctx, Exception, Function, IntoJs, Object, Result, Value};

use super::{seat_of, string_of};
use crate::action::{Action, Answer, Expects, HttpAnswer, HttpAsk};
use crate::raw::Response;

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

impl ModuleDef for Http {
    fn declare(declared: &Declarations<'_>) -> Result<()> {
        for (name, _) in METHODS {
            declared.declare(name)?;
        }
        declared.declare("request")?.declare("url")?.declare("default")?;
        declared.declare("asyncRequest")?.declare("batch").map(drop)
    }

    fn evaluate<'js>(ctx: &Ctx<'js>, exports: &Exports<'js>) -> Result<()> {
        let all = Object::new(ctx.clone())?;
        let export = |name: &'static str, function: Function<'js>| -> Result<()> {
            all.set(name, function.clone())?;
            exports.export(name, function).map(drop)
        };
        for (name, method) in METHODS {
            let call = move |ctx: Ctx<'js>, arguments: Rest<Value<'js>>| {
                request_of(&ctx, method, &arguments.0)
            };
            export(name, Function::new(ctx.clone(), call)?)?;
        }
        export("request", Function::new(ctx.clone(), request)?)?;
        export("asyncRequest", Function::new(ctx.clone(), many::async_request)?)?;
        export("batch", Function::new(ctx.clone(), many::batch)?)?;
        export("url", Function::new(ctx.clone(), url::tagged)?)?;
        exports.export("default", all)?;
        Ok(())
    }
}

/// `request(method, url, body?, params?)`.
fn request<'js>(ctx: Ctx<'js>, arguments: Rest<Value<'js>>) -> Result<Value<'js>> {
    let Some((method, rest)) = arguments.0.split_first() else {
        return Err(Exception::throw_type(&ctx, "http.request() needs a method and a URL"));
    };
    let method = string_of(method)?;
    let [url, others @ ..] = rest else { return request_of(&ctx, &method, rest) };
    send(&ctx, &method, url, others.first(), others.get(1))
}

/// The arguments of a method's own function: GET and HEAD have no body.
fn request_of<'js>(ctx: &Ctx<'js>, method: &str, arguments: &[Value<'js>]) -> Result<Value<'js>> {
    match (arguments, method) {
        ([], _) => Err(Exception::throw_type(ctx, "a request needs a URL")),
        ([url, others @ ..], "GET" | "HEAD") => send(ctx, method, url, None, others.first()),
        ([url, others @ ..], _) => send(ctx, method, url, others.first(), others.get(1)),
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
    let prepared = prepare(ctx, method, url, (body, params))?;
    let action = Action::Http(Box::new(prepared.ask));
    let Answer::Http(answer) = seat_of(ctx)?.ask(ctx, WHAT, action)?;
    respond(ctx, answer, prepared.asked, prepared.expects)
}

/// What is said of a request where it is not allowed.
const WHAT: &str = "Making http requests";

/// A request that is ready to be asked for.
struct Prepared {
    ask: HttpAsk,
    asked: Request,
    expects: Expects,
}

fn prepare<'js>(
    ctx: &Ctx<'js>,
    method: &str,
    url: &Value<'js>,
    (body, params): (Option<&Value<'js>>, Option<&Value<'js>>),
) -> Result<Prepared> {
    let mut ask = HttpAsk { method: method.to_owned(), ..HttpAsk::default() };
    match url.as_object() {
        Some(tagged) if tagged.contains_key("url")? => {
            ask.url = tagged.get("url")?;
            ask.name = tagged.get("name")?;
        }
        _ => ask.url = string_of(url)?,
    }
    if let Some(body) = body.filter(|body| !body.is_null() && !body.is_undefined()) {
        body::set(ctx, body, &mut ask)?;
    }
    if let Some(params) = params.and_then(Value::as_object) {
        params::set(ctx, params, &mut ask)?;
    }
    seat_of(ctx)?.mark(&mut ask);
    let expects = ask.expects;
    let asked =
        Request { method: ask.method.clone(), url: ask.url.clone(), headers: ask.headers.clone() };
    Ok(Prepared { ask, asked, expects })
}

/// A response as the script sees it.
fn respond<'js>(
    ctx: &Ctx<'js>,
    answer: Box<HttpAnswer>,
    asked: Request,
    expects: Expects,
) -> Result<Value<'js>> {
    Class::instance(ctx.clone(), Response { answer, asked, expects })?.into_js(ctx)
}

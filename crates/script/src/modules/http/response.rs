//! Responses: their fields are made when they are first touched.

use rquickjs::function::This;
use rquickjs::object::Accessor;
use rquickjs::{ArrayBuffer, Class, Ctx, Exception, Function, IntoJs, Object, Result, Value};
use stdx::Nanos;

use crate::action::{Expects, HttpAnswer};
use crate::modules::k6::milliseconds;
use crate::raw::Response;

/// What was asked for, as a response tells it.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(super) method: String,
    pub(super) url: String,
    pub(super) headers: Vec<(String, String)>,
}

/// The fields of a response, and how each is made when it is first touched.
const FIELDS: [(&str, Make); 12] = [
    ("remote_ip", |ctx, of| of.answer.remote_ip.as_str().into_js(ctx)),
    ("remote_port", |ctx, of| of.answer.remote_port.into_js(ctx)),
    ("url", |ctx, of| of.answer.url.as_str().into_js(ctx)),
    ("status", |ctx, of| of.answer.status.into_js(ctx)),
    ("status_text", |ctx, of| of.answer.status_text.as_str().into_js(ctx)),
    ("proto", |ctx, of| of.answer.proto.as_str().into_js(ctx)),
    ("headers", |ctx, of| headers(ctx, &of.answer.headers)?.into_js(ctx)),
    ("body", body),
    ("timings", |ctx, of| timings(ctx, &of.answer)?.into_js(ctx)),
    ("error", |ctx, of| {
        of.answer.failure.as_ref().map_or("", |failure| &failure.text).into_js(ctx)
    }),
    ("error_code", |ctx, of| error_code(&of.answer).into_js(ctx)),
    ("request", |ctx, of| asked(ctx, &of.asked)?.into_js(ctx)),
];

/// Makes a field.
type Make = for<'js> fn(&Ctx<'js>, &Response) -> Result<Value<'js>>;

/// The prototype of responses: a field is made when it is first touched, and kept in the response from then on.
pub(crate) fn prototype<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let prototype = Object::new(ctx.clone())?;
    for (name, make) in FIELDS {
        let get = move |ctx: Ctx<'js>, this: This<Class<'js, Response>>| -> Result<Value<'js>> {
            let value = make(&ctx, &this.0.borrow())?;
            this.0.prop(
                name,
                rquickjs::object::Property::from(value.clone()).writable().enumerable(),
            )?;
            Ok(value)
        };
        let set = move |this: This<Class<'js, Response>>, value: Value<'js>| -> Result<()> {
            this.0.prop(name, rquickjs::object::Property::from(value).writable().enumerable())
        };
        prototype.prop(name, Accessor::new(get, set).enumerable())?;
    }
    prototype.set("json", Function::new(ctx.clone(), json)?)?;
    prototype.set("toJSON", Function::new(ctx.clone(), to_json)?)?;
    Ok(prototype)
}

/// All fields, for `JSON.stringify`.
fn to_json<'js>(ctx: Ctx<'js>, this: This<Class<'js, Response>>) -> Result<Object<'js>> {
    let all = Object::new(ctx)?;
    for (name, _) in FIELDS {
        all.set(name, this.0.get::<_, Value<'js>>(name)?)?;
    }
    Ok(all)
}

/// The body, parsed.
fn json<'js>(ctx: Ctx<'js>, this: This<Class<'js, Response>>) -> Result<Value<'js>> {
    match &this.0.borrow().answer.body {
        Some(body) => ctx.json_parse(body.as_slice()),
        None => {
            let text = "the body is null so we can't transform it to JSON - this likely was because of a request error getting the response";
            Err(Exception::throw_message(&ctx, text))
        }
    }
}

fn body<'js>(ctx: &Ctx<'js>, of: &Response) -> Result<Value<'js>> {
    let null = || Ok(Value::new_null(ctx.clone()));
    let bodyless = matches!(of.answer.status, 0..200 | 204 | 304);
    match (&of.answer.body, of.expects) {
        (None, _) | (_, Expects::Nothing) => null(),
        _ if bodyless => null(),
        (Some(body), Expects::Text | Expects::Unsaid) => {
            String::from_utf8_lossy(body).as_ref().into_js(ctx)
        }
        (Some(body), Expects::Binary) => ArrayBuffer::new_copy(ctx.clone(), body)?.into_js(ctx),
    }
}

/// The fields by their canonical names; values of one name stand together.
fn headers<'js>(ctx: &Ctx<'js>, fields: &[(String, String)]) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    for (name, value) in fields {
        let name = canonical(name);
        let value = match object.get::<_, Option<String>>(name.as_str())? {
            Some(before) => format!("{before}, {value}"),
            None => value.clone(),
        };
        object.set(name, value)?;
    }
    Ok(object)
}

/// A header's name as Go writes it: `content-type` is `Content-Type`.
fn canonical(name: &str) -> String {
    let mut upper = true;
    let letter = |letter: char| {
        let changed = if upper { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() };
        upper = letter == '-';
        changed
    };
    name.chars().map(letter).collect()
}

fn timings<'js>(ctx: &Ctx<'js>, answer: &HttpAnswer) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    let of = &answer.timings;
    for (name, time) in [
        ("duration", of.duration()),
        ("blocked", of.blocked),
        ("looking_up", Nanos::ZERO),
        ("connecting", of.connecting),
        ("tls_handshaking", of.tls_handshaking),
        ("sending", of.sending),
        ("waiting", of.waiting),
        ("receiving", of.receiving),
    ] {
        object.set(name, milliseconds(time))?;
    }
    Ok(object)
}

/// k6's number for what went wrong; 1000 and the status from 400 on.
fn error_code(answer: &HttpAnswer) -> u16 {
    match &answer.failure {
        Some(failure) => failure.code,
        None if answer.status >= 400 => 1000 + answer.status,
        None => 0,
    }
}

fn asked<'js>(ctx: &Ctx<'js>, request: &Request) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    object.set("method", request.method.as_str())?;
    object.set("url", request.url.as_str())?;
    let headers = Object::new(ctx.clone())?;
    for (name, value) in &request.headers {
        headers.set(canonical(name), vec![value.as_str()])?;
    }
    object.set("headers", headers)?;
    Ok(object)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_canonical() {
        for (name, expect) in
            [("content-type", "Content-Type"), ("X-REQUEST-ID", "X-Request-Id"), ("etag", "Etag")]
        {
            assert_eq!(canonical(name), expect);
        }
    }
}

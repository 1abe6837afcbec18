//! Responses: their fields are made when they are touched.

use rquickjs::function::{Opt, This};
use rquickjs::object::{Accessor, Property};
use rquickjs::{
    Array, ArrayBuffer, Class, Ctx, Exception, Function, IntoJs, Object, Result, Value,
};
use stdx::Nanos;
use users::{Expects, HttpRequest, HttpResponse, SetCookie, response_head};

use super::super::k6::milliseconds;
use super::params::canonical;
use super::select;
use crate::runtime::current::on_worker_stack;
use crate::runtime::ffi::Handle;
use crate::runtime::values::string_of;

/// A response, as a script holds it.
pub(super) type Response = Handle<Box<HttpResponse>>;

/// The fields of a response, in k6's order, and how each is made when it is touched.
const FIELDS: [(&str, Make); 16] = [
    ("remote_ip", |ctx, of| {
        of.0.remote.map_or_else(String::new, |remote| remote.ip().to_string()).into_js(ctx)
    }),
    ("remote_port", |ctx, of| of.0.remote.map_or(0, |remote| remote.port()).into_js(ctx)),
    ("url", |ctx, of| url(&of.0).into_js(ctx)),
    ("status", |ctx, of| of.0.status.into_js(ctx)),
    ("status_text", |ctx, of| response_head::status_text(head_of(&of.0)).into_js(ctx)),
    ("proto", |ctx, of| response_head::proto(head_of(&of.0)).into_js(ctx)),
    ("headers", |ctx, of| headers(ctx, head_of(&of.0))?.into_js(ctx)),
    ("cookies", |ctx, of| cookies(ctx, head_of(&of.0))?.into_js(ctx)),
    ("body", |ctx, of| body(ctx, &of.0)),
    ("timings", |ctx, of| timings(ctx, &of.0)?.into_js(ctx)),
    ("tls_version", |ctx, of| of.0.secured.map_or("", |(version, _)| version).into_js(ctx)),
    ("tls_cipher_suite", |ctx, of| of.0.secured.map_or("", |(_, suite)| suite).into_js(ctx)),
    ("ocsp", |ctx, of| ocsp(ctx, &of.0)?.into_js(ctx)),
    ("error", |ctx, of| of.0.failure.as_ref().map_or("", |failure| &failure.text).into_js(ctx)),
    ("error_code", |ctx, of| error_code(&of.0).into_js(ctx)),
    ("request", |ctx, of| match &of.0.asked {
        Some(asked) => request(ctx, asked)?.into_js(ctx),
        None => Ok(Value::new_null(ctx.clone())),
    }),
];

/// Makes a field.
type Make = for<'js> fn(&Ctx<'js>, &Response) -> Result<Value<'js>>;

/// Adds the fields to the prototype of responses: one is made when it is touched, and kept in the response
/// from then on but for numbers.
pub(super) fn add<'js>(ctx: &Ctx<'js>, prototype: &Object<'js>) -> Result<()> {
    for (name, make) in FIELDS {
        let get = move |ctx: Ctx<'js>, this: This<Class<'js, Response>>| -> Result<Value<'js>> {
            let value = make(&ctx, &this.0.borrow())?;
            // To keep `status` took 800 instructions of an iteration with one check (`cargo xtask counts`, script-iteration).
            if value.is_number() {
                return Ok(value);
            }
            this.0.prop(name, Property::from(value.clone()).writable().enumerable())?;
            Ok(value)
        };
        let set = move |this: This<Class<'js, Response>>, value: Value<'js>| -> Result<()> {
            this.0.prop(name, Property::from(value).writable().enumerable())
        };
        prototype.prop(name, Accessor::new(get, set).enumerable())?;
    }
    prototype.set("json", Function::new(ctx.clone(), json)?)?;
    prototype.set("toJSON", Function::new(ctx.clone(), to_json)?)
}

/// All fields of a response, as the console shows them; `None` of anything else.
pub(crate) fn fields_of<'js>(object: &Object<'js>) -> Option<Object<'js>> {
    let response = Class::<Response>::from_object(object)?;
    to_json(object.ctx().clone(), This(response)).ok()
}

/// All fields, for `JSON.stringify`.
fn to_json<'js>(ctx: Ctx<'js>, this: This<Class<'js, Response>>) -> Result<Object<'js>> {
    let all = Object::new(ctx)?;
    for (name, _) in FIELDS {
        all.set(name, this.0.get::<_, Value<'js>>(name)?)?;
    }
    Ok(all)
}

/// `json(selector?)`: the body parsed, or what of it the selector names; undefined where it names nothing.
fn json<'js>(
    ctx: Ctx<'js>,
    this: This<Class<'js, Response>>,
    selector: Opt<Value<'js>>,
) -> Result<Value<'js>> {
    let response = this.0.borrow();
    let Some(body) = shown_body(&response.0) else {
        let text = "the body is null so we can't transform it to JSON - this likely was because of a request error getting the response";
        return Err(Exception::throw_message(&ctx, text));
    };
    let Some(selector) = selector.0 else {
        let parsed = ctx.json_parse(body);
        return parsed.map_err(|error| not_json(&ctx, error, body));
    };
    let (text, path) = (String::from_utf8_lossy(body), string_of(&selector)?);
    match on_worker_stack(&ctx, || select::select(&text, &path)) {
        Some(found) => ctx.json_parse(found.as_bytes()),
        None => Ok(Value::new_undefined(ctx)),
    }
}

/// The error for a body that is not JSON, with the place as k6 has it.
fn not_json(ctx: &Ctx<'_>, error: rquickjs::Error, body: &[u8]) -> rquickjs::Error {
    if !error.is_exception() {
        return error;
    }
    let thrown = ctx.catch();
    let reason = thrown.as_exception().and_then(Exception::message).unwrap_or_default();
    let Err(wrong) = serde_json::from_slice::<serde_json::Value>(body) else {
        return Exception::throw_message(
            ctx,
            &format!("cannot parse json due to an error: {reason}"),
        );
    };
    let (line, column) = (wrong.line(), wrong.column());
    let text = body.split(|byte| *byte == b'\n').nth(line.saturating_sub(1)).unwrap_or_default();
    let found = String::from_utf8_lossy(text.get(column.saturating_sub(1)..).unwrap_or_default());
    let reason = match found.chars().next() {
        _ if wrong.is_eof() => "unexpected end of JSON input".to_owned(),
        Some(found) if wrong.to_string().starts_with("expected value") => {
            format!("invalid character '{found}' looking for beginning of value")
        }
        _ => reason,
    };
    let text = format!(
        "cannot parse json due to an error at line {line}, character {column} , error: {reason}"
    );
    Exception::throw_message(ctx, &text)
}

fn head_of(answer: &HttpResponse) -> &[u8] {
    answer.head.as_deref().unwrap_or_default()
}

/// The URL that answered.
pub(super) fn url(answer: &HttpResponse) -> &str {
    let asked = || answer.asked.as_ref().map(|asked| &*asked.url);
    answer.url.as_deref().or_else(asked).unwrap_or_default()
}

/// The body where the script may see it.
pub(super) fn shown_body(answer: &HttpResponse) -> Option<&[u8]> {
    let asked = answer.asked.as_ref()?;
    let bodyless = matches!(answer.status, 0..200 | 204 | 304) && answer.failure.is_none();
    if bodyless || asked.expects == Expects::Nothing {
        return None;
    }
    answer.body.as_deref()
}

fn body<'js>(ctx: &Ctx<'js>, answer: &HttpResponse) -> Result<Value<'js>> {
    let Some(asked) = &answer.asked else {
        // Of a request that was never made k6 shows Go's empty slice.
        return Array::new(ctx.clone())?.into_js(ctx);
    };
    match (shown_body(answer), asked.expects) {
        (None, _) => Ok(Value::new_null(ctx.clone())),
        (Some(body), Expects::Binary) => ArrayBuffer::new_copy(ctx.clone(), body)?.into_js(ctx),
        (Some(body), _) => text_of(ctx, body),
    }
}

/// Bytes as text. As in Go, each byte that is not UTF-8 becomes a replacement character.
pub(in crate::api) fn text_of<'js>(ctx: &Ctx<'js>, bytes: &[u8]) -> Result<Value<'js>> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return text.into_js(ctx);
    }
    let mut text = String::with_capacity(bytes.len() + 16);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    text.into_js(ctx)
}

/// The fields by their canonical names; values of one name stand together.
fn headers<'js>(ctx: &Ctx<'js>, head: &[u8]) -> Result<Object<'js>> {
    let mut list: Vec<(String, String)> = Vec::new();
    for (name, value) in response_head::fields(head) {
        let name = canonical(&name);
        match list.iter_mut().find(|(known, _)| *known == name) {
            Some((_, values)) => {
                values.push_str(", ");
                values.push_str(&value);
            }
            None => list.push((name, value.into_owned())),
        }
    }
    let object = Object::new(ctx.clone())?;
    for (name, value) in list {
        object.set(name, value)?;
    }
    Ok(object)
}

/// The cookies that the response sets, by name.
fn cookies<'js>(ctx: &Ctx<'js>, head: &[u8]) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    for (_, value) in
        response_head::fields(head).filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"))
    {
        let Some(cookie) = SetCookie::parse(&value) else { continue };
        let shown = Object::new(ctx.clone())?;
        shown.set("name", cookie.name.as_str())?;
        shown.set("value", cookie.value)?;
        shown.set("domain", cookie.domain)?;
        shown.set("path", cookie.path)?;
        shown.set("http_only", cookie.http_only)?;
        shown.set("secure", cookie.secure)?;
        shown.set("max_age", cookie.max_age)?;
        // k6 shows what Go's zero time becomes in milliseconds.
        let expires = cookie.expires.map_or(NO_TIME, |seconds| seconds as f64 * 1e3);
        shown.set("expires", expires)?;
        push(ctx, &object, &cookie.name, shown)?;
    }
    Ok(object)
}

const NO_TIME: f64 = -6_795_364_578_871.0;

/// Adds a value to the array of this name.
fn push<'js>(ctx: &Ctx<'js>, object: &Object<'js>, name: &str, value: Object<'js>) -> Result<()> {
    let array = match object.get::<_, Option<Array<'js>>>(name)? {
        Some(array) => array,
        None => {
            let array = Array::new(ctx.clone())?;
            object.set(name, array.clone())?;
            array
        }
    };
    array.set(array.len(), value)
}

fn timings<'js>(ctx: &Ctx<'js>, answer: &HttpResponse) -> Result<Object<'js>> {
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

/// The object `ocsp`: always unknown, since stapled answers are not read.
fn ocsp<'js>(ctx: &Ctx<'js>, answer: &HttpResponse) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    for name in ["produced_at", "this_update", "next_update", "revoked_at"] {
        object.set(name, 0)?;
    }
    object.set("revocation_reason", "")?;
    object.set("status", answer.secured.map_or("", |_| "unknown"))?;
    Ok(object)
}

/// k6's number for what went wrong; 1000 and the status from 400 on.
fn error_code(answer: &HttpResponse) -> u16 {
    match &answer.failure {
        Some(failure) => failure.code,
        None if answer.status >= 400 => 1000 + answer.status,
        None => 0,
    }
}

/// The request, as `response.request` shows it.
fn request<'js>(ctx: &Ctx<'js>, asked: &HttpRequest) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    object.set("method", &*asked.method)?;
    object.set("url", &*asked.url)?;
    let headers = Object::new(ctx.clone())?;
    for (name, value) in asked.headers() {
        headers.set(name.as_str(), vec![value.as_str()])?;
    }
    object.set("headers", headers)?;
    object.set("body", text_of(ctx, asked.body.as_deref().unwrap_or_default())?)?;
    let cookies = Object::new(ctx.clone())?;
    for pair in asked.header("Cookie").unwrap_or_default().split("; ") {
        let Some((name, value)) = pair.split_once('=') else { continue };
        let cookie = Object::new(ctx.clone())?;
        cookie.set("name", name)?;
        cookie.set("value", value.trim_matches('"'))?;
        cookie.set("replace", false)?;
        push(ctx, &cookies, name, cookie)?;
    }
    object.set("cookies", cookies)?;
    Ok(object)
}

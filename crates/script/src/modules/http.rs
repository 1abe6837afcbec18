//! Module `k6/http`: requests, one at a time.

use rquickjs::function::{Rest, This};
use rquickjs::module::{Declarations, Exports, ModuleDef};
use rquickjs::object::Accessor;
use rquickjs::{ArrayBuffer, Class, Ctx, Exception, Function, IntoJs, Object, Result, Value};
use stdx::Nanos;

use super::k6::milliseconds;
use super::{number_of, seat_of, string_fields, string_of};
use crate::action::{Action, Answer, Expects, HttpAnswer, HttpAsk};
use crate::raw::{Response, copied};

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
        Ok(())
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
        export("url", Function::new(ctx.clone(), url)?)?;
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

/// `` url`http://host/${id}` ``: the URL, called by what stands there.
fn url<'js>(ctx: Ctx<'js>, parts: Vec<String>, values: Rest<Value<'js>>) -> Result<Object<'js>> {
    let (mut url, mut name) = (String::new(), String::new());
    let mut values = values.0.iter();
    for (at, part) in parts.iter().enumerate() {
        url.push_str(part);
        name.push_str(part);
        if let Some(value) = values.next().filter(|_| at + 1 < parts.len()) {
            url.push_str(&string_of(value)?);
            name.push_str("${}");
        }
    }
    let tagged = Object::new(ctx)?;
    tagged.set("url", url)?;
    tagged.set("name", name)?;
    Ok(tagged)
}

/// Sends a request and waits for what comes of it.
fn send<'js>(
    ctx: &Ctx<'js>,
    method: &str,
    url: &Value<'js>,
    body: Option<&Value<'js>>,
    params: Option<&Value<'js>>,
) -> Result<Value<'js>> {
    let mut ask = HttpAsk { method: method.to_owned(), ..HttpAsk::default() };
    match url.as_object() {
        Some(tagged) if tagged.contains_key("url")? => {
            ask.url = tagged.get("url")?;
            ask.name = tagged.get("name")?;
        }
        _ => ask.url = string_of(url)?,
    }
    if let Some(body) = body.filter(|body| !body.is_null() && !body.is_undefined()) {
        set_body(ctx, body, &mut ask)?;
    }
    if let Some(params) = params.and_then(Value::as_object) {
        set_params(ctx, params, &mut ask)?;
    }
    let seat = seat_of(ctx)?;
    seat.mark(&mut ask);
    let expects = ask.expects;
    let asked =
        Request { method: ask.method.clone(), url: ask.url.clone(), headers: ask.headers.clone() };
    match seat.ask(ctx, "Making http requests", Action::Http(Box::new(ask)))? {
        Answer::Http(answer) => {
            let response = Response { answer, asked, expects };
            Class::instance(ctx.clone(), response)?.into_js(ctx)
        }
        Answer::Slept | Answer::Stop => {
            Err(Exception::throw_internal(ctx, "a request was answered by something else"))
        }
    }
}

/// The body: bytes as they are, a string, an object as a form.
fn set_body<'js>(ctx: &Ctx<'js>, body: &Value<'js>, ask: &mut HttpAsk) -> Result<()> {
    if let Some(buffer) = ArrayBuffer::from_value(body.clone()) {
        ask.body = Some(copied(&buffer));
        return Ok(());
    }
    if body.is_string() {
        ask.body = Some(string_of(body)?.into_bytes());
        return Ok(());
    }
    if body.as_object().is_none() || body.is_array() || body.is_function() {
        let text = "a request's body is a string, an ArrayBuffer or an object";
        return Err(Exception::throw_type(ctx, text));
    }
    ask.body = Some(form(body)?.into_bytes());
    ask.default_header("Content-Type", "application/x-www-form-urlencoded");
    Ok(())
}

/// The fields of an object as a form, sorted by name; an array is a field for each of its values.
fn form(body: &Value<'_>) -> Result<String> {
    let mut fields = Vec::new();
    let object = body.as_object().into_iter();
    for field in object.flat_map(|object| object.props::<String, Value<'_>>()) {
        let (name, value) = field?;
        match value.as_array() {
            Some(values) => {
                for value in values.iter::<Value<'_>>() {
                    fields.push((name.clone(), string_of(&value?)?));
                }
            }
            None => fields.push((name, string_of(&value)?)),
        }
    }
    fields.sort_by(|a, b| a.0.cmp(&b.0));
    let pairs: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("{}={}", form_encoded(name), form_encoded(value)))
        .collect();
    Ok(pairs.join("&"))
}

/// WHATWG URL, 5.2: a space is `+`, and all but letters, digits and `*-._` are percent-encoded. Go leaves `~` as it is and
/// encodes `*`; so do we.
fn form_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte));
            }
            b' ' => encoded.push('+'),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

fn set_params<'js>(ctx: &Ctx<'js>, params: &Object<'js>, ask: &mut HttpAsk) -> Result<()> {
    for param in params.props::<String, Value<'js>>() {
        let (name, value) = param?;
        match name.as_str() {
            "headers" => {
                for (name, value) in string_fields(&value)? {
                    ask.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(&name));
                    ask.headers.push((name, value));
                }
            }
            "tags" => {
                ask.tags = string_fields(&value)?;
                ask.name = ask
                    .tags
                    .iter()
                    .find(|(tag, _)| tag == "name")
                    .map(|tag| tag.1.clone())
                    .or(ask.name.take());
            }
            "timeout" => ask.timeout = Some(time_of(ctx, &value)?),
            "redirects" => ask.redirects = number_of(&value).map(|count| count.max(0.0) as u32),
            "responseType" => ask.expects = expects(ctx, &string_of(&value)?)?,
            _ => {}
        }
    }
    Ok(())
}

/// A time in milliseconds, or with its unit.
fn time_of(ctx: &Ctx<'_>, value: &Value<'_>) -> Result<Nanos> {
    if let Some(milliseconds) = number_of(value) {
        return Ok(Nanos::from_secs_f64(milliseconds.max(0.0) / 1e3));
    }
    let text = string_of(value)?;
    Nanos::parse(&text)
        .map_err(|_| Exception::throw_type(ctx, &format!("invalid timeout value \"{text}\"")))
}

fn expects(ctx: &Ctx<'_>, word: &str) -> Result<Expects> {
    match word {
        "text" => Ok(Expects::Text),
        "binary" => Ok(Expects::Binary),
        "none" => Ok(Expects::Nothing),
        other => {
            let text =
                format!("{other} does not belong to ResponseType values: text, binary, none");
            Err(Exception::throw_type(ctx, &text))
        }
    }
}

/// What was asked for, as a response tells it.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    method: String,
    url: String,
    headers: Vec<(String, String)>,
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

    #[test]
    fn forms_are_encoded_as_go_does() {
        assert_eq!(form_encoded("a b&c=ü~*"), "a+b%26c%3D%C3%BC~%2A");
    }
}

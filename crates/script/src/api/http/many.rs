//! Several requests at a time: `asyncRequest` and `batch`.

use std::collections::{HashMap, VecDeque};

use rquickjs::function::Rest;
use rquickjs::{Array, Ctx, Exception, IntoJs, Object, Persistent, Result, Value};
use users::{Action, HttpRequest, Ticket};
use wire::url::Url;

use super::send::{Arguments, Refusal, WHAT, http_of, prepare, refused, respond};
use crate::runtime::current::vu_of;
use crate::runtime::event_loop::Next;
use crate::runtime::values::string_of;

/// The most requests of one batch.
const BATCH_MAX: usize = 100_000;

/// `asyncRequest(method, url, body?, params?)`: a promise of the response.
pub(super) fn async_request<'js>(ctx: Ctx<'js>, arguments: Rest<Value<'js>>) -> Result<Value<'js>> {
    let vu = vu_of(&ctx)?;
    vu.require_started(&ctx, WHAT)?;
    let undefined = Value::new_undefined(ctx.clone());
    let mut arguments = arguments.0.into_iter();
    let method =
        arguments.next().map_or_else(|| Ok("GET".to_owned()), |value| string_of(&value))?;
    let url = arguments.next().unwrap_or(undefined);
    let (body, params) = (arguments.next(), arguments.next());
    let (promise, resolve, reject) = ctx.promise()?;
    let arguments =
        Arguments { body: body.as_ref(), params: params.as_ref(), ..Arguments::default() };
    match prepare(&ctx, &vu, method.into(), &url, arguments)? {
        Ok(request) => {
            let settle = (Persistent::save(&ctx, resolve), Persistent::save(&ctx, reject));
            let mut waiting = Some(settle);
            let then = move |ctx: &Ctx<'_>, answer| {
                let answer = http_of(ctx, answer)?;
                if let Some((resolve, reject)) = waiting.take() {
                    match respond(ctx, answer) {
                        Ok(response) => resolve.restore(ctx)?.call::<_, ()>((response,))?,
                        Err(rquickjs::Error::Exception) => {
                            reject.restore(ctx)?.call::<_, ()>((ctx.catch(),))?;
                        }
                        Err(error) => return Err(error),
                    }
                }
                Ok(Next::Over)
            };
            vu.start(&ctx, WHAT, |ticket| Action::Http(ticket, request), Box::new(then))?;
        }
        Err(refusal) => match refused(&ctx, refusal) {
            Ok(response) => resolve.call::<_, ()>((response,))?,
            Err(_) => reject.call::<_, ()>((ctx.catch(),))?,
        },
    }
    promise.into_js(&ctx)
}

/// What was thrown, as text.
fn tried<T>(ctx: &Ctx<'_>, outcome: Result<T>) -> Result<std::result::Result<T, String>> {
    match outcome {
        Ok(value) => Ok(Ok(value)),
        Err(rquickjs::Error::Exception) => {
            let thrown = ctx.catch();
            let message = thrown.as_exception().and_then(Exception::message);
            message.map_or_else(|| string_of(&thrown), Ok).map(Err)
        }
        Err(error) => Ok(Err(error.to_string())),
    }
}

/// `batch(requests)`: several requests at once, as an array or as an object; the responses come in the same shape.
pub(super) fn batch<'js>(ctx: Ctx<'js>, arguments: Rest<Value<'js>>) -> Result<Value<'js>> {
    vu_of(&ctx)?.require_started(&ctx, WHAT)?;
    let requests = match arguments.0.as_slice() {
        [] => {
            let text = "no argument was provided to http.batch()";
            return Err(Exception::throw_message(&ctx, text));
        }
        [requests] => requests,
        _ => {
            let text = "http.batch() accepts only an array or an object of requests";
            return Err(Exception::throw_message(&ctx, text));
        }
    };
    if let Some(list) = requests.as_array() {
        let items = list.iter::<Value<'js>>().collect::<Result<Vec<_>>>()?;
        let names = (0..items.len()).map(|at| at.to_string());
        let responses = all(&ctx, names.zip(items.clone()).collect())?;
        let array = Array::new(ctx.clone())?;
        for (at, response) in responses.into_iter().enumerate() {
            array.set(at, response)?;
        }
        return array.into_js(&ctx);
    }
    let Some(object) = requests.as_object().filter(|object| !object.is_function()) else {
        let text = format!("invalid http.batch() argument type {}", requests.type_name());
        return Err(Exception::throw_message(&ctx, &text));
    };
    let items = object.props::<String, Value<'js>>().collect::<Result<Vec<_>>>()?;
    let names: Vec<String> = items.iter().map(|(name, _)| name.clone()).collect();
    let responses = all(&ctx, items)?;
    let shaped = Object::new(ctx.clone())?;
    for (name, response) in names.into_iter().zip(responses) {
        shaped.set(name, response)?;
    }
    shaped.into_js(&ctx)
}

/// A request of a batch.
struct Entry<'js> {
    /// What is still to be asked for.
    request: Option<Box<HttpRequest>>,
    /// The number of its host among the batch's.
    host: usize,
    response: Option<Value<'js>>,
}

/// The requests to one host.
#[derive(Default)]
struct Host {
    under_way: usize,
    waiting: VecDeque<usize>,
}

/// Makes all requests, as many at once as the options allow; gives their responses.
fn all<'js>(ctx: &Ctx<'js>, items: Vec<(String, Value<'js>)>) -> Result<Vec<Value<'js>>> {
    if items.len() > BATCH_MAX {
        let text = format!("http.batch(): more than {BATCH_MAX} requests");
        return Err(Exception::throw_range(ctx, &text));
    }
    let vu = vu_of(ctx)?;
    let (mut entries, mut hosts) = entries(ctx, &items)?;
    let or_any = |limit: usize| if limit == 0 { usize::MAX } else { limit };
    let (all, each) = vu.host.batch_max();
    let (mut left, each) = (or_any(all), or_any(each));
    // The entry of each ticket: tickets of a batch are consecutive numbers, since nothing else of the VU runs.
    let mut began: Vec<usize> = Vec::new();
    let mut first = None;
    loop {
        for host in &mut hosts {
            while left > 0 && host.under_way < each {
                let Some(at) = host.waiting.pop_front() else { break };
                let Some(request) = entries[at].request.take() else { continue };
                let ticket = vu.events.put(|ticket| Action::Http(ticket, request));
                first.get_or_insert(ticket);
                began.push(at);
                host.under_way += 1;
                left -= 1;
            }
        }
        let Some(first) = first.filter(|_| hosts.iter().any(|host| host.under_way > 0)) else {
            break;
        };
        let last = Ticket(first.0 + began.len() as u64 - 1);
        let (ticket, answer) = vu.answer_within(ctx, first, last)?;
        let answer = http_of(ctx, answer)?;
        let entry = &mut entries[began[(ticket.0 - first.0) as usize]];
        hosts[entry.host].under_way -= 1;
        left = left.saturating_add(1);
        entry.response = Some(respond(ctx, answer)?);
    }
    let undefined = || Value::new_undefined(ctx.clone());
    Ok(entries.into_iter().map(|entry| entry.response.unwrap_or_else(undefined)).collect())
}

/// The requests as written, and their hosts, each with the requests to it.
fn entries<'js>(
    ctx: &Ctx<'js>,
    items: &[(String, Value<'js>)],
) -> Result<(Vec<Entry<'js>>, Vec<Host>)> {
    let mut numbers: HashMap<(String, u16), usize> = HashMap::new();
    let (mut entries, mut hosts) = (Vec::new(), Vec::<Host>::new());
    for (at, (name, item)) in items.iter().enumerate() {
        let prepared = tried(ctx, parts(ctx, name, item))?;
        let refusal = match prepared {
            Ok(Ok(request)) => {
                let known = hosts.len();
                let of =
                    Url::parse(&request.url).map(|url| (url.host, url.port)).unwrap_or_default();
                let host = *numbers.entry(of).or_insert(known);
                if host == known {
                    hosts.push(Host::default());
                }
                hosts[host].waiting.push_back(at);
                entries.push(Entry { request: Some(request), host, response: None });
                continue;
            }
            Ok(Err(refusal)) => refusal,
            Err(text) => Refusal { code: 1000, text, throws: false },
        };
        let response = Some(refused(ctx, refusal)?);
        entries.push(Entry { request: None, host: 0, response });
    }
    Ok((entries, hosts))
}

/// A request made ready, or why it cannot be.
type Prepared = std::result::Result<Box<HttpRequest>, Refusal>;

/// A request of a batch as written: a URL, `[method, url, body, params]` or an object of these.
fn parts<'js>(ctx: &Ctx<'js>, name: &str, item: &Value<'js>) -> Result<Prepared> {
    if let Some(list) = item.as_array() {
        if list.len() < 2 {
            return Err(Exception::throw_message(ctx, &format!("invalid batch request '{name}'")));
        }
        let (method, url) = (list.get::<Value<'js>>(0)?, list.get::<Value<'js>>(1)?);
        return with_body(ctx, string_of(&method)?, &url, list.get(2)?, list.get(3)?);
    }
    let Some(object) =
        item.as_object().filter(|object| !object.contains_key("name").unwrap_or(true))
    else {
        // A URL, or one with its name.
        return prepare(ctx, &*vu_of(ctx)?, "GET".into(), item, Arguments::default());
    };
    let Some(url) = object.get::<_, Option<Value<'js>>>("url")? else {
        let text = format!("batch request {name} doesn't have a url key");
        return Err(Exception::throw_message(ctx, &text));
    };
    let method = object.get::<_, Option<Value<'js>>>("method")?;
    let method = method.as_ref().map_or_else(|| Ok("GET".to_owned()), string_of)?;
    with_body(ctx, method.to_uppercase(), &url, object.get("body")?, object.get("params")?)
}

/// GET and HEAD have no body.
fn with_body<'js>(
    ctx: &Ctx<'js>,
    method: String,
    url: &Value<'js>,
    body: Option<Value<'js>>,
    params: Option<Value<'js>>,
) -> Result<Prepared> {
    let body = body.filter(|_| !matches!(method.as_str(), "GET" | "HEAD"));
    let arguments =
        Arguments { body: body.as_ref(), params: params.as_ref(), ..Arguments::default() };
    prepare(ctx, &*vu_of(ctx)?, method.into(), url, arguments)
}

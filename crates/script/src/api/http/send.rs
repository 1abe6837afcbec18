//! A request is sent: its arguments read, its response or its failure handed to the script.

use std::borrow::Cow;

use rquickjs::{Class, Ctx, Exception, IntoJs, Result, Value};
use stdx::OutOfMemory;
use users::{Action, ActionResult, BodyMemory, HttpFailure, HttpRequest, HttpResponse, Level};

use super::body::FormEncoding;
use super::read::ReadError;
use super::{body, params, url};
use crate::runtime::context::VuContext;
use crate::runtime::current::vu_of;
use crate::runtime::ffi::Handle;

/// Sends a request and waits for its result.
pub(super) fn send<'js>(
    ctx: &Ctx<'js>,
    method: Cow<'static, str>,
    url: &Value<'js>,
    body: Option<&Value<'js>>,
    params: Option<&Value<'js>>,
) -> Result<Value<'js>> {
    send_with(ctx, method, url, Arguments { body, params, ..Arguments::default() })
}

/// The same of a form that says how it is to be encoded.
pub(super) fn send_with<'js>(
    ctx: &Ctx<'js>,
    method: Cow<'static, str>,
    url: &Value<'js>,
    arguments: Arguments<'_, 'js>,
) -> Result<Value<'js>> {
    let vu = vu_of(ctx)?;
    match prepare(ctx, &vu, method, url, arguments)? {
        Ok(request) => {
            let answer = vu.perform(ctx, WHAT, |ticket| Action::Http(ticket, request))?;
            respond(ctx, http_of(ctx, answer)?)
        }
        Err(refusal) => refused(ctx, refusal),
    }
}

/// The subject of the error for a request in a place where none is allowed.
pub(super) const WHAT: &str = "Making http requests";

/// Why a request cannot even be asked for. To the script that is a failed request.
#[derive(Debug)]
pub(super) struct Refusal {
    /// k6's number; 0 for none.
    pub(super) code: u16,
    pub(super) text: String,
    pub(super) throws: bool,
}

/// What a script may give of a request beside its method and URL.
#[derive(Clone, Copy, Default)]
pub(super) struct Arguments<'a, 'js> {
    pub(super) body: Option<&'a Value<'js>>,
    pub(super) params: Option<&'a Value<'js>>,
    /// How a body that is an object is encoded.
    pub(super) encoding: FormEncoding,
}

/// A request made ready to be asked for, or why it cannot be.
pub(super) fn prepare<'js>(
    ctx: &Ctx<'js>,
    vu: &VuContext,
    method: Cow<'static, str>,
    url: &Value<'js>,
    arguments: Arguments<'_, 'js>,
) -> Result<std::result::Result<Box<HttpRequest>, Refusal>> {
    let Arguments { body, params, encoding } = arguments;
    vu.require_started(ctx, WHAT)?;
    let params = params.and_then(Value::as_object);
    let throws = match params {
        Some(params) => params::throws(params)?,
        None => None,
    };
    let throws = throws.unwrap_or_else(|| vu.host.http_rules().throws);
    let (url, name) = match url::of(url, &vu.urls) {
        Ok(of) => of,
        Err(ReadError::Refused(code, text)) => return Ok(Err(Refusal { code, text, throws })),
        Err(ReadError::Thrown(error)) => return Err(error),
    };
    let mut request = Box::new(HttpRequest {
        method,
        name,
        throws,
        expected: vu.expected.borrow().clone(),
        jar: Some(vu.jar.borrow().clone()),
        ..vu.new_request(url)
    });
    let read = body
        .map_or(Ok(()), |body| body::set(ctx, body, encoding, &mut request))
        .and_then(|()| params.map_or(Ok(()), |params| params::set(ctx, params, &mut request)));
    let read = read.and_then(|()| {
        let bodies = [&request.body, &request.coded_body].into_iter().flatten();
        request.memory =
            BodyMemory::of(bodies.map(|body| body.len()).sum()).map_err(|OutOfMemory| {
                let text = "no memory is left for the body of the request (-memory-limit)";
                ReadError::Thrown(Exception::throw_message(ctx, text))
            })?;
        Ok(())
    });
    match read {
        Ok(()) => {
            warn_of_length(vu, &request);
            Ok(Ok(request))
        }
        Err(ReadError::Refused(code, text)) => Ok(Err(Refusal { code, text, throws })),
        Err(ReadError::Thrown(error)) => Err(error),
    }
}

/// Warns where a script gives a body another length than it has: what is sent is the body's own.
fn warn_of_length(vu: &VuContext, request: &HttpRequest) {
    let is_length = |(name, _): &&(String, String)| name.eq_ignore_ascii_case("Content-Length");
    let Some((_, given)) = request.headers.iter().find(is_length) else { return };
    let body = request.coded_body.as_ref().or(request.body.as_ref());
    let len = body.map_or(0, |body| body.len());
    if given.trim().parse() != Ok(len) {
        let text = format!(
            "the header Content-Length: {given} does not match the length of the body, {len} bytes, which is sent instead"
        );
        vu.host.log_event(Level::Warn, &text, &[]);
    }
}

/// The answer to a request.
pub(super) fn http_of(ctx: &Ctx<'_>, answer: ActionResult) -> Result<Box<HttpResponse>> {
    match answer {
        ActionResult::Http(answer) => Ok(answer),
        ActionResult::Grpc(_) | ActionResult::Stream(_) | ActionResult::Socket(_) => {
            Err(Exception::throw_internal(ctx, "a request has one answer"))
        }
    }
}

/// A response as the script sees it, or the exception that stands for it.
pub(super) fn respond<'js>(ctx: &Ctx<'js>, answer: Box<HttpResponse>) -> Result<Value<'js>> {
    if let Some(failure) = &answer.failure {
        if answer.asked.as_ref().is_some_and(|asked| asked.throws) {
            return Err(Exception::throw_message(ctx, &failure.whole));
        }
        warn(ctx, &failure.whole)?;
    }
    Class::instance(ctx.clone(), Handle(answer))?.into_js(ctx)
}

/// The response to a request that was never made.
pub(super) fn refused<'js>(ctx: &Ctx<'js>, refusal: Refusal) -> Result<Value<'js>> {
    let Refusal { code, text, throws } = refusal;
    if throws {
        return Err(Exception::throw_message(ctx, &text));
    }
    warn(ctx, &text)?;
    let failure = Some(HttpFailure { code, whole: text.clone(), text });
    let answer = Box::new(HttpResponse { failure, ..HttpResponse::default() });
    Class::instance(ctx.clone(), Handle(answer))?.into_js(ctx)
}

fn warn(ctx: &Ctx<'_>, text: &str) -> Result<()> {
    vu_of(ctx)?.host.log_event(Level::Warn, "Request Failed", &[("error", text)]);
    Ok(())
}

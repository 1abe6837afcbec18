//! A request is sent: its arguments read, its response or its failure handed to the script.

use rquickjs::{Class, Ctx, Exception, IntoJs, Result, Value};

use super::read::Trouble;
use super::{body, params, url};
use crate::host::action::{Action, Answer};
use crate::host::http::{HttpAnswer, HttpAsk, HttpFailure};
use crate::host::traits::Level;
use crate::runtime::current::seat_of;
use crate::runtime::ffi::Hold;

/// Sends a request and waits for what comes of it.
pub(super) fn send<'js>(
    ctx: &Ctx<'js>,
    method: &str,
    url: &Value<'js>,
    body: Option<&Value<'js>>,
    params: Option<&Value<'js>>,
) -> Result<Value<'js>> {
    match prepare(ctx, method, url, (body, params))? {
        Ok(ask) => {
            let answer = seat_of(ctx)?.ask(ctx, WHAT, |ticket| Action::Http(ticket, ask))?;
            respond(ctx, http_of(ctx, answer)?)
        }
        Err(refusal) => refused(ctx, refusal),
    }
}

/// What is said of a request where it is not allowed.
pub(super) const WHAT: &str = "Making http requests";

/// Why a request cannot even be asked for. To the script that is a failed request.
#[derive(Debug)]
pub(super) struct Refusal {
    /// k6's number; 0 for none.
    pub(super) code: u16,
    pub(super) text: String,
    pub(super) throws: bool,
}

/// A request made ready to be asked for, or why it cannot be.
pub(super) fn prepare<'js>(
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
pub(super) fn http_of(ctx: &Ctx<'_>, answer: Answer) -> Result<Box<HttpAnswer>> {
    match answer {
        Answer::Http(answer) => Ok(answer),
        Answer::Socket(_) => Err(Exception::throw_internal(ctx, "a request has one answer")),
    }
}

/// A response as the script sees it, or the exception that stands for it.
pub(super) fn respond<'js>(ctx: &Ctx<'js>, answer: Box<HttpAnswer>) -> Result<Value<'js>> {
    if let Some(failure) = &answer.failure {
        if answer.asked.as_ref().is_some_and(|asked| asked.throws) {
            return Err(Exception::throw_message(ctx, &failure.whole));
        }
        warn(ctx, &failure.whole)?;
    }
    Class::instance(ctx.clone(), Hold(answer))?.into_js(ctx)
}

/// The response to a request that was never made.
pub(super) fn refused<'js>(ctx: &Ctx<'js>, refusal: Refusal) -> Result<Value<'js>> {
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

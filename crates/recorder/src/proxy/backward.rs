//! An answer on its way back to the client, or the reason why there is none.

use http::{Response, StatusCode, Version};
use hyper::body::Incoming;
use hyper_util::client::legacy;

use super::client::Client;
use super::fields;
use super::reply::{Reply, Side, Tap, text};
use super::upstream::reason;
use crate::exchange::ResponseHead;
use crate::recording::ExchangeId;

/// Records the head of an answer and passes it on.
pub(super) fn pass_back(
    client: &Client,
    mut response: Response<Incoming>,
    id: Option<ExchangeId>,
) -> Response<Reply> {
    record_head(client, &response, id);
    fields::remove_of_connection(response.headers_mut());
    // The version of the answer is that of the client's connection.
    *response.version_mut() = Version::default();
    let tap = Tap::new(&client.proxy.recording, id, Side::Response);
    response.map(|body| Reply::passing(body, tap))
}

pub(super) fn record_head<B>(client: &Client, response: &Response<B>, id: Option<ExchangeId>) {
    let Some(id) = id else { return };
    let head = ResponseHead {
        status: response.status().as_u16(),
        reason: response.status().canonical_reason().unwrap_or_default().to_owned(),
        version: fields::version(response.version()),
        headers: fields::pairs(response.headers()),
    };
    client.proxy.recording.answer(id, head, client.proxy.recording.now());
}

/// Says to the client why there is no answer.
pub(super) fn refuse(
    client: &Client,
    error: &legacy::Error,
    id: Option<ExchangeId>,
) -> Response<Reply> {
    let reason = reason(error);
    if let Some(id) = id {
        client.proxy.recording.end(id, Some(reason.clone()), client.proxy.recording.now());
    }
    text(StatusCode::BAD_GATEWAY, &format!("no answer: {reason}"))
}

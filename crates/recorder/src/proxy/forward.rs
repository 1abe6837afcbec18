//! A request on its way to its server.

use http::{Request, Response, StatusCode, Uri, Version};
use hyper::body::Incoming;

use super::address::{Scheme, Target};
use super::backward::{pass_back, refuse};
use super::client::Client;
use super::reply::{Reply, Side, Tap, text};
use super::waiting::Waiting;
use super::{fields, upgrade};
use crate::exchange::RequestHead;
use crate::recording::ExchangeId;

/// Answers a request with its server's answer.
pub(super) async fn answer(
    client: Client,
    mut request: Request<Incoming>,
    scheme: Scheme,
    target: Target,
) -> Response<Reply> {
    let url = target.url(scheme, request.uri());
    let Ok(uri) = url.parse::<Uri>() else {
        return text(StatusCode::BAD_REQUEST, "no address that can be called");
    };
    let is_socket = fields::asks_for_socket(request.headers());
    let id = begin(&client, &mut request, &target, url, scheme);
    *request.uri_mut() = uri;
    if is_socket {
        return upgrade::answer(client, request, id).await;
    }
    fields::remove_of_connection(request.headers_mut());
    *request.version_mut() = Version::HTTP_11;
    let tap = Tap::new(&client.proxy.recording, id, Side::Request);
    let request = request.map(|body| Reply::passing(body, tap));
    let waiting = Waiting::new(&client.proxy.recording, id);
    let (answered, id) = waiting.until(client.proxy.servers.send(request)).await;
    match answered {
        Ok(response) => pass_back(&client, response, id),
        Err(error) => refuse(&client, &error, id),
    }
}

/// Begins the exchange and makes the request's fields ready.
fn begin(
    client: &Client,
    request: &mut Request<Incoming>,
    target: &Target,
    url: String,
    scheme: Scheme,
) -> Option<ExchangeId> {
    let mut headers = fields::pairs(request.headers());
    let authority = target.authority(scheme);
    fields::prepare(request.headers_mut(), &authority);
    if request.version() == Version::HTTP_2 {
        headers = fields::pairs(request.headers());
        headers.insert(0, ("host".to_owned(), authority));
    }
    let head = RequestHead {
        method: request.method().as_str().to_owned(),
        url,
        host: target.host.clone(),
        version: fields::version(request.version()),
        headers,
    };
    client.proxy.recording.begin(head, client.proxy.recording.now())
}

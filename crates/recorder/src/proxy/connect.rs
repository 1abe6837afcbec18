//! CONNECT: a client that wants a tunnel. It gets one to any host and port but the proxy itself.

use http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;

use super::address::Target;
use super::client::Client;
use super::reply::{Reply, text};
use super::tunnel;

pub(super) fn answer(client: Client, mut request: Request<Incoming>) -> Response<Reply> {
    let Some(target) = Target::of_connect(request.uri()) else {
        return text(StatusCode::BAD_REQUEST, "CONNECT wants a host and a port");
    };
    let upgrade = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        // A client that went away wants no tunnel.
        if let Ok(stream) = upgrade.await {
            tunnel::carry(client, TokioIo::new(stream), target).await;
        }
    });
    Response::new(Reply::empty())
}

//! WebSockets: the handshake goes on as it is, but without extensions, so that every message can be read as it passes.

use http::header::{CONNECTION, SEC_WEBSOCKET_EXTENSIONS, UPGRADE};
use http::{HeaderValue, Request, Response, StatusCode, Version};
use hyper::body::Incoming;
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, ReadHalf, WriteHalf};

use super::backward::{pass_back, record_head, refuse};
use super::client::Client;
use super::fields;
use super::messages::MessageTap;
use super::reply::Reply;
use super::waiting::Waiting;
use crate::exchange::Direction;
use crate::recording::ExchangeId;

/// How much is read of a WebSocket at a time, in bytes.
const PIECE: usize = 16 << 10;

type Stream = TokioIo<Upgraded>;

/// Answers a handshake; a server that takes it is connected with the client until either ends it.
pub(super) async fn answer(
    client: Client,
    mut request: Request<Incoming>,
    id: Option<ExchangeId>,
) -> Response<Reply> {
    let from_client = hyper::upgrade::on(&mut request);
    request.headers_mut().remove(SEC_WEBSOCKET_EXTENSIONS);
    keep_upgrade(request.headers_mut());
    *request.version_mut() = Version::HTTP_11;
    let request = request.map(|body| Reply::passing(body, None));
    let waiting = Waiting::new(&client.proxy.recording, id);
    let (answered, id) = waiting.until(client.proxy.servers.upgrade(request)).await;
    let mut response = match answered {
        Ok(response) => response,
        Err(error) => return refuse(&client, &error, id),
    };
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        return pass_back(&client, response, id);
    }
    record_head(&client, &response, id);
    let from_server = hyper::upgrade::on(&mut response);
    tokio::spawn(connect(client, from_client, from_server, id));
    keep_upgrade(response.headers_mut());
    response.map(|_| Reply::empty())
}

/// Leaves of the fields of the connection those that make it a WebSocket.
fn keep_upgrade(headers: &mut http::HeaderMap) {
    fields::remove_of_connection(headers);
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
}

async fn connect(
    client: Client,
    from_client: OnUpgrade,
    from_server: OnUpgrade,
    id: Option<ExchangeId>,
) {
    // One that went away leaves nothing to carry.
    if let (Ok(one), Ok(other)) = (from_client.await, from_server.await) {
        let (from_client, to_client) = tokio::io::split(TokioIo::new(one));
        let (from_server, to_server) = tokio::io::split(TokioIo::new(other));
        let recording = &client.proxy.recording;
        let tap = |direction| id.map(|id| MessageTap::new(recording, id, direction));
        let sending = tokio::spawn(carry(from_client, to_server, tap(Direction::Sent)));
        carry(from_server, to_client, tap(Direction::Received)).await;
        // It panics in no case, and is not cancelled.
        sending.await.ok();
    }
    if let Some(id) = id {
        client.proxy.recording.end(id, None, client.proxy.recording.now());
    }
}

/// Carries one direction until it ends.
async fn carry(mut from: ReadHalf<Stream>, mut to: WriteHalf<Stream>, mut tap: Option<MessageTap>) {
    let mut piece = vec![0; PIECE];
    while let Ok(len @ 1..) = from.read(&mut piece).await {
        if let Some(tap) = &mut tap {
            tap.handle_bytes(&piece[..len]);
        }
        if to.write_all(&piece[..len]).await.is_err() {
            break;
        }
    }
    // The other side learns of the end, unless it is gone.
    to.shutdown().await.ok();
}

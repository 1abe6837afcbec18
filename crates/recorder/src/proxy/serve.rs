//! The requests of one client: of a connection, and of the tunnels that it opens.

use std::convert::Infallible;

use http::{Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};

use super::address::{Scheme, Target, scheme_of};
use super::client::Client;
use super::reply::{Reply, text};
use super::tunnel::{self, Inside, Version};
use super::{forward, page};
use crate::limits::{FIELDS_MAX, HEAD_BYTES_MAX, HEAD_TIME_MAX, STREAMS_MAX};

/// Serves what has just connected.
pub(super) async fn serve(client: Client, stream: tokio::net::TcpStream) {
    // A small answer waits for nothing; where the system refuses, it does.
    stream.set_nodelay(true).ok();
    serve_http1(client, stream, None).await;
}

/// Answers CONNECT with a tunnel to any host and port but the proxy itself, and serves what is for us in it.
fn open_tunnel(client: Client, mut request: Request<Incoming>) -> Response<Reply> {
    let Some(target) = Target::of_connect(request.uri()) else {
        return text(StatusCode::BAD_REQUEST, "CONNECT wants a host and a port");
    };
    let upgrade = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        // A client that went away wants no tunnel.
        if let Ok(stream) = upgrade.await
            && let Some(inside) = tunnel::carry(&client, TokioIo::new(stream), &target).await
        {
            serve_tunnel(client, inside, target).await;
        }
    });
    Response::new(Reply::empty())
}

/// Serves the requests in a tunnel to a server.
async fn serve_tunnel(client: Client, inside: Inside, target: Target) {
    let server = (inside.scheme, target);
    match inside.version {
        Version::Http1 => serve_http1(client, inside.stream, Some(server)).await,
        Version::Http2 => serve_http2(client, inside.stream, server).await,
    }
}

async fn serve_http1<S>(client: Client, stream: S, server: Option<(Scheme, Target)>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |request| answer(client.clone(), request, server.clone()));
    let conn = http1::Builder::new()
        .preserve_header_case(true)
        .max_headers(FIELDS_MAX)
        .max_buf_size(HEAD_BYTES_MAX)
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME_MAX)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    // A client that breaks the protocol or goes away has had its answer, if there was one.
    conn.await.ok();
}

async fn serve_http2<S>(client: Client, stream: S, server: (Scheme, Target))
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |request| answer(client.clone(), request, Some(server.clone())));
    let conn = http2::Builder::new(TokioExecutor::new())
        .max_concurrent_streams(STREAMS_MAX)
        .max_header_list_size(HEAD_BYTES_MAX as u32)
        .timer(TokioTimer::new())
        .serve_connection(TokioIo::new(stream), service);
    conn.await.ok();
}

/// Answers one request, of a tunnel to `server` or of a client that knows us as its proxy.
async fn answer(
    client: Client,
    request: Request<Incoming>,
    server: Option<(Scheme, Target)>,
) -> Result<Response<Reply>, Infallible> {
    Ok(match server {
        Some(_) if request.method() == Method::CONNECT => {
            text(StatusCode::METHOD_NOT_ALLOWED, "this is a tunnel already")
        }
        Some((scheme, target)) => forward::answer(client, request, scheme, target).await,
        None if request.method() == Method::CONNECT => open_tunnel(client, request),
        None => answer_proxy(client, request).await,
    })
}

async fn answer_proxy(client: Client, request: Request<Incoming>) -> Response<Reply> {
    if request.uri().scheme().is_none() {
        return page::answer(&client.proxy, &request);
    }
    let scheme = scheme_of(request.uri());
    let target = scheme.and_then(|scheme| Target::of_uri(request.uri(), scheme));
    match scheme.zip(target) {
        Some((scheme, target)) => forward::answer(client, request, scheme, target).await,
        None => text(StatusCode::BAD_REQUEST, "no address that can be called"),
    }
}

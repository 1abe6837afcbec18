//! `Client`: one connection of a client, and what its requests are answered with.

use std::convert::Infallible;
use std::sync::Arc;

use http::{Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::OwnedSemaphorePermit;

use super::address::{Scheme, Target, scheme_of};
use super::reply::{Reply, text};
use super::upstream::Servers;
use super::{connect, forward, page};
use crate::certificates::Certificates;
use crate::limits::{FIELDS_MAX, HEAD_BYTES_MAX, HEAD_TIME_MAX, STREAMS_MAX};
use crate::recording::Recording;

/// What all clients share.
#[derive(Debug)]
pub(super) struct Proxy {
    pub(super) recording: Arc<Recording>,
    pub(super) certificates: Certificates,
    pub(super) servers: Servers,
}

/// A client's connection; it has its place as long as anything of it goes on.
#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) proxy: Arc<Proxy>,
    pub(super) _place: Arc<OwnedSemaphorePermit>,
}

/// The version of HTTP that a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    Http1,
    Http2,
}

impl Client {
    /// Serves what has just connected.
    pub(super) async fn serve(self, stream: tokio::net::TcpStream) {
        // A small answer waits for nothing; where the system refuses, it does.
        stream.set_nodelay(true).ok();
        self.serve_http1(stream, None).await;
    }

    /// Serves what comes through a tunnel to a server.
    pub(super) async fn serve_tunnel<S>(self, stream: S, server: (Scheme, Target), version: Version)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        match version {
            Version::Http1 => self.serve_http1(stream, Some(server)).await,
            Version::Http2 => self.serve_http2(stream, server).await,
        }
    }

    async fn serve_http1<S>(self, stream: S, server: Option<(Scheme, Target)>)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let service = service_fn(move |request| self.clone().answer(request, server.clone()));
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

    async fn serve_http2<S>(self, stream: S, server: (Scheme, Target))
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let service = service_fn(move |request| self.clone().answer(request, Some(server.clone())));
        let conn = http2::Builder::new(TokioExecutor::new())
            .max_concurrent_streams(STREAMS_MAX)
            .max_header_list_size(HEAD_BYTES_MAX as u32)
            .timer(TokioTimer::new())
            .serve_connection(TokioIo::new(stream), service);
        conn.await.ok();
    }

    /// Answers one request, of a tunnel to `server` or of a client that knows us as its proxy.
    async fn answer(
        self,
        request: Request<Incoming>,
        server: Option<(Scheme, Target)>,
    ) -> Result<Response<Reply>, Infallible> {
        Ok(match server {
            Some(_) if request.method() == Method::CONNECT => {
                text(StatusCode::METHOD_NOT_ALLOWED, "this is a tunnel already")
            }
            Some((scheme, target)) => forward::answer(self, request, scheme, target).await,
            None if request.method() == Method::CONNECT => connect::answer(self, request),
            None => self.answer_proxy(request).await,
        })
    }

    async fn answer_proxy(self, request: Request<Incoming>) -> Response<Reply> {
        if request.uri().scheme().is_none() {
            return page::answer(&self.proxy, &request);
        }
        let scheme = scheme_of(request.uri());
        let target = scheme.and_then(|scheme| Target::of_uri(request.uri(), scheme));
        match scheme.zip(target) {
            Some((scheme, target)) => forward::answer(self, request, scheme, target).await,
            None => text(StatusCode::BAD_REQUEST, "no address that can be called"),
        }
    }
}

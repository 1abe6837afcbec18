//! `GrpcClient`: what a script's client knows: definitions, and the channel that it has while it is connected.

use std::cell::RefCell;
use std::rc::Rc;

use ::grpc::{Definitions, Method};
use rquickjs::{Class, Ctx, Exception, Result};

use crate::runtime::ffi::OpaqueHandle;

/// A client of a script.
#[derive(Debug, Default)]
pub(super) struct GrpcClient {
    pub(super) definitions: RefCell<Definitions>,
    pub(super) channel: RefCell<Option<Channel>>,
}

/// A client's connection.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    /// Its number among those of the VU.
    pub(super) number: u32,
    /// The address, as the script wrote it.
    pub(super) address: String,
    /// `http` or `https`.
    pub(super) scheme: &'static str,
    /// `:authority`, where it is another than the address; else empty.
    pub(super) authority: String,
    /// The bytes that a message may have, in and out.
    pub(super) receive_max: usize,
    pub(super) send_max: usize,
}

/// The subject of the error for a call in a place where none is allowed.
pub(super) const WHAT: &str = "invoking RPC methods";

/// What the script's object has of its client.
pub(super) type ClientHandle<'js> = Class<'js, OpaqueHandle>;

/// A new client.
pub(super) fn client(ctx: Ctx<'_>) -> Result<ClientHandle<'_>> {
    Class::instance(ctx, OpaqueHandle::of(Rc::new(GrpcClient::default())))
}

/// The client behind what a script holds.
pub(super) fn of<'js>(ctx: &Ctx<'js>, held: &ClientHandle<'js>) -> Result<Rc<GrpcClient>> {
    let client = held.borrow().0.downcast_ref::<Rc<GrpcClient>>().cloned();
    client.ok_or_else(|| Exception::throw_internal(ctx, "this is no client"))
}

/// The channel of a client.
pub(super) fn channel(ctx: &Ctx<'_>, client: &GrpcClient) -> Result<Channel> {
    let channel = client.channel.borrow().clone();
    channel.ok_or_else(|| {
        Exception::throw_message(ctx, "no gRPC connection, you must call connect first")
    })
}

/// Throws where a client is not connected.
pub(super) fn require_connected<'js>(ctx: Ctx<'js>, held: ClientHandle<'js>) -> Result<()> {
    channel(&ctx, &*of(&ctx, &held)?).map(|_| ())
}

/// Throws where a client does not know a method.
pub(super) fn require_method<'js>(
    ctx: Ctx<'js>,
    held: ClientHandle<'js>,
    path: String,
) -> Result<()> {
    method(&ctx, &*of(&ctx, &held)?, &path).map(|_| ())
}

/// The method of a path.
pub(super) fn method(ctx: &Ctx<'_>, client: &GrpcClient, path: &str) -> Result<Method> {
    // Exactly one slash stands before the service.
    let name = path.strip_prefix('/').filter(|name| !name.starts_with('/'));
    let known = name.and_then(|name| client.definitions.borrow().method(name));
    known.ok_or_else(|| {
        let text = format!("method {path:?} not found in file descriptors");
        Exception::throw_message(ctx, &text)
    })
}

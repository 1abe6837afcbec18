//! Clients are connected and closed; a server that describes itself is asked what it serves.

use ::grpc::{Code, RECEIVE_MAX, Reflection, ReflectionVersion, Status};
use rquickjs::{Ctx, Exception, Object, Result};
use users::{Action, GrpcKind, GrpcRequest, GrpcResponse};

use super::call::{Exchange, exchange, grpc_of, pairs, rpc_error};
use super::client::{Channel, ClientHandle, GrpcClient, of};
use crate::runtime::current::vu_of;

/// The bytes that a message may have on its way out, where nothing is said.
const SEND_MAX: usize = i32::MAX as usize;

/// Connects a client, and waits until that is done.
pub(super) fn connect<'js>(
    ctx: Ctx<'js>,
    held: ClientHandle<'js>,
    address: String,
    params: Object<'js>,
) -> Result<()> {
    let client = of(&ctx, &held)?;
    end(&ctx, &client)?;
    let vu = vu_of(&ctx)?;
    let plaintext: bool = params.get("plaintext")?;
    let or = |size: f64, usual: usize| if size > 0.0 { size as usize } else { usual };
    let channel = Channel {
        number: vu.channels.take(),
        address,
        scheme: if plaintext { "http" } else { "https" },
        authority: params.get("authority")?,
        receive_max: or(params.get("receiveMax")?, RECEIVE_MAX),
        send_max: or(params.get("sendMax")?, SEND_MAX),
    };
    let timeout_ms: f64 = params.get("timeoutMs")?;
    *client.channel.borrow_mut() = Some(channel.clone());
    let dialled = dial(&ctx, &channel, timeout_ms).and_then(|()| {
        let reflects: bool = params.get("reflect")?;
        if reflects { reflect(&ctx, &client, &channel, &params) } else { Ok(()) }
    });
    if dialled.is_err() {
        // What was thrown stays thrown.
        let thrown = ctx.catch();
        end(&ctx, &client)?;
        return Err(ctx.throw(thrown));
    }
    Ok(())
}

fn dial(ctx: &Ctx<'_>, channel: &Channel, timeout_ms: f64) -> Result<()> {
    let of = Exchange { path: "/", timeout_ms, kind: GrpcKind::Dial, ..Exchange::default() };
    let request = exchange(ctx, channel, of)?;
    let response = perform(ctx, request)?;
    match response.outcome.status {
        Status { code: Code::OK, .. } => Ok(()),
        Status { message, .. } => Err(Exception::throw_message(ctx, &message)),
    }
}

fn perform(ctx: &Ctx<'_>, request: Box<GrpcRequest>) -> Result<Box<GrpcResponse>> {
    let what = "connecting to a gRPC server";
    let answer = vu_of(ctx)?.perform(ctx, what, |ticket| Action::Grpc(ticket, request))?;
    grpc_of(ctx, answer)
}

/// Asks a server what it serves, in the newer form, and where it does not know that, in the older.
fn reflect(
    ctx: &Ctx<'_>,
    client: &GrpcClient,
    channel: &Channel,
    params: &Object<'_>,
) -> Result<()> {
    let flat: Vec<String> = params.get("reflectMetadata")?;
    let metadata = pairs(flat);
    let timeout_ms: f64 = params.get("timeoutMs")?;
    let mut version = ReflectionVersion::V1;
    let mut reflection = Reflection::default();
    loop {
        let requests = reflection.next_requests();
        if requests.is_empty() {
            break;
        }
        let of = Exchange {
            path: version.path(),
            metadata: metadata.clone(),
            messages: requests,
            timeout_ms,
            kind: GrpcKind::Uncounted,
            ..Exchange::default()
        };
        let answer = perform(ctx, exchange(ctx, channel, of)?)?;
        let status = &answer.outcome.status;
        if status.code == Code::UNIMPLEMENTED && version == ReflectionVersion::V1 {
            version = ReflectionVersion::V1Alpha;
            continue;
        }
        if status.code != Code::OK {
            return Err(rpc_error(ctx, status));
        }
        let messages = answer.outcome.messages.iter().map(Vec::as_slice);
        reflection.handle_responses(messages).map_err(|error| {
            Exception::throw_message(ctx, &format!("can't list services: {error}"))
        })?;
    }
    let finished = reflection.finish(&mut client.definitions.borrow_mut());
    finished.map_err(|error| Exception::throw_message(ctx, &error.to_string()))
}

/// Closes a client's connection, if it has one.
pub(super) fn close<'js>(ctx: Ctx<'js>, held: ClientHandle<'js>) -> Result<()> {
    end(&ctx, &*of(&ctx, &held)?)
}

fn end(ctx: &Ctx<'_>, client: &GrpcClient) -> Result<()> {
    let vu = vu_of(ctx)?;
    if let Some(channel) = client.channel.borrow_mut().take() {
        vu.events.put(|_| Action::EndChannel(channel.number));
        vu.channels.give(channel.number);
    }
    Ok(())
}

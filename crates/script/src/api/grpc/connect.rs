//! Clients are connected and closed; a server that describes itself is asked what it serves.

use ::grpc::{Code, RECEIVE_MAX, Reflection, ReflectionVersion, Status};
use std::sync::Arc;

use rquickjs::{Ctx, Exception, Object, Result, Value};
use users::{Action, ChannelTls, GrpcKind, GrpcRequest, GrpcResponse};

use super::call::{Exchange, exchange, grpc_of, pairs, rpc_error};
use super::client::{Channel, ClientHandle, GrpcClient, of};
use super::pem_key::unprotected;
use super::room::with_room;
use super::stream::Dialogue;
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
    let tls = tls_of(&ctx, &params)?;
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
    let dialled = dial(&ctx, &channel, timeout_ms, tls).and_then(|()| {
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

/// TLS of the channel, where the script says something of it.
fn tls_of<'js>(ctx: &Ctx<'js>, params: &Object<'js>) -> Result<Option<Arc<ChannelTls>>> {
    let given: Option<Object<'js>> = params.get("tls")?;
    let authority: String = params.get("authority")?;
    // A name without its port.
    let host = authority.rsplit_once(':').map_or(authority.as_str(), |(host, _)| host);
    let server_name = (!host.is_empty()).then(|| host.trim_matches(['[', ']']).to_owned());
    let Some(given) = given else {
        let named =
            server_name.map(|name| ChannelTls { server_name: Some(name), ..<_>::default() });
        return Ok(named.map(Arc::new));
    };
    let pem = |name: &str| -> Result<Option<Vec<u8>>> {
        let text: Option<String> = given.get(name)?;
        Ok(text.filter(|text| !text.is_empty()).map(String::into_bytes))
    };
    let roots: Vec<String> = match given.get::<_, Value<'js>>("cacerts")? {
        one if one.is_string() => vec![one.get()?],
        list if list.is_array() => list.get()?,
        _ => Vec::new(),
    };
    let mut tls = ChannelTls {
        roots_pem: roots.into_iter().map(String::into_bytes).collect(),
        cert_pem: pem("cert")?,
        key_pem: pem("key")?,
        server_name,
    };
    check_pair(ctx, &mut tls, given.get("password")?)?;
    Ok(Some(Arc::new(tls)))
}

/// Takes the password off the key; throws where certificate and key cannot be used.
fn check_pair(ctx: &Ctx<'_>, tls: &mut ChannelTls, password: Option<String>) -> Result<()> {
    let refuse = |text: &str| Err(Exception::throw_message(ctx, text));
    let (Some(cert), Some(key)) = (&tls.cert_pem, &mut tls.key_pem) else {
        return match (&tls.cert_pem, &tls.key_pem) {
            (None, None) => Ok(()),
            _ => refuse("failed to append certificate from PEM: certificate and key go together"),
        };
    };
    let has = |pem: &[u8], text: &str| pem.windows(text.len()).any(|part| part == text.as_bytes());
    match password.filter(|password| !password.is_empty()) {
        Some(_) if has(key, "BEGIN ENCRYPTED PRIVATE KEY") => {
            return refuse("encrypted pkcs8 formatted key is not supported");
        }
        Some(password) if has(key, "ENCRYPTED") => {
            let text = String::from_utf8_lossy(key);
            match unprotected(&text, &password) {
                Ok(plain) => *key = plain.into_bytes(),
                Err(error) => return refuse(&error.to_string()),
            }
        }
        None if has(key, "ENCRYPTED") => {
            return refuse(
                "failed to append certificate from PEM: tls: failed to parse private key",
            );
        }
        Some(_) | None => {}
    }
    if !has(cert, "-----BEGIN") {
        return refuse(
            "failed to append certificate from PEM: tls: failed to find any PEM data in certificate input",
        );
    }
    Ok(())
}

fn dial(
    ctx: &Ctx<'_>,
    channel: &Channel,
    timeout_ms: f64,
    tls: Option<Arc<ChannelTls>>,
) -> Result<()> {
    let of = Exchange { path: "/", timeout_ms, kind: GrpcKind::Dial, tls, ..Exchange::default() };
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
    let begin = |version: ReflectionVersion| {
        let (path, metadata) = (version.path(), metadata.clone());
        Dialogue::open(ctx, channel, Exchange { path, metadata, timeout_ms, ..Exchange::default() })
    };
    let mut version = ReflectionVersion::V1;
    let mut dialogue = begin(version)?;
    let mut reflection = Reflection::default();
    loop {
        let requests = reflection.next_requests();
        if requests.is_empty() {
            break;
        }
        match dialogue.ask(ctx, &requests)? {
            Ok(answers) => {
                with_room(|| reflection.handle_responses(answers.iter().map(Vec::as_slice)))
                    .map_err(|error| {
                        Exception::throw_message(ctx, &format!("can't list services: {error}"))
                    })?;
            }
            Err(status)
                if status.code == Code::UNIMPLEMENTED && version == ReflectionVersion::V1 =>
            {
                version = ReflectionVersion::V1Alpha;
                dialogue = begin(version)?;
            }
            Err(status) => return Err(rpc_error(ctx, &status)),
        }
    }
    dialogue.close(ctx)?;
    let finished = with_room(|| reflection.finish(&mut client.definitions.borrow_mut()));
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

//! The engine's settings, as far as they follow from groups of flags.

use std::net::{IpAddr, UdpSocket};
use std::sync::Arc;

use anyhow::{Context, anyhow};
use cli::{CommandError, Dialect, ExitCode, ExitError, OrExit, ParsedArgs, input, usage_error};
use engine::{
    Capture, CapturedHeaders, DnsTtl, HeadStyle, Protocol, ProxySettings, Redirects, Settings,
    TlsSettings,
};
use stdx::Nanos;

use super::environment::Environment;
use super::flags::client::TlsFlags;
use super::flags::{ClientFlags, HttpFlags, ResultsFlags};

/// The settings that follow from the client's side; the rest are the engine's defaults.
///
/// # Errors
/// A certificate or key cannot be read.
pub(super) fn client_settings<T>(
    args: &ParsedArgs<T>,
    client: &ClientFlags,
    environment: &Environment<'_>,
) -> Result<Settings, ExitError> {
    let ClientFlags { connection, dns, tls, engine } = client;
    let workers = args.global.cpus.unwrap_or(environment.cores).min(session::WORKERS_MAX);
    Ok(Settings {
        workers: as_usize(workers),
        io: engine.io,
        pin: engine.pin,
        real_time: engine.real_time,
        head: match args.dialect {
            Dialect::Native => HeadStyle::Native,
            Dialect::Vegeta => HeadStyle::Go,
        },
        local_addrs: connection.local_addrs.clone(),
        unix_socket: connection.unix_socket.as_ref().map(Into::into),
        connect_to: connection.connect_to.clone(),
        resolvers: dns.resolvers.clone(),
        dns_ttl: match dns.ttl {
            None => DnsTtl::Never,
            Some(Nanos::ZERO) => DnsTtl::Forever,
            Some(ttl) => DnsTtl::For(ttl),
        },
        tls: tls_settings(args.dialect, tls)?,
        proxy: proxy_settings(&connection.proxy_headers, environment),
        ..Settings::default()
    })
}

/// Sets what follows from the flags of HTTP.
pub(super) fn apply_http(http: &HttpFlags, settings: &mut Settings) {
    settings.timeout = Some(http.timeout).filter(|timeout| *timeout > Nanos::ZERO);
    settings.keepalive = http.keepalive;
    settings.protocol = match (http.h2c, http.http2) {
        (true, _) => Protocol::PriorKnowledge,
        (false, true) => Protocol::Alpn,
        (false, false) => Protocol::Http1,
    };
    settings.streams = http.streams.map_or(usize::MAX, as_usize);
    settings.redirects = u32::try_from(http.redirects).map_or(Redirects::Keep, Redirects::Follow);
}

/// A number of flags as a number of things in memory.
pub(super) fn as_usize(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

/// What is kept of each response. Vegeta keeps everything, and counts the bytes it kept.
pub(super) fn capture(dialect: Dialect, flags: &ResultsFlags) -> Capture {
    match (dialect, flags.max_body) {
        (Dialect::Native, given) => Capture {
            body_max: given
                .map_or(0, |size| size.unwrap_or(Capture::BODY_MAX))
                .min(Capture::BODY_MAX),
            count_kept_only: false,
            headers: if flags.keep_headers {
                CapturedHeaders::All
            } else {
                CapturedHeaders::Nothing
            },
        },
        (Dialect::Vegeta, Some(Some(size))) => Capture {
            body_max: size.min(Capture::BODY_MAX),
            count_kept_only: true,
            headers: CapturedHeaders::All,
        },
        (Dialect::Vegeta, _) => Capture {
            body_max: Capture::BODY_MAX,
            count_kept_only: false,
            headers: CapturedHeaders::All,
        },
    }
}

/// Refuses addresses that no socket of this machine can have, and a key without a certificate. Vegeta has no such checks.
///
/// # Errors
/// One of them is given.
pub(super) fn check_client(dialect: Dialect, client: &ClientFlags) -> Result<(), CommandError> {
    if let Some(foreign) = foreign_address(&client.connection.local_addrs)
        && dialect == Dialect::Native
    {
        let error = anyhow!("flag -laddr: {foreign} is not an address of this machine");
        return Err(ExitError { code: ExitCode::Input, error }.into());
    }
    check_key(dialect, &client.tls)
}

/// Refuses a key without a certificate.
///
/// # Errors
/// It is given.
pub(super) fn check_key(dialect: Dialect, tls: &TlsFlags) -> Result<(), CommandError> {
    if tls.cert.is_none() && tls.key.is_some() && dialect == Dialect::Native {
        return Err(usage_error("-key needs a -cert"));
    }
    Ok(())
}

/// The first address that no socket of this machine can have.
fn foreign_address(local_addrs: &[IpAddr]) -> Option<&IpAddr> {
    local_addrs.iter().find(|ip| UdpSocket::bind((**ip, 0)).is_err())
}

/// Reads the certificates and the key.
fn tls_settings(dialect: Dialect, tls: &TlsFlags) -> Result<TlsSettings, ExitError> {
    let read = |flag: &str, path: &String| match dialect {
        Dialect::Native => input::read_whole(path)
            .map_err(|failed| failed.error)
            .with_context(|| format!("flag -{flag}"))
            .or_exit(ExitCode::Input),
        Dialect::Vegeta if path.is_empty() => Err(anyhow!("bad certificate").into()),
        Dialect::Vegeta => input::read_whole(path).map_err(|failed| {
            let (text, before) = (failed.to_string(), format!("error opening {path}: "));
            anyhow!(text.strip_prefix(&before).unwrap_or(&text).to_owned()).into()
        }),
    };
    let key = tls.key.as_ref().or(tls.cert.as_ref());
    Ok(TlsSettings {
        root_certs_pem: tls
            .root_certs
            .iter()
            .map(|path| read("root-certs", path))
            .collect::<Result<_, _>>()?,
        cert_pem: tls.cert.as_ref().map(|path| read("cert", path)).transpose()?,
        key_pem: key.map(|path| read("key", path)).transpose()?,
        insecure: tls.insecure,
        session_tickets: tls.session_tickets,
        ..TlsSettings::default()
    })
}

/// The proxies that the environment names; names in capital letters come first.
fn proxy_settings(headers: &[(String, String)], environment: &Environment<'_>) -> ProxySettings {
    let variable = |name: &str| {
        let lower = || (environment.variable)(&name.to_lowercase());
        (environment.variable)(name).filter(|value| !value.is_empty()).or_else(lower)
    };
    ProxySettings {
        http: variable("HTTP_PROXY").filter(|value| !value.is_empty()),
        https: variable("HTTPS_PROXY").filter(|value| !value.is_empty()),
        no_proxy: variable("NO_PROXY").unwrap_or_default(),
        headers: Arc::new(headers.to_vec()),
    }
}

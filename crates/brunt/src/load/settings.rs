//! The engine's settings, as far as they follow from groups of flags.

use std::net::{IpAddr, UdpSocket};
use std::sync::Arc;

use anyhow::anyhow;
use cli::value::FixedAddresses;
use cli::{CommandError, ExitCode, ExitError, ParsedArgs, usage_error};
use engine::{
    DnsTtl, HostPolicy, HostRule, Protocol, ProxySettings, Redirects, Settings, TlsSettings,
};
use session::go_words;
use stdx::Nanos;

use super::environment::Environment;
use super::flags::client::TlsFlags;
use super::flags::{ClientFlags, HttpFlags};
use crate::dialect::LoadRules;

/// The settings that follow from the client's side; the rest are the engine's defaults.
///
/// # Errors
/// A certificate or key cannot be read.
pub(super) fn client_settings<T>(
    args: &ParsedArgs<T>,
    client: &ClientFlags,
    rules: &LoadRules,
    environment: &Environment<'_>,
) -> Result<Settings, ExitError> {
    let ClientFlags { connection, dns, tls, engine } = client;
    let workers = args.global.cpus.unwrap_or(environment.cores).min(session::WORKERS_MAX);
    Ok(Settings {
        workers: as_usize(workers),
        io: engine.io,
        answer_clock: engine.answer_clock,
        pin: engine.pin,
        real_time: engine.real_time,
        head: rules.head,
        failure_text: go_words::FAILURE_TEXT,
        local_addrs: connection.local_addrs.clone(),
        unix_socket: connection.unix_socket.as_ref().map(Into::into),
        connect_to: connection.connect_to.clone(),
        host_policy: host_policy(&connection.fixed),
        renewal: connection.renewal,
        resolvers: dns.resolvers.clone(),
        dns_ttl: match dns.ttl {
            None => DnsTtl::Never,
            Some(Nanos::ZERO) => DnsTtl::Forever,
            Some(ttl) => DnsTtl::For(ttl),
        },
        tls: tls_settings(rules, tls)?,
        proxy: proxy_settings(rules, &connection.proxy_headers, environment),
        ..Settings::default()
    })
}

/// The fixed addresses of names.
fn host_policy(fixed: &[FixedAddresses]) -> HostPolicy {
    let rule = |of: &FixedAddresses, ip: IpAddr| HostRule {
        name: of.name.clone(),
        port: Some(of.port),
        ip,
        to_port: None,
    };
    let hosts = fixed.iter().flat_map(|of| of.addresses.iter().map(move |ip| rule(of, *ip)));
    HostPolicy { hosts: hosts.collect(), ..HostPolicy::default() }
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
    let follow = if http.stays_at_host { Redirects::SameHost } else { Redirects::Follow };
    settings.redirects = u32::try_from(http.redirects).map_or(Redirects::Keep, follow);
}

/// A number of flags as a number of things in memory.
pub(super) fn as_usize(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

/// Refuses addresses that no socket of this machine can have, and a key without a certificate, where the rules check first.
///
/// # Errors
/// One of them is given.
pub(super) fn check_client(rules: &LoadRules, client: &ClientFlags) -> Result<(), CommandError> {
    if let Some(foreign) = foreign_address(&client.connection.local_addrs)
        && rules.checks_first
    {
        let error = anyhow!("flag -laddr: {foreign} is not an address of this machine");
        return Err(ExitError { code: ExitCode::Input, error }.into());
    }
    check_key(rules, &client.tls)
}

/// Refuses a key without a certificate, where the rules check first.
///
/// # Errors
/// It is given.
pub(super) fn check_key(rules: &LoadRules, tls: &TlsFlags) -> Result<(), CommandError> {
    if tls.cert.is_none() && tls.key.is_some() && rules.checks_first {
        return Err(usage_error("-key needs a -cert"));
    }
    Ok(())
}

/// The first address that no socket of this machine can have.
fn foreign_address(local_addrs: &[IpAddr]) -> Option<&IpAddr> {
    local_addrs.iter().find(|ip| UdpSocket::bind((**ip, 0)).is_err())
}

/// Reads the certificates and the key.
fn tls_settings(rules: &LoadRules, tls: &TlsFlags) -> Result<TlsSettings, ExitError> {
    let read = |flag: &str, path: &String| (rules.read_pem)(flag, path);
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

/// The proxies that the environment names, and the fields of their CONNECT.
fn proxy_settings(
    rules: &LoadRules,
    headers: &[(String, String)],
    environment: &Environment<'_>,
) -> ProxySettings {
    let named = ProxySettings::of_environment(rules.all_proxy, environment.variable);
    ProxySettings { headers: Arc::new(headers.to_vec()), ..named }
}

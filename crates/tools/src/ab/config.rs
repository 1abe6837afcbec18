//! What ab's flags mean to the engine: a closed loop of `-c` users, each with a connection, until `-n` or `-t`.

use std::net::{IpAddr, ToSocketAddrs, UdpSocket};
use std::sync::Arc;

use cli::system_text;
use engine::{
    Capture, CapturedHeaders, DnsTtl, HeadStyle, HttpVersion, Protocol, ProxySettings, Redirects,
    Settings, TlsSettings,
};
use report::ab::Tls;
use session::go_words;
use stdx::{Distribution, Nanos};
use wire::h1::request::basic_authorization;
use wire::tls::rustls::CipherSuite;
use wire::tls::{Agreed, Versions, suites_named};
use workload::{Load, Plan, Target, Targets};

use super::address::{Address, Proxy};
use super::error::{AbError, NO_ADDRESS, no_name};
use super::flags::AbFlags;
use super::request::{PROXY_CREDENTIALS, Request};

/// Bytes of a body that are kept for `-v`.
const LOGGED_BODY_MAX: u64 = 8 << 10;
/// The header lines that the report needs.
const NEEDED_HEADERS: &[&str] = &["Server", "Connection"];

/// What to offer.
pub(super) fn plan(flags: &AbFlags, address: &Address, request: &Request) -> Result<Plan, AbError> {
    let url = match &flags.proxy {
        Some(proxy) if !address.secure => Proxy::parse(proxy).url(),
        _ => address.url(),
    };
    if wire::url::Url::parse(&url).is_err() {
        return Err(no_name(&dialled_name(flags, address)));
    }
    let limit = flags.time_limit.and_then(|seconds| u64::try_from(seconds).ok());
    let target = Target {
        method: request.method.clone(),
        url,
        headers: Vec::new(),
        body: request.body.clone().unwrap_or_default(),
        weight: 1,
        name: String::new(),
    };
    Ok(Plan {
        name: "ab".to_owned(),
        load: Load::Closed { users: flags.concurrency.unsigned_abs() },
        duration: limit.filter(|&seconds| seconds > 0).map(Nanos::from_secs),
        warmup: Nanos::ZERO,
        think: Distribution::None,
        hits_max: Some(flags.requests),
        targets: Targets::new(vec![target]),
        seed: 0,
        part: None,
    })
}

/// The name that is looked up.
pub(super) fn dialled_name(flags: &AbFlags, address: &Address) -> String {
    match &flags.proxy {
        Some(proxy) => Proxy::parse(proxy).host,
        None => address.hostname.clone(),
    }
}

/// How to carry it out.
pub(super) fn settings(
    flags: &AbFlags,
    address: &Address,
    request: &Request,
    tls: TlsSettings,
) -> Result<Settings, AbError> {
    let users = usize::try_from(flags.concurrency).unwrap_or(1);
    let proxy =
        flags.proxy.as_ref().filter(|_| address.secure).map(|text| Proxy::parse(text).url());
    Ok(Settings {
        workers: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        timeout: None,
        keepalive: flags.keep_alive,
        protocol: Protocol::Http1,
        redirects: Redirects::Keep,
        capture: capture(flags),
        head: HeadStyle::Exact(HttpVersion::Http10),
        head_bytes: Some(Arc::from(request.head.as_bytes())),
        connections: users,
        max_connections: Some(users),
        local_addrs: flags.bind.as_deref().map(local_address).transpose()?.into_iter().collect(),
        dns_ttl: DnsTtl::Forever,
        tls,
        proxy: ProxySettings {
            https: proxy,
            headers: Arc::new(proxy_fields(flags)),
            ..ProxySettings::default()
        },
        report_first_failure: true,
        failure_text: go_words::FAILURE_TEXT,
        ..Settings::default()
    })
}

/// The fields of a CONNECT: `-P` is for the proxy, and no server behind its tunnel gets to know it.
fn proxy_fields(flags: &AbFlags) -> Vec<(String, String)> {
    let own = flags.credentials.iter().filter(|(name, _)| *name == PROXY_CREDENTIALS);
    own.map(|(name, userinfo)| ((*name).to_owned(), basic_authorization(userinfo))).collect()
}

fn capture(flags: &AbFlags) -> Capture {
    match flags.verbosity {
        ..2 => Capture { headers: CapturedHeaders::Named(NEEDED_HEADERS), ..Capture::default() },
        2.. => Capture {
            headers: CapturedHeaders::WholeHead,
            body_max: LOGGED_BODY_MAX,
            ..Capture::default()
        },
    }
}

/// The address to connect from, which must be one of ours.
fn local_address(text: &str) -> Result<IpAddr, AbError> {
    let found = (text, 0).to_socket_addrs().ok().and_then(|mut all| all.next());
    let ip = found.ok_or_else(|| no_name(text))?.ip();
    UdpSocket::bind((ip, 0)).map_err(|error| {
        let number = error.raw_os_error().and_then(|number| u8::try_from(number).ok());
        let code = number.unwrap_or(NO_ADDRESS);
        AbError::Message { code, text: format!("bind: {} ({code})", system_text(&error)) }
    })?;
    Ok(ip)
}

/// TLS as ab has it: nothing is verified.
pub(super) fn tls(flags: &AbFlags) -> Result<TlsSettings, AbError> {
    let cert = flags.cert.as_ref().map(|path| {
        std::fs::read(path).map_err(|error| {
            let text = system_text(&error);
            AbError::wrong(format!("unable to get certificate from '{path}'\nbrunt ab: {text}"))
        })
    });
    Ok(TlsSettings {
        cert_pem: cert.transpose()?,
        insecure: true,
        versions: versions(flags.protocol.as_deref())?,
        suites: suites(flags.ciphers.as_deref())?,
        no_server_name: flags.no_server_name,
        ..TlsSettings::default()
    })
}

/// The versions of `-f`. ab takes any word it does not know for ALL.
fn versions(protocol: Option<&str>) -> Result<Versions, AbError> {
    let protocol = protocol.unwrap_or("ALL").to_ascii_uppercase();
    match protocol.as_str() {
        "TLS1.2" => Ok(Versions::Only12),
        "TLS1.3" => Ok(Versions::Only13),
        "SSL2" | "SSL3" | "TLS1" | "TLS1.1" => {
            Err(AbError::wrong(format!("brunt ab: -f {protocol}: no TLS before 1.2 is spoken")))
        }
        _ => Ok(Versions::Both),
    }
}

/// The suites of `-Z`, of which we must have one at least.
fn suites(list: Option<&str>) -> Result<Vec<CipherSuite>, AbError> {
    let Some(list) = list else { return Ok(Vec::new()) };
    let suites = suites_named(list);
    if suites.is_empty() {
        return Err(AbError::wrong(format!(
            "error setting ciphersuite list [{list}]\nbrunt ab: names are OpenSSL's, and only forward secret \
             AEAD suites are spoken"
        )));
    }
    Ok(suites)
}

/// The report's lines on how connections were secured.
pub(super) fn tls_lines(agreed: &Agreed, flags: &AbFlags, address: &Address) -> Tls {
    let Agreed { version, suite, suite_bits, key_bits, key_exchange } = agreed;
    let named = !flags.no_server_name && address.hostname.parse::<IpAddr>().is_err();
    Tls {
        protocol: format!("{version},{suite},{key_bits},{suite_bits}"),
        temporary_key: (*key_exchange).to_owned(),
        server_name: if named { address.hostname.clone() } else { String::new() },
    }
}

//! `oha`'s options, as far as they clash with nothing here; the report is our own.

use std::time::Duration;

use cli::Output;
use cli::getopt_long::{self, OptionError};
use engine::{HeadStyle, Protocol, ProxySettings, Redirects, Settings, TlsSettings};
use session::go_words;
use stdx::Nanos;
use wire::url::Url;
use workload::{Load, Plan};

use super::flags::{FLAGS, OhaFlags};
use crate::config::{self, Layout, ToolConfig};
use crate::error::ToolError;
use crate::tool::LoadTool;

/// oha.
pub const OHA: LoadTool = LoadTool { name: "oha", parse: tool_config, validate };

/// Reads a command line of oha's.
///
/// # Errors
/// It is wrong, or asks for help.
fn tool_config(args: &[String]) -> Result<ToolConfig, ToolError> {
    let (flags, url) = parsed(args)?;
    resolve(&flags, &url).map_err(|stderr| ToolError { code: 1, stderr, ..ToolError::default() })
}

/// Checks a command line; no file is read.
///
/// # Errors
/// It is wrong, or asks for help.
fn validate(args: &[String]) -> Result<(), ToolError> {
    parsed(args).map(drop)
}

/// The flags and the URL.
fn parsed(args: &[String]) -> Result<(OhaFlags, String), ToolError> {
    let mut flags = OhaFlags::default();
    let operands = getopt_long::parse(FLAGS, &without_equals(args), &mut flags);
    if flags.help {
        let lines = getopt_long::usage_lines(FLAGS);
        let stdout = format!("Usage: oha [options] URL\n\nOptions:\n{lines}");
        return Err(ToolError { stdout, ..ToolError::default() });
    }
    if flags.version {
        let stdout = format!("oha, spoken by brunt {}\n", env!("CARGO_PKG_VERSION"));
        return Err(ToolError { stdout, ..ToolError::default() });
    }
    let operands = operands.map_err(|error| wrong(&getopt_text(&error)))?;
    if let Some(name) = flags.refused {
        let dashes = if name.len() > 1 { "--" } else { "-" };
        return Err(wrong(&format!(
            "{dashes}{name} is not done by brunt oha (see `brunt help attack`)"
        )));
    }
    let url = match operands.as_slice() {
        [url] => url,
        [] => return Err(wrong("a URL is needed")),
        [_, extra, ..] => return Err(wrong(&format!("unexpected argument '{extra}'"))),
    };
    if let Err(error) = Url::parse(url) {
        return Err(ToolError {
            code: 1,
            stderr: format!("error: {}: {}", stdx::shown_url(url), go_words::url(&error)),
            ..ToolError::default()
        });
    }
    Ok((flags, url.clone()))
}

/// clap takes `-c=10` for `-c10`.
fn without_equals(args: &[String]) -> Vec<String> {
    let short = |arg: &String| {
        let bytes = arg.as_bytes();
        bytes.len() > 2 && bytes[0] == b'-' && bytes[1] != b'-' && bytes[2] == b'='
    };
    args.iter().map(|arg| if short(arg) { arg.replacen('=', "", 1) } else { arg.clone() }).collect()
}

fn wrong(words: &str) -> ToolError {
    let stderr = format!("error: {words}\n\nFor more information, try '--help'.");
    ToolError { code: 2, stderr, ..ToolError::default() }
}

fn getopt_text(error: &OptionError) -> String {
    let dashed = |name: &str| format!("{}{name}", if name.len() > 1 { "--" } else { "-" });
    match error {
        OptionError::Unknown(name) => format!("unexpected argument '{}' found", dashed(name)),
        OptionError::Ambiguous(name) => format!("'{}' begins several options", dashed(name)),
        OptionError::NeedsValue(name) => format!("a value is required for '{}'", dashed(name)),
        OptionError::TakesNone(name) => format!("'{}' takes no value", dashed(name)),
        OptionError::Value(name, wrong) => format!("'{}': {}", dashed(name), wrong.native),
    }
}

fn resolve(flags: &OhaFlags, url: &str) -> Result<ToolConfig, String> {
    Ok(ToolConfig {
        plan: plan(flags, url)?,
        settings: settings(flags)?,
        grace: (flags.duration.is_some() && !flags.wait).then_some(Duration::ZERO),
        layout: match flags.format.as_str() {
            "json" => Layout::Json,
            "quiet" => Layout::Quiet,
            _ => Layout::Text,
        },
        place: Output::named(flags.output.as_deref()),
        notes: Vec::new(),
        probe: None,
    })
}

fn plan(flags: &OhaFlags, url: &str) -> Result<Plan, String> {
    let body = match &flags.body_file {
        None => flags.body.clone().unwrap_or_default().into_bytes(),
        Some(path) => read(path)?,
    };
    let method = flags.method.as_deref().unwrap_or("GET").to_uppercase();
    let target = config::target(&method, url, headers(flags), body);
    let users = flags.connections.saturating_mul(streams(flags));
    let load = match flags.rate {
        Some(rate) => config::open_load(rate, users),
        None => Load::Closed { users },
    };
    let requests = flags.duration.is_none().then_some(flags.requests);
    Ok(config::plan(target, load, flags.duration, requests))
}

/// Requests that may be under way on one connection.
fn streams(flags: &OhaFlags) -> u64 {
    if flags.http2 { flags.streams } else { 1 }
}

fn settings(flags: &OhaFlags) -> Result<Settings, String> {
    let settings = config::settings(config::cores(), flags.connections);
    let proxy = flags.proxy.as_ref();
    Ok(Settings {
        head: HeadStyle::Native,
        keepalive: !flags.no_keepalive,
        protocol: if flags.http2 { Protocol::PriorKnowledge } else { settings.protocol },
        streams: usize::try_from(streams(flags)).unwrap_or(usize::MAX),
        timeout: flags.timeout.filter(|timeout| *timeout > Nanos::ZERO),
        redirects: match flags.redirects {
            0 => Redirects::Keep,
            most => Redirects::Follow(most),
        },
        tls: tls(flags)?,
        connect_to: flags.connect_to.clone(),
        unix_socket: flags.unix_socket.as_ref().map(Into::into),
        proxy: ProxySettings {
            http: proxy.cloned(),
            https: proxy.cloned(),
            headers: flags.proxy_headers.clone().into(),
            ..settings.proxy
        },
        ..settings
    })
}

fn tls(flags: &OhaFlags) -> Result<TlsSettings, String> {
    let read = |path: &String| read(path);
    Ok(TlsSettings {
        insecure: flags.insecure,
        root_certs_pem: flags.root_certs.iter().map(read).collect::<Result<_, _>>()?,
        cert_pem: flags.cert.as_ref().map(read).transpose()?,
        key_pem: flags.key.as_ref().or(flags.cert.as_ref()).map(read).transpose()?,
        ..TlsSettings::default()
    })
}

fn headers(flags: &OhaFlags) -> Vec<(String, String)> {
    let own =
        [("Accept", &flags.accept), ("Content-Type", &flags.content_type), ("Host", &flags.host)];
    let own = own.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value.clone()?)));
    let mut fields: Vec<(String, String)> = flags.headers.iter().cloned().chain(own).collect();
    let basic = |user| ("Authorization".to_owned(), wire::h1::request::basic_authorization(user));
    fields.extend(flags.authorization.as_deref().map(basic));
    if flags.no_compression
        && !fields.iter().any(|(name, _)| name.eq_ignore_ascii_case("accept-encoding"))
    {
        fields.push(("Accept-Encoding".to_owned(), "identity".to_owned()));
    }
    fields
}

fn read(path: &str) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("open {path}: {}", cli::reason(&error)))
}

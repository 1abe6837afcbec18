//! `Config`: what `record` does, decided before it listens.

use std::net::SocketAddr;

use cli::{ExitError, eprint_line, input};
use recorder::{Limits, Scope};
use wire::tls::{ClientSetup, Verification};

use super::live::ListForm;
use crate::command::{CommandError, usage_error};
use crate::flags::record::{Format, RecordFlags};

/// Where a proxy listens unless it is said otherwise: on this machine alone.
const LISTEN: &str = "127.0.0.1:8899";
/// Where it does for a browser of its own.
const LISTEN_FOR_BROWSER: &str = "127.0.0.1:0";

/// What `record` does.
#[derive(Debug)]
pub(super) struct Config {
    pub(super) listen: SocketAddr,
    pub(super) outputs: Vec<Target>,
    pub(super) scope: Scope,
    pub(super) limits: Limits,
    pub(super) servers: ClientSetup,
    pub(super) secrets: recorder::Secrets,
    pub(super) list: ListForm,
    pub(super) has_browser: bool,
    /// The page that the browser opens.
    pub(super) url: Option<String>,
}

/// A file that is written at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) path: String,
    pub(super) format: Format,
}

impl Config {
    pub(super) fn of(flags: &RecordFlags, operands: &[String]) -> Result<Self, CommandError> {
        let listen = Self::listen(flags)?;
        let url = url(flags, operands)?;
        warn_of_network(listen);
        Ok(Self {
            listen,
            outputs: outputs(flags)?,
            scope: scope(flags)?,
            limits: Limits { body_bytes_max: flags.max_body, ..Limits::default() },
            servers: servers(flags)?,
            secrets: match flags.with_secrets {
                true => recorder::Secrets::Shown,
                false => recorder::Secrets::Hidden,
            },
            list: if flags.json { ListForm::Json } else { ListForm::of_terminal() },
            has_browser: flags.browser,
            url,
        })
    }

    /// Where the proxy listens. `:PORT` is this machine alone: a proxy for the network has to be asked for by its address.
    pub(super) fn listen(flags: &RecordFlags) -> Result<SocketAddr, CommandError> {
        let default = if flags.browser { LISTEN_FOR_BROWSER } else { LISTEN };
        let text = flags.listen.as_deref().unwrap_or(default);
        let local = text.strip_prefix("localhost:").or_else(|| text.strip_prefix(':'));
        let address = local.map_or(text.to_owned(), |port| format!("127.0.0.1:{port}"));
        address.parse().map_err(|_| {
            usage_error(format!("flag -listen: \"{text}\" is not an address (expected ADDR:PORT)"))
        })
    }
}

fn url(flags: &RecordFlags, operands: &[String]) -> Result<Option<String>, CommandError> {
    match operands {
        [] => Ok(None),
        [_] if !flags.browser => Err(usage_error("a URL is opened with -browser alone")),
        // Anything else could be a flag of the browser.
        [url] if url.starts_with("http://") || url.starts_with("https://") => Ok(Some(url.clone())),
        [url] => Err(usage_error(format!("\"{url}\" is no URL (expected https://…)"))),
        [_, extra, ..] => Err(usage_error(format!("unexpected \"{extra}\""))),
    }
}

fn outputs(flags: &RecordFlags) -> Result<Vec<Target>, CommandError> {
    if flags.output.is_empty() {
        return Err(usage_error("-output=FILE is missing (expected for example -output=shop.js)"));
    }
    let target = |path: &String| Some(Target { path: path.clone(), format: Format::of(path)? });
    Ok(flags.output.iter().filter_map(target).collect())
}

fn scope(flags: &RecordFlags) -> Result<Scope, CommandError> {
    match (flags.all_hosts, flags.host.as_slice()) {
        (true, []) => Ok(Scope::AllHosts),
        (false, []) => Ok(Scope::FirstPage),
        (false, hosts) => Ok(Scope::named(hosts)),
        (true, _) => Err(usage_error("-all-hosts and -host exclude each other")),
    }
}

fn servers(flags: &RecordFlags) -> Result<ClientSetup, ExitError> {
    let roots_pem = flags.root_certs.iter().map(|path| input::read_whole(path));
    Ok(ClientSetup {
        roots_pem: roots_pem.collect::<Result<_, _>>()?,
        verification: if flags.insecure { Verification::None } else { Verification::Full },
        ..ClientSetup::default()
    })
}

fn warn_of_network(listen: SocketAddr) {
    if !listen.ip().is_loopback() {
        eprint_line(&format!(
            "warning: {listen} is open to other machines: everyone who reaches it can use it as a proxy, and is recorded"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(flags: &RecordFlags, operands: &[&str]) -> Result<Config, CommandError> {
        let operands: Vec<String> = operands.iter().map(|one| (*one).to_owned()).collect();
        Config::of(flags, &operands)
    }

    fn flags() -> RecordFlags {
        RecordFlags { output: vec!["a.har".to_owned()], ..RecordFlags::default() }
    }

    #[test]
    fn it_listens_on_this_machine_unless_an_address_says_otherwise() {
        let listen = |text: Option<&str>| {
            let flags = RecordFlags { listen: text.map(str::to_owned), ..flags() };
            Config::listen(&flags).map(|address| address.to_string()).ok()
        };
        assert_eq!(listen(None).as_deref(), Some("127.0.0.1:8899"));
        assert_eq!(listen(Some(":9000")).as_deref(), Some("127.0.0.1:9000"));
        assert_eq!(listen(Some("localhost:1")).as_deref(), Some("127.0.0.1:1"));
        assert_eq!(listen(Some("0.0.0.0:9000")).as_deref(), Some("0.0.0.0:9000"));
        assert_eq!(listen(Some("shop.example:9000")), None);
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        let with_browser = || RecordFlags { browser: true, ..flags() };
        assert!(parse(&flags(), &[]).is_ok());
        assert!(parse(&with_browser(), &["https://shop.example"]).is_ok());
        assert!(parse(&with_browser(), &["--no-sandbox"]).is_err());
        assert!(parse(&flags(), &["https://shop.example"]).is_err());
        assert!(parse(&with_browser(), &["https://a.test", "https://b.test"]).is_err());
        assert!(parse(&RecordFlags { output: vec![], ..flags() }, &[]).is_err());
        let both = RecordFlags { all_hosts: true, host: vec!["a".to_owned()], ..flags() };
        assert!(parse(&both, &[]).is_err());
    }
}
